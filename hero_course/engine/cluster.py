"""Run submissions on a Dask cluster: each of its worker processes keeps a lane; the gradebook stays with the driver."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from distributed import Client

from hero_course.engine.examination import Examination
from hero_course.engine.limits import Limits
from hero_course.engine.plan import Job
from hero_course.engine.pool import Lane
from hero_course.engine.session import NotGradedError

__all__ = ["Assignment", "Cluster"]

Outputs = list[list[dict[str, Any]]]


@dataclass(frozen=True)
class Assignment:
    """All that a machine of the cluster needs of a chapter: no path of the driver's means anything there.

    Args:
        name: the chapter's.
        files: what stands in its folder under ``source/``, without the notebook.
        examination: the instructor's notebook.
        limits: of each submission.
        sandboxed: whether learners' code runs in bubblewrap.
        absent: paths that no learner's code may see.
    """

    name: str
    files: tuple[tuple[str, bytes], ...]
    examination: Examination
    limits: Limits
    sandboxed: bool
    absent: tuple[str, ...]

    @staticmethod
    def of(
        source: Path, examination: Examination, limits: Limits, sandboxed: bool, absent: Sequence[str]
    ) -> Assignment:
        """The assignment in a folder under ``source/``."""
        paths = [path for path in sorted(source.rglob("*")) if path.is_file() and path.suffix not in (".ipynb", ".pyc")]
        files = tuple((str(path.relative_to(source)), path.read_bytes()) for path in paths)
        return Assignment(source.name, files, examination, limits, sandboxed, tuple(absent))


class Cluster:
    """The machines behind a scheduler's address; submissions of a worker that is lost go to another one.

    Args:
        address: the scheduler's, such as ``tcp://host:8786``.
        assignment: whose submissions are run.
    """

    def __init__(self, address: str, assignment: Assignment) -> None:
        self._client = Client(address)
        self._assignment = assignment  # goes with each submission: data that a lost worker held would be lost, too

    @property
    def lanes(self) -> int:
        """How many submissions the cluster runs at one time."""
        return max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def submit(self, job: Job) -> Future[Outputs]:
        """Run a submission wherever there is a place."""
        done: Future[Outputs] = Future()
        remote = self._client.submit(_grade, self._assignment, job, pure=False, retries=2)
        remote.add_done_callback(lambda found: _settle(done, found))
        return done

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()


def _settle(done: Future[Outputs], found: Any) -> None:
    """Hand over what became of a submission, whatever it is: somebody waits for it."""
    try:
        done.set_result(found.result(timeout=600))
    except Exception as error:
        done.set_exception(error)
    except BaseException as error:  # a cancelled future's error is no Exception
        done.set_exception(NotGradedError(f"the cluster gave it up: {type(error).__name__}"))


class _Keeper:
    """The lane of a cluster's worker process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._assignment: Assignment | None = None
        self._lane: Lane | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def grade(self, assignment: Assignment, job: Job) -> Outputs:
        """Grade in the lane of the assignment, one submission at a time."""
        with self._lock:
            if self._assignment != assignment:
                self.close()
                self._open(assignment)
            assert self._lane is not None
            return self._lane.grade(job)

    def _open(self, assignment: Assignment) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hero-assignment-")
        source = Path(self._folder.name) / assignment.name
        for name, content in assignment.files:
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        lane = Lane(source, assignment.examination, assignment.limits, assignment.sandboxed, assignment.absent)
        self._lane, self._assignment = lane, assignment
        lane.prepare(lane.modules())

    def close(self) -> None:
        """End the lane."""
        self._assignment = None
        if self._lane is not None:
            self._lane.close()
            self._lane = None
        if self._folder is not None:
            self._folder.cleanup()


_keeper = _Keeper()
atexit.register(_keeper.close)


def _grade(assignment: Assignment, job: Job) -> Outputs:
    return _keeper.grade(assignment, job)
