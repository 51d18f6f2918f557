"""A warm parent: it has imported what everybody needs and computed nothing; each request is a fork.

Run as a program by `hero_course.engine.warm`, in a sandbox if it is to be the parent of workers.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pickle
import random
import shutil
import signal
import socket
import sys
import tempfile
from typing import Any

from hero_course.engine import PACKAGE, sandbox
from hero_course.engine.frames import receive, send
from hero_course.engine.limits import Limits

__all__ = ["main"]

SEED = 67280421310721  # what torch itself starts with, so numbers that no check seeds are those of a fresh kernel


class Zygote:
    """Forks a worker or an examiner on request, kills it on request, and all of them at its end."""

    def __init__(self, control: socket.socket, config: dict[str, Any]) -> None:
        self._control, self._role, self._sandboxed = control, config["role"], config["sandbox"]
        self._limits = Limits(**config["limits"])
        self._absent = config["absent"]
        self._children: dict[int, str | None] = {}

    def warm_up(self, edition: str) -> None:
        """Import, and make the shell; compute nothing."""
        sys.path.insert(0, edition)
        import numpy  # noqa: F401
        import torch

        from hero_course.engine.shell import make_shell

        importlib.import_module(f"hero_course.engine.{self._role}")
        package = importlib.import_module(PACKAGE)
        if os.path.dirname(os.path.dirname(os.path.realpath(package.__file__))) != os.path.realpath(edition):
            raise ImportError(f"{PACKAGE} came from {package.__file__}, not from the edition in {edition}")
        torch.set_num_threads(1)
        torch.backends.cpu.get_cpu_capability()  # looks at /proc/cpuinfo once, while it is there
        make_shell(self._limits.output_bytes)
        _import([])

    def serve(self) -> None:
        """Answer requests until the driver is gone."""
        while True:
            data, descriptors, _, _ = socket.recv_fds(self._control, 1 << 17, 1)
            if not data:
                break
            if data.startswith(b"fork"):
                self._control.send(str(self._fork(descriptors[0], int(data[4:]))).encode())
                os.close(descriptors[0])
            elif data.startswith(b"["):
                self._control.send(str(int(_import(json.loads(data)))).encode())
            else:
                self._control.send(str(self._end(int(data))).encode())
        for pid in list(self._children):
            self._end(pid)

    def _fork(self, descriptor: int, processor: int) -> int:
        folder = None if self._sandboxed or self._role == "examiner" else tempfile.mkdtemp(prefix="hero-")
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(ours)
                if processor >= 0:
                    os.sched_setaffinity(0, {processor})  # and all that it will start; the filter lets nobody change it
                self._live(descriptor, theirs, folder)
                code = 0
            finally:
                os._exit(code)
        os.close(theirs)
        if self._sandboxed and self._role == "worker":
            os.waitpid(pid, 0)  # the one in between is gone at once; its child is ours now
            pid = int(os.read(ours, 32) or 0)  # 0: it did not get that far, and says why itself
        os.close(ours)
        if pid:
            self._children[pid] = folder
        return pid

    def _live(self, descriptor: int, report: int, folder: str | None) -> None:
        """What a forked child does from beginning to end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._control.close()
        connection = socket.socket(fileno=descriptor)
        module = importlib.import_module(f"hero_course.engine.{self._role}")
        if self._role == "examiner":
            sandbox.limit_memory(self._limits)
        else:
            fault = self._isolate(report, folder)
            send(connection, json.dumps({"fault": fault}).encode())
            if fault:
                return
        _reseed()
        module.enter(connection, pickle.loads(receive(connection, 1 << 32)), self._limits)

    def _isolate(self, report: int, folder: str | None) -> str | None:
        try:
            if self._sandboxed:
                sandbox.cross_over(report, self._limits)
            else:
                os.close(report)
                os.setsid()
                os.chdir(str(folder))
            os.environ["TMPDIR"], tempfile.tempdir = os.path.abspath(".tmp"), None
            os.makedirs(".tmp", exist_ok=True)
            sandbox.limit_resources(self._limits)
            _silence()
            return sandbox.look_around(self._absent) if self._sandboxed else None
        except OSError as error:
            return f"the sandbox cannot be set up: {error}"

    def _end(self, pid: int) -> int:
        """Kill a child and all that it started; how it ended."""
        if pid not in self._children:
            return 0
        folder = self._children.pop(pid)
        for kill in (os.kill, os.killpg) if folder else (os.kill,):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(pid, 0)
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            return status
        return 0


def _import(modules: list[str]) -> bool:
    """Import modules; whether none of them broke half-way, which would leave its parts in a state of no use."""
    whole = True
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue  # the cell that needs it will say so
        except Exception:
            whole = False
    gc.collect()
    gc.freeze()
    return whole


def _silence() -> None:
    """Nothing is read from standard input; what C code prints goes nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _reseed() -> None:
    import numpy
    import torch

    random.seed(SEED)
    numpy.random.seed(SEED % 2**32)
    torch.manual_seed(SEED)


def main() -> None:
    """The program: ``zygote.py JSON``."""
    config = json.loads(sys.argv[1])
    control = socket.socket(fileno=config["control"])
    if config["sandbox"] and config["role"] == "worker":
        sandbox.drop_root()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans of ours become our children
    zygote = Zygote(control, config)
    zygote.warm_up(config["edition"])
    control.send(b"ready")
    zygote.serve()


if __name__ == "__main__":
    main()
