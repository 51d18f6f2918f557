"""Diagnosis: which known mistake gives exactly these values.

A fingerprint is the short record of one outcome: a number to six digits, a shape with one number that
depends on every element, or the type of an exception. The build keeps the fingerprints that each known
mistake leaves on the labels of a check; a mistake is named only when every label agrees with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Number
from typing import Any

import torch

__all__ = ["agrees", "fingerprint", "named"]

Fingerprint = Any  # made of str, float and list, so that JSON and a Python literal can hold it


def fingerprint(value: Any) -> Fingerprint:
    """A short record of a value that a check looked at.

    Args:
        value: a tensor, a number, a string, None, an exception, or a tuple or list of them.

    Returns:
        Strings, floats and lists only: ``[shape, number]`` for a tensor, where the number weighs every
        element differently; six significant digits for a number; a type's name for anything else.

    Example:
        >>> fingerprint(2 / 3), fingerprint(ValueError("x")), fingerprint((None, "a"))
        (0.666667, 'ValueError', ['None', "'a'"])
        >>> fingerprint(torch.eye(2))
        ['2x2', -0.113341]
    """
    if isinstance(value, torch.Tensor):
        shape = "x".join(str(size) for size in value.shape) or "scalar"
        return [shape, _six_digits(_projection(value))]
    if isinstance(value, BaseException):
        return type(value).__name__
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


def named(outcomes: Mapping[str, Fingerprint], known: Mapping[str, Mapping[str, Fingerprint]]) -> list[str]:
    """The names of the known mistakes that agree with every label of a check.

    Args:
        outcomes: what the check saw, a fingerprint for each label.
        known: for each known mistake's name, what it leaves on each label.

    Example:
        >>> named({"g(-1)": 0.0}, {"ReLU": {"g(-1)": 0.0}, "tanh": {"g(-1)": -0.158808}})
        ['ReLU']
    """
    return [
        name
        for name, marks in known.items()
        if marks.keys() == outcomes.keys() and all(agrees(marks[label], outcomes[label]) for label in marks)
    ]


def _projection(tensor: torch.Tensor) -> float:
    """One number that every element moves: weights cos 1, cos 2, … in row-major order."""
    flat = tensor.detach().to("cpu", torch.float64).flatten()
    weights = torch.cos(torch.arange(1, len(flat) + 1, dtype=torch.float64))
    return float((flat * weights).sum())


def _six_digits(number: Any) -> float | str:
    number = float(number)
    return float(f"{number:.6g}") if math.isfinite(number) else str(number)
