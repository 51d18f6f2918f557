"""What the course adds to nbgrader, by nbgrader's own configuration: preprocessors, and formulas in feedback."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, NbGraderPreprocessor

from hero_course.edition import require_edition
from hero_course.solutions import HIDDEN_BEGIN, HIDDEN_END

__all__ = ["ClearSolutionsByCell", "FeedbackStyle", "HideHiddenChecks", "RequireEdition", "markdown2html"]

_STYLE = Path(__file__).parent / "templates" / "feedback" / "feedback.css"


class RequireEdition(NbGraderPreprocessor):
    """Refuse to release an assignment whose folder lacks the learner's edition of the package."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Look at the folder of the notebook; the notebook is returned as it came."""
        require_edition(Path(resources["metadata"]["path"]).resolve())
        return nb, resources


class ClearSolutionsByCell(ClearSolutions):
    """nbgrader's ClearSolutions, with the stub that the cell itself names."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Put the cell's own stub in the place of its solution."""
        stub = cell.metadata.get("hero", {}).get("stub")
        if stub:
            self.code_stub = {**self.code_stub, "python": stub}
        return super().preprocess_cell(cell, resources, cell_index)


class HideHiddenChecks(ClearHiddenTests):
    """Take hidden checks out of feedback: their source, and every trace of it in an output.

    In the cell that held one, an error shows only its name and message. Elsewhere a line that repeats a line
    of a hidden check is dropped.
    """

    _kept = frozenset({"CheckFailed"})

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Clear the cells, then their outputs."""
        hidden = {line.strip() for cell in nb.cells for line in _hidden_lines(cell)}
        hidden = {line for line in hidden if len(line) > 12}
        holders = [cell for cell in nb.cells if HIDDEN_BEGIN in cell.source]
        nb, resources = super().preprocess(nb, resources)
        for cell in holders:
            for output in cell.get("outputs", []):
                if output.output_type == "error" and output.ename not in self._kept:
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [_scrub(output, hidden) for output in cell.outputs]
        return nb, resources


def _hidden_lines(cell: NotebookNode) -> list[str]:
    match = re.search(f"{HIDDEN_BEGIN}\n(.*?){HIDDEN_END}", cell.source, re.DOTALL)
    return match[1].splitlines() if match else []


def _scrub(output: NotebookNode, hidden: set[str]) -> NotebookNode:
    """The output without the lines that hold a hidden line, however it was escaped or coloured."""

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(one) for one in value]
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        if not isinstance(value, str):
            return value
        bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in value.splitlines(keepends=True)]
        return "".join(line for line in bare if not any(text in line or repr(text)[1:-1] in line for text in hidden))

    return nbformat.from_dict(clean(output))


# What a minus may follow and still be a sign: ( [ = , and no operand.
_OPENING = r"<mo[^>]*>(?:&#x00028;|&#x0005B;|&#x0003D;|&#x0002C;)</mo>(?:</mrow>)?"


class FeedbackStyle(NbGraderPreprocessor):
    """Add the course's style to a feedback page: wrapped messages, failures in red, a mathematical font."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Append the style sheet; stands after nbconvert's CSSHTMLHeaderPreprocessor."""
        resources["inlining"]["css"].append(_STYLE.read_text(encoding="utf-8"))
        return nb, resources


class _MathML(IPythonRenderer):
    """nbconvert's Markdown renderer, with formulas as MathML: browsers draw it without any script."""

    def block_math(self, body: str) -> str:
        return f"<div>{_mathml(body, 'block')}</div>"

    def inline_math(self, body: str) -> str:
        return _mathml(body, "inline")


def _mathml(body: str, display: str) -> str:
    """A formula as MathML, with the spacing that browsers miss: a minus after a bracket is a sign, erf is a name."""
    try:
        text = convert(body, display=display)
    except Exception:  # a learner's formula that is none
        return f"<code>{escape(body)}</code>"
    text = re.sub(rf"({_OPENING})<mo>&#x02212;</mo>", r'\1<mo form="prefix">&#x02212;</mo>', text)
    text = re.sub(r"<mo>([A-Za-z]{2,})</mo>", r'<mi>\1</mi>', text)
    return text.replace("<mi>&#x003A6;</mi>", '<mi mathvariant="normal">&#x003A6;</mi>')


@pass_context
def markdown2html(context: Any, source: str) -> str:
    r"""Markdown to HTML for nbconvert, with formulas rendered here and now.

    Example:
        >>> print(markdown2html({}, "若 $x$"))
        <p>若 <math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mi>x</mi></mrow></math></p>
        <BLANKLINE>
    """
    cell = context.get("cell", {})
    attachments = cell.get("attachments", {}) if hasattr(cell, "get") else {}
    return MarkdownWithMath(renderer=_MathML(escape=False, attachments=attachments)).render(source)
