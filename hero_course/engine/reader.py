"""Values from bytes that nobody vouches for: a few tagged kinds, each checked before it is used, none of them run.

Whoever reads a value works with it, so its cost is bounded, too: its depth, the number of its parts, those of modules
that are shared many times over, and how many different values have one hash.
"""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hero_course.engine.frames import ProtocolError
from hero_course.engine.kinds import DEPTH, ITEMS, Remote, derived, from_parts, opaque, to_numpy
from hero_course.engine.modules import put_together
from hero_course.engine.tensors import to_tensor

if TYPE_CHECKING:
    import torch

__all__ = ["decode"]

_SMALL = (1 << 61) - 2  # up to there no two whole numbers have one hash
_ONE_HASH = 1000  # so many different values may have the same
_KINDS = 1000  # names of classes in one value
_CONSTANTS = {b"N": None, b"E": ..., b"T": True, b"F": False}


def decode(
    payload: bytes,
    items: int = ITEMS,
    tensors: Sequence[torch.Tensor] = (),
    iterator: Callable[[int, str], Any] = Remote,
) -> Any:
    """Build a value from bytes that nobody vouches for.

    Args:
        payload: what was sent.
        items: the largest number of parts that is accepted.
        tensors: those that it has only the numbers of.
        iterator: what stands for an iterator that was not sent, made of its number and its type's name.

    Raises:
        ProtocolError: if they are not exactly one value.
    """
    reader = _Reader(payload, items, tensors, iterator)
    try:
        value = reader.value(0)
    except ProtocolError:
        raise
    except Exception as error:  # torch refuses a shape, perhaps
        raise ProtocolError(f"a value that cannot be built ({type(error).__name__})") from error
    if reader.place != len(payload):
        raise ProtocolError("bytes after the value")
    return value


class _Reader:
    """Reads one value."""

    def __init__(
        self, payload: bytes, items: int, tensors: Sequence[torch.Tensor], iterator: Callable[[int, str], Any]
    ) -> None:
        self.payload, self.place, self.left = payload, 0, items
        self.tensors, self.iterator = tensors, iterator
        self.built: list[Any] = []  # modules and their parameters, as `_Writer.written` numbers them
        self.sizes: dict[int, int] = {}  # of modules, with all their parts
        self.names: set[str] = set()
        self.hashes: dict[int, Any] = {}
        self.again: Counter[int] = Counter()

    def value(self, depth: int) -> Any:
        self.left -= 1
        if depth > DEPTH + 4 or self.left < 0:
            raise ProtocolError("a value too deep or of too many parts")
        tag = self.bytes(1)
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag not in _KINDS_OF:
            raise ProtocolError(f"no kind {tag!r}")
        return _KINDS_OF[tag](self, depth)

    def bytes(self, size: int) -> bytes:
        if size > len(self.payload) - self.place:
            raise ProtocolError("cut off")
        self.place += size
        return self.payload[self.place - size : self.place]

    def number(self) -> int:
        return struct.unpack("<Q", self.bytes(8))[0]

    def numbers(self) -> tuple[int, ...]:
        count = self.number()
        if count > 64:
            raise ProtocolError(f"{count} axes")
        return struct.unpack(f"<{count}Q", self.bytes(8 * count))

    def sized(self, most: int | None = None) -> bytes:
        size = self.number()
        if most is not None and size > most:
            raise ProtocolError(f"a number of {size} bytes")
        return self.bytes(size)

    def text(self) -> str:
        return self.content(str)

    def content(self, kind: type) -> Any:
        value = self.value(DEPTH)
        if type(value) is not kind:
            raise ProtocolError(f"expected {kind.__name__}")
        return value

    def whole(self, depth: int) -> int:
        number = int.from_bytes(self.sized(4096), "little", signed=True)
        return self.noted(number) if abs(number) > _SMALL else number

    def items(self, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(self.number())]

    def mapping(self, depth: int) -> dict[Any, Any]:
        found = {}
        for _ in range(self.number()):
            name = self.value(depth + 1)
            try:
                found[name] = self.value(depth + 1)
            except TypeError as error:
                raise ProtocolError("a key that cannot be one") from error
        return found

    def noted(self, value: Any) -> Any:
        """The value, unless too many others have its hash: dictionaries and sets of them would take for ever."""
        try:
            number = hash(value)
        except TypeError:
            return value
        first = self.hashes.setdefault(number, value)
        if first is not value and first != value:
            self.again[number] += 1
            if self.again[number] > _ONE_HASH:
                raise ProtocolError("too many values of one hash")
        return value

    def named(self) -> str:
        """The name of a class."""
        name = self.text()
        self.names.add(name)
        if len(self.names) > _KINDS:
            raise ProtocolError("too many names of classes")
        return name

    def rebuilt(self, depth: int) -> Any:
        parts = self.value(depth + 1)
        if type(parts) is not tuple or len(parts) != 2 or type(parts[0]) is not str:
            raise ProtocolError("no parts of a value")
        return self.noted(from_parts(*parts))

    def module(self, depth: int) -> Any:
        places, *groups = (self.value(depth + 1) for _ in range(5))
        value = put_together(places, *groups)
        if value is None:
            value = opaque(places[0].rpartition(".")[2] if isinstance(places, tuple) else "Module", "a module")
        else:
            self.sizes[id(value)] = 1 + sum(self.sizes.get(id(part), 1) for part in groups[-1].values())
            if self.sizes[id(value)] > ITEMS:
                raise ProtocolError("a module of too many parts")
        self.built.append(value)
        return value

    def parameter(self, depth: int) -> Any:
        grad, value, torch = self.value(DEPTH), self.value(depth + 1), sys.modules["torch"]
        if isinstance(value, torch.Tensor):
            value = torch.nn.Parameter(value, requires_grad=grad is True)
        self.built.append(value)
        return value

    def tensor(self, depth: int) -> torch.Tensor:
        return to_tensor(self.text(), self.numbers(), self.numbers(), self.content(bytes))

    def array(self, depth: int) -> Any:
        return to_numpy(self.text(), self.numbers(), self.content(bytes))

    def numpy_number(self, depth: int) -> Any:
        name, shape, content = self.text(), self.numbers(), self.content(bytes)
        if shape:
            raise ProtocolError("a number that has a shape")
        return self.noted(to_numpy(name, None, content))


_KINDS_OF: dict[bytes, Callable[[_Reader, int], Any]] = {
    b"I": _Reader.whole,
    b"D": lambda reader, depth: struct.unpack("<d", reader.bytes(8))[0],
    b"C": lambda reader, depth: reader.noted(complex(*struct.unpack("<dd", reader.bytes(16)))),
    b"S": lambda reader, depth: reader.sized().decode("utf-8", "replace"),
    b"B": lambda reader, depth: reader.sized(),
    b"U": lambda reader, depth: reader.noted(tuple(reader.items(depth))),
    b"L": _Reader.items,
    b"M": _Reader.mapping,
    b"X": _Reader.tensor,
    b"A": lambda reader, depth: reader.tensors[reader.number()],
    b"Y": _Reader.array,
    b"y": _Reader.numpy_number,
    b"V": _Reader.rebuilt,
    b"W": lambda reader, depth: reader.noted(derived(reader.named(), reader.value(depth + 1))),
    b"K": _Reader.module,
    b"P": _Reader.parameter,
    b"J": lambda reader, depth: reader.built[reader.number()],
    b"O": lambda reader, depth: opaque(reader.named(), reader.text()),
    b"R": lambda reader, depth: reader.iterator(reader.number(), reader.named()),
}
