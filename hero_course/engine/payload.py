"""Arguments on their way to a worker: a pickle in which each tensor has a number.

Only the examiner, which is trusted, writes pickles, and only a worker reads them. The numbers say, on the way back,
which tensors a call has changed. A random generator travels as its state, which is a tensor like any other.
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

_GENERATOR = "generator"


class _Pickler(pickle.Pickler):
    """A pickler that keeps a list of the tensors it met, and the generators whose states are among them."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.tensors: list[torch.Tensor] = []
        self.generators: dict[int, torch.Generator] = {}

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, torch.Generator):
            return _GENERATOR, self._number_of(value)
        if not isinstance(value, torch.Tensor):
            return None
        for number, known in enumerate(self.tensors):
            if known is value:
                return number
        self.tensors.append(value)
        return len(self.tensors) - 1

    def _number_of(self, generator: torch.Generator) -> int:
        for number, known in self.generators.items():
            if known is generator:
                return number
        self.tensors.append(generator.get_state())
        self.generators[len(self.tensors) - 1] = generator
        return len(self.tensors) - 1

    def reducer_override(self, value: Any) -> Any:
        """A check may pass on what an answer returned: a dictionary's keys, perhaps, which pickle does not know."""
        parts = to_parts(value) if isinstance(value, MappingView) else None
        return NotImplemented if parts is None else (from_parts, parts)


class _Unpickler(pickle.Unpickler):
    """An unpickler that puts numbered tensors, and generators of numbered states, in their places."""

    def __init__(self, file: io.BytesIO, tensors: list[torch.Tensor]) -> None:
        super().__init__(file)
        self._tensors = tensors
        self.generators: dict[int, torch.Generator] = {}

    def persistent_load(self, name: Any) -> torch.Tensor | torch.Generator:
        if isinstance(name, int):
            return self._tensors[name]
        number = name[1]
        if number not in self.generators:
            self.generators[number] = torch.Generator()
            self.generators[number].set_state(self._tensors[number])
        return self.generators[number]


def dump(value: Any) -> tuple[bytes, list[torch.Tensor], dict[int, torch.Generator]]:
    """Pickle a value.

    Returns:
        The bytes, the tensors in the order of their numbers, and the generators by the numbers of their states.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: if a part cannot be pickled.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    marks = [(isinstance(one, nn.Parameter), one.requires_grad) for one in pickler.tensors]
    return encode((file.getvalue(), list(pickler.tensors), marks)), pickler.tensors, pickler.generators


def load(content: bytes) -> tuple[Any, list[torch.Tensor], dict[int, torch.Generator]]:
    """What `dump` wrote: the value, its tensors in the order of their numbers, and its generators.

    Example:
        >>> value, tensors, generators = load(dump({"x": torch.ones(2), "n": 3, "g": torch.Generator()})[0])
        >>> value["x"] is tensors[0], value["n"], value["g"] is generators[1]
        (True, 3, True)
    """
    pickled, tensors, marks = decode(content)
    ready = [
        nn.Parameter(one, requires_grad=grad) if parameter else one.requires_grad_(grad)
        for one, (parameter, grad) in zip(tensors, marks, strict=True)
    ]
    unpickler = _Unpickler(io.BytesIO(pickled), ready)
    return unpickler.load(), ready, unpickler.generators
