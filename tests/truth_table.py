"""The tables of docs/grading.md: read them, and write the rows of known mistakes anew.

    python tests/truth_table.py     after the chapter's checks or misconceptions.py changed

The rows of known mistakes are what the rehearsal says; the test grades them with nbgrader and compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import nbformat

from hero_course.rehearsal import rehearse, without_examples

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "grading.md"
CHAPTER = "05_decoder_block"
ENGINES = ("engine", "stock")
BEGIN, END = "<!-- truth table -->", "<!-- end of the truth table -->"
HOSTILE = ("<!-- hostile table -->", "<!-- end of the hostile table -->")
NO_RESULT, NOT_RUN = "no result", "not run"
ITS_NAME = "its name"


class Row(NamedTuple):
    """One kind of submission: what it is, and for each engine the cells that score 0 and a part of the message."""

    what: str
    zeros: dict[str, str]
    message: dict[str, str]

    def lost(self, engine: str, graded: set[str]) -> set[str]:
        """The graded cells that score 0; every other one is full."""
        zeros = self.zeros[engine]
        return {"all": graded, "none": set()}.get(zeros, set(re.findall(r"`([\w-]+)`", zeros)))


def read_rows(begin: str = BEGIN, end: str = END) -> dict[str, Row]:
    """The rows between two marks by the submission's name, in order."""
    table = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    rows = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in table.splitlines() if "| `" in line]
    return {name.strip("`"): _row(*cells) for name, *cells in rows}


def _row(what: str, stock: str, engine: str, message: str) -> Row:
    """A row as the page has it: ``same``, or what differs and why; ``message (stock: another)``."""
    said, _, stock_said = message.partition(" (stock: ")
    zeros = {"stock": stock.partition(": ")[0], "engine": stock if engine == "same" else engine.partition(": ")[0]}
    return Row(what, zeros, {"stock": stock_said.removesuffix(")") or said, "engine": said})


def write_mistakes() -> None:
    """Put the rows of the chapter's known mistakes, as the rehearsal sees them, below the others."""
    from submissions import Class

    room = Class(ROOT, CHAPTER)
    folder = ROOT / "source" / "zh" / CHAPTER
    whole = nbformat.read(folder / f"{CHAPTER}.ipynb", as_version=4)
    runs = rehearse(without_examples(whole), folder, {m.id: {m.exercise: m.code} for m in room.mistakes.values()})
    lines = []
    for mistake in room.mistakes.values():
        lost = [f"`{key}`" for key, run in runs[mistake.id].items() if run.graded and not run.passed]
        lines.append(f"| `{mistake.id}` | {mistake.name} | {', '.join(lost)} | same | {ITS_NAME} |")
    page = PAGE.read_text(encoding="utf-8")
    head, begin, rest = page.partition(BEGIN)
    table, end, tail = rest.partition(END)
    kept = [line for line in table.strip().splitlines() if not re.match(r"\| `\w+__", line)]
    PAGE.write_text(head + begin + "\n\n" + "\n".join([*kept, *lines]) + "\n\n" + end + tail, encoding="utf-8")


if __name__ == "__main__":
    write_mistakes()
