"""Put a submission's notebook in order: every check and the set-up cell in its place, word for word."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id as random_cell_id
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from hero_course.engine.answers import answer_pattern, blank_cells, is_blank, is_locked, released
from hero_course.engine.plan import grade_id

__all__ = ["NOTES", "RESTORED", "RestoreCells", "instructors", "restore", "source_folder", "with_notes"]

RESTORED = "restored"  # the key, in a cell's metadata, of a mark that it was put back
NOTES = "notes"  # the key, in a notebook's metadata, of what was odd about it


def source_folder(step: Any, resources: Any) -> Path:
    """Where the instructor's files of the assignment are that an exporter, or a preprocessor of it, works on."""
    above = [step, getattr(step, "parent", None), getattr(getattr(step, "parent", None), "parent", None)]
    course = next((one.coursedir for one in above if hasattr(one, "coursedir")), None) or CourseDirectory(parent=step)
    return Path(course.format_path(course.source_directory, ".", resources["nbgrader"]["assignment"]))


class RestoreCells(NbGraderPreprocessor):
    """The first step of sanitising: deleted, duplicated, retyped and renamed cells are put right."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Restore the cells after the instructor's notebook."""
        restored, back = restore(nb, instructors(source_folder(self, resources)))
        if back:
            self.log.warning("put back: %s", ", ".join(back))
        for note in restored.metadata.get("hero", {}).get(NOTES, []):
            self.log.warning("%s: %s", resources["nbgrader"]["student"], note)
        return restored, resources


def with_notes(metadata: NotebookNode, notes: list[str]) -> NotebookNode:
    """A notebook's metadata with notes for the learner added to those that it has."""
    hero = metadata.get("hero", {})
    return NotebookNode({**metadata, "hero": {**hero, NOTES: [*hero.get(NOTES, []), *notes]}})


def instructors(folder: Path) -> NotebookNode:
    """The instructor's notebook of an assignment's folder; it is shared, so it may only be read."""
    path = folder.resolve() / f"{folder.name}.ipynb"
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read(path: Path, modified: int) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def restore(notebook: NotebookNode, source: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """A submission with its cells restored; what is given stays as it is.

    A cell is known by nbgrader's name for it, else by its id, else by its released text. Locked cells become the
    instructor's; of several with one name the last counts that is not blank. A locked cell that is missing is put below
    what stands above it in the instructor's notebook, and not above the exercise that it looks at. Everything else that
    nbgrader would read of the learner's is dropped.

    Returns:
        The notebook, and the names of the cells that were missing or of another kind.
    """
    known = {name: cell for cell in source.cells if (name := grade_id(cell))}
    kept, notes = _without_blank_copies(notebook, source)
    notebook = NotebookNode({**notebook, "cells": kept, "metadata": with_notes(notebook.metadata, notes)})
    places = _places(notebook, known)
    notebook.cells = [NotebookNode({**cell, "metadata": NotebookNode()}) for cell in kept]
    back = []
    for name, place in places.items():
        mine, wanted = notebook.cells[place], known[name]
        new = _copy(wanted)
        if not wanted.metadata.nbgrader.locked:
            new.source = mine.source
        if mine.cell_type != wanted.cell_type:
            back.append(name)
        notebook.cells[place] = new
    back += _put_back(notebook, source, known)
    for cell in notebook.cells:
        if grade_id(cell) in back:
            cell.metadata["hero"] = {**cell.metadata.get("hero", {}), RESTORED: True}
    _unique_ids(notebook)
    return notebook, back


def _copy(cell: NotebookNode) -> NotebookNode:
    """A cell of the instructor's whose source, metadata and outputs can be changed."""
    return NotebookNode({**cell, "metadata": deepcopy(cell.metadata), **({"outputs": []} if "outputs" in cell else {})})


def _places(notebook: NotebookNode, known: dict[str, NotebookNode]) -> dict[str, int]:
    """Where each known cell stands in the submission."""
    texts = {released(cell): name for name, cell in known.items() if is_locked(cell)}
    claims = (
        lambda cell: grade_id(cell),
        lambda cell: cell.id,
        lambda cell: texts.get(cell.source.strip()),
    )
    places: dict[str, int] = {}
    for claim in claims:
        found = {name: place for place, cell in enumerate(notebook.cells) if (name := claim(cell)) in known}
        taken = set(places.values())
        places |= {name: place for name, place in found.items() if name not in places and place not in taken}
    return places


def _without_blank_copies(notebook: NotebookNode, source: NotebookNode) -> tuple[list[NotebookNode], list[str]]:
    """The cells, but for blank copies of a cell that the learner answered elsewhere; and a note for each name.

    A blank copy that is run below the answer would put the stub back.
    """
    cells, notes = list(notebook.cells), []
    for name, blank in blank_cells(source).items():
        named = [cell for cell in cells if name in (grade_id(cell), cell.id)]
        answers = [cell for cell in named if not is_blank(cell.source, blank)]
        copies = [cell for cell in named if is_blank(cell.source, blank)]
        if answers:
            copies += [cell for cell in cells if cell.cell_type == "code" and cell.source.strip() == blank]
            if copies:
                notes.append(f"{name}: 另有空白的副本，没有运行 | a blank copy of the cell was not run")
        if len(answers) > 1:
            n = len(answers)
            notes.append(f"{name}: 作答的单元有 {n} 个，取最后一个 | of several answered cells the last counts")
        if answers:
            cells = [cell for cell in cells if not any(cell is copy for copy in copies)]
    return cells, notes


def _put_back(notebook: NotebookNode, source: NotebookNode, known: dict[str, NotebookNode]) -> list[str]:
    """Insert the locked cells that are missing."""
    back = []
    there = {one.id: one for one in reversed(notebook.cells)}
    above: NotebookNode | None = None
    for cell in source.cells:
        name = grade_id(cell)
        here = there.get(cell.id)
        if here is None and name and is_locked(cell):
            here = _copy(cell)
            about = known.get(cell.metadata.get("hero", {}).get("about", ""))
            lowest = max(_index(notebook, above), _answer(notebook, about))
            notebook.cells.insert(lowest + 1, here)
            back.append(name)
        above = here or above
    return back


def _index(notebook: NotebookNode, cell: NotebookNode | None) -> int:
    return next((place for place, one in enumerate(notebook.cells) if one is cell), -1)


def _answer(notebook: NotebookNode, exercise: NotebookNode | None) -> int:
    """The place of the last cell that answers an exercise, wherever the learner has it; -1 if there is none."""
    if exercise is None:
        return -1
    wanted = answer_pattern(exercise)
    found = [
        place
        for place, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and (cell.id == exercise.id or wanted.search(cell.source))
    ]
    return max(found, default=-1)


def _unique_ids(notebook: NotebookNode) -> None:
    """Where two cells have one id, the one that nbgrader knows keeps it."""
    taken = {cell.id for cell in notebook.cells if grade_id(cell)}
    for cell in notebook.cells:
        if grade_id(cell) is None and cell.id in taken:
            cell.id = random_cell_id()
        taken.add(cell.id)
