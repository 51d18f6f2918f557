"""A copy of the course, built afresh once for the whole run: tests of built folders look only at that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from hero_course.build import build
from hero_course.course import CONFIGURATION

ROOT = Path(__file__).resolve().parents[1]
ALL = os.environ.get("HERO_TESTS") == "all"  # as .ci/run sets it: then a skipped test is a failed one
if shutil.which("bwrap") is None and not ALL:
    # points do not depend on the sandbox; tests of the sandbox itself are skipped
    os.environ.setdefault("HERO_SANDBOX", "none")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let nothing be skipped where all is wanted: a missing sandbox must not look like a passed test."""
    return _wanted((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole file."""
    return _wanted((yield))


def _wanted(report: Any) -> Any:
    if ALL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"HERO_TESTS=all: nothing may be skipped: {report.longrepr}"
    return report


collect_ignore_glob = ["right_answers/*", "wrong_answers/*"]  # answers are read, never imported


@pytest.fixture(autouse=True)
def _package_as_it_was() -> Iterator[None]:
    """Put back whatever function of the package a test leaves replaced: no test depends on those before it."""
    before = {home: dict(vars(home)) for home in _homes()}
    yield
    for home, names in before.items():
        for name, value in names.items():
            if callable(value) and vars(home).get(name) is not value:
                setattr(home, name, value)


def _homes() -> list[Any]:
    """The package's modules and their classes."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "hero_transformer"]
    classes = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    return [*modules, *(one for one in classes if one.__module__.startswith("hero_transformer"))]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A copy of the repository's own files, with everything built from scratch; tests only read it.

    Where several processes share the tests, the first that needs it builds it for all.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with FileLock(shared / "course.lock"):
        if not (shared / "course").exists():
            _build(shared / "half-built")
            (shared / "half-built").rename(shared / "course")
    return shared / "course"


def _build(copy: Path) -> None:
    for name in ("chapters", "hero_transformer"):
        ignore = shutil.ignore_patterns("__pycache__", "*.ipynb", "fingerprints.json")
        shutil.copytree(ROOT / name, copy / name, ignore=ignore)
    for name in (*CONFIGURATION, "environment.yml"):
        shutil.copy(ROOT / name, copy / name)
    build(copy, say=lambda text: None)


@pytest.fixture(scope="session")
def tracked() -> list[str]:
    """The files that git tracks, as paths from the root."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listing.stdout.split("\0")[:-1]
