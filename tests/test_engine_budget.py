"""Code that does not end takes nobody else's time: limits in the proportion of the real ones, a cell's to the total's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from submissions import Class

from hero_course.engine.assignment import Assignment
from hero_course.engine.budget import Budget
from hero_course.engine.examination import Job
from hero_course.engine.limits import Limits
from hero_course.engine.pair import WarmPair
from hero_course.engine.plan import examination_of, steps_of

CHAPTER = "05_decoder_block"
LIMITS = Limits(cell_seconds=2, total_seconds=10, restarts=6)
FIRST = "@replaces(LayerNorm)\ndef forward(self, hidden):\n    "
ENDLESS = "while True:\n    pass"
SWALLOWING = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
ENDING = "import os\nos._exit(0)"


def body(code: str) -> str:
    return FIRST + code.replace("\n", "\n    ")


@pytest.fixture(scope="module")
def room(course: Path) -> Class:
    return Class(course, CHAPTER, examples=False)


@pytest.fixture(scope="module")
def pair(course: Path) -> Iterator[WarmPair]:
    source = course / "source" / "zh" / CHAPTER
    examination = examination_of(nbformat.read(source / f"{CHAPTER}.ipynb", as_version=4))
    found = WarmPair(Assignment.of(source, examination, LIMITS, False, ()))
    found.warm_up()
    yield found
    found.close()


def lost(pair: WarmPair, room: Class, layer_norm: str | None = None, own: tuple[str, ...] = ()) -> dict[str, str]:
    """The checks that failed, with what they say."""
    notebook = room.answered(room.right | ({"layer_norm": layer_norm} if layer_norm else {}))
    place = next(number for number, cell in enumerate(notebook.cells) if cell.id == "setup") + 1
    notebook.cells[place:place] = [new_code_cell(source) for source in own]
    steps = steps_of(notebook, pair._assignment.examination, "needed")
    found = zip(steps, pair.grade(Job(steps)), strict=True)
    said = {step.check: "".join(one.get("evalue", "") for one in cell) for step, cell in found if step.check}
    return {check: text for check, text in said.items() if text}


def about(room: Class, exercise: str) -> set[str]:
    return {cell.key for cell in room.chapter.of_kind("check", "hidden") if cell.exercise == exercise}


@pytest.mark.parametrize("code", [ENDLESS, SWALLOWING, ENDING])
def test_an_exercise_that_does_not_end_loses_its_own_points_alone(pair: WarmPair, room: Class, code: str) -> None:
    found, own = lost(pair, room, body(code)), about(room, "layer_norm")
    assert len(own) >= 6
    assert found.keys() == own
    later = "ended its process too often" if code is ENDING else "used up its time"
    assert sum(later in text for text in found.values()) >= len(own) - (4 if code is ENDING else 1)


@pytest.mark.parametrize("code", [ENDLESS, SWALLOWING, ENDING])
def test_own_cells_that_do_not_end_cost_no_point(pair: WarmPair, room: Class, code: str) -> None:
    assert lost(pair, room, own=(code,) * 3) == {}


def test_cells_and_an_exercise_that_do_not_end_cost_that_exercise_alone(pair: WarmPair, room: Class) -> None:
    assert lost(pair, room, body(SWALLOWING), (ENDLESS, SWALLOWING)).keys() == about(room, "layer_norm")


def test_a_cell_that_waits_again_in_a_new_process_waits_for_less() -> None:
    budget = Budget(Limits())
    assert budget.for_cell(0) == 60
    budget.cell_took(0, 60.0)
    assert (budget.for_cell(0), budget.for_cell(1)) == (2, 30)
    budget.cell_took(0, 2.0)
    assert budget.for_cell(1) == 30, "the same cell does not count twice"
    for number in range(1, 60):
        budget.cell_took(number, budget.for_cell(number))
    assert budget.for_cell(60) == 2, "endless cells, even sixty, do not use up the time for all cells"


def test_an_exercise_waits_in_all_its_checks_together_and_no_other_notices() -> None:
    budget = Budget(Limits())
    for _ in range(6):
        assert budget.refusal("gelu") is None
        budget.exercise_took("gelu", 10.0)
    assert budget.for_exercise("gelu") == 0
    assert "used up its time" in str(budget.refusal("gelu"))
    assert (budget.for_exercise("block"), budget.refusal("block"), budget.for_cell(0)) == (60, None, 60)
