"""Pages of what learners wrote: nothing runs, formulas stay, and the work is bounded."""

from __future__ import annotations

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from hero_course.page import CUT, FORMULA, LONGEST, OPENINGS, clean_html, markdown2html
from hero_course.plugins import BoundPage, ClearSolutionsByCell, HideHiddenChecks

RUNS = re.compile(r"<(script|iframe|object|embed|form|style|svg|link|meta|base)|\son\w+=|(href|src)=\"?\s*javascript:", re.I)
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "text <b onclick='x()'>b</b>",
    '<iframe src="https://example.org"></iframe>',
    "<svg onload=alert(1)>",
    "[a](javascript:alert(1))",
    '<a href="java&#10;script:alert(1)">a</a>',
    '<a href="data:text/html,<script>x</script>">a</a>',
    "```mermaid\n<img src=x onerror=alert(1)>\n```",
    r"$\text{<script>alert(1)</script>}$",
    r"$$\text{<img src=x onerror=alert(1)>}$$",
    "<math><mtext><script>x</script></mtext></math>",
    '<math href="javascript:x"><mi>x</mi></math>',
    '<form action="https://example.org"><input type=image src=x></form>',
]


@pytest.mark.parametrize("source", HOSTILE)
def test_nothing_that_a_learner_wrote_runs(source: str) -> None:
    page = markdown2html({}, source)
    assert not RUNS.search(re.sub(r"&lt;.*?(&gt;|$)", "", page)), page
    assert not RUNS.search(re.sub(r"&lt;.*?(&gt;|$)", "", clean_html(source)))


def test_formulas_and_plain_html_stay() -> None:
    page = markdown2html({}, "<details open><summary>s</summary>\n\n$x^2 = -1$\n\n</details>")
    assert "<details open" in page
    assert '<msup><mi>x</mi><mn>2</mn></msup>' in page
    assert '<mo form="prefix">' in page
    assert clean_html(page).count("<math") == 1


def test_a_picture_is_shown_or_said_to_be_missing() -> None:
    cell = {"attachments": {"图 1.png": {"image/png": "iVBORw0KGgo="}}}
    page = markdown2html({"cell": cell}, "![a](attachment:图%201.png) ![b](attachment:gone.png)")
    assert page.count("data:image/png;base64,iVBORw0KGgo=") == 1
    assert "the picture is not in the file: b" in page


@pytest.mark.parametrize("source", [r"\\(" * (OPENINGS + 1), r"\begin{a}" * (OPENINGS + 1), "x" * (LONGEST + 1)])
def test_prose_that_would_take_long_is_shown_as_it_is(source: str) -> None:
    assert markdown2html({}, source) == f"<pre>{source}</pre>"


def test_a_long_formula_is_shown_as_it_is() -> None:
    body = "x" * (FORMULA + 1)
    assert markdown2html({}, f"${body}$") == f"<p><code>{body}</code></p>\n"


def test_long_cells_are_cut_with_a_note_and_the_instructors_are_not() -> None:
    locked = {"nbgrader": {"locked": True, "solution": False, "grade": True}}
    cells = [
        new_code_cell("x" * 200), new_code_cell("\n" * 500), new_code_cell("y" * 200, metadata=locked),
        new_markdown_cell("z" * 50), new_markdown_cell("z" * 50),
    ]  # fmt: skip
    step = BoundPage(cell_characters=100, cell_lines=10, characters=1000, prose_characters=60)
    page, _ = step.preprocess(new_notebook(cells=cells), {})
    assert [cell.source.removesuffix(f"\n{CUT}") for cell in page.cells] == [
        "x" * 100, "\n" * 10, "y" * 200, "z" * 50, "z" * 10,
    ]  # fmt: skip
    assert [cell.source.endswith(CUT) for cell in page.cells] == [True, True, False, False, True]


def test_markers_are_obeyed_only_in_what_the_instructor_graded() -> None:
    begin, end = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
    graded = {"nbgrader": {"locked": True, "solution": False, "grade": True, "grade_id": "a", "points": 1}}
    mine = [f"# {begin}\nx = 1", f"{begin}\nprint('a long line of mine')\n{end}"]
    said = {"output_type": "stream", "name": "stdout", "text": "print('a long line of mine')\n"}
    cells = [new_markdown_cell(begin), *(new_code_cell(one) for one in mine)]
    cells[2].outputs = [said]
    cells.append(new_code_cell(f"# caption\n{begin}\nsecret = 1\n{end}", metadata=graded))
    page, _ = HideHiddenChecks().preprocess(new_notebook(cells=cells), {})
    assert [cell.source for cell in page.cells] == [begin, *mine, "# caption"]
    assert page.cells[2].outputs[0].text == said["text"]


def test_a_stub_is_of_its_own_cell_alone() -> None:
    marks = {"grade": False, "locked": False, "solution": True, "schema_version": 3, "task": False, "cell_type": "code"}
    region = "### BEGIN SOLUTION\nanswer\n### END SOLUTION"
    cells = [
        new_code_cell(region, metadata={"nbgrader": {**marks, "grade_id": "a"}, "hero": {"stub": "raise A"}}),
        new_code_cell(region, metadata={"nbgrader": {**marks, "grade_id": "b"}}),
    ]
    whole = new_notebook(cells=cells, metadata={"kernelspec": {"display_name": "P", "language": "python", "name": "python3"}})
    released, _ = ClearSolutionsByCell().preprocess(whole, {})
    assert [cell.source for cell in released.cells] == ["raise A", "# YOUR CODE HERE\nraise NotImplementedError()"]
