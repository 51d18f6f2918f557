"""Pieces of text that no merge crosses, in GPT-2's form (chapter 01)."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import regex

from .arguments import describe

__all__ = ["check_special_tokens", "check_text", "check_unicode", "settled", "split"]

# GPT-2's rule for pieces (Radford et al. 2019): English endings, then runs of letters, of digits and of other signs,
# each with at most one space before it, then white space. No merge crosses from one piece to the next.
_PIECES = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
# Places where a piece always ends, whatever text comes later: a stream of text may be cut there.
_SETTLED = regex.compile(r"(?<=\p{L})(?=\P{L})|(?<=\p{N})(?=\P{N})|(?<=\S)(?=\s)")


def check_text(text: Any) -> None:
    """Raise ValueError unless ``text`` is a str."""
    if not isinstance(text, str):
        raise ValueError(f"text must be a str; received {describe(text)}. Decode bytes with .decode('utf-8') first.")


def check_unicode(text: Any, name: str = "text") -> None:
    """Raise ValueError unless ``text`` is a str that UTF-8 can write."""
    check_text(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has half a surrogate pair, {text[error.start]!r}, at place {error.start}, which UTF-8 cannot "
            "write. Read the text with the encoding it was written in."
        ) from None


def check_special_tokens(special_tokens: Any) -> list[str]:
    """Return a list of the special tokens; raise ValueError unless they are different texts, none of them empty.

    Example:
        >>> check_special_tokens("<s>")
        Traceback (most recent call last):
        ...
        ValueError: special_tokens must be several texts, such as a list; received the one text '<s>', which would be \
taken for its letters. Pass ['<s>'].
    """
    if isinstance(special_tokens, str):
        raise ValueError(
            f"special_tokens must be several texts, such as a list; received the one text {special_tokens!r}, which "
            f"would be taken for its letters. Pass [{special_tokens!r}]."
        )
    texts = list(special_tokens) if hasattr(special_tokens, "__iter__") else [special_tokens]
    for text in texts:
        if not isinstance(text, str) or not text or texts.count(text) > 1:
            raise ValueError(f"special tokens must be different texts, none of them empty; received {text!r}.")
        check_unicode(text, "a special token")
    return texts


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
    check_special_tokens(special_tokens)
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
    special = _special_pattern(special_tokens)
    reach = max((len(text) for text in special_tokens), default=1) - 1  # a special token may have begun so far back
    searched: list[str] = []  # text without a settled place, so that each character is looked at only a few times
    waiting = ""
    for line in lines:
        check_text(line)
        waiting += line
        cut = _last_settled(waiting, special, len(waiting) - reach)
        if cut:
            yield "".join([*searched, waiting[:cut]])
            searched, waiting = [], waiting[cut:]
        done = len(waiting) - reach - 1  # a settled place needs the character before it
        if done > 0:
            searched.append(waiting[:done])
            waiting = waiting[done:]
    if searched or waiting:
        yield "".join([*searched, waiting])


def _last_settled(text: str, special: Any, known: int) -> int:
    """The last place of ``text``, up to ``known``, where a piece or a special token ends; 0 when there is none."""
    cut = 0
    for match in special.finditer(text):
        if match.start() < known:
            cut = match.end()
    for match in _SETTLED.finditer(text, cut):
        if match.start() <= known:
            cut = match.start()
    return cut
