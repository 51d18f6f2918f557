"""What the course adds to nbgrader, by nbgrader's own configuration: preprocessors of releases and of feedback."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked
from traitlets import Bool, Integer, List

from hero_course.edition import require_edition
from hero_course.page import CUT
from hero_course.solutions import HIDDEN_BEGIN, HIDDEN_END

__all__ = ["BoundPage", "ClearSolutionsByCell", "FeedbackStyle", "HideHiddenChecks", "RequireEdition"]

_STYLE = Path(__file__).parent / "templates" / "feedback" / "feedback.css"


class RequireEdition(NbGraderPreprocessor):
    """Refuse to release an assignment whose folder lacks the learner's edition of the package."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Look at the folder of the notebook; the notebook is returned as it came."""
        require_edition(Path(resources["metadata"]["path"]).resolve())
        return nb, resources


class ClearSolutionsByCell(ClearSolutions):
    """nbgrader's ClearSolutions, with the stub that the cell itself names."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Put the cell's own stub in the place of its solution."""
        stub = cell.metadata.get("hero", {}).get("stub")
        before = self.code_stub
        if stub:
            self.code_stub = {**before, "python": stub}
        try:
            return super().preprocess_cell(cell, resources, cell_index)
        finally:
            self.code_stub = before  # a later cell may have none of its own


class HideHiddenChecks(ClearHiddenTests):
    """Take hidden checks out of feedback: their source, and every trace of it in an output.

    Only what the instructor graded holds any: a learner may write about the markers. In the cell that held one, an
    error shows only its name and message. Elsewhere a line that repeats a line of a hidden check is dropped.
    """

    display_data_priority = List(config=True)  # nbconvert's setting for all its parts
    _kept = frozenset({"CheckFailed"})

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Clear the cells, then their outputs."""
        graded = [cell for cell in nb.cells if is_grade(cell)]
        hidden = {line.strip() for cell in graded for line in _hidden_lines(cell)}
        hidden = {line for line in hidden if len(line) > 12}
        holders = [cell for cell in graded if HIDDEN_BEGIN in cell.source]
        nb, resources = super().preprocess(nb, resources)
        for cell in holders:
            for output in cell.get("outputs", []):
                if output.output_type == "error" and output.ename not in self._kept:
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [_scrub(output, hidden) for output in cell.outputs]
        return nb, resources

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Clear a cell that is graded; others are left alone."""
        return super().preprocess_cell(cell, resources, cell_index) if is_grade(cell) else (cell, resources)


def _hidden_lines(cell: NotebookNode) -> list[str]:
    match = re.search(f"{HIDDEN_BEGIN}\n(.*?){HIDDEN_END}", cell.source, re.DOTALL)
    return match[1].splitlines() if match else []


def _scrub(output: NotebookNode, hidden: set[str]) -> NotebookNode:
    """The output without the lines that hold a hidden line, however it was escaped or coloured."""

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(one) for one in value]
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        if not isinstance(value, str):
            return value
        bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in value.splitlines(keepends=True)]
        return "".join(line for line in bare if not any(text in line or repr(text)[1:-1] in line for text in hidden))

    return nbformat.from_dict(clean(output))


class BoundPage(Preprocessor):
    """Cut what a learner wrote where a page of it would be too long to make or to read; the file itself is whole."""

    enabled = Bool(True).tag(config=True)
    cell_characters = Integer(100_000, help="Of one cell.").tag(config=True)
    cell_lines = Integer(3_000, help="Of one cell.").tag(config=True)
    characters = Integer(2_000_000, help="Of all cells.").tag(config=True)
    prose_characters = Integer(500_000, help="Of all cells of prose.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Cut cells; those that the instructor locked are short."""
        room = {"markdown": self.prose_characters}
        for cell in nb.cells:
            left = room.setdefault(cell.cell_type, self.characters)
            shown = "".join(cell.source[: min(left, self.cell_characters)].splitlines(keepends=True)[: self.cell_lines])
            room[cell.cell_type] = left - len(shown)
            if len(shown) < len(cell.source) and not is_locked(cell):
                cell.source = f"{shown}\n{CUT}"
        return nb, resources


class FeedbackStyle(Preprocessor):
    """Add the course's style to a feedback page: wrapped messages, failures in red, a mathematical font."""

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Append the style sheet; stands after nbconvert's CSSHTMLHeaderPreprocessor."""
        resources["inlining"]["css"].append(_STYLE.read_text(encoding="utf-8"))
        return nb, resources
