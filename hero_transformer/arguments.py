"""The argument checks that every module shares, and how they stand in front of a function or a module.

Checks stand beside the code that computes, never inside it: a function gets them from ``checked_by``, a module from
``check_calls``. So the body of a function is only its formula, and a body rewritten in an exercise leaves the checks in
place. Each says what was expected, what came, and the remedy, in the names of the function that was called.

What is about tensors stands in `hero_transformer.tensor_arguments`.
"""

import functools
import math
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn

__all__ = ["check_calls", "check_count", "check_eps", "check_flag", "check_function", "check_generator"]
__all__ += ["check_heads", "check_ints", "check_parts", "check_positive", "checked_by", "describe", "whole"]

P = ParamSpec("P")
R = TypeVar("R")


def describe(value: Any) -> str:
    """Say what came, for an error message: a tensor's dtype and shape, or a type's name.

    Example:
        >>> describe(torch.zeros(2, 3)), describe([1, 2])
        ('torch.float32 of shape [2, 3]', 'list')
    """
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of shape {list(value.shape)}"
    return type(value).__name__


def whole(value: Any) -> bool:
    """Whether ``value`` is an int and not a bool; the sizes that torch computes while it traces are ints too.

    Example:
        >>> [whole(value) for value in (3, True, 3.0, torch.tensor(3))]
        [True, False, False, False]
    """
    return isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)


def check_positive(**sizes: Any) -> None:
    """Raise ValueError for the first of the named ``sizes`` that is not a positive int.

    Example:
        >>> check_positive(T=3, C=0)
        Traceback (most recent call last):
        ...
        ValueError: C = 0 must be a positive int; pass 1 or more.
    """
    for name, value in sizes.items():
        if not whole(value):
            raise ValueError(
                f"{name} = {value!r} must be a positive int, not {type(value).__name__}; "
                "pass a whole number such as 4."
            )
        if value < 1:
            raise ValueError(f"{name} = {value} must be a positive int; pass 1 or more.")


def check_count(**counts: Any) -> None:
    """Raise ValueError for the first of the named ``counts`` that is not an int of 0 or more.

    Example:
        >>> check_count(past_length=0.0)
        Traceback (most recent call last):
        ...
        ValueError: past_length = 0.0 must be an int of 0 or more; pass a whole number such as 0.
    """
    for name, value in counts.items():
        if not whole(value) or value < 0:
            raise ValueError(f"{name} = {value!r} must be an int of 0 or more; pass a whole number such as 0.")


def check_heads(n_heads: int, d_model: int, names: tuple[str, str] = ("n_heads", "d_model")) -> None:
    """Raise ValueError unless ``n_heads`` is a positive int that divides ``d_model``; ``names`` are the caller's."""
    heads, width = names
    check_positive(**{heads: n_heads, width: d_model})
    if d_model % n_heads:
        raise ValueError(
            f"{heads} = {n_heads} must divide {width} = {d_model}; "
            f"take {heads} = {math.gcd(n_heads, d_model)} "
            f"or {width} = {math.ceil(d_model / n_heads) * n_heads}."
        )


def check_eps(eps: Any) -> None:
    """Raise ValueError unless ``eps`` is a finite number that is not negative."""
    number = isinstance(eps, (int, float)) and not isinstance(eps, bool)
    if not (number and 0 <= eps < math.inf):  # NaN fails every comparison
        raise ValueError(f"eps = {eps!r} must be a number, finite and not negative; pass 1e-5.")


def check_flag(**flags: Any) -> None:
    """Raise ValueError for the first of the named ``flags`` that is neither True nor False.

    Example:
        >>> check_flag(use_cache="no")
        Traceback (most recent call last):
        ...
        ValueError: use_cache = 'no' must be True or False; any other value would be taken for one of the two.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ValueError(
                f"{name} = {value!r} must be True or False; any other value would be taken for one of the two."
            )


def check_function(remedy: str, **functions: Any) -> None:
    """Raise ValueError for the first of the named ``functions`` that cannot be called."""
    for name, value in functions.items():
        if not callable(value):
            raise ValueError(f"{name} must be a function; received {describe(value)}. {remedy}")


def check_generator(generator: Any) -> None:
    """Raise ValueError unless ``generator`` is a torch.Generator."""
    if not isinstance(generator, torch.Generator):
        raise ValueError(
            f"generator must be a torch.Generator; received {describe(generator)}. "
            "Make one with torch.Generator().manual_seed(0)."
        )


def check_ints(remedy: str, **sequences: Any) -> None:
    """Raise ValueError for the first of the named ``sequences`` that is not a sequence of ints, without bools.

    Example:
        >>> check_ints("Pass ids.", ids=b"ab")
        >>> check_ints("Pass ids.", ids=[3, True])
        Traceback (most recent call last):
        ...
        ValueError: ids must be ints; received True at place 1. Pass ids.
    """
    for name, values in sequences.items():
        check_sequence(remedy, **{name: values})
        if set(map(type, values)) <= {int}:  # quick, and nearly always so
            continue
        for place, value in enumerate(values):
            if not whole(value):
                raise ValueError(f"{name} must be ints; received {value!r} at place {place}. {remedy}")


def check_sequence(remedy: str, **sequences: Any) -> None:
    """Raise ValueError for the first of the named ``sequences`` that has no order, no length, or is a text or a tensor.

    Example:
        >>> check_sequence("Pass a list.", ids={1, 2})
        Traceback (most recent call last):
        ...
        ValueError: ids must be a sequence such as a list; received set. Pass a list.
    """
    for name, values in sequences.items():
        ordered = hasattr(values, "__getitem__") and hasattr(values, "__len__")
        if not ordered or isinstance(values, (str, dict, torch.Tensor)):
            raise ValueError(f"{name} must be a sequence such as a list; received {describe(values)}. {remedy}")


def check_parts(module: Any, name: str, kind: str, parts: Collection[str], remedy: str) -> None:
    """Raise ValueError unless ``module`` has the parts that a function works on.

    Args:
        module: what the caller passed.
        name: the caller's name for it.
        kind: the class of the package that has these parts; another with the same parts will do.
        parts: the names of the attributes that are needed.
        remedy: what to do instead.

    Example:
        >>> check_parts(nn.Linear(2, 2), "block", "TransformerBlock", ["attention"], "Pass model.blocks[0].")
        Traceback (most recent call last):
        ...
        ValueError: block must be a TransformerBlock; received Linear, which has no attention. Pass model.blocks[0].
    """
    if not isinstance(module, nn.Module):
        raise ValueError(f"{name} must be a {kind}; received {describe(module)}. {remedy}")
    for part in parts:
        if not hasattr(module, part):
            raise ValueError(f"{name} must be a {kind}; received {describe(module)}, which has no {part}. {remedy}")


def checked_by(check: Callable[..., None]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that ``check`` sees its arguments first and may raise.

    An argument that can be read only once, such as a generator, becomes a list before: else the check would use it
    up, and the function find nothing.

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
            for value in (*args, *kwargs.values()):
                if _read_once(value):
                    args = tuple(_kept(one) for one in args)  # type: ignore[assignment]
                    kwargs = {name: _kept(one) for name, one in kwargs.items()}  # type: ignore[assignment]
                    break
            if not torch.jit.is_tracing():
                check(*args, **kwargs)
            return function(*args, **kwargs)

        checked.check = check  # type: ignore[attr-defined]  # so that a rewritten function can keep it
        return checked

    return decorate


def _read_once(value: Any) -> bool:
    return hasattr(type(value), "__next__")


def _kept(value: Any) -> Any:
    """A list in the place of what can be read only once."""
    return list(value) if _read_once(value) else value


def check_calls(module: nn.Module, check: Callable[..., None]) -> None:
    """Have ``check(module, ...)`` see the arguments of every call of ``module`` first; it may raise.

    Args:
        module: what is called.
        check: a function of a module (so that the module can be pickled) with the parameters of ``module.forward``.
    """
    module.register_forward_pre_hook(functools.partial(_before_forward, check), with_kwargs=True)


def _before_forward(check: Callable[..., None], module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
    if not torch.jit.is_tracing():  # where even shapes are tensors
        check(module, *args, **kwargs)
