"""The warm parents of one assignment: every submission is graded by a child of each."""

from __future__ import annotations

import pickle
import socket
import time
from typing import Any

from hero_course.engine.assignment import Assignment
from hero_course.engine.budget import longest
from hero_course.engine.examination import Job
from hero_course.engine.frames import ProtocolError, receive, send
from hero_course.engine.protocol import decode, encode
from hero_course.engine.session import Cell
from hero_course.engine.warm import Stage, WarmParent

__all__ = ["NotGradedError", "WarmPair"]

_PATIENCE = 120  # seconds that an examiner may take beside a submission's own time
_PARTS = 1 << 24  # of what an examiner says at its end: the outputs of a whole notebook


class NotGradedError(Exception):
    """The grader itself broke: there is no result, which is not the same as no points."""


class WarmPair:
    """A warm parent of workers and one of examiners; several threads may have it grade at the same time.

    Args:
        assignment: whose submissions it grades.
    """

    def __init__(self, assignment: Assignment) -> None:
        self._assignment, self._beside = assignment, assignment.beside
        self._stage = Stage(assignment.files)
        self._parents: dict[str, WarmParent] = {}
        try:
            for role in ("worker", "examiner"):
                self._parents[role] = self._start(role)
        except BaseException:
            self.close()
            raise

    def warm_up(self) -> None:
        """Import what the instructor's notebook imports, before any child has to; it runs once to find out."""
        try:
            modules = self._examine(None)["modules"]
        except NotGradedError:
            return  # the first submission will say so
        for role, parent in self._parents.items():
            if not parent.prepare(modules):
                parent.close()  # each child imports for itself, then
                self._parents[role] = self._start(role)

    def _start(self, role: str) -> WarmParent:
        wanted = self._assignment
        return WarmParent(role, self._stage, wanted.limits, wanted.sandboxed, wanted.absent)

    def grade(self, job: Job) -> list[Cell]:
        """The outputs of each step of a submission.

        Raises:
            NotGradedError: if the grader broke.
            WarmParentGoneError: if the pair is of no use any more.
        """
        return self._examine(Job(job.steps, {**job.files, **self._beside}))["outputs"]

    def _examine(self, job: Job | None) -> dict[str, Any]:
        """Fork an examiner, and workers when it asks for them; what it says at its end."""
        examiner, examiner_pid = self._parents["examiner"].fork()
        workers, worker_pid = self._parents["worker"], 0
        limits, examination = self._assignment.limits, self._assignment.examination
        asked = len(examination.exercises) + len(examination.predictions)
        deadline = time.monotonic() + longest(limits, asked) + _PATIENCE
        try:
            send(examiner, pickle.dumps(examination))
            send(examiner, pickle.dumps(job))
            while (said := decode(receive(examiner, 1 << 32, deadline), _PARTS))["kind"] != "done":
                if said["kind"] == "start":
                    worker, worker_pid = workers.fork()
                    with worker:
                        socket.send_fds(examiner, [b"w"], [worker.fileno()])
                else:
                    status, worker_pid = workers.end(worker_pid), 0
                    send(examiner, encode(status))
        except (OSError, EOFError, ProtocolError) as error:
            raise NotGradedError(f"the examiner broke: {type(error).__name__}: {error}") from error
        finally:
            examiner.close()
            if worker_pid:
                workers.end(worker_pid)
            self._parents["examiner"].end(examiner_pid)
        if "fault" in said:
            raise NotGradedError(said["fault"])
        return said

    def close(self) -> None:
        """End the warm parents and remove what they were given."""
        for parent in self._parents.values():
            parent.close()
        self._parents = {}
        self._stage.close()
