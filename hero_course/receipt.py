"""What proves that a learner's result is the one of this submission: a file beside the graded notebook."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hero_course.engine.handed_in import plain_files
from hero_course.pack import write_whole

__all__ = ["RECEIPT", "Receipt", "digest_of_inputs"]

RECEIPT = ".graded-from"


@dataclass(frozen=True)
class Receipt:
    """Digests of what a grade was made from, of what the gradebook then held, and of what the feedback says.

    If any differs, that part is made again: after a new submission or a changed check, where the gradebook was lost
    or is another one, when somebody gave a score or a comment by hand.
    """

    inputs: str
    graded: str
    said: str = ""

    @staticmethod
    def read(folder: Path) -> Receipt | None:
        """The receipt in a folder under ``autograded/``, if there is a proper one."""
        try:
            return Receipt(**json.loads((folder / RECEIPT).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # none, or of another version
            return None

    def write(self, folder: Path) -> None:
        """Write it, whole or not at all."""
        write_whole(folder / RECEIPT, json.dumps(asdict(self)).encode())


def digest_of_inputs(checks: Any, submitted: Path, source: Path, leave_out: Path) -> str:
    """A digest of all that a grade depends on.

    Args:
        checks: and other terms, as JSON can hold them.
        submitted: the folder that was handed in.
        source: the instructor's folder.
        leave_out: the file there that ``checks`` stands for.
    """
    digest = hashlib.sha256(json.dumps(checks, sort_keys=True, default=str).encode())
    for folder in (submitted, source):
        for path in plain_files(folder):
            if path != leave_out:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(os.fsencode(f"{path.relative_to(folder)}\0{content}\n"))
    return digest.hexdigest()
