"""Read a class's results: points from nbgrader's gradebook, named misconceptions from the autograded notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry

from hero_course.chapter import Chapter
from hero_course.course import nbgrader_config
from hero_course.edition import EDITION_FOLDER
from hero_course.errors import CourseError
from hero_course.ready import require_gradebook, sqlite_file
from hero_course.records import Record, Records
from hero_course.solutions import find_solutions
from hero_course.variants import read_misconceptions

__all__ = [
    "NAMED", "NOT_GRADED", "NOT_HANDED_IN", "ClassResults", "Mistake", "Result", "english", "points_text",
    "read_results", "status_of",
]  # fmt: skip

NOT_GRADED = "not graded / 未批改"
NOT_HANDED_IN = "did not hand in / 未提交"
NAMED = "像是 looks like: "  # that of hero_transformer.checks, whose import would bring torch


@dataclass(frozen=True, order=True)
class Mistake:
    """A named misconception: the exercise, and its name in both languages, ``"中文 / English"``."""

    exercise: str
    name: str


@dataclass(frozen=True)
class Result:
    """What one learner got: points by exercise, and the mistakes that were named.

    Without a result ``points`` is None, and ``status`` says why. ``penalty`` is taken off for lateness. ``again`` has
    the checks whose score somebody gave by hand for an earlier submission.
    """

    learner: str
    points: Mapping[str, float] | None
    mistakes: tuple[Mistake, ...] = ()
    penalty: float = 0.0
    again: tuple[str, ...] = ()
    status: str = ""

    @property
    def total(self) -> float | None:
        """All points less the penalty, as nbgrader exports it; None, never 0, without a result."""
        return None if self.points is None else max(0.0, sum(self.points.values()) - self.penalty)


@dataclass(frozen=True)
class ClassResults:
    """A class's results in one chapter; ``maximum`` has the points to be had, by exercise in the chapter's order."""

    chapter: Chapter
    maximum: Mapping[str, float]
    results: tuple[Result, ...]

    @property
    def graded(self) -> list[Result]:
        """The results of those who have one."""
        return [result for result in self.results if result.points is not None]

    @property
    def mean(self) -> float | None:
        """The mean total of those who have a result; None if nobody has."""
        return fmean(result.total for result in self.graded) if self.graded else None

    @property
    def total(self) -> float:
        """The points to be had in all."""
        return sum(self.maximum.values())

    @property
    def mistakes(self) -> list[tuple[Mistake, int]]:
        """The named misconceptions and how many learners show each, the most frequent first."""
        counts = Counter(mistake for result in self.results for mistake in result.mistakes)
        return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def read_results(root: Path, chapter: Chapter) -> ClassResults:
    """Read the results of everybody who is in the gradebook or handed something in.

    As in nbgrader, a learner has a result if the gradebook has a score for every check and the graded notebook
    is there: nbgrader removes it when grading failed.

    Raises:
        CourseError: if the chapter was never graded, or was graded with other checks than it has now.
    """
    places = nbgrader_config(root, "zh").CourseDirectory
    require_gradebook(places.db_url, write=False)
    file = sqlite_file(places.db_url)
    if file is not None and not file.is_file():
        raise _never_graded(chapter)
    with Gradebook(places.db_url, places.course_id) as gradebook:
        try:
            assignment = gradebook.find_assignment(chapter.name)
        except MissingEntry:
            raise _never_graded(chapter) from None
        maximum = _by_exercise(chapter, {c.name: c.max_score for n in assignment.notebooks for c in n.grade_cells})
        learners = {student.id for student in gradebook.students}
    records = Records(places.db_url, chapter.name).read()
    learners |= {path.parent.name for path in (root / "submitted").glob(f"*/{chapter.name}") if path.is_dir()}
    known = {(m.exercise, m.name) for m in read_misconceptions(chapter, find_solutions(root / EDITION_FOLDER))}
    results = []
    for learner in sorted(learners):
        record = records.get(learner)
        status = status_of(root, chapter.name, learner, record)
        if record is None or status:
            results.append(Result(learner, None, status=status))
            continue
        points = _by_exercise(chapter, {name: mark.score or 0.0 for name, mark in record.marks.items()})
        named = _mistakes(chapter, _graded_notebook(root, chapter.name, learner), known)
        results.append(Result(learner, points, named, record.penalty, tuple(record.again)))
    return ClassResults(chapter, maximum, tuple(results))


def status_of(root: Path, name: str, learner: str, record: Record | None) -> str:
    """Why a learner has no result in a chapter, or nothing if there is one.

    Args:
        root: the course's root.
        name: the chapter's.
        learner: whose.
        record: what the gradebook holds, if anything.
    """
    if record is None and not (root / "submitted" / learner / name).is_dir():
        return NOT_HANDED_IN
    graded = record is not None and record.is_complete and _graded_notebook(root, name, learner).is_file()
    return "" if graded else NOT_GRADED


def _graded_notebook(root: Path, name: str, learner: str) -> Path:
    return root / "autograded" / learner / name / f"{name}.ipynb"


def points_text(points: float) -> str:
    """Points without needless zeros.

    Example:
        >>> points_text(4.0), points_text(2.5), points_text(7 + 1 / 3)
        ('4', '2.5', '7.33')
    """
    return f"{points:.2f}".rstrip("0").rstrip(".")


def english(name: str) -> str:
    """The English half of a name.

    Example:
        >>> english("用了 ReLU / ReLU instead of GELU")
        'ReLU instead of GELU'
    """
    return name.rpartition(" / ")[2]


def _never_graded(chapter: Chapter) -> CourseError:
    return CourseError(f"{chapter.name} is not in the gradebook. Remedy: run hero grade {chapter.name}")


def _by_exercise(chapter: Chapter, points: Mapping[str, float]) -> dict[str, float]:
    """Points of checks, added up by exercise, in the chapter's order."""
    exercise = {cell.key: str(cell.exercise) for cell in chapter.of_kind("check", "hidden")}
    if set(points) != set(exercise):
        raise CourseError(
            f"the gradebook's checks of {chapter.name} are not those of its chapter.md: they differ in "
            f"{sorted(set(points) ^ set(exercise))}. Remedy: run hero build, then hero grade {chapter.name}"
        )
    sums = {cell.key: 0.0 for cell in chapter.of_kind("exercise", "prediction")}
    for check, number in points.items():
        sums[exercise[check]] += number
    return sums


def _mistakes(chapter: Chapter, notebook: Path, known: set[tuple[str, str]]) -> tuple[Mistake, ...]:
    """The mistakes that the failed checks of a graded notebook name, if the chapter knows them.

    A check may name several that look the same to it; the other checks of the exercise then tell them apart.
    """
    named: dict[str, list[set[str]]] = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        check = chapter.cell(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if check is not None and check.exercise is not None:
            names = {name for name in _names(cell) if (check.exercise, name) in known}
            named.setdefault(check.exercise, []).extend([names] if names else [])
    return tuple(Mistake(exercise, name) for exercise, sets in named.items() for name in sorted(_common(sets)))


def _common(sets: list[set[str]]) -> set[str]:
    """What all of the sets hold, or, if that is nothing, what any does.

    Example:
        >>> _common([{"ReLU", "SiLU"}, {"ReLU"}]), sorted(_common([{"ReLU"}, {"in place"}])), _common([])
        ({'ReLU'}, ['ReLU', 'in place'], set())
    """
    return set.intersection(*sets) or set.union(*sets) if sets else set()


def _names(cell: Any) -> list[str]:
    """The names in a graded cell's error: a line ``像是 looks like: zh / en`` for each mistake that agrees."""
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    lines = [line for error in errors if error.ename == "CheckFailed" for line in error.evalue.splitlines()]
    return [line.removeprefix(NAMED) for line in lines if line.startswith(NAMED)]
