"""The checks of a chapter in nbgrader's gradebook: entered by nbgrader, and changed there without losing a score."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, GradeCell, MissingEntry, SolutionCell, SourceCell
from nbgrader.converters import GenerateAssignment
from nbgrader.utils import is_grade, is_locked, is_solution
from traitlets.config import Config

from hero_course.errors import CourseError
from hero_course.quiet import LOG
from hero_course.ready import sqlite_file
from hero_course.steps import convert

__all__ = ["Entry", "checks_of", "enter_checks", "locked_cells"]


@dataclass(frozen=True)
class Entry:
    """What was done to the gradebook, to be told; ``kept`` is the copy that was made of it before."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    by_hand: int = 0
    kept: Path | None = None

    def __str__(self) -> str:
        """The entry in one line.

        Example:
            >>> print(Entry(added=("gelu-far",), removed=("gelu-tails",), by_hand=2))
            its checks were put into the gradebook; new: gelu-far; gone: gelu-tails, with 2 scores given by hand
        """
        said = "its checks were put into the gradebook"
        said += f"; new: {', '.join(self.added)}" if self.added else ""
        said += f"; gone: {', '.join(self.removed)}" if self.removed else ""
        said += f", with {self.by_hand} scores given by hand" if self.by_hand else ""
        return said + (f"; a copy of the gradebook as it was: {self.kept}" if self.kept else "")


def enter_checks(root: Path, config: Config, name: str, notebook: Path) -> Entry | None:
    """Put a chapter's checks into the gradebook, unless it has these very checks already.

    nbgrader's generate_assignment does it. It writes to a folder that is thrown away: the release that learners have
    stays as it is. It refuses to add or remove cells of a chapter that has submissions; that is done here before, so
    that scores, scores given by hand and comments of all other cells stay.

    Args:
        root: the course's root.
        config: nbgrader's.
        name: the chapter's.
        notebook: the instructor's.

    Returns:
        What was done, or None if there was nothing to do.

    Raises:
        CourseError: if nbgrader refuses.
    """
    if _entered(config, name) == checks_of(notebook):
        return None
    entry = _add_and_remove(config, name, nbformat.read(notebook, as_version=4).cells)
    with tempfile.TemporaryDirectory() as folder:
        error = convert(root, config, name, GenerateAssignment, release_directory=folder)
    if error:
        raise CourseError(f"nbgrader did not take {name} into the gradebook: {error}. See {LOG}")
    return entry


def checks_of(notebook: Path) -> dict[str, tuple[str, float | None]]:
    """The locked cells of an instructor's notebook: for each id its code, and its points if it is graded."""
    return _checks_of(notebook, notebook.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _checks_of(notebook: Path, _: int) -> dict[str, tuple[str, float | None]]:
    cells = locked_cells(nbformat.read(notebook, as_version=4))
    return {cell.metadata.nbgrader.grade_id: (cell.source, cell.metadata.nbgrader.get("points")) for cell in cells}


def locked_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that are the instructor's: set-up and checks."""
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("locked")]


def _entered(config: Config, name: str) -> dict[str, Any] | None:
    """The checks as the gradebook has them, or None."""
    with _notebook_of(config, name) as (_, notebook):
        if notebook is None:
            return None
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        return {cell.name: (cell.source, points.get(cell.name)) for cell in notebook.source_cells if cell.locked}


@contextmanager
def _notebook_of(config: Config, name: str) -> Iterator[tuple[Any, Any]]:
    """The gradebook's session, and the chapter's notebook in it, or None."""
    with Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
        try:
            found = gradebook.find_notebook(name, name)
        except MissingEntry:
            found = None
        yield gradebook.db, found


def _add_and_remove(config: Config, name: str, cells: list[NotebookNode]) -> Entry:
    """Make the gradebook's cells of a chapter with submissions those of a notebook, in one transaction."""
    with _notebook_of(config, name) as (session, notebook):
        if notebook is None or not notebook.submissions:
            return Entry()
        kinds = {
            GradeCell: (notebook.grade_cells, [cell for cell in cells if is_grade(cell)]),
            SolutionCell: (notebook.solution_cells, [cell for cell in cells if is_solution(cell)]),
            SourceCell: (notebook.source_cells, [c for c in cells if is_grade(c) or is_solution(c) or is_locked(c)]),
        }
        ids = {kind: {cell.metadata.nbgrader.grade_id: cell for cell in new} for kind, (_, new) in kinds.items()}
        gone = [one for kind, (old, _) in kinds.items() for one in old if one.name not in ids[kind]]
        there = {kind: {one.name for one in old} for kind, (old, _) in kinds.items()}
        new = [(kind, cell) for kind, cells in ids.items() for key, cell in cells.items() if key not in there[kind]]
        if not gone and not new:
            return Entry()
        kept = _copied(config.CourseDirectory.db_url)
        by_hand = sum(_remove(session, cell) for cell in gone)
        for kind, cell in new:
            _add(session, notebook, kind, cell)
        session.commit()
        added = sorted(cell.metadata.nbgrader.grade_id for kind, cell in new if kind is GradeCell)
        return Entry(tuple(added), tuple(sorted(c.name for c in gone if isinstance(c, GradeCell))), by_hand, kept)


def _remove(session: Any, cell: Any) -> int:
    """Take a cell out, with what hangs on it; how many scores somebody had given by hand."""
    below = [] if isinstance(cell, SourceCell) else [*cell.grades, *cell.comments]
    by_hand = sum(getattr(one, "manual_score", None) is not None for one in below)
    for one in below:
        session.delete(one)
    session.flush()
    session.delete(cell)
    return by_hand


def _add(session: Any, notebook: Any, kind: type, cell: NotebookNode) -> None:
    """Put a cell in, with an empty score or comment for each submission."""
    name = cell.metadata.nbgrader.grade_id
    if kind is SourceCell:
        session.add(SourceCell(name=name, notebook=notebook, cell_type=cell.cell_type, locked=is_locked(cell)))
        return
    graded = {"max_score": cell.metadata.nbgrader.points, "cell_type": cell.cell_type} if kind is GradeCell else {}
    entered = kind(name=name, notebook=notebook, **graded)
    session.add(entered)
    session.flush()
    entry = Grade if kind is GradeCell else Comment
    session.add_all(entry(cell_id=entered.id, notebook=submission) for submission in notebook.submissions)


def _copied(url: str) -> Path | None:
    """A copy of a gradebook in SQLite, beside it; another database's is its server's business."""
    path = sqlite_file(url)
    if path is None:
        return None
    copy = path.with_name(f"{path.name}.{datetime.now():%Y-%m-%dT%H-%M-%S}")
    with closing(sqlite3.connect(path)) as database, closing(sqlite3.connect(copy)) as other:
        database.backup(other)
    return copy
