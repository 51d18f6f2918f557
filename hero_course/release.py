"""Make releases with nbgrader's own generate_assignment, without touching a gradebook."""

from __future__ import annotations

import logging
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveCells

from hero_course.course import nbgrader_config
from hero_course.errors import CourseError

__all__ = ["release_notebooks"]


def release_notebooks(root: Path, stage: Path, lang: str, names: list[str]) -> None:
    """Release assignments of one language from ``stage/source`` to ``stage/release``.

    Raises:
        CourseError: if nbgrader refuses one.
    """
    config = nbgrader_config(root, lang)
    config.CourseDirectory.root = str(stage)
    config.GenerateAssignment.preprocessors = [
        one for one in config.GenerateAssignment.preprocessors if one is not SaveCells
    ]
    log = logging.getLogger("hero_course.release")
    log.setLevel(logging.ERROR)
    for name in names:
        course = CourseDirectory(config=config, assignment_id=name)
        converter = GenerateAssignment(coursedir=course, config=config, no_database=True, log=log)
        try:
            converter.start()
        except (NbGraderException, SystemExit) as error:
            raise CourseError(f"nbgrader did not release {lang}/{name}: {error}") from error
