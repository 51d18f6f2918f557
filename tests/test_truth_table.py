"""The table of docs/grading.md, run through the real nbgrader: command, gradebook, feedback."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from submissions import KINDS, Class
from truth_table import CHAPTER, ENGINES, ITS_NAME, PAGE, read_rows

from hero_course.plugins import HIDDEN_BEGIN

ROOT = Path(__file__).resolve().parents[1]
ROWS = read_rows()
PLAIN = [kind for kind in ROWS if kind in KINDS]
WHOLE = ("right_1", "blank", "other_language")  # the others without worked examples: a stock kernel takes long for them


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Which execute step grades: the engine's, or a stock kernel."""
    return request.param


@pytest.fixture(scope="module")
def graded(course: Path, engine: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course whose class was released, autograded and given feedback, by nbgrader's own commands."""
    course = shutil.copytree(course, tmp_path_factory.mktemp(engine) / "course")
    room = Class(course, CHAPTER)
    for kind in PLAIN:
        room.examples = engine == "engine" or kind in WHOLE
        room.submit(kind, KINDS[kind](room))
    room.examples = False
    for number, mix in enumerate(room.mixes()):
        room.submit(f"mix-{number:02}", room.answered(room.right | {m.exercise: m.code for m in mix}))
    for command in ("generate_assignment", "autograde", "generate_feedback"):
        _nbgrader(course, command, CHAPTER, "--force", engine=engine)
    return course


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


def _said(course: Path, learner: str, keys: set[str] | None = None) -> str:
    """What the errors of a graded notebook say, in all cells or in those of these keys."""
    notebook = nbformat.read(course / "autograded" / learner / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and (keys is None or cell.id in keys)]
    return "\n".join(o.evalue for cell in cells for o in cell.outputs if o.output_type == "error")


def test_the_table_lists_every_kind_and_every_known_mistake(course: Path) -> None:
    assert list(ROWS) == [*KINDS, *Class(course, CHAPTER).mistakes]


@pytest.mark.parametrize("kind", PLAIN)
def test_scores_and_message_are_those_of_the_table(graded: Path, engine: str, kind: str) -> None:
    row, scores = ROWS[kind], _scores(graded, kind)
    lost, message = row.lost(engine, set(scores)), row.message[engine]
    assert {name for name, (score, _) in scores.items() if score == 0} == lost
    assert all(score == most for name, (score, most) in scores.items() if name not in lost)
    said = _said(graded, kind)
    assert (said == "") if message == "–" else (message in said)


def test_scores_and_names_of_the_known_mistakes_are_those_of_the_table(graded: Path, engine: str) -> None:
    """A submission holds one mistake in every exercise: each loses the points of its own row and no others."""
    room = Class(graded, CHAPTER)
    for number, mix in enumerate(room.mixes()):
        learner = f"mix-{number:02}"
        scores = _scores(graded, learner)
        assert set(scores) == {cell.key for cell in room.chapter.of_kind("check", "hidden")}
        rows = {mistake: ROWS[mistake.id].lost(engine, set(scores)) for mistake in mix}
        assert {name for name, (score, _) in scores.items() if score == 0} == set().union(*rows.values())
        assert all(score in (0, most) for score, most in scores.values())
        for mistake, lost in rows.items():
            assert ROWS[mistake.id].message[engine] == ITS_NAME
            assert mistake.name in _said(graded, learner, lost), mistake.id


def test_rows_that_differ_say_why() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, row in ROWS.items():
        if row.zeros["stock"] != row.zeros["engine"]:
            assert re.search(rf"\| `{name}` .*\| {row.zeros['engine']}: \w+.* \|", page)


@pytest.mark.parametrize("kind", PLAIN)
def test_feedback_shows_no_hidden_check_and_needs_no_network(graded: Path, kind: str) -> None:
    page = (graded / "feedback" / kind / CHAPTER / f"{CHAPTER}.html").read_text(encoding="utf-8")
    plain = html.unescape(re.sub(r"<[^>]+>", "", page))
    chapter = Class(graded, CHAPTER).chapter
    shown = {line.strip() for cell in chapter.of_kind("check", "code") for line in cell.source.splitlines()}
    hidden = {line.strip() for cell in chapter.of_kind("hidden") for line in cell.source.splitlines()} - shown
    assert not [line for line in hidden | {HIDDEN_BEGIN, "known = {"} if len(line) > 8 and line in plain]
    assert "# hidden · " in plain, "the captions tell what is graded"
    assert "<math " in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"?https?:", page)


def test_export_writes_a_row_for_each_learner(graded: Path) -> None:
    _nbgrader(graded, "export")
    lines = (graded / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(list((graded / "submitted").iterdir()))


def test_release_by_the_stock_command_is_the_committed_one(graded: Path, tracked: list[str]) -> None:
    released = f"release/zh/{CHAPTER}/{CHAPTER}.ipynb"
    assert released in tracked
    assert (graded / released).read_bytes() == (ROOT / released).read_bytes()


def test_release_is_refused_without_the_edition(graded: Path) -> None:
    edition = graded / "source" / "en" / CHAPTER / "hero_transformer"
    release = sorted((graded / "release" / "en" / CHAPTER).rglob("*"))
    before = [path.stat().st_mtime_ns for path in release]
    aside = edition.rename(graded / "aside")
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", CHAPTER, "--force"]
    environment = {**os.environ, "HERO_LANG": "en", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=graded, env=environment, capture_output=True, text=True, check=False)
    aside.rename(edition)
    assert done.returncode != 0
    assert "has no learner's edition of the package" in done.stderr
    assert before == [path.stat().st_mtime_ns for path in release] != [], "the release is as it was"
