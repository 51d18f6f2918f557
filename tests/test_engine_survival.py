"""Every broken or hostile submission, graded in one class by the command, and what became of each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hostile import FORGERIES, SURVIVAL, Hostile
from nbgrader.api import Gradebook
from submissions import Class

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_decoder_block"
ALL = {**SURVIVAL, **FORGERIES}
LIMITS = "\nc.HeroExecute.cell_seconds = 4\nc.HeroExecute.memory_megabytes = 1500\n"

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def hero(course: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hero_course.cli", *words]
    variables = {**os.environ, "COLUMNS": "300", "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=course, env=variables, capture_output=True, text=True, check=False)


def hand_in(course: Path, learner: str, files: dict[str, bytes]) -> None:
    folder = course / "submitted" / learner / CHAPTER
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def scores(course: Path, learner: str) -> dict[str, tuple[float, float]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "hero_transformer") as gradebook:
        notebook = gradebook.find_submission_notebook(CHAPTER, CHAPTER, learner)
        return {grade.name: (grade.auto_score, grade.max_score) for grade in notebook.grades}


@pytest.fixture(scope="module")
def graded(course: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The course after the class was graded, and what the command printed."""
    copy = tmp_path_factory.mktemp("hostile") / "课程 course"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    with (copy / "nbgrader_config.py").open("a") as file:
        file.write(LIMITS)
    room = Class(copy, CHAPTER)
    for name, one in ALL.items():
        hand_in(copy, name, one.make(room))
    done = hero(copy, "grade", CHAPTER)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy, done.stdout


@pytest.mark.parametrize("name", ALL)
def test_the_score_is_right_for_what_was_right(graded: tuple[Path, str], name: str) -> None:
    course, _ = graded
    found, one = scores(course, name), ALL[name]
    lost = set(found) if one.lost == "all" else set(one.lost.split())
    assert {key for key, (score, _) in found.items() if score == 0} == lost
    assert all(score == most for key, (score, most) in found.items() if key not in lost)


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if one.said])
def test_the_learner_is_told(graded: tuple[Path, str], name: str) -> None:
    course, printed = graded
    notebook = nbformat.read(course / "autograded" / name / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    said = "\n".join("".join(output.get(part, "") for part in ("ename", "evalue", "text")) for output in outputs)
    assert ALL[name].said in said
    if ALL[name].lost == "all" and name in SURVIVAL:
        assert f"{name}: 0: " in printed, "listed at the end of the run"
        assert ALL[name].said in printed


@pytest.mark.parametrize("name", ALL)
def test_there_is_feedback_without_a_hidden_check(graded: tuple[Path, str], name: str) -> None:
    page = (graded[0] / "feedback" / name / CHAPTER / f"{CHAPTER}.html").read_text(encoding="utf-8")
    assert "# hidden · " in page
    assert "linspace(-4, 4, 33" not in page.replace("SEEN", "") or name == "spy"


def test_no_process_and_no_folder_is_left(graded: tuple[Path, str]) -> None:
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(graded[0]) not in running


def test_grading_again_grades_nobody_twice(graded: tuple[Path, str]) -> None:
    done = hero(graded[0], "grade", CHAPTER)
    assert f"{len(ALL)} graded already, unchanged" in done.stdout


def test_without_bubblewrap_grading_stops_in_one_line_or_goes_on_when_told(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "course"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    room = Class(copy, CHAPTER)
    one: Hostile = FORGERIES["forge_abs"]
    hand_in(copy, "lin", one.make(room))
    empty = tmp_path / "bin"
    empty.mkdir()
    (empty / "alembic").symlink_to(Path(sys.executable).parent / "alembic")
    refused = hero(copy, "grade", CHAPTER, PATH=str(empty))
    assert refused.returncode != 0
    assert "bubblewrap (the program bwrap) is missing" in refused.stdout + refused.stderr
    done = hero(copy, "grade", CHAPTER, "--without-sandbox", PATH=str(empty))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {key for key, (score, _) in scores(copy, "lin").items() if score == 0} == set(one.lost.split())
