"""What an examiner needs to know: of an instructor's notebook, and of one submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Examination", "Job", "Step"]


@dataclass(frozen=True)
class Examination:
    """An instructor's notebook, as the examiner sees it.

    Args:
        setup: the locked cells that are not graded, each with its source.
        exercises: for each exercise, its target in the package.
        predictions: the names of the predictions.
        checks: for each graded cell, its source.
        about: for each graded cell, the exercise or prediction that it looks at.
        examples: the sources of the worked examples.
        cells: the sources of the cells that most submissions run, to find out what they import.
    """

    setup: dict[str, str] = field(default_factory=dict)
    exercises: dict[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()
    checks: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    examples: frozenset[str] = frozenset()
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One code cell: its place in the notebook, and either a check's key or the learner's source."""

    place: int
    check: str | None
    source: str


@dataclass(frozen=True)
class Job:
    """One submission: its code cells in order, and the other files that were handed in."""

    steps: tuple[Step, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
