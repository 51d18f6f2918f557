"""All that grading a chapter's submissions needs, in one value that can go to another machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hero_course.engine import PACKAGE
from hero_course.engine.examination import Examination
from hero_course.engine.limits import Limits

__all__ = ["Assignment"]


@dataclass(frozen=True)
class Assignment:
    """An assignment as any machine can grade it: no path of the driver's means anything elsewhere.

    Args:
        name: the chapter's.
        files: what stands in its folder under ``source/``, without the notebook.
        examination: the instructor's notebook.
        limits: of each submission.
        sandboxed: whether learners' code runs in bubblewrap.
        absent: paths that no learner's code may see.
    """

    name: str
    files: tuple[tuple[str, bytes], ...]
    examination: Examination
    limits: Limits
    sandboxed: bool
    absent: tuple[str, ...]

    @staticmethod
    def of(
        source: Path, examination: Examination, limits: Limits, sandboxed: bool, absent: Sequence[str]
    ) -> Assignment:
        """The assignment in a folder under ``source/``."""
        paths = [path for path in sorted(source.rglob("*")) if path.is_file() and path.suffix not in (".ipynb", ".pyc")]
        files = tuple((str(path.relative_to(source)), path.read_bytes()) for path in paths)
        return Assignment(source.name, files, examination, limits, sandboxed, tuple(absent))

    @property
    def beside(self) -> dict[str, bytes]:
        """The files beside the notebook, without the package: a worker has the package from elsewhere."""
        return {name: content for name, content in self.files if Path(name).parts[0] != PACKAGE}
