"""How long grading one submission takes: stock nbgrader, the engine, and nothing but the cells' own computation.

    python benchmarks/grade_speed.py --learners 20
    python benchmarks/grade_speed.py --sizes 10 100 300     # the engine alone: does cost or memory grow with the class?

The same class of a chapter, one known mistake each, is graded in turn, in one run:

- ``stock``: ``nbgrader autograde`` with a stock kernel for each submission, as a command;
- ``engine``: the same with the engine, two lanes, as ``hero grade`` runs it, without feedback;
- ``engine, 1 lane``: the same with one lane;
- ``gradebook``: nbgrader's own work around the execution, the gradebook's above all: the engine run with no cells;
- ``floor``: the cells and checks alone, in one warm process, a fork for each submission, no sandbox, no gradebook;
- ``floor, no examples``: the same without worked examples, which the engine leaves out where no answer needs one.

The start of a command, and of the engine's warm parents, is measured apart and is in no line: it is paid once for a
class.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import psutil

from hero_course.chapter import read_chapter
from hero_course.compile import render
from hero_course.course import CONFIGURATION
from hero_course.edition import EDITION_FOLDER
from hero_course.engine.execute import HeroAutograde, HeroExecute, run_with
from hero_course.engine.pool import warm_up
from hero_course.grade import Grader
from hero_course.sample import plan_class
from hero_course.solutions import find_solutions
from hero_course.variants import read_misconceptions

ROOT = Path(__file__).resolve().parents[1]
FLOOR = """
import json, os, sys, time
sys.path.insert(0, os.getcwd())
import numpy, torch
from hero_course.rehearsal import _run
torch.set_num_threads(1)
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
InteractiveShell.instance(
    config=Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
)
jobs = json.load(open(sys.argv[1]))
def once(cells):
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _run((cells, {}))
        os._exit(0)
    os.waitpid(pid, 0)
    return time.perf_counter() - began
def imports(cells):
    ours, theirs = os.pipe()
    if os.fork() == 0:
        _run((cells, {}))
        names = [name for name in sys.modules if not name.startswith(("hero", "__", "matplotlib_inl"))]
        os.write(theirs, json.dumps(sorted(names)).encode())
        os._exit(0)
    os.close(theirs)
    return json.loads(os.fdopen(ours).read())
for name in imports(jobs[0]):
    try:
        __import__(name)
    except Exception:
        pass
print(json.dumps([once(cells) for cells in jobs]))
"""


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, default=6, help="size of the class (default 6)")
    parser.add_argument("--chapter", default="05_decoder_block")
    parser.add_argument("--rounds", type=int, default=1, help="how often each way is measured, in turn (default 1)")
    parser.add_argument("--sizes", type=int, nargs="+", help="classes of these sizes, graded by the engine alone")
    options = parser.parse_args()
    if options.sizes:
        grow(options)
        return
    with tempfile.TemporaryDirectory(prefix="hero-bench-") as folder:
        bench = Bench(Path(folder) / "course", options.chapter, options.learners)
        ways = bench.ways()
        seconds = {name: [] for name in ways}
        for _ in range(options.rounds):
            for name, way in ways.items():
                seconds[name].append(way())
    report({name: statistics.median(found) / options.learners for name, found in seconds.items()}, bench, options)


def report(each: dict[str, float], bench: Bench, options: argparse.Namespace) -> None:
    """Print seconds a submission, and how many times faster than stock."""
    print(f"{options.chapter}, {options.learners} learners, {os.cpu_count()} cores, once for a class:", end="")
    print(f" a command's start {bench.start:.1f} s, the warm parents' {bench.warm:.1f} s\n")
    print("| way | seconds a submission | times faster than stock |\n|---|---|---|")
    for name, value in each.items():
        print(f"| {name} | {value:.3f} | {each['stock'] / value:.1f} |")


def grow(options: argparse.Namespace) -> None:
    """Print what a submission costs, and how much memory is used, in classes of several sizes."""
    print("| learners | seconds a submission | peak memory, MB |\n|---|---|---|")
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="hero-bench-") as folder:
            bench = Bench(Path(folder) / "course", options.chapter, size)
            with Peak() as peak:
                seconds = bench.engine(2)
            print(f"| {size} | {seconds / size:.3f} | {peak.megabytes:.0f} |", flush=True)


class Peak:
    """The most memory that this process and all below it used at one time; pages that they share count once."""

    def __enter__(self) -> Peak:
        self.megabytes, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(0.25):
            total = 0
            for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    total += process.memory_full_info().pss
            self.megabytes = max(self.megabytes, total / 2**20)

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()


class Bench:
    """A copy of the course with a class that handed in, and the ways to grade it."""

    def __init__(self, course: Path, chapter: str, learners: int) -> None:
        self.course, self.name = course, chapter
        for name in ("chapters", EDITION_FOLDER, "source", "release"):
            shutil.copytree(ROOT / name, course / name)
        for name in (*CONFIGURATION, "environment.yml"):
            shutil.copy(ROOT / name, course)
        self.learners = [f"learner-{number:03}" for number in range(learners)]
        self._hand_in()
        self.grader = Grader(course, chapter, "zh")
        self.grader.enter_assignment()
        began = time.perf_counter()
        self._nbgrader("--help")
        self.start, self.warm = time.perf_counter() - began, 0.0

    def ways(self) -> dict[str, Callable[[], float]]:
        """For each way, a function that grades the class and returns the seconds."""
        return {
            "stock": self.stock,
            "engine": lambda: self.engine(2),
            "engine, 1 lane": lambda: self.engine(1),
            "gradebook": self.gradebook,
            "floor": self.floor,
            "floor, no examples": lambda: self.floor(examples=False),
        }

    def stock(self) -> float:
        """nbgrader's own command; its start is taken off."""
        began = time.perf_counter()
        self._nbgrader("autograde", self.name, "--force", HERO_ENGINE="stock")
        return time.perf_counter() - began - self.start

    def engine(self, lanes: int) -> float:
        """The engine, without the start of its warm parents."""
        runs = self.grader.runs(lanes)
        began = time.perf_counter()
        warm_up(HeroExecute(config=self.grader.config).assignment(self.grader.source))
        self.warm = max(self.warm, time.perf_counter() - began)  # the second time they are there
        began = time.perf_counter()
        for learner, error in self.grader.grade_all(self.learners, feedback=False, runs=runs):
            if error:
                raise RuntimeError(f"{learner}: {error}")
        return time.perf_counter() - began

    def gradebook(self) -> float:
        """All that nbgrader does, with no cell run."""
        began = time.perf_counter()
        with run_with(lambda job: [[] for _ in job.steps]):
            for learner in self.learners:
                self.grader.convert(HeroAutograde, learner)
        return time.perf_counter() - began

    def floor(self, examples: bool = True) -> float:
        """The cells alone."""
        jobs = []
        for learner in self.learners:
            found = nbformat.read(self._submission(learner), as_version=4)
            source = nbformat.read(self.course / "source" / "zh" / self.name / f"{self.name}.ipynb", as_version=4)
            checks = {cell.id: cell.source for cell in source.cells if cell.metadata.get("nbgrader", {}).get("locked")}
            cells = [c for c in found.cells if c.cell_type == "code" and (examples or "nbgrader" in c.metadata)]
            jobs.append([{"key": c.id, "graded": False, "source": checks.get(c.id, c.source)} for c in cells])
        file = self.course / "floor.json"
        file.write_text(json.dumps(jobs), encoding="utf-8")
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", FLOOR, str(file)], cwd=self.course / "source" / "zh" / self.name, env=variables,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return sum(json.loads(done.stdout.splitlines()[-1]))

    def _hand_in(self) -> None:
        """One known mistake a learner, in turn; everything else right."""
        chapter = read_chapter(self.course / "chapters" / self.name / "chapter.md")
        mistakes = read_misconceptions(chapter, find_solutions(self.course / EDITION_FOLDER))
        right = next(one for one in plan_class(self.course, chapter) if one.about == "all right").cells
        release = self.course / "release" / "zh" / self.name / f"{self.name}.ipynb"
        for learner, mistake in zip(self.learners, itertools.cycle(mistakes), strict=False):
            notebook = nbformat.read(release, as_version=4)
            answers = {**right, mistake.exercise: mistake.code}
            for cell in notebook.cells:
                cell.source = answers.get(cell.id, cell.source)
            self._submission(learner).parent.mkdir(parents=True)
            self._submission(learner).write_text(render(notebook), encoding="utf-8")

    def _submission(self, learner: str) -> Path:
        return self.course / "submitted" / learner / self.name / f"{self.name}.ipynb"

    def _nbgrader(self, *words: str, **environment: str) -> None:
        command = [sys.executable, "-m", "nbgrader", *words]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        subprocess.run(command, cwd=self.course, env=variables, capture_output=True, check=True)


if __name__ == "__main__":
    main()
