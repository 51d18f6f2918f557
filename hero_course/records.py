"""What nbgrader's gradebook holds of a chapter, learner by learner, read in two queries and never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import Assignment, BaseCell, Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Select, create_engine, select
from sqlalchemy.pool import NullPool

from hero_course.ready import sqlite_file

__all__ = ["Mark", "Record", "Records"]


@dataclass(frozen=True)
class Mark:
    """The score of one check: what the checks gave, what a person gave, and whether a person should look again.

    nbgrader asks for that when a submission is graded anew whose score somebody had given by hand.
    """

    auto: float | None
    manual: float | None = None
    extra: float | None = None
    again: bool = False

    @property
    def score(self) -> float | None:
        """What counts, as in nbgrader: a person's score before that of the checks; None without any.

        Example:
            >>> Mark(1.0).score, Mark(1.0, manual=0.5).score, Mark(None).score
            (1.0, 0.5, None)
        """
        given = self.auto if self.manual is None else self.manual
        return None if given is None else given + (self.extra or 0.0)


@dataclass
class Record:
    """A learner's submission as the gradebook has it.

    ``terms`` are what makes it late: when it was due, when it came, and how much longer the learner had.
    """

    terms: tuple[str, ...] = ()
    penalty: float = 0.0
    marks: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every check has a score."""
        return bool(self.marks) and all(mark.score is not None for mark in self.marks.values())

    @property
    def score(self) -> float:
        """The sum of what counts, before the penalty."""
        return sum(mark.score or 0.0 for mark in self.marks.values())

    @property
    def again(self) -> list[str]:
        """The checks whose score a person gave for an earlier submission."""
        return [name for name, mark in self.marks.items() if mark.again and mark.manual is not None]

    @property
    def graded(self) -> str:
        """A digest of what grading put there."""
        return _digest([self.terms, self.penalty, {name: mark.auto for name, mark in self.marks.items()}])

    @property
    def said(self) -> str:
        """A digest of all that a feedback page shows of it."""
        given = {name: [mark.score, mark.manual] for name, mark in self.marks.items()}
        return _digest([given, self.comments, self.penalty])


class Records:
    """Reads the records of one chapter.

    Args:
        url: the gradebook's database.
        name: the chapter's.
    """

    def __init__(self, url: str, name: str) -> None:
        self._file, self._name = sqlite_file(url), name
        self._engine = create_engine(url, poolclass=NullPool)

    def read(self, learner: str | None = None) -> Mapping[str, Record]:
        """The records by learner, all or one; without a gradebook there are none."""
        records: dict[str, Record] = {}
        if self._file is not None and not self._file.is_file():
            return records
        with self._engine.connect() as connection:
            scores = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
            for row in connection.execute(self._rows(Grade, learner, *scores)):
                terms = tuple("" if one is None else str(one) for one in (row.duedate, row.timestamp, row.extension))
                record = records.setdefault(row.student_id, Record(terms, row.late_submission_penalty or 0.0))
                record.marks[row.name] = Mark(*row[-len(scores) :])
            for row in connection.execute(self._rows(Comment, learner, Comment.manual_comment)):
                if row.manual_comment and row.student_id in records:
                    records[row.student_id].comments[row.name] = row.manual_comment
        return records

    def _rows(self, table: type, learner: str | None, *columns: Any) -> Select[Any]:
        """Whose, on what terms, of which cell, and these columns of a table of grades or comments."""
        submission = SubmittedAssignment
        rows = (
            select(
                submission.student_id, Assignment.duedate, submission.timestamp, submission.extension,
                SubmittedNotebook.late_submission_penalty, BaseCell.name, *columns,
            )
            .select_from(table).join(table.cell).join(table.notebook)
            .join(SubmittedNotebook.assignment).join(submission.assignment)
            .where(Assignment.name == self._name).order_by(submission.student_id, BaseCell.name)
        )  # fmt: skip
        return rows if learner is None else rows.where(submission.student_id == learner)


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
