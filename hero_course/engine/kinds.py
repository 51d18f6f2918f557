"""Values beside the plainest that cross between the processes: what stands for each on the way, and how it is rebuilt.

A value arrives as what it was wherever that is harmless, so that a check judges it as it would in one process: numpy's
numbers and arrays, fractions, sets, a class derived from ``dict``. Nothing that comes with it is run.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

__all__ = [
    "DEPTH", "ITEMS", "Opaque", "Remote", "TooLargeError", "base_of", "derived", "from_parts", "numpy_parts", "opaque",
    "to_numpy", "to_parts",
]  # fmt: skip

DEPTH, ITEMS, TEXT = 40, 200_000, 80
NUMPY = frozenset(
    ["bool", "float16", "float32", "float64", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
_NAME = re.compile(r"[^\W\d]\w{0,59}")
_DIGITS = 400  # of a Decimal, before or after its point: what is larger costs much to compute with


class TooLargeError(Exception):
    """A value has too many parts or bytes to be sent."""


class Opaque:
    """Stands for a value that is no plain data; only its type's name and a short text are known."""

    text = ""

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:  # a check may hand it to the learner's code again
        return opaque, (type(self).__name__, self.text)


class Remote:
    """An iterator that stays in the worker; the number is the worker's."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name


def opaque(name: str, text: str) -> Opaque:
    """An `Opaque` whose type has the given name.

    Example:
        >>> value = opaque("Thing", "<thing>")
        >>> type(value).__name__, value
        ('Thing', <thing>)
    """
    value = _kind(name, Opaque)()
    value.text = text[:TEXT]
    return value


def derived(name: str, value: Any) -> Any:
    """A value of a class derived from its own, which only has another name.

    Example:
        >>> point = derived("Point", (1, 2))
        >>> type(point).__name__, point == (1, 2), isinstance(point, tuple), type(point) is tuple
        ('Point', True, True, False)
    """
    if type(value) not in _BASES:
        raise TypeError(f"no class is derived from {type(value).__name__} here")
    return _kind(name, type(value))(value)


def base_of(value: Any) -> Any:
    """A value of a class derived from one of Python's as that one's, without calling what the class may define.

    Example:
        >>> base_of(Counter("aab")), base_of(object())
        ({'a': 2, 'b': 1}, None)
    """
    return next((plain(value) for base, plain in _BASES.items() if isinstance(value, base)), None)


@lru_cache(maxsize=1000)
def _kind(name: str, base: type) -> type:
    """A class that has nothing of its own but its name."""
    own = {"__slots__": ("text",)} if base is Opaque else {"__slots__": (), "__reduce_ex__": _as_base}
    return type(name if _NAME.fullmatch(name) else "object", (base,), own)


def _as_base(value: Any, protocol: int) -> tuple[Any, tuple[Any]]:
    """How a derived value is pickled: as its base's."""
    base = type(value).__base__
    return base, (base_of(value),)


_BASES: dict[type, Callable[[Any], Any]] = {
    int: int.__pos__, float: float.__pos__, str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple(tuple.__iter__(value)), list: lambda value: list(list.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
}  # fmt: skip


def _range(start: int, stop: int, step: int) -> range:
    found = range(start, stop, step)
    if len(found) > ITEMS:
        raise ValueError(f"a range of {len(found)}")
    return found


def _fraction(above: int, below: int) -> Fraction:
    if type(above) is not int or type(below) is not int:
        raise TypeError("a fraction is made of two whole numbers")
    return Fraction(above, below)


def _decimal(text: str) -> Decimal:
    number = Decimal(text if type(text) is str and len(text) <= _DIGITS else "NaN")
    if number.is_finite() and abs(number.adjusted()) > _DIGITS:
        raise ValueError("a number of too many digits")
    return number


def _defaults(name: str, items: dict) -> defaultdict:
    return defaultdict(_FACTORIES.get(name), items)


_FACTORIES = {one.__name__: one for one in (int, float, str, list, dict, set, tuple)}

# For each type the arguments that it is made of again, and what makes it of them.
_REBUILT: dict[type, tuple[Callable[[Any], tuple], Callable[..., Any]]] = {
    set: (lambda value: (list(value),), set),
    frozenset: (lambda value: (list(value),), frozenset),
    deque: (lambda value: (list(value),), deque),
    bytearray: (lambda value: (bytes(value),), bytearray),
    range: (lambda value: (value.start, value.stop, value.step), _range),
    Fraction: (lambda value: (value.numerator, value.denominator), _fraction),
    Decimal: (lambda value: (str(value),), _decimal),
    OrderedDict: (lambda value: (dict(value),), OrderedDict),
    Counter: (lambda value: (dict(value),), Counter),
    defaultdict: (lambda value: (getattr(value.default_factory, "__name__", ""), dict(value)), _defaults),
    type({}.keys()): (lambda value: (list(value),), lambda items: dict.fromkeys(items).keys()),
    type({}.values()): (lambda value: (list(value),), lambda items: dict(enumerate(items)).values()),
    type({}.items()): (lambda value: (list(value),), lambda items: dict(items).items()),
}
_NAMES = {kind.__name__: kind for kind in _REBUILT}


def to_parts(value: Any) -> tuple[str, tuple] | None:
    """The name and the arguments that make a value of one of the types above again; None for another type.

    Example:
        >>> to_parts(Fraction(1, 3)), to_parts([1]), from_parts("Fraction", (1, 3))
        (('Fraction', (1, 3)), None, Fraction(1, 3))
    """
    if type(value) in _REBUILT:
        return type(value).__name__, _REBUILT[type(value)][0](value)
    torch = sys.modules.get("torch")
    return ("Size", (tuple(value),)) if torch is not None and type(value) is torch.Size else None


def from_parts(name: str, arguments: Any) -> Any:
    """What `to_parts` took apart.

    Raises:
        TypeError, ValueError, ArithmeticError, KeyError: if they make none.
    """
    if type(arguments) is not tuple or any(type(one) not in (list, bytes, int, str, dict, tuple) for one in arguments):
        raise TypeError("arguments of no known kind")
    if name == "Size":
        return sys.modules["torch"].Size(*arguments)
    return _REBUILT[_NAMES[name]][1](*arguments)


def numpy_parts(value: Any, room: float) -> tuple[str, tuple[int, ...] | None, bytes] | None:
    """Type, shape (None for a number that is no array) and bytes of numpy's numbers and arrays; None for anything else.

    Raises:
        TooLargeError: if it has more bytes than there is room.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or not (isinstance(value, numpy.generic) or type(value) is numpy.ndarray):
        return None
    if value.dtype.name not in NUMPY:
        return None
    if value.nbytes > room:
        raise TooLargeError(f"{value.nbytes} bytes")
    plain = numpy.asarray(value)
    shape = tuple(plain.shape) if plain is value else None
    return plain.dtype.name, shape, plain.astype(plain.dtype.newbyteorder("=")).tobytes()


def to_numpy(name: str, shape: tuple[int, ...] | None, raw: bytes) -> Any:
    """What `numpy_parts` took apart.

    Raises:
        ValueError: if the bytes are not of the type and shape.

    Example:
        >>> import numpy
        >>> to_numpy(*numpy_parts(numpy.int64(3), 99)), to_numpy(*numpy_parts(numpy.eye(2), 99)).tolist()
        (np.int64(3), [[1.0, 0.0], [0.0, 1.0]])
    """
    numpy = sys.modules["numpy"]
    kind = numpy.dtype(name) if name in NUMPY else None
    if kind is None or len(raw) != kind.itemsize * math.prod(shape or ()):
        raise ValueError("bytes that are not of their shape")
    if name == "bool":
        raw = bytes(byte != 0 for byte in raw)
    array = numpy.frombuffer(bytearray(raw), dtype=kind)
    return array[0] if shape is None else array.reshape(shape)
