"""Run a class's submissions ahead of nbgrader, which then finds the outputs ready."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from hero_course.engine.examination import Job
from hero_course.engine.execute import digest, job_of
from hero_course.engine.patience import OWN_SECONDS, at_most
from hero_course.engine.plan import examination_of
from hero_course.engine.restore import instructors, restore
from hero_course.engine.salvage import salvage
from hero_course.engine.session import Cell

__all__ = ["Ahead", "Runs"]


class Runs(Protocol):
    """Whatever runs submissions: lanes of this machine, or a cluster."""

    def submit(self, job: Job) -> Future[list[Cell]]: ...


class Ahead:
    """Keeps a few submissions of one chapter under way, in the order in which nbgrader will ask for them.

    Args:
        runs: what runs them.
        source: the assignment's folder under ``source/``.
        submitted: the course's folder ``submitted/``.
        examples: which worked examples are run, see `steps_of`.
        most: how many are under way or waiting to be asked for; the memory that is used does not grow with the class.
    """

    def __init__(self, runs: Runs, source: Path, submitted: Path, examples: str, most: int) -> None:
        self._runs, self._source, self._submitted = runs, source, submitted
        self._examples, self._most = examples, most
        self._instructor = instructors(source)
        self._examination = examination_of(self._instructor)
        self._ready: dict[str, Future[list[Cell]]] = {}

    def through(self, learners: Iterable[str]) -> Iterator[str]:
        """The learners, one after the other, their submissions and the next few under way."""
        waiting: deque[str] = deque()
        rest = iter(learners)
        while True:
            while len(waiting) < self._most and (learner := next(rest, None)) is not None:
                with suppress(Exception):  # nbgrader's own steps will meet it, and say so of this learner alone
                    self._start(learner)
                waiting.append(learner)
            if not waiting:
                return
            yield waiting.popleft()

    def run(self, job: Job) -> list[Cell]:
        """The outputs of a submission, for `HeroExecute`."""
        future = self._ready.pop(digest(job), None) or self._runs.submit(job)
        return future.result()

    def _start(self, learner: str) -> None:
        folder = self._submitted / learner / self._source.name
        with at_most(OWN_SECONDS):
            found = salvage(folder, self._source)
            if found.reason is None:
                notebook, _ = restore(found.notebook, self._instructor)
                job = job_of(notebook, self._examination, folder, self._source, self._examples)
                name = digest(job)
                if name not in self._ready:
                    self._ready[name] = self._runs.submit(job)
