"""A limit on the work that one submission may cause in the driver itself, whatever is in it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["OWN_SECONDS", "at_most"]

OWN_SECONDS = 60.0  # of processor time for one submission, beside what its own code takes


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in the main thread once this process has worked so long; waiting does not count."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeoutError(f"this submission took more than {seconds:g} seconds of the grader's own time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
