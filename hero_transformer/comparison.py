"""What is different between what a check expected and what came, in words; None where nothing is."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import torch

__all__ = ["GRAPH_CUT", "as_prediction", "difference", "flat", "inequality", "pair", "prediction_problem", "short"]

_LONGEST = 80  # characters of a value in a message
_ORDINARY = (torch.Tensor, int, float, complex)
_RETURN = "（是不是漏了 return？ | is a return missing?）"
_NAN = "（NaN：0/0，或一整行都是 −inf | NaN: 0/0, or a whole row of −inf）"
GRAPH_CUT = (
    "梯度流不回来：结果不在计算图里（detach、no_grad、numpy、.data？） | no gradient flows back: the result is not "
    "in the graph (detach, no_grad, numpy, .data?)"
)


def difference(actual: Any, expected: Any, tolerance: float) -> str | None:
    """How two numbers or tensors differ: in kind, shape, or by more than ``tolerance``.

    Example:
        >>> difference(torch.tensor([1.0, 2.5]), torch.tensor([1.0, 2.0]), 1e-9)
        '期望 expected 2，得到 got 2.5 @ [1] (1/2 个不同 differ)'
        >>> difference(1.0, 1.0, 0.0) is None
        True
    """
    if not isinstance(actual, _ORDINARY) or isinstance(actual, bool):
        return pair("张量或数 a tensor or number", type(actual).__name__) + (_RETURN if actual is None else "")
    got = torch.as_tensor(actual).detach().as_subclass(torch.Tensor)
    want = torch.as_tensor(expected, dtype=None if isinstance(expected, torch.Tensor) else torch.float64)
    if got.shape != want.shape:
        return pair(f"形状 shape {tuple(want.shape)}", tuple(got.shape))
    apart = (got.to(torch.float64) - want.detach().to(torch.float64)).abs().flatten()
    equal = got.flatten() == want.detach().flatten()  # infinities of one sign
    wrong = ~((apart <= tolerance) | equal)  # a NaN is wrong
    if not wrong.any():
        return None
    first = int(wrong.int().argmax())
    at = f" @ {list(map(int, torch.unravel_index(torch.tensor(first), want.shape)))}" if want.dim() else ""
    count = f" ({int(wrong.sum())}/{wrong.numel()} 个不同 differ)" if wrong.numel() > 1 else ""
    came = got.flatten()[first].item()
    return _numbers(want.flatten()[first].item(), came, float(apart[first]), tolerance, got.dtype) + at + count


def _numbers(wanted: Any, came: Any, apart: float, tolerance: float, dtype: torch.dtype) -> str:
    expected, got = f"{wanted:.7g}", f"{came:.7g}"
    text = pair(expected, got)
    if isinstance(came, float) and math.isnan(came):
        return text + _NAN
    if expected == got:
        kind = str(dtype).removeprefix("torch.")
        return text + f"（相差 apart by {apart:.2g}，至多 at most {tolerance:.2g}；得到 got {kind}）"
    return text


def inequality(actual: Any, expected: Any) -> str | None:
    """How plain values differ: a number, string, bool, None, or lists, tuples and dictionaries of them.

    Inside lists, tuples and dictionaries numpy's numbers are as good as Python's.

    Example:
        >>> inequality((9, 1), [9, 1])
        '期望 expected [9, 1]，得到 got (9, 1)（需要 list，得到 tuple | a list is expected, a tuple came）'
        >>> inequality([1, 2], [1, 2]) is None
        True
    """
    if _same(actual, expected):
        return None
    text = pair(_cut(repr(expected)), short(actual))
    if actual is None:
        return text + _RETURN
    want, kind = type(expected), type(actual).__name__
    if isinstance(expected, (list, tuple, Mapping)) and not isinstance(actual, want):
        wanted = "dict" if isinstance(expected, Mapping) else want.__name__
        return text + f"（需要 {wanted}，得到 {kind} | a {wanted} is expected, a {kind} came）"
    return text + _where(actual, expected)


def _same(actual: Any, expected: Any, inside: bool = False) -> bool:
    if isinstance(expected, Mapping):
        alike = isinstance(actual, Mapping) and len(actual) == len(expected)
        return alike and all(key in actual and _same(actual[key], one, True) for key, one in expected.items())
    if isinstance(expected, (list, tuple)):
        alike = isinstance(actual, type(expected)) and len(actual) == len(expected)
        return alike and all(_same(a, e, True) for a, e in zip(actual, expected, strict=True))
    if inside and type(expected) in (int, float) and isinstance(actual, numbers.Number):
        return not isinstance(actual, bool) and bool(actual == expected)
    return type(actual) is type(expected) and bool(actual == expected)


def _where(actual: Any, expected: Any) -> str:
    """Where two long values differ, as far as their text was cut before that."""
    if len(repr(expected)) <= _LONGEST and len(repr(actual)) <= _LONGEST:
        return ""
    if _strings(actual) and _strings(expected) and set(actual) != set(expected):
        missing, extra = (sorted(set(a) - set(b)) for a, b in ((expected, actual), (actual, expected)))
        return f"（缺 missing: {', '.join(missing) or '—'}；多余 not asked for: {', '.join(extra) or '—'}）"
    if isinstance(expected, (list, tuple)):
        for place, (a, e) in enumerate(zip(actual, expected, strict=False)):
            if not _same(a, e, True):
                return f"（第 {place} 项 item {place}: {pair(short(e), short(a))}）"
        return f"（长度 length: {pair(len(expected), len(actual))}）"
    return ""


def _strings(value: Any) -> bool:
    return isinstance(value, (list, tuple, dict)) and all(isinstance(one, str) for one in value)


def prediction_problem(prediction: Any, truth: Any, tolerance: float) -> str | None:
    """What is wrong with a prediction; other forms of a right value are right: a list, an array, a fraction.

    Example:
        >>> prediction_problem([2, 3.0], (2, 3), 0.0) is None
        True
        >>> prediction_problem("33", 33, 0.0)
        "写数，不要引号和单位；得到的是文字 | write a number, without quotes and units; got the text '33'"
    """
    got, want = as_prediction(prediction), as_prediction(truth)
    parts, wanted = flat(got), flat(want)
    text = next((one for one in parts if isinstance(one, str)), None)
    if text is not None and not any(isinstance(one, str) for one in wanted):
        return f"写数，不要引号和单位；得到的是文字 | write a number, without quotes and units; got the text {text!r}"
    near = len(parts) == len(wanted) and all(_near(g, w, tolerance) for g, w in zip(parts, wanted, strict=True))
    if near and (_tree(got) == _tree(want) or not any(isinstance(one, list) for one in _bare(got))):
        return None
    return f"你的预测不对 | your prediction is not right: {short(prediction)}"


def as_prediction(value: Any) -> Any:
    """A prediction as lists, Python's numbers and texts.

    Example:
        >>> from decimal import Decimal
        >>> as_prediction((torch.tensor([1, 2]), Decimal("0.5")))
        [[1, 2], 0.5]
    """
    if hasattr(value, "tolist"):  # tensors, numpy's arrays and numbers
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return [as_prediction(one) for one in value]
    if isinstance(value, numbers.Number) and not isinstance(value, (int, float, complex)):
        return float(value)
    return value


def flat(value: Any) -> list:
    """The parts of nested lists and tuples, one after the other.

    Example:
        >>> flat((1, [2, (3,)]))
        [1, 2, 3]
    """
    return [part for one in value for part in flat(one)] if isinstance(value, (list, tuple)) else [value]


def _bare(value: Any) -> Sequence:
    """A value without the lists around it that hold nothing else."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, list) else [value]


def _tree(value: Any) -> Any:
    """How lists are nested in a value."""
    return [_tree(one) if isinstance(one, list) else None for one in _bare(value)]


def _near(got: Any, want: Any, tolerance: float) -> bool:
    try:
        return abs(got - want) <= tolerance
    except TypeError:
        return bool(type(got) is type(want) and got == want)


def pair(expected: Any, got: Any) -> str:
    """What was expected and what came."""
    return f"期望 expected {expected}，得到 got {got}"


def short(value: Any) -> str:
    """A value in at most 80 characters; a tensor by its shape.

    Example:
        >>> short(torch.zeros(2, 3)), short("a")
        ('tensor (2, 3)', "'a'")
    """
    return _cut(f"tensor {tuple(value.shape)}" if isinstance(value, torch.Tensor) else repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
