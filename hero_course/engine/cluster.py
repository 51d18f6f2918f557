"""Run submissions on a Dask cluster; the gradebook stays with the driver."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from distributed import Client

from hero_course.engine.assignment import Assignment
from hero_course.engine.examination import Job
from hero_course.engine.pair import NotGradedError
from hero_course.engine.pool import grade_here
from hero_course.engine.session import Cell

__all__ = ["Cluster"]


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

    def submit(self, job: Job) -> Future[list[Cell]]:
        """Run a submission wherever there is a place."""
        done: Future[list[Cell]] = Future()
        remote = self._client.submit(grade_here, self._assignment, job, pure=False, retries=2)
        remote.add_done_callback(lambda found: _settle(done, found))
        return done

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()


def _settle(done: Future[list[Cell]], found: Any) -> None:
    """Hand over what became of a submission, whatever it is: somebody waits for it."""
    try:
        done.set_result(found.result(timeout=600))
    except Exception as error:
        done.set_exception(error)
    except BaseException as error:  # a cancelled future's error is no Exception
        done.set_exception(NotGradedError(f"the cluster gave it up: {type(error).__name__}"))
