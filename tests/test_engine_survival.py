"""Every broken or hostile submission, graded in one class by the command, and what became of each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hostile import FORGERIES, SURVIVAL, Files
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from submissions import Class
from truth_table import HOSTILE, NO_RESULT, NOT_RUN, PAGE, read_rows

from hero_course.course import nbgrader_config

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_decoder_block"
ALL = {**SURVIVAL, **FORGERIES}
ROWS = read_rows(*HOSTILE)
LIMITS = """
c.HeroExecute.cell_seconds = 4
c.HeroExecute.memory_megabytes = 1500
c.Execute.timeout = 10
"""

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def hero(course: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hero_course.cli", *words]
    variables = {**os.environ, "COLUMNS": "300", "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=course, env=variables, capture_output=True, text=True, errors="replace", check=False)


def hand_in(course: Path, learner: str, files: Files) -> None:
    folder = course / "submitted" / learner / CHAPTER
    folder.mkdir(parents=True)
    for name, content in files.items():
        if isinstance(content, Path):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_bytes(content)


def hand_in_all(course: Path, copy: Path, names: list[str], examples: bool = True) -> Path:
    """A copy of the course where these submissions were handed in."""
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    with (copy / "nbgrader_config.py").open("a") as file:
        file.write(LIMITS)
    room = Class(copy, CHAPTER)
    for name in names:
        room.examples = examples or name.startswith("example_")
        hand_in(copy, name, ALL[name](room))
    return copy


def scores(course: Path, learner: str) -> dict[str, tuple[float, float]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "hero_transformer") as gradebook:
        notebook = gradebook.find_submission_notebook(CHAPTER, CHAPTER, learner)
        return {grade.name: (grade.auto_score, grade.max_score) for grade in notebook.grades}


@pytest.fixture(scope="module")
def graded(course: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The course after the class was graded, and what the command printed."""
    copy = hand_in_all(course, tmp_path_factory.mktemp("hostile") / "课程 course", list(ALL))
    (copy.parent / "tmp").mkdir()
    done = hero(copy, "grade", CHAPTER, TMPDIR=str(copy.parent / "tmp"))
    assert done.returncode == 0, done.stdout + done.stderr
    return copy, done.stdout


@pytest.mark.parametrize("name", ALL)
def test_the_score_is_right_for_what_was_right(graded: tuple[Path, str], name: str) -> None:
    course, _ = graded
    found = scores(course, name)
    lost = ROWS[name].lost("engine", set(found))
    assert {key for key, (score, _) in found.items() if score == 0} == lost
    assert all(score == most for key, (score, most) in found.items() if key not in lost)


@pytest.mark.parametrize("name", [name for name in ALL if ROWS[name].message["engine"] != "–"])
def test_the_learner_is_told(graded: tuple[Path, str], name: str) -> None:
    course, printed = graded
    notebook = nbformat.read(course / "autograded" / name / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    said = "\n".join("".join(output.get(part, "") for part in ("ename", "evalue", "text")) for output in outputs)
    message = ROWS[name].message["engine"]
    assert message in said
    if ROWS[name].zeros["engine"] == "all" and name in SURVIVAL:
        assert f"{name}: 0: " in printed, "listed at the end of the run"
        assert message in printed


@pytest.mark.parametrize("name", ALL)
def test_there_is_feedback_without_a_hidden_check(graded: tuple[Path, str], name: str) -> None:
    page = (graded[0] / "feedback" / name / CHAPTER / f"{CHAPTER}.html").read_text(encoding="utf-8")
    assert "# hidden · " in page
    assert "linspace(-4, 4, 33" not in page.replace("SEEN", "") or name == "spy"


def test_no_file_of_the_instructors_is_handed_back(graded: tuple[Path, str]) -> None:
    for step in ("autograded", "feedback"):
        assert not (graded[0] / step / "links" / CHAPTER / "a").exists()


def test_the_table_lists_every_one_and_says_why_engines_differ() -> None:
    assert list(ROWS) == list(ALL)
    page = PAGE.read_text(encoding="utf-8")
    for name, row in ROWS.items():
        if row.zeros["stock"] != row.zeros["engine"]:
            assert re.search(rf"\| `{name}` .*\| {row.zeros['engine']}: \w+.* \|", page), name


@pytest.fixture(scope="module")
def stock(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same class, but for what would harm the machine, graded by stock kernels."""
    names = [name for name in ALL if ROWS[name].zeros["stock"] != NOT_RUN]
    copy = hand_in_all(course, tmp_path_factory.mktemp("stock") / "course", names, examples=False)
    hero(copy, "grade", CHAPTER, HERO_ENGINE="stock")
    return copy


@pytest.mark.parametrize("name", [name for name in ALL if ROWS[name].zeros["stock"] != NOT_RUN])
def test_a_stock_kernel_scores_as_the_table_says(stock: Path, name: str) -> None:
    row = ROWS[name]
    if row.zeros["stock"] == NO_RESULT:
        assert not (stock / "autograded" / name / CHAPTER / f"{CHAPTER}.ipynb").is_file()
        return
    found = scores(stock, name)
    assert {key for key, (score, _) in found.items() if not score} == row.lost("stock", set(found))


def test_no_process_and_no_folder_is_left(graded: tuple[Path, str]) -> None:
    temporary = graded[0].parent / "tmp"  # the warm parents' command lines name their folders in it
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(temporary) not in running
    assert not [path for path in temporary.iterdir() if not path.name.startswith(("hero-cache", "hero-processor-"))]


def test_grading_again_grades_nobody_twice(graded: tuple[Path, str]) -> None:
    done = hero(graded[0], "grade", CHAPTER)
    assert f"{len(ALL)} graded already, unchanged" in done.stdout


@pytest.mark.parametrize("name", ["os_exit", "broken_file", "forge_abs"])
def test_formgrader_grades_by_the_engine(graded: tuple[Path, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(graded[0])
    config = nbgrader_config(graded[0], "zh")
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    result = api.autograde(CHAPTER, name)
    assert result["success"], result.get("log")
    found = scores(graded[0], name)
    assert {key for key, (score, _) in found.items() if score == 0} == ROWS[name].lost("engine", set(found))


def test_without_bubblewrap_grading_stops_in_one_line_or_goes_on_when_told(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "course"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    room = Class(copy, CHAPTER)
    hand_in(copy, "lin", FORGERIES["forge_abs"](room))
    empty = tmp_path / "bin"
    empty.mkdir()
    (empty / "alembic").symlink_to(Path(sys.executable).parent / "alembic")
    refused = hero(copy, "grade", CHAPTER, PATH=str(empty))
    assert refused.returncode != 0
    assert "bubblewrap (the program bwrap) is missing" in refused.stdout + refused.stderr
    done = hero(copy, "grade", CHAPTER, "--without-sandbox", PATH=str(empty))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {key for key, (score, _) in scores(copy, "lin").items() if score == 0} == ROWS["forge_abs"].lost("engine", set())
