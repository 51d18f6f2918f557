"""Submissions of every kind that docs/grading.md lists, made from a released notebook."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from thoughtless import kinds, thoughtless

from hero_course.chapter import Chapter, read_chapter
from hero_course.compile import right_answer
from hero_course.solutions import find_solutions
from hero_course.variants import Variant, read_misconceptions, read_variants

ROOT = Path(__file__).resolve().parents[1]


class Class:
    """Makes the submissions of one chapter in a built course; without worked examples they grade sooner."""

    def __init__(self, course: Path, name: str, examples: bool = True) -> None:
        self.course, self.name, self.examples = course, name, examples
        self._solutions = solutions = find_solutions(course / "hero_transformer")
        self.chapter: Chapter = read_chapter(course / "chapters" / name / "chapter.md")
        asked = [*self.chapter.of_kind("exercise"), *self.chapter.of_kind("prediction")]
        self.right = {cell.key: right_answer(cell, solutions) for cell in asked}
        styles = read_variants(ROOT / "tests" / "right_answers" / f"{name}.py", self.chapter, solutions)
        self.styles = {key: [v.code for v in styles if v.exercise == key] or [self.right[key]] for key in self.right}
        self.mistakes = {variant.id: variant for variant in read_misconceptions(self.chapter, solutions)}

    def mixes(self) -> list[list[Variant]]:
        """The known mistakes, dealt out so that each mix has at most one of every exercise."""
        columns = [[m for m in self.mistakes.values() if m.exercise == key] for key in self.right]
        return [[mistake for mistake in row if mistake] for row in zip_longest(*columns)]

    def odd(self) -> dict[str, dict[str, str]]:
        """Answers that nobody foresaw or thought about, dealt out in the same way: for each mix, cells' code."""
        wrong = read_variants(ROOT / "tests" / "wrong_answers" / f"{self.name}.py", self.chapter, self._solutions)
        exercises = list(self.chapter.of_kind("exercise"))
        columns = [
            [thoughtless(cell, self._solutions, kind) for kind in kinds(cell, self._solutions)]
            + [variant.code for variant in wrong if variant.exercise == cell.key]
            for cell in exercises
        ]
        rows = [dict(zip((cell.key for cell in exercises), row, strict=True)) for row in zip_longest(*columns)]
        return {f"odd-{n:02}": {key: code for key, code in row.items() if code} for n, row in enumerate(rows)}

    def answered(self, answers: dict[str, str], lang: str = "zh") -> NotebookNode:
        """The released notebook with these cells filled in."""
        path = self.course / "release" / lang / self.name / f"{self.name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        if not self.examples:
            notebook.cells = [c for c in notebook.cells if c.cell_type != "code" or "nbgrader" in c.metadata]
        return notebook

    def submit(self, learner: str, notebook: NotebookNode) -> None:
        """Hand a notebook in."""
        folder = self.course / "submitted" / learner / self.name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{self.name}.ipynb")


def _style(number: int) -> Callable[[Class], NotebookNode]:
    return lambda room: room.answered({k: room.styles[k][number % len(room.styles[k])] for k in room.right})


def _raises(room: Class) -> NotebookNode:
    return room.answered(room.right | {"gelu": '@replaces(model)\ndef gelu(x):\n    raise RuntimeError("not today")'})


def _syntax_error(room: Class) -> NotebookNode:
    return room.answered(room.right | {"gelu": "@replaces(model)\ndef gelu(x)\n    return x"})


def _edited_check(room: Class) -> NotebookNode:
    key = next(room.chapter.of_kind("check")).key
    return room.answered(room.right | {"gelu": "@replaces(model)\ndef gelu(x):\n    return x", key: "pass"})


def _deleted_check(room: Class) -> NotebookNode:
    notebook = room.answered(room.right)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "gelu-values"]
    return notebook


def _reference_on_the_path(room: Class) -> NotebookNode:
    notebook = room.answered({})
    code = f"import sys\nsys.path.insert(0, {str(ROOT)!r})"
    notebook.cells.insert(0, new_code_cell(code, id="mine"))
    return notebook


def _decorator_deleted(room: Class) -> NotebookNode:
    return room.answered(room.right | {"block": room.right["block"].partition("\n")[2]})


def _stub_left(room: Class) -> NotebookNode:
    return room.answered(room.right | {"gelu": room.right["gelu"].rstrip() + "\n    raise NotImplementedError('gelu')"})


def _stub_cell_below(room: Class) -> NotebookNode:
    """The right answer in a cell of the learner's own, the untouched stub in the cell below it."""
    notebook = room.answered({key: code for key, code in room.right.items() if key != "gelu"})
    place = next(n for n, cell in enumerate(notebook.cells) if cell.id == "gelu")
    notebook.cells.insert(place, new_code_cell(room.right["gelu"], id="mine"))
    return notebook


def _warns(room: Class) -> NotebookNode:
    lines = room.right["gelu"].rstrip().splitlines()
    lines.insert(len(lines) - 1, '    import warnings\n    warnings.warn("look out")')
    return room.answered(room.right | {"gelu": "\n".join(lines)})


KINDS: dict[str, Callable[[Class], NotebookNode]] = {
    "right_1": _style(0),
    "right_2": _style(1),
    "right_3": _style(2),
    "blank": lambda room: room.answered({}),
    "other_language": lambda room: room.answered(room.right, "en"),
    "raises": _raises,
    "syntax_error": _syntax_error,
    "warns": _warns,
    "edited_check": _edited_check,
    "deleted_check": _deleted_check,
    "reference_on_the_path": _reference_on_the_path,
    "decorator_deleted": _decorator_deleted,
    "stub_left": _stub_left,
    "stub_cell_below": _stub_cell_below,
}


def make(kind: str, room: Class) -> NotebookNode:
    """A submission of one of these kinds, or with one known mistake and everything else right."""
    if kind in KINDS:
        return KINDS[kind](room)
    mistake = room.mistakes[kind]
    return room.answered(room.right | {mistake.exercise: mistake.code})
