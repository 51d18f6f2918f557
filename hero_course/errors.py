"""The one kind of error that a bad source or a bad request gets: where, what came, what to do."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CourseError", "SourceError"]


class CourseError(Exception):
    """A request that cannot be carried out; the message says what was expected and the remedy."""


class SourceError(CourseError):
    """A source of the book that cannot be built.

    Example:
        >>> print(SourceError("chapter.md", 7, "the key 'a' stands twice", "give each cell its own"))
        chapter.md:7: the key 'a' stands twice. Remedy: give each cell its own
    """

    def __init__(self, path: Path | str, line: int, problem: str, remedy: str) -> None:
        super().__init__(f"{path}:{line}: {problem}. Remedy: {remedy}")
        self.path, self.line = Path(path), line
