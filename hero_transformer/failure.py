"""What a learner reads when an answer raised an exception: why, where in their own code, and what may help."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

from hero_transformer.diagnosis import learners_line
from hero_transformer.exercise import BarredAnswer, NotWrittenError, describe_missing

__all__ = ["describe"]


def describe(error: Exception, exercise: Callable | None = None) -> str:
    """An exception in one or two lines, in Chinese and English.

    Args:
        error: what the block raised.
        exercise: the function or method that is checked.
    """
    name = getattr(exercise, "__name__", "")
    missing = _missing(error, name)
    if missing:
        return missing
    if isinstance(error, BarredAnswer):
        return str(error)
    where = _learners_line(error)
    hint = _hint(error, name)
    text = f"代码抛出了异常 | the code raised {type(error).__name__}: {error}{hint}{where}"
    if not where and not hint and _went_on(error):
        text += "\n  检查拿到这个结果后无法继续 | the check could not go on with what was returned"
    return text


def _missing(error: Exception, name: str) -> str | None:
    """The words for an exercise, or a prediction, that is not there."""
    key = str(error)
    if isinstance(error, NotWrittenError) or (isinstance(error, NotImplementedError) and re.fullmatch(r"\w*", key)):
        return describe_missing(key or name or "?")
    if isinstance(error, NameError) and (error.name or "").startswith("prediction_"):
        return (
            f"{error.name}: 没有预测，它的单元没有运行成功；看它下面的报错（逗号、括号和数字要用半角）\n"
            f"  no prediction: its cell did not run; read the error below it (commas, brackets and digits must be "
            f"half-width)"
        )
    return None


def _hint(error: Exception, name: str) -> str:
    text = str(error)
    if "NoneType" in text and "callable" not in text:
        return "（是不是漏了 return？ | is a return missing?）"
    if name and isinstance(error, TypeError) and re.search(rf"(?<![.\w]){name}\(\) .*argument", text):
        return "（def 这一行请保持原样 | keep the def line as it was）"
    return ""


def _learners_line(error: Exception) -> str:
    """The deepest line of the learner's own cells that the error passed through.

    Where the answer ran in another process, the error brings its line along, as ``learners_line``.
    """
    known = getattr(error, "learners_line", None) or learners_line(error)
    return f" (第 {known[0]} 行 line {known[0]}: {known[1]})" if known else ""


def _went_on(error: Exception) -> bool:
    """Whether the check's own line failed, on a value that the answer had returned."""
    frames = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return not any(name.partition(".")[0] in ("hero_transformer", "hero_course") for name in frames)
