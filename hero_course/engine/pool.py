"""Run submissions: the two warm parents of a chapter, and several pairs of them side by side."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

from hero_course.engine.examination import Examination
from hero_course.engine.frames import receive, send
from hero_course.engine.limits import Limits
from hero_course.engine.plan import Job
from hero_course.engine.protocol import decode
from hero_course.engine.session import NotGradedError, Session
from hero_course.engine.warm import Stage, WarmParent, WarmParentGoneError

__all__ = ["Lane", "Pool"]


class Lane:
    """One pair of warm parents; it grades one submission at a time.

    Args:
        source: the assignment's folder under ``source/``, with the edition.
        examination: its instructor's notebook.
        limits: of each submission.
        sandboxed: whether workers run in bubblewrap.
        absent: paths that no worker may see; looked for from inside.
    """

    def __init__(
        self, source: Path, examination: Examination, limits: Limits, sandboxed: bool = True, absent: Sequence[str] = ()
    ) -> None:
        self._examination, self._limits = examination, limits
        self._sandboxed, self._absent = sandboxed, absent
        self._stage = Stage(source)
        self._files = self._stage.files
        self._parents: dict[str, WarmParent] = {}
        try:
            for role in ("worker", "examiner"):
                self._parents[role] = self._start(role)
        except BaseException:
            self.close()
            raise

    def modules(self) -> list[str]:
        """What the instructor's notebook imports while it runs; it runs once, in the examiner's place."""
        connection, pid = self._parents["examiner"].fork()
        try:
            send(connection, pickle.dumps(self._examination))
            send(connection, pickle.dumps(None))
            return decode(receive(connection, 1 << 20, time.monotonic() + 180))["modules"]
        except (EOFError, TimeoutError):
            return []
        finally:
            connection.close()
            self._parents["examiner"].end(pid)

    def prepare(self, modules: Sequence[str]) -> None:
        """Import modules in both warm parents, so that no child has to."""
        for role, parent in self._parents.items():
            if not parent.prepare(modules):
                parent.close()  # each child imports for itself, then
                self._parents[role] = self._start(role)

    def _start(self, role: str) -> WarmParent:
        return WarmParent(role, self._stage, self._limits, self._sandboxed, self._absent)

    def grade(self, job: Job) -> list[list[dict[str, Any]]]:
        """The outputs of each step of a submission.

        Raises:
            NotGradedError: if the grader broke.
        """
        job = Job(job.steps, {**job.files, **self._files})
        return Session(self._parents["worker"], self._parents["examiner"], self._examination, self._limits, job).run()

    def close(self) -> None:
        """End the warm parents and remove what they were given."""
        for parent in self._parents.values():
            parent.close()
        self._parents = {}
        self._stage.close()


class Pool:
    """Several lanes, which grade side by side; each starts when it is first needed.

    Args:
        lanes: how many.
        make: makes a lane.
    """

    def __init__(self, lanes: int, make: Callable[[], Lane]) -> None:
        self.lanes = lanes
        self._make, self._idle = make, SimpleQueue[Lane]()
        self._made: list[Lane] = []
        self._modules: list[str] | None = None
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(lanes)

    def warm(self) -> None:
        """Start all lanes now, and wait for them."""
        for lane in list(self._threads.map(lambda _: self._new_lane(), range(self.lanes))):
            self._idle.put(lane)

    def submit(self, job: Job) -> Future[list[list[dict[str, Any]]]]:
        """Grade a submission as soon as a lane is free."""
        return self._threads.submit(self._grade, job)

    def _grade(self, job: Job) -> list[list[dict[str, Any]]]:
        for _ in range(2):
            try:
                lane = self._idle.get_nowait()
            except Empty:
                lane = self._new_lane()
            try:
                outputs = lane.grade(job)
            except WarmParentGoneError:
                lane.close()  # once more, in a new lane
                continue
            except NotGradedError:
                self._idle.put(lane)
                raise
            self._idle.put(lane)
            return outputs
        raise NotGradedError("the warm parents do not stay alive")

    def _new_lane(self) -> Lane:
        """A lane that has imported all that the chapter needs; the first one finds out what that is."""
        lane = self._make()
        self._made.append(lane)
        with self._lock:
            if self._modules is None:
                self._modules = lane.modules()
        lane.prepare(self._modules)
        return lane

    def close(self) -> None:
        """Finish what is under way and end all lanes."""
        self._threads.shutdown(cancel_futures=True)
        for lane in self._made:
            lane.close()
