"""Run nbgrader's own converters for one learner, and say in one line what went wrong."""

from __future__ import annotations

import glob
import logging
import sys
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from hero_course.engine.patience import OWN_SECONDS, at_most
from hero_course.quiet import LOG

__all__ = ["convert", "one_line"]


def convert(root: Path, config: Config, name: str, kind: type, learner: str = ".", **places: str) -> str | None:
    """Run a converter on a chapter; its messages go to the log.

    Args:
        root: the course's root.
        config: nbgrader's.
        name: the chapter's.
        kind: the converter.
        learner: whose submission.
        places: other folders than the configuration's.

    Returns:
        What went wrong, in one line, or None.
    """
    course = CourseDirectory(config=config, assignment_id=name, student_id=glob.escape(learner), **places)
    faults = _Faults()
    log = logging.Logger("nbgrader", logging.INFO)
    file = logging.FileHandler(root / LOG, encoding="utf-8")
    log.addHandler(file)
    log.addHandler(faults)
    try:
        with at_most(OWN_SECONDS):
            kind(coursedir=course, config=config, force=True, log=log).start()
    except (Exception, SystemExit) as error:
        return one_line(faults.first or error)
    finally:
        file.close()
    return None


class _Faults(logging.Handler):
    """Keeps the first exception that nbgrader logs: it then raises another, which says only that there was one."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or sys.exc_info()[1]


def one_line(error: BaseException) -> str:
    """An exception in one line.

    Example:
        >>> one_line(ValueError("no JSON here\\nat all"))
        'ValueError: no JSON here'
    """
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
