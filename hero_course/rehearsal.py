"""Rehearse a notebook: run its code cells once for each of many answers, and say what each check saw.

The cells run in IPython, beside the chapter's edition of the package, in processes forked from one that has
imported torch already. The module is also the program that does so: it reads one JSON request from standard
input, in the assignment's folder, and writes one JSON answer.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from hero_course.errors import CourseError

__all__ = ["CellRun", "rehearse", "without_examples"]


@dataclass(frozen=True)
class CellRun:
    """What one code cell did: the error's type and text (None if it ran), and what its check saw."""

    key: str
    graded: bool
    error: str | None
    message: str
    outcomes: dict[str, Any]

    @property
    def passed(self) -> bool:
        """Whether the cell ran to its end."""
        return self.error is None


def without_examples(notebook: NotebookNode) -> NotebookNode:
    """The set-up, exercises and checks alone: a check stands on nothing else, and many answers rehearse quickly."""
    return nbformat.from_dict({**notebook, "cells": [cell for cell in notebook.cells if "nbgrader" in cell.metadata]})


def rehearse(
    notebook: NotebookNode, folder: Path, variants: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, CellRun]]:
    """Run a notebook's code cells for each variant.

    Args:
        notebook: an instructor's or a released notebook; its cell ids are the chapter's keys.
        folder: the assignment's folder, with the edition and ``fingerprints.json``.
        variants: for each variant's name, the code that replaces the cells of these keys.

    Returns:
        For each variant, for each code cell's key, its run.

    Raises:
        CourseError: if the rehearsal itself breaks.
    """
    cells = [
        {"key": c.id, "source": c.source, "graded": bool(c.metadata.get("nbgrader", {}).get("grade"))}
        for c in notebook.cells
        if c.cell_type == "code"
    ]
    request = {"cells": cells, "variants": {name: dict(changes) for name, changes in variants.items()}}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-m", __name__], cwd=folder, input=json.dumps(request), env=environment,
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        raise CourseError(f"the rehearsal of {folder} broke:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout)
    return {name: {run["key"]: CellRun(**run) for run in runs} for name, runs in answer.items()}


def _run(job: tuple[list[dict[str, Any]], dict[str, str]]) -> list[dict[str, Any]]:
    """Run all cells in this process, in a fresh IPython shell."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    cells, changes = job
    config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = lambda *args, **kwargs: None  # nobody reads it, and colouring torch's source is slow
    seen: list[dict[str, Any]] = []
    runs = []
    for cell in cells:
        seen.clear()
        silent = io.StringIO()
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = shell.run_cell(changes.get(cell["key"], cell["source"]), store_history=False)
        error = result.error_before_exec or result.error_in_exec
        runs.append(
            {
                "key": cell["key"],
                "graded": cell["graded"],
                "error": type(error).__name__ if error else None,
                "message": str(error) if error else "",
                "outcomes": seen[-1] if seen else {},
            }
        )
        if "checks" in shell.user_ns and not hasattr(shell.user_ns["checks"], "seen"):
            shell.user_ns["checks"] = _recording(shell.user_ns["checks"], seen)
    return runs


def _recording(base: type, log: list[dict[str, Any]]) -> type:
    class checks(base):  # type: ignore[misc, valid-type]
        seen = log

        def __exit__(self, *error: Any) -> bool:
            try:
                return super().__exit__(*error)
            finally:
                log.append(dict(self.outcomes))

    return checks


# What nearly every answer imports, before the forks; nothing is computed with it. The last is what torch's
# assert_close needs as soon as two tensors differ.
_BEFOREHAND = ("torch", "matplotlib.pyplot", "IPython.core.interactiveshell", "torch.fx.experimental.symbolic_shapes")


def _main() -> None:
    request = json.load(sys.stdin)
    for name in _BEFOREHAND:
        importlib.import_module(name)

    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        jobs = [(request["cells"], changes) for changes in request["variants"].values()]
        runs = pool.map(_run, jobs, chunksize=1)
    json.dump(dict(zip(request["variants"], runs, strict=True)), sys.stdout)


if __name__ == "__main__":
    _main()
