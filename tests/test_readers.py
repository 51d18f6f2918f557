"""A reader's own notebook is set aside before a build takes its place, and only then."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from hero_course.readers import set_aside, sign


def built(*sources: str) -> NotebookNode:
    """A reader's edition as a build writes it."""
    cells = [new_code_cell(source, id=f"c{number}") for number, source in enumerate(sources)]
    notebook = new_notebook(cells=[new_markdown_cell("# title", id="title"), *cells])
    sign(notebook)
    return notebook


def ran(notebook: NotebookNode) -> None:
    notebook.cells[1].outputs = [new_output("stream", text="2\n")]
    notebook.cells[1].execution_count = 7
    notebook.metadata.language_info = {"name": "python", "version": "3.12"}


def edited(notebook: NotebookNode) -> None:
    notebook.cells[1].source += "  # my note"


def one_cell_more(notebook: NotebookNode) -> None:
    notebook.cells.append(new_markdown_cell("what I thought"))


def unsigned(notebook: NotebookNode) -> None:
    del notebook.metadata["hero"]


@pytest.mark.parametrize(("change", "kept"), [(ran, False), (edited, True), (one_cell_more, True), (unsigned, True)])
@pytest.mark.parametrize("rebuilt", ["1 + 1", "1 + 2"])
def test_what_a_person_wrote_is_kept(tmp_path: Path, change, kept: bool, rebuilt: str) -> None:
    old, new = (tmp_path / place / "05_small" / "zh.ipynb" for place in ("chapters", "stage"))
    notebook = built("1 + 1")
    change(notebook)
    for path, content in ((old, notebook), (new, built(rebuilt))):
        path.parent.mkdir(parents=True)
        nbformat.write(content, path)
    before = old.read_bytes()
    copy = set_aside(tmp_path, new)
    if change is unsigned and rebuilt == "1 + 1":  # nothing in it but what the build gives
        kept = False
    assert (copy is not None) == kept
    assert old.read_bytes() == before
    if copy:
        assert copy.parent == tmp_path / "set_aside" / "05_small"
        assert copy.read_bytes() == before
        assert set_aside(tmp_path, new) == copy  # the same again is no second copy
        assert len(list(copy.parent.iterdir())) == 1


def test_a_file_that_is_no_notebook_is_kept_and_none_is_nothing(tmp_path: Path) -> None:
    new = tmp_path / "stage" / "05_small" / "en.ipynb"
    new.parent.mkdir(parents=True)
    nbformat.write(built("1"), new)
    assert set_aside(tmp_path, new) is None
    old = tmp_path / "chapters" / "05_small" / "en.ipynb"
    old.parent.mkdir(parents=True)
    old.write_text("notes of mine")
    assert set_aside(tmp_path, new).read_text() == "notes of mine"
