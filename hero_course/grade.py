"""Grade a class with nbgrader's own converters, learner by learner; the engine runs the submissions ahead."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbgrader.converters import Autograde

from hero_course.course import nbgrader_config
from hero_course.engine.ahead import Ahead
from hero_course.engine.converters import HeroFeedback
from hero_course.engine.execute import HeroAutograde, HeroExecute, run_with
from hero_course.engine.pool import Pool
from hero_course.engine.restore import NOTES
from hero_course.engine.salvage import salvage
from hero_course.entry import Entry, checks_of, enter_checks, locked_cells
from hero_course.errors import CourseError
from hero_course.names import fault_of_name
from hero_course.ready import require_folders, require_gradebook, require_sandbox
from hero_course.receipt import Receipt, digest_of_inputs
from hero_course.records import Record, Records
from hero_course.steps import convert, one_line

if TYPE_CHECKING:
    from hero_course.engine.cluster import Cluster

__all__ = ["Grader", "submitters"]


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

    def require_ready(self, elsewhere: bool = False) -> None:
        """Look once at all that grading needs, before anybody's work is touched.

        Args:
            elsewhere: whether other machines run the submissions.

        Raises:
            CourseError: what is missing.
        """
        if self._engine and not elsewhere:
            require_sandbox(HeroExecute(config=self.config).sandbox)
        require_gradebook(self.config.CourseDirectory.db_url)
        require_folders(self.root, self.root / "autograded", self.root / "feedback")

    def enter_assignment(self) -> Entry | None:
        """Put the chapter's checks into the gradebook, unless it has these very checks already; see `enter_checks`."""
        return enter_checks(self.root, self.config, self.name, self._notebook)

    def records(self, learner: str | None = None) -> dict[str, Record]:
        """What the gradebook holds of the chapter, by learner."""
        return Records(self.config.CourseDirectory.db_url, self.name).read(learner)

    def is_graded(self, learner: str, records: dict[str, Record] | None = None) -> bool:
        """Whether the learner has a result that was made from this submission and these checks."""
        found = (self.records(learner) if records is None else records).get(learner)
        receipt = Receipt.read(self._folder("autograded", learner))
        return found is not None and receipt is not None and (
            (receipt.inputs, receipt.graded) == (self._inputs(learner), found.graded)
        )  # fmt: skip

    def has_feedback(self, learner: str, records: dict[str, Record]) -> bool:
        """Whether a graded learner's feedback is there and says what the gradebook says, scores by hand included."""
        receipt = Receipt.read(self._folder("autograded", learner))
        page = self._folder("feedback", learner) / f"{self.name}.html"
        return page.is_file() and receipt is not None and receipt.said == records[learner].said

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

        try:
            return Cluster(dask, assignment)
        except (OSError, ValueError) as error:
            raise CourseError(f"no Dask scheduler answers at {dask}: {one_line(error)}. Remedy: start it") from None

    def grade(self, learner: str, feedback: bool = True) -> str | None:
        """Grade one learner's submission again and write the feedback.

        Returns:
            None, or why there is no result, in one line.
        """
        try:
            inputs = self._inputs(learner)  # before anything is read: what comes in meanwhile is graded next time
            error = fault_of_name(learner) or self._autograde(learner) or self._look_at(learner)
            if error is None:
                receipt = Receipt(inputs, self.records(learner)[learner].graded)
                receipt.write(self._folder("autograded", learner))
                error = self.write_feedback(learner) if feedback else None
        except Exception as fault:  # one learner's trouble must not become another's
            return one_line(fault)
        return error

    def write_feedback(self, learner: str) -> str | None:
        """Write the feedback of a graded learner, and note in the receipt what it says; what went wrong, or None."""
        said = self.records(learner)[learner].said
        error = self.convert(HeroFeedback, learner)
        if error:
            return f"graded, but without feedback: {error}"
        folder = self._folder("autograded", learner)
        receipt = Receipt.read(folder)
        if receipt:
            replace(receipt, said=said).write(folder)
        return None

    def convert(self, kind: type, learner: str = ".") -> str | None:
        """Run one of nbgrader's converters; what went wrong, in one line, or None."""
        return convert(self.root, self.config, self.name, kind, learner)

    def _autograde(self, learner: str) -> str | None:
        return self.convert(HeroAutograde if self._engine else Autograde, learner)

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
        for cell in locked_cells(nbformat.read(folder / f"{self.name}.ipynb", as_version=4)):
            errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
            if errors and not cell.metadata.nbgrader.grade:
                shutil.rmtree(folder)
                return f"the set-up cell failed: {errors[0].ename}: {errors[0].evalue}"[:400]
        return None

    def _inputs(self, learner: str) -> str:
        """A digest of all that a grade depends on: what was handed in, the checks, the files beside them, lateness."""
        late = [self.config.get(one) for one in ("AssignLatePenalties", "LateSubmissionPlugin")]
        terms = [checks_of(self._notebook), late]
        return digest_of_inputs(terms, self._folder("submitted", learner), self.source, self._notebook)
