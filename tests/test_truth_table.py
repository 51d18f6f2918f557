"""The table of docs/grading.md, run through the real nbgrader: command, gradebook, feedback."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbgrader.api import Gradebook
from submissions import KINDS, Class, make

from hero_course.plugins import HIDDEN_BEGIN

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_decoder_block"
HIDDEN = [HIDDEN_BEGIN, "known = {", "with checks(&quot;gelu-tails", 'with checks("gelu-tails', "linspace(-4, 4, 33"]


ENGINES = ("engine", "stock")


class Row(NamedTuple):
    """What each way of grading gives: the cells that score 0, and a part of the message."""

    lost: dict[str, str]
    said: dict[str, str]


def _rows() -> dict[str, Row]:
    text = (ROOT / "docs" / "grading.md").read_text(encoding="utf-8")
    table = text.partition("<!-- truth table -->")[2].partition("<!-- end of the truth table -->")[0]
    lines = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in table.splitlines() if "| `" in line]
    rows = {}
    for name, _, stock, engine, message in lines:
        said, _, stock_said = message.partition(" (stock: ")
        rows[name.strip("`")] = Row(
            {"stock": stock, "engine": stock if engine == "same" else engine.partition(":")[0]},
            {"stock": stock_said.removesuffix(")") or message, "engine": said},
        )
    return rows


ROWS = _rows()


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Which execute step grades: the engine's, or a stock kernel."""
    return request.param


@pytest.fixture(scope="module")
def graded(course: Path, engine: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course after its class was released, autograded and given feedback, by nbgrader's own commands."""
    copy = tmp_path_factory.mktemp(engine) / "course"
    shutil.copytree(course, copy)
    room = Class(copy, CHAPTER)
    for kind in ROWS:
        room.submit(kind, make(kind, room))
    for command in ("generate_assignment", "autograde", "generate_feedback"):
        _nbgrader(copy, command, CHAPTER, "--force", engine=engine)
    return copy


def _nbgrader(course: Path, *words: str, engine: str = "engine") -> str:
    # the full package on PYTHONPATH, as on many an instructor's machine: nobody may be graded against it
    environment = {**os.environ, "HERO_LANG": "zh", "HERO_ENGINE": engine, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "nbgrader", *words]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _scores(course: Path, learner: str) -> dict[str, tuple[float, float]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "hero_transformer") as gradebook:
        notebook = gradebook.find_submission_notebook(CHAPTER, CHAPTER, learner)
        return {grade.name: (grade.score, grade.max_score) for grade in notebook.grades}


def test_the_table_lists_every_kind_and_every_known_mistake(course: Path) -> None:
    assert set(ROWS) == set(KINDS) | set(Class(course, CHAPTER).mistakes)


@pytest.mark.parametrize("kind", ROWS)
def test_scores_are_those_of_the_table(graded: Path, engine: str, kind: str) -> None:
    zeros = ROWS[kind].lost[engine]
    scores = _scores(graded, kind)
    room = Class(graded, CHAPTER)
    assert set(scores) == {cell.key for cell in room.chapter.of_kind("check", "hidden")}
    lost = {"all": set(scores), "none": set()}.get(zeros, set(re.findall(r"`([\w-]+)`", zeros)))
    assert {name for name, (score, _) in scores.items() if score == 0} == lost
    assert all(score == most for name, (score, most) in scores.items() if name not in lost)


@pytest.mark.parametrize("kind", ROWS)
def test_the_learner_reads_the_message_of_the_table(graded: Path, engine: str, kind: str) -> None:
    message = ROWS[kind].said[engine]
    if message == "its name":
        message = Class(graded, CHAPTER).mistakes[kind].name
    notebook = nbformat.read(graded / "autograded" / kind / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    said = "\n".join(o.evalue for o in outputs if o.output_type == "error")
    if message == "–":
        assert said == ""
    else:
        assert message in said


def test_rows_that_differ_say_why() -> None:
    text = (ROOT / "docs" / "grading.md").read_text(encoding="utf-8")
    for name, row in ROWS.items():
        if row.lost["stock"] != row.lost["engine"]:
            assert re.search(rf"\| `{name}` .*\| {row.lost['engine']}: \w+.* \|", text)


@pytest.mark.parametrize("kind", ROWS)
def test_feedback_shows_no_hidden_check_and_needs_no_network(graded: Path, kind: str) -> None:
    page = (graded / "feedback" / kind / CHAPTER / f"{CHAPTER}.html").read_text(encoding="utf-8")
    plain = re.sub(r"<[^>]+>", "", page)
    assert not [secret for secret in HIDDEN if secret in page or secret in plain]
    assert "# hidden · " in plain, "the captions tell what is graded"
    assert "<math " in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"?https?:", page)


def test_export_writes_a_row_for_each_learner(graded: Path) -> None:
    _nbgrader(graded, "export")
    lines = (graded / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(ROWS)


def test_release_by_the_stock_command_is_the_committed_one(graded: Path, tracked: list[str]) -> None:
    released = f"release/zh/{CHAPTER}/{CHAPTER}.ipynb"
    assert released in tracked
    assert (graded / released).read_bytes() == (ROOT / released).read_bytes()


def test_release_is_refused_without_the_edition(graded: Path) -> None:
    edition = graded / "source" / "en" / CHAPTER / "hero_transformer"
    aside = edition.rename(graded / "aside")
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", CHAPTER, "--force"]
    environment = {**os.environ, "HERO_LANG": "en", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=graded, env=environment, capture_output=True, text=True, check=False)
    aside.rename(edition)
    assert done.returncode != 0
    assert "has no learner's edition of the package" in done.stderr
    assert not (graded / "release" / "en" / CHAPTER).exists()
