"""When a submission was handed in: the file ``timestamp.txt`` that nbgrader's collecting commands put beside it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from hero_course.engine.handed_in import printable, read_plain

__all__ = ["existing_timestamp", "read_timestamp", "submitted_timestamp"]

NAME = "timestamp.txt"
_IGNORED = "timestamp.txt 里没有时间，当作没有这个文件 | timestamp.txt holds no time and was ignored"


def read_timestamp(folder: Path) -> tuple[datetime | None, str | None]:
    """The time in a folder's ``timestamp.txt``, or why it was ignored; neither, if there is no such file."""
    path = folder / NAME
    if not os.path.lexists(path):
        return None, None
    try:
        return parse_utc(read_plain(path, 1000).decode("utf-8-sig").strip()), None
    except Exception:  # a pipe, a folder, no text, no time: dateutil raises errors of many kinds
        return None, _IGNORED


def existing_timestamp(course: CourseDirectory, folder: str) -> datetime | None:
    """As nbgrader's method of CourseDirectory, which opens whatever is there and ends the command if it is no time."""
    when, note = read_timestamp(Path(folder))
    if note:
        course.log.warning("%s: %s", printable(folder), note)
    return when


def submitted_timestamp(api: Any, assignment_id: str, student_id: str) -> datetime | None:
    """As the method of nbgrader's NbGraderAPI by which formgrader lists a class; it, too, opens whatever is there."""
    course = api.coursedir
    return read_timestamp(Path(course.format_path(course.submitted_directory, student_id, assignment_id)))[0]
