"""The files of a submission: plain ones, of a number and size that somebody can have meant.

Whoever reads a learner's file reads it by `read_plain`, and whoever lists a learner's folder lists it by `look`.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hero_course.engine import PACKAGE

__all__ = ["HandedIn", "contents", "learners_own", "look", "plain_files", "printable", "read_plain"]

LARGEST = 100 << 20  # bytes of one notebook
NOTEBOOKS = 10
FILES, BYTES = 1000, 32 << 20  # the most other files of a submission, and the most bytes in all of them
LOOKED_AT = 100_000  # the most entries of folders that are looked at
_NOTEBOOK = (".ipynb", ".ipynb.txt", ".ipynb.json")


@dataclass(frozen=True)
class HandedIn:
    """What stands in a folder that was handed in.

    Args:
        notebooks: files called like notebooks, those at the top first.
        files: the other files, in the order of their names.
        left_out: how many were left out for their number or size.
    """

    notebooks: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    left_out: int = 0


def read_plain(path: Path, most: int = LARGEST) -> bytes:
    """The content of a file, if it is a plain one of at most so many bytes; a link, a pipe and a device are none.

    Raises:
        OSError: if it is not, or cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            raise OSError(f"expected a plain file of at most {most} bytes: {printable(str(path))}")
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"the file grew while it was read: {printable(str(path))}")
    return content


def look(folder: Path) -> HandedIn:
    """What was handed in below a folder.

    A link is left out: it could show a file of somebody else's, the instructor's own perhaps. So is a device, a pipe,
    what nobody may read, what is hidden, and what is below a folder that is called like a notebook.
    """
    found = sorted(_walk(folder), key=lambda one: (len(one[0].parts), one[0]))
    notebooks = [(path, size) for path, size in found if path.name.endswith(_NOTEBOOK)]
    chosen = [path for path, size in notebooks if size <= LARGEST][:NOTEBOOKS]
    others = [one for one in found if not one[0].name.endswith(_NOTEBOOK)]
    files, room = [], BYTES
    for path, size in others:
        if size <= room and len(files) < FILES:
            room -= size
            files.append(path)
    left_out = len(notebooks) - len(chosen) + len(others) - len(files)
    return HandedIn(tuple(chosen), tuple(sorted(files)), left_out)


def plain_files(folder: Path) -> list[Path]:
    """The files below a folder that was handed in, see `look`; notebooks are among them."""
    found = look(folder)
    return sorted([*found.notebooks, *found.files])


def learners_own(folder: Path, source: Path) -> list[Path]:
    """The files beside the notebook that are not the instructor's: neither of a name that his folder has, nor below.

    Nor is one that is called like a page or a notebook that grading writes.
    """
    written = {f"{source.name}{suffix}" for suffix in (".html", ".ipynb")}
    names = ((path, path.relative_to(folder)) for path in look(folder).files)
    return [path for path, name in names if not _is_ours(name, source) and name.parts[0] not in written]


def contents(folder: Path, source: Path) -> dict[str, bytes]:
    """The learner's own files by name, see `learners_own`."""
    files: dict[str, bytes] = {}
    for path in learners_own(folder, source):
        with suppress(OSError):  # it went away, or was replaced by something else
            files[str(path.relative_to(folder))] = read_plain(path, BYTES)
    return files


def printable(name: str) -> str:
    r"""A file's name as it can be printed, whatever its bytes: those that are no UTF-8 are taken for GBK.

    Example:
        >>> printable("\udcd7\udcf7\udcd2\udcb5.txt"), printable("作业")
        ('作业.txt', '作业')
    """
    raw = os.fsencode(name)
    for encoding in ("utf-8", "gb18030"):
        with suppress(UnicodeDecodeError):
            return raw.decode(encoding)
    return raw.decode("utf-8", "replace")


def _walk(folder: Path) -> Iterator[tuple[Path, int]]:
    """The plain files below a folder with their sizes, level by level: what stands at the top is seen first."""
    waiting = deque([] if folder.is_symlink() else [folder])
    looked_at = 0
    while waiting and looked_at < LOOKED_AT:
        place = waiting.popleft()
        with suppress(OSError), os.scandir(place) as entries:
            for entry in sorted(islice(entries, LOOKED_AT - looked_at), key=lambda one: one.name):
                looked_at += 1
                if entry.name.startswith((".", "__pycache__")):
                    continue
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.extend([] if entry.name.endswith(".ipynb") else [place / entry.name])
                    elif entry.is_file(follow_symlinks=False) and os.access(entry.path, os.R_OK):
                        yield place / entry.name, entry.stat(follow_symlinks=False).st_size


def _is_ours(name: Path, source: Path) -> bool:
    below = any((source / parent).is_file() for parent in name.parents)
    return name.parts[0] == PACKAGE or below or (source / name).exists()
