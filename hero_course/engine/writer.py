"""Values as bytes. Runs in a worker on whatever a learner's code returned, and everywhere else on our own."""

from __future__ import annotations

import math
import struct
import sys
from typing import TYPE_CHECKING, Any

from hero_course.engine.kinds import DEPTH, ITEMS, TEXT, TooLargeError, base_of, numpy_parts, to_parts
from hero_course.engine.modules import is_module, taken_apart
from hero_course.engine.tensors import tensor_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch
    from torch import nn

__all__ = ["encode", "encode_with_tensors", "is_tensor"]

_CONSTANTS = {None: b"N", ...: b"E", True: b"T", False: b"F"}
_LARGEST = 4096  # bytes of a whole number


def encode(value: Any, iterators: list[Any] | None = None, most: float = math.inf) -> bytes:
    """A value as bytes.

    Args:
        value: None, ``...``, a number (Python's, numpy's, `Decimal`, `Fraction`), str, bytes, a container of Python's,
            an array, a tensor, or a module (see `modules`); a value of a class derived from one of these becomes one
            that has only the class's name. Anything else is sent as an `Opaque`.
        iterators: if given, an iterator is appended to it and sent as its number.
        most: the largest number of bytes; if given, the number of parts has a bound, too.

    Raises:
        TooLargeError: if there are more.

    Example:
        >>> from hero_course.engine.reader import decode
        >>> decode(encode((None, 1.5, [True, "a"], {"n": 2**70})))
        (None, 1.5, [True, 'a'], {'n': 1180591620717411303424})
    """
    writer = _Writer(iterators, most, None)
    writer.write(value, 0)
    return bytes(writer.out)


def encode_with_tensors(value: Any, iterators: list[Any], most: float) -> tuple[bytes, list[torch.Tensor]]:
    """A value as bytes in which each tensor is only a number, and the tensors in the order of their numbers.

    Raises:
        TooLargeError: as `encode`.
    """
    writer = _Writer(iterators, most, [])
    writer.write(value, 0)
    return bytes(writer.out), writer.tensors or []


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor; False where torch is not loaded, as in the driver."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


class _Writer:
    """Writes one value; of modules and their parameters, each once."""

    def __init__(self, iterators: list[Any] | None, most: float, tensors: list[torch.Tensor] | None) -> None:
        self.out, self.iterators, self.tensors = bytearray(), iterators, tensors
        self.most, self.left = most, math.inf if most == math.inf else ITEMS
        self.written: dict[int, int] = {}  # by id; in the order in which they end

    def write(self, value: Any, depth: int) -> None:
        self.left -= 1
        if self.left < 0 or len(self.out) > self.most:
            raise TooLargeError(f"more than {ITEMS} parts" if self.left < 0 else f"more than {self.most:.0f} bytes")
        kind = type(value)
        if value is None or value is ... or kind is bool:
            self.out += _CONSTANTS[value]
        elif kind in _PLAINEST:
            _PLAINEST[kind](self, value)
        elif depth > DEPTH:
            self.opaque(kind.__name__, value)
        elif kind in (tuple, list):
            self.out += (b"U" if kind is tuple else b"L") + struct.pack("<Q", len(value))
            for item in value:
                self.write(item, depth + 1)
        elif kind is dict:
            self.mapping(value.items(), self.write, depth)
        else:
            self.other(value, depth)

    def other(self, value: Any, depth: int) -> None:
        """Write what is none of Python's plainest."""
        kind = type(value)
        if is_tensor(value):
            self.tensor(value) if self.tensors is None else self.number_of(value)
        elif is_module(value):
            self.module(value, depth)
        elif (array := numpy_parts(value, self.most - len(self.out))) is not None:
            self.array(*array)
        elif (parts := to_parts(value)) is not None:
            self.out += b"V"
            self.write(parts, depth + 1)
        elif (plain := base_of(value)) is not None:
            self.out += b"W"
            self.text(kind.__name__)
            self.write(plain, depth + 1)
        elif self.iterators is not None and hasattr(kind, "__next__"):
            self.out += b"R" + struct.pack("<Q", len(self.iterators))
            self.text(kind.__name__)
            self.iterators.append(value)
        else:
            self.opaque(kind.__name__, value)

    def mapping(self, items: Iterable[tuple[Any, Any]], write: Callable[[Any, int], None], depth: int) -> None:
        pairs = list(items)
        self.out += b"M" + struct.pack("<Q", len(pairs))
        for name, item in pairs:
            self.write(name, depth + 1)
            write(item, depth + 1)

    def module(self, value: nn.Module, depth: int) -> None:
        if self.again(value):
            return
        places, plain, buffers, parameters, parts = taken_apart(value)
        self.out += b"K"
        self.write(places, depth + 1)
        self.mapping(plain.items(), self.write, depth + 1)
        self.mapping(buffers.items(), self.buffer, depth + 1)
        self.mapping(parameters.items(), self.parameter, depth + 1)
        self.mapping(parts.items(), self.write, depth + 1)
        self.written[id(value)] = len(self.written)

    def buffer(self, value: torch.Tensor | None, depth: int) -> None:
        if value is None:
            self.out += b"N"
        else:
            self.tensor(value)

    def parameter(self, value: nn.Parameter | None, depth: int) -> None:
        if value is None or self.again(value):
            self.out += b"N" if value is None else b""
            return
        self.out += b"P" + (b"T" if value.requires_grad else b"F")
        self.tensor(value)
        self.written[id(value)] = len(self.written)

    def again(self, value: Any) -> bool:
        """Whether it was written before; then its number is."""
        number = self.written.get(id(value))
        self.out += b"" if number is None else b"J" + struct.pack("<Q", number)
        return number is not None

    def tensor(self, value: torch.Tensor) -> None:
        parts = tensor_parts(value, self.most - len(self.out))
        if isinstance(parts, str):
            self.opaque(parts, value)
            return
        name, shape, strides, content = parts
        self.out += b"X"
        self.text(name)
        self.numbers(shape)
        self.numbers(strides)
        self.sized(b"B", content)

    def number_of(self, value: torch.Tensor) -> None:
        """Write only a number for a tensor, the same one for the same tensor."""
        number = next((n for n, one in enumerate(self.tensors) if one is value), len(self.tensors))
        if number == len(self.tensors):
            self.tensors.append(value)
        self.out += b"A" + struct.pack("<Q", number)

    def array(self, name: str, shape: tuple[int, ...] | None, content: bytes) -> None:
        self.out += b"y" if shape is None else b"Y"
        self.text(name)
        self.numbers(shape or ())
        self.sized(b"B", content)

    def numbers(self, numbers: tuple[int, ...]) -> None:
        self.out += struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers)

    def sized(self, tag: bytes, content: bytes) -> None:
        if len(self.out) + len(content) > self.most:
            raise TooLargeError(f"more than {self.most:.0f} bytes")
        self.out += tag + struct.pack("<Q", len(content)) + content

    def text(self, value: str) -> None:
        self.sized(b"S", value.encode("utf-8", "replace"))

    def whole(self, value: int) -> None:
        size = value.bit_length() // 8 + 1
        if size > _LARGEST:
            raise TooLargeError(f"a number of {size} bytes")
        self.sized(b"I", value.to_bytes(size, "little", signed=True))

    def opaque(self, name: str, value: Any) -> None:
        try:
            text = str(repr(value))
        except Exception:
            text = "?"
        self.out += b"O"
        self.text(name[:TEXT])
        self.text(text[:TEXT])


_PLAINEST: dict[type, Callable[[_Writer, Any], None]] = {
    int: _Writer.whole,
    float: lambda writer, value: writer.out.extend(b"D" + struct.pack("<d", value)),
    complex: lambda writer, value: writer.out.extend(b"C" + struct.pack("<dd", value.real, value.imag)),
    str: _Writer.text,
    bytes: lambda writer, value: writer.sized(b"B", value),
}
