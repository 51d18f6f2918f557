"""One command at a time writes to a course; and what a killed one left behind is cleared away."""

from __future__ import annotations

import fcntl
import getpass
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LOCK", "alone"]

LOCK = ".hero-lock"


@contextmanager
def alone(root: Path, doing: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the course's lock until the block ends; a killed process holds it no longer.

    Args:
        root: the course's root.
        doing: what this command does, for whoever waits for it.
        say: told, before waiting, who holds the lock.
    """
    with (root / LOCK).open("a+", encoding="utf-8") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            say(f"waiting for another command on this course: {file.read().strip() or 'unknown'}")
            fcntl.lockf(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"hero {doing}, process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}\n")
        file.flush()
        for stage in root.glob(".build-*"):  # whoever made one while it held the lock was killed
            shutil.rmtree(stage, ignore_errors=True)
        yield
