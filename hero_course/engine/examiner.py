"""The examiner: a trusted process that runs the checks of the instructor's notebook.

It never runs or unpickles anything that came from a submission. Where a check calls an exercise, the worker is asked.
"""

from __future__ import annotations

import pickle
import secrets
import socket
import sys
import time
from typing import Any

from hero_course.engine.examination import Examination
from hero_course.engine.frames import ProtocolError, receive, send
from hero_course.engine.limits import Limits
from hero_course.engine.protocol import decode, encode
from hero_course.engine.proxy import AnswerError, GraderFault, StandIns, call, plain
from hero_course.engine.shell import make_shell, shown
from hero_course.engine.worker import PACKAGE, owner_of

__all__ = ["Examiner"]

_NOT_BEFOREHAND = {"matplotlib_inline", PACKAGE, "__main__", "__mp_main__"}


class Examiner:
    """Runs checks, one request after the other, and asks the worker through the driver."""

    def __init__(self, connection: socket.socket, examination: Examination, limits: Limits) -> None:
        self._connection, self._examination, self._limits = connection, examination, limits
        self._shell = make_shell(limits.output_bytes)
        self._target: str | None = None
        self._written: dict[str, str] = {}
        self._asked = 0
        self._distrusted = False
        self._deadline = 0.0
        self._stand_ins: StandIns | None = None

    def serve(self) -> None:
        """Run the set-up cell, then answer requests until the driver is gone."""
        fault = self._set_up()
        while True:
            try:
                key = pickle.loads(receive(self._connection, 1 << 20))
            except EOFError:
                return
            send(self._connection, encode({"kind": "done", **self._answer(key, fault)}))

    def _answer(self, key: str | None, fault: str | None) -> dict[str, Any]:
        if key is None:
            return {"modules": self._rehearse()}
        return {"fault": fault} if fault else self._check(key)

    def _set_up(self) -> str | None:
        with shown(self._shell):
            result = self._shell.run_cell(self._examination.setup)
        error = result.error_before_exec or result.error_in_exec
        return f"the set-up cell failed: {type(error).__name__}: {error}" if error else None

    def _rehearse(self) -> list[str]:
        """Run the whole instructor's notebook, solutions and all; the names of the modules that this imported."""
        before = set(sys.modules)
        with shown(self._shell):
            for source in self._examination.cells:
                self._shell.run_cell(source)
                self._shell.outputs.clear()
        return sorted(name for name in set(sys.modules) - before if name.partition(".")[0] not in _NOT_BEFOREHAND)

    def _check(self, key: str) -> dict[str, Any]:
        """Run one check; its outputs, or the grader's own fault."""
        about = self._examination.about.get(key, "")
        self._target, self._asked, self._distrusted = self._examination.exercises.get(about), 0, False
        self._deadline = time.monotonic() + self._limits.cell_seconds
        outputs = self._shell.outputs
        outputs.clear()
        try:
            self._prepare()
        except AnswerError as error:
            outputs.error("AnswerError", str(error), [str(error)])
            return {"outputs": outputs.items, "distrusted": self._distrusted}
        except GraderFault as error:
            return {"fault": str(error)}
        self._asked = 0
        with shown(self._shell):
            result = self._shell.run_cell(self._examination.checks[key])
        error = result.error_before_exec or result.error_in_exec
        return self._judged(key, error, about in self._examination.predictions)

    def _judged(self, key: str, error: BaseException | None, predicted: bool) -> dict[str, Any]:
        """What a check's end means: passed, failed, or no result at all."""
        outputs = self._shell.outputs
        named = type(error).__name__ == "CheckFailed"
        if error is not None and not named and (isinstance(error, GraderFault) or not (self._asked or predicted)):
            return {"fault": f"the check {key} broke: {type(error).__name__}: {error}"}
        for item in outputs.items:
            if item["output_type"] == "execute_result":
                item["output_type"] = "display_data"  # points never come from a value
            if item["output_type"] == "error" and not named:
                item["traceback"] = [f"{item['ename']}: {item['evalue']}"]
        return {"outputs": outputs.items, "passed": error is None, "distrusted": self._distrusted}

    def _prepare(self) -> None:
        """Bring exercises and predictions to where the learner has them."""
        examination = self._examination
        answer = self._ask("state", exercises=examination.exercises, names=list(examination.predictions))
        written, values = answer.get("written"), answer.get("values")
        if not isinstance(written, dict) or not isinstance(values, dict):
            raise AnswerError("no proper answer")
        for status in ("missing", "written", "undecorated"):  # this one last: methods may share a name
            for key, target in examination.exercises.items():
                if written.get(key, "missing") == status:
                    self._install(key, target, status)
        for name in examination.predictions:
            self._shell.user_ns.pop(name, None)
            if name in values:
                self._shell.user_ns[name] = plain(self._ask, values[name])
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
        """Ask the worker, through the driver."""
        self._asked += 1
        number = secrets.randbits(62)
        if do == "call":
            more["number"] = number
        elif do == "vjp":
            more["number"] = more.pop("call")
        if do != "state":
            more["seconds"] = max(self._deadline - time.monotonic(), 0.01)
        request = pickle.dumps({"number": number, "do": do, "with": more})
        send(self._connection, encode({"kind": "ask", "request": request}))
        broken, content = pickle.loads(receive(self._connection, self._limits.answer_bytes + (1 << 20)))
        if broken:
            raise AnswerError(broken)
        try:
            answer = decode(content)
        except (ProtocolError, RecursionError) as error:
            self._distrusted = True
            raise AnswerError(f"代码的回答不是普通的数据 | the code's answer is no plain data: {error}") from None
        if type(answer) is not dict or answer.get("to") != number:
            self._distrusted = True
            raise AnswerError("代码的回答答非所问 | the code's answer does not belong to the question")
        return answer


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
    """Be an examiner until the driver is gone."""
    Examiner(connection, examination, limits).serve()
