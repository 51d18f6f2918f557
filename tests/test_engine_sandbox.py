"""The sandbox, looked at from inside, by those who must find no hole in it and by those who must find one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hostile import SPY

from hero_course.engine.assignment import Assignment
from hero_course.engine.examination import Job, Step
from hero_course.engine.limits import Limits
from hero_course.engine.pair import NotGradedError, WarmPair
from hero_course.engine.plan import examination_of
from hero_course.engine.processors import claim

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_decoder_block"
SECRET = "x = torch.linspace(-4, 4, 33)"
# Where a check could stand in a process that has it: each makes the line out of parts, and keeps it somewhere else.
HIDING = {
    "in a list": "kept = [line]",
    "in a dictionary of texts": "class Job:\n    pass\nkept = Job()\nkept.checks = {'key': line}",
    "in a tuple in a tuple": "kept = [((line,),)]",
    "as bytes": "kept = [line.encode()]",
    "in a function": "exec('def kept():\\n    return ' + repr(line))",
    "in a closure": "def keep(line):\n    return lambda: line\nkept = keep(line)",
    "in a frame's variable": "def kept(line):\n    exec(spy, globals())\nkept(line)",
    "frozen": "kept = [line]\nimport gc\ngc.freeze()",
}
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def _spied(plant: str, course: Path) -> str:
    """What the spy prints in a process of ours, without a sandbox, in which something was planted."""
    spy = SPY.replace("COURSE", str(course)).replace('"/work", "/root", "/home", "/proc", "/tmp", "/hero"', "")
    half = len(SECRET) // 2
    code = f"spy = {spy!r}\nline = ''.join({[SECRET[:half], SECRET[half:]]!r})\n{plant}\ndel line\nexec(spy)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("where", HIDING)
def test_the_spy_finds_a_check_that_is_there(where: str, tmp_path: Path) -> None:
    assert "linspace(-4, 4, 33)" in _spied(HIDING[where], tmp_path)


def test_the_spy_finds_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    assert "SEEN [] FILES []" in _spied("", tmp_path)


def test_the_spy_finds_files_processes_and_the_network(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name in ("source/a.ipynb", "gradebook.db"):
        (tmp_path / name).touch()
    found = _spied("", tmp_path)
    assert "FILES ['a.ipynb', 'gradebook.db']" in found
    assert f"'{os.getpid()}'" in found
    assert f"NETWORK {[name for _, name in socket.if_nameindex() if name != 'lo']}" in found


BARE = ["bwrap", "--unshare-all", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL"]
BARE += ["--ro-bind", "/", "/", "--tmpfs", "/proc", "--remount-ro", "/proc"]
FILTERED = "from hero_course.engine.syscalls import filter_system_calls; filter_system_calls(); "
# For each fault of a sandbox: what is done otherwise, what may not be seen, and what is done first from inside.
LEAKS = {
    "not process 1": (["--share-pid"], [], FILTERED),
    "there is a network": (["--share-net"], [], FILTERED),
    "/usr can be seen": ([], ["/nowhere", "/usr"], FILTERED),
    "other processes can be seen": (["--proc", "/proc"], [], FILTERED),
    "/tmp can be written": (["--tmpfs", "/tmp"], [], FILTERED),
    "system calls are not filtered": ([], [], ""),
    "capabilities are left": (["--cap-add", "CAP_SYS_PTRACE"], [], FILTERED),
    "None": ([], ["/nowhere"], FILTERED),
}


if all(name == "lo" for _, name in socket.if_nameindex()):
    del LEAKS["there is a network"]  # a machine without one has none to leak


@needs_bubblewrap
@pytest.mark.parametrize("fault", LEAKS)
def test_whoever_looks_around_sees_what_leaks(fault: str) -> None:
    more, absent, first = LEAKS[fault]
    words = [one for one in BARE if not (fault == "not process 1" and one == "--as-pid-1")]
    if more in (["--share-pid"], ["--share-net"]):
        words[1:2] = [f"--unshare-{one}" for one in ("ipc", "uts", "pid", "net") if f"--share-{one}" != more[0]]
        more = []
    code = f"{first}from hero_course.engine.sandbox import look_around; print(look_around({absent!r}))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*words, *more, sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert fault in done.stdout, done.stderr


@needs_bubblewrap
def test_nobody_is_graded_in_a_sandbox_that_leaks(course: Path) -> None:
    source = course / "source" / "zh" / CHAPTER
    examination = examination_of(nbformat.read(source / f"{CHAPTER}.ipynb", as_version=4))
    pair = WarmPair(Assignment.of(source, examination, Limits(), True, ("/usr",)))
    try:
        with pytest.raises(NotGradedError, match="the sandbox is not on: /usr can be seen"):
            pair.grade(Job((Step(0, None, "1 + 1"),)))
    finally:
        pair.close()


SOCKETS = """
import errno, json, socket, sys
if sys.argv[1:] == ["filtered"]:
    from hero_course.engine.syscalls import filter_system_calls
    filter_system_calls()
made = []
for family in range(1, 64):
    for protocol in range(24 if family == 16 else 1):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind, protocol).close()
                made.append((family, protocol))
            except OSError:
                pass
print(json.dumps(sorted(set(made))))
"""


def _sockets(*words: str) -> set[tuple[int, int]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SOCKETS, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {tuple(one) for one in json.loads(done.stdout)}


def test_only_sockets_that_a_network_namespace_holds_can_be_made() -> None:
    held = {(socket.AF_UNIX, 0), (socket.AF_INET, 0), (socket.AF_INET6, 0), (socket.AF_NETLINK, 0)}
    free, filtered = _sockets(), _sockets("filtered")
    assert (socket.AF_NETLINK, 15) in free - filtered, "the kernel makes others where there is no filter"
    assert filtered == free & held


def test_no_two_workers_have_one_processor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    claims = [claim() for _ in os.sched_getaffinity(0)]
    assert {one[0] for one in claims if one} == os.sched_getaffinity(0)
    assert claim() is None
    os.close(claims[0][1])
    again = claim()
    assert again is not None
    assert again[0] == claims[0][0]
    for _, file in (again, *claims[1:]):
        os.close(file)


@needs_bubblewrap
def test_a_worker_stays_on_one_processor_with_all_that_it_starts(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where nobody else has claimed one
    cell = """
import os, subprocess, sys
def processors(then):
    code = f"import os; {then}; print(os.sched_getaffinity(0))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
print(len(os.sched_getaffinity(0)), processors("pass").stdout == f"{os.sched_getaffinity(0)}\\n")
print(processors("os.sched_setaffinity(0, range(1024))").stderr.splitlines()[-1])
"""
    source = course / "source" / "zh" / CHAPTER
    examination = examination_of(nbformat.read(source / f"{CHAPTER}.ipynb", as_version=4))
    pair = WarmPair(Assignment.of(source, examination, Limits(), True, ()))
    try:
        (output,) = pair.grade(Job((Step(0, None, cell),)))[0]
    finally:
        pair.close()
    assert output["text"] == "1 True\nPermissionError: [Errno 1] Operation not permitted\n"
