"""Diagnosis: which known mistake gives exactly these values.

A fingerprint is the short record of one outcome: a number to six digits, a shape with one number that depends on
every element, or an exception with its text and place. The build keeps the fingerprints that each known mistake
leaves on the labels of a check, as far as no other mistake leaves the same ones and they say enough to tell a
mistake by (`telling`); a mistake is named only when every label agrees with it.
"""

from __future__ import annotations

import dis
import linecache
import math
import re
import traceback
from collections.abc import Mapping
from numbers import Number
from typing import Any

import torch

__all__ = ["SUPPLIED", "agrees", "alike", "by_hand", "fingerprint", "learners_line", "named", "telling"]

Fingerprint = Any  # made of str, float and list, so that JSON and a Python literal can hold it
# File names of the cells that were supplied, the set-up and the checks: what stands in them is no learner's.
SUPPLIED: set[str] = set()
_YES_OR_NO = 5  # so many labels that only say yes or no tell a mistake by their pattern
_SHAPE = re.compile(r"\d+(x\d+)*|scalar")
_RAISED = "raise "  # before an exception's type where the answer raised it by hand: its text is anybody's


def fingerprint(value: Any) -> Fingerprint:
    """A short record of a value that a check looked at.

    Args:
        value: a tensor, a number, a string, None, an exception, or a tuple or list of them.

    Returns:
        Strings, floats and lists only: ``[shape, number]`` for a tensor, where the number weighs every
        element differently, and two more for the places of NaN and of infinities where there are any; six
        significant digits for a number; type, text without digits, and place for an exception; a type's name for
        anything else.

    Example:
        >>> fingerprint(2 / 3), fingerprint((None, "a")), fingerprint(IndexError("no place 7"))
        (0.666667, ['None', "'a'"], 'IndexError in the check: no place #')
        >>> fingerprint(torch.eye(2))
        ['2x2', -0.113341]
        >>> fingerprint(torch.tensor([math.nan, 1.0]))
        ['2', -0.416147, 0.540302, 0.0]
    """
    if isinstance(value, torch.Tensor):
        shape = "x".join(str(size) for size in value.shape) or "scalar"
        return [shape, *_numbers_of(value)]
    if isinstance(value, BaseException):
        return _of_exception(value)
    if isinstance(value, (tuple, list)):
        return [fingerprint(one) for one in value]
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, Number):
        return _six_digits(value)
    return type(value).__name__


def agrees(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether two fingerprints are the same but for the last of their six digits.

    Example:
        >>> agrees([0.666667, "2x2"], [0.666666, "2x2"]), agrees(0.1586, 0.1587)
        (True, False)
    """
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(agrees(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=2e-6, abs_tol=2e-9)
    return type(one) is type(other) and one == other


def alike(one: Mapping[str, Fingerprint], other: Mapping[str, Fingerprint]) -> bool:
    """Whether two answers leave the same on the same labels of a check."""
    return one.keys() == other.keys() and all(agrees(one[label], other[label]) for label in one)


def named(outcomes: Mapping[str, Fingerprint], known: Mapping[str, Mapping[str, Fingerprint]]) -> str | None:
    """The name of the one known mistake that agrees with every label of a check, or None.

    Args:
        outcomes: what the check saw, a fingerprint for each label.
        known: for each known mistake's name, what it leaves on each label.

    Example:
        >>> known = {"ReLU": {"g(-1)": 0.0}, "tanh": {"g(-1)": -0.158808}}
        >>> named({"g(-1)": 0.0}, known), named({"g(-1)": 0.5}, known)
        ('ReLU', None)
    """
    found = [name for name, marks in known.items() if alike(marks, outcomes)]
    return found[0] if len(found) == 1 else None


def telling(marks: Mapping[str, Fingerprint], right: Mapping[str, Fingerprint]) -> bool:
    """Whether what a mistake leaves on a check's labels says enough to tell it by.

    A number, a text or an exception of the machine's does, where it is not what the right answer leaves. NaN, None, yes
    and no, a type, and an exception that an answer raises by hand are what many mistakes have in common: they do only
    as a pattern over five labels or more, and not where all are the same.

    Args:
        marks: the mistake's fingerprints on the labels of a check.
        right: those of the right answer.

    Example:
        >>> telling({"g(-1)": 0.0}, {"g(-1)": -0.158655}), telling({"same": "False"}, {"same": "True"})
        (True, False)
    """
    wrong = {label: mark for label, mark in marks.items() if label not in right or not agrees(mark, right[label])}
    if any(_has_content(mark) for mark in wrong.values()):
        return True
    return len(wrong) < len(marks) >= _YES_OR_NO and len({str(mark) for mark in marks.values()}) > 1


def learners_line(error: BaseException) -> tuple[int, str] | None:
    """The deepest line of the learner's own cells that an exception passed through, number and text; or None."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        name = frame.f_code.co_filename
        if frame.f_globals.get("__name__") == "__main__" and name not in SUPPLIED:
            return line, linecache.getline(name, line).strip()
    return None


def by_hand(error: BaseException) -> bool:
    """Whether a ``raise`` in the notebook raised an exception, and no operation that failed."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_globals.get("__name__") != "__main__":
        return False
    steps = {step.offset: step.opname for step in dis.get_instructions(last.tb_frame.f_code)}
    return steps.get(last.tb_lasti, "").startswith(("RAISE_VARARGS", "RERAISE"))


def _of_exception(error: BaseException) -> str:
    """Type, place and text of an exception; where it came from another process, it brings the first two along."""
    kind = type(error).__name__
    if getattr(error, "by_hand", None) or by_hand(error):
        return _RAISED + kind
    inside = getattr(error, "learners_line", None) or learners_line(error)
    text = re.sub(r"0x[0-9a-f]+|\d+", "#", " ".join(str(error).split()))[:80]
    return f"{kind} in the {'answer' if inside else 'check'}: {text}"


def _has_content(mark: Fingerprint) -> bool:
    """Whether a fingerprint holds a number or a text that a mistake may be known by."""
    if isinstance(mark, float):
        return True
    if isinstance(mark, list):
        if len(mark) == 4 and isinstance(mark[0], str) and _SHAPE.fullmatch(mark[0]):
            return mark[1] != 0.0  # else nothing in the tensor is finite
        return not mark or any(_has_content(one) for one in mark)
    return mark[:1] in ("'", '"') or " in the " in mark or bool(_SHAPE.fullmatch(mark))


def _numbers_of(tensor: torch.Tensor) -> list[float]:
    """A tensor's finite entries as one number; where some are not, also the places of NaN and of infinities."""
    flat = tensor.detach().to("cpu", torch.float64).flatten()
    finite = torch.where(flat.isfinite(), flat, 0.0)
    if flat.isfinite().all():
        return [_six_digits(_projection(finite))]
    infinities = torch.where(flat.isinf(), flat.sign(), 0.0)
    return [_six_digits(_projection(one)) for one in (finite, flat.isnan().double(), infinities)]


def _projection(flat: torch.Tensor) -> float:
    """One number that every element moves: weights cos 1, cos 2, … in row-major order."""
    weights = torch.cos(torch.arange(1, len(flat) + 1, dtype=torch.float64))
    return float((flat * weights).sum())


def _six_digits(number: Any) -> float | str:
    number = float(number)
    return float(f"{number:.6g}") if math.isfinite(number) else str(number)
