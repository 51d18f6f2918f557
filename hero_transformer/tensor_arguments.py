"""The checks of tensors that several modules share; see `hero_transformer.arguments` for the others.

Shape letters: B batch, T tokens of this call, d width of a hidden vector, h heads, d_h = d / h. "..." stands for any
leading axes.
"""

from typing import Any

import torch
from torch import nn
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._subclasses import FakeTensor

from .arguments import describe

__all__ = ["INTEGER_DTYPES", "autocasts", "check_axes", "check_features", "check_floating", "check_hidden"]
__all__ += ["check_module_input", "check_past_key_value", "check_range", "check_same"]
__all__ += ["first_parameter", "two_axes", "values_readable"]

INTEGER_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def values_readable(tensor: torch.Tensor) -> bool:
    """Whether the numbers in ``tensor`` can be looked at now, as a check of their range must.

    They cannot where torch only follows what would be computed (``torch.compile``, ``torch.export``), where a tensor
    has no numbers (device "meta") and inside ``torch.func``'s transforms. Checks of values then step aside; those of
    shapes and dtypes stay.

    Example:
        >>> values_readable(torch.tensor([1])), values_readable(torch.tensor([1], device="meta"))
        (True, False)
    """
    if torch.compiler.is_compiling() or tensor.is_meta:
        return False
    return not (isinstance(tensor, FakeTensor) or is_functorch_wrapped_tensor(tensor))


def check_range(ids: torch.Tensor, vocab_size: int, name: str, remedy: str) -> None:
    """Raise ValueError unless 0 <= id < V for all ``ids``, which the message calls by ``name``.

    Where `values_readable` says no, nothing is checked.
    """
    if not values_readable(ids):
        return
    lowest, highest = int(ids.min()), int(ids.max())
    if lowest < 0 or highest >= vocab_size:
        raise ValueError(
            f"{name}s must satisfy 0 <= {name} < V = {vocab_size}; received {name}s from {lowest} to {highest}. "
            f"{remedy}"
        )


def two_axes(ids: torch.Tensor) -> str:
    """What to do with ids that should be [B, T] and are empty or have another number of axes.

    Example:
        >>> two_axes(torch.tensor([1, 2]))
        'Give one sequence a batch axis with ids.reshape(1, -1).'
    """
    if ids.numel() == 0:
        return "Leave out what is empty: there is nothing to predict from no token."
    if ids.dim() < 2:
        return "Give one sequence a batch axis with ids.reshape(1, -1)."
    return "Join the leading axes with ids.flatten(0, -2), and part them again in the result."


def check_floating(remedy: str = "", **tensors: Any) -> None:
    """Raise ValueError unless the named ``tensors`` are floating-point tensors of one dtype.

    Under autocast torch converts by itself, and any floating dtypes will do.

    Example:
        >>> check_floating(q=torch.zeros(1), k=torch.zeros(1).double())
        Traceback (most recent call last):
        ...
        ValueError: q and k must have one dtype; received torch.float32 of shape [1] and torch.float64 of shape [1]. \
Convert them, for instance with .to(torch.float32).
    """
    values = list(tensors.values())
    dtypes = [one.dtype for one in values if isinstance(one, torch.Tensor) and one.is_floating_point()]
    if len(dtypes) == len(values) and len(set(dtypes)) == 1:  # nearly always: no word is written in vain
        return
    names = " and ".join(tensors)
    if len(dtypes) < len(values):
        kind = "floating-point tensors" if len(values) > 1 else "a floating-point tensor"
        remedy = remedy or "Convert whole numbers with .to(torch.get_default_dtype())."
        raise ValueError(f"{names} must be {kind}; received {_received(values)}. {remedy}")
    if not autocasts(values[0]):
        raise ValueError(
            f"{names} must have one dtype; received {_received(values)}. "
            f"Convert them, for instance with .to({values[0].dtype})."
        )


def check_same(**tensors: Any) -> None:
    """Raise ValueError unless the named ``tensors`` are floating-point tensors of one shape and one dtype."""
    floating = all(isinstance(one, torch.Tensor) and one.is_floating_point() for one in tensors.values())
    if not floating or len({one.shape for one in tensors.values()}) > 1:
        raise ValueError(
            f"{' and '.join(tensors)} must be floating-point tensors of one shape; received "
            f"{_received(tensors.values())}. A gradient has the shape of what it belongs to."
        )
    check_floating(**tensors)


def _received(values: Any) -> str:
    return " and ".join(map(describe, values))


def autocasts(tensor: torch.Tensor) -> bool:
    """Whether autocast is on for the device of ``tensor``."""
    kind = tensor.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)  # "meta" knows none


def check_features(hidden: Any, d_model: int, dtype: torch.dtype | None = None, name: str = "hidden") -> None:
    """Raise ValueError unless ``hidden`` is a floating tensor [..., d] without an empty axis.

    Args:
        hidden: what the caller passed.
        d_model: d, the width that the last axis must have. A last axis of 1 is refused like any
            other: torch would broadcast it silently.
        dtype: when given, the only dtype that is accepted (that of the weights).
        name: the caller's name for it.

    Raises:
        ValueError: says what was expected, what came, and the remedy.
    """
    floating = isinstance(hidden, torch.Tensor) and hidden.is_floating_point()
    if not floating or hidden.dim() == 0 or hidden.shape[-1] != d_model or 0 in hidden.shape:
        expected = f"{name} must be a floating-point tensor [..., d] with d = {d_model}"
        if not floating:
            raise ValueError(
                f"{expected}; received {describe(hidden)}. "
                "Pass embeddings, not ids; convert numbers with .to(torch.get_default_dtype())."
            )
        raise ValueError(
            f"{expected} and no empty axis; received {describe(hidden)}. Put the features on the last axis."
        )
    if dtype is not None and hidden.dtype != dtype:
        raise ValueError(
            f"{name} must have the dtype of the weights, {dtype}; received {describe(hidden)}. "
            f"Convert one of the two: {name}.to({dtype}) or module.to({hidden.dtype})."
        )


def check_hidden(hidden: Any, d_model: int, dtype: torch.dtype | None = None, name: str = "hidden") -> None:
    """Raise ValueError unless ``hidden`` is a floating tensor [B, T, d]; see `check_features`."""
    check_features(hidden, d_model, dtype, name)
    if hidden.dim() != 3:
        raise ValueError(
            f"{name} must have three axes [B, T, d] with d = {d_model}; received "
            f"{describe(hidden)}. Add the missing axes: {name}.reshape(B, T, {d_model})."
        )


def check_axes(x: Any, axes: str) -> None:
    """Raise ValueError unless ``x`` is a tensor with the named axes, such as "B T d".

    Example:
        >>> check_axes(torch.zeros(3, 4), "B T d")
        Traceback (most recent call last):
        ...
        ValueError: x must be a tensor [B, T, d]; received torch.float32 of shape [3, 4]. Reshape \
it to these axes first.
    """
    names = axes.split()
    if not isinstance(x, torch.Tensor) or x.dim() != len(names):
        raise ValueError(
            f"x must be a tensor [{', '.join(names)}]; received {describe(x)}. "
            "Reshape it to these axes first."
        )


def check_past_key_value(
    past: Any, n_heads: int, d_head: int, hidden: torch.Tensor | None = None
) -> None:
    """Raise ValueError unless ``past`` is a pair of tensors [B, h, past, d_h] that fit.

    With ``hidden`` [B, T, d], the input of the same call, B and the dtype must be its own. Under
    autocast the dtype is left to torch, since the projections then change it.
    """
    remedy = "Pass the present that an earlier call returned with use_cache=True."
    if not isinstance(past, (tuple, list)) or len(past) != 2:
        raise ValueError(
            f"past_key_value must be a pair (key, value); received {describe(past)}. {remedy}"
        )
    batch = "B" if hidden is None else hidden.shape[0]
    for tensor in past:
        shape = list(tensor.shape) if isinstance(tensor, torch.Tensor) else []
        fits = len(shape) == 4 and [shape[1], shape[3]] == [n_heads, d_head]
        if not fits or batch not in ("B", shape[0]) or past[0].shape != tensor.shape:
            raise ValueError(
                f"past_key_value must hold a key and a value of one shape [{batch}, {n_heads}, "
                f"past, {d_head}]; received {_received(past)}. {remedy}"
            )
        if hidden is not None and tensor.dtype != hidden.dtype and not autocasts(hidden):
            raise ValueError(
                f"past_key_value must have the dtype of hidden, {hidden.dtype}; received "
                f"{_received(past)}. {remedy}"
            )


def first_parameter(module: nn.Module) -> torch.Tensor | None:
    """The first parameter of a module or its parts, None when there is none.

    The same as ``next(module.parameters(), None)``, but without a walk that remembers what it has seen: at T = 1 that
    walk was most of what the checks of a call cost.

    Example:
        >>> first_parameter(nn.Sequential(nn.ReLU(), nn.Linear(2, 3))).shape
        torch.Size([3, 2])
    """
    for parameter in module._parameters.values():
        if parameter is not None:
            return parameter
    for part in module._modules.values():
        found = None if part is None else first_parameter(part)
        if found is not None:
            return found
    return None


def check_module_input(module: nn.Module, hidden: Any) -> None:
    """Raise ValueError unless ``hidden`` is [B, T, d], in the dtype of the module's parameters if it has some."""
    weight = first_parameter(module)
    check_hidden(hidden, module.d_model, None if weight is None else weight.dtype)
