"""Tensors as type, shape, strides and bytes, and back: the order in memory is kept, since some answers depend on it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hero_course.engine.kinds import TooLargeError

if TYPE_CHECKING:
    import torch

__all__ = ["DTYPES", "extent", "raw", "tensor_parts", "to_tensor"]

DTYPES = frozenset(
    {
        "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
        "complex64", "complex128",
    }
)  # fmt: skip
_SPARSEST = 16  # so many places in memory for one element; what is sparser is sent in row-major order

Parts = tuple[str, tuple[int, ...], tuple[int, ...], bytes]


def tensor_parts(value: torch.Tensor, room: float) -> Parts | str:
    """A tensor's type, shape, strides (none if it is row-major or if elements share a place) and bytes.

    Returns:
        These; or a name for the tensor's kind if it is not one of numbers in memory.

    Raises:
        TooLargeError: if it has more bytes than there is room.
    """
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        name = str(value.dtype).removeprefix("torch.")
        if value.layout is not torch.strided or value.is_meta or name not in DTYPES:
            kind = "meta" if value.is_meta else name if name not in DTYPES else str(value.layout)
            return f"{kind.removeprefix('torch.')}_tensor"
        plain = torch.Tensor.detach(value).as_subclass(torch.Tensor)
        if plain.numel() * plain.element_size() > room:
            raise TooLargeError(f"{plain.numel() * plain.element_size()} bytes")
        shape, strides = tuple(plain.shape), tuple(plain.stride())
        keep = not plain.is_contiguous() and extent(shape, strides) is not None
        return name, shape, strides if keep else (), raw(plain)


def raw(plain: torch.Tensor) -> bytes:
    """The bytes of a tensor's elements in row-major order, wherever they are in memory."""
    torch = sys.modules["torch"]
    flat = plain.cpu().resolve_conj().resolve_neg().contiguous().flatten()
    if not flat.numel():
        return b""
    if flat.stride(0) != 1:  # a single element may have any stride
        flat = flat.clone(memory_format=torch.contiguous_format)
    return flat.view(torch.uint8).numpy().tobytes()


def extent(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """How many places in memory a tensor spans; None if elements may share one, or if too many are empty.

    Example:
        >>> extent((2, 3), (1, 2)), extent((2, 3), (8, 2)), extent((2, 3), (0, 1)), extent((2, 3), (100, 1))
        (6, 13, None, None)
    """
    span = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if stride < span:
                return None
            span += stride * (size - 1)
    return span if span <= _SPARSEST * math.prod(shape) else None


def to_tensor(name: str, shape: Sequence[int], strides: Sequence[int], content: bytes) -> torch.Tensor:
    """What `tensor_parts` took apart, checked first: nobody vouches for it.

    Raises:
        ValueError: if type, shape, strides and bytes do not belong together.
    """
    torch = sys.modules["torch"]
    dtype = getattr(torch, name) if name in DTYPES else None
    if dtype is None or len(content) != math.prod(shape) * dtype.itemsize or any(size > 1 << 40 for size in shape):
        raise ValueError("a tensor whose bytes are not of its shape")
    if dtype is torch.bool and content.strip(b"\0\1"):
        content = bytes(byte != 0 for byte in content)
    flat = torch.frombuffer(bytearray(content), dtype=dtype) if content else torch.empty(0, dtype=dtype)
    if not strides:
        return flat.reshape(tuple(shape))
    span = extent(shape, strides)
    if span is None:
        raise ValueError("a tensor whose elements share a place, or are too far apart")
    reach = tuple(stride if size > 1 else 1 for stride, size in zip(strides, shape, strict=True))
    return torch.zeros(span, dtype=dtype).as_strided(tuple(shape), reach).copy_(flat.reshape(tuple(shape)))
