"""Arguments on their way to a worker: a pickle in which each tensor has a number.

Only the examiner, which is trusted, writes pickles, and only a worker reads them. The numbers say, on the way back,
which tensors a call has changed.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import MappingView
from typing import Any

import torch
from torch import nn

from hero_course.engine.kinds import from_parts, to_parts
from hero_course.engine.protocol import decode, encode

__all__ = ["dump", "load"]


class _Pickler(pickle.Pickler):
    """A pickler that keeps a list of the tensors it met."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.tensors: list[torch.Tensor] = []

    def persistent_id(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return None
        for number, known in enumerate(self.tensors):
            if known is value:
                return number
        self.tensors.append(value)
        return len(self.tensors) - 1

    def reducer_override(self, value: Any) -> Any:
        """A check may pass on what an answer returned: a dictionary's keys, perhaps, which pickle does not know."""
        parts = to_parts(value) if isinstance(value, MappingView) else None
        return NotImplemented if parts is None else (from_parts, parts)


class _Unpickler(pickle.Unpickler):
    """An unpickler that puts numbered tensors in their places."""

    def __init__(self, file: io.BytesIO, tensors: list[torch.Tensor]) -> None:
        super().__init__(file)
        self._tensors = tensors

    def persistent_load(self, number: Any) -> torch.Tensor:
        return self._tensors[number]


def dump(value: Any) -> tuple[bytes, list[torch.Tensor]]:
    """Pickle a value.

    Returns:
        The bytes, and the tensors in the order of their numbers.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: if a part cannot be pickled.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    marks = [(isinstance(one, nn.Parameter), one.requires_grad) for one in pickler.tensors]
    return encode((file.getvalue(), list(pickler.tensors), marks)), pickler.tensors


def load(content: bytes) -> tuple[Any, list[torch.Tensor]]:
    """What `dump` wrote: the value, and its tensors in the order of their numbers.

    Example:
        >>> value, tensors = load(dump({"x": torch.ones(2), "n": 3})[0])
        >>> value["x"] is tensors[0], value["n"]
        (True, 3)
    """
    pickled, tensors, marks = decode(content)
    ready = [
        nn.Parameter(one, requires_grad=grad) if parameter else one.requires_grad_(grad)
        for one, (parameter, grad) in zip(tensors, marks, strict=True)
    ]
    return _Unpickler(io.BytesIO(pickled), ready).load(), ready
