"""Lead one submission from its first cell to its last: the worker runs the learner's cells, the checks are run here.

Runs in the examiner's process, which is trusted and asks the driver for a worker whenever it needs one.
"""

from __future__ import annotations

import json
import pickle
import socket
import time
from typing import Any, Protocol

from hero_course.engine.budget import Budget
from hero_course.engine.examination import Job, Step
from hero_course.engine.frames import ProtocolError, receive, send
from hero_course.engine.limits import CUT, Limits
from hero_course.engine.protocol import MIME, decode
from hero_course.engine.shell import error_output

__all__ = ["Cell", "Gone", "GraderFault", "Session", "Workers"]

_GRACE = 2.0  # seconds between the worker's own alarm and the end of our patience
_CELLS = 16  # so many cells may show as much as one may; what comes after is cut off
Cell = list[dict[str, Any]]


class GraderFault(BaseException):
    """The grader itself broke: nobody's points depend on it. No Exception, so that no check takes it for an answer."""


class Gone(Exception):
    """The worker is not there any more; the message says why, in both languages."""


class NoTime(Gone):
    """The learner's own cells have used up their time."""


class Workers(Protocol):
    """Where workers come from, one at a time."""

    def start(self) -> socket.socket: ...

    def end(self) -> int:
        """End the worker; how it had ended by itself, as `os.waitpid` has it."""


class Session:
    """The learner's side of one submission.

    Args:
        workers: where the worker comes from.
        limits: what the submission may use.
        job: the submission.
    """

    def __init__(self, workers: Workers, limits: Limits, job: Job) -> None:
        self._workers, self._limits, self._job = workers, limits, job
        self._worker: socket.socket | None = None
        self._skipped: set[int] = set()
        self._ends, self._room = 0, _CELLS * limits.output_bytes
        self._budget = Budget(limits)

    def run(self, number: int, step: Step) -> Cell:
        """Run a learner's cell; its outputs.

        Args:
            number: the step's place among the steps.
            step: the cell.

        Raises:
            GraderFault: if the grader itself broke.
        """
        try:
            self._need_worker(number)
            return self._fitting(self._run_in_worker(number, step))
        except Gone as error:
            self._skipped.add(number)
            return [_error("CellEnded", str(error))]

    def without_checks(self) -> dict[int, Cell]:
        """Run the learner's cells once more, in a worker that no check ever asked; by their places, the outputs."""
        self.drop_worker()
        self._skipped.clear()
        self._room = _CELLS * self._limits.output_bytes
        return {number: self.run(number, step) for number, step in enumerate(self._job.steps) if step.check is None}

    def ready(self, number: int, about: str) -> float:
        """Have a worker for a call of a check; how many seconds it may take.

        Args:
            number: the check's place among the steps.
            about: the exercise or prediction that the check looks at.

        Raises:
            Gone: if there is none, or if nothing is asked of the exercise any more.
            GraderFault: if the grader itself broke.
        """
        refusal = self._budget.refusal(about)
        if refusal:
            raise Gone(refusal)
        self._need_worker(number)
        return self._budget.for_exercise(about)

    def ask(self, about: str, request: bytes) -> bytes:
        """What the worker that is ready answers to a request of a check.

        Args:
            about: as in `ready`.
            request: a pickle.

        Raises:
            Gone: if there is no answer.
        """
        began = time.monotonic()
        try:
            return self._ask(request, began + self._budget.for_exercise(about))
        except Gone:
            self._budget.ended_by(about)
            raise
        finally:
            self._budget.exercise_took(about, time.monotonic() - began)

    def _run_in_worker(self, number: int, step: Step) -> Cell:
        began, seconds = time.monotonic(), self._budget.for_cell(number)
        if seconds <= 0:
            raise NoTime("自己的单元一共可用的时间用完了 | the time for all the cells of one's own is used up")
        request = {"number": 0, "do": "run", "with": {"source": step.source, "seconds": seconds}}
        try:
            content = self._ask(pickle.dumps(request), began + seconds)
        except Gone:
            self._ends += 1
            raise
        finally:
            self._budget.cell_took(number, min(seconds, time.monotonic() - began))  # our own patience is no one's time
        try:
            return _clean(decode(content))
        except Exception as error:
            self.drop_worker()
            raise Gone("代码扰乱了批改程序的通信 | the code disturbed the grader's connection") from error

    def _fitting(self, cell: Cell) -> Cell:
        """A cell's outputs, unless those of the whole notebook are too much."""
        self._room -= len(json.dumps(cell))
        return cell if self._room >= 0 else [{"output_type": "stream", "name": "stdout", "text": CUT}]

    def _ask(self, request: bytes, deadline: float) -> bytes:
        """Send the worker a request and wait for its answer."""
        assert self._worker is not None
        try:
            self._worker.settimeout(_GRACE)
            send(self._worker, request)
            return receive(self._worker, self._limits.frame_bytes, deadline + _GRACE)
        except TimeoutError:
            reason = "代码没有在规定时间内结束 | the code did not end in time"
        except (OSError, EOFError):
            reason = "代码让进程结束了 | the code ended its own process"
        except ProtocolError:
            reason = "代码的回答太大 | the code's answer is too large"
        ended = self.drop_worker()
        raise Gone(reason + _signal(ended))

    def _need_worker(self, number: int) -> None:
        """Have a worker that has run all earlier cells, but for those that ended an earlier one."""
        while self._worker is None:
            if self._ends > self._limits.restarts:
                raise Gone("代码太多次让进程结束 | the code ended its process too often")
            self._start_worker()
            for earlier, step in enumerate(self._job.steps[:number]):
                if step.check is None and earlier not in self._skipped:
                    try:
                        self._run_in_worker(earlier, step)
                    except NoTime:
                        self.drop_worker()
                        raise
                    except Gone:
                        self._skipped.add(earlier)
                        break

    def _start_worker(self) -> None:
        try:
            self._worker = self._workers.start()
            hello = json.loads(receive(self._worker, 1 << 16, time.monotonic() + 60))
            if hello["fault"]:
                raise GraderFault(f"the sandbox is not on: {hello['fault']}")
            send(self._worker, pickle.dumps(dict(self._job.files)))
        except (OSError, EOFError, ProtocolError, ValueError) as error:
            raise GraderFault(f"a worker did not start: {type(error).__name__}: {error}") from error

    def drop_worker(self) -> int:
        """End the worker, if there is one; how it had ended by itself."""
        if self._worker is None:
            return 0
        self._worker.close()
        self._worker = None
        return self._workers.end()


def _clean(answer: Any) -> Cell:
    """Outputs as a notebook may hold them, from a worker's answer; whatever else is in it is dropped."""
    cells: Cell = []
    for item in answer["outputs"][:1000]:
        kind = item["output_type"]
        if kind == "stream" and item["name"] in ("stdout", "stderr"):
            cells.append({"output_type": kind, "name": item["name"], "text": str(item["text"])})
        elif kind == "error":
            lines = [str(line) for line in item["traceback"]]
            cells.append(_error(str(item["ename"]), str(item["evalue"]), lines))
        elif kind in ("display_data", "execute_result"):
            data = {mime: str(item["data"][mime]) for mime in MIME if mime in item["data"]}
            more = {"execution_count": None} if kind == "execute_result" else {}
            cells.append({"output_type": kind, "data": data, "metadata": {}, **more})
    return cells


def _error(name: str, message: str, lines: list[str] | None = None) -> dict[str, Any]:
    return error_output(name, message, lines or [f"{name}: {message}"])


def _signal(status: int) -> str:
    """Which signal ended a process, as `os.waitpid` has it; nothing if it was ours.

    Example:
        >>> _signal(11), _signal(9)
        ('（信号 signal 11）', '')
    """
    number = status & 0x7F
    return f"（信号 signal {number}）" if number not in (0, 9) else ""
