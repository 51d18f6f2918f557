"""Execute the reader's edition, and give the other language the same outputs."""

from __future__ import annotations

import os
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from hero_course.chapter import Chapter
from hero_course.errors import CourseError

__all__ = ["execute_notebook", "share_outputs"]

CELL_SECONDS = 120
_WIDGET = "application/vnd.jupyter.widget-view+json"


def execute_notebook(notebook: NotebookNode, folder: Path, root: Path, chapter: Chapter) -> None:
    """Run all cells of a notebook, in place, in ``folder``, with the full package of the course at ``root``.

    Raises:
        SourceError: for a cell that fails, at its line of the chapter.
    """
    client = NotebookClient(
        notebook, timeout=CELL_SECONDS, kernel_name="python3", record_timing=False, coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}}, extra_arguments=["--IPKernelApp.log_level=40"],
    )
    try:
        client.execute(env=_environment(root))
    except CellExecutionError as error:
        failed = next((c for c in notebook.cells if any(o.output_type == "error" for o in c.get("outputs", []))), None)
        line = getattr(chapter.cell(failed.id) if failed else None, "line", 1)
        raise chapter.error(
            line, f"the reader's edition fails here: {error.ename}: {error.evalue}", "mend the cell"
        ) from error
    _drop_widgets(notebook)


def _drop_widgets(notebook: NotebookNode) -> None:
    """Take out views of widgets: without a kernel they show nothing, and their ids differ each time."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _WIDGET not in output.get("data", {})]


def share_outputs(executed: NotebookNode, other: NotebookNode) -> None:
    """Give the code cells of ``other`` the outputs of the same cells of ``executed``.

    Raises:
        CourseError: if the code of the two differs.
    """
    ours = [cell for cell in executed.cells if cell.cell_type == "code"]
    theirs = [cell for cell in other.cells if cell.cell_type == "code"]
    if [(c.id, c.source) for c in ours] != [(c.id, c.source) for c in theirs]:
        raise CourseError("the code cells of the two languages differ: build them from one chapter.md")
    for done, cell in zip(ours, theirs, strict=True):
        cell.outputs, cell.execution_count = done.outputs, done.execution_count
    other.metadata["language_info"] = executed.metadata["language_info"]


def _environment(root: Path) -> dict[str, str]:
    """One thread, so that numbers are the same everywhere; and the package of this course, first."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
