"""The command `hero`. What each verb needs is imported when it runs, so that ``hero --help`` answers at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hero_course.errors import CourseError

if TYPE_CHECKING:
    from rich.console import Console

    from hero_course.grade import Grader

__all__ = ["app", "main"]

app = typer.Typer(
    help="Build the book, hand a chapter out, grade a class and look at its results. Run inside the course's folder.",
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
    except CourseError as error:
        from rich.console import Console
        from rich.text import Text

        Console(stderr=True, soft_wrap=True).print(Text(f"error: {error}", style="red"))
        sys.exit(2)


@app.command()
def build(
    chapters: Annotated[
        list[str] | None, typer.Argument(metavar="[CHAPTER]...", help="Folder names or numbers; default all.")
    ] = None,
) -> None:
    """Make source/, release/ and the reader's notebooks from chapters/*/chapter.md."""
    from rich.console import Console

    from hero_course.build import build as build_book
    from hero_course.course import find_root
    from hero_course.quiet import LOG, quietly

    root, console = find_root(), Console()
    with console.status("reading") as status, quietly(root / LOG):
        built = build_book(root, chapters or None, status.update)
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


@app.command("new-class")
def new_class(chapter: ChapterName) -> None:
    """Put a sample class under submitted/sample-NN/, to try the grading on. Other learners are left alone."""
    from hero_course.course import chapter_named, find_root, read_chapters
    from hero_course.sample import write_class

    root = find_root()
    for sample in write_class(root, chapter_named(read_chapters(root), chapter)):
        typer.echo(f"{sample.learner}  {sample.lang}  {sample.about}")


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
    from rich.text import Text

    from hero_course.course import language
    from hero_course.grade import Grader, submitters
    from hero_course.quiet import LOG, quietly

    if without_sandbox:
        os.environ["HERO_SANDBOX"] = "none"
    root, name = _root_and_name(chapter)
    console = Console()
    learners = _asked(learner, submitters(root, name), name)
    grader = Grader(root, name, language(lang))
    with quietly(root / LOG):
        if grader.enter_assignment():
            console.print(f"{name}: its checks were put into the gradebook (generate_assignment)", highlight=False)
        failures = _grade_all(grader, learners, force, console, dask)
    for one, reason in grader.unreadable.items():
        console.print(Text.assemble((f"{one}: ", "bold"), (f"0: {reason}", "yellow")), soft_wrap=True)
    for one, note in grader.notes.items():
        console.print(Text.assemble((f"{one}: ", "bold"), note), soft_wrap=True)
    for one, reason in failures.items():
        console.print(Text.assemble((f"{one}: not graded: ", "bold"), (reason, "red")), soft_wrap=True)
    if failures:
        raise typer.Exit(1)


@app.command()
def report(
    chapter: ChapterName,
    to: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the page goes; default report/.")] = None,
) -> None:
    """Show a class's results, and write them as a page with pictures: report/CHAPTER.html."""
    from rich.console import Console

    from hero_course.course import chapter_named, find_root, read_chapters
    from hero_course.gradebook import read_results
    from hero_course.report import write_report
    from hero_course.show import class_table, mistakes_table, summary

    root, console = find_root(), Console()
    results = read_results(root, chapter_named(read_chapters(root), chapter))
    console.print(class_table(results))
    if results.mistakes:
        console.print(mistakes_table(results))
    console.print(summary(results))
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
            f"Remedy: put it there, or try hero new-class {name}"
        )
    return sorted(set(wanted)) if wanted else there


def _grade_all(grader: Grader, learners: list[str], force: bool, console: Console, dask: str | None) -> dict[str, str]:
    """Grade those who need it under a progress bar; for each who could not be graded, why."""
    from hero_course.show import grading_bar

    waiting = [one for one in learners if force or not grader.is_graded(one)]
    if len(waiting) < len(learners):
        console.print(f"{len(learners) - len(waiting)} graded already, unchanged", highlight=False)
    failures: dict[str, str] = {}
    with grading_bar(console) as bar:
        task = bar.add_task("grading", total=len(waiting), failed=0)
        for one, reason in grader.grade_all(waiting, runs=grader.runs(dask=dask) if dask and waiting else None):
            if reason:
                failures[one] = reason
            bar.update(task, description=one, advance=1, failed=len(failures))
        bar.update(task, description="graded")
    return failures


if __name__ == "__main__":
    main()
