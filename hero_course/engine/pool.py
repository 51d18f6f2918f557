"""Run submissions: each process keeps the warm pair of one assignment; a pool runs several at a time from it."""

from __future__ import annotations

import atexit
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from hero_course.engine.assignment import Assignment
from hero_course.engine.examination import Job
from hero_course.engine.pair import NotGradedError, WarmPair
from hero_course.engine.session import Cell
from hero_course.engine.warm import WarmParentGoneError

__all__ = ["Pool", "grade_here", "warm_up"]

_kept: list[tuple[Assignment, WarmPair]] = []  # the last assignment's, or none
_lock = Lock()


def warm_up(assignment: Assignment) -> WarmPair:
    """This process's warm pair of an assignment, ready to grade; the one of another assignment ends."""
    with _lock:
        if not _kept or _kept[0][0] != assignment:
            _end()
            pair = WarmPair(assignment)
            _kept.append((assignment, pair))
            pair.warm_up()
        return _kept[0][1]


def grade_here(assignment: Assignment, job: Job) -> list[Cell]:
    """The outputs of each step of a submission; if the warm pair was lost, once more in a new one.

    Raises:
        NotGradedError: if the grader broke.
        MissingSandboxError: if bubblewrap is missing and wanted.
    """
    for _ in range(2):
        pair = warm_up(assignment)
        try:
            return pair.grade(job)
        except WarmParentGoneError:
            with _lock:
                if _kept and _kept[0][1] is pair:
                    _end()
    raise NotGradedError("the warm parents do not stay alive")


@atexit.register
def _end() -> None:
    while _kept:
        _kept.pop()[1].close()


class Pool:
    """Several submissions of one assignment at a time, on this machine.

    Args:
        assignment: whose.
        lanes: how many at a time.
    """

    def __init__(self, assignment: Assignment, lanes: int) -> None:
        self.lanes = lanes
        self._assignment, self._threads = assignment, ThreadPoolExecutor(lanes)

    def submit(self, job: Job) -> Future[list[Cell]]:
        """Grade a submission as soon as a lane is free."""
        return self._threads.submit(grade_here, self._assignment, job)

    def close(self) -> None:
        """Finish what is under way."""
        self._threads.shutdown(cancel_futures=True)
