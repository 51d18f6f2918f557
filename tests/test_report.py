"""The class report, from a small gradebook made through nbgrader's own interface."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from rich.console import Console

from hero_course.chapter import Chapter, read_chapter
from hero_course.errors import CourseError
from hero_course.gradebook import NOT_GRADED, ClassResults, Mistake, points_text, read_results
from hero_course.report import alternatives, render_report, write_report
from hero_course.show import class_table, mistakes_table, summary
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
    shutil.copy(root / "nbgrader_config.py", folder)
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
    page = render_report(results)
    assert page.count(NOT_GRADED) == 3
    console = Console(width=120, file=io.StringIO())
    console.print(class_table(results))
    console.print(mistakes_table(results))
    rows = {line.split()[0]: line for line in console.file.getvalue().splitlines() if line.strip()}
    assert console.file.getvalue().count(NOT_GRADED) == 3
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
