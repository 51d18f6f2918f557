"""The class report, from a small gradebook made through nbgrader's own interface."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.apps.exportapp import ExportApp
from nbgrader.coursedir import CourseDirectory
from rich.console import Console

from hero_course.chapter import Chapter, read_chapter
from hero_course.course import CONFIGURATION, nbgrader_config
from hero_course.errors import CourseError
from hero_course.export import GradesTable
from hero_course.gradebook import NOT_GRADED, NOT_HANDED_IN, ClassResults, Mistake, points_text, read_results
from hero_course.ready import require_gradebook
from hero_course.report import alternatives, render_report, write_report
from hero_course.show import class_table, look_again, mistakes_table, summary
from hero_transformer.checks import NAMED

NAME = "05_decoder_block"
RELU = "用了 ReLU / ReLU instead of GELU"
SILU = "用了 SiLU / SiLU instead of GELU"
POST = "写成了 post-LN / post-LN instead of pre-LN"
ODD = "<b>x</b>"

# nbgrader's own add_submission
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <(Submitted|Grade|Comment).* not in session")


class Course:
    """A copy of the course with a gradebook that knows the chapter's checks and no learner."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.chapter: Chapter = read_chapter(root / "chapters" / NAME / "chapter.md")
        self.points = {cell.key: cell.options["points"] for cell in self.chapter.of_kind("check", "hidden")}

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", "hero_transformer")

    def graded(self, learner: str, failed: dict[str, str], *, notebook: bool = True) -> None:
        """Enter a learner whose checks ``failed`` with these messages; the others passed."""
        with self.gradebook() as gradebook:
            gradebook.add_student(learner)
            gradebook.add_submission(NAME, learner)
            for key, points in self.points.items():
                gradebook.find_grade(key, NAME, NAME, learner).auto_score = 0 if key in failed else points
            gradebook.db.commit()
        cells = [
            new_code_cell("", id=key, metadata={"nbgrader": {"grade_id": key, "grade": True}}) for key in self.points
        ]
        for cell in cells:
            if cell.id in failed:
                cell.outputs = [new_output("error", ename="CheckFailed", evalue=failed[cell.id], traceback=[])]
        if notebook:
            path = self.root / "autograded" / learner / NAME / f"{NAME}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(new_notebook(cells=cells), path)

    def read(self) -> ClassResults:
        return read_results(self.root, self.chapter)


@pytest.fixture(scope="module")
def empty(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of such a course; making its gradebook takes seconds."""
    folder = tmp_path_factory.mktemp("report") / "course"
    for name in ("chapters", "hero_transformer"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in CONFIGURATION:
        shutil.copy(root / name, folder)
    course = Course(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # for alembic
        gradebook = course.gradebook()
    with gradebook:
        gradebook.add_assignment(NAME)
        gradebook.add_notebook(NAME, NAME)
        for key, points in course.points.items():
            gradebook.add_grade_cell(key, NAME, NAME, max_score=points, cell_type="code")
    return folder


@pytest.fixture
def small(empty: Path, tmp_path: Path) -> Course:
    return Course(Path(shutil.copytree(empty, tmp_path / "course")))


def named(*names: str) -> str:
    return "\n".join(["✗ g(1): expected 1, got 2", *(NAMED + name for name in names)])


def test_points_names_and_counts(small: Course) -> None:
    small.graded("ada", {})
    small.graded("bo", {"gelu-tails": named(RELU), "block-values": named(POST)})
    small.graded("cy", {"gelu-values": named(RELU), "gelu-tails": named(RELU)})
    results = small.read()
    most, points = sum(small.points.values()), small.points
    assert sum(results.maximum.values()) == results.total == most
    assert results.maximum["gelu"] == sum(points[f"gelu-{about}"] for about in ("values", "tails", "gradient", "contract"))
    bo = most - points["gelu-tails"] - points["block-values"]
    cy = most - points["gelu-values"] - points["gelu-tails"]
    assert {one.learner: one.total for one in results.results} == {"ada": most, "bo": bo, "cy": cy}
    assert results.mean == pytest.approx((most + bo + cy) / 3)
    assert results.mistakes == [(Mistake("gelu", RELU), 2), (Mistake("block", POST), 1)]
    mean = points_text((most + bo + cy) / 3)
    said = f"3 learners, 3 graded; mean {mean} of {most} points; most often gelu: {RELU} (2)."
    assert summary(results).plain == said


def test_a_name_that_one_check_leaves_open_is_settled_by_another(small: Course) -> None:
    small.graded("ada", {"gelu-values": named(RELU, SILU), "gelu-tails": named(SILU)})
    small.graded("bo", {"gelu-values": named(RELU, SILU)})
    small.graded("cy", {"gelu-values": named("我很好 / all is well"), "gelu-tails": "no name"})
    assert [[one.name for one in result.mistakes] for result in small.read().results] == [[SILU], [RELU, SILU], []]


def test_not_graded_is_never_zero(small: Course) -> None:
    small.graded("zero", dict.fromkeys(small.points, "✗"))
    small.graded("broken", {}, notebook=False)  # nbgrader removed it when grading failed
    (small.root / "submitted" / "new" / NAME).mkdir(parents=True)
    with small.gradebook() as gradebook:
        gradebook.add_student("enrolled")
    results = small.read()
    assert {one.learner: one.total for one in results.results} == {
        "zero": 0, "broken": None, "new": None, "enrolled": None
    }
    assert results.mean == 0
    assert {one.learner: one.status for one in results.results} == {
        "zero": "", "broken": NOT_GRADED, "new": NOT_GRADED, "enrolled": NOT_HANDED_IN
    }
    page = render_report(results)
    assert (page.count(NOT_GRADED), page.count(NOT_HANDED_IN)) == (2, 1)
    assert summary(results).plain == f"4 learners, 1 graded, 1 did not hand in; mean 0 of {results.total:.0f} points."
    console = Console(width=120, file=io.StringIO())
    console.print(class_table(results))
    console.print(mistakes_table(results))
    rows = {line.split()[0]: line for line in console.file.getvalue().splitlines() if line.strip()}
    assert console.file.getvalue().count(NOT_GRADED) == 2
    assert console.file.getvalue().count(NOT_HANDED_IN) == 1
    assert set(rows["new"].split()[1:]) == {"—"}
    assert set(rows["zero"].split()[1:]) == {"0"}


def test_a_check_without_a_score_means_no_result(small: Course) -> None:
    small.graded("ada", {})
    with small.gradebook() as gradebook:
        gradebook.find_grade("block-cache", NAME, NAME, "ada").auto_score = None
        gradebook.db.commit()
    assert small.read().results[0].points is None


def test_a_score_given_by_hand_counts(small: Course) -> None:
    small.graded("ada", {"gelu-tails": "✗"})
    with small.gradebook() as gradebook:
        gradebook.find_grade("gelu-tails", NAME, NAME, "ada").manual_score = 1.5
        gradebook.db.commit()
    assert small.read().results[0].total == sum(small.points.values()) - small.points["gelu-tails"] + 1.5


def printed(results: ClassResults, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(class_table(results))
    return console.file.getvalue()


def test_a_penalty_for_lateness_is_taken_off_as_in_the_export(small: Course) -> None:
    most = sum(small.points.values())
    small.graded("ada", {})
    small.graded("bo", {"gelu-tails": "✗"})
    assert "late" not in printed(small.read())
    with small.gradebook() as gradebook:
        gradebook.find_submission(NAME, "ada").notebooks[0].late_submission_penalty = 4.0
        gradebook.find_submission(NAME, "bo").notebooks[0].late_submission_penalty = 1000.0
        gradebook.db.commit()
    results = small.read()
    assert {one.learner: (one.total, one.penalty) for one in results.results} == {"ada": (most - 4, 4), "bo": (0, 1000)}
    assert results.mean == (most - 4) / 2
    row = next(line for line in printed(results).splitlines() if line.split()[:1] == ["ada"])
    assert row.split()[1:3] == [points_text(most - 4), "−4"]
    page = render_report(results)
    assert "late penalty" in page
    assert f'<td class="number">{most - 4}</td>\n<td class="number">−4</td>' in page


def test_a_score_by_hand_for_an_earlier_submission_is_marked(small: Course) -> None:
    small.graded("ada", {})
    with small.gradebook() as gradebook:
        grade = gradebook.find_grade("gelu-tails", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 0.5, True  # as nbgrader leaves it after a resubmission
        for other in grade.notebook.grades:
            other.needs_manual_grade = other is grade
        gradebook.db.commit()
    results = small.read()
    assert results.results[0].again == ("gelu-tails",)
    lines = [line.plain for line in look_again({one.learner: one.again for one in results.results})]
    assert lines == ["* ada: manual scores to look at again: gelu-tails"]
    assert f"{points_text(results.results[0].total)}*" in printed(results)
    assert "look again at the scores" in render_report(results)


def test_a_long_name_leaves_room_for_the_points(small: Course) -> None:
    small.graded("x" * 120, {})
    small.graded("bo", {})
    lines = printed(small.read(), width=80).splitlines()
    (row,) = [line for line in lines if line.split()[:1] == ["bo"]]
    assert row.split()[1] == str(sum(small.points.values()))
    assert any("x…" in line for line in lines)


def test_a_folder_whose_name_is_not_utf_8_breaks_nothing(small: Course) -> None:
    small.graded("ada", {})
    os.makedirs(os.fsencode(small.root / "submitted") + b"/\xd5\xc5\xc8\xfd/" + NAME.encode())
    results = small.read()
    assert [one.status for one in results.results] == ["", NOT_GRADED]
    assert r"\xd5\xc5\xc8\xfd" in printed(results)
    assert r"\xd5\xc5\xc8\xfd" in write_report(results, small.root / "report").read_text(encoding="utf-8")


@pytest.mark.parametrize(("content", "said"), [(b"", "is an empty file"), (b"no database at all", "is damaged")])
def test_a_spoilt_gradebook_is_one_line(small: Course, content: bytes, said: str) -> None:
    (small.root / "gradebook.db").write_bytes(content)
    with pytest.raises(CourseError, match=said):
        small.read()


def test_another_programs_database_is_no_gradebook(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as database:
        database.execute("CREATE TABLE songs (name TEXT)")
    with pytest.raises(CourseError, match=r"other\.db is no gradebook of nbgrader"):
        require_gradebook(f"sqlite:///{tmp_path / 'other.db'}")


def test_a_locked_gradebook_is_named_and_only_read_if_that_is_enough(small: Course) -> None:
    url = f"sqlite:///{small.root / 'gradebook.db'}"
    with closing(sqlite3.connect(small.root / "gradebook.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        require_gradebook(url, write=False, patience=0)
        with pytest.raises(CourseError, match=r"cannot be used: database is locked\. Remedy: end the program"):
            require_gradebook(url, patience=0)
    require_gradebook(url, patience=0)


def test_reading_results_does_not_import_torch(root: Path) -> None:
    code = "import sys, hero_course.gradebook, hero_course.report; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def exported(small: Course, *learners: str) -> list[dict[str, str]]:
    """What nbgrader's own command writes, run in this process."""
    app = ExportApp(parent=None)
    app.coursedir = CourseDirectory(config=nbgrader_config(small.root, "zh"))
    table = GradesTable(parent=app, to=str(small.root / "grades.csv"), student=list(learners))
    with small.gradebook() as gradebook:
        table.export(gradebook)
    with (small.root / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_the_export_has_no_score_where_there_is_no_result(small: Course) -> None:
    small.graded("ada", {"gelu-tails": "✗"})
    small.graded("zero", dict.fromkeys(small.points, "✗"))
    small.graded("broken", {}, notebook=False)
    (small.root / "submitted" / "new" / NAME).mkdir(parents=True)
    with small.gradebook() as gradebook:
        gradebook.add_student("enrolled")
        gradebook.find_submission(NAME, "ada").notebooks[0].late_submission_penalty = 2.0
        gradebook.db.commit()
    rows = {row["student_id"]: row for row in exported(small)}
    most = sum(small.points.values())
    raw = float(most - small.points["gelu-tails"])
    assert {one: (row["raw_score"], row["score"], row["status"].split(" /")[0]) for one, row in rows.items()} == {
        "ada": (str(raw), str(raw - 2), "graded"), "zero": ("0.0", "0.0", "graded"),
        "broken": ("", "", "not graded"), "new": ("", "", "not graded"), "enrolled": ("", "", "did not hand in"),
    }
    assert rows["ada"]["late_submission_penalty"] == "2.0"
    assert {row["max_score"] for row in rows.values()} == {str(float(most))}
    assert [row["student_id"] for row in exported(small, "zero")] == ["zero"]


def test_no_name_becomes_a_formula_or_a_second_column(small: Course) -> None:
    small.graded("=1+2", {})
    with small.gradebook() as gradebook:
        gradebook.update_or_create_student("=1+2", last_name='@SUM(A1,"x")', first_name="赵,伟")
    (row,) = exported(small)
    assert (row["student_id"], row["last_name"], row["first_name"]) == ("'=1+2", "'@SUM(A1,\"x\")", "赵,伟")
    assert row["status"].startswith("graded")


def test_nbgraders_command_uses_this_export(small: Course) -> None:
    assert nbgrader_config(small.root, "en").ExportApp.plugin_class is GradesTable


def test_page_is_escaped_and_loads_nothing(small: Course) -> None:
    small.graded(ODD, {"gelu-tails": named(RELU)})
    page = write_report(small.read(), small.root / "report").read_text(encoding="utf-8")
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert ODD not in page
    assert "http" not in page
    seen = Tags()
    seen.feed(page)
    assert not seen.names & {"script", "link", "iframe"}
    assert len(seen.images) == 3
    for image in seen.images:
        assert image["src"].startswith("data:image/png;base64,iVBOR")
        assert "1" in image["alt"]
    assert not re.search(r"url\(|@import", page)


def test_a_page_without_any_result_has_no_picture(small: Course) -> None:
    (small.root / "submitted" / "new" / NAME).mkdir(parents=True)
    results = small.read()
    assert alternatives(results) == {}
    assert "<img" not in render_report(results)
    assert summary(results).plain == "1 learners, 0 graded."


def test_without_a_gradebook_none_is_made(small: Course) -> None:
    (small.root / "gradebook.db").unlink()
    with pytest.raises(CourseError, match=f"hero grade {NAME}"):
        small.read()
    assert not (small.root / "gradebook.db").exists()


def test_checks_of_another_edition_of_the_chapter_are_refused(small: Course) -> None:
    with small.gradebook() as gradebook:
        gradebook.add_grade_cell("gone", NAME, NAME, max_score=1, cell_type="code")
    with pytest.raises(CourseError, match=r"differ in \['gone'\]"):
        small.read()


class Tags(HTMLParser):
    """The names of all tags of a page, and the attributes of its images."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.images: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        if tag == "img":
            self.images.append({name: value or "" for name, value in attrs})
