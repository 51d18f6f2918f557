"""Learner's editions: the package as it stands when a chapter begins, its own exercises not yet written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hero_course.chapter import Chapter
from hero_course.errors import CourseError
from hero_course.solutions import Solution, without_solutions

__all__ = ["EDITION_FOLDER", "SHEET", "edition_files", "require_edition"]

EDITION_FOLDER = "hero_transformer"
SHEET = "fingerprints.json"  # beside it: which edition belongs there, and what known mistakes look like
_NAME = re.compile(r'^EDITION = "reference"$', re.MULTILINE)


def edition_files(
    chapter: Chapter, chapters: Iterable[Chapter], solutions: Mapping[str, Solution], package: Path
) -> dict[str, str]:
    """The files of a chapter's edition of the package, as text by name.

    Exercises of earlier chapters are solved; this chapter's and later ones raise NotImplementedError, but
    for those that the front matter lists under ``keeps``, which are solved too.

    Raises:
        SourceError: if ``keeps`` names something that is no later exercise.
        CourseError: if the package has no line ``EDITION = "reference"``.
    """
    exercises = {
        cell.options["exercise"]: (other.number, cell.key) for other in chapters for cell in other.of_kind("exercise")
    }
    keeps = chapter.front.get("keeps") or []
    for target in keeps:
        if exercises.get(target, (0, ""))[0] <= chapter.number:
            raise chapter.error(
                chapter.line_of("keeps:"), f"keeps lists {target!r}, no exercise of a later chapter", "remove it"
            )
    regions: dict[Path, dict[int, str | None]] = {}
    for target, solution in solutions.items():
        number, key = exercises[target]
        solved = number < chapter.number or target in keeps
        regions.setdefault(solution.path, {})[solution.begin] = None if solved else key
    files = {}
    for path in sorted(package.glob("*.py")):
        files[path.name] = without_solutions(path.read_text(encoding="utf-8"), regions.get(path, {}))
    init = package / "__init__.py"
    files[init.name], count = _NAME.subn(f'EDITION = "{chapter.name}"', files[init.name])
    if count != 1:
        raise CourseError(f'{init}: expected the line EDITION = "reference" once, found it {count} times')
    return files


def require_edition(folder: Path) -> None:
    """Refuse an assignment folder without its edition of the package.

    Raises:
        CourseError: if the edition is absent, or is another chapter's.
    """
    init = folder / EDITION_FOLDER / "__init__.py"
    wanted = f'EDITION = "{folder.name}"'
    if not init.is_file() or wanted not in init.read_text(encoding="utf-8").splitlines():
        raise CourseError(
            f"{folder} has no learner's edition of the package (a {EDITION_FOLDER}/ with {wanted}): without it "
            f"learners would be graded against the answers. Remedy: run hero build {folder.name}"
        )
