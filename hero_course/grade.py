"""Grade a class with nbgrader's own converters, learner by learner; the engine runs the submissions ahead."""

from __future__ import annotations

import glob
import hashlib
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from hero_course.course import nbgrader_config
from hero_course.engine.ahead import Ahead
from hero_course.engine.converters import HeroFeedback
from hero_course.engine.execute import HeroAutograde, HeroExecute, run_with
from hero_course.engine.handed_in import plain_files
from hero_course.engine.patience import OWN_SECONDS, at_most
from hero_course.engine.pool import Pool
from hero_course.engine.restore import NOTES
from hero_course.engine.salvage import salvage
from hero_course.errors import CourseError
from hero_course.quiet import LOG

if TYPE_CHECKING:
    from hero_course.engine.cluster import Cluster

__all__ = ["Grader", "submitters"]

RECEIPT = ".graded-from"


def submitters(root: Path, name: str) -> list[str]:
    """The learners who handed in a chapter: those with a folder ``submitted/<learner>/<chapter>``."""
    return sorted(path.parent.name for path in (root / "submitted").glob(f"*/{name}") if path.is_dir())


class Grader:
    """Grades submissions of one chapter.

    Args:
        root: the course's root.
        name: the chapter's folder name.
        lang: whose ``source/`` the checks are taken from; submissions may be in either language.

    ``unreadable`` has the learners whose file could not be read, and why; they score 0. ``notes`` has what was odd
    about the others' submissions: what was chosen and what was left out.

    Raises:
        CourseError: if the chapter was not built.
    """

    def __init__(self, root: Path, name: str, lang: str) -> None:
        self.root, self.name = root, name
        self.source = root / "source" / lang / name
        if not self._notebook.is_file():
            raise CourseError(f"{name} is not built: {self._notebook} is missing. Remedy: run hero build {name}")
        self.config = nbgrader_config(root, lang)
        self.unreadable: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self._engine = HeroExecute in self.config.Autograde.get("autograde_preprocessors", [])

    @property
    def _notebook(self) -> Path:
        return self.source / f"{self.name}.ipynb"

    def enter_assignment(self) -> bool:
        """Put the chapter's checks into the gradebook, unless it has these very checks already.

        nbgrader's generate_assignment does it. It writes to a folder that is thrown away: the release that
        learners have stays as it is.

        Returns:
            Whether there was anything to do.

        Raises:
            CourseError: if nbgrader refuses, as it does when checks were added or removed after grading.
        """
        if self._entered() == _checks(self._notebook):
            return False
        with tempfile.TemporaryDirectory() as folder:
            error = self.convert(GenerateAssignment, release_directory=folder)
        if error:
            raise CourseError(f"nbgrader did not take {self.name} into the gradebook: {error}. See {LOG}")
        return True

    def is_graded(self, learner: str) -> bool:
        """Whether the learner has a result that was made from this submission and these checks."""
        receipt = self._folder("autograded", learner) / RECEIPT
        return receipt.is_file() and receipt.read_text(encoding="utf-8") == self._inputs(learner)

    def grade_all(
        self, learners: list[str], feedback: bool = True, runs: Pool | Cluster | None = None
    ) -> Iterator[tuple[str, str | None]]:
        """Grade learners one after the other, while the next submissions run beforehand in several lanes.

        Args:
            learners: whom.
            feedback: whether to write the feedback, too.
            runs: what runs the submissions, from `runs`; default two lanes of this machine.

        Yields:
            Each learner, and None or why there is no result, in one line.
        """
        if not self._engine or (len(learners) < 2 and runs is None):
            yield from ((learner, self.grade(learner, feedback)) for learner in learners)
            return
        runs = runs or self.runs(min(2, len(learners)))
        examples = HeroExecute(config=self.config).examples
        ahead = Ahead(runs, self.source, self.root / "submitted", examples, 2 * runs.lanes)
        try:
            with run_with(ahead.run):
                for learner in ahead.through(learners):
                    yield learner, self.grade(learner, feedback)
        finally:
            runs.close()

    def runs(self, lanes: int = 2, dask: str | None = None) -> Pool | Cluster:
        """What runs the submissions: lanes of this machine, or the cluster of a Dask scheduler's address."""
        assignment = HeroExecute(config=self.config).assignment(self.source)
        if dask is None:
            return Pool(assignment, lanes)
        from hero_course.engine.cluster import Cluster

        return Cluster(dask, assignment)

    def grade(self, learner: str, feedback: bool = True) -> str | None:
        """Grade one learner's submission again and write the feedback.

        Returns:
            None, or why there is no result, in one line.
        """
        try:
            error = self.convert(HeroAutograde if self._engine else Autograde, learner) or self._look_at(learner)
            if error is None and feedback:
                error = self.convert(HeroFeedback, learner)
                error = error and f"graded, but without feedback: {error}"
            if error is None:
                (self._folder("autograded", learner) / RECEIPT).write_text(self._inputs(learner), encoding="utf-8")
        except Exception as fault:  # one learner's trouble must not become another's
            return _line(fault)
        return error

    def _folder(self, step: str, learner: str) -> Path:
        return self.root / step / learner / self.name

    def _look_at(self, learner: str) -> str | None:
        """Note that a submission could not be read; in a stock kernel, whether the set-up cell failed.

        Then the points say nothing, and the graded notebook is removed. The engine's examiner has a set-up of its own.
        """
        if self._engine:
            found = salvage(self._folder("submitted", learner), self.source).reason
            self.unreadable |= {learner: found} if found else {}
            graded = json.loads((self._folder("autograded", learner) / f"{self.name}.ipynb").read_bytes())
            notes = graded["metadata"].get("hero", {}).get(NOTES, [])
            self.notes |= {learner: "; ".join(notes)} if notes else {}
            return None
        folder = self._folder("autograded", learner)
        for cell in _locked(nbformat.read(folder / f"{self.name}.ipynb", as_version=4)):
            errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
            if errors and not cell.metadata.nbgrader.grade:
                shutil.rmtree(folder)
                return f"the set-up cell failed: {errors[0].ename}: {errors[0].evalue}"[:400]
        return None

    def convert(self, kind: type, learner: str = ".", **places: str) -> str | None:
        """Run one of nbgrader's converters; what went wrong, in one line, or None."""
        course = CourseDirectory(config=self.config, assignment_id=self.name, student_id=glob.escape(learner), **places)
        faults = _Faults()
        log = logging.Logger("nbgrader", logging.INFO)
        file = logging.FileHandler(self.root / LOG, encoding="utf-8")
        log.addHandler(file)
        log.addHandler(faults)
        try:
            with at_most(OWN_SECONDS):
                kind(coursedir=course, config=self.config, force=True, log=log).start()
        except (Exception, SystemExit) as error:
            return _line(faults.first or error)
        finally:
            file.close()
        return None

    def _entered(self) -> dict[str, Any] | None:
        """The checks as the gradebook has them, or None."""
        with Gradebook(self.config.CourseDirectory.db_url, self.config.CourseDirectory.course_id) as gradebook:
            try:
                notebook = gradebook.find_notebook(self.name, self.name)
            except MissingEntry:
                return None
            points = {cell.name: cell.max_score for cell in notebook.grade_cells}
            return {cell.name: (cell.source, points.get(cell.name)) for cell in notebook.source_cells if cell.locked}

    def _inputs(self, learner: str) -> str:
        """A digest of all that a grade depends on: what was handed in, the checks, and the files beside them."""
        digest = hashlib.sha256(json.dumps(_checks(self._notebook), sort_keys=True).encode())
        for folder in (self._folder("submitted", learner), self.source):
            for path in plain_files(folder):
                if path != self._notebook:
                    content = hashlib.sha256(path.read_bytes()).hexdigest()
                    digest.update(os.fsencode(f"{path.relative_to(folder)}\0{content}\n"))
        return digest.hexdigest()


class _Faults(logging.Handler):
    """Keeps the first exception that nbgrader logs: it then raises another, which says only that there was one."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or sys.exc_info()[1]


def _line(error: BaseException) -> str:
    """An exception in one line.

    Example:
        >>> _line(ValueError("no JSON here\\nat all"))
        'ValueError: no JSON here'
    """
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def _checks(notebook: Path) -> dict[str, tuple[str, float | None]]:
    """The locked cells of an instructor's notebook: for each id its code, and its points if it is graded."""
    cells = _locked(nbformat.read(notebook, as_version=4))
    return {cell.metadata.nbgrader.grade_id: (cell.source, cell.metadata.nbgrader.get("points")) for cell in cells}


def _locked(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("locked")]
