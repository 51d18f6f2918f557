"""Find the reference solutions in the package, cut them out, and paste them into exercises.

A solution stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` inside one function or method.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from hero_course.errors import SourceError

__all__ = ["BEGIN", "END", "Solution", "find_markers", "find_solutions", "stub", "without_solutions"]

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HIDDEN_BEGIN, HIDDEN_END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
_MARKERS = (BEGIN, END, HIDDEN_BEGIN, HIDDEN_END)
_LIKENESS = 0.8  # of a comment to a marker, from which on it must have been meant as one


@dataclass(frozen=True)
class Solution:
    """One solution region and the function that holds it.

    ``target`` is the function's place in the package (``model.TransformerBlock.forward``); ``begin`` and
    ``end`` are the lines of its markers, ``first`` the line of its ``def``, all counted from 1.
    """

    target: str
    path: Path
    first: int
    begin: int
    end: int
    source: str

    @property
    def owner(self) -> str:
        """What the notebook names in ``@replaces``: the module's name, or the class's."""
        return self.target.split(".")[-2]

    @property
    def function(self) -> str:
        """The function's own name."""
        return self.target.split(".")[-1]

    @property
    def body(self) -> str:
        """The lines between the markers, without their indentation."""
        lines = self.source.splitlines()
        return textwrap.dedent("\n".join(lines[self.begin - self.first + 1 : self.end - self.first]))


def find_markers(path: Path, text: str) -> list[tuple[int, str]]:
    """The lines of a file that are markers of solutions or hidden checks, as pairs of line and marker.

    Raises:
        SourceError: for a line that is almost a marker, and for one without its partner.
    """
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare in _MARKERS:
            found.append((number, bare))
        elif meant := _meant(bare):
            raise SourceError(path, number, f"misspelt marker {bare!r}", f"write {meant!r}")
    for index, (number, marker) in enumerate(found):
        partner = found[index + 1][1] if index + 1 < len(found) else None
        begins = index % 2 == 0
        if begins != ("BEGIN" in marker) or (begins and partner != marker.replace("BEGIN", "END")):
            raise SourceError(path, number, f"{marker!r} without its partner", "begin and end each region once")
    return found


def _meant(text: str) -> str | None:
    """The marker that a comment must have been meant as, or None."""
    if not text.startswith("#"):
        return None
    bare = text.lstrip("# ").upper()
    ratios = {marker: SequenceMatcher(None, bare, marker.lstrip("# ")).ratio() for marker in _MARKERS}
    best = max(ratios, key=ratios.__getitem__)
    return best if ratios[best] >= _LIKENESS else None


def find_solutions(package: Path) -> dict[str, Solution]:
    """All solution regions of the package, by target.

    Raises:
        SourceError: for a bad marker, a region outside a function, or two in one function.
    """
    found: dict[str, Solution] = {}
    for path in sorted(package.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        markers = find_markers(path, text)
        for line, marker in markers:
            if marker not in (BEGIN, END):
                raise SourceError(path, line, f"{marker!r} in the package", "keep hidden checks in chapter.md")
        functions = list(_functions(ast.parse(text), path.stem))
        for (begin, _), (end, _) in zip(markers[::2], markers[1::2], strict=True):
            holders = [(name, node) for name, node in functions if node.lineno < begin <= _last_line(node, text)]
            if not holders:
                raise SourceError(path, begin, "a solution region outside a function", "move it into one")
            target, node = holders[-1]
            if target in found:
                raise SourceError(path, begin, f"a second solution region in {target}", "one function, one region")
            lines = text.splitlines()[node.lineno - 1 : max(end, node.end_lineno or end)]
            found[target] = Solution(target, path, node.lineno, begin, end, textwrap.dedent("\n".join(lines)))
    return found


def stub(key: str) -> str:
    """The line that stands for an answer not written yet."""
    return f"raise NotImplementedError({key!r})"


def without_solutions(text: str, solutions: Mapping[int, str | None]) -> str:
    """A file's text with its regions resolved.

    Args:
        text: the file.
        solutions: for the line of each BEGIN marker, the key of the exercise whose stub takes the place of
            the region, or None to keep the solution and drop only the markers.
    """
    out: list[str] = []
    stubbed = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == BEGIN:
            key = solutions[number]
            stubbed = key is not None
            if key is not None:
                out.append(line[: len(line) - len(line.lstrip())] + stub(key))
        elif line.strip() == END:
            stubbed = False
        elif not stubbed:
            out.append(line)
    return "\n".join(out) + "\n"


def _functions(tree: ast.AST, prefix: str):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}.{node.name}")
        elif isinstance(node, ast.FunctionDef):
            yield f"{prefix}.{node.name}", node


def _last_line(node: ast.FunctionDef, text: str) -> int:
    """The function's last line, comments at its depth included: ``end_lineno`` stops before them."""
    last = node.end_lineno or node.lineno
    for number, line in enumerate(text.splitlines()[last:], last + 1):
        if line.strip() and len(line) - len(line.lstrip()) <= node.col_offset:
            break
        last = number if line.strip() else last
    return last
