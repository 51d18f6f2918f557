"""The command `hero`: errors in one line, quick help, and a small class graded by the stock nbgrader."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output
from nbgrader.api import Gradebook

import hero_course.entry
import hero_course.ready
from hero_course.alone import LOCK, alone
from hero_course.chapter import read_chapter
from hero_course.cli import main
from hero_course.errors import CourseError
from hero_course.gradebook import points_text
from hero_course.quiet import LOG, quietly
from hero_course.records import Records
from hero_course.sample import write_class

NAME = "05_decoder_block"
ROOT = Path(__file__).resolve().parents[1]

# nbgrader's own add_submission
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <(Submitted|Grade|Comment).* not in session")


def run(root: Path, *words: str, **more: str | None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hero_course.cli", *words]
    environment = {**os.environ, "COLUMNS": "160", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **more}
    environment = {name: value for name, value in environment.items() if value is not None}
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


@pytest.mark.parametrize("words", [("build",), ("pack", "5"), ("work", "5"), ("new-class", "5"), ("grade", "5"), ("report", "5")])
def test_every_command_refuses_an_unknown_language(course: Path, words: tuple[str, ...], capsys, monkeypatch) -> None:
    monkeypatch.chdir(course)
    monkeypatch.setenv("HERO_LANG", "fr")
    assert "got 'fr'. Remedy: change HERO_LANG" in failure(*words, capsys=capsys, monkeypatch=monkeypatch)


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


def start(root: Path, code: str) -> subprocess.Popen[str]:
    """Another process that holds the course's lock while it reads its input."""
    program = f"import sys\nfrom pathlib import Path\nfrom hero_course.alone import alone\n{code}"
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


HOLD = "with alone(Path(), 'grade 5', print):\n    print('mine', flush=True)\n    sys.stdin.read()"


def test_a_second_command_says_for_whom_it_waits(tmp_path: Path) -> None:
    with start(tmp_path, HOLD) as first:
        assert first.stdout.readline() == "mine\n"
        with start(tmp_path, HOLD.replace("print)", "lambda text: print(text, flush=True))")) as second:
            said = second.stdout.readline()
            assert said.startswith(f"waiting for another command on this course: hero grade 5, process {first.pid} of ")
            first.kill()  # as a killed command leaves it
            assert second.stdout.readline() == "mine\n"
            second.stdin.close()


def test_what_a_killed_command_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".build-x1" / "source").mkdir(parents=True)
    (tmp_path / ".buildings").mkdir()
    said: list[str] = []
    with alone(tmp_path, "build", said.append):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".buildings", LOCK]
    assert said == []


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


def by_hand(grader, **values: object) -> None:
    """Give lin's check gelu-tails a score, or a comment on gelu, as Formgrader does."""
    with Gradebook(grader.config.CourseDirectory.db_url, "hero_transformer") as gradebook:
        if "comment" in values:
            gradebook.find_comment("gelu", NAME, NAME, "lin").manual_comment = values["comment"]
        if "score" in values:
            grade = gradebook.find_grade("gelu-tails", NAME, NAME, "lin")
            grade.manual_score, grade.needs_manual_grade = values["score"], False
        gradebook.db.commit()


def page_of(grader) -> str:
    return (grader.root / "feedback" / "lin" / NAME / f"{NAME}.html").read_text(encoding="utf-8")


@pytest.fixture
def hero(grader, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs the command in the grader's course, in this process; returns what it prints."""

    def call(*words: str, code: int = 0) -> str:
        monkeypatch.chdir(grader.root)
        monkeypatch.setenv("COLUMNS", "160")
        monkeypatch.setattr(sys, "argv", ["hero", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        printed = capsys.readouterr()
        assert caught.value.code == code, printed
        return printed.out

    return call


@pytest.mark.parametrize("values", [{"score": 0.25}, {"comment": "see page 7"}])
def test_what_is_given_by_hand_reaches_the_feedback_alone(grader, hero, values: dict[str, object]) -> None:
    notebook = grader.root / "autograded" / "lin" / NAME / f"{NAME}.ipynb"
    before = notebook.stat().st_mtime_ns
    by_hand(grader, **values)
    printed = hero("grade", "5")
    assert "3 graded already, unchanged" in printed
    assert "1 of them get new feedback" in printed
    assert notebook.stat().st_mtime_ns == before
    assert ("see page 7" if "comment" in values else "0.25") in page_of(grader)
    assert "new feedback" not in hero("grade", "5")


def test_a_score_by_hand_that_outlives_a_resubmission_is_named(grader, hero) -> None:
    by_hand(grader, score=0.25)
    assert "look at again" not in hero("grade", "5")
    path = grader.root / "submitted" / "lin" / NAME / f"{NAME}.ipynb"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    said = "* lin: manual scores to look at again: gelu-tails"
    assert said in hero("grade", "5")
    assert said in hero("grade", "5")  # until somebody looks
    assert said in hero("report", "5")
    by_hand(grader, score=1.0)
    assert "look at again" not in hero("grade", "5")


def lose(grader) -> None:
    (grader.root / "gradebook.db").unlink()


def remove_learner(grader) -> None:
    with Gradebook(grader.config.CourseDirectory.db_url, "hero_transformer") as gradebook:
        gradebook.remove_student("lin")


def restore_older(grader) -> None:
    with Gradebook(grader.config.CourseDirectory.db_url, "hero_transformer") as gradebook:
        gradebook.find_grade("gelu-values", NAME, NAME, "lin").auto_score = 0.125
        gradebook.db.commit()


def move_due_date(grader) -> None:
    with Gradebook(grader.config.CourseDirectory.db_url, "hero_transformer") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-01-01 00:00:00 UTC")


def test_a_receipt_proves_what_is_in_the_gradebook(grader) -> None:
    before = grader.records("lin")["lin"].score
    for change in (lose, remove_learner, restore_older, move_due_date):
        assert grader.is_graded("lin")
        change(grader)
        assert not grader.is_graded("lin"), change.__name__
        grader.enter_assignment()
        assert grader.grade("lin") is None
        assert grader.records("lin")["lin"].score == before > 0
    assert grader.is_graded("lin")


def test_a_submission_that_arrives_while_an_older_one_is_graded_is_graded_next(grader, monkeypatch) -> None:
    path = grader.root / "submitted" / "lin" / NAME / f"{NAME}.ipynb"
    convert = grader.convert

    def meanwhile(kind: type, learner: str) -> str | None:
        found = convert(kind, learner)
        path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
        return found

    monkeypatch.setattr(grader, "convert", meanwhile)
    assert grader.grade("lin") is None
    assert not grader.is_graded("lin")
    monkeypatch.undo()
    assert grader.grade("lin") is None
    assert grader.is_graded("lin")


def change_checks(grader, gone: str, new: str, like: str) -> None:
    """Take a check out of the instructor's notebook, and put a copy of another in under a new name."""
    path = grader.source / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    copy = nbformat.from_dict(cells[like])
    copy.id, copy.metadata.nbgrader.grade_id = new, new
    place = notebook.cells.index(cells[like])
    notebook.cells = [*notebook.cells[: place + 1], copy, *notebook.cells[place + 1 :]]
    notebook.cells.remove(cells[gone])
    nbformat.write(notebook, path)


def test_checks_may_be_added_and_removed_after_grading(grader, hero) -> None:
    by_hand(grader, score=0.25, comment="see page 7")
    before = grader.records()
    change_checks(grader, gone="block-cache", new="gelu-more", like="gelu-values")
    printed = hero("grade", "5")
    assert "new: gelu-more; gone: block-cache; a copy of the gradebook as it was: " in printed
    after = grader.records()
    assert set(after) == set(before) == {"lin", "broken", "empty"}
    for learner, record in after.items():
        assert record.is_complete
        assert set(record.marks) == set(before[learner].marks) - {"block-cache"} | {"gelu-more"}
        for check in set(record.marks) - {"gelu-more"}:
            assert record.marks[check].score == before[learner].marks[check].score
        assert record.comments == before[learner].comments
        assert record.marks["gelu-more"].auto == record.marks["gelu-values"].auto
    assert after["lin"].marks["gelu-tails"].manual == 0.25
    assert after["lin"].comments == {"gelu": "see page 7"}
    (copy,) = grader.root.glob("gradebook.db.*")
    assert set(Records(f"sqlite:///{copy}", NAME).read()["lin"].marks) == set(before["lin"].marks)


def test_a_removed_check_that_somebody_scored_by_hand_is_said(grader) -> None:
    by_hand(grader, score=0.25)
    change_checks(grader, gone="gelu-tails", new="gelu-more", like="gelu-values")
    assert "gone: gelu-tails, with 1 scores given by hand" in str(grader.enter_assignment())


def test_an_interrupted_change_of_checks_changes_nothing(grader, monkeypatch) -> None:
    before = grader.records()
    change_checks(grader, gone="block-cache", new="gelu-more", like="gelu-values")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hero_course.entry, "_add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        grader.enter_assignment()
    assert grader.records() == before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("sandbox", "bubblewrap (the program bwrap) is missing"),
        ("gradebook", "is damaged: file is not a database. Remedy: restore it"),
        ("folder", "autograded: "),
        ("full", "No space left on device. Remedy: make room"),
    ],
)
def test_what_grading_needs_is_looked_at_before_anybody_is_touched(
    grader, spoil: str, said: str, capsys, monkeypatch
) -> None:
    if spoil == "sandbox":
        monkeypatch.setenv("HERO_SANDBOX", "bubblewrap")
        monkeypatch.setenv("PATH", "/nowhere")
    elif spoil == "gradebook":
        (grader.root / "gradebook.db").write_bytes(b"no database at all")
    elif spoil == "folder":  # nobody, not even root, can make a file in a process's folder
        (grader.root / "autograded").rename(grader.root / "elsewhere")
        (grader.root / "autograded").symlink_to("/proc/self")
    else:
        monkeypatch.setattr(hero_course.ready.os, "posix_fallocate", full_disk)
    kept = [path for path in grader.root.rglob("*") if path.is_file() and path.parts[-1] not in (LOCK, LOG)]
    before = {path: path.read_bytes() for path in kept if "proc" not in path.resolve().parts[:2]}
    monkeypatch.chdir(grader.root)
    error = failure("grade", "5", "--force", capsys=capsys, monkeypatch=monkeypatch)
    assert said in error
    assert error.count("\n") == 1
    assert {path: path.read_bytes() for path in before} == before


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_unwritable_folder_is_one_line(grader, capsys, monkeypatch) -> None:
    monkeypatch.chdir(grader.root)
    said = failure("report", "5", "--to", "/proc/self", capsys=capsys, monkeypatch=monkeypatch)
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_odd_names_are_graded(grader, hero) -> None:
    names = ["张 三 (2)", "a[1]*", "O'Brien", "=1+2", "<b>"]
    for name in names:
        shutil.copytree(grader.root / "submitted" / "lin", grader.root / "submitted" / name)
    hero("grade", "5")
    scores = {learner: record.score for learner, record in grader.records().items()}
    assert all(scores[name] == scores["lin"] > 0 for name in names)
    assert all((grader.root / "feedback" / name / NAME / f"{NAME}.html").is_file() for name in names)


def test_a_name_that_nbgrader_cannot_have_is_refused_by_name(grader, hero) -> None:
    (grader.root / "submitted" / "lin").rename(grader.root / "submitted" / " lin")
    assert "begins or ends with a space" in grader.grade(" lin")
    odd = os.fsdecode(b"\xd5\xc5")
    (grader.root / "submitted" / " lin").rename(grader.root / "submitted" / odd)
    assert "is not UTF-8" in grader.grade(odd)
    assert r"\xd5\xc5: not graded: the folder's name is not UTF-8" in hero("grade", "5", code=1)


def test_a_scheduler_that_is_down_is_one_line(grader, monkeypatch) -> None:
    from dask import config

    with config.set({"distributed.comm.timeouts.connect": "0.1s"}), pytest.raises(CourseError, match="no Dask scheduler answers at tcp://127"):
        grader.runs(dask="tcp://127.0.0.1:9")


def test_piped_tables_are_as_wide_as_they_are(graded) -> None:
    done = run(graded[0], "report", "5", COLUMNS=None)
    heads = [line for line in done.stdout.splitlines() if "learner" in line]
    assert "parameter_" in done.stdout
    assert "ward" in done.stdout
    assert len(heads[0]) > 80


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
