"""The class report: one HTML page that needs no network, in both languages."""

from __future__ import annotations

import base64
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from hero_course.figures import mistakes_figure, points_figure, scores_figure
from hero_course.gradebook import ClassResults, english, points_text
from hero_course.names import shown
from hero_course.pack import write_whole

__all__ = ["alternatives", "render_report", "write_report"]

_TEMPLATES = Path(__file__).parent / "templates" / "report"


def write_report(results: ClassResults, folder: Path) -> Path:
    """Write ``<chapter>.html`` to a folder; returns its path."""
    path = folder / f"{results.chapter.name}.html"
    write_whole(path, render_report(results).encode())
    return path


def render_report(results: ClassResults) -> str:
    """The report as one HTML page: summary, pictures with their text alternatives, and a row for each learner."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": points_text, "shown": shown}
    draw = {"scores": scores_figure, "points": points_figure, "mistakes": mistakes_figure}
    texts = alternatives(results)
    figures = {name: (base64.b64encode(draw[name](results)).decode(), text) for name, text in texts.items()}
    template = environment.get_template("report.html.j2")
    return template.render(class_results=results, figures=figures)


def alternatives(results: ClassResults) -> dict[str, str]:
    """For each picture that there is something to draw for, what it shows, in words."""
    if not results.graded:
        return {}
    totals = sorted(result.total for result in results.graded)
    texts = {
        "scores": f"Bar chart of {len(totals)} scores, from {points_text(totals[0])} to {points_text(totals[-1])} "
        f"of {points_text(results.total)} points.",
        "points": "Stacked bars, by exercise. Learners with all points: "
        + ", ".join(f"{key} {_full(results, key)} of {len(totals)}" for key in results.maximum)
        + ".",
    }
    if results.mistakes:
        counts = (f"{one.exercise}, {english(one.name)}: {count}" for one, count in results.mistakes)
        texts["mistakes"] = "Bar chart of learners by misconception. " + "; ".join(counts) + "."
    return texts


def _full(results: ClassResults, key: str) -> int:
    return sum(result.points[key] >= results.maximum[key] for result in results.graded)
