"""What an examiner needs to know of an instructor's notebook."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Examination"]


@dataclass(frozen=True)
class Examination:
    """An instructor's notebook, as the examiner sees it.

    Args:
        setup: the source of the locked cells that are not graded.
        exercises: for each exercise, its target in the package.
        predictions: the names of the predictions.
        checks: for each graded cell, its source.
        about: for each graded cell, the exercise or prediction that it looks at.
        cells: the source of every code cell, to find out what they import.
    """

    setup: str
    exercises: dict[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()
    checks: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    cells: tuple[str, ...] = ()
