"""Build the book: from each chapter's one source to the instructor's, learner's and reader's notebooks.

Everything is made in a folder beside the results and checked there; only when all of it is right do the new
folders take the places of the old ones. A fault leaves everything as it was.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from hero_course.chapter import LANGUAGES, Chapter
from hero_course.compile import Known, instructor_notebook, reader_notebook, render
from hero_course.course import chapter_named, read_chapters
from hero_course.edition import EDITION_FOLDER, SHEET, edition_files
from hero_course.execute import execute_notebook, share_outputs
from hero_course.glossary import GLOSSARY, check_terms, read_glossary
from hero_course.mistakes import fingerprints
from hero_course.quantities import check_claims_shown, check_quantities
from hero_course.readers import set_aside, sign
from hero_course.rehearsal import CellRun, rehearse, without_examples
from hero_course.release import release_notebooks
from hero_course.rules import check_book, check_chapter
from hero_course.solutions import Solution, find_solutions
from hero_course.variants import Variant, read_misconceptions

__all__ = ["build"]



def build(
    root: Path,
    names: list[str] | None = None,
    say: Callable[[str], None] = print,
    warn: Callable[[str], None] = print,
) -> list[str]:
    """Build chapters, all or those named.

    Args:
        root: the course's root.
        names: the folders' names; default all.
        say: told what is being done.
        warn: told what somebody should know afterwards.

    Returns:
        The names of the chapters that were built.

    Raises:
        SourceError: at the first fault in a source; nothing is written then.
    """
    chapters = read_chapters(root)
    solutions = find_solutions(root / EDITION_FOLDER)
    for chapter in chapters:
        check_chapter(chapter, solutions)
    check_book(chapters, solutions)
    terms = read_glossary(root / GLOSSARY)
    for chapter in chapters:
        check_terms(chapter, terms)
    wanted = chapters if names is None else [chapter_named(chapters, name) for name in names]
    with tempfile.TemporaryDirectory(prefix=".build-", dir=root) as folder:
        stage = Path(folder)
        for chapter in wanted:
            say(f"{chapter.name}: rehearsing")
            _stage_chapter(root, stage, chapter, chapters, solutions)
        say("releasing through nbgrader")
        for lang in LANGUAGES:
            release_notebooks(root, stage, lang, [chapter.name for chapter in wanted])
        for chapter in wanted:
            say(f"{chapter.name}: executing the reader's edition")
            _stage_reader(root, stage, chapter)
        for chapter in wanted:
            for lang in LANGUAGES:
                kept = set_aside(root, stage / "chapters" / chapter.name / f"{lang}.ipynb")
                if kept:
                    warn(f"{chapter.name}/{lang}.ipynb had been edited by hand; a copy of it as it was: {kept}")
            _put_in_place(root, stage, chapter)
    return [chapter.name for chapter in wanted]


def _stage_chapter(
    root: Path, stage: Path, chapter: Chapter, chapters: list[Chapter], solutions: dict[str, Solution]
) -> None:
    files = edition_files(chapter, chapters, solutions, root / EDITION_FOLDER)
    mistakes = read_misconceptions(chapter, solutions)
    blind = instructor_notebook(chapter, "zh", solutions, {})
    for lang in LANGUAGES:
        folder = stage / "source" / lang / chapter.name
        (folder / EDITION_FOLDER).mkdir(parents=True)
        for name, text in files.items():
            (folder / EDITION_FOLDER / name).write_text(text, encoding="utf-8")
        _write_sheet(folder, chapter.name, {})
    folder = stage / "source" / "zh" / chapter.name
    _refuse_failures(chapter, rehearse(blind, folder, {"reference": {}})["reference"])
    runs = rehearse(without_examples(blind), folder, _answers(mistakes))
    _refuse_failures(chapter, runs["reference"])  # a check that leans on an example fails here
    known = fingerprints(chapter, mistakes, runs)
    for lang in LANGUAGES:
        folder = stage / "source" / lang / chapter.name
        notebook = instructor_notebook(chapter, lang, solutions, known)
        (folder / f"{chapter.name}.ipynb").write_text(render(notebook), encoding="utf-8")
        _write_sheet(folder, chapter.name, _visible(chapter, known))


def _answers(mistakes: list[Variant]) -> dict[str, dict[str, str]]:
    return {"reference": {}, **{mistake.id: {mistake.exercise: mistake.code} for mistake in mistakes}}


def _refuse_failures(chapter: Chapter, runs: Mapping[str, CellRun]) -> None:
    """The reference solution must run through: every cell, and every check."""
    for run in runs.values():
        cell = chapter.cell(run.key)
        if run.passed or cell is None or "raises-exception" in cell.options.get("tags", []):
            continue
        if run.error in ("NotImplementedError", "NotWrittenError"):
            raise chapter.error(
                cell.line, f"the cell {run.key!r} calls the exercise {run.message!r} before its cell", "move it below"
            )
        raise chapter.error(
            cell.line, f"the cell {run.key!r} fails with the reference solutions: {run.error}: {run.message}",
            "mend the cell or the solution",
        )


def _visible(chapter: Chapter, known: Mapping[str, Known]) -> dict[str, Known]:
    return {cell.key: known[cell.key] for cell in chapter.of_kind("check")}


def _write_sheet(folder: Path, edition: str, checks: Mapping[str, Known]) -> None:
    text = json.dumps({"edition": edition, "checks": checks}, ensure_ascii=False, indent=1, sort_keys=True)
    (folder / SHEET).write_text(text + "\n", encoding="utf-8")


def _stage_reader(root: Path, stage: Path, chapter: Chapter) -> None:
    """Execute one language's notebook against the full package; the other shares its outputs."""
    folder = stage / "chapters" / chapter.name
    folder.mkdir(parents=True)
    sheet = json.loads((stage / "release" / "zh" / chapter.name / SHEET).read_text(encoding="utf-8"))
    _write_sheet(folder, "reference", sheet["checks"])
    readers = {lang: reader_notebook(_released(stage, lang, chapter), lang) for lang in LANGUAGES}
    execute_notebook(readers["zh"], folder, root, chapter)
    share_outputs(readers["zh"], readers["en"])
    check_quantities(chapter, readers["zh"])
    check_claims_shown(chapter, readers["zh"])
    for lang, notebook in readers.items():
        sign(notebook)
        (folder / f"{lang}.ipynb").write_text(render(notebook), encoding="utf-8")


def _released(stage: Path, lang: str, chapter: Chapter) -> NotebookNode:
    return nbformat.read(stage / "release" / lang / chapter.name / f"{chapter.name}.ipynb", as_version=4)


def _put_in_place(root: Path, stage: Path, chapter: Chapter) -> None:
    for lang in LANGUAGES:
        for kind in ("source", "release"):
            _replace(stage / kind / lang / chapter.name, root / kind / lang / chapter.name)
    for path in sorted((stage / "chapters" / chapter.name).iterdir()):
        path.replace(root / "chapters" / chapter.name / path.name)


def _replace(new: Path, old: Path) -> None:
    """Put the folder ``new`` where ``old`` is."""
    old.parent.mkdir(parents=True, exist_ok=True)
    if old.exists():
        aside = new.with_name(new.name + ".old")
        old.rename(aside)
        new.rename(old)
        shutil.rmtree(aside)
    else:
        new.rename(old)
