"""The execute step of nbgrader's autograde, by the engine instead of a kernel."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Float, Integer

from hero_course.engine.assignment import Assignment
from hero_course.engine.converters import HeroAutograde
from hero_course.engine.examination import Examination, Job
from hero_course.engine.handed_in import contents
from hero_course.engine.limits import Limits
from hero_course.engine.plan import examination_of, steps_of
from hero_course.engine.pool import grade_here
from hero_course.engine.restore import NOTES, RESTORED, instructors, source_folder
from hero_course.engine.salvage import UNREADABLE
from hero_course.engine.session import Cell

__all__ = ["HeroAutograde", "HeroExecute", "Run", "digest", "job_of", "run_with"]

Run = Callable[[Job], list[Cell]]
_PUT_BACK = "（此单元缺失或类型被改，批改时已放回 | this cell was missing or of another kind: it was put back）\n"


_instead: list[Run] = []  # the last one runs the submissions; where there is none, this process does


class run_with:
    """Let another function run the submissions for the length of a ``with`` block."""

    def __init__(self, run: Run) -> None:
        self._new = run

    @staticmethod
    def is_on() -> bool:
        """Whether something else than this process runs the submissions now."""
        return bool(_instead)

    def __enter__(self) -> None:
        _instead.append(self._new)

    def __exit__(self, *error: Any) -> None:
        _instead.pop()


class HeroExecute(NbGraderPreprocessor):
    """Fill in a notebook's outputs: the learner's cells by a worker, the graded ones by an examiner."""

    cell_seconds = Float(60, help="Wall time of one own cell, or of one exercise in all its checks.").tag(config=True)
    total_seconds = Float(300, help="Wall time of all the learner's own cells together.").tag(config=True)
    memory_megabytes = Integer(4096, help="Address space of each process of the learner.").tag(config=True)
    processes = Integer(64, help="Processes and threads of the learner at one time.").tag(config=True)
    file_megabytes = Integer(64, help="Size of one file that the learner writes.").tag(config=True)
    disk_megabytes = Integer(64, help="Size of all files that the learner writes.").tag(config=True)
    output_kilobytes = Integer(1024, help="Outputs of one cell.").tag(config=True)
    answer_megabytes = Integer(16, help="One value that the learner's code returns to a check.").tag(config=True)
    restarts = Integer(32, help="How often a process that the learner's code ended is replaced.").tag(config=True)
    examples = Enum(
        ["needed", "all"], "needed", help="Run untouched worked examples only where the learner's own code needs one."
    ).tag(config=True)
    sandbox = Enum(
        ["bubblewrap", "none"], "bubblewrap", help="What surrounds the learner's code. Points do not depend on it."
    ).tag(config=True)

    @property
    def limits(self) -> Limits:
        """The limits that the configuration sets."""
        return Limits(
            self.cell_seconds, self.total_seconds, self.memory_megabytes << 20, self.processes,
            self.file_megabytes << 20, self.disk_megabytes << 20, self.output_kilobytes << 10,
            self.answer_megabytes << 20, self.restarts,
        )  # fmt: skip

    def assignment(self, source: Path) -> Assignment:
        """The assignment in a folder under ``source/``, as the configuration has it graded."""
        examination = examination_of(instructors(source), self.examples)
        return Assignment.of(source, examination, self.limits, self.sandbox == "bubblewrap", private_paths(source))

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Run the notebook.

        Raises:
            NotGradedError: if the grader itself broke; nbgrader then keeps no result.
            MissingSandboxError: if bubblewrap is missing and wanted.
        """
        source = source_folder(self, resources).resolve()
        examination = examination_of(instructors(source))
        job = job_of(nb, examination, self._handed_in(resources), source, self.examples)
        reason = nb.metadata.get("hero", {}).get(UNREADABLE)
        if reason:
            outputs = [[_unreadable(reason)] if step.check else [] for step in job.steps]
        elif _instead:
            outputs = _instead[-1](job)
        else:
            outputs = grade_here(self.assignment(source), job)
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        for number, (step, shown) in enumerate(zip(job.steps, outputs, strict=True), 1):
            cell = nb.cells[step.place]
            if step.check:
                cell.source = examination.checks[step.check]
            if cell.metadata.get("hero", {}).get(RESTORED):
                shown = [{"output_type": "stream", "name": "stdout", "text": _PUT_BACK}, *shown]
            cell.outputs = [nbformat.from_dict(one) for one in shown]
            cell.execution_count = number
            for one in cell.outputs:
                if one.output_type == "execute_result":
                    one.execution_count = number
        notes = nb.metadata.get("hero", {}).get(NOTES)
        if notes:
            nb.cells.insert(0, _notes(notes))
        return nb, resources

    def _handed_in(self, resources: Any) -> Path:
        """The folder that the learner handed in."""
        course = self.parent.parent.coursedir
        names = resources["nbgrader"]
        return Path(course.format_path(course.submitted_directory, names["student"], names["assignment"]))


def job_of(notebook: NotebookNode, examination: Examination, folder: Path, source: Path, examples: str) -> Job:
    """What is run of a submission.

    Args:
        notebook: restored.
        examination: the instructor's notebook.
        folder: what was handed in.
        source: the instructor's folder.
        examples: see `steps_of`.
    """
    return Job(steps_of(notebook, examination, examples), contents(folder, source))


def digest(job: Job) -> str:
    """A short name for a submission's content.

    Example:
        >>> digest(Job(())) == digest(Job((), {}))
        True
    """
    content = hashlib.sha256(json.dumps([(s.place, s.check, s.source) for s in job.steps]).encode())
    for name in sorted(job.files):
        content.update(os.fsencode(f"{name}\0") + hashlib.sha256(job.files[name]).digest())
    return content.hexdigest()


def private_paths(source: Path) -> list[str]:
    """What no worker may see of the course."""
    root = next((one for one in source.parents if (one / "nbgrader_config.py").is_file()), source)
    return [str(source), str(root / "source"), str(root / "gradebook.db"), str(root / "submitted")]


def _notes(notes: list[str]) -> NotebookNode:
    """A cell that tells the learner what was odd about the submission; the names in it are not read as Markdown."""
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return new_markdown_cell(f"<div><b>批改说明 | Notes on what was handed in</b><ul>{lines}</ul></div>")


def _unreadable(reason: str) -> dict[str, Any]:
    line = f"提交的文件读不出来 | what was handed in cannot be read: {reason}"
    return {"output_type": "error", "ename": "UnreadableError", "evalue": line, "traceback": [line]}
