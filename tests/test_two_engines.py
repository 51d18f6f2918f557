"""Every chapter: the reference, a blank and one mistake in each exercise score alike under both engines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from submissions import Class
from truth_table import ENGINES

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
    return room


def _scores(room: Class, engine: str) -> dict[str, dict[str, float]]:
    """For each learner the score of each check, graded by the command."""
    environment = {**os.environ, "HERO_ENGINE": engine, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "hero_course.cli", "grade", room.name, "--force"]
    subprocess.run(command, cwd=room.course, env=environment, capture_output=True, check=True)
    with Gradebook(f"sqlite:///{room.course / 'gradebook.db'}", "hero_transformer") as gradebook:
        found = {one.student.id: one.notebooks[0] for one in gradebook.assignment_submissions(room.name)}
        return {learner: {grade.name: grade.auto_score for grade in one.grades} for learner, one in found.items()}


def test_both_engines_give_the_same_scores(room: Class) -> None:
    engine, stock = (_scores(room, one) for one in ENGINES)
    assert engine == stock
    full = {cell.key: float(cell.options["points"]) for cell in room.chapter.of_kind("check", "hidden")}
    assert engine["reference"] == full
    assert engine["blank"] == dict.fromkeys(full, 0.0)
    for mistake in room.mixes()[0]:
        own = {cell.key for cell in room.chapter.of_kind("check", "hidden") if cell.exercise == mistake.exercise}
        assert any(engine["mistaken"][key] == 0 for key in own), mistake.id
