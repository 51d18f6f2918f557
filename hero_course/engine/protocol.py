"""Plain data as bytes.

What a worker sends is never unpickled: it is built here from a few tagged kinds, each checked before it is used.
Anything else that a learner's code returns arrives as an `Opaque`, a type's name and a short text.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from typing import TYPE_CHECKING, Any

from hero_course.engine.frames import ProtocolError
from hero_course.engine.modules import is_module, put_together, taken_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch
    from torch import nn

__all__ = ["MIME", "Opaque", "Remote", "decode", "encode", "opaque", "tensors_in"]

DEPTH, ITEMS, TEXT = 40, 200_000, 80
_LARGEST_KEY = (1 << 61) - 2  # up to there no two whole numbers have one hash, so dictionaries stay fast
# Text and pictures only: what could run in the browser of whoever reads the notebook is not kept.
MIME = ("text/plain", "text/latex", "image/png", "image/jpeg")
_NAME = re.compile(r"[^\W\d]\w{0,59}")
DTYPES = frozenset(
    {
        "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
        "complex64", "complex128",
    }
)  # fmt: skip


class Opaque:
    """Stands for a value that is no plain data; only its type's name and a short text are known."""

    text = ""

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:  # a check may hand it to the learner's code again
        return opaque, (type(self).__name__, self.text)


class Remote:
    """An iterator that stays in the worker; the number is the worker's."""

    def __init__(self, number: int) -> None:
        self.number = number


def opaque(name: str, text: str) -> Opaque:
    """An `Opaque` whose type has the given name.

    Example:
        >>> value = opaque("ndarray", "array([1, 2])")
        >>> type(value).__name__, value
        ('ndarray', array([1, 2]))
    """
    kind = type(name if _NAME.fullmatch(name) else "object", (Opaque,), {"__slots__": ("text",)})
    value = kind()
    value.text = text[:TEXT]
    return value


def encode(value: Any, iterators: list[Any] | None = None) -> bytes:
    """Plain data as bytes. Runs in the worker, on whatever a learner's code returned.

    Args:
        value: None, ``...``, bool, int, float, complex, str, bytes, tuple, list, dict, tensor, or a module (see
            `modules`); subclasses of float, str, the containers and the tensor become the plain type.
            Anything else is sent as an `Opaque`.
        iterators: if given, an iterator is appended to it and sent as its number.

    Example:
        >>> decode(encode((None, 1.5, [True, "a"], {"n": 2**70})))
        (None, 1.5, [True, 'a'], {'n': 1180591620717411303424})
    """
    writer = _Writer(iterators)
    writer.write(value, 0)
    return bytes(writer.out)


class _Writer:
    """Writes one value; of modules and their parameters, each once."""

    def __init__(self, iterators: list[Any] | None) -> None:
        self.out, self.iterators = bytearray(), iterators
        self.written: dict[int, int] = {}  # by id; in the order in which they end

    def write(self, value: Any, depth: int) -> None:
        kind = type(value)
        if value is None or value is ... or kind is bool:
            self.out += {None: b"N", ...: b"E", True: b"T", False: b"F"}[value]
        elif kind is int:
            self.sized(b"I", value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
        elif isinstance(value, float):
            self.out += b"D" + struct.pack("<d", value)
        elif kind is complex:
            self.out += b"C" + struct.pack("<dd", value.real, value.imag)
        elif isinstance(value, str):
            self.sized(b"S", str.encode(value, "utf-8", "replace"))
        elif kind is bytes:
            self.sized(b"B", value)
        elif depth > DEPTH:
            self.opaque(value)
        elif isinstance(value, (tuple, list)):
            base = tuple if isinstance(value, tuple) else list
            items = list(base.__iter__(value))
            self.out += (b"U" if base is tuple else b"L") + struct.pack("<Q", len(items))
            for item in items:
                self.write(item, depth + 1)
        elif isinstance(value, dict):
            self.mapping(dict.items(value), self.write, depth)
        elif _is_tensor(value):
            self.tensor(value)
        elif is_module(value):
            self.module(value, depth)
        elif self.iterators is not None and hasattr(kind, "__next__"):
            self.out += b"R" + struct.pack("<Q", len(self.iterators))
            self.iterators.append(value)
        else:
            self.opaque(value)

    def mapping(self, items: Iterable[tuple[Any, Any]], write: Callable[[Any, int], None], depth: int) -> None:
        pairs = list(items)
        self.out += b"M" + struct.pack("<Q", len(pairs))
        for name, item in pairs:
            self.write(name, depth + 1)
            write(item, depth + 1)

    def module(self, value: nn.Module, depth: int) -> None:
        if self.again(value):
            return
        place, plain, buffers, parameters, parts = taken_apart(value)
        self.out += b"K"
        self.write(place, depth + 1)
        self.mapping(plain.items(), self.write, depth + 1)
        self.mapping(buffers.items(), self.write, depth + 1)
        self.mapping(parameters.items(), self.parameter, depth + 1)
        self.mapping(parts.items(), self.write, depth + 1)
        self.written[id(value)] = len(self.written)

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

    def sized(self, tag: bytes, content: bytes) -> None:
        self.out += tag + struct.pack("<Q", len(content)) + content

    def opaque(self, value: Any) -> None:
        try:
            text = repr(value)
        except Exception:
            text = "?"
        self.out += b"O"
        for part in (type(value).__name__, str(text)):
            self.sized(b"S", part[:TEXT].encode("utf-8", "replace"))

    def tensor(self, value: torch.Tensor) -> None:
        torch = sys.modules["torch"]
        with torch._C.DisableTorchFunction():
            plain = torch.Tensor.detach(value).as_subclass(torch.Tensor)
            name = str(plain.dtype).removeprefix("torch.")
            if name not in DTYPES or plain.layout is not torch.strided or plain.is_meta:
                self.opaque(plain)
                return
            plain = plain.cpu().resolve_conj().resolve_neg().contiguous()
            raw = plain.flatten().view(torch.uint8).numpy().tobytes() if plain.numel() else b""
            self.out += b"X"
            self.sized(b"S", name.encode())
            self.out += struct.pack("<Q", plain.dim()) + b"".join(struct.pack("<Q", size) for size in plain.shape)
            self.sized(b"B", raw)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")  # the driver does without it
    return torch is not None and isinstance(value, torch.Tensor)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of a value, in the order in which they are sent."""
    if _is_tensor(value):
        return [value]
    if isinstance(value, (tuple, list)):
        return [one for item in value for one in tensors_in(item)]
    return [one for item in value.values() for one in tensors_in(item)] if isinstance(value, dict) else []


def decode(payload: bytes, items: int = ITEMS) -> Any:
    """Build plain data from bytes that nobody vouches for.

    Args:
        payload: what was sent.
        items: the largest number of parts that is accepted.

    Raises:
        ProtocolError: if they are not exactly one value.
    """
    reader = _Reader(payload, items)
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
    """Reads one value, with a bound on depth and on the number of parts."""

    def __init__(self, payload: bytes, items: int) -> None:
        self.payload, self.place, self.left = payload, 0, items
        self.built: list[Any] = []  # modules and their parameters, as `_Writer.written` numbers them

    def value(self, depth: int) -> Any:
        self.left -= 1
        if depth > DEPTH + 2 or self.left < 0:
            raise ProtocolError("a value too deep or of too many parts")
        tag = self.bytes(1)
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag == b"I":
            content = self.sized(4096)
            return int.from_bytes(content, "little", signed=True)
        if tag == b"D":
            return struct.unpack("<d", self.bytes(8))[0]
        if tag == b"C":
            return complex(*struct.unpack("<dd", self.bytes(16)))
        if tag == b"S":
            return self.sized().decode("utf-8", "replace")
        if tag == b"B":
            return self.sized()
        if tag in (b"U", b"L"):
            items = [self.value(depth + 1) for _ in range(self.number())]
            return tuple(items) if tag == b"U" else items
        if tag == b"M":
            return self.mapping(depth)
        if tag == b"X":
            return self.tensor()
        if tag == b"K":
            return self.module(depth)
        if tag == b"P":
            return self.parameter(depth)
        if tag == b"J":
            return self.built[self.number()]
        if tag == b"O":
            return opaque(self.text(), self.text())
        if tag == b"R":
            return Remote(self.number())
        raise ProtocolError(f"no kind {tag!r}")

    def bytes(self, size: int) -> bytes:
        if size > len(self.payload) - self.place:
            raise ProtocolError("cut off")
        self.place += size
        return self.payload[self.place - size : self.place]

    def number(self) -> int:
        return struct.unpack("<Q", self.bytes(8))[0]

    def sized(self, most: int | None = None) -> bytes:
        size = self.number()
        if most is not None and size > most:
            raise ProtocolError(f"a number of {size} bytes")
        return self.bytes(size)

    def text(self) -> str:
        value = self.value(DEPTH)
        if type(value) is not str:
            raise ProtocolError("expected a text")
        return value

    def mapping(self, depth: int) -> dict[Any, Any]:
        found = {}
        for _ in range(self.number()):
            name = self.value(depth + 1)
            if not isinstance(name, (str, int, float, bool, type(None), tuple)):
                raise ProtocolError(f"a key of the kind {type(name).__name__}")
            if isinstance(name, int) and abs(name) > _LARGEST_KEY:
                raise ProtocolError("a number too large for a key")
            try:
                found[name] = self.value(depth + 1)
            except TypeError as error:
                raise ProtocolError("a key that cannot be one") from error
        return found

    def module(self, depth: int) -> Any:
        place, *groups = (self.value(depth + 1) for _ in range(5))
        value = put_together(place, *groups)
        if value is None:
            value = opaque(str(place).rpartition(".")[2], "a module")
        self.built.append(value)
        return value

    def parameter(self, depth: int) -> Any:
        grad, value = self.value(DEPTH), self.value(depth + 1)
        if _is_tensor(value):
            value = sys.modules["torch"].nn.Parameter(value, requires_grad=grad is True)
        self.built.append(value)
        return value

    def tensor(self) -> torch.Tensor:
        name, dimensions, torch = self.text(), self.number(), sys.modules.get("torch")
        if name not in DTYPES or dimensions > 64 or torch is None:
            raise ProtocolError("a tensor of no known kind")
        dtype = getattr(torch, name)
        shape = [self.number() for _ in range(dimensions)]
        raw = self.value(DEPTH)
        count = math.prod(shape)
        if type(raw) is not bytes or len(raw) != count * dtype.itemsize or any(size > 1 << 40 for size in shape):
            raise ProtocolError("a tensor whose bytes are not of its shape")
        if dtype is torch.bool and raw.strip(b"\0\1"):
            raw = bytes(byte != 0 for byte in raw)
        flat = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        return flat.reshape(shape)


_CONSTANTS = {b"N": None, b"E": ..., b"T": True, b"F": False}
