"""Pieces of text that no merge crosses, in GPT-2's form (chapter 01)."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import regex

from .config import describe

__all__ = ["check_text", "settled", "split"]

# GPT-2's rule for pieces (Radford et al. 2019): English endings, then runs of letters, of digits and of other signs,
# each with at most one space before it, then white space. No merge crosses from one piece to the next.
_PIECES = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
# Places where a piece always ends, whatever text comes later: a stream of text may be cut there.
_SETTLED = regex.compile(r"(?<=\p{L})(?=\P{L})|(?<=\p{N})(?=\P{N})|(?<=\S)(?=\s)")


def check_text(text: Any) -> None:
    """Raise ValueError unless ``text`` is a str."""
    if not isinstance(text, str):
        raise ValueError(f"text must be a str; received {describe(text)}. Decode bytes with .decode('utf-8') first.")


def split(text: str, special_tokens: tuple[str, ...] = ()) -> list[tuple[str, bool]]:
    """Cut a text into special tokens (True) and pieces (False); together they are the text.

    Example:
        >>> split("It's dawn.<|end|>", ("<|end|>",))
        [('It', False), ("'s", False), (' dawn', False), ('.', False), ('<|end|>', True)]
    """
    found: list[tuple[str, bool]] = []
    start = 0
    for match in _special_pattern(special_tokens).finditer(text):
        found += [(piece, False) for piece in _PIECES.findall(text[start : match.start()])]
        found.append((match[0], True))
        start = match.end()
    return found + [(piece, False) for piece in _PIECES.findall(text[start:])]


@lru_cache(maxsize=64)
def _special_pattern(special_tokens: tuple[str, ...]) -> Any:
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return regex.compile("|".join(map(regex.escape, longest_first)) or r"(?!)")  # (?!) matches nowhere


def settled(lines: Iterable[str], special_tokens: tuple[str, ...] = ()) -> Iterator[str]:
    """Cut a text that comes in parts only where a piece or a special token ends, whatever comes later.

    Args:
        lines: the parts of a text, cut anywhere.
        special_tokens: as in ``split``.

    Yields:
        Parts of the text; to ``split`` each gives the pieces that ``split`` of the whole text has.

    Raises:
        ValueError: for a part that is not a str.

    Example:
        >>> list(settled(["no", "t ", " a"]))
        ['not', '  a']
    """
    reach = max((len(text) for text in special_tokens), default=1) - 1  # a special token may have begun so far back
    waiting = ""
    for line in lines:
        check_text(line)
        waiting += line
        known, cut = len(waiting) - reach, 0
        for match in _special_pattern(special_tokens).finditer(waiting):
            if match.start() < known:
                cut = match.end()
        for match in _SETTLED.finditer(waiting, cut):
            if match.start() <= known:
                cut = match.start()
        if cut:
            yield waiting[:cut]
        waiting = waiting[cut:]
    if waiting:
        yield waiting
