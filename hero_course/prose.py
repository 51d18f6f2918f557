"""What the prose says in formulas, and whether it renders: read with markdown-it, as CommonMark with ``$``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

__all__ = ["Quantity", "formulas", "matches", "quantities", "render_faults", "values_asserted", "values_shown"]

_PARSER = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:\s*\\times\s*10\^\{?(?P<power>-?\d+)\}?)?")
_SHOWN = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
_CHECKS = {"close", "equal", "shape", "predicted", "isclose", "allclose", "assert_close", "approx"}


@dataclass(frozen=True)
class Quantity:
    """A number that the prose states: its text, its size, and half a unit of its last digit."""

    text: str
    value: float
    tolerance: float


def formulas(markdown: str) -> Counter[str]:
    r"""How often each formula stands in a piece of prose, spaces aside.

    Example:
        >>> sorted(formulas(r"若 $x=1$ 且 $x = 1$，则 `$5`。").items())
        [('x=1', 2)]
    """
    math = (t.content for t in _tokens(markdown) if t.type.startswith("math"))
    return Counter(re.sub(r"\s+", "", content) for content in math)


def quantities(markdown: str) -> Iterator[Quantity]:
    r"""The decimals, and the integers of three digits or more, that stand inside formulas.

    Example:
        >>> [q.value for q in quantities(r"$(0.92, 3)$, $107{,}776$, $4.73\times10^{-4}$ and 2026")]
        [0.92, 107776.0, 0.000473]
    """
    for token in _tokens(markdown):
        if token.type.startswith("math"):
            yield from _quantities_in(token.content)


def _quantities_in(formula: str) -> Iterator[Quantity]:
    plain = re.sub(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3})", "", formula)
    for match in _NUMBER.finditer(plain):
        digits = match[0].split("\\")[0].strip()
        decimals = len(digits.partition(".")[2])
        if decimals == 0 and len(digits) < 3:
            continue
        scale = 10.0 ** int(match["power"] or 0)
        yield Quantity(match[0], float(f"{digits}e{match['power'] or 0}"), 0.5 * 10.0**-decimals * scale)


def matches(quantity: Quantity, values: Iterable[float]) -> bool:
    """Whether one of the values is the quantity, to half a unit of its last digit, whatever the sign."""
    slack = quantity.tolerance * (1 + 1e-9) + 1e-15
    return any(abs(abs(value) - quantity.value) <= slack for value in values)


def values_shown(text: str) -> set[float]:
    """The numbers in a cell's output.

    Example:
        >>> sorted(values_shown("total 107,776 of (0.5, -1e-05)"))
        [1e-05, 0.5, 107776.0]
    """
    return {float(match[0].replace(",", "")) for match in _SHOWN.finditer(text)}


def values_asserted(code: str) -> set[float]:
    """The numbers that a cell's asserts and checks compare with."""
    found: set[float] = set()
    for node in ast.walk(ast.parse(code)):
        checking = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHECKS
        if isinstance(node, ast.Assert) or checking:
            constants = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
            found |= {float(v) for v in constants if isinstance(v, (int, float)) and not isinstance(v, bool)}
    return found


def render_faults(markdown: str, lang: str) -> Iterator[tuple[int, str, str]]:
    """What a reader would see go wrong: line within the prose, what it is, what to do."""
    for token in _tokens(markdown):
        if token.type == "text" and "**" in token.content:
            yield token.meta["line"], "a ** that does not render", "put a space or move the punctuation outside"
        if token.type == "text" and re.search(r"(?<!\\)\$", token.content):
            yield token.meta["line"], "a $ without its partner", "close the formula, or write \\$"
        if token.type == "softbreak" and lang == "zh" and _HAN.search(token.meta["around"]):
            yield token.meta["line"], "a paragraph of Chinese on two lines", "join them: the break shows as a space"


def _tokens(markdown: str) -> Iterator[Token]:
    """All tokens, the inline ones with their block's line; a soft break also with the text around it."""
    for block in _PARSER.parse(markdown):
        line = (block.map or [0])[0]
        block.meta["line"] = line
        yield block
        children = block.children or []
        for index, token in enumerate(children):
            token.meta["line"] = line
            if token.type == "softbreak":
                line += 1
                before = children[index - 1].content[-1:] if index else ""
                after = children[index + 1].content[:1] if index + 1 < len(children) else ""
                token.meta["around"] = before + after
            yield token
