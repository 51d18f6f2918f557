"""Checks: one block looks at one property of an answer and says, a line each, what is wrong.

    with checks("gelu-values", gelu) as c:
        c.close("g(1)", gelu(one), 0.8413447)

All failures of a block are reported together, in Chinese and English, without a traceback through the
checking code; where the values are those of a known mistake, the mistake is named. The file
``fingerprints.json`` beside the notebook says which edition of the package belongs to it and what the known
mistakes look like; a hidden check is given its own, as ``known``.
"""

from __future__ import annotations

import json
import linecache
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

import hero_transformer
from hero_transformer.diagnosis import fingerprint, named
from hero_transformer.exercise import BarredAnswer, barred_answers, describe_missing, replaced_by

__all__ = ["NAMED", "SHEET", "CheckFailed", "checks", "verify_edition"]

SHEET = "fingerprints.json"
NAMED = "像是 looks like: "
_GREEN, _PLAIN = "\x1b[32m", "\x1b[0m"
_ORDINARY = (torch.Tensor, int, float, complex)


class CheckFailed(AssertionError):
    """A block found something wrong. Shown as its lines alone, without a traceback."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = str(self).splitlines()

    def _render_traceback_(self) -> list[str]:  # IPython's hook for how an exception looks
        return self.lines


def verify_edition() -> str:
    """Check that the package imported here is the one that belongs to the notebook; return its name.

    Raises:
        CheckFailed: if ``fingerprints.json`` is missing, or another edition was imported.
    """
    return _sheet()["edition"]


def _sheet() -> dict[str, Any]:
    path = Path(SHEET)
    if not path.is_file():
        raise CheckFailed(
            f"✗ 笔记本旁边没有 {SHEET}：请重新解压整个作业文件夹，从里面打开笔记本\n  {SHEET} is not beside the "
            "notebook: unpack the whole assignment again and open the notebook from its folder"
        )
    sheet = json.loads(path.read_text(encoding="utf-8"))
    if sheet["edition"] != hero_transformer.EDITION:
        raise CheckFailed(
            f"✗ 导入了错误的 hero_transformer：需要 {sheet['edition']}，实际是 {hero_transformer.EDITION}。"
            "请从作业文件夹里启动，清空 PYTHONPATH，再重启内核\n  the wrong hero_transformer was imported: need the "
            f"edition {sheet['edition']}, got {hero_transformer.EDITION}. Start from the assignment's own folder, "
            "without PYTHONPATH, and restart the kernel"
        )
    return sheet


class checks:
    """One block of expectations about one property of one exercise.

    Args:
        key: the check cell's key.
        exercise: the function or method that is checked; None for a prediction.
        known: for each known mistake, its fingerprint on each label. Default: the visible check's entry
            in ``fingerprints.json``.

    Raises:
        CheckFailed: at the end of the block, with a line for each failure; at once if the edition is not
            the notebook's or an expectation is written outside the block.
    """

    def __init__(self, key: str, exercise: Callable | None = None, known: Mapping | None = None) -> None:
        self.key = key
        self.outcomes: dict[str, Any] = {}
        self.failures: list[str] = []
        self._exercise = exercise
        self._known = known
        self._stack = ExitStack()
        self._open = False

    def __enter__(self) -> checks:
        sheet = _sheet()
        if self._known is None:
            self._known = sheet["checks"].get(self.key, {})
        place = replaced_by(self._exercise) if self._exercise else None
        if place:
            self._stack.enter_context(barred_answers(place))
        elif self._exercise:
            _refuse_undecorated(self._exercise, sys._getframe(1).f_globals)
        self._open = True
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> bool:
        self._stack.close()
        self._open = False
        if error is not None and not isinstance(error, Exception):
            return False  # an interrupt stays an interrupt
        if error is not None:
            self._record("raised", error, _describe(error))
        if not self.failures:
            print(f"{_GREEN}✓ {self.key}: {len(self.outcomes)} 项全部通过 | all {len(self.outcomes)} passed{_PLAIN}")
            return False
        likely = named(self.outcomes, self._known or {})
        lines = [*self.failures, *(NAMED + name for name in likely)]
        raise CheckFailed(*lines) from None

    def close(self, label: str, actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
        """Expect numbers or tensors of one shape that differ by at most ``tolerance`` (absolute)."""
        problem = _difference(actual, expected, tolerance)
        self._record(label, actual, problem and f"{label}: {problem}")

    def shape(self, label: str, actual: Any, expected: tuple[int, ...]) -> None:
        """Expect a tensor of this shape."""
        got = tuple(actual.shape) if isinstance(actual, torch.Tensor) else _kind(actual)
        self._record(label, got, None if got == tuple(expected) else f"{label}: {_pair(tuple(expected), got)}")

    def equal(self, label: str, actual: Any, expected: Any) -> None:
        """Expect exactly this: a tensor to the bit, or a plain number, string, bool, tuple or None."""
        if isinstance(expected, torch.Tensor):
            problem = _difference(actual, expected, 0.0)
            self._record(label, actual, problem and f"{label}: {problem}")
            return
        same = type(actual) is type(expected) and actual == expected
        self._record(label, actual, None if same else f"{label}: {_pair(repr(expected), _short(actual))}")

    def raises(self, label: str, exception: type[Exception], function: Callable, *args: Any) -> None:
        """Expect ``function(*args)`` to raise an exception of this type."""
        try:
            result = function(*args)
        except exception as error:
            self._record(label, error, None)
        else:
            self._record(label, result, f"{label}: {_pair(exception.__name__, _short(result))}")

    def predicted(self, label: str, prediction: Any, truth: Any, tolerance: float = 0.0) -> None:
        """Expect a prediction; ``...`` means that none was made. Numbers may differ by ``tolerance``."""
        if prediction is ...:
            self._record(label, "...", f"{label}: 还没有预测，把 ... 换成你的答案 | no prediction yet: replace ...")
            return
        got, want = _plain(prediction), _plain(truth)
        same = len(got) == len(want) and all(_near(g, w, tolerance) for g, w in zip(got, want, strict=True))
        message = f"{label}: 你的预测不对 | your prediction is not right: {_short(prediction)}"
        self._record(label, list(got), None if same else message)

    def _record(self, label: str, actual: Any, problem: str | None) -> None:
        if not self._open and label != "raised":
            raise CheckFailed(f"✗ {label}: 检查写在了 with checks(...) 之外 | this stands outside its checks block")
        if label in self.outcomes:
            raise ValueError(f"the label {label!r} stands twice in the block {self.key!r}: give each its own")
        self.outcomes[label] = fingerprint(actual)
        if problem:
            self.failures.append("✗ " + problem)


def _refuse_undecorated(exercise: Callable, names: Mapping[str, Any]) -> None:
    mine = names.get(exercise.__name__)
    if callable(mine) and getattr(mine, "__module__", "") == "__main__" and replaced_by(mine) is None:
        raise CheckFailed(
            f"✗ def {exercise.__name__} 上面的 @replaces(...) 一行不见了：请原样补回，再运行那个单元\n  the line "
            f"@replaces(...) above def {exercise.__name__} is gone: put it back and run that cell again"
        )


def _describe(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return describe_missing(str(error) or "?")
    if isinstance(error, BarredAnswer):
        return str(error)
    hint = "（是不是漏了 return？ | is a return missing?）" if "NoneType" in str(error) else ""
    where = _learners_line(error)
    return f"代码抛出了异常 | the code raised {type(error).__name__}: {error}{hint}{where}"


def _learners_line(error: Exception) -> str:
    """The deepest line of the notebook that the error passed through, past the check's own.

    Where the answer ran in another process, the error brings its line along, as ``learners_line``.
    """
    known = getattr(error, "learners_line", None)
    if known:
        return f" (第 {known[0]} 行 line {known[0]}: {known[1]})"
    frames = list(traceback.walk_tb(error.__traceback__))[1:]
    for frame, line in reversed(frames):
        if frame.f_globals.get("__name__") == "__main__":
            text = linecache.getline(frame.f_code.co_filename, line).strip()
            return f" (第 {line} 行 line {line}: {text})"
    return ""


def _difference(actual: Any, expected: Any, tolerance: float) -> str | None:
    """What is different between two numbers or tensors, in words, or None."""
    if not isinstance(actual, _ORDINARY) or isinstance(actual, bool):
        return _pair("张量或数 a tensor or number", _kind(actual))
    got = torch.as_tensor(actual).detach().as_subclass(torch.Tensor)
    want = torch.as_tensor(expected, dtype=None if isinstance(expected, torch.Tensor) else torch.float64)
    if got.shape != want.shape:
        return _pair(f"形状 shape {tuple(want.shape)}", tuple(got.shape))
    apart = (got.to(torch.float64) - want.detach().to(torch.float64)).abs().flatten()
    wrong = ~(apart <= tolerance)  # a NaN is wrong
    if not wrong.any():
        return None
    first = int(wrong.int().argmax())
    at = f" {list(map(int, torch.unravel_index(torch.tensor(first), want.shape)))}" if want.dim() else ""
    numbers = (f"{tensor.flatten()[first].item():.7g}" for tensor in (want, got))
    count = f" ({int(wrong.sum())}/{wrong.numel()} 个不同 differ)" if wrong.numel() > 1 else ""
    return _pair(*numbers) + (f" @{at}" if at else "") + count


def _pair(expected: Any, got: Any) -> str:
    return f"期望 expected {expected}，得到 got {got}"


def _kind(value: Any) -> str:
    return type(value).__name__


def _short(value: Any) -> str:
    text = f"tensor {tuple(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _plain(value: Any) -> tuple:
    """A prediction as a flat tuple of its parts."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple(part for one in value for part in _plain(one))
    return (value,)


def _near(got: Any, want: Any, tolerance: float) -> bool:
    try:
        return abs(got - want) <= tolerance
    except TypeError:
        return bool(type(got) is type(want) and got == want)
