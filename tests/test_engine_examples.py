"""Which worked examples are run when a submission is graded: none that nobody needs, and every one that somebody may."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from submissions import Class

from hero_course.engine.examples import names_touched, needed
from hero_course.engine.plan import examination_of, steps_of

SETUP = "import decimal\nimport torch\nfrom torch import nn\nsizes = {'d': 4}\nBLUE = '#00f'\ndef helper():\n    pass"
USES = "def answer(x):\n    return torch.ones(sizes['d']) * x"
# Each: a worked example, the learner's own code, and whether that may depend on it.
CASES = {
    "a name": ("half = 0.5", "def f(x):\n    return x * half", True),
    "another name": ("third = 1 / 3", "def f(x):\n    return x * half", False),
    "an object that is changed": ("sizes['d'] = 8", USES, True),
    "an object that a function may change": ("total = sum(sizes.values())", USES, True),
    "an object that nobody else uses": ("print(sizes)", "def f(x):\n    return torch.relu(x)", False),
    "torch's default type": ("torch.set_default_dtype(torch.float64)", USES, True),
    "it in a function": ("def double():\n    torch.set_default_dtype(torch.float64)\ndouble()", "def f(x):\n    return 1", True),
    "a setting": ("decimal.getcontext().prec = 3", "def f(x):\n    return 1", True),
    "a setting of what it imports": ("import numpy\nnumpy.core.x = 1", "def f(x):\n    return 1", True),
    "a function's attribute": ("helper.calls = 0", "def f(x):\n    return 1", True),
    "a part of a module of its own": ("block = nn.Linear(1, 1)\nblock.bias = None", "def f(x):\n    return 1", False),
    "a part of an argument": ("def spoil(block):\n    block.bias = None", "def f(x):\n    return 1", False),
    "a part of itself": ("class Mine(nn.Module):\n    def __init__(self):\n        self.d = 1", "def f(x):\n    return 1", False),
    "an axis of its own": ("figure, axes = draw()\naxes.set_title('x')", "def f(x):\n    return 1", False),
    "random numbers, which each call brings along": ("torch.manual_seed(0)\nprint(torch.rand(1))", USES, False),
    "anything by its name": ("half = 0.5", "f = eval('ha' + 'lf')", True),
    "no Python": ("half = 0.5", "%time 1", True),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_example_is_run_where_own_code_may_depend_on_it(name: str) -> None:
    example, own, expected = CASES[name]
    assert needed([own], [example], [SETUP]) == expected


def test_all_means_all(course: Path) -> None:
    room = Class(course, "05_decoder_block")
    whole = nbformat.read(course / "source" / "zh" / room.name / f"{room.name}.ipynb", as_version=4)
    code = sum(cell.cell_type == "code" for cell in whole.cells)
    graded = sum(cell.cell_type == "code" and "nbgrader" in cell.metadata for cell in whole.cells)
    assert code > graded
    for examples, cells in {"all": code, "needed": graded}.items():
        examination = examination_of(whole, examples)
        assert len(examination.cells) == cells
        assert len(steps_of(room.answered(room.right), examination, examples)) == cells


def test_no_chapter_changes_what_all_code_shares(course: Path) -> None:
    """Else every submission would run every worked example, and grading would take ten times as long."""
    for path in sorted((course / "source" / "zh").glob("*/*.ipynb")):
        found = examination_of(nbformat.read(path, as_version=4))
        assert "*" not in names_touched(tuple(found.examples), tuple(found.setup.values())), path.name
