"""An IPython shell without a terminal: it runs a cell and returns its outputs, as a notebook keeps them."""

from __future__ import annotations

import base64
import builtins
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from hero_course.engine.limits import CUT
from hero_course.engine.protocol import MIME

__all__ = ["Outputs", "error_output", "make_shell", "shown"]

_LINE = 1000  # characters of a line of an error
_PIECES = 990  # of one cell; a notebook with more of them is of no use to anybody


class Outputs:
    """The outputs of one cell, up to a number of bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget what there is, before the next cell."""
        self.items: list[dict[str, Any]] = []
        self.used, self.full = 0, False

    def stream(self, name: str, text: str) -> None:
        """Add text to standard output or standard error."""
        text = self._fitting(text)
        if not text:
            return
        if self.items and self.items[-1].get("name") == name:
            self.items[-1]["text"] += text
        else:
            self.items.append({"output_type": "stream", "name": name, "text": text})

    def data(self, kind: str, bundle: dict[str, Any]) -> None:
        """Add what a cell displays, in the forms that are kept."""
        kept = {mime: _text(bundle[mime]) for mime in MIME if mime in bundle}
        if not kept or any(self._fitting(text) != text for text in kept.values()):
            return
        self.items.append({"output_type": kind, "data": kept, "metadata": {}})

    def error(self, name: str, message: str, lines: list[str]) -> None:
        """Add an error; it is always kept, shortened."""
        self.items.append(error_output(name, message, lines))

    def _fitting(self, text: str) -> str:
        if self.full:
            return ""
        self.used += len(text)
        if self.used <= self.limit and len(self.items) < _PIECES:
            return text
        self.full = True
        return text[: max(0, len(text) - self.used + self.limit)] + CUT


def error_output(name: str, message: str, lines: list[str]) -> dict[str, Any]:
    """An error as a notebook keeps it, of a length that somebody can read."""
    kept = [line if len(line) <= _LINE else line[:_LINE] + " …" for line in lines[-60:]]
    return {"output_type": "error", "ename": name[:200], "evalue": message[:4000], "traceback": kept}


class _Stream:
    """Stands for ``sys.stdout`` or ``sys.stderr``."""

    encoding, errors, closed = "utf-8", "replace", False

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name, self._outputs = name, outputs

    def write(self, text: str) -> int:
        self._outputs.stream(self.name, str(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """There is nothing to flush."""

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    outputs: Outputs

    def publish(self, data: dict[str, Any], metadata: Any = None, **more: Any) -> None:
        self.outputs.data("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.items.clear()


class _Hook(DisplayHook):
    outputs: Outputs

    def write_output_prompt(self) -> None:
        """A notebook shows the prompt itself."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        self.outputs.data("execute_result", format_dict)


class _Shell(InteractiveShell):
    outputs: Outputs

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        lines = "\n".join(stb).splitlines()
        if not isinstance(evalue, (Exception, KeyboardInterrupt, SystemExit)):
            lines = [_message(evalue)]  # ours: the time was up somewhere
        self.outputs.error(getattr(etype, "__name__", "Error"), _message(evalue), lines)

    def ask_exit(self) -> None:
        """``exit`` ends no notebook."""

    def enable_gui(self, gui: Any = None) -> None:
        """There is no event loop."""


def make_shell(output_bytes: int) -> InteractiveShell:
    """A shell whose ``outputs`` collect what a cell shows; there may be one in a process."""
    config = Config(
        {
            "HistoryManager": {"enabled": False},
            "InteractiveShell": {"colors": "nocolor", "xmode": "Plain", "autocall": 0},
        }
    )
    outputs = Outputs(output_bytes)
    shell = _Shell.instance(config=config, display_pub_class=_Publisher, displayhook_class=_Hook)
    shell.outputs = shell.display_pub.outputs = shell.displayhook.outputs = outputs
    builtins.input = _no_input
    return shell


@contextlib.contextmanager
def shown(shell: InteractiveShell) -> Iterator[None]:
    """Collect what is written to standard output and standard error, too."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Stream("stdout", shell.outputs), _Stream("stderr", shell.outputs)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _no_input(prompt: object = "") -> str:
    raise RuntimeError(
        f"input({str(prompt)[:60]!r}): 批改时没有人回答，请直接写出值 | nobody answers while grading: write the value"
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "?"


def _text(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
