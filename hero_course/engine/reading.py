"""Read the bytes of a file as a notebook, whatever is odd about it, with bounded work.

Only what grading needs is taken over: the cells' kinds, sources, ids, nbgrader's names for them, and the pictures that
prose refers to. So outputs, widget states, kernels and anything unknown in a file can do no harm.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any
from urllib.parse import unquote

from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id as random_cell_id
from nbformat.v4 import new_notebook

__all__ = ["KERNEL", "UnreadableError", "read_notebook"]

CELLS, TEXT = 2000, 20 << 20  # the most cells, and the most characters in all of them
CONTAINERS, VALUES = 1_000_000, 13_000_000  # the most lists and objects of a file, and the most values in them
PICTURES = 16 << 20  # the most characters of all pictures in prose
PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_MARKERS = {("both", "<" * 7): "ours", ("ours", "=" * 7): "theirs", ("theirs", ">" * 7): "both"}
_SIGN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{\[,]', re.DOTALL)


class UnreadableError(Exception):
    """A file that is no notebook; the message says why, in both languages."""


def read_notebook(content: bytes) -> tuple[NotebookNode, list[str]]:
    """A notebook in today's format, and what was odd about the file.

    Raises:
        UnreadableError: if it is no notebook.
    """
    notes: list[str] = []
    text = _text(content, notes)
    if not text.strip():
        raise UnreadableError("文件是空的 | the file is empty")
    try:
        found = _cells(_json(text, notes), notes)
        if len(found) > CELLS:
            raise _too_large()
        cells = [_cell(cell) for cell in found]
    except UnreadableError:
        raise
    except Exception as error:
        raise UnreadableError(f"不是笔记本 | this is no notebook ({type(error).__name__})") from error
    if sum(len(cell.source) for cell in cells) > TEXT:
        raise _too_large()
    _keep_pictures(cells, found, notes)
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            cell.id = random_cell_id()
        seen.add(cell.id)
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}}), notes


def _too_large() -> UnreadableError:
    return UnreadableError("笔记本太大 | the notebook is too large")


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
    raise UnreadableError("文字编码无法识别 | the text encoding is unknown")


def _json(text: str, notes: list[str]) -> Any:
    """The file's content; where git left both versions of a passage, the first that makes sense."""
    versions = [text]
    if re.search("^<{7}", text, re.MULTILINE):
        notes.append("有合并冲突标记，取了其中一边 | it holds conflict markers: one side was taken")
        versions = _sides(text)
    for version in versions:
        if _is_vast(version):
            raise _too_large()
        try:
            return json.loads(version)
        except (ValueError, RecursionError, MemoryError) as error:
            last = error
    line = f"第 {last.lineno} 行 line {last.lineno}" if isinstance(last, json.JSONDecodeError) else type(last).__name__
    raise UnreadableError(f"文件坏了（{line}） | the file is broken")


def _is_vast(text: str) -> bool:
    """Whether a JSON text holds so many values that Python's objects for them would take gigabytes.

    Signs are counted before anything is made of them: everywhere, which is quick, and only where that is too many,
    one by one outside of strings.
    """
    if text.count("{") + text.count("[") <= CONTAINERS and text.count(",") <= VALUES:
        return False
    containers = values = 0
    for match in _SIGN.finditer(text):
        sign = match[0]
        containers += sign in "{["
        values += sign == ","
        if containers > CONTAINERS or values > VALUES:
            return True
    return False


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
    """The cells as the file has them; in the old format 3 they stand on worksheets."""
    if isinstance(found, dict) and "worksheets" in found:
        notes.append("旧格式 nbformat 3 | the old format nbformat 3")
        return [cell for sheet in found["worksheets"] for cell in sheet["cells"]]
    if not isinstance(found["cells"], list):
        raise TypeError("cells")
    return found["cells"]


def _cell(cell: Any) -> NotebookNode:
    """A cell in today's format; format 3 calls a code cell's source its input, and has headings with a level."""
    source = _source(cell.get("source", cell.get("input", "")))
    kind, name = cell.get("cell_type"), str(cell.get("id", ""))
    if kind == "heading":
        kind, source = "markdown", f"{'#' * int(cell.get('level', 1))} {source}"
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


def _source(value: Any) -> str:
    r"""A cell's text: a string, or a list of lines, which some tools write without the ends of lines.

    Example:
        >>> _source(["a\n", "b"]), _source(["a", "", "b"]), _source("a"), _source({})
        ('a\nb', 'a\n\nb', 'a', '')
    """
    lines = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    bare = all(line.splitlines() in ([], [line]) for line in lines)  # no line has an end of its own
    text = value if isinstance(value, str) else ("\n" if bare else "").join(lines)
    return text.encode("utf-8", "replace").decode()  # half an emoji, perhaps


def _keep_pictures(cells: list[NotebookNode], found: list[Any], notes: list[str]) -> None:
    """Take over the pictures that were pasted into prose, as far as the prose refers to them."""
    room, left_out = PICTURES, 0
    for cell, old in zip(cells, found, strict=True):
        pasted = old.get("attachments")
        if cell.cell_type != "markdown" or not isinstance(pasted, dict) or "attachment:" not in cell.source:
            continue
        text = unquote(cell.source)
        for name, picture in pasted.items():
            if f"attachment:{unquote(name)}" not in text:
                continue
            kept = _picture(picture)
            size = sum(map(len, kept.values()))
            if not kept or size > room:
                left_out += 1
                continue
            room -= size
            cell.setdefault("attachments", NotebookNode())[name] = NotebookNode(kept)
    if left_out:
        notes.append(f"正文里有 {left_out} 张图没有显示 | {left_out} pictures in the prose are not shown")


def _picture(picture: Any) -> dict[str, str]:
    """The renderings of a picture that are what they say: Base64 of a plain kind."""
    found = ((kind, picture.get(kind)) for kind in PICTURE_TYPES) if isinstance(picture, dict) else ()
    texts = ((kind, "".join(text) if isinstance(text, list) else text) for kind, text in found)
    bare = ((kind, re.sub(r"\s", "", text)) for kind, text in texts if isinstance(text, str))
    return {kind: text for kind, text in bare if re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", text)}
