"""Start warm parents from the driver: one for workers, one for examiners."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hero_course.engine import sandbox
from hero_course.engine.limits import Limits
from hero_course.engine.processors import claim

__all__ = ["Stage", "WarmParent", "WarmParentGoneError"]

_ENGINE = Path(__file__).resolve().parent


class Stage:
    """A folder with what a chapter's processes may see: the engine's code, and the edition with its other files.

    Args:
        files: the edition's and those beside it, by their names.
    """

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hero-stage-")
        root = Path(self._folder.name)
        root.chmod(0o755)
        self.code, self.edition = root / "code", root / "edition"
        package = self.code / "hero_course" / "engine"
        package.mkdir(parents=True)
        shutil.copy(_ENGINE.parent / "__init__.py", package.parent)
        for path in _ENGINE.glob("*.py"):
            shutil.copy(path, package)
        for name, content in files:
            path = self.edition / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in root.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


class WarmParentGoneError(Exception):
    """The process is not there any more; another one can be started."""


class WarmParent:
    """A zygote process.

    Args:
        role: ``worker`` or ``examiner``.
        stage: what it may see.
        limits: of each child.
        sandboxed: whether workers run in bubblewrap.
        absent: paths that a worker must not see; each worker looks before it starts.

    Raises:
        MissingSandboxError: if bubblewrap is wanted and missing.
        RuntimeError: if the process does not start.
    """

    def __init__(self, role: str, stage: Stage, limits: Limits, sandboxed: bool, absent: Sequence[str]) -> None:
        inside = sandboxed and role == "worker"
        self._role, self._lock = role, threading.Lock()
        self._claims: dict[int, int] = {}  # for each child that has a processor, the file that claims it
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config: dict[str, Any] = {
            "control": theirs.fileno(), "role": role, "sandbox": sandboxed, "limits": limits.as_dict(),
            "edition": sandbox.EDITION if inside else str(stage.edition), "absent": list(absent),
        }  # fmt: skip
        words = sandbox.bubblewrap(stage.code, stage.edition, limits) if inside else []
        environment = _environment(sandbox.CODE if inside else str(stage.code), inside)
        if inside:
            for name, value in environment.items():
                words += ["--setenv", name, value]
            words.append("--")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close)
        self._process = subprocess.Popen(
            [*words, sys.executable, "-m", "hero_course.engine.zygote", json.dumps(config)],
            pass_fds=[theirs.fileno()], cwd=stage.edition, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self._errors,
        )  # fmt: skip
        theirs.close()
        self._ready = False

    def wait_until_ready(self) -> None:
        """Wait for its imports.

        Raises:
            RuntimeError: if it ended instead; with what it wrote last.
        """
        if not self._ready and self._control.recv(64) != b"ready":
            self._process.wait()
            self._errors.seek(0)
            raise RuntimeError(f"a warm parent did not start: {self._errors.read()[-2000:].decode(errors='replace')}")
        self._ready = True

    def prepare(self, modules: Sequence[str]) -> bool:
        """Import more, before the next fork; if this fails, the warm parent is of no use any more."""
        with self._lock:
            self.wait_until_ready()
            self._control.send(json.dumps(list(modules)).encode())
            return self._control.recv(64) == b"1"

    def fork(self) -> tuple[socket.socket, int]:
        """A new child: a connection to it, and its number.

        Raises:
            WarmParentGoneError: if there is no parent for it.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        processor, file = (claim() if self._role == "worker" else None) or (-1, -1)
        try:
            with self._lock:
                self.wait_until_ready()
                socket.send_fds(self._control, [f"fork {processor}".encode()], [theirs.fileno()])
                pid = int(self._control.recv(64))
                self._release(pid)
                self._claims[pid] = file
                return ours, pid
        except (OSError, ValueError) as error:
            ours.close()
            if file >= 0:
                os.close(file)
            raise WarmParentGoneError(str(error)) from error
        finally:
            theirs.close()

    def end(self, pid: int) -> int:
        """Kill a child and whatever it started; how it had ended."""
        try:
            with self._lock:
                self._control.send(str(pid).encode())
                return int(self._control.recv(64))
        except (OSError, ValueError) as error:
            raise WarmParentGoneError(str(error)) from error
        finally:
            self._release(pid)

    def _release(self, pid: int) -> None:
        file = self._claims.pop(pid, -1)
        if file >= 0:
            os.close(file)

    def close(self) -> None:
        """End the process and all its children."""
        self._control.close()
        for pid in list(self._claims):
            self._release(pid)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def _environment(code: str, inside: bool) -> dict[str, str]:
    """One thread, no byte code, and nothing of the driver's own environment but its path."""
    home = sandbox.HOME if inside else tempfile.gettempdir()
    cache = sandbox.CACHE if inside else os.path.join(tempfile.gettempdir(), "hero-cache")
    if not inside:  # where it is missing, IPython leaves a folder behind at each start
        with contextlib.suppress(OSError):
            os.makedirs(cache, mode=0o700, exist_ok=True)
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    return {
        **one, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": home, "PYTHONPATH": code,
        "PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": cache if inside else home, "MPLCONFIGDIR": cache, "IPYTHONDIR": f"{cache}/ipython",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline", "NBGRADER_EXECUTION": "autograde",
    }  # fmt: skip
