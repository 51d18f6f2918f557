"""Answers other than the reference: known mistakes (``misconceptions.py``) and differently written right ones.

A file of variants has one function for each answer. ``def gelu__tanh(x)`` answers the exercise ``gelu``; its
docstring is the answer's name, ``"中文 | English"``. A variant of a prediction returns the predicted value.
The files are read, never imported: a variant runs with the names of the chapter's set-up cell.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from hero_course.chapter import Chapter
from hero_course.compile import solved_cell
from hero_course.errors import SourceError
from hero_course.solutions import Solution

__all__ = ["MISCONCEPTIONS", "Variant", "read_misconceptions", "read_variants"]


MISCONCEPTIONS = "misconceptions.py"  # beside chapter.md


@dataclass(frozen=True)
class Variant:
    """One answer to one exercise: which, its name in both languages, the code of the whole cell, and its line."""

    id: str
    exercise: str
    name: str
    code: str
    line: int


def read_misconceptions(chapter: Chapter, solutions: dict[str, Solution]) -> list[Variant]:
    """The known mistakes of a chapter; at least one for each exercise and prediction.

    Raises:
        SourceError: as `read_variants`, and for an exercise without a known mistake.
    """
    path = chapter.path.parent / MISCONCEPTIONS
    variants = read_variants(path, chapter, solutions)
    names = [(variant.exercise, variant.name) for variant in variants]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise SourceError(path, 1, f"two mistakes of {name[0]!r} have the name {name[1]!r}", "name them apart")
    for cell in chapter.of_kind("exercise", "prediction"):
        if not any(variant.exercise == cell.key for variant in variants):
            raise SourceError(path, 1, f"no known mistake for {cell.key!r}", f"write a function {cell.key}__…")
    return variants


def read_variants(path: Path, chapter: Chapter, solutions: dict[str, Solution]) -> list[Variant]:
    """Read a file of variants.

    Raises:
        SourceError: if the file is missing or is no Python, a function answers no exercise of the chapter, or
            its docstring is not ``"中文 | English"``.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as error:
        line = getattr(error, "lineno", None) or 1
        raise SourceError(path, line, str(error), "write it, see docs/authoring.md") from error
    found = [_variant(path, node, chapter, solutions) for node in tree.body if isinstance(node, ast.FunctionDef)]
    return found


def _variant(path: Path, node: ast.FunctionDef, chapter: Chapter, solutions: dict[str, Solution]) -> Variant:
    exercise, _, _ = node.name.partition("__")
    cell = chapter.cell(exercise)
    if cell is None or cell.kind not in ("exercise", "prediction"):
        raise SourceError(
            path, node.lineno, f"{node.name} answers {exercise!r}, which is no exercise of {chapter.name}",
            "name the function <exercise>__<mistake>",
        )
    names = [part.strip() for part in (ast.get_docstring(node) or "").split("|")]
    if len(names) != 2 or not all(names):
        raise SourceError(path, node.lineno, f"{node.name} has no name in both languages", '"""中文 | English"""')
    body = node.body[1:]
    if cell.kind == "prediction":
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            raise SourceError(path, node.lineno, f"{node.name} must return the predicted value", "return (…)")
        code = f"{cell.key} = {ast.unparse(body[0].value)}"
    else:
        name = solutions[cell.options["exercise"]].function
        function = ast.FunctionDef(
            name=name, args=node.args, body=body, decorator_list=[], returns=node.returns, type_params=[]
        )
        code = solved_cell(cell, solutions, ast.unparse(ast.fix_missing_locations(function)))
    return Variant(node.name, exercise, " / ".join(names), code, node.lineno)
