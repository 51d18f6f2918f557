"""Where things are, and nbgrader's configuration for them."""

from __future__ import annotations

import os
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from hero_course.chapter import LANGUAGES, Chapter, read_chapter
from hero_course.errors import CourseError

__all__ = ["CONFIGURATION", "chapter_named", "find_root", "language", "nbgrader_config", "read_chapters"]

CONFIGURATION = ("nbgrader_config.py", "course_config.py")


def find_root(start: Path | None = None) -> Path:
    """The course's root: the nearest folder upwards with ``nbgrader_config.py`` and ``chapters/``.

    Raises:
        CourseError: if there is none.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "nbgrader_config.py").is_file() and (folder / "chapters").is_dir():
            return folder
    raise CourseError(f"no course at or above {start}. Remedy: run hero inside the book's repository")


def language(lang: str | None) -> str:
    """The language asked for: the argument, else ``HERO_LANG``, else ``zh``.

    Raises:
        CourseError: if it is neither ``zh`` nor ``en``.
    """
    chosen = lang or os.environ.get("HERO_LANG") or "zh"
    if chosen not in LANGUAGES:
        raise CourseError(f"language: expected one of {LANGUAGES}, got {chosen!r}. Remedy: change HERO_LANG or --lang")
    return chosen


def read_chapters(root: Path) -> list[Chapter]:
    """All chapters of the book, in order."""
    return [read_chapter(path) for path in sorted(root.glob("chapters/*/chapter.md"))]


def chapter_named(chapters: list[Chapter], name: str) -> Chapter:
    """The chapter with this folder name, or with this number.

    Raises:
        CourseError: if there is none.
    """
    for chapter in chapters:
        if name == chapter.name or (name.isdigit() and int(name) == chapter.number):
            return chapter
    raise CourseError(f"no chapter {name!r}: there are {[chapter.name for chapter in chapters]}")


def nbgrader_config(root: Path, lang: str) -> Config:
    """What ``nbgrader_config.py`` and ``course_config.py`` say for one language.

    Raises:
        CourseError: if they fail.
    """
    before = os.environ.get("HERO_LANG")
    os.environ["HERO_LANG"] = lang
    try:
        return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    except SystemExit as error:
        raise CourseError(str(error)) from None
    finally:
        if before is None:
            del os.environ["HERO_LANG"]
        else:
            os.environ["HERO_LANG"] = before
