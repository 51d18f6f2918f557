"""The rules that a chapter's text must keep before anything is built from it. Each fault is one `SourceError`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from hero_course.chapter import LANGUAGES, Cell, Chapter
from hero_course.errors import SourceError
from hero_course.prose import formulas, render_faults
from hero_course.solutions import Solution, find_markers

__all__ = ["check_book", "check_chapter"]


def check_chapter(chapter: Chapter, solutions: Mapping[str, Solution]) -> None:
    """Check one chapter against the rules that can be seen in its text.

    Raises:
        SourceError: at the first fault.
    """
    _markers(chapter)
    _pairs(chapter)
    _rendering(chapter)
    _exercises(chapter, solutions)
    _checks(chapter)
    _claims(chapter)


def check_book(chapters: list[Chapter], solutions: Mapping[str, Solution]) -> None:
    """Check that every solution region belongs to exactly one exercise of the book.

    Raises:
        SourceError: for a region that no exercise points at, or two do.
    """
    pointed: dict[str, tuple[Chapter, Cell]] = {}
    for chapter in chapters:
        for cell in chapter.of_kind("exercise"):
            target = cell.options["exercise"]
            if target in pointed:
                other, first = pointed[target]
                raise chapter.error(
                    cell.line, f"{target} is already the exercise {first.key!r} of {other.name}", "point at it once"
                )
            pointed[target] = chapter, cell
    for target, solution in solutions.items():
        if target not in pointed:
            raise SourceError(
                solution.path, solution.begin, f"no exercise points at the solution region of {target}",
                "add the exercise to a chapter, or remove the markers",
            )


def _markers(chapter: Chapter) -> None:
    for line, marker in find_markers(chapter.path, chapter.path.read_text(encoding="utf-8")):
        raise chapter.error(
            line, f"the marker {marker!r} in a chapter: the build writes markers itself",
            "keep solutions in the package, and mark a hidden check with :hidden:",
        )


def _pairs(chapter: Chapter) -> None:
    for cell in chapter.of_kind("prose"):
        twins = {c.lang: c for c in chapter.of_kind("prose") if c.key == cell.key}
        missing = [lang for lang in LANGUAGES if lang not in twins]
        if missing:
            raise chapter.error(cell.line, f"the prose {cell.key!r} is missing in {missing[0]}", "write it")
        ours, theirs = (formulas(twins[lang].source) for lang in LANGUAGES)
        if ours != theirs:
            only = [f"only in zh: {list(ours - theirs)}"] if ours - theirs else []
            only += [f"only in en: {list(theirs - ours)}"] if theirs - ours else []
            raise chapter.error(
                cell.line, f"the formulas or quantities of {cell.key!r} differ between the languages "
                f"({'; '.join(only)})", "write the same ones in both"
            )
    orders = [[cell.key for cell in chapter.in_language(lang)] for lang in LANGUAGES]
    for ours, theirs in zip(*orders, strict=True):
        if ours != theirs:
            line = next(c.line for c in chapter.cells if c.key == ours)
            raise chapter.error(line, f"{ours!r} stands where the other language has {theirs!r}", "use one order")


def _rendering(chapter: Chapter) -> None:
    for cell in chapter.of_kind("prose"):
        for line, problem, remedy in render_faults(cell.source, cell.lang or ""):
            raise chapter.error(cell.line + line + 2, f"{problem}, in the prose {cell.key!r}", remedy)


def _exercises(chapter: Chapter, solutions: Mapping[str, Solution]) -> None:
    if len(list(chapter.of_kind("setup"))) != 1:
        raise chapter.error(1, "a chapter has exactly one set-up cell", "mark the first code cell with :setup: true")
    for cell in chapter.of_kind("exercise"):
        target = cell.options["exercise"]
        if target not in solutions:
            raise chapter.error(
                cell.line, f"the exercise {cell.key!r} points at {target!r}, which has no solution region",
                f"point at one of {sorted(solutions)}",
            )
        if cell.source.strip():
            raise chapter.error(cell.line, f"the exercise {cell.key!r} has code of its own", "leave the cell empty")
    for cell in chapter.of_kind("prediction"):
        if not cell.key.isidentifier():
            raise chapter.error(cell.line, f"the prediction {cell.key!r} is not a name", "use letters, digits and _")
        if cell.source.strip():
            raise chapter.error(cell.line, f"the prediction {cell.key!r} has code of its own", "leave the cell empty")


def _checks(chapter: Chapter) -> None:
    """Each check is one ``with checks("<its key>", …)`` block, stands after its exercise, and has points."""
    order = [cell.key for cell in chapter.cells]
    for cell in chapter.of_kind("check", "hidden"):
        asked = chapter.cell(str(cell.exercise))
        if asked is None or asked.kind not in ("exercise", "prediction"):
            raise chapter.error(
                cell.line, f"the check {cell.key!r} names {cell.exercise!r}, which is no exercise of this chapter",
                "name an exercise's or a prediction's key",
            )
        if order.index(asked.key) > order.index(cell.key):
            raise chapter.error(cell.line, f"the check {cell.key!r} stands before its exercise", "move it down")
        if not isinstance(cell.options["points"], int) or cell.options["points"] < 1:
            raise chapter.error(cell.line, f"the check {cell.key!r} has no whole points", "give it 1 or more")
        _one_block(chapter, cell)
    for cell in chapter.of_kind("exercise", "prediction"):
        kinds = {c.kind for c in chapter.of_kind("check", "hidden") if c.exercise == cell.key}
        needed = {"hidden"} if cell.kind == "prediction" else {"check", "hidden"}
        if not needed <= kinds:
            raise chapter.error(cell.line, f"{cell.key!r} lacks a {min(needed - kinds)} cell", "add one")


def _one_block(chapter: Chapter, cell: Cell) -> None:
    body = ast.parse(cell.source).body
    blocks = [node for node in body if isinstance(node, ast.With)]
    others = [node for node in body if not isinstance(node, (ast.With, ast.Import, ast.ImportFrom, ast.Assign))]
    call = blocks[0].items[0].context_expr if len(blocks) == 1 else None
    right = (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "checks"
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and call.args[0].value == cell.key
        and (cell.kind == "check" or any(k.arg == "known" for k in call.keywords))
    )
    if not right or others:
        known = ", known=known" if cell.kind == "hidden" else ""
        raise chapter.error(
            cell.line, f"the check {cell.key!r} is not one block of its own key",
            f'write assignments, then one: with checks("{cell.key}", …{known}) as c:',
        )


def _claims(chapter: Chapter) -> None:
    claims = chapter.front.get("claims") or []
    for claim in claims:
        line = chapter.line_of(f"id: {claim.get('id')}")
        missing = [name for name in ("id", "zh", "en", "cell") if not claim.get(name)]
        if missing:
            raise chapter.error(line, f"the claim {claim.get('id')!r} lacks {missing}", "add them")
        if formulas(claim["zh"]) != formulas(claim["en"]):
            raise chapter.error(
                line, f"the formulas of the claim {claim['id']} differ between the languages", "write the same ones"
            )
        cell = chapter.cell(claim["cell"])
        if cell is None or cell.kind == "hidden":
            raise chapter.error(
                line, f"the claim {claim['id']} names {claim['cell']!r}, which is no cell that a reader sees",
                "name the key of a code cell that asserts or shows it",
            )
    ids = [claim["id"] for claim in claims]
    if len(set(ids)) != len(ids):
        raise chapter.error(chapter.line_of("claims:"), "two claims have one id", "give each its own")
