"""What `hero` prints: the progress bar of grading, the table and the summary of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from hero_course.gradebook import ClassResults

__all__ = ["class_table", "grading_bar", "summary"]


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


def class_table(results: ClassResults) -> Table:
    """A row for each learner: score, points by exercise, named misconceptions."""
    from hero_course.gradebook import NOT_GRADED, points_text

    table = Table(title=f"{results.chapter.name}", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("学习者\nlearner", no_wrap=True)
    table.add_column(f"得分\nscore / {points_text(results.total)}", justify="right")
    for key, most in results.maximum.items():
        table.add_column(Text("_\n".join(key.split("_")) + f"\n/ {points_text(most)}"), justify="right")
    table.add_column("像是\nlooks like", overflow="fold")
    for result in results.results:
        if result.points is None:
            cells = [Text("—", style="dim")] * (1 + len(results.maximum)) + [Text(NOT_GRADED, style="italic yellow")]
        else:
            parts = [(result.points[key], most) for key, most in results.maximum.items()]
            cells = [_points(got, most) for got, most in [(result.total, results.total), *parts]]
            cells.append(Text("\n".join(f"{one.exercise}: {one.name}" for one in result.mistakes)))
        table.add_row(Text(result.learner), *cells)
    return table


def summary(results: ClassResults) -> Text:
    """One line: how many learners, the mean, the most frequent misconception."""
    from hero_course.gradebook import points_text

    said = f"{len(results.results)} learners, {len(results.graded)} graded"
    if results.mean is not None:
        said += f"; mean {points_text(results.mean)} of {points_text(results.total)} points"
    if results.mistakes:
        (most, count), *_ = results.mistakes
        said += f"; most often {most.exercise}: {most.name} ({count})"
    return Text(said + ".")


def _points(got: float, most: float) -> Text:
    from hero_course.gradebook import points_text

    return Text(points_text(got), style="green" if got >= most else "yellow" if got > 0 else "red")
