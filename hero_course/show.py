"""What `hero` prints: the progress bar of grading, the table and the summary of a class."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from hero_course.gradebook import ClassResults, Result

__all__ = ["class_table", "grading_bar", "lines_of", "look_again", "mistakes_table", "summary", "wide_console"]


_NAME, _WIDE = 24, 1000  # columns for a name; of an output that is no terminal
_NONE = Text("—", style="dim")


class _Rate(ProgressColumn):
    """How long one learner takes."""

    def render(self, task: Task) -> Text:
        return Text(f"{1 / task.speed:.1f} s each" if task.speed else "", style="progress.data.speed")


def grading_bar(console: Console) -> Progress:
    """A bar for tasks that have a field ``failed``: who, how many, how fast, how long still, how many failed."""
    return Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate(),
        TimeRemainingColumn(), TextColumn("{task.fields[failed]} failed", markup=False), console=console,
    )


def wide_console() -> Console:
    """A console for tables: as wide as the terminal, or, in a pipe or a file, as wide as they are."""
    cut = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console() if cut else Console(width=_WIDE)


def class_table(results: ClassResults) -> Table:
    """A row for each learner: score, and points by exercise; the predictions share a column.

    The penalty for lateness has a column where somebody has one.
    """
    from hero_course.gradebook import points_text

    table = Table(title=f"{results.chapter.name}", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("学习者\nlearner", no_wrap=True, max_width=_NAME, overflow="ellipsis")
    table.add_column(f"得分\nscore / {points_text(results.total)}", justify="right", overflow="fold")
    late = any(result.penalty for result in results.results)
    if late:
        table.add_column("迟交\nlate", justify="right", overflow="fold")
    columns = _columns(results)
    for head, keys in columns.items():
        most = sum(results.maximum[key] for key in keys)
        title = "_\n".join(head.split("_")) + f"\n/ {points_text(most)}"
        table.add_column(Text(title), justify="right", overflow="fold")
    for result in results.results:
        table.add_row(*_row(result, results, columns, late))
    return table


def _row(result: Result, results: ClassResults, columns: Mapping[str, list[str]], late: bool) -> list[Text]:
    from hero_course.gradebook import points_text
    from hero_course.names import shown

    name = shown(result.learner)
    if result.points is None:
        return [Text.assemble(name, (f"\n{result.status}", "italic yellow")), *[_NONE] * (1 + late + len(columns))]
    score = _points(result.total, results.total)
    penalty = [Text(f"−{points_text(result.penalty)}" if result.penalty else "")] if late else []
    parts = [
        _points(*(sum(points[key] for key in keys) for points in (result.points, results.maximum)))
        for keys in columns.values()
    ]
    return [Text(name), Text.assemble(score, "*") if result.again else score, *penalty, *parts]


def _columns(results: ClassResults) -> dict[str, list[str]]:
    """The heads of the columns, and the exercises or predictions that each adds up."""
    predictions = [cell.key for cell in results.chapter.of_kind("prediction")]
    columns = {key: [key] for key in results.maximum if key not in predictions}
    return columns | ({"predict": predictions} if predictions else {})


def mistakes_table(results: ClassResults) -> Table:
    """A row for each misconception that a check named: whose, in which exercise, which."""
    from hero_course.names import shown

    table = Table(box=box.SIMPLE_HEAD)
    for head in ("学习者\nlearner", "练习\nexercise", "像是\nlooks like"):
        table.add_column(head, overflow="fold")
    for result in results.results:
        for one in result.mistakes:
            table.add_row(Text(shown(result.learner)), Text(one.exercise), Text(one.name))
    return table


def summary(results: ClassResults) -> Text:
    """One line: how many learners, the mean, the most frequent misconception."""
    from hero_course.gradebook import NOT_HANDED_IN, points_text

    said = f"{len(results.results)} learners, {len(results.graded)} graded"
    missing = sum(result.status == NOT_HANDED_IN for result in results.results)
    said += f", {missing} did not hand in" if missing else ""
    if results.mean is not None:
        said += f"; mean {points_text(results.mean)} of {points_text(results.total)} points"
    if results.mistakes:
        (most, count), *_ = results.mistakes
        said += f"; most often {most.exercise}: {most.name} ({count})"
    return Text(said + ".")


def lines_of(reasons: Mapping[str, str], what: str, style: str) -> Iterator[Text]:
    """A line for each learner and reason."""
    from hero_course.names import shown

    for learner, reason in reasons.items():
        yield Text.assemble((f"{shown(learner)}: {what}: ", "bold"), (reason, style))


def look_again(checks: Mapping[str, Iterable[str]]) -> Iterator[Text]:
    """A line for each learner with a score that was given by hand for an earlier submission or check."""
    from hero_course.names import shown

    for learner, names in checks.items():
        if names:
            yield Text.assemble(
                (f"* {shown(learner)}: ", "bold"), ("manual scores to look at again: " + ", ".join(names), "yellow")
            )


def _points(got: float, most: float) -> Text:
    from hero_course.gradebook import points_text

    return Text(points_text(got), style="green" if got >= most else "yellow" if got > 0 else "red")
