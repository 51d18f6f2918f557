"""How long the code of one submission may take: its own cells together, and each exercise by itself.

No exercise can use up another's time. One that has used up its own is not waited for again.
"""

from __future__ import annotations

from collections import Counter

from hero_course.engine.limits import Limits

__all__ = ["Budget", "longest"]

_LEAST = 30  # this part of a cell's time is left to each, however many took too long; to those, when they run again
_ENDS = 4  # so often may one exercise end the process


def longest(limits: Limits, exercises: int) -> float:
    """The most seconds that a submission's code may take, with so many exercises and predictions."""
    return limits.total_seconds + exercises * limits.cell_seconds


class Budget:
    """What is left of each.

    Args:
        limits: what the submission may use.

    Example:
        >>> budget = Budget(Limits(cell_seconds=8, total_seconds=100))
        >>> budget.for_cell(0), budget.cell_took(0, 8.0), budget.for_cell(1), budget.for_cell(0) < 1
        (8, None, 4.0, True)
        >>> budget.exercise_took("gelu", 8.5), budget.for_exercise("gelu"), budget.for_exercise("block")
        (None, 0.0, 8)
    """

    def __init__(self, limits: Limits) -> None:
        self._limits, self._patience, self._left = limits, limits.cell_seconds, limits.total_seconds
        self._slow: set[int] = set()
        self._spent: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()

    def for_cell(self, number: int) -> float:
        """How long a cell of the learner's own may take; after each that took too long the next has half the time."""
        least = self._limits.cell_seconds / _LEAST
        return max(0.0, min(least if number in self._slow else max(least, self._patience), self._left))

    def cell_took(self, number: int, seconds: float) -> None:
        """A cell has run, perhaps for the second time."""
        if seconds >= self.for_cell(number) and number not in self._slow:
            self._slow.add(number)
            self._patience /= 2
        self._left -= seconds

    def for_exercise(self, name: str) -> float:
        """How long the worker may still take for an exercise, all its checks together."""
        return max(0.0, self._limits.cell_seconds - self._spent[name])

    def exercise_took(self, name: str, seconds: float) -> None:
        """The worker has answered, or has not."""
        self._spent[name] += seconds  # type: ignore[assignment]

    def ended_by(self, name: str) -> None:
        """An exercise has ended the process."""
        self._ends[name] += 1

    def refusal(self, name: str) -> str | None:
        """Why nothing is asked of an exercise any more, in both languages; None if it may still be asked."""
        if self._spent[name] >= self._limits.cell_seconds:
            return "这道题在前面的调用里用完了时间 | this exercise used up its time in an earlier call"
        if self._ends[name] >= _ENDS:
            return "这道题太多次让进程结束 | this exercise ended its process too often"
        return None
