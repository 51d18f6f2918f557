"""Read a chapter: ``chapter.md``, a MyST Markdown notebook, as a list of cells that each know their kind.

``docs/authoring.md`` describes the format. jupytext does the reading; this module only gives names to what
the metadata says and the line where each cell stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
import yaml

from hero_course.errors import SourceError

__all__ = ["LANGUAGES", "Cell", "Chapter", "read_chapter"]

LANGUAGES = ("zh", "en")

# What makes a cell of each kind, and the other options that the kind may have.
_KINDS = {
    "prose": ("lang", set()),
    "setup": ("setup", set()),
    "exercise": ("exercise", set()),
    "prediction": ("answer", set()),
    "check": ("check", {"points"}),
    "hidden": ("hidden", {"points", "about"}),
    "code": (None, set()),
}
_OPTIONAL = {"prose": {"tags", "terms"}}  # and of every other kind: tags


@dataclass(frozen=True)
class Cell:
    """One cell of a chapter: its key, its kind, its text, and the line where it stands."""

    key: str
    kind: str
    source: str
    line: int
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def lang(self) -> str | None:
        """The language of a prose cell, None for code, which serves both."""
        return self.options.get("lang")

    @property
    def exercise(self) -> str | None:
        """The key of the exercise or prediction that a check looks at."""
        return self.options.get("check") or self.options.get("hidden")


@dataclass(frozen=True)
class Chapter:
    """A chapter: where it is, its front matter, its cells in order."""

    path: Path
    front: dict[str, Any]
    cells: list[Cell]

    @property
    def name(self) -> str:
        """The folder's name, such as ``05_decoder_block``; also the name of the assignment."""
        return self.path.parent.name

    @property
    def number(self) -> int:
        """The chapter's place in the book, from the folder's name."""
        return int(self.name.split("_")[0])

    def of_kind(self, *kinds: str) -> Iterator[Cell]:
        """The cells of these kinds, in order."""
        return (cell for cell in self.cells if cell.kind in kinds)

    def in_language(self, lang: str) -> Iterator[Cell]:
        """The cells of one language's notebook: its prose, and all code."""
        return (cell for cell in self.cells if cell.lang in (lang, None))

    def cell(self, key: str) -> Cell | None:
        """The code cell with this key, or None."""
        return next((cell for cell in self.cells if cell.key == key and cell.kind != "prose"), None)

    def error(self, line: int, problem: str, remedy: str) -> SourceError:
        """An error in this chapter's text."""
        return SourceError(self.path, line, problem, remedy)

    def line_of(self, text: str) -> int:
        """The first line of the chapter that holds ``text``, or 1."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return next((n for n, line in enumerate(lines, 1) if text in line), 1)


def read_chapter(path: Path) -> Chapter:
    """Read ``chapter.md``.

    Args:
        path: the file, in a folder named ``NN_name``.

    Raises:
        SourceError: for a cell without a key, with two kinds or with an option that its kind does not
            have, for a key that stands twice, and for a file or front matter that cannot be read.
    """
    path = Path(path)
    if not re.fullmatch(r"\d\d_\w+", path.parent.name):
        raise SourceError(path, 1, f"the folder {path.parent.name!r} is not named NN_name", "rename the folder")
    try:
        text = path.read_text(encoding="utf-8")
        notebook = jupytext.reads(text, fmt="md:myst")
    except (UnicodeDecodeError, yaml.YAMLError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
        raise SourceError(path, line, f"not a MyST notebook in UTF-8 ({error})", "see docs/authoring.md") from error
    front = notebook.metadata.get("chapter")
    if not isinstance(front, dict):
        raise SourceError(path, 1, "the front matter has no 'chapter:'", "add it, see docs/authoring.md")
    starts = _starts(text)
    cells = [
        _cell(path, starts[min(index, len(starts) - 1)], raw) for index, raw in enumerate(notebook.cells)
    ]
    chapter = Chapter(path, dict(front), cells)
    _refuse_duplicates(chapter)
    return chapter


def _starts(text: str) -> list[int]:
    """The line where each cell begins: at ``+++`` or at the fence of a code cell."""
    lines = text.splitlines()
    found = [n for n, line in enumerate(lines, 1) if re.match(r"\+\+\+|```\{code-cell\}", line)]
    return found or [1]


def _cell(path: Path, line: int, raw: Any) -> Cell:
    options = dict(raw.metadata.items())
    key = options.pop("key", None)
    if not key:
        raise SourceError(
            path, line, f"a cell without a key: {raw.source[:40]!r}", "give it one: +++ {\"key\": …} or :key: …"
        )
    if not re.fullmatch(r"[a-z0-9_-]{1,60}", str(key)):
        raise SourceError(path, line, f"the key {key!r} cannot be an id", "use a-z, 0-9, - and _, at most 60 of them")
    kind = _kind(path, line, key, raw.cell_type, options)
    if kind == "prose" and options["lang"] not in LANGUAGES:
        raise SourceError(path, line, f"the prose {key!r} has lang {options['lang']!r}", f"write one of {LANGUAGES}")
    return Cell(str(key), kind, raw.source, line, options)


def _kind(path: Path, line: int, key: str, cell_type: str, options: dict[str, Any]) -> str:
    marks = [kind for kind, (mark, _) in _KINDS.items() if mark in options]
    if cell_type == "markdown" and marks != ["prose"]:
        raise SourceError(path, line, f"the prose {key!r} has no lang", 'write +++ {"key": …, "lang": "zh"}')
    if len(marks) > 1 or (cell_type == "code" and marks == ["prose"]):
        raise SourceError(path, line, f"the cell {key!r} is of several kinds: {marks}", "leave one")
    kind = marks[0] if marks else "code"
    mark, more = _KINDS[kind]
    optional = _OPTIONAL.get(kind, {"tags"})
    unknown = set(options) - {mark} - optional - more
    if unknown:
        raise SourceError(
            path, line, f"the {kind} cell {key!r} has unknown options {sorted(unknown)}",
            f"known: {sorted(({mark} if mark else set()) | optional | more)}",
        )
    missing = more - set(options)
    if missing:
        raise SourceError(path, line, f"the {kind} cell {key!r} lacks {sorted(missing)}", "add them")
    return kind


def _refuse_duplicates(chapter: Chapter) -> None:
    seen: dict[tuple[str, str], Cell] = {}
    for cell in chapter.cells:
        for lang in (cell.lang,) if cell.lang else LANGUAGES:
            first = seen.setdefault((cell.key, lang), cell)
            if first is not cell:
                raise chapter.error(
                    cell.line, f"the key {cell.key!r} stands already in line {first.line}", "give each its own"
                )
