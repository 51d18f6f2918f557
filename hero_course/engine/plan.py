"""From notebooks to work: what the examiner needs, and the steps of one submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nbformat import NotebookNode

from hero_course.engine.examination import Examination

__all__ = ["Job", "Step", "examination_of", "grade_id", "steps_of"]


@dataclass(frozen=True)
class Step:
    """One code cell: its place in the notebook, and either a check's key or the learner's source."""

    place: int
    check: str | None
    source: str


@dataclass(frozen=True)
class Job:
    """One submission: its code cells in order, and the other files that were handed in."""

    steps: tuple[Step, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)


def grade_id(cell: NotebookNode) -> str | None:
    """nbgrader's name of a cell, or None."""
    found = cell.metadata.get("nbgrader")
    name = found.get("grade_id") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def examination_of(source: NotebookNode) -> Examination:
    """What the instructor's notebook says about set-up, exercises and checks."""
    setup, exercises, predictions, checks, about = [], {}, [], {}, {}
    sources = [cell.source for cell in source.cells if cell.cell_type == "code"]
    for cell in source.cells:
        name, marks = grade_id(cell), cell.metadata.get("nbgrader", {})
        hero = cell.metadata.get("hero", {})
        if name is None or cell.cell_type != "code":
            continue
        if marks["grade"]:
            checks[name], about[name] = cell.source, hero.get("about", "")
        elif marks["locked"]:
            setup.append(cell.source)
        elif "target" in hero:
            exercises[name] = hero["target"]
        elif marks["solution"]:
            predictions.append(name)
    return Examination("\n\n".join(setup), exercises, tuple(predictions), checks, about, tuple(sources))


def steps_of(notebook: NotebookNode, examination: Examination) -> tuple[Step, ...]:
    """The code cells of a restored notebook; which of them are checks is the instructor's word alone."""
    steps = []
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            name = grade_id(cell)
            steps.append(Step(place, name if name in examination.checks else None, cell.source))
    return tuple(steps)
