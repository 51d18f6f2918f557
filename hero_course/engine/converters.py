"""nbgrader's converters as this course has them: they touch only what was judged first.

nbgrader has no setting for which class of converter its commands and formgrader use, so `use_everywhere` puts these
classes in the place of its own, under the names by which the commands know them.
"""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path

import nbgrader.converters
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory

from hero_course.edition import require_edition
from hero_course.engine.handed_in import learners_own, plain_files, read_plain
from hero_course.engine.timestamp import existing_timestamp, submitted_timestamp
from hero_course.errors import CourseError

__all__ = ["HeroAssignment", "HeroAutograde", "HeroFeedback", "use_everywhere"]

_COMMANDS = [f"nbgrader.apps.{one}" for one in ("api", "autogradeapp", "generateassignmentapp", "generatefeedbackapp")]
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class _Folders(BaseConverter):
    """What all the converters have in common: which folders they work on."""

    def init_notebooks(self) -> None:
        """Find the folders, whatever characters the course's own path has."""
        course = self.coursedir
        place = course.format_path(self._input_directory, course.student_id, course.assignment_id)
        folders = glob.glob(glob.escape(course.root) + place.removeprefix(course.root))
        folders = folders or [place] * os.path.isdir(place)  # a learner's name may have brackets
        notebooks = {folder: os.path.join(folder, f"{course.assignment_id}.ipynb") for folder in folders}
        self.assignments = {folder: [path] for folder, path in notebooks.items() if self.takes(path)}
        if not self.assignments:
            message = f"there is nothing at {place}"
            self.log.error(message)
            raise NbGraderException(message)

    def takes(self, notebook: str) -> bool:
        """Whether there is something to convert, by the place of the notebook in a folder."""
        return os.path.isfile(notebook)


class _Converter(_Folders):
    """And of those that work on what was handed in: which files they take from there."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy files beside the notebook."""
        folder = Path(self.coursedir.format_path(self._input_directory, student_id, assignment_id))
        for path in self.files(folder, assignment_id):
            copy = Path(self.coursedir.format_path(self._output_directory, student_id, assignment_id))
            copy = copy / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(read_plain(path))

    def files(self, folder: Path, assignment_id: str) -> list[Path]:
        """The files that are copied."""
        raise NotImplementedError


class _Submissions(_Converter):
    def takes(self, notebook: str) -> bool:
        """Whatever stands in a folder that was handed in is looked at later."""
        return os.path.isdir(os.path.dirname(notebook))

    def files(self, folder: Path, assignment_id: str) -> list[Path]:
        """The learner's own plain files."""
        ours = self.coursedir.format_path(self.coursedir.source_directory, ".", assignment_id)
        return learners_own(folder, Path(ours))


class HeroAutograde(Autograde, _Submissions):
    """nbgrader's Autograde; a folder without any notebook is a submission, too, that scores 0."""


class _Results(_Converter):
    def files(self, folder: Path, assignment_id: str) -> list[Path]:
        """Pictures, which the text may show; a page needs nothing else."""
        return [path for path in plain_files(folder) if path.suffix.lower() in PICTURES]


class HeroFeedback(GenerateFeedback, _Results):
    """nbgrader's GenerateFeedback, which writes the page and leaves files as they are."""


class HeroAssignment(GenerateAssignment, _Folders):
    """nbgrader's GenerateAssignment, which does not begin without the learner's edition of the package."""

    def start(self) -> None:
        """Look for the edition before the release, which nbgrader removes when it fails, is touched."""
        course = self.coursedir
        try:
            require_edition(Path(course.format_path(course.source_directory, ".", course.assignment_id)).resolve())
        except CourseError as error:
            self.log.error(str(error))
            raise NbGraderException(str(error)) from error
        super().start()


def use_everywhere(engine: bool) -> None:
    """Let nbgrader's commands and formgrader in this process work with the course's converters.

    Args:
        engine: whether submissions are read by the engine; if not, Autograde stays nbgrader's own.
    """
    CourseDirectory.get_existing_timestamp = existing_timestamp
    if "nbgrader.apps.api" in sys.modules:
        sys.modules["nbgrader.apps.api"].NbGraderAPI.get_submitted_timestamp = submitted_timestamp
    ours = {
        "GenerateAssignment": HeroAssignment,
        "GenerateFeedback": HeroFeedback,
        "Autograde": HeroAutograde if engine else Autograde,
    }
    places = [nbgrader.converters, *(sys.modules[name] for name in _COMMANDS if name in sys.modules)]
    for place in places:  # the commands' own modules have taken the names from there already
        for name in ours.keys() & vars(place).keys():
            setattr(place, name, ours[name])
