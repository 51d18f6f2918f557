"""The terms of the book in both languages, and the rule that tagged prose uses them.

``chapters/glossary.md`` holds them in one table. A pair of prose cells that is about a term says so,
``+++ {"key": …, "lang": "zh", "terms": ["residual"]}``; then each of the two must use its language's word for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from hero_course.chapter import Cell, Chapter
from hero_course.errors import SourceError

__all__ = ["GLOSSARY", "Term", "check_terms", "read_glossary"]

GLOSSARY = Path("chapters") / "glossary.md"
Term = dict[str, tuple[str, ...]]  # for each language the words that will do, the usual one first


def read_glossary(path: Path) -> dict[str, Term]:
    """The terms by their names.

    Args:
        path: the glossary, which may be missing as long as no prose is tagged; the rows of its table are
            ``| `name` | 中文, 另一种 | English, another | what it means |``.

    Raises:
        SourceError: for a term that stands twice, or one without a word in a language.
    """
    terms: dict[str, Term] = {}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), 1):
        row = re.match(r"\| `([a-z0-9-]+)` \| ([^|]*)\|([^|]*)\|", line)
        if not row:
            continue
        name, *words = row.groups()
        if name in terms:
            raise SourceError(path, number, f"the term {name!r} stands twice", "keep one row")
        zh, en = (tuple(filter(None, (word.strip() for word in re.split("[,，]", cell)))) for cell in words)
        if not zh or not en:
            raise SourceError(path, number, f"the term {name!r} lacks a language", "write both words")
        terms[name] = {"zh": zh, "en": en}
    return terms


def check_terms(chapter: Chapter, terms: Mapping[str, Term]) -> None:
    """Check that prose which is tagged with a term uses the glossary's word for it, in both languages.

    Raises:
        SourceError: at the first fault.
    """
    for cell in chapter.of_kind("prose"):
        tagged = cell.options.get("terms", [])
        (twin,) = (c for c in chapter.of_kind("prose") if c.key == cell.key and c.lang != cell.lang)
        if tagged != twin.options.get("terms", []):
            raise chapter.error(cell.line, f"the terms of {cell.key!r} differ between the languages", "tag both alike")
        for name in tagged:
            if name not in terms:
                raise chapter.error(cell.line, f"the term {name!r} is not in {GLOSSARY}", "add it there")
            if not _uses(cell, terms[name]):
                words = " or ".join(terms[name][str(cell.lang)])
                raise chapter.error(
                    cell.line, f"the prose {cell.key!r} is tagged {name!r} and does not say {words}",
                    f"use the glossary's word, or change {GLOSSARY}",
                )


def _uses(cell: Cell, term: Term) -> bool:
    text = cell.source.lower()
    return any(word.lower() in text for word in term[str(cell.lang)])
