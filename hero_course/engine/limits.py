"""What one submission may use; set in ``course_config.py``."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["CUT", "Limits"]

CUT = "\n[输出太多，其余略去 | too much output: the rest is cut off]\n"


@dataclass(frozen=True)
class Limits:
    """Limits of one submission.

    Args:
        cell_seconds: wall time of one cell of the learner's own, or of one exercise's calls in all its checks.
        total_seconds: wall time of the learner's own cells together.
        memory_bytes: address space of each process.
        processes: processes and threads at one time.
        file_bytes: size of one file.
        disk_bytes: size of all files together, which live in memory.
        output_bytes: outputs of one cell, and a sixteenth of those of a notebook; what comes after is cut off.
        answer_bytes: one answer of the learner's code to a check.
        restarts: how often a process is replaced that a cell of the learner's own ended; an exercise may do so a few
            times more.
    """

    cell_seconds: float = 60.0
    total_seconds: float = 300.0
    memory_bytes: int = 4 << 30
    processes: int = 64
    file_bytes: int = 64 << 20
    disk_bytes: int = 64 << 20
    output_bytes: int = 1 << 20
    answer_bytes: int = 16 << 20
    restarts: int = 32

    @property
    def frame_bytes(self) -> int:
        """The largest answer of a worker's, with all that belongs to it; a picture is longer as text."""
        return max(self.answer_bytes, 4 * self.output_bytes) + (1 << 20)

    def as_dict(self) -> dict[str, float | int]:
        """The limits by name, for JSON."""
        return asdict(self)
