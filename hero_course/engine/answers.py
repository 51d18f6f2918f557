"""What a learner answered: which cells of an assignment are for answers, and which of them were left blank."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from hero_course.engine.plan import grade_id
from hero_course.solutions import BEGIN, END, HIDDEN_BEGIN, HIDDEN_END

__all__ = ["answer_pattern", "belongs", "blank_cells", "count_answers", "is_blank", "is_locked", "released"]

SETUP = "setup"  # the name of the first cell of every chapter

_REGION = re.compile(rf"^([ \t]*){BEGIN}\n.*?^[ \t]*{END}$", re.DOTALL | re.MULTILINE)
_HIDDEN = re.compile(f"{HIDDEN_BEGIN}.*?{HIDDEN_END}\n?", re.DOTALL)


def released(cell: NotebookNode) -> str:
    """The text of an instructor's cell as learners get it, without white space around it."""
    stub = cell.metadata.get("hero", {}).get("stub", "")
    return _HIDDEN.sub("", _REGION.sub(lambda match: match[1] + stub, cell.source)).strip()


def blank_cells(source: NotebookNode) -> dict[str, str]:
    """The cells for answers of an instructor's notebook: by name, the text that was released."""
    return {name: released(cell) for cell in source.cells if (name := grade_id(cell)) and not is_locked(cell)}


def is_locked(cell: NotebookNode) -> bool:
    """Whether a cell of an instructor's notebook is the instructor's word for word."""
    return bool(cell.metadata.nbgrader.locked)


def is_blank(text: str, blank: str) -> bool:
    """Whether a cell for an answer holds nothing that was not released; white space and comments do not count.

    Example:
        >>> is_blank("x = ...  # ?", "x = ..."), is_blank("x = 1", "x = ..."), is_blank("", "x = ...")
        (True, False, True)
    """
    return _bare(text) in ("", _bare(blank))


def count_answers(notebook: NotebookNode, source: NotebookNode) -> int:
    """How many of an assignment's cells for answers a notebook has filled in."""
    blanks = blank_cells(source)
    wanted = {name: answer_pattern(cell) for cell in source.cells if (name := grade_id(cell)) in blanks}

    def answers(cell: NotebookNode, name: str) -> bool:
        meant = name in (grade_id(cell), cell.id) or wanted[name].search(cell.source)
        return bool(meant) and not is_blank(cell.source, blanks[name])

    return sum(any(answers(cell, name) for cell in notebook.cells) for name in wanted)


def belongs(notebook: NotebookNode, source: NotebookNode) -> bool:
    """Whether a notebook is of an assignment at all: by its cells' names, else by their text.

    Chapters have a few names and texts in common, so neither a single name nor two texts are enough.
    """
    cells = [cell for cell in source.cells if cell.cell_type == "code" and grade_id(cell) != SETUP]
    known = {name for cell in cells if (name := grade_id(cell))}
    named = {name for cell in notebook.cells if (name := grade_id(cell))} - {SETUP}
    texts = {released(cell) for cell in cells} & {cell.source.strip() for cell in notebook.cells}
    if named:
        return 2 * len(named & known) >= len(named) or len(texts) > 2
    return len(texts) > 2 or any(cell.id in known for cell in notebook.cells) or count_answers(notebook, source) > 0


def answer_pattern(cell: NotebookNode) -> re.Pattern[str]:
    """What stands in a cell that answers an instructor's cell, wherever the learner has it."""
    first = re.search(r"^(@replaces\(\w+\))\n(def \w+\()", cell.source, re.MULTILINE)
    if first:
        return re.compile(rf"{re.escape(first[1])}\s*{re.escape(first[2])}")
    return re.compile(rf"^{re.escape(grade_id(cell) or '?')}\s*=", re.MULTILINE)


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"(^|\s)#.*", "", text))
