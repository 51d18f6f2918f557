"""Compile a chapter to notebooks: the instructor's, in one language, and the reader's."""

from __future__ import annotations

import pprint
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from hero_course.chapter import Cell, Chapter
from hero_course.solutions import BEGIN, END, HIDDEN_BEGIN, HIDDEN_END, Solution, stub

__all__ = ["claims_table", "instructor_notebook", "reader_notebook", "render", "right_answer", "solved_cell"]

_KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
GUIDE_ID = "how-to-use"
_GUIDES = Path(__file__).parent / "templates" / "guide"
_HEADINGS = {
    "zh": ("本章的结论", "| 编号 | 结论 | 由哪个单元证实 |"),
    "en": ("What this chapter has shown", "| id | claim | shown by cell |"),
}

Known = Mapping[str, Mapping[str, Any]]


def instructor_notebook(
    chapter: Chapter, lang: str, solutions: Mapping[str, Solution], known: Mapping[str, Known]
) -> NotebookNode:
    """The instructor's notebook of a chapter: solutions, visible and hidden checks, without outputs.

    Args:
        chapter: the chapter.
        lang: ``zh`` or ``en``.
        solutions: the package's solution regions, by target.
        known: for each check's key, for each known mistake, its fingerprint on each label.
    """
    cells = []
    for cell in chapter.in_language(lang):
        source = _source(cell, solutions, known)
        make = new_markdown_cell if cell.kind == "prose" else new_code_cell
        metadata: dict[str, Any] = {}
        if cell.options.get("tags"):
            metadata["tags"] = cell.options["tags"]
        if cell.kind in ("exercise", "prediction"):
            metadata["hero"] = {"stub": stub(cell.key) if cell.kind == "exercise" else f"{cell.key} = ..."}
        if cell.kind == "exercise":
            metadata["hero"]["target"] = cell.options["exercise"]
        if cell.exercise:
            metadata["hero"] = {"about": cell.exercise}
        if cell.kind not in ("prose", "code"):
            metadata["nbgrader"] = _nbgrader(cell)
        cells.append(make(source, id=cell.key, metadata=metadata))
    cells.insert(1, new_markdown_cell(_guide("learner", lang), id=GUIDE_ID))
    if chapter.front.get("claims"):
        cells.append(new_markdown_cell(claims_table(chapter, lang), id="claims"))
    notebook = new_notebook(cells=cells, metadata={**_KERNEL, "title": chapter.front["title"][lang]})
    nbformat.validate(notebook)
    return notebook


def reader_notebook(release: NotebookNode, lang: str) -> NotebookNode:
    """The reader's edition of a released notebook: the same cells, none of them graded or locked."""
    notebook = nbformat.from_dict(release)
    for cell in notebook.cells:
        if cell.id == GUIDE_ID:
            cell.source = _guide("reader", lang)
        for name in ("nbgrader", "hero", "deletable", "editable"):
            cell.metadata.pop(name, None)
    return notebook


def render(notebook: NotebookNode) -> str:
    """The notebook's text, the same bytes each time."""
    return nbformat.writes(notebook, version=4) + "\n"


def claims_table(chapter: Chapter, lang: str) -> str:
    """The table that ends a chapter: every claim and the cell that asserts or shows it."""
    title, head = _HEADINGS[lang]
    rows = [
        f"| {claim['id']} | {claim[lang]} | [{claim['cell']}](#cell-id={claim['cell']}) |"
        for claim in chapter.front["claims"]
    ]
    return "\n".join([f"## {title}", "", head, "|---|---|---|", *rows])


def solved_cell(cell: Cell, solutions: Mapping[str, Solution], body: str | None = None) -> str:
    """The code of an exercise's cell: decorator, signature, docstring, and the solution or another body."""
    solution = solutions[cell.options["exercise"]]
    return f"@replaces({solution.owner})\n{body or solution.source}"


def right_answer(cell: Cell, solutions: Mapping[str, Solution]) -> str:
    """The reference answer to an exercise or prediction, as a learner would have written it."""
    if cell.kind == "prediction":
        return f"{cell.key} = {cell.options['answer']}"
    lines = solved_cell(cell, solutions).splitlines()
    return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))


def _guide(person: str, lang: str) -> str:
    """What stands below a chapter's title: how to use the notebook."""
    return (_GUIDES / f"{person}.{lang}.md").read_text(encoding="utf-8").rstrip()


def _source(cell: Cell, solutions: Mapping[str, Solution], known: Mapping[str, Known]) -> str:
    if cell.kind == "exercise":
        return solved_cell(cell, solutions)
    if cell.kind == "prediction":
        return f"{BEGIN}\n{right_answer(cell, solutions)}\n{END}"
    if cell.kind == "hidden":
        marks = pprint.pformat(known.get(cell.key, {}), width=110, sort_dicts=True)
        caption = f"# hidden · {cell.options['about']} · {_points(cell)}"
        return "\n".join([caption, HIDDEN_BEGIN, f"known = {marks}", cell.source, HIDDEN_END])
    if cell.kind == "check":
        return f"# check · {_points(cell)}\n{cell.source}"
    return cell.source


def _points(cell: Cell) -> str:
    points = cell.options["points"]
    return f"{points} point{'s' if points > 1 else ''}"


def _nbgrader(cell: Cell) -> dict[str, Any]:
    graded = cell.kind in ("check", "hidden")
    metadata = {
        "schema_version": 3,
        "grade_id": cell.key,
        "grade": graded,
        "solution": cell.kind in ("exercise", "prediction"),
        "locked": cell.kind in ("setup", "check", "hidden"),
        "task": False,
    }
    return {**metadata, "points": cell.options["points"]} if graded else metadata
