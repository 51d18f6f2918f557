"""Exercises as the examiner sees them: functions whose every call is made in the worker.

What comes back is plain data. It becomes values, exceptions and changed arguments here, each checked first.
"""

from __future__ import annotations

import builtins
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch
from torch.autograd.function import once_differentiable

from hero_course.engine import PACKAGE
from hero_course.engine.frames import ProtocolError
from hero_course.engine.payload import dump
from hero_course.engine.protocol import ITEMS, decode
from hero_course.engine.session import GraderFault

__all__ = ["AnswerError", "Ask", "StandIns", "call"]

_NAME = re.compile(r"[^\W\d]\w{0,59}")


class AnswerError(RuntimeError):
    """The learner's process gave no answer, or none that is plain data."""


class Ask(Protocol):
    """Asks the worker: what to do, with what; its answer, a dictionary of plain data."""

    def __call__(self, do: str, **more: Any) -> dict[str, Any]: ...


class StandIns:
    """Finds what a check has put in the place of the package's own parts, whichever way."""

    def __init__(self) -> None:
        self._package = [(name, vars(sys.modules[name])) for name in sys.modules if name.partition(".")[0] == PACKAGE]
        self._before = dict(self._parts())

    def current(self) -> dict[str, Any]:
        """For each name that means something else than before, what it means now; exercises are left out."""
        return {
            name: value
            for (module, name), value in self._parts()
            if self._before.get((module, name), value) is not value and not _is_exercise(value)
        }

    def _parts(self) -> Iterator[tuple[tuple[str, str], Any]]:
        for module, parts in self._package:
            for name, value in parts.items():
                if not name.startswith("__"):
                    yield (module, name), value


def _is_exercise(value: Any) -> bool:
    return any(mark in getattr(value, "__dict__", {}) for mark in ("replaced", "stub"))  # as `replaces` leaves them


def call(ask: Ask, target: str, args: tuple, kwargs: dict[str, Any], parts: dict[str, Any], barred: bool) -> Any:
    """Call an exercise in the worker.

    Args:
        ask: how the worker is asked.
        target: the exercise's place in the package.
        args: its positional arguments.
        kwargs: its named arguments.
        parts: what stands in for other parts during the call.
        barred: whether the functions that are the answer itself are refused.

    Returns:
        What the learner's code returned, as plain data; tensors are joined to the graph of their inputs.

    Raises:
        AnswerError: if there is no proper answer.
        GraderFault: if the arguments cannot be sent.
        Exception: what the learner's code raised, as far as its type is known here.
    """
    try:
        content, tensors, generators = dump((args, kwargs, parts))
    except Exception as error:
        raise GraderFault(f"the arguments of {target} cannot be sent: {error}") from error
    answer = ask(
        "call",
        target=target,
        content=content,
        barred=barred,
        random=torch.get_rng_state().numpy().tobytes(),
        grad=torch.is_grad_enabled(),
    )
    _unless_refused(answer)
    _copy_back(answer.get("changed"), tensors)
    _wind_on(generators, tensors)
    if answer.get("drew") is True:
        torch.rand(1)  # as the learner's code did: the next draw is another one
    if "raised" in answer:
        raise _exception(answer)
    found = _tensors(answer)
    own = _own(answer, found, tensors)
    joined = _joined(ask, answer, found, own, [one for one in tensors if one.requires_grad])
    return _value(ask, answer, [own.get(place, one) for place, one in enumerate(joined)])


def _unless_refused(answer: dict[str, Any]) -> None:
    if "refused" in answer:
        raise AnswerError(f"代码的回答太大 | the code's answer is too large: {str(answer['refused'])[:200]}")


def _tensors(answer: dict[str, Any]) -> list[torch.Tensor]:
    found = answer.get("tensors")
    if not isinstance(found, list):
        raise AnswerError("an answer without its tensors")
    return found


def _value(ask: Ask, answer: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
    """What an answer holds, with these tensors, and with iterators that ask for each item."""
    content = answer.get("value")
    content = content if type(content) is bytes else b""
    try:
        return decode(content, tensors=tensors, iterator=lambda *which: _Items(ask, *which))
    except ProtocolError as error:
        raise AnswerError(f"代码的回答不是普通的数据 | the code's answer is no plain data: {error}") from None


class _Items:
    """An iterator whose items the worker makes, one by one."""

    def __init__(self, ask: Ask, number: int, name: str) -> None:
        self._ask, self._number, self._name = ask, number, name

    def __repr__(self) -> str:
        return f"<{self._name[:60]}>"

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> Any:
        answer = self._ask("next", iterator=self._number)
        _unless_refused(answer)
        if "raised" in answer:
            raise _exception(answer)
        if answer.get("stop") is True:
            raise StopIteration
        return _value(self._ask, answer, _tensors(answer))

    def __reduce__(self) -> tuple[Any, tuple[list[Any]]]:  # a check may hand it to the learner's code again
        items = list(itertools.islice(self, ITEMS))
        return iter, (items,)


def _copy_back(changed: Any, tensors: list[torch.Tensor]) -> None:
    if not isinstance(changed, dict):
        raise AnswerError("the answer says nothing about its arguments")
    for number, new in changed.items():
        if type(number) is not int or not 0 <= number < len(tensors) or not isinstance(new, torch.Tensor):
            raise AnswerError("the answer changes an argument that there is not")
        old = tensors[number]
        if new.dtype != old.dtype:
            raise AnswerError("the type of an argument was changed in place")
        with torch.no_grad():
            if new.shape == old.shape:
                old.copy_(new)
            else:
                old.data = new


def _wind_on(generators: dict[int, torch.Generator], states: list[torch.Tensor]) -> None:
    """Leave the generators as the learner's code left its copies: the next draw is another one."""
    for number, generator in generators.items():
        try:
            generator.set_state(states[number])
        except RuntimeError as error:
            raise AnswerError("the state of a random generator is none") from error


def _exception(answer: dict[str, Any]) -> Exception:
    """An exception of the learner's: of the nearest type that is known here, under its own name."""
    names = answer["raised"]
    if not isinstance(names, list) or not names or not all(isinstance(one, str) for one in names):
        return AnswerError("an exception without a name")
    base = next((kind for kind in map(_known, names) if kind is not None), Exception)
    name = names[0] if _NAME.fullmatch(names[0]) else "Exception"
    message = answer.get("message")
    text = " ".join(message.split()) if isinstance(message, str) else "?"
    kind = base if base.__name__ == name else type(name, (base,), {"__init__": Exception.__init__, "__str__": _text})
    try:
        error = kind(text)
    except TypeError:
        error = RuntimeError(text)  # a type that needs more than a message, such as UnicodeDecodeError
    line = answer.get("line")
    if isinstance(line, tuple) and len(line) == 2 and type(line[0]) is int and type(line[1]) is str:
        error.learners_line = line  # type: ignore[attr-defined]
    error.by_hand = answer.get("by_hand") is True  # type: ignore[attr-defined]
    return error


def _text(error: Exception) -> str:
    return str(error.args[0]) if error.args else ""


def _known(name: str) -> type[Exception] | None:
    ours = name in ("BarredAnswer", "NotWrittenError")
    kind = getattr(sys.modules.get(f"{PACKAGE}.exercise") if ours else builtins, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None


class _Joined(torch.autograd.Function):
    """Joins tensors that the worker computed to the graph of its inputs; their gradient is asked for there."""

    @staticmethod
    def forward(ctx: Any, gradient: Callable, found: list[torch.Tensor], *inputs: torch.Tensor) -> Any:
        ctx.gradient, ctx.shapes = gradient, [one.shape for one in inputs]
        return tuple(one.clone() for one in found)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        found = ctx.gradient(list(gradients))
        fits = isinstance(found, list) and len(found) == len(ctx.shapes)
        if not fits or not all(
            one is None or (isinstance(one, torch.Tensor) and one.shape == shape and one.is_floating_point())
            for one, shape in zip(found, ctx.shapes, strict=True)
        ):
            raise AnswerError("the gradient has not the shape of its argument")
        return (None, None, *found)


def _own(answer: dict[str, Any], found: list[torch.Tensor], tensors: list[torch.Tensor]) -> dict[int, torch.Tensor]:
    """The arguments themselves, by their places among the answer's tensors, where the learner's code returned them."""
    same = answer.get("same")
    if not isinstance(same, dict):
        raise AnswerError("the answer does not say which of its tensors are arguments")
    own: dict[int, torch.Tensor] = {}
    for place, number in same.items():
        if type(place) is not int or type(number) is not int:
            raise AnswerError("a place that is no number")
        if not 0 <= place < len(found) or not 0 <= number < len(tensors):
            raise AnswerError("the answer names an argument that there is not")
        own[place] = tensors[number]
    return own


def _joined(
    ask: Ask, answer: dict[str, Any], found: list[Any], own: dict[int, torch.Tensor], inputs: list[torch.Tensor]
) -> list[Any]:
    """An answer's tensors, joined to the graph of the inputs where the worker's were."""
    marks = answer.get("grad")
    if not torch.is_grad_enabled() or not inputs or not found:
        return found
    if not isinstance(marks, list) or len(marks) != len(found):
        raise AnswerError("the answer does not say which tensors have a gradient")
    chosen = [place for place, mark in enumerate(marks) if mark is True]
    if not chosen or not all(_can_join(found[place]) for place in chosen) or not own.keys().isdisjoint(chosen):
        return found

    def gradient(weights: list[torch.Tensor]) -> Any:
        reply = ask("vjp", call=answer["to"], gradients=weights)
        if "raised" in reply:
            raise _exception(reply)
        return reply.get("value")

    joined = dict(zip(chosen, _Joined.apply(gradient, [found[place] for place in chosen], *inputs), strict=True))
    return [joined.get(place, one) for place, one in enumerate(found)]


def _can_join(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()
