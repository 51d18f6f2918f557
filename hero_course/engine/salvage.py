"""Read whatever was handed in as a notebook, or say in one line why it cannot be read.

Only what grading needs is taken over: the cells' kinds, sources, ids and nbgrader's names for them. So outputs,
widget states, kernels and anything unknown in a file can do no harm.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id as random_cell_id
from nbformat.v4 import new_markdown_cell, new_notebook

from hero_course.engine.handed_in import plain_files

__all__ = ["UNREADABLE", "Salvaged", "SalvagingExporter", "offer_notebook", "read_notebook", "salvage"]

UNREADABLE = "unreadable"  # the key, in a notebook's metadata, of why the file that was handed in cannot be read
CELLS, TEXT = 2000, 20 << 20  # the most cells, and the most characters in all of them
_NONE = "没有笔记本文件（链接和超过 100 MB 的不算） | there is no notebook file (a link, or one over 100 MB, is none)"
_MARKERS = {("both", "<" * 7): "ours", ("ours", "=" * 7): "theirs", ("theirs", ">" * 7): "both"}
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class _UnreadableError(Exception):
    """A file that is no notebook; the message says why, in both languages."""


@dataclass(frozen=True)
class Salvaged:
    """A notebook, what was odd about the file, and, if it could not be read, why; it is then empty."""

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    reason: str | None = None


def salvage(folder: Path, name: str) -> Salvaged:
    """The notebook in a folder that was handed in; the last few are remembered, so it may only be read.

    Args:
        folder: of one learner and chapter.
        name: the chapter's; ``<name>.ipynb`` is looked for first, then any other notebook.
    """
    found = [path.resolve() for path in plain_files(folder) if path.parent == folder and path.suffix == ".ipynb"]
    return _salvage(folder.resolve() / f"{name}.ipynb", tuple((path, path.stat().st_mtime_ns) for path in found))


@lru_cache(maxsize=16)
def _salvage(wanted: Path, found: tuple[tuple[Path, int], ...]) -> Salvaged:
    others = [path for path, _ in found if path != wanted]
    tried: list[tuple[Path, str]] = []
    for path in [wanted, *others] if len(others) < len(found) else others:
        try:
            notebook, notes = read_notebook(path)
        except _UnreadableError as error:
            tried.append((path, str(error)))
            continue
        if path != wanted:
            notes.append(f"文件名是 {path.name} | the file is called {path.name}")
        elif others:
            notes.append(f"另有 {others[0].name}，没有看 | there is also {others[0].name}, which was not looked at")
        return Salvaged(notebook, tuple(notes))
    reason = f"{tried[0][0].name}: {tried[0][1]}" if tried else _NONE
    return Salvaged(_unreadable(reason), (), reason)


def read_notebook(path: Path) -> tuple[NotebookNode, list[str]]:
    """A notebook in today's format, and what was odd about the file.

    Raises:
        _UnreadableError: if it is no notebook.
    """
    notes: list[str] = []
    text = _text(path.read_bytes(), notes)
    if not text.strip():
        raise _UnreadableError("文件是空的 | the file is empty")
    found = _json(text, notes)
    try:
        cells = [_cell(cell) for cell in _cells(found, notes)]
    except Exception as error:
        raise _UnreadableError(f"不是笔记本 | this is no notebook ({type(error).__name__})") from error
    if len(cells) > CELLS or sum(len(cell.source) for cell in cells) > TEXT:
        raise _UnreadableError("笔记本太大 | the notebook is too large")
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            cell.id = random_cell_id()
        seen.add(cell.id)
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL, "language_info": {"name": "python"}}), notes


def _text(content: bytes, notes: list[str]) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        notes.append("文件是 UTF-16 | the file is UTF-16")
        return content.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "gb18030":
            notes.append("文件是 GBK | the file is GBK")
        return text
    raise _UnreadableError("文字编码无法识别 | the text encoding is unknown")


def _json(text: str, notes: list[str]) -> Any:
    """The file's content; where git left both versions of a passage, the first that makes sense."""
    versions = [text]
    if re.search("^<{7}", text, re.MULTILINE):
        notes.append("有合并冲突标记，取了其中一边 | it holds conflict markers: one side was taken")
        versions = _sides(text)
    for version in versions:
        try:
            return json.loads(version)
        except (ValueError, RecursionError, MemoryError) as error:
            last = error
    line = f"第 {last.lineno} 行 line {last.lineno}" if isinstance(last, json.JSONDecodeError) else type(last).__name__
    raise _UnreadableError(f"文件坏了（{line}） | the file is broken")


def _sides(text: str) -> list[str]:
    """Both versions of a text with conflict markers.

    Example:
        >>> _sides("a\\n<<<<<<< ours\\nb\\n=======\\nc\\n>>>>>>> theirs\\nd")
        ['a\\nb\\nd', 'a\\nc\\nd']
    """
    sides: tuple[list[str], list[str]] = ([], [])
    here = "both"
    for line in text.split("\n"):
        step = _MARKERS.get((here, line[:7]))
        here = step or here
        if step is None:
            for side, lines in zip(("ours", "theirs"), sides, strict=True):
                if here in ("both", side):
                    lines.append(line)
    return ["\n".join(lines) for lines in sides]


def _cells(found: Any, notes: list[str]) -> list[Any]:
    if isinstance(found, dict) and "worksheets" in found:
        notes.append("旧格式 nbformat 3 | the old format nbformat 3")
        found = nbformat.convert(nbformat.from_dict(found), 4)
    cells = found["cells"]
    if not isinstance(cells, list):
        raise TypeError("cells")
    return cells


def _cell(cell: Any) -> NotebookNode:
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    source = source.encode("utf-8", "replace").decode()  # half an emoji, perhaps
    kind, name = cell.get("cell_type"), str(cell.get("id", ""))
    new = NotebookNode(
        id=name if re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) else random_cell_id(),
        cell_type=kind if kind in ("code", "markdown") else "raw", metadata=NotebookNode(), source=source,
    )  # fmt: skip
    if kind == "code":
        new |= {"execution_count": None, "outputs": []}
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    if isinstance(name, str):
        new.metadata["nbgrader"] = {"grade_id": name}
    return new


def _unreadable(reason: str) -> NotebookNode:
    """An empty notebook that says why there is nothing to see."""
    text = f"**提交的文件读不出来，得零分。** {reason}\n\n**What was handed in cannot be read and scores nothing.**"
    metadata = {"kernelspec": _KERNEL, "hero": {UNREADABLE: reason}}
    return new_notebook(cells=[new_markdown_cell(text)], metadata=metadata)


class SalvagingExporter(NotebookExporter):
    """nbconvert's exporter to notebooks, for Autograde: what was handed in is read by `salvage`."""

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> Any:
        """Read and convert a notebook; when Autograde sanitises, whatever there is of it."""
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources, **more)
        path = Path(filename)
        found = salvage(path.parent, path.stem)
        for note in found.notes:
            self.log.warning("%s: %s", filename, note)
        if found.reason:
            self.log.error("%s cannot be read: %s", filename, found.reason)
        resources = self._init_resources(resources)
        resources["metadata"] |= {"name": path.stem, "path": str(path.parent)}
        resources["metadata"]["modified_date"] = datetime.now().strftime("%B %d, %Y")
        return self.from_notebook_node(found.notebook, resources, **more)


def offer_notebook(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before it converts: a notebook of another name is offered under the assignment's own."""
    if notebooks:
        wanted = os.path.join(os.path.dirname(notebooks[0]), f"{assignment}.ipynb")
        if wanted not in notebooks:
            notebooks.append(wanted)
