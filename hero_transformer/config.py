"""The sizes of a model, and the argument checks that every module shares.

Checks stand beside the code that computes, never inside it: a function gets them from
``checked_by``, a module from a forward pre-hook. So the body of a function is only its formula,
and a body rewritten in an exercise leaves the module's checks in place.

Shape letters, the same in every module:

    B  batch                     d    width of a hidden vector (d_model)
    T  tokens of this call       h    attention heads (n_heads)
    S  tokens that may be seen,  d_h  width of a head, d / h (d_head)
       S = past + T              f    inner width of the feed-forward (d_ff)
    C  most positions            V    size of the vocabulary (vocab_size)
       (block_size)              N    blocks (n_layers)
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn

__all__ = ["Config"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Config:
    """The sizes of a decoder-only transformer (chapter 05).

    Args:
        vocab_size: V, number of different tokens; a positive int.
        block_size: C, the most positions a sequence may have; a positive int. T may be smaller.
        d_model: d, width of a hidden vector; a positive int.
        n_heads: h, attention heads; a positive int that divides ``d_model``. It only divides the
            width, so it does not change the number of parameters.
        n_layers: N, blocks; a positive int.
        d_ff: f, inner width of the feed-forward; a positive int.
        dropout: probability that an activation is zeroed in training, 0 <= dropout < 1; 0.0 by
            default, which makes the forward pass a function of its input.

    Raises:
        ValueError: when a size is not a positive int (``True`` and ``4.0`` are refused too), when
            ``n_heads`` does not divide ``d_model``, or when ``dropout`` is not in [0, 1).

    Example:
        >>> sizes = dict(vocab_size=32, block_size=64, d_model=64, n_layers=2, d_ff=256)
        >>> config = Config(n_heads=4, **sizes)
        >>> config.d_head, config.dropout
        (16, 0.0)
        >>> Config(n_heads=5, **sizes)
        Traceback (most recent call last):
        ...
        ValueError: n_heads = 5 must divide d_model = 64; take n_heads = 1 or d_model = 65.
    """

    vocab_size: int
    block_size: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int
    dropout: float = 0.0

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "block_size", "d_model", "n_heads", "n_layers", "d_ff")
        check_positive(**{name: getattr(self, name) for name in sizes})
        check_heads(self.n_heads, self.d_model)
        number = isinstance(self.dropout, (int, float)) and not isinstance(self.dropout, bool)
        if not (number and 0 <= self.dropout < 1):  # NaN fails every comparison
            raise ValueError(
                f"dropout = {self.dropout!r} must be a number with 0 <= dropout < 1; "
                "pass 0.0 to switch dropout off."
            )

    @property
    def d_head(self) -> int:
        """Width of one head, d_h = d / h."""
        return self.d_model // self.n_heads


def check_positive(**sizes: Any) -> None:
    """Raise ValueError for the first of the named ``sizes`` that is not a positive int.

    Example:
        >>> check_positive(T=3, C=0)
        Traceback (most recent call last):
        ...
        ValueError: C = 0 must be a positive int; pass 1 or more.
    """
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(
                f"{name} = {value!r} must be a positive int, not {type(value).__name__}; "
                "pass a whole number such as 4."
            )
        if value < 1:
            raise ValueError(f"{name} = {value} must be a positive int; pass 1 or more.")


def check_heads(n_heads: int, d_model: int) -> None:
    """Raise ValueError unless ``n_heads`` is a positive int that divides ``d_model``."""
    check_positive(n_heads=n_heads, d_model=d_model)
    if d_model % n_heads:
        raise ValueError(
            f"n_heads = {n_heads} must divide d_model = {d_model}; "
            f"take n_heads = {math.gcd(n_heads, d_model)} "
            f"or d_model = {math.ceil(d_model / n_heads) * n_heads}."
        )


def describe(value: Any) -> str:
    """Say what came, for an error message: a tensor's dtype and shape, or a type's name.

    Example:
        >>> describe(torch.zeros(2, 3)), describe([1, 2])
        ('torch.float32 of shape [2, 3]', 'list')
    """
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of shape {list(value.shape)}"
    return type(value).__name__


def check_features(hidden: Any, d_model: int, dtype: torch.dtype | None = None) -> None:
    """Raise ValueError unless ``hidden`` is a floating tensor [..., d] without an empty axis.

    Args:
        hidden: what the caller passed.
        d_model: d, the width that the last axis must have. A last axis of 1 is refused like any
            other: torch would broadcast it silently.
        dtype: when given, the only dtype that is accepted (that of the weights).

    Raises:
        ValueError: says what was expected, what came, and the remedy.
    """
    expected = f"hidden must be a floating-point tensor [..., d] with d = {d_model}"
    if not isinstance(hidden, torch.Tensor) or not hidden.is_floating_point():
        raise ValueError(
            f"{expected}; received {describe(hidden)}. "
            "Pass embeddings, not ids; convert numbers with .to(torch.get_default_dtype())."
        )
    if hidden.dim() == 0 or hidden.shape[-1] != d_model or 0 in hidden.shape:
        raise ValueError(
            f"{expected} and no empty axis; received {describe(hidden)}. "
            "Put the features on the last axis."
        )
    if dtype is not None and hidden.dtype != dtype:
        raise ValueError(
            f"{expected} and the dtype of the weights, {dtype}; received {describe(hidden)}. "
            f"Convert one of the two: hidden.to({dtype}) or module.to({hidden.dtype})."
        )


def check_hidden(hidden: Any, d_model: int) -> None:
    """Raise ValueError unless ``hidden`` is a floating tensor [B, T, d]; see ``check_features``."""
    check_features(hidden, d_model)
    if hidden.dim() != 3:
        raise ValueError(
            f"hidden must have three axes [B, T, d] with d = {d_model}; received "
            f"{describe(hidden)}. Add the missing axes: hidden.reshape(B, T, {d_model})."
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
    received = f"{describe(past[0])} and {describe(past[1])}"
    batch = "B" if hidden is None else hidden.shape[0]
    for tensor in past:
        shape = list(tensor.shape) if isinstance(tensor, torch.Tensor) else []
        fits = len(shape) == 4 and [shape[1], shape[3]] == [n_heads, d_head]
        if not fits or batch not in ("B", shape[0]) or past[0].shape != tensor.shape:
            raise ValueError(
                f"past_key_value must hold a key and a value of one shape [{batch}, {n_heads}, "
                f"past, {d_head}]; received {received}. {remedy}"
            )
        if hidden is None or torch.is_autocast_enabled(hidden.device.type):
            continue
        if tensor.dtype != hidden.dtype:
            raise ValueError(
                f"past_key_value must have the dtype of hidden, {hidden.dtype}; received "
                f"{received}. {remedy}"
            )


def argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str) -> Any:
    """Return an argument of a hooked forward, however it was passed; None when it is absent.

    Example:
        >>> argument(("first",), {"past_key_value": "second"}, 1, "past_key_value")
        'second'
    """
    return args[place] if place < len(args) else kwargs.get(name)


def check_features_hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Forward pre-hook: ``hidden`` is [..., d] in the dtype of the module's parameters."""
    weight = next(module.parameters(), None)  # None when stand-ins have no parameters
    dtype = None if weight is None else weight.dtype
    check_features(argument(args, kwargs, 0, "hidden"), module.d_model, dtype)


def check_hidden_hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Forward pre-hook: ``hidden`` is [B, T, d] in the dtype of the module's parameters."""
    check_features_hook(module, args, kwargs)
    check_hidden(argument(args, kwargs, 0, "hidden"), module.d_model)


def checked_by(check: Callable[..., None]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that ``check`` sees its arguments first and may raise.

    Args:
        check: a function with the parameters (and the defaults) of the decorated one.

    Example:
        >>> @checked_by(lambda T: check_positive(T=T))
        ... def double(T):
        ...     return 2 * T
        >>> double(3)
        6
        >>> double(0)
        Traceback (most recent call last):
        ...
        ValueError: T = 0 must be a positive int; pass 1 or more.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            check(*args, **kwargs)
            return function(*args, **kwargs)

        checked.check = check  # type: ignore[attr-defined]  # so that a rewritten function can keep it
        return checked

    return decorate
