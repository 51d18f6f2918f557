"""The grades as a table for a spreadsheet: nbgrader's columns, and no score where there is no result."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from hero_course.gradebook import status_of
from hero_course.names import plain_cell, shown
from hero_course.pack import write_whole
from hero_course.records import Record, Records

__all__ = ["GradesTable"]

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score", "status",
)  # fmt: skip


class GradesTable(ExportPlugin):
    """What ``nbgrader export`` writes: a CSV file that spreadsheets, too, read as UTF-8.

    The columns are those of nbgrader's own exporter and one more, ``status``. Who handed nothing in or was not
    graded has no score there, rather than 0. No name becomes a formula.
    """

    def export(self, gradebook: Gradebook) -> None:
        """Write the table, whole or not at all."""
        text = io.StringIO()
        table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        table.writeheader()
        for assignment in gradebook.assignments:
            if not self.assignment or assignment.name in map(str, self.assignment):
                table.writerows(self._rows(gradebook, assignment))
        path = Path(self.to or "grades.csv")
        write_whole(path.absolute(), text.getvalue().encode("utf-8-sig"))
        self.log.info("Exported grades to %s", path)

    def _rows(self, gradebook: Gradebook, assignment: Any) -> Iterator[dict[str, str]]:
        course = self.parent.coursedir
        records = Records(course.db_url, assignment.name).read()
        students = {student.id: student for student in gradebook.students}
        folders = Path(course.root, course.submitted_directory).glob(f"*/{assignment.name}")
        for learner in sorted(students | dict.fromkeys(path.parent.name for path in folders if path.is_dir())):
            if self.student and learner not in map(str, self.student):
                continue
            status = status_of(Path(course.root), assignment.name, learner, records.get(learner))
            student = students.get(learner)
            yield {
                "assignment": assignment.name,
                "duedate": _text(assignment.duedate),
                "student_id": plain_cell(shown(learner)),
                **{one: plain_cell(_text(getattr(student, one, None))) for one in ("last_name", "first_name", "email")},
                "max_score": _text(assignment.max_score),
                "status": status or "graded / 已批改",
                **_scores(records.get(learner), bool(status)),
            }


def _scores(record: Record | None, without: bool) -> dict[str, str]:
    """What is known of a submission; ``without`` a result, no score."""
    if record is None:
        return {}
    when = {"timestamp": record.terms[1]}
    if without:
        return when
    return when | {
        "raw_score": str(record.score),
        "late_submission_penalty": str(record.penalty),
        "score": str(max(0.0, record.score - record.penalty)),
    }


def _text(value: Any) -> str:
    """A value in a cell; nothing for None."""
    return "" if value is None else str(value)
