"""Learners' names, which are folder names: what nbgrader can work with, and how any of them is shown."""

from __future__ import annotations

import os

__all__ = ["fault_of_name", "plain_cell", "shown"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def fault_of_name(learner: str) -> str | None:
    """Why a folder's name cannot be a learner's, in one line, or None.

    Example:
        >>> fault_of_name("张 三 (2)"), fault_of_name(" lin")
        (None, "the folder's name begins or ends with a space, which nbgrader cuts off. Remedy: rename it")
    """
    if learner != learner.strip():
        return "the folder's name begins or ends with a space, which nbgrader cuts off. Remedy: rename it"
    if shown(learner) != learner:
        return "the folder's name is not UTF-8, or holds what cannot be printed. Remedy: rename it"
    return None


def shown(name: str) -> str:
    r"""A name as it can be printed and written everywhere; what cannot becomes an escape.

    Example:
        >>> shown("张三"), shown("\udcd5\udcc5"), shown("a\x1b[1m")
        ('张三', '\\xd5\\xc5', 'a\\x1b[1m')
    """
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def plain_cell(text: str) -> str:
    """A text for a cell of a spreadsheet, which would take one that begins like a formula for a formula.

    Example:
        >>> plain_cell("=1+2"), plain_cell("lin")
        ("'=1+2", 'lin')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
