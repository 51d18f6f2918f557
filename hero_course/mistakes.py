"""What tells the known mistakes of a chapter apart: for each check, the fingerprints that only one of them leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hero_course.chapter import Cell, Chapter
from hero_course.compile import Known
from hero_course.errors import SourceError
from hero_course.rehearsal import CellRun
from hero_course.variants import MISCONCEPTIONS, Variant
from hero_transformer.diagnosis import alike, telling

__all__ = ["fingerprints"]

Runs = Mapping[str, Mapping[str, CellRun]]
RIGHT = "reference"  # the run of the solutions


def fingerprints(chapter: Chapter, mistakes: list[Variant], runs: Runs) -> dict[str, Known]:
    """For each check, what those known mistakes leave on its labels that can be told by it.

    A mistake is left out where it passes, where another of the exercise leaves the same, and where what it leaves is
    what many mistakes have in common (`telling`).

    Args:
        chapter: the chapter.
        mistakes: its known mistakes.
        runs: for each of them, and for ``reference``, what each cell's check saw.

    Raises:
        SourceError: for mistakes that no check catches, or that no check can tell from the others: all in one error.
    """
    known: dict[str, Known] = {}
    for cell in chapter.of_kind("check", "hidden"):
        known[cell.key] = {
            mistake.name: runs[mistake.id][cell.key].outcomes
            for mistake in _of(cell, mistakes)
            if not runs[mistake.id][cell.key].passed and not _why_not(cell, mistake, mistakes, runs)
        }
    problems = list(_nameless(chapter, mistakes, runs, known))
    if problems:
        raise SourceError(
            chapter.path.parent / MISCONCEPTIONS, problems[0][0], ";\n  ".join(text for _, text in problems),
            "let a check see what only this mistake does (other sizes, other values), or leave the mistake out",
        )
    return known


def _of(cell: Cell, mistakes: list[Variant]) -> list[Variant]:
    return [mistake for mistake in mistakes if mistake.exercise == cell.exercise]


def _why_not(cell: Cell, mistake: Variant, mistakes: list[Variant], runs: Runs) -> str:
    """Why a check cannot tell a mistake that it catches; empty if it can."""
    mine = runs[mistake.id][cell.key].outcomes
    twins = [
        other.id for other in _of(cell, mistakes)
        if other.id != mistake.id and alike(mine, runs[other.id][cell.key].outcomes)
    ]  # fmt: skip
    if twins:
        return f"{cell.key} sees the same of {', '.join(twins)}"
    if not telling(mine, runs[RIGHT][cell.key].outcomes):
        return f"{cell.key} sees only what many mistakes do: {_excerpt(mine)}"
    return ""


def _excerpt(marks: Mapping[str, Any]) -> str:
    text = ", ".join(f"{label} {mark}" for label, mark in marks.items())
    return text if len(text) <= 120 else text[:117] + "..."


def _nameless(
    chapter: Chapter, mistakes: list[Variant], runs: Runs, known: Mapping[str, Known]
) -> Iterator[tuple[int, str]]:
    """The mistakes that no check names, each with its line and why."""
    cells = {cell.key: cell for cell in chapter.of_kind("check", "hidden")}
    for mistake in mistakes:
        failed = [key for key, run in runs[mistake.id].items() if key in cells and not run.passed]
        if not failed:
            yield mistake.line, f"line {mistake.line}: {mistake.id} passes every check"
        elif not any(mistake.name in known[key] for key in failed):
            why = [_why_not(cells[key], mistake, mistakes, runs) or f"{key} is no check of it" for key in failed]
            yield mistake.line, f"line {mistake.line}: {mistake.id} is told by no check ({'; '.join(why)})"
