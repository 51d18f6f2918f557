"""The command `hero`. What each verb needs is imported when it runs, so that ``hero --help`` answers at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from hero_course.errors import CourseError

if TYPE_CHECKING:
    from rich.console import Console

    from hero_course.grade import Grader

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ChapterName = Annotated[str, typer.Argument(metavar="CHAPTER", help="Folder name or number: 05_decoder_block, or 5.")]
Lang = Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="Language; default HERO_LANG, else zh.")]


def main() -> None:
    """Run the command; a request that cannot be carried out is one red line and exit code 2."""
    try:
        app()
    except (CourseError, OSError) as error:
        _fail(str(error))
    except Exception as error:
        if not _is_of_the_database(error):
            raise
        _fail(f"the gradebook: {str(error).splitlines()[0]}")


def _is_of_the_database(error: Exception) -> bool:
    return any(kind.__module__.startswith("sqlalchemy.") for kind in type(error).mro())


def _fail(said: str) -> NoReturn:
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True).print(Text(f"error: {' '.join(said.split())}", style="red"))
    sys.exit(2)


@app.callback()
def check_language() -> None:
    """Build the book, hand a chapter out, grade a class and look at its results. Run inside the course's folder."""
    from hero_course.course import language

    language(None)


@app.command()
def build(
    chapters: Annotated[
        list[str] | None, typer.Argument(metavar="[CHAPTER]...", help="Folder names or numbers; default all.")
    ] = None,
) -> None:
    """Make source/, release/ and the reader's notebooks from chapters/*/chapter.md."""
    from rich.console import Console

    from hero_course.alone import alone
    from hero_course.build import build as build_book
    from hero_course.course import find_root
    from hero_course.quiet import LOG, quietly

    root, console = find_root(), Console()
    with alone(root, "build", typer.echo), console.status("reading") as status, quietly(root / LOG):
        built = build_book(root, chapters or None, status.update, typer.echo)
    console.print(f"built {', '.join(built) or 'nothing'}", highlight=False)


@app.command()
def pack(
    chapter: ChapterName,
    lang: Lang = None,
    to: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the zip goes; default packs/.")] = None,
) -> None:
    """Make the zip that learners get: the notebook, the package as it stands before the chapter, environment.yml."""
    from hero_course.course import language
    from hero_course.pack import pack as pack_chapter

    root, name = _root_and_name(chapter)
    typer.echo(pack_chapter(root, name, language(lang), to))


@app.command()
def work(chapter: ChapterName, lang: Lang = None) -> None:
    """Lay out work/CHAPTER-LANG/ as the zip gives it, to work in as a learner; what is there already is left alone."""
    from hero_course.course import language
    from hero_course.pack import unpack

    root, name = _root_and_name(chapter)
    notebook, new = unpack(root, name, language(lang))
    if not new:
        typer.echo("there already, left as it is:", err=True)
    typer.echo(notebook)


@app.command("new-class")
def new_class(chapter: ChapterName) -> None:
    """Make a course of its own in demo/, with a sample class, to try the grading on; the real course is left alone."""
    from hero_course.alone import alone
    from hero_course.course import chapter_named, find_root, read_chapters
    from hero_course.sample import sample_course, write_class

    root = find_root()
    one = chapter_named(read_chapters(root), chapter)
    with alone(root, f"new-class {one.name}", typer.echo):
        demo = sample_course(root, one)
        for sample in write_class(demo, one):
            typer.echo(f"{sample.learner}  {sample.lang}  {sample.about}")
    typer.echo(f"in {demo}: go there to run hero grade {one.name} and hero report {one.name}")


@app.command()
def grade(
    chapter: ChapterName,
    lang: Lang = None,
    learner: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Grade this learner only; may be given several times.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what has not changed, too.")] = False,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run the submissions on this Dask cluster, tcp://host:8786.")
    ] = None,
    without_sandbox: Annotated[
        bool, typer.Option("--without-sandbox", help="Go on without bubblewrap: learners' code then runs as you.")
    ] = False,
) -> None:
    """Grade submitted/*/CHAPTER with nbgrader and write feedback; what is graded and unchanged is left as it is.

    Exit code 1 if somebody could not be graded. nbgrader's own messages go to .nbgrader.log.
    """
    from rich.console import Console

    from hero_course.alone import alone
    from hero_course.course import language
    from hero_course.grade import Grader, submitters
    from hero_course.quiet import LOG, quietly
    from hero_course.show import lines_of, look_again

    if without_sandbox:
        os.environ["HERO_SANDBOX"] = "none"
    root, name = _root_and_name(chapter)
    console = Console()
    learners = _asked(learner, submitters(root, name), name)
    grader = Grader(root, name, language(lang))
    with alone(root, f"grade {name}", typer.echo):
        grader.require_ready(elsewhere=dask is not None)
        with quietly(root / LOG):
            entry = grader.enter_assignment()
            if entry:
                console.print(f"{name}: {entry}", highlight=False, soft_wrap=True)
            failures = _grade_all(grader, learners, force, console, dask)
    for line in (
        *lines_of(grader.unreadable, "0", "yellow"), *lines_of(grader.notes, "note", "default"),
        *lines_of(failures, "not graded", "red"),
        *look_again({one: record.again for one, record in grader.records().items() if one in learners}),
    ):  # fmt: skip
        console.print(line, soft_wrap=True)
    if failures:
        raise typer.Exit(1)


@app.command()
def report(
    chapter: ChapterName,
    to: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the page goes; default report/.")] = None,
) -> None:
    """Show a class's results, and write them as a page with pictures: report/CHAPTER.html."""
    from hero_course.course import chapter_named, find_root, read_chapters
    from hero_course.gradebook import read_results
    from hero_course.report import write_report
    from hero_course.show import class_table, look_again, mistakes_table, summary, wide_console

    root, console = find_root(), wide_console()
    results = read_results(root, chapter_named(read_chapters(root), chapter))
    console.print(class_table(results))
    if results.mistakes:
        console.print(mistakes_table(results))
    for line in look_again({one.learner: one.again for one in results.results}):
        console.print(line, soft_wrap=True)
    console.print(summary(results), soft_wrap=True)
    typer.echo(write_report(results, to or root / "report"))


def _root_and_name(chapter: str) -> tuple[Path, str]:
    from hero_course.course import chapter_named, find_root, read_chapters

    root = find_root()
    return root, chapter_named(read_chapters(root), chapter).name


def _asked(wanted: list[str] | None, there: list[str], name: str) -> list[str]:
    """The learners to grade, of those who handed in."""
    missing = sorted(set(wanted or []) - set(there))
    if missing or not there:
        raise CourseError(
            f"no submission of {name} by {', '.join(missing) or 'anybody'}: expected submitted/<learner>/{name}/. "
            f"Remedy: put it there (hero new-class {name} makes a sample class to try, in demo/)"
        )
    return sorted(set(wanted)) if wanted else there


def _grade_all(grader: Grader, learners: list[str], force: bool, console: Console, dask: str | None) -> dict[str, str]:
    """Grade those who need it under a progress bar; for each who could not be graded, why."""
    from hero_course.names import shown
    from hero_course.show import grading_bar

    records = grader.records()
    waiting = [one for one in learners if force or not grader.is_graded(one, records)]
    done = [one for one in learners if one not in set(waiting)]
    if done:
        console.print(f"{len(done)} graded already, unchanged", highlight=False)
    failures: dict[str, str] = {}
    with grading_bar(console) as bar:
        task = bar.add_task("grading", total=len(waiting), failed=0)
        for one, reason in grader.grade_all(waiting, runs=grader.runs(dask=dask) if dask and waiting else None):
            if reason:
                failures[one] = reason
            bar.update(task, description=shown(one), advance=1, failed=len(failures))
        bar.update(task, description="graded")
    old = [one for one in done if not grader.has_feedback(one, records)]
    failures |= {one: reason for one in old if (reason := grader.write_feedback(one))}
    if old:
        console.print(f"{len(old)} of them get new feedback: scores or comments were given by hand", highlight=False)
    return failures


if __name__ == "__main__":
    main()
