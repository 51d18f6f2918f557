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

__all__ = ["class_table", "grading_bar", "mistakes_table", "summary"]


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
    """A row for each learner: score, and points by exercise; the predictions share a column."""
    from hero_course.gradebook import NOT_GRADED, points_text

    table = Table(title=f"{results.chapter.name}", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("学习者\nlearner", no_wrap=True)
    table.add_column(f"得分\nscore / {points_text(results.total)}", justify="right", overflow="fold")
    columns = _columns(results)
    for head, keys in columns.items():
        most = sum(results.maximum[key] for key in keys)
        title = "_\n".join(head.split("_")) + f"\n/ {points_text(most)}"
        table.add_column(Text(title), justify="right", overflow="fold")
    for result in results.results:
        if result.points is None:
            name = Text.assemble(result.learner, (f"\n{NOT_GRADED}", "italic yellow"))
            table.add_row(name, *[Text("—", style="dim")] * (1 + len(columns)))
        else:
            parts = [[sum(points[key] for key in keys) for points in (result.points, results.maximum)]
                     for keys in columns.values()]  # fmt: skip
            scores = [(result.total, results.total), *parts]
            table.add_row(Text(result.learner), *(_points(got, most) for got, most in scores))
    return table


def _columns(results: ClassResults) -> dict[str, list[str]]:
    """The heads of the columns, and the exercises or predictions that each adds up."""
    predictions = [cell.key for cell in results.chapter.of_kind("prediction")]
    columns = {key: [key] for key in results.maximum if key not in predictions}
    return columns | ({"predict": predictions} if predictions else {})


def mistakes_table(results: ClassResults) -> Table:
    """A row for each misconception that a check named: whose, in which exercise, which."""
    table = Table(box=box.SIMPLE_HEAD)
    for head in ("学习者\nlearner", "练习\nexercise", "像是\nlooks like"):
        table.add_column(head, overflow="fold")
    for result in results.results:
        for one in result.mistakes:
            table.add_row(Text(result.learner), Text(one.exercise), Text(one.name))
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
