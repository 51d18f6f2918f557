"""The pictures of a class report, as PNG files in memory. Labels are English, colours told apart by everybody."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hero_course.gradebook import ClassResults, english, points_text

__all__ = ["mistakes_figure", "points_figure", "scores_figure"]

# Okabe and Ito's colours, which also differ in lightness.
_BLUE, _ORANGE, _GREY = "#0072B2", "#E69F00", "#BBBBBB"
_MOST_MISTAKES = 15


def scores_figure(results: ClassResults) -> bytes:
    """How many learners got how many points in all."""
    counts = Counter(round(result.total) for result in results.graded)
    figure, axes = _canvas(3.2)
    axes.bar(list(counts), list(counts.values()), width=0.8, color=_BLUE)
    axes.set_xlim(-0.7, results.total + 0.7)
    axes.set_xlabel(f"Score (points of {points_text(results.total)})")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _count_axis(axes, "y")
    return _png(figure)


def points_figure(results: ClassResults) -> bytes:
    """For each exercise, how many learners got all, some and none of its points."""
    keys = list(results.maximum)
    shares = {"all points": [0] * len(keys), "some points": [0] * len(keys), "no points": [0] * len(keys)}
    for result in results.graded:
        for place, (key, most) in enumerate(results.maximum.items()):
            got = result.points[key]
            shares["all points" if got >= most else "some points" if got > 0 else "no points"][place] += 1
    figure, axes = _canvas(1.4 + 0.5 * len(keys))
    left = [0] * len(keys)
    for (label, widths), color in zip(shares.items(), (_BLUE, _ORANGE, _GREY), strict=True):
        axes.barh(range(len(keys)), widths, left=left, label=label, color=color, edgecolor="white")
        left = [a + b for a, b in zip(left, widths, strict=True)]
    _named_rows(axes, [f"{key} (of {points_text(most)})" for key, most in results.maximum.items()], "Exercise")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    _count_axis(axes, "x")
    return _png(figure)


def mistakes_figure(results: ClassResults) -> bytes:
    """How many learners show each named misconception, the most frequent first."""
    shown = results.mistakes[:_MOST_MISTAKES]
    figure, axes = _canvas(1.2 + 0.36 * len(shown))
    axes.barh(range(len(shown)), [count for _, count in shown], color=_BLUE)
    _named_rows(axes, [f"{one.exercise}: {english(one.name)}" for one, _ in shown], "Misconception")
    _count_axis(axes, "x")
    return _png(figure)


def _canvas(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.4, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _named_rows(axes: Axes, names: Sequence[str], label: str) -> None:
    """Names down the left side, the first at the top; a dollar sign in one starts no formula."""
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.invert_yaxis()
    axes.set_ylabel(label)


def _count_axis(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text("Learners")
    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_axisbelow(True)
    axes.grid(axis=which, color="#DDDDDD")


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160, metadata={"Software": None})
    return buffer.getvalue()
