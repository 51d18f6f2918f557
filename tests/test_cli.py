"""The command `hero`: errors in one line, quick help, and a small class graded by the stock nbgrader."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from hero_course.chapter import read_chapter
from hero_course.cli import main
from hero_course.gradebook import points_text
from hero_course.quiet import quietly
from hero_course.sample import write_class

NAME = "05_decoder_block"
ROOT = Path(__file__).resolve().parents[1]


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hero_course.cli", *words]
    environment = {**os.environ, "COLUMNS": "160", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=environment)


def failure(*words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command that must fail writes to standard error."""
    monkeypatch.setattr(sys, "argv", ["hero", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pack", "99"), "error: no chapter '99'"),
        (("pack", "5", "--lang", "fr"), "error: language: expected one of"),
        (("report", "5"), "error: 05_decoder_block is not in the gradebook. Remedy: run hero grade"),
        (("grade", "5"), "error: no submission of 05_decoder_block by anybody"),
        (("grade", "5", "--learner", "lin"), "error: no submission of 05_decoder_block by lin"),
    ],
)
def test_a_request_that_cannot_be_carried_out_is_one_line(
    course: Path, words: tuple[str, ...], expected: str, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(course / "chapters")
    said = failure(*words, capsys=capsys, monkeypatch=monkeypatch)
    assert said.startswith(expected)
    assert said.count("\n") == 1


def test_outside_of_a_course_the_error_says_where_to_go(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "error: no course at or above" in failure("build", capsys=capsys, monkeypatch=monkeypatch)


def test_the_command_itself_imports_nothing_slow(root: Path) -> None:
    slow = "{'nbgrader', 'torch', 'matplotlib', 'jupytext', 'nbformat'}"
    code = f"import sys, hero_course.cli; print({slow} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_standard_error_goes_to_the_log_and_comes_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with quietly(tmp_path / "log"):
        os.write(2, b"kernel noise\n")
    os.write(2, b"heard\n")
    assert (tmp_path / "log").read_text() == "kernel noise\n"
    assert capfd.readouterr().err == "heard\n"


@pytest.fixture(scope="module")
def graded(course: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A course where a learner with two mistakes and two whose files nbgrader cannot read were graded."""
    root = tmp_path_factory.mktemp("graded") / "course"
    shutil.copytree(course, root)
    samples = write_class(root, read_chapter(root / "chapters" / NAME / "chapter.md"))
    wanted = next(sample for sample in samples if sample.about.startswith("two mistakes")).learner
    shutil.move(root / "submitted" / wanted, root / "lin")
    shutil.rmtree(root / "submitted")
    (root / "submitted" / "broken" / NAME).mkdir(parents=True)
    (root / "submitted" / "broken" / NAME / f"{NAME}.ipynb").write_text("<<<<<<< HEAD")
    (root / "submitted" / "empty" / NAME).mkdir(parents=True)
    shutil.move(root / "lin", root / "submitted" / "lin")
    return root, run(root, "grade", "5")


def test_grade_lists_whose_file_cannot_be_read_and_grades_the_others(graded) -> None:
    root, done = graded
    assert (done.returncode, done.stderr) == (0, "")
    assert "broken: 0: " in done.stdout
    assert "the file is broken" in done.stdout
    assert "empty: 0: " in done.stdout
    assert "there is no notebook" in done.stdout
    assert "its checks were put into the gradebook" in done.stdout
    assert "3/3" in done.stdout
    assert sorted(path.parent.parent.name for path in (root / "feedback").glob("*/*/*.html")) == [
        "broken",
        "empty",
        "lin",
    ]


def test_report_of_the_graded_class(graded) -> None:
    root, _ = graded
    done = run(root, "report", NAME)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    (scores,) = [line[1:] for line in lines if line[0] == "lin" and line[1].isdigit()]
    named = [line[1] for line in lines if line[0] == "lin" and not line[1].isdigit()]
    chapter = read_chapter(root / "chapters" / NAME / "chapter.md")
    assert named == [cell.key for cell in chapter.of_kind("exercise")][:2]
    most = sum(cell.options["points"] for cell in chapter.of_kind("check", "hidden"))
    assert 0 < int(scores[0]) == sum(map(int, scores[1:])) < most
    assert [line[1] for line in lines if line[0] in ("broken", "empty")] == ["0", "0"]
    assert f"3 learners, 3 graded; mean {points_text(int(scores[0]) / 3)} of {most} points" in done.stdout
    assert (root / "report" / f"{NAME}.html").is_file()


def test_a_check_that_breaks_by_itself_is_no_result_rather_than_zero(grader, monkeypatch: pytest.MonkeyPatch) -> None:
    path = grader.source / f"{NAME}.ipynb"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("x = torch.linspace(-4, 4, 33", "x = torch.line_space(-4, 4, 33"), encoding="utf-8")
    grader.enter_assignment()
    reason = grader.grade("lin")
    assert reason is not None
    assert reason.startswith("NotGradedError: the check gelu-tails broke: AttributeError")
    assert not grader.is_graded("lin")


def test_grade_leaves_alone_what_is_graded_and_unchanged(graded) -> None:
    root, _ = graded
    notebook = root / "autograded" / "lin" / NAME / f"{NAME}.ipynb"
    before = notebook.stat().st_mtime_ns
    done = run(root, "grade", "5", "--learner", "lin")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 graded already, unchanged" in done.stdout
    assert "put into the gradebook" not in done.stdout
    assert notebook.stat().st_mtime_ns == before


@pytest.fixture
def grader(graded, tmp_path: Path):
    """A grader on a copy of the graded course."""
    from hero_course.grade import Grader

    root = Path(shutil.copytree(graded[0], tmp_path / "course"))
    return Grader(root, NAME, "zh")


def test_a_changed_check_is_entered_and_everybody_waits_for_grading_again(grader) -> None:
    assert grader.is_graded("lin")
    assert not grader.enter_assignment()
    release = (grader.root / "release" / "zh" / NAME / f"{NAME}.ipynb").read_bytes()
    path = grader.source / f"{NAME}.ipynb"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("tolerance=1e-12", "tolerance=1e-11"), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    assert not grader.is_graded("lin")
    assert grader.enter_assignment()
    assert not grader.enter_assignment()
    assert (grader.root / "release" / "zh" / NAME / f"{NAME}.ipynb").read_bytes() == release


def test_a_new_submission_waits_for_grading_even_if_its_date_is_old(grader) -> None:
    path = grader.root / "submitted" / "lin" / NAME / f"{NAME}.ipynb"
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    os.utime(path, (1, 1))
    assert not grader.is_graded("lin")


def test_a_failed_setup_is_no_result_rather_than_zero(grader, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the kernel imports another edition: every check fails, and the learner did nothing wrong."""
    path = grader.root / "autograded" / "lin" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    setup = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "setup")
    setup.outputs = [new_output("error", ename="CheckFailed", evalue="✗ the wrong hero_transformer", traceback=[])]
    path.chmod(0o644)
    nbformat.write(notebook, path)
    monkeypatch.setattr(grader, "convert", lambda kind, learner: None)
    monkeypatch.setattr(grader, "_engine", False)
    assert grader.grade("lin") == "the set-up cell failed: CheckFailed: ✗ the wrong hero_transformer"
    assert not grader.is_graded("lin")
