"""The worker: a process that runs a learner's cells and answers the examiner's calls.

Nothing in it is trusted once a learner's cell has run. It sends plain data only; whoever reads them checks them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from hero_course.engine import PACKAGE
from hero_course.engine.frames import receive, send
from hero_course.engine.limits import Limits
from hero_course.engine.payload import load
from hero_course.engine.protocol import TooLargeError, encode, encode_with_tensors
from hero_course.engine.shell import make_shell, shown
from hero_course.engine.tensors import raw

__all__ = ["PREDICTION_BYTES", "Worker", "owner_of"]

PREDICTION_BYTES = 1 << 16
_MESSAGE = 1000  # characters of an exception that a check is told
_GRAPHS = 32  # calls whose gradients can still be asked for


class CellTimeoutError(BaseException):
    """A cell or a call took too long. No Exception, so that ``except Exception`` in a loop lets it through."""


def owner_of(target: str) -> tuple[Any, str]:
    """Where a function of the package stands.

    Args:
        target: such as ``model.TransformerBlock.forward``.

    Returns:
        The module or class that owns the function, and its name there.
    """
    module, *path = target.split(".")
    owner: Any = importlib.import_module(f"{PACKAGE}.{module}")
    for name in path[:-1]:
        owner = getattr(owner, name)
    return owner, path[-1]


class Worker:
    """Runs cells and answers calls, one request after the other."""

    def __init__(self, connection: socket.socket, limits: Limits) -> None:
        self._connection, self._limits = connection, limits
        self._shell, self._pid = make_shell(limits.output_bytes), os.getpid()
        self._iterators: list[Any] = []
        self._graphs: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        signal.signal(signal.SIGALRM, _time_is_up)
        answers = {"run": self._run, "state": self._state, "call": self._call, "next": self._next, "vjp": self._vjp}
        while True:
            try:
                request = pickle.loads(receive(self._connection, 1 << 32))
            except EOFError:
                os._exit(0)
            try:
                answer = answers[request["do"]](**request["with"])
            except (CellTimeoutError, Exception) as error:  # it came between two statements of ours, perhaps
                answer = _raised(error)
            if os.getpid() != self._pid:
                os._exit(0)  # a copy of us that a cell forked
            send(self._connection, self._encoded({"to": request["number"], **answer}))

    def _encoded(self, answer: dict[str, Any]) -> bytes:
        try:
            return encode(answer, most=self._limits.frame_bytes)
        except TooLargeError as error:
            return encode({"to": answer["to"], "refused": str(error)})

    def _run(self, source: str, seconds: float) -> dict[str, Any]:
        """Run a cell; its outputs."""
        outputs = self._shell.outputs
        outputs.clear()
        with shown(self._shell):
            try:
                with _at_most(seconds):
                    self._shell.run_cell(source, store_history=True)
            except CellTimeoutError as error:
                outputs.error(type(error).__name__, str(error), [str(error)])
        return {"outputs": outputs.items}

    def _state(self, exercises: dict[str, str], names: list[str]) -> dict[str, Any]:
        """Which exercises the learner has written, and the plain values of some names."""
        user = self._shell.user_ns
        values = {name: _by_itself(user[name]) for name in names if name in user}
        return {"written": {key: _status(target, user) for key, target in exercises.items()}, "values": values}

    def _call(
        self, number: int, target: str, content: bytes, barred: bool, random: bytes, grad: bool, seconds: float
    ) -> dict[str, Any]:
        """Call an exercise; what it returned or raised, and the tensors among its arguments that it changed."""
        exercise = importlib.import_module(f"{PACKAGE}.exercise")
        owner, name = owner_of(target)
        (args, kwargs, parts), tensors, generators = load(content)
        before = [one.detach().clone() for one in tensors]
        state = torch.frombuffer(bytearray(random), dtype=torch.uint8)
        torch.set_rng_state(state)
        try:
            with _at_most(seconds), shown(self._shell):
                with torch.set_grad_enabled(grad), exercise.standing_in(**parts):
                    place = exercise.replaced_by(vars(owner)[name])
                    with exercise.barred_answers(place) if barred and place else contextlib.nullcontext():
                        result = getattr(owner, name)(*args, **kwargs)
                answer = self._answer(number, result, tensors)
            answer["changed"] = _changed(tensors, before, generators)
        except TooLargeError as error:
            return {"refused": str(error)}
        except BaseException as error:
            answer = {**_raised(error), "changed": _changed(tensors, before, generators)}
        return {**answer, "drew": torch.get_rng_state().numpy().tobytes() != random}

    def _answer(self, number: int, result: Any, tensors: list[torch.Tensor]) -> dict[str, Any]:
        """What a call returned: its value and tensors, which of them are arguments and which have a gradient."""
        content, found = encode_with_tensors(result, self._iterators, self._limits.answer_bytes)
        arguments = {id(one): place for place, one in enumerate(tensors)}
        same = {place: arguments[id(one)] for place, one in enumerate(found) if id(one) in arguments}
        marks = [one.requires_grad and place not in same for place, one in enumerate(found)]
        outputs = [one for one, mark in zip(found, marks, strict=True) if mark]
        if outputs:
            self._graphs[number] = (outputs, [one for one in tensors if one.requires_grad])
            for old in list(self._graphs)[:-_GRAPHS]:
                del self._graphs[old]
        return {"value": content, "tensors": found, "same": same, "grad": marks}

    def _next(self, iterator: int, seconds: float) -> dict[str, Any]:
        """The next item of an iterator that an exercise returned."""
        try:
            with _at_most(seconds), shown(self._shell):
                item = next(self._iterators[iterator])
                content, found = encode_with_tensors(item, self._iterators, self._limits.answer_bytes)
                return {"value": content, "tensors": found}
        except StopIteration:
            return {"stop": True}
        except TooLargeError as error:
            return {"refused": str(error)}
        except BaseException as error:
            return _raised(error)

    def _vjp(self, number: int, gradients: list[torch.Tensor], seconds: float) -> dict[str, Any]:
        """The gradient of an earlier call's outputs, weighted, for each of its tensors."""
        try:
            outputs, inputs = self._graphs[number]
            with _at_most(seconds), shown(self._shell):
                found = torch.autograd.grad(outputs, inputs, gradients, retain_graph=True, allow_unused=True)
            return {"value": list(found)}
        except BaseException as error:
            return _raised(error)


def _by_itself(value: Any) -> bytes:
    """A prediction as bytes of its own, so that an odd one spoils no other; empty if it is large or no plain data."""
    try:
        with _at_most(2):
            return encode(value, most=PREDICTION_BYTES)
    except BaseException:
        return b""


def _status(target: str, user: dict[str, Any]) -> str:
    owner, name = owner_of(target)
    exercise = importlib.import_module(f"{PACKAGE}.exercise")
    if exercise.replaced_by(vars(owner).get(name)) is not None:
        return "written"
    mine = user.get(name)
    undecorated = callable(mine) and getattr(mine, "__module__", "") == "__main__"
    return "undecorated" if undecorated and exercise.replaced_by(mine) is None else "missing"


def _raised(error: BaseException) -> dict[str, Any]:
    """An exception as plain data: the names of its type and of the types above it, message, the learner's line."""
    names = [kind.__name__ for kind in type(error).__mro__ if kind is not object]
    try:
        message = str(error)
    except Exception:
        message = "?"
    by_hand = importlib.import_module(f"{PACKAGE}.diagnosis").by_hand(error)
    return {"raised": names[:20], "message": message[:_MESSAGE], "line": _learners_line(error), "by_hand": by_hand}


def _learners_line(error: BaseException) -> tuple[int, str] | None:
    """The deepest line of the learner's own cells that an error passed through."""
    found = importlib.import_module(f"{PACKAGE}.diagnosis").learners_line(error)
    return found and (found[0], found[1][:400])


def _changed(
    tensors: list[torch.Tensor], before: list[torch.Tensor], generators: dict[int, torch.Generator]
) -> dict[int, torch.Tensor]:
    """The arguments that a call has changed, by their numbers; states of generators that were drawn from among them."""
    for number, generator in generators.items():
        tensors[number] = generator.get_state()
    return {number: one for number, (one, old) in enumerate(zip(tensors, before, strict=True)) if not _same(one, old)}


def _same(one: torch.Tensor, old: torch.Tensor) -> bool:
    one = one.detach()
    alike = one.shape == old.shape and one.dtype == old.dtype and one.layout == old.layout
    return alike and raw(one) == raw(old)


def _time_is_up(signum: int, frame: Any) -> None:
    raise CellTimeoutError("时间用完，单元被停止 | time is up: the cell was stopped")


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise `CellTimeoutError` in this thread after so many seconds, and again if it is swallowed."""
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def enter(connection: socket.socket, files: dict[str, bytes], limits: Limits) -> None:
    """Become a worker, in a folder that holds these files and nothing else. Does not return."""
    for name, content in files.items():
        path = Path(name)
        with contextlib.suppress(OSError):  # too many folders, perhaps: what is missing is met where it is opened
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    sys.path.append(os.getcwd())  # last: a learner's torch.py is nobody's torch
    Worker(connection, limits).serve()
