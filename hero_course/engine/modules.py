"""Modules that a learner's code returns, as plain data: a class by name, numbers, parameters, parts.

Only the package's own classes and a few of torch.nn's are known. An instance is filled with what was sent and never
constructed: it computes with the class's own code. The argument checks that a constructor hooks in are not there.
A class of the learner's that derives from a known one and changes nothing but how it is constructed counts as that one.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hero_course.engine import PACKAGE

if TYPE_CHECKING:
    from torch import nn

__all__ = ["is_module", "put_together", "taken_apart"]

_NAME = re.compile(r"[^\W\d]\w{0,59}|\d{1,6}")  # a ModuleList numbers its parts
_TORCH = {  # by the place of the class; none computes more than its parameters and its input allow
    f"torch.nn.modules.{name}"
    for name in (
        "activation.GELU", "container.ModuleDict", "container.ModuleList", "container.Sequential", "dropout.Dropout",
        "linear.Identity", "linear.Linear", "normalization.LayerNorm", "sparse.Embedding",
    )
}  # fmt: skip
Apart = tuple[tuple[str, ...], dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]
_PLAIN = (bool, int, float, str, type(None))
_OF_NO_EFFECT = {
    "__annotations__", "__dict__", "__doc__", "__firstlineno__", "__init__", "__module__", "__parameters__",
    "__qualname__", "__static_attributes__", "__weakref__",
}  # fmt: skip


def is_module(value: Any) -> bool:
    """Whether it is an ``nn.Module``; False where torch is not loaded, as in the driver."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def taken_apart(module: nn.Module) -> Apart:
    """The class, and by name the plain attributes, buffers, parameters and parts.

    Returns:
        Of the class its place; or, if it only derives from a known one, that one's place and its own name.

    Example:
        >>> import torch
        >>> places, plain, buffers, parameters, parts = taken_apart(torch.nn.Linear(2, 3))
        >>> places, plain["in_features"], list(parameters)
        (('torch.nn.modules.linear.Linear',), 2, ['weight', 'bias'])
    """
    kind, found = type(module), vars(module)
    plain = {name: value for name, value in found.items() if _is_plain(value)}
    return _places(kind), plain, *(found[f"_{one}"] for one in _REGISTERED)


def _places(kind: type) -> tuple[str, ...]:
    """The place of a class, or that of the known one that it derives from without any effect, and its own name."""
    for one in kind.__mro__:
        place = f"{one.__module__}.{one.__qualname__}"
        if place in _TORCH or place.startswith(f"{PACKAGE}."):
            return (place,) if one is kind else (place, kind.__name__)
        if not vars(one).keys() <= _OF_NO_EFFECT:
            break
    return (f"{kind.__module__}.{kind.__qualname__}",)


def put_together(places: Any, plain: Any, buffers: Any, parameters: Any, parts: Any) -> nn.Module | None:
    """A module of the named class with these parts; None where the class is unknown or a part is not what it should be.

    Names that the class itself defines, such as its methods, are not taken over.

    Example:
        >>> import torch
        >>> module = put_together(*taken_apart(torch.nn.Linear(2, 3)))
        >>> module, module(torch.ones(1, 2)).shape
        (Linear(in_features=2, out_features=3, bias=True), torch.Size([1, 3]))
        >>> put_together(("os.system",), {}, {}, {}, {}) is None
        True
    """
    kind, torch = _class(places), sys.modules["torch"]
    groups = (buffers, parameters, parts)
    registered = (torch.Tensor, torch.nn.Parameter, torch.nn.Module)
    if kind is None or not isinstance(plain, dict) or not all(map(_is_plain, plain.values())):
        return None
    if not all(map(_holds, groups, registered)):
        return None
    module = _empty(kind)
    torch.nn.Module.__init__(module)
    for name, value in plain.items():
        if isinstance(name, str) and name.isidentifier() and name[0] != "_" and not hasattr(kind, name):
            setattr(module, name, value)
    for name, group in zip(_REGISTERED, groups, strict=True):
        vars(module)[f"_{name}"].update(group)
    return module


_REGISTERED = ("buffers", "parameters", "modules")  # torch keeps each under this name with a _ in front


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if type(value) is tuple else isinstance(value, _PLAIN)


def _holds(group: Any, kinds: Any) -> bool:
    return isinstance(group, dict) and all(
        isinstance(name, str) and _NAME.fullmatch(name) and (value is None or isinstance(value, kinds))
        for name, value in group.items()
    )


def _class(places: Any) -> type[nn.Module] | None:
    """The class at a place, if it is a module of the package's or one of torch's that its models are made of."""
    if type(places) is not tuple or not 1 <= len(places) <= 2 or not all(type(one) is str for one in places):
        return None
    place = places[0]
    if not (place.startswith(f"{PACKAGE}.") or place in _TORCH):
        return None
    home, _, name = place.rpartition(".")
    kind = vars(sys.modules[home]).get(name) if home in sys.modules else None
    if not isinstance(kind, type) or not issubclass(kind, sys.modules["torch"].nn.Module):
        return None
    return kind if len(places) == 1 else _derived(places[1], kind)


@lru_cache(maxsize=1000)
def _derived(name: str, base: type[nn.Module]) -> type[nn.Module]:
    """A class that has nothing of its own but its name, and is pickled as its base."""
    return type(name if _NAME.fullmatch(name) else base.__name__, (base,), {"__reduce_ex__": _as_base})


def _as_base(module: nn.Module, protocol: int) -> tuple[Any, ...]:
    return _empty, (type(module).__base__,), vars(module)


def _empty(kind: type[nn.Module]) -> nn.Module:
    return kind.__new__(kind)
