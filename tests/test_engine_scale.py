"""A class on a cluster, in another gradebook, and a command that is killed at any moment."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from submissions import Class, make

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_decoder_block"
KINDS = ("right_1", "blank", "gelu__relu", "block__parallel", "raises", "syntax_error", "right_2", "gelu__tanh")
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def handed_in(course: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "course"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "gradebook.db"))
    room = Class(copy, CHAPTER)
    for kind in KINDS:
        room.submit(kind, make(kind, room))
    return copy


def grade(course: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "hero_course.cli", "grade", CHAPTER, *words]
    variables = {**ENVIRONMENT, **more}
    return subprocess.Popen(
        command, cwd=course, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def finished(process: subprocess.Popen[str]) -> str:
    try:
        printed, _ = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, _ = process.communicate()
    assert process.returncode == 0, printed
    return printed


def totals(url: str) -> dict[str, float]:
    with Gradebook(url, "hero_transformer") as gradebook:
        return {one.student.id: one.score for one in gradebook.assignment_submissions(CHAPTER)}


def expected(most: float) -> dict[str, float]:
    lost = {"blank": most, "gelu__relu": 4, "block__parallel": 7, "raises": 4, "syntax_error": 4, "gelu__tanh": 4}
    return {kind: most - lost.get(kind, 0) for kind in KINDS}


def graded_notebooks(course: Path) -> dict[Path, int]:
    """The graded notebooks that have a receipt, and when they were written."""
    receipts = course.glob("autograded/*/*/.graded-from")
    return {path: path.stat().st_mtime_ns for path in (one.with_name(f"{CHAPTER}.ipynb") for one in receipts)}


def test_a_killed_command_loses_nothing_and_grades_nobody_twice(handed_in: Path) -> None:
    url = f"sqlite:///{handed_in / 'gradebook.db'}"
    receipts: dict[Path, int] = {}
    for _ in range(3):
        process = grade(handed_in)
        until = time.monotonic() + 60
        before = len(receipts)
        while len(receipts) < before + 2 and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
            receipts = graded_notebooks(handed_in)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        receipts = graded_notebooks(handed_in)
    printed = finished(grade(handed_in))
    assert f"{len(receipts)} graded already" in printed
    assert all(path.stat().st_mtime_ns == when for path, when in receipts.items())
    assert totals(url) == expected(max(totals(url).values()))
    assert f"{len(KINDS)} graded already" in finished(grade(handed_in))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A real scheduler and two worker processes."""
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    base = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    one = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": ENVIRONMENT, "cwd": tmp_path}
    processes = [subprocess.Popen(command, **quiet) for command in (base, one, one)]
    yield address, processes
    for process in processes:
        process.kill()
        process.wait()


def test_a_cluster_grades_a_class_although_a_worker_is_lost(
    handed_in: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    from distributed import Client

    address, processes = cluster
    with Client(address, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
    process = grade(handed_in, "--dask", address)
    until = time.monotonic() + 120
    while not list(handed_in.glob("autograded/*/*/.graded-from")) and time.monotonic() < until:
        time.sleep(0.02)
    processes[1].kill()
    printed = finished(process)
    assert "0 failed" in printed
    found = totals(f"sqlite:///{handed_in / 'gradebook.db'}")
    assert found == expected(max(found.values()))


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[str]:
    """The URL of a database of a server that runs as long as the test."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(shutil.which("initdb") or "/none/x").parent]
    if not (programs[-1] / "initdb").exists():
        pytest.skip("the postgresql package is not installed")
    pytest.importorskip("psycopg")
    who = (
        ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        if getpass.getuser() == "root"
        else []
    )
    folder = Path("/tmp") / f"hero-pg-{os.getpid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(folder / "data")
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder}"
    run = {"check": True, "capture_output": True, "cwd": folder}
    subprocess.run([*who, programs[-1] / "initdb", "-D", data, "-U", "hero", "-A", "trust"], **run)
    subprocess.run(
        [*who, programs[-1] / "pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    yield f"postgresql://hero@127.0.0.1:{port}/postgres"
    subprocess.run(
        [*who, programs[-1] / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL
    )
    shutil.rmtree(folder)


def test_the_gradebook_may_be_postgresql(handed_in: Path, postgres: str) -> None:
    finished(grade(handed_in, HERO_DB=postgres))
    assert not (handed_in / "gradebook.db").exists()
    found = totals(postgres)
    assert found == expected(max(found.values()))
    report = subprocess.run(
        [sys.executable, "-m", "hero_course.cli", "report", CHAPTER], cwd=handed_in, env={**ENVIRONMENT, "HERO_DB": postgres},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"{len(KINDS)} learners, {len(KINDS)} graded" in report.stdout, report.stderr
    assert nbformat.read(handed_in / "autograded" / "blank" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
