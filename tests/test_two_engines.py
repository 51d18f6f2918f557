"""Every chapter: right, blank, mistaken and odd answers score alike in the engine and in a notebook's own kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from submissions import Class
from truth_table import ENGINES

from hero_course.rehearsal import rehearse, without_examples

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("*/chapter.md"))


@pytest.fixture(scope="module", params=CHAPTERS)
def room(request: pytest.FixtureRequest, course: Path, tmp_path_factory: pytest.TempPathFactory) -> Class:
    """A chapter's class that handed in; no worked examples, which a stock kernel takes long for."""
    copy = shutil.copytree(course, tmp_path_factory.mktemp("engines") / "course")
    room = Class(copy, request.param, examples=False)
    room.submit("reference", room.answered(room.right))
    room.submit("blank", room.answered({}))
    room.submit("mistaken", room.answered(room.right | {m.exercise: m.code for m in room.mixes()[0]}))
    for learner, answers in room.odd().items():
        room.submit(learner, room.answered(room.right | answers))
    return room


def _scores(room: Class, engine: str, *learners: str) -> dict[str, dict[str, float]]:
    """For each learner the score of each check, graded by the command."""
    environment = {**os.environ, "HERO_ENGINE": engine, "PYTHONPATH": str(ROOT)}
    asked = [f"--learner={learner}" for learner in learners]
    command = [sys.executable, "-m", "hero_course.cli", "grade", room.name, "--force", *asked]
    subprocess.run(command, cwd=room.course, env=environment, capture_output=True, check=True)
    with Gradebook(f"sqlite:///{room.course / 'gradebook.db'}", "hero_transformer") as gradebook:
        found = {one.student.id: one.notebooks[0] for one in gradebook.assignment_submissions(room.name)}
        return {name: {grade.name: grade.auto_score for grade in found[name].grades} for name in learners}


def _points(room: Class) -> dict[str, float]:
    return {cell.key: float(cell.options["points"]) for cell in room.chapter.of_kind("check", "hidden")}


def test_both_engines_give_the_same_scores(room: Class) -> None:
    engine, stock = (_scores(room, one, "reference", "blank", "mistaken") for one in ENGINES)
    assert engine == stock
    full = _points(room)
    assert engine["reference"] == full
    assert engine["blank"] == dict.fromkeys(full, 0.0)
    for mistake in room.mixes()[0]:
        own = {cell.key for cell in room.chapter.of_kind("check", "hidden") if cell.exercise == mistake.exercise}
        assert any(engine["mistaken"][key] == 0 for key in own), mistake.id


def test_odd_answers_score_in_the_engine_as_in_the_notebook(room: Class) -> None:
    """The rehearsal runs the cells in one process, as the learner's notebook does; a stock kernel takes longer."""
    folder = room.course / "source" / "zh" / room.name
    whole = nbformat.read(folder / f"{room.name}.ipynb", as_version=4)
    runs = rehearse(without_examples(whole), folder, room.odd())
    full = _points(room)
    assert _scores(room, "engine", *runs) == {
        learner: {key: full[key] * run[key].passed for key in full} for learner, run in runs.items()
    }
