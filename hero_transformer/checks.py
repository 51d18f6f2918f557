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
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

import hero_transformer
from hero_transformer.comparison import (
    GRAPH_CUT,
    as_prediction,
    difference,
    flat,
    inequality,
    pair,
    prediction_problem,
    short,
)
from hero_transformer.diagnosis import SUPPLIED, fingerprint, named
from hero_transformer.exercise import barred_answers, replaced_by
from hero_transformer.failure import describe

__all__ = ["NAMED", "SHEET", "CheckFailed", "checks", "verify_edition"]

SHEET = "fingerprints.json"
NAMED = "像是 looks like: "
_GREEN, _PLAIN = "\x1b[32m", "\x1b[0m"


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
    SUPPLIED.add(sys._getframe(1).f_code.co_filename)
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
        SUPPLIED.add(sys._getframe(1).f_code.co_filename)
        self._open = True
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> bool:
        self._stack.close()
        self._open = False
        if error is not None and not isinstance(error, Exception):
            return False  # an interrupt stays an interrupt
        if error is not None:
            self._record("raised", error, describe(error, self._exercise))
        elif not self.outcomes:
            self._record("raised", None, "检查没有得到可看的结果 | the check found nothing to look at")
        if not self.failures:
            print(f"{_GREEN}✓ {self.key}: {len(self.outcomes)} 项全部通过 | all {len(self.outcomes)} passed{_PLAIN}")
            return False
        likely = named(self.outcomes, self._known or {})
        raise CheckFailed(*self.failures, *([NAMED + likely] if likely else [])) from None

    def close(self, label: str, actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
        """Expect numbers or tensors of one shape that differ by at most ``tolerance`` (absolute)."""
        self._record(label, actual, difference(actual, expected, tolerance))

    def each(self, expected: Mapping[str, Any], actual: Any, tolerance: float = 1e-9) -> None:
        """Expect a tuple or list of as many tensors or numbers as there are labels, each `close` to its own.

        Args:
            expected: for each label, what is expected; in the order of the results.
            actual: what the exercise returned.
            tolerance: of each, absolute.
        """
        if not isinstance(actual, (tuple, list)) or len(actual) != len(expected):
            several = isinstance(actual, (tuple, list))
            problem = pair(f"{len(expected)} 个结果 results", len(actual) if several else short(actual))
            self._record(", ".join(expected), len(actual) if several else actual, problem)
            return
        for (label, one), got in zip(expected.items(), actual, strict=True):
            self.close(label, got, one, tolerance)

    def gradients(
        self, result: Any, expected: Mapping[str, Any], leaves: Sequence[torch.Tensor], tolerance: float = 1e-9
    ) -> None:
        """Expect that gradients flow from a result to the tensors that it was made of, and which.

        Args:
            result: a tensor with one element, such as ``(answer * weights).sum()``.
            expected: for each label the gradient, in the order of ``leaves``.
            leaves: the inputs and parameters, which ask for a gradient.
            tolerance: of each gradient, absolute.
        """
        if not isinstance(result, torch.Tensor) or not result.requires_grad:
            self._record("梯度 gradient", "cut off", GRAPH_CUT)
            return
        found = torch.autograd.grad(result, list(leaves), allow_unused=True)
        for (label, want), got in zip(expected.items(), found, strict=True):
            self.close(label, torch.zeros_like(want) if got is None else got, want, tolerance)

    def shape(self, label: str, actual: Any, expected: tuple[int, ...]) -> None:
        """Expect a tensor of this shape."""
        got = tuple(actual.shape) if isinstance(actual, torch.Tensor) else type(actual).__name__
        self._record(label, got, None if got == tuple(expected) else pair(tuple(expected), got))

    def equal(self, label: str, actual: Any, expected: Any) -> None:
        """Expect exactly this: a tensor to the bit, or a number, string, bool, None, or lists and the like of them."""
        if isinstance(expected, torch.Tensor):
            self.close(label, actual, expected, tolerance=0.0)
        else:
            self._record(label, actual, inequality(actual, expected))

    def raises(self, label: str, exception: type[Exception], function: Callable, *args: Any) -> None:
        """Expect ``function(*args)`` to raise an exception of this type."""
        try:
            result = function(*args)
        except exception as error:
            self._record(label, error, None)
        else:
            hint = "（没有抛出：用了 raise，还是只打印了？ | nothing was raised: was it only printed?）"
            self._record(label, result, pair(exception.__name__, short(result)) + hint * (result is None))

    def predicted(self, label: str, prediction: Any, truth: Any, tolerance: float = 0.0) -> None:
        """Expect a prediction; ``...`` means that none was made. Numbers may differ by ``tolerance``."""
        if prediction is ...:
            self._record(label, "...", "还没有预测，把 ... 换成你的答案 | no prediction yet: replace ...")
        else:
            self._record(label, flat(as_prediction(prediction)), prediction_problem(prediction, truth, tolerance))

    def _record(self, label: str, actual: Any, problem: str | None) -> None:
        if not self._open and label != "raised":
            raise CheckFailed(f"✗ {label}: 检查写在了 with checks(...) 之外 | this stands outside its checks block")
        if label in self.outcomes:
            raise ValueError(f"the label {label!r} stands twice in the block {self.key!r}: give each its own")
        self.outcomes[label] = fingerprint(actual)
        if problem:
            self.failures.append(f"✗ {problem}" if label == "raised" else f"✗ {label}: {problem}")


def _refuse_undecorated(exercise: Callable, names: Mapping[str, Any]) -> None:
    mine = names.get(exercise.__name__)
    if callable(mine) and getattr(mine, "__module__", "") == "__main__" and replaced_by(mine) is None:
        raise CheckFailed(
            f"✗ def {exercise.__name__} 上面的 @replaces(...) 一行不见了：请原样补回，再运行那个单元\n  the line "
            f"@replaces(...) above def {exercise.__name__} is gone: put it back and run that cell again"
        )
