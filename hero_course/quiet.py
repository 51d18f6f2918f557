"""Keep what kernels and libraries write to standard error out of a progress bar, in a log file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LOG", "quietly"]

LOG = ".nbgrader.log"


@contextmanager
def quietly(log: Path) -> Iterator[None]:
    """Append standard error to ``log`` until the block ends.

    The redirection is of the file descriptor, so that kernels, which are other processes, inherit it.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
