"""nbgrader's own documented commands, and formgrader's page, on submissions that nobody judged before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from submissions import Class
from traitlets.config import Config

from hero_course.course import nbgrader_config

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_decoder_block"
NOTEBOOK = f"{CHAPTER}.ipynb"
PICTURE = {"image.png": {"image/png": "iVBORw0KGgo="}}
ZEROS = {"foreign"}


def nbgrader(course: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HERO_LANG": "zh"}
    command = [sys.executable, "-m", "nbgrader", *words]
    return subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, errors="replace", check=False, timeout=600
    )


def hand_in(course: Path) -> set[str]:
    """Submissions with right answers and something odd; the learners' names."""
    room = Class(course, CHAPTER, examples=False)
    right = room.answered(room.right)

    def folder(learner: str) -> Path:
        found = course / "submitted" / learner / CHAPTER
        found.mkdir(parents=True)
        return found

    def beside(learner: str) -> Path:
        found = folder(learner)
        nbformat.write(right, found / NOTEBOOK)
        return found

    links = beside("links")
    secret = course / "source" / "zh" / CHAPTER / NOTEBOOK
    for name, target in {"a.ipynb": secret, "a.txt": secret, "g.db": course / "gradebook.db", "p": course / "hero_transformer", "z.png": "/dev/zero"}.items():  # fmt: skip
        (links / name).symlink_to(target)
    os.mkfifo(beside("pipe") / "timestamp.txt")
    (beside("endless") / "timestamp.txt").symlink_to("/dev/zero")
    (beside("year") / "timestamp.txt").write_text("10000-01-01 00:00:00 UTC")
    (beside("page[1]") / f"{CHAPTER}.html").write_text("in the way")
    with zipfile.ZipFile(folder("zip") / "homework.zip", "w") as archive:
        archive.writestr(f"homework/{NOTEBOOK}", nbformat.writes(right))
    other = Class(course, "04_causal_attention", examples=False)
    nbformat.write(other.answered(other.right), folder("foreign") / NOTEBOOK)
    odd = room.answered(room.right)
    odd.cells[3:3] = [
        new_markdown_cell("![a](attachment:image.png) ![b](attachment:gone.png)", id="pasted", attachments=PICTURE),
        new_markdown_cell("<script>alert(1)</script> <img src=x onerror=alert(2)>", id="script"),
        new_markdown_cell("### BEGIN HIDDEN TESTS", id="marker"),
        new_code_cell("# ### BEGIN SOLUTION\n# ### BEGIN HIDDEN TESTS", id="comment"),
        new_code_cell("from IPython.display import HTML\nHTML('<' + 'script>alert(3)</' + 'script>')", id="html"),
    ]
    nbformat.write(odd, folder("odd") / NOTEBOOK)
    return {"links", "pipe", "endless", "year", "page[1]", "zip", "foreign", "odd"}


@pytest.fixture(scope="module")
def graded(course: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str], str]:
    """The course after release, autograde and feedback by the stock commands; the learners; what was printed."""
    copy = tmp_path_factory.mktemp("stock") / "course [1]"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    learners = hand_in(copy)
    printed = ""
    for command in ("generate_assignment", "autograde", "generate_feedback"):
        done = nbgrader(copy, command, CHAPTER, "--force")
        assert done.returncode == 0, done.stderr[-3000:]
        printed += done.stdout + done.stderr
    return copy, learners, printed


def test_everybody_is_graded_and_has_a_page_alone(graded: tuple[Path, set[str], str]) -> None:
    course, learners, _ = graded
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "hero_transformer") as gradebook:
        found = {one.student.id: (one.score, one.max_score) for one in gradebook.assignment_submissions(CHAPTER)}
    assert set(found) == learners
    assert {learner for learner, (score, most) in found.items() if score != most} == ZEROS
    assert all(found[learner][0] == 0 for learner in ZEROS)
    pages = {path.relative_to(course / "feedback") for path in (course / "feedback").rglob("*") if not path.is_dir()}
    assert pages == {Path(learner, CHAPTER, f"{CHAPTER}.html") for learner in learners}


def test_no_link_is_followed_and_none_is_copied(graded: tuple[Path, set[str], str]) -> None:
    folder = graded[0] / "autograded" / "links" / CHAPTER
    assert {path.name for path in folder.iterdir()} == {NOTEBOOK, "fingerprints.json", "hero_transformer"}
    assert not [path for path in folder.rglob("*") if path.is_symlink()]


def test_both_are_told(graded: tuple[Path, set[str], str]) -> None:
    course, _, printed = graded
    for learner, line in {
        "year": "timestamp.txt holds no time and was ignored",
        "zip": f"the file that was graded is homework.zip/homework/{NOTEBOOK}",
        "foreign": f"no cell of {CHAPTER} is in it",
    }.items():
        assert line in printed
        assert line in (course / "feedback" / learner / CHAPTER / f"{CHAPTER}.html").read_text(encoding="utf-8")
    assert "not recognized" not in printed


def _is_harmless(page: str) -> bool:
    return not any(f"{begin}alert" in page for begin in ("<script>", "onerror=\"")) and "&lt;script&gt;alert" in page


def test_nothing_of_a_learner_runs_on_the_page(graded: tuple[Path, set[str], str]) -> None:
    page = (graded[0] / "feedback" / "odd" / CHAPTER / f"{CHAPTER}.html").read_text(encoding="utf-8")
    assert _is_harmless(page)
    assert "<script" not in page
    assert "the picture is not in the file: b" in page
    assert "Content-Security-Policy" in page
    assert "<math " in page
    assert page.count("BEGIN HIDDEN TESTS") == 2, "what the learner wrote is there, no hidden check is"


def test_formgrader_shows_the_page_and_lists_the_class(
    graded: tuple[Path, set[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    course, learners, _ = graded
    monkeypatch.chdir(course)
    config = nbgrader_config(course, "zh")
    config.merge(Config({"HTMLExporter": {"template_name": "formgrade"}}))
    exporter = HTMLExporter(config=config)  # as formgrader makes it
    graded_notebook = course / "autograded" / "odd" / CHAPTER / NOTEBOOK
    page, _ = exporter.from_filename(str(graded_notebook), resources={"index": 0, "total": 1})
    assert _is_harmless(page)
    assert "the picture is not in the file: b" in page
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    assert {one["student"] for one in api.get_submissions(CHAPTER)} == learners


def test_a_release_without_the_edition_does_not_begin(course: Path, tmp_path: Path) -> None:
    copy = tmp_path / "course"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    shutil.rmtree(copy / "source" / "zh" / CHAPTER / "hero_transformer")
    release = copy / "release" / "zh" / CHAPTER
    before = {path: path.read_bytes() for path in release.rglob("*") if path.is_file()}
    done = nbgrader(copy, "generate_assignment", CHAPTER, "--force")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if "ERROR" in line or "Traceback" in line]
    assert len(lines) == 1
    assert f"Remedy: run hero build {CHAPTER}" in lines[0]
    assert before
    assert {path: path.read_bytes() for path in release.rglob("*") if path.is_file()} == before
