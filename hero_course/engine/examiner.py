"""The examiner: a trusted process that runs the checks of the instructor's notebook, for one submission.

It never runs or unpickles anything that came from a submission. Where a check calls an exercise, the worker is asked.
"""

from __future__ import annotations

import pickle
import secrets
import socket
import sys
from typing import Any

from hero_course.engine import PACKAGE
from hero_course.engine.examination import Examination, Job, Step
from hero_course.engine.frames import ProtocolError, receive, send
from hero_course.engine.limits import Limits
from hero_course.engine.protocol import decode, encode, opaque
from hero_course.engine.proxy import AnswerError, StandIns, call
from hero_course.engine.session import Cell, Gone, GraderFault, Session
from hero_course.engine.shell import make_shell, shown
from hero_course.engine.worker import PREDICTION_BYTES, owner_of

__all__ = ["Examiner"]

_FAILED = "torch.testing.assert_close(torch.zeros(1), torch.ones(1))"  # a comparison that fails imports much
_NOT_BEFOREHAND = {"matplotlib_inline", PACKAGE, "__main__", "__mp_main__"}


class _Driver:
    """Asks the driver for workers."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def start(self) -> socket.socket:
        """A connection to a new worker."""
        send(self._connection, encode({"kind": "start"}))
        _, (descriptor,), _, _ = socket.recv_fds(self._connection, 1, 1)
        return socket.socket(fileno=descriptor)

    def end(self) -> int:
        """End it; how it had ended by itself."""
        send(self._connection, encode({"kind": "end"}))
        return decode(receive(self._connection, 1 << 10))


class Examiner:
    """Runs the checks of one submission, and has a session run the learner's cells."""

    def __init__(self, connection: socket.socket, examination: Examination, limits: Limits) -> None:
        self._connection, self._examination, self._limits = connection, examination, limits
        self._shell = make_shell(limits.output_bytes)
        self._session: Session | None = None
        self._number, self._about = 0, ""
        self._target: str | None = None
        self._written: dict[str, str] = {}
        self._asked = 0
        self._distrusted = False
        self._stand_ins: StandIns | None = None
        self._modules = set(sys.modules)

    def serve(self) -> None:
        """Grade a job; or, if there is None, say what modules the instructor's notebook imports."""
        job = pickle.loads(receive(self._connection, 1 << 32))
        try:
            self._set_up()
            said = {"modules": self._rehearse()} if job is None else {"outputs": self._grade(job)}
        except GraderFault as error:
            said = {"fault": str(error)}
        except (OSError, EOFError) as error:
            said = {"fault": f"{type(error).__name__}: {error}"}
        send(self._connection, encode({"kind": "done", **said}))

    def _grade(self, job: Job) -> list[Cell]:
        """The outputs of each step."""
        self._session = Session(_Driver(self._connection), self._limits, job)
        outputs = []
        for self._number, step in enumerate(job.steps):
            outputs.append(self._check(step) if step.check else self._session.run(self._number, step))
        first = next((number for number, step in enumerate(job.steps) if step.check), len(job.steps))
        late = [number for number, step in enumerate(job.steps) if number > first and not step.check]
        if any(outputs[number] for number in late):  # they may show what a hidden check had called the answer with
            alone = self._session.without_checks()
            outputs = [alone[number] if number in late else shown for number, shown in enumerate(outputs)]
        self._session.drop_worker()
        return outputs

    def _set_up(self) -> None:
        with shown(self._shell):
            result = self._shell.run_cell("\n\n".join(self._examination.setup.values()))
        error = result.error_before_exec or result.error_in_exec
        if error:
            raise GraderFault(f"the set-up cell failed: {type(error).__name__}: {error}")

    def _rehearse(self) -> list[str]:
        """Run the instructor's cells, solutions and all, and fail once; the names of the modules that this imported."""
        with shown(self._shell):
            for source in (*self._examination.cells, _FAILED):
                self._shell.run_cell(source)
                self._shell.outputs.clear()
        new = set(sys.modules) - self._modules
        return sorted(name for name in new if name.partition(".")[0] not in _NOT_BEFOREHAND)

    def _check(self, step: Step) -> Cell:
        """Run one check; its outputs."""
        key = str(step.check)
        self._about = self._examination.about.get(key, "")
        self._target, self._distrusted = self._examination.exercises.get(self._about), False
        outputs = self._shell.outputs
        outputs.clear()
        try:
            self._prepare()
        except AnswerError as error:
            outputs.error("AnswerError", str(error), [str(error)])
        else:
            self._asked = 0
            with shown(self._shell):
                result = self._shell.run_cell(self._examination.checks[key])
            self._judge(key, result.error_before_exec or result.error_in_exec)
        if self._distrusted:
            self._session.drop_worker()
        return list(outputs.items)

    def _judge(self, key: str, error: BaseException | None) -> None:
        """Whether a check's end is a result; its outputs without what does not belong into a notebook."""
        predicted = self._about in self._examination.predictions
        named = type(error).__name__ == "CheckFailed"
        if error is not None and not named and (isinstance(error, GraderFault) or not (self._asked or predicted)):
            raise GraderFault(f"the check {key} broke: {type(error).__name__}: {error}")
        for item in self._shell.outputs.items:
            if item["output_type"] == "execute_result":
                item["output_type"] = "display_data"  # points never come from a value
            if item["output_type"] == "error" and not named:
                item["traceback"] = [f"{item['ename']}: {item['evalue']}"]

    def _prepare(self) -> None:
        """Bring exercises and predictions to where the learner has them."""
        examination = self._examination
        wanted = [self._about] if self._about in examination.predictions else []
        answer = self._ask("state", exercises=examination.exercises, names=wanted)
        written, values = answer.get("written"), answer.get("values")
        if not isinstance(written, dict) or not isinstance(values, dict):
            raise AnswerError("no proper answer")
        for status in ("missing", "written", "undecorated"):  # this one last: methods may share a name
            for key, target in examination.exercises.items():
                if written.get(key, "missing") == status:
                    self._install(key, target, status)
        for name in examination.predictions:
            self._shell.user_ns.pop(name, None)
        self._shell.user_ns.update((name, _prediction(values[name])) for name in wanted if name in values)
        self._stand_ins = StandIns()

    def _install(self, key: str, target: str, status: str) -> None:
        """Put the proxy of an exercise, or what the edition had, where the learner's function would stand."""
        owner, name = owner_of(target)
        before, self._written[key] = self._written.get(key, "missing"), status
        user = self._shell.user_ns
        if status == "undecorated":
            _decorate(owner, name, _stub)
            user[name] = _undecorated(name)
        elif status == "written" and before != "written":
            user[name] = _decorate(owner, name, self._proxy(target))
        elif status == "missing" and before != "missing":
            user[name] = _decorate(owner, name, _stub)

    def _proxy(self, target: str) -> Any:
        def proxy(*args: Any, **kwargs: Any) -> Any:
            parts = self._stand_ins.current() if self._stand_ins else {}
            return call(self._ask, target, args, kwargs, parts, barred=target == self._target)

        return proxy

    def _ask(self, do: str, **more: Any) -> dict[str, Any]:
        """Ask the worker."""
        self._asked += 1
        number = secrets.randbits(62)
        if do == "call":
            more["number"] = number
        elif do == "vjp":
            more["number"] = more.pop("call")
        try:
            seconds = self._session.ready(self._number, self._about)
            timed = more if do == "state" else {**more, "seconds": max(seconds, 0.01)}
            request = pickle.dumps({"number": number, "do": do, "with": timed})
            answer = decode(self._session.ask(self._about, request))
        except Gone as error:
            raise AnswerError(str(error)) from None
        except ProtocolError as error:
            self._distrusted = True
            raise AnswerError(f"代码的回答不是普通的数据 | the code's answer is no plain data: {error}") from None
        if type(answer) is not dict or answer.get("to") != number:
            self._distrusted = True
            raise AnswerError("代码的回答答非所问 | the code's answer does not belong to the question")
        return answer


def _prediction(content: Any) -> Any:
    """The value of a prediction; whatever is large or no plain data is just something else than the truth."""
    try:
        if type(content) is bytes and len(content) <= PREDICTION_BYTES:
            return decode(content)
    except ProtocolError:
        pass
    return opaque("object", "?")


def _decorate(owner: Any, name: str, function: Any) -> Any:
    """Put a function in an exercise's place with the package's own `replaces`."""
    from importlib import import_module

    function.__name__ = function.__qualname__ = name
    return import_module(f"{PACKAGE}.exercise").replaces(owner)(function)


def _stub(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError


def _undecorated(name: str) -> Any:
    """Stands for a learner's function whose decorator is gone."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(name)

    function.__name__, function.__module__ = name, "__main__"
    return function


def enter(connection: socket.socket, examination: Examination, limits: Limits) -> None:
    """Be an examiner."""
    Examiner(connection, examination, limits).serve()
