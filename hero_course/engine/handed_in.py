"""The files of a submission: plain ones, of a size that somebody can have meant."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hero_course.engine import PACKAGE

__all__ = ["learners_own", "plain_files"]

LARGEST = 100 << 20


def plain_files(folder: Path) -> list[Path]:
    """The files below a folder that was handed in.

    A link is none: it could show a file of somebody else's, the instructor's own perhaps. Nor is a device, a pipe,
    or what nobody may read. What is hidden, or below a folder that is called like a notebook, is left out, too.
    """
    if folder.is_symlink():
        return []
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _hidden(name) and not name.endswith(".ipynb")]
        found += [Path(place, name) for name in names if not _hidden(name)]
    return sorted(path for path in found if _is_plain(path))


def learners_own(folder: Path, source: Path) -> list[Path]:
    """The files beside the notebook that are not the instructor's: neither of a name that his folder has, nor below."""
    return [path for path in plain_files(folder) if not _is_ours(path.relative_to(folder), source)]


def _is_ours(name: Path, source: Path) -> bool:
    below = any((source / parent).is_file() for parent in name.parents)
    return name.suffix == ".ipynb" or name.parts[0] == PACKAGE or below or (source / name).exists()


def _hidden(name: str) -> bool:
    return name.startswith((".", "__pycache__"))


def _is_plain(path: Path) -> bool:
    about = path.lstat()
    return stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST and os.access(path, os.R_OK)
