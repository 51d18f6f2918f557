"""The second table of docs/grading.md says what tests/hostile.py hands in, and what tests/test_engine_survival.py holds."""

from __future__ import annotations

import re
from pathlib import Path

from hostile import FORGERIES, SURVIVAL

ROOT = Path(__file__).resolve().parents[1]


def test_the_table_of_hostile_submissions_is_that_of_the_tests() -> None:
    text = (ROOT / "docs" / "grading.md").read_text(encoding="utf-8")
    table = text.partition("<!-- hostile table -->")[2].partition("<!-- end of the hostile table -->")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines() if "| `" in line]
    found = {row[0].strip("`"): (set(re.findall(r"`([\w-]+)`", row[2])), row[2], row[3]) for row in rows}
    assert found.keys() == {**SURVIVAL, **FORGERIES}.keys()
    for name, one in {**SURVIVAL, **FORGERIES}.items():
        lost, text, said = found[name]
        assert lost == (set() if one.lost == "all" else set(one.lost.split()))
        assert text.startswith("all") == (one.lost == "all")
        assert (said == "–") == (not one.said)
