"""A sample class: a few submissions that show the grader what a class brings, from all right to a syntax error.

Nobody is invented: the learners are called ``sample-01``, ``sample-02``, … and their mistakes are the
chapter's own, from ``misconceptions.py``.
"""

from __future__ import annotations

import ast
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

import nbformat

from hero_course.chapter import LANGUAGES, Chapter
from hero_course.compile import render, right_answer
from hero_course.course import CONFIGURATION
from hero_course.edition import EDITION_FOLDER
from hero_course.errors import CourseError
from hero_course.pack import release_folder, write_whole
from hero_course.solutions import find_solutions
from hero_course.variants import Variant, read_misconceptions

__all__ = ["Sample", "plan_class", "sample_course", "write_class"]

COURSE = "demo"
_MARK = ".sample"  # beside a sample's notebook, with its digest; in a course that holds nothing else
_SINGLE_MISTAKES = 6


@dataclass(frozen=True)
class Sample:
    """One submission: whose, what it shows, in which language, and the code of the cells that were filled in."""

    learner: str
    about: str
    lang: str
    cells: Mapping[str, str]


def plan_class(root: Path, chapter: Chapter) -> list[Sample]:
    """Choose the submissions; the same chapter gives the same class.

    All right in each language, blank, begun only, some single mistakes spread over the exercises, two
    mistakes at once, an error at run time, and a syntax error. What the last four leave alone is right.

    Raises:
        SourceError: if ``misconceptions.py`` cannot be read.
    """
    solutions = find_solutions(root / EDITION_FOLDER)
    mistakes = read_misconceptions(chapter, solutions)
    asked = [*chapter.of_kind("exercise"), *chapter.of_kind("prediction")]
    right = {cell.key: right_answer(cell, solutions) for cell in asked}
    spread = _spread(mistakes, list(right))
    first = {key: next(one for one in spread if one.exercise == key) for key in islice(right, 2)}
    written = list(chapter.of_kind("exercise"))
    begun = next(iter(right))
    kinds = [
        ("all right", LANGUAGES[0], right),
        ("all right, in the other language", LANGUAGES[1], right),
        ("blank", LANGUAGES[0], {}),
        (f"only {begun} written", LANGUAGES[0], {begun: right[begun]}),
        *((one.id, LANGUAGES[0], {**right, one.exercise: one.code}) for one in spread[:_SINGLE_MISTAKES]),
        (
            "two mistakes: " + ", ".join(one.id for one in first.values()),
            LANGUAGES[0],
            {**right, **{key: one.code for key, one in first.items()}},
        ),
        ("an error at run time", LANGUAGES[0], {**right, written[0].key: _undefined(right[written[0].key])}),
        ("a syntax error", LANGUAGES[0], {**right, written[-1].key: right[written[-1].key] + "\n    return ("}),
    ]
    return [Sample(f"sample-{number:02}", *kind) for number, kind in enumerate(kinds, 1)]


def sample_course(root: Path, chapter: Chapter) -> Path:
    """A course in ``demo/`` with a gradebook of its own; marks that were given in the real one stay out of reach.

    Args:
        root: the real course's root, or that of a sample course, which is taken as it is.
        chapter: the chapter to hand in there; the course gets copies of it.

    Raises:
        CourseError: if ``demo/`` is something else.
    """
    if (root / _MARK).is_file():
        return root
    demo = root / COURSE
    if demo.exists() and not (demo / _MARK).is_file():
        raise CourseError(f"{demo} is in the way: the sample class's course goes there. Remedy: move it away")
    demo.mkdir(exist_ok=True)
    write_whole(demo / _MARK, b"made by hero new-class, removed by make clean\n")
    places = [f"{step}/{lang}/{chapter.name}" for step in ("source", "release") for lang in LANGUAGES]
    for place in (f"chapters/{chapter.name}", *places, EDITION_FOLDER):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.rmtree(demo / place, ignore_errors=True)
        shutil.copytree(root / place, demo / place, ignore=ignore)
    for name in CONFIGURATION:
        shutil.copy(root / name, demo / name)
    return demo


def write_class(root: Path, chapter: Chapter) -> list[Sample]:
    """Write the sample class under ``submitted/``, in the place of an older one; see `plan_class`.

    Only folders ``submitted/sample-NN/<chapter>`` are touched, and of these only what was written here. Each takes
    its place whole.

    Raises:
        CourseError: if the chapter has no proper release in both languages, or somebody else's work is in the way.
    """
    releases = {lang: release_folder(root, chapter.name, lang) / f"{chapter.name}.ipynb" for lang in LANGUAGES}
    samples = plan_class(root, chapter)
    older = _older(root, chapter.name)
    for place in (root / "submitted" / sample.learner / chapter.name for sample in samples):
        if place.exists() and place not in older:
            raise CourseError(f"{place} was not written by this command, or was changed. Remedy: move it away")
    with tempfile.TemporaryDirectory(prefix=".build-", dir=root) as folder:
        stage = Path(folder)
        for sample in samples:
            new = stage / sample.learner
            new.mkdir()
            content = _submission(releases[sample.lang], sample).encode()
            (new / f"{chapter.name}.ipynb").write_bytes(content)
            (new / _MARK).write_text(hashlib.sha256(content).hexdigest())
        for old in older:
            old.rename(stage / f"{old.parent.name}.old")
        for sample in samples:
            place = root / "submitted" / sample.learner / chapter.name
            place.parent.mkdir(parents=True, exist_ok=True)
            (stage / sample.learner).rename(place)
    return samples


def _submission(release: Path, sample: Sample) -> str:
    notebook = nbformat.read(release, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = sample.cells.get(cell.id, cell.source)
    return render(notebook)


def _older(root: Path, name: str) -> list[Path]:
    """The folders that hold a sample as it was written, and nothing else."""
    return [folder for folder in (root / "submitted").glob(f"sample-*/{name}") if _is_sample(folder)]


def _is_sample(folder: Path) -> bool:
    notebook, mark = folder / f"{folder.name}.ipynb", folder / _MARK
    if not mark.is_file() or [path for path in folder.glob("[!.]*") if path != notebook]:
        return False
    return hashlib.sha256(notebook.read_bytes()).hexdigest() == mark.read_text()


def _spread(mistakes: list[Variant], exercises: list[str]) -> list[Variant]:
    """All mistakes, an exercise after the other in turn."""
    columns = [[one for one in mistakes if one.exercise == key] for key in exercises]
    return [one for row in zip_longest(*columns) for one in row if one is not None]


def _undefined(code: str) -> str:
    """The function with a body that returns a name which nobody defined.

    Example:
        >>> print(_undefined("@replaces(model)\\ndef gelu(x):\\n    return x"))
        @replaces(model)
        def gelu(x):
            return result
    """
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = [ast.Return(ast.Name("result", ast.Load()))]
    return ast.unparse(ast.fix_missing_locations(function))
