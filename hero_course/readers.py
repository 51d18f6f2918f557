"""A reader's own changes to a notebook of the book are never lost: a build first sets them aside."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from hero_course.pack import write_whole

__all__ = ["SET_ASIDE", "set_aside", "sign"]

SET_ASIDE = "set_aside"
_KEY = "inputs"  # in the notebook's metadata under "hero": a digest of its inputs as they were built


def sign(notebook: NotebookNode) -> None:
    """Write into a notebook which inputs were built; JupyterLab keeps that when a reader changes them."""
    notebook.metadata.setdefault("hero", {})[_KEY] = _inputs(notebook)


def set_aside(root: Path, new: Path) -> Path | None:
    """Copy the notebook that a build is about to replace, if its inputs are neither the new ones nor an older build's.

    Another run's outputs are not worth a copy.

    Args:
        root: the course's root.
        new: the new notebook, ``…/chapters/<chapter>/<lang>.ipynb``.

    Returns:
        The copy's path, ``set_aside/<chapter>/<lang>-<digest>.ipynb``, if there is one.
    """
    old = root / "chapters" / new.parent.name / new.name
    if not old.is_file():
        return None
    content = old.read_bytes()
    if _is_built(content, new):
        return None
    copy = root / SET_ASIDE / new.parent.name / f"{new.stem}-{hashlib.sha256(content).hexdigest()[:8]}.ipynb"
    write_whole(copy, content)
    return copy


def _is_built(content: bytes, new: Path) -> bool:
    try:
        notebook = nbformat.reads(content.decode(), as_version=4)
    except Exception:  # no notebook at all
        return False
    inputs = _inputs(notebook)
    built = (notebook.metadata.get("hero", {}).get(_KEY), _inputs(nbformat.read(new, as_version=4)))
    return inputs in built


def _inputs(notebook: NotebookNode) -> str:
    """A digest of the kinds and texts of all cells."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()
