"""Hold the prose against the executed notebook: every quantity is shown, every claim has something to see."""

from __future__ import annotations

import html
import re

from nbformat import NotebookNode

from hero_course.chapter import Chapter
from hero_course.prose import matches, quantities, values_asserted, values_shown

__all__ = ["check_claims_shown", "check_quantities"]


def check_quantities(chapter: Chapter, executed: NotebookNode) -> None:
    """Every decimal and every integer of three digits or more in a formula is a value that a cell shows.

    Raises:
        SourceError: for a quantity of the prose or of a claim that no cell asserts or displays.
    """
    values: set[float] = set()
    for cell in executed.cells:
        if cell.cell_type == "code":
            values |= values_asserted(cell.source) | values_shown(_text(cell))
    texts = [(cell.line, cell.source, f"the prose {cell.key!r}") for cell in chapter.of_kind("prose")]
    for claim in chapter.front.get("claims") or []:
        line = chapter.line_of(f"id: {claim['id']}")
        texts += [(line, claim[lang], f"the claim {claim['id']}") for lang in ("zh", "en")]
    for line, text, where in texts:
        for quantity in quantities(text):
            if not matches(quantity, values):
                raise chapter.error(
                    line, f"no cell asserts or displays {quantity.text}, which {where} states",
                    "show the number in a cell, or correct it",
                )


def check_claims_shown(chapter: Chapter, executed: NotebookNode) -> None:
    """The cell of each claim asserts something or has an output.

    Raises:
        SourceError: for a claim whose cell does neither.
    """
    cells = {cell.id: cell for cell in executed.cells}
    for claim in chapter.front.get("claims") or []:
        cell = cells[claim["cell"]]
        if not cell.outputs and "assert" not in cell.source:
            raise chapter.error(
                chapter.line_of(f"id: {claim['id']}"),
                f"the cell {claim['cell']!r} of the claim {claim['id']} neither asserts nor shows anything",
                "assert the claim there",
            )


def _text(cell: NotebookNode) -> str:
    """What a cell's outputs say, as plain text."""
    parts: list[str] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif "data" in output:
            data = output.data
            parts.append(str(data.get("text/plain", "")))
            parts.append(html.unescape(re.sub(r"<[^>]*>", " ", str(data.get("text/html", "")))))
        elif output.output_type == "error":
            parts.append(output.evalue)
    return "\n".join(parts)
