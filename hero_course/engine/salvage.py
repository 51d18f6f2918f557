"""Find the notebook in what was handed in, or say in one line why there is none, and what was chosen and left out."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from hero_course.engine.answers import belongs, count_answers
from hero_course.engine.handed_in import BYTES, LARGEST, NOTEBOOKS, HandedIn, look, printable, read_plain
from hero_course.engine.reading import KERNEL, UnreadableError, read_notebook
from hero_course.engine.restore import instructors, source_folder, with_notes
from hero_course.engine.timestamp import read_timestamp

__all__ = ["UNREADABLE", "Salvaged", "SalvagingExporter", "offer_notebook", "salvage"]

UNREADABLE = "unreadable"  # the key, in a notebook's metadata, of why the file that was handed in cannot be read
ENTRIES = 10_000  # the most of a zip file
_NONE = "没有笔记本文件（链接和超过 100 MB 的不算） | there is no notebook file (a link, or one over 100 MB, is none)"


@dataclass(frozen=True)
class Salvaged:
    """A notebook, what was odd about the file, and, if it could not be read, why; it is then empty."""

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(eq=False)
class _Candidate:
    """A file that may be the notebook: read, or with the reason why it cannot be."""

    name: str
    notebook: NotebookNode | None = None
    notes: list[str] = field(default_factory=list)
    reason: str = ""
    answers: int = 0
    belongs: bool = False


def salvage(folder: Path, source: Path) -> Salvaged:
    """The notebook in a folder that was handed in; the last few are remembered, so it may only be read.

    Looked for are the chapter's own name, then any other notebook at the top, then in folders, then in a zip file. A
    blank notebook yields to one with answers.

    Args:
        folder: of one learner and chapter.
        source: the instructor's folder of the chapter.
    """
    found = look(folder)
    paths = (*found.notebooks, *found.files)
    seen = tuple((about.st_size, about.st_mtime_ns) for path in paths if (about := _about(path)))
    return _salvage(folder, source.resolve(), found, seen)


@lru_cache(maxsize=16)
def _salvage(folder: Path, source: Path, found: HandedIn, seen: tuple[tuple[int, int], ...]) -> Salvaged:
    instructor = instructors(source)
    candidates: list[_Candidate] = []
    for one in _candidates(folder, f"{source.name}.ipynb", found):
        candidates.append(one)
        if one.notebook is not None:
            one.answers = count_answers(one.notebook, instructor)
            one.belongs = belongs(one.notebook, instructor)
            if one.belongs and one.answers:
                break
    notes = [one for one in [read_timestamp(folder)[1]] if one]
    if found.left_out:
        n = found.left_out
        notes.append(f"{n} 个文件太大或太多，没有取 | left out, for their size or number: {n} files")
    ours = [one for one in candidates if one.belongs]
    if not ours:
        reason = _why_none(candidates, source.name, found)
        return Salvaged(_unreadable(reason), tuple(notes), reason)
    chosen = max(ours, key=lambda one: one.answers > 0)  # the first of them that has answers, or else the first
    if chosen.name != f"{source.name}.ipynb":
        notes.append(f"批改的文件是 {chosen.name} | the file that was graded is {chosen.name}")
    notes += [_not_graded(one) for one in candidates if one is not chosen]
    others = {printable(str(path.relative_to(folder))) for path in found.notebooks} - {one.name for one in candidates}
    notes += [_not_graded(_Candidate(name)) for name in sorted(others)]
    notes = [*chosen.notes, *notes]
    notebook = NotebookNode({**chosen.notebook, "metadata": with_notes(chosen.notebook.metadata, notes)})
    return Salvaged(notebook, tuple(notes))


def _not_graded(one: _Candidate) -> str:
    why = one.reason
    if one.notebook is not None:
        why = "没有作答 | it is blank" if one.belongs else "是别的笔记本 | it is another notebook"
    return f"另有 {one.name}，没有批改 | there is also {one.name}, which was not graded" + (f": {why}" if why else "")


def _about(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        return path.lstat()
    return None


def _candidates(folder: Path, wanted: str, found: HandedIn) -> Iterator[_Candidate]:
    """The files that may be the notebook, the likeliest first; each is read when it is asked for."""
    for path in sorted(found.notebooks, key=lambda path: path != folder / wanted):
        name = printable(str(path.relative_to(folder)))
        try:
            yield _read(name, read_plain(path))
        except OSError as error:
            yield _Candidate(name, reason=f"打不开 | it cannot be opened ({type(error).__name__})")
    archives = [path for path in found.files if path.suffix.lower() == ".zip"]
    if archives and not found.notebooks:
        with suppress(OSError):
            yield from _unzipped(printable(archives[0].name), read_plain(archives[0], BYTES))


def _unzipped(name: str, content: bytes) -> Iterator[_Candidate]:
    """The notebooks in a zip file; nothing is written anywhere."""
    try:
        if content.count(b"PK\1\2") > ENTRIES:
            raise zipfile.BadZipFile(f"more than {ENTRIES} entries")
        archive = zipfile.ZipFile(io.BytesIO(content))
        inside = [one for one in archive.infolist() if _is_notebook(one.filename)]
        for one in inside[:NOTEBOOKS]:
            with archive.open(one) as file:
                unpacked = file.read(LARGEST + 1)
            place = f"{name}/{printable(one.filename)}"
            large = _Candidate(place, reason="笔记本太大 | the notebook is too large")
            yield large if len(unpacked) > LARGEST else _read(place, unpacked)
    except Exception as error:  # zipfile raises errors of many kinds: of the format, of a password, of each compression
        yield _Candidate(name, reason=f"解不开 | it cannot be unpacked ({type(error).__name__})")


def _is_notebook(name: str) -> bool:
    return name.endswith(".ipynb") and not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


def _read(name: str, content: bytes) -> _Candidate:
    try:
        return _Candidate(name, *read_notebook(content))
    except UnreadableError as error:
        return _Candidate(name, reason=str(error))


def _why_none(candidates: list[_Candidate], chapter: str, found: HandedIn) -> str:
    """Why nothing of a submission can be graded."""
    other = next((one for one in candidates if one.notebook is not None), None)
    if other is not None:
        return f"{other.name}: 没有 {chapter} 的单元，是别的章？ | no cell of {chapter} is in it: another chapter's?"
    if candidates:
        return f"{candidates[0].name}: {candidates[0].reason}"
    names = ", ".join(printable(path.name) for path in found.files[:5])
    return f"{_NONE}。交来的是 What was handed in: {names}" if names else _NONE


def _unreadable(reason: str) -> NotebookNode:
    """An empty notebook that says why there is nothing to see."""
    text = f"**提交的文件读不出来，得零分。** {reason}\n\n**What was handed in cannot be read and scores nothing.**"
    metadata = {"kernelspec": KERNEL, "hero": {UNREADABLE: reason}}
    return new_notebook(cells=[new_markdown_cell(text)], metadata=metadata)


class SalvagingExporter(NotebookExporter):
    """nbconvert's exporter to notebooks, for Autograde: what was handed in is read by `salvage`."""

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> Any:
        """Read and convert a notebook; when Autograde sanitises, whatever there is of it."""
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources, **more)
        path = Path(filename)
        resources = self._init_resources(resources)
        found = salvage(path.parent, source_folder(self, resources))
        if found.reason:
            self.log.error("%s cannot be read: %s", printable(filename), found.reason)
        resources["metadata"] |= {"name": path.stem, "path": str(path.parent)}
        resources["metadata"]["modified_date"] = datetime.now().strftime("%B %d, %Y")
        return self.from_notebook_node(found.notebook, resources, **more)


def offer_notebook(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before it converts: the assignment's own notebook is asked for, whatever there is."""
    if notebooks:
        notebooks[:] = [os.path.join(os.path.dirname(notebooks[0]), f"{assignment}.ipynb")]
