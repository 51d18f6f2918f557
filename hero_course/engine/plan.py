"""From notebooks to work: what the examiner needs, and the steps of one submission."""

from __future__ import annotations

from nbformat import NotebookNode

from hero_course.engine.examination import Examination, Step
from hero_course.engine.examples import needed

__all__ = ["examination_of", "grade_id", "steps_of"]


def grade_id(cell: NotebookNode) -> str | None:
    """nbgrader's name of a cell, or None."""
    found = cell.metadata.get("nbgrader")
    name = found.get("grade_id") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def examination_of(source: NotebookNode, examples: str = "all") -> Examination:
    """What the instructor's notebook says about set-up, exercises and checks.

    Args:
        source: the instructor's notebook.
        examples: see `steps_of`.
    """
    setup, exercises, predictions, checks, about, worked = {}, {}, [], {}, {}, []
    code = [cell for cell in source.cells if cell.cell_type == "code"]
    for cell in code:
        name, marks = grade_id(cell), cell.metadata.get("nbgrader", {})
        hero = cell.metadata.get("hero", {})
        if name is None:
            worked.append(cell.source)
        elif marks["grade"]:
            checks[name], about[name] = cell.source, hero.get("about", "")
        elif marks["locked"]:
            setup[name] = cell.source
        elif "target" in hero:
            exercises[name] = hero["target"]
        elif marks["solution"]:
            predictions.append(name)
    cells = tuple(cell.source for cell in code if examples == "all" or grade_id(cell))
    return Examination(setup, exercises, tuple(predictions), checks, about, frozenset(worked), cells)


def steps_of(notebook: NotebookNode, examination: Examination, examples: str) -> tuple[Step, ...]:
    """The code cells of a restored notebook that are run; which of them are checks is the instructor's word alone.

    Args:
        notebook: the submission.
        examination: the instructor's notebook.
        examples: ``"all"``; or ``"needed"``: without untouched worked examples, unless the learner's code needs one.
    """
    steps, untouched, own = [], [], []
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            name = grade_id(cell)
            step = Step(place, name if name in examination.checks else None, cell.source)
            steps.append(step)
            if name is None and cell.source in examination.examples:
                untouched.append(step)
            elif step.check is None and name not in examination.setup:
                own.append(cell.source)
    setup = examination.setup.values()
    if examples == "needed" and not needed(own, [step.source for step in untouched], setup):
        left_out = {step.place for step in untouched}
        steps = [step for step in steps if step.place not in left_out]
    return tuple(steps)
