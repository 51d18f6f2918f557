"""Exercises: how a learner's function takes the place of the library's.

A notebook writes ``@replaces(model)`` above a function, or ``@replaces(TransformerBlock)`` above a method.
The learner's code then stands where the library's stood, so every part of the package that calls it by
name meets the learner's version; what the notebook keeps under that name is a dispatcher that looks it up
at each call, so a stand-in put there later is met as well.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any, NamedTuple

from torch.overrides import TorchFunctionMode, resolve_name

from hero_transformer.arguments import checked_by
from hero_transformer.barred import BARRED, Barred, raised

__all__ = [
    "BarredAnswer", "NotWrittenError", "Replaced", "answer_to", "barred_answers", "describe_missing", "replaced_by",
    "replaces", "standing_in",
]  # fmt: skip

_checked: list[str] = []  # the exercises whose own code runs under a check now
_BOOKKEEPING = {"RESUME", "NOP", "CACHE", "PRECALL", "PUSH_NULL", "COPY_FREE_VARS", "MAKE_CELL"}


class Replaced(NamedTuple):
    """Where an exercise's function stands: its owner, its name there, and what the edition had."""

    owner: type | ModuleType
    name: str
    edition: Callable

    @property
    def target(self) -> str:
        """The function's place in the package, such as ``model.TransformerBlock.forward``."""
        module = self.owner.__name__ if isinstance(self.owner, ModuleType) else self.owner.__module__
        parts = [module.partition(".")[2] or module, self.name]
        if isinstance(self.owner, type):
            parts.insert(1, self.owner.__qualname__)
        return ".".join(parts)


class NotWrittenError(NotImplementedError):
    """An exercise that was not written yet was called; shown in one line that says which."""

    def _render_traceback_(self) -> list[str]:  # IPython's hook for how an exception looks
        return [f"{type(self).__name__}: {describe_missing(str(self))}"]


class BarredAnswer(RuntimeError):
    """The library function that is the whole answer was called while the exercise was checked."""


class _Bar(TorchFunctionMode):
    """Refuses a few torch functions, however the caller came by them."""

    def __init__(self, barred: Barred) -> None:
        super().__init__()
        self._barred = barred

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in self._barred:
            name = resolve_name(func) or f"{func.__module__}.{func.__name__}"  # autograd.grad has no entry
            raise _barred_name(name)
        return func(*args, **(kwargs or {}))


def replaces(owner: type | ModuleType) -> Callable[[Callable], Callable]:
    """Put the function below in the place of the function of the same name in ``owner``.

    Args:
        owner: the module or the class whose function is rewritten.

    Returns:
        A decorator. What it returns calls whatever stands in ``owner`` at that time. A body that does
        nothing but ``raise NotImplementedError(...)`` puts back what the edition had.

    Raises:
        AttributeError: if ``owner`` has no function of that name (the ``def`` line was renamed).

    Example:
        >>> import types
        >>> shop = types.ModuleType("shop")
        >>> shop.price = lambda: 1
        >>> @replaces(shop)
        ... def price():
        ...     return 2
        >>> shop.price(), price()
        (2, 2)
        >>> @replaces(shop)
        ... def price():
        ...     raise NotImplementedError("price")
        >>> price()
        1
    """

    def install(function: Callable) -> Callable:
        name = function.__name__
        current = vars(owner).get(name)
        if not callable(current):
            raise AttributeError(
                f"{owner.__name__} 里没有函数 {name}：def 这一行请保持原样 | {owner.__name__} has no function "
                f"{name}: keep the def line as it was"
            )
        earlier = replaced_by(current)
        edition = earlier.edition if earlier else getattr(current, "stub", current)
        place = Replaced(owner, name, edition)
        new: Callable = _missing(edition) if _only_raises(edition) else edition
        if not _only_raises(function):
            check = getattr(edition, "check", None)  # the supplied argument check stays in front
            new = checked_by(check)(function) if check else function
            new.replaced = place  # type: ignore[attr-defined]
        for home in _homes(owner, name, current):
            setattr(home, name, new)

        @functools.wraps(edition)
        def dispatcher(*args: Any, **kwargs: Any) -> Any:
            return getattr(owner, name)(*args, **kwargs)

        dispatcher.replaced = place  # type: ignore[attr-defined]
        return dispatcher

    return install


def describe_missing(key: str) -> str:
    """What a learner reads where an exercise is not written yet."""
    return (
        f"{key}: 尚未作答，请填写单元 {key}（若已填写，看它下面的报错）\n"
        f"  not written yet: fill in the cell {key} (if you have, see the error below it)"
    )


def replaced_by(function: Callable) -> Replaced | None:
    """Where ``function`` stands if `replaces` put it there, else None."""
    return getattr(function, "replaced", None)


def answer_to(*targets: str) -> Callable[[Callable], Callable]:
    """Mark a stand-in as the whole answer to exercises: it refuses to work for one that is being checked.

    Args:
        targets: the exercises' places in the package, such as ``model.gelu``.

    Example:
        >>> @answer_to("model.gelu")
        ... def smooth(x):
        ...     return x / 2
        >>> smooth(1.0)
        0.5
        >>> with _under_check("model.gelu"):  # doctest: +ELLIPSIS
        ...     smooth(1.0)
        Traceback (most recent call last):
        ...
        hero_transformer.exercise.BarredAnswer: ... | smooth is the answer itself; write it out
    """

    def mark(function: Callable) -> Callable:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if not _checked or _checked[-1] not in targets:
                return function(*args, **kwargs)
            raise BarredAnswer(_refusal(function.__qualname__.removesuffix(".forward")))

        del guarded.__wrapped__
        guarded.answers = targets  # type: ignore[attr-defined]
        return guarded

    return mark


@contextmanager
def _under_check(target: str) -> Iterator[None]:
    _checked.append(target)
    try:
        yield
    finally:
        _checked.pop()


def _barred_name(name: str) -> BarredAnswer:
    return BarredAnswer(_refusal(name))


def _refusal(name: str) -> str:
    return f"这里不许用 {name}：它就是答案 | {name} is the answer itself; write it out"


@contextmanager
def barred_answers(place: Replaced) -> Iterator[None]:
    """Refuse what would be the whole answer while an exercise's own code runs, and only then.

    Stand-ins and oracles may use torch's own functions, and checks may use stand-ins: the bar is up from the call of
    the exercise to its return.
    """
    current = vars(place.owner)[place.name]
    barred = BARRED.get(place.target)

    @functools.wraps(current)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        bar = raised(lambda: _Bar(barred), barred, _barred_name) if barred else nullcontext()
        with bar, _under_check(place.target):
            return current(*args, **kwargs)

    with _set({home: {place.name: guarded} for home in _homes(place.owner, place.name, current)}):
        yield


@contextmanager
def standing_in(**parts: Any) -> Iterator[None]:
    """Put known-good parts in place of the package's own, by name, for the length of a ``with`` block.

    Args:
        parts: for each name of the package (``gelu``, ``LayerNorm``, …) what stands in for it. Every
            module of the package that uses the name meets the stand-in, and so does the notebook where it
            imported the name; it is taken out again at the end.

    Raises:
        ValueError: if no module of the package has the name.

    Example:
        >>> import torch
        >>> from hero_transformer import model
        >>> with standing_in(gelu=torch.relu):
        ...     model.gelu(torch.tensor(-1.0))
        tensor(0.)
        >>> round(model.gelu(torch.tensor(-1.0)).item(), 6)
        -0.158655
    """
    changes: dict[Any, dict[str, Any]] = {}
    for name, part in parts.items():
        homes = [module for module in _package() if name in vars(module)]
        if not homes:
            raise ValueError(f"standing_in({name}=...): no module of the package has the name {name}")
        notebook = sys.modules["__main__"]  # which may have imported the package's own object
        if any(vars(notebook).get(name) is vars(home)[name] for home in homes):
            homes.append(notebook)
        for home in homes:
            changes.setdefault(home, {})[name] = part
    with _set(changes):
        yield


@contextmanager
def _set(changes: dict[Any, dict[str, Any]]) -> Iterator[None]:
    before = {home: {name: vars(home)[name] for name in names} for home, names in changes.items()}
    try:
        for home, names in changes.items():
            for name, value in names.items():
                setattr(home, name, value)
        yield
    finally:
        for home, names in before.items():
            for name, value in names.items():
                setattr(home, name, value)


def _package() -> list[ModuleType]:
    root = __name__.partition(".")[0]
    return [module for name, module in sys.modules.items() if name == root or name.startswith(root + ".")]


def _homes(owner: type | ModuleType, name: str, current: Any) -> list[Any]:
    """The owner, and every module of the package that imported the same object under the same name."""
    if isinstance(owner, type):
        return [owner]
    return [owner] + [m for m in _package() if m is not owner and vars(m).get(name) is current]


def _missing(stub: Callable) -> Callable:
    """An edition's stub whose error is shown in one line instead of torch's whole call stack."""

    @functools.wraps(stub)
    def missing(*args: Any, **kwargs: Any) -> Any:
        try:
            return stub(*args, **kwargs)
        except NotImplementedError as error:
            raise NotWrittenError(*error.args) from None

    missing.stub = stub  # type: ignore[attr-defined]
    return missing


def _only_raises(function: Callable) -> bool:
    """Whether the body does nothing but raise NotImplementedError, with or without a message."""
    code = getattr(inspect.unwrap(function), "__code__", None)  # an argument check may stand around it
    if code is None:
        return False
    steps = [step for step in dis.get_instructions(code) if step.opname not in _BOOKKEEPING]
    shapes = (["LOAD_GLOBAL", "RAISE_VARARGS"], ["LOAD_GLOBAL", "CALL", "RAISE_VARARGS"])
    names = [step.opname for step in steps if step.opname != "LOAD_CONST"]
    return names in shapes and steps[0].argval == "NotImplementedError"
