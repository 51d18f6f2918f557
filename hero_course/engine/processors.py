"""A processor for each worker, so that however busy one is, the others' cells do not run out of time for it."""

from __future__ import annotations

import fcntl
import os
import tempfile

__all__ = ["claim"]


def claim() -> tuple[int, int] | None:
    """A processor that no other worker on this machine has, and the open file that claims it; None if there is none.

    The claim is a lock, which ends when the file is closed or its process is gone.
    """
    for processor in sorted(os.sched_getaffinity(0)):
        path = os.path.join(tempfile.gettempdir(), f"hero-processor-{processor}")
        try:
            file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
        except OSError:
            continue  # somebody else's
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
        else:
            return processor, file
    return None
