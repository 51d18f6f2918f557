"""Whatever an answer is, a check says the same of it in the engine as in the kernel that the answer was made in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest
from submissions import Class

import hero_transformer
from hero_course.engine.assignment import Assignment
from hero_course.engine.examination import Examination, Job, Step
from hero_course.engine.limits import Limits
from hero_course.engine.pair import WarmPair
from hero_course.engine.plan import examination_of, steps_of
from hero_course.rehearsal import rehearse, without_examples
from hero_transformer.checks import CheckFailed

CHAPTER = "05_decoder_block"
SETUP = """
import collections, decimal, enum, fractions, numpy, torch
from torch import nn
from hero_transformer import model
from hero_transformer.checks import checks
from hero_transformer.exercise import replaces
from hero_transformer.model import gelu
"""
# What the learner's gelu returns: an expression, made of these names.
OWN = """
Pair = collections.namedtuple("Pair", "first second")
class Colour(enum.IntEnum):
    RED = 3
class Numbers(list):
    pass
class Text(str):
    pass
class Odd(dict):
    def __missing__(self, key):
        return 7
"""
ANSWERS = [
    "3", "3.0", "True", "None", "...", "'3'", "b'ab'", "1j", "2 ** 70", "[1, 2]", "(1, 2)", "{1: 2}", "{1, 2}", "range(1, 3)",
    "numpy.int64(3)", "numpy.int8(3)", "numpy.float64(0.5)", "numpy.float32(0.1)", "numpy.bool_(True)", "numpy.str_('3')",
    "[numpy.int64(1), numpy.int64(2)]", "(numpy.int32(1), 2)", "{numpy.int64(1): 2}", "{1: numpy.int64(2)}", "{(1, numpy.int64(2)): 3}",
    "[numpy.float32(0.1)]", "[0.1]", "[numpy.bool_(True)]", "[[numpy.int64(1)], [2]]", "collections.Counter({numpy.int64(1): 2})",
    "numpy.array([1, 2])", "numpy.array([1.0, 2.0])", "numpy.array(3)", "numpy.ones((2, 2))", "(numpy.array([1]), 2)", "numpy.array(['a'])",
    "numpy.arange(4).reshape(2, 2).T", "numpy.array([1, 2], dtype='>i4')",
    "decimal.Decimal('0.5')", "decimal.Decimal(3)", "fractions.Fraction(1, 2)", "fractions.Fraction(3)", "[fractions.Fraction(1, 2)]", "[decimal.Decimal(1), 2]",
    "Pair(1, 2)", "Colour.RED", "[Colour.RED]", "Numbers([1, 2])", "Text('3')", "Odd({1: 2})",
    "collections.OrderedDict({1: 2})", "collections.defaultdict(int, {1: 2})", "collections.Counter([1, 1])", "collections.deque([1, 2])", "{1: 2}.items()", "{1: 2}.keys()", "{1: 2}.values()",
    "frozenset([1])", "bytearray(b'ab')", "torch.Size([1, 2])", "iter([1, 2])", "(iter([1, 2]), 2)", "zip([1], [2])", "(one for one in [1, 2])",
    "torch.tensor(3)", "torch.tensor([1.0, 2.0])", "[torch.tensor(1), torch.tensor(2)]",
    "nn.Parameter(torch.tensor([1.0, 2.0]))", "object()", "int", "len", "[[]] * 2", "[float('nan')]", "-0.0", "float('inf')",
]  # fmt: skip
# What no exercise asks for arrives as a name and a text; nothing is accepted for it that the kernel refuses.
FAR_OFF = ["numpy.array([1, None])", "numpy.matrix([[1, 2]])", "memoryview(b'ab')", "torch.eye(2).to_sparse()", "torch.ones(2, device='meta')"]  # fmt: skip
CHECKS = {
    "three": "c.equal('a', gelu(1), 3)",
    "half": "c.equal('a', gelu(1), 0.5)",
    "text": "c.equal('a', gelu(1), '3')",
    "list": "c.equal('a', gelu(1), [1, 2])",
    "tuple": "c.equal('a', gelu(1), (1, 2))",
    "dict": "c.equal('a', gelu(1), {1: 2})",
    "as-list": "c.equal('a', list(gelu(1)), [1, 2])",
    "as-dict": "c.equal('a', dict(gelu(1)), {1: 2})",
    "as-int": "c.equal('a', int(gelu(1)), 3)",
    "sum": "c.equal('a', sum(gelu(1)), 3)",
    "sorted": "c.equal('a', sorted(gelu(1))[0], 1)",
    "length": "c.equal('a', len(gelu(1)), 2)",
    "first": "c.equal('a', gelu(1)[0], 1)",
    "missing": "c.equal('a', gelu(1)[9], 0)",
    "number": "c.close('a', gelu(1), 3.0)",
    "tensor": "c.close('a', gelu(1), torch.tensor([1.0, 2.0]))",
    "numbers": "c.each({'a': 1.0, 'b': 2.0}, gelu(1))",
    "shape": "c.shape('a', gelu(1), (2,))",
    "kinds": "a = gelu(1)\n    c.equal('a', [isinstance(a, one) for one in (int, float, str, tuple, list, dict, numpy.ndarray)], [])",
    "predicted": "c.predicted('a', gelu(1), (1, 2))",
    "predicted-half": "c.predicted('a', gelu(1), 0.5)",
    "name": "c.equal('a', type(gelu(1)).__name__, '?')",
}  # fmt: skip
HEAD = 'with checks("{}", {}, known={{}}) as c:\n    '


def _answer(value: str) -> str:
    return f"{OWN}\n@replaces(model)\ndef gelu(x):\n    return {value}"


@pytest.fixture(scope="module")
def pair(course: Path) -> Iterator[WarmPair]:
    checks = {name: HEAD.format(name, "gelu") + body for name, body in CHECKS.items()}
    examination = Examination({"setup": SETUP}, {"gelu": "model.gelu"}, (), checks, dict.fromkeys(checks, "gelu"))
    found = WarmPair(Assignment.of(course / "source" / "zh" / CHAPTER, examination, Limits(), False, ()))
    yield found
    found.close()


def _in_the_engine(pair: WarmPair, value: str) -> dict[str, str]:
    steps = [Step(0, None, SETUP), Step(1, None, _answer(value)), *(Step(9, name, "") for name in CHECKS)]
    found = pair.grade(Job(tuple(steps)))[2:]
    return {name: "".join(one.get("evalue", "") for one in cell) for name, cell in zip(CHECKS, found, strict=True)}


def _here(value: str) -> dict[str, str]:
    """What the checks say in the process that the answer was made in, as in a stock kernel."""
    found = {}
    for name, body in CHECKS.items():
        names: dict[str, Any] = {}
        exec(SETUP + OWN + f"\ndef gelu(x):\n    return {value}", names)
        try:
            exec(HEAD.format(name, "None") + body, names)
            found[name] = ""
        except CheckFailed as error:
            found[name] = str(error)
    return found


@pytest.fixture
def beside_the_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fingerprints.json").write_text(json.dumps({"edition": hero_transformer.EDITION, "checks": {}}))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("beside_the_sheet")
@pytest.mark.parametrize("value", ANSWERS)
def test_a_check_judges_an_answer_as_in_the_kernel_that_made_it(pair: WarmPair, value: str) -> None:
    engine, here = _in_the_engine(pair, value), _here(value)
    assert {name for name in CHECKS if engine[name]} == {name for name in CHECKS if here[name]}


@pytest.mark.usefixtures("beside_the_sheet")
@pytest.mark.parametrize("value", FAR_OFF)
def test_no_check_accepts_what_the_kernel_refuses(pair: WarmPair, value: str) -> None:
    engine, here = _in_the_engine(pair, value), _here(value)
    assert {name for name in CHECKS if engine[name]} >= {name for name in CHECKS if here[name]}


def test_a_message_names_what_came(pair: WarmPair) -> None:
    for value, name in {
        "numpy.int64(3)": "np.int64(3)",
        "(one for one in [1, 2])": "<generator>",
        "torch.eye(2).to_sparse()": "a sparse_coo_tensor came",
        "torch.ones(2, device='meta')": "a meta_tensor came",
    }.items():
        assert name in _in_the_engine(pair, value)["list"]


# Each leans on the order in which an argument's elements are in memory.
IN_MEMORY_ORDER = {
    "finite_difference": {
        "view": "gradient, flat = torch.zeros_like(x).view(-1), x.view(-1)",
        "as_strided": "gradient = x.new_zeros(x.numel())\n    flat = x.as_strided((x.numel(),), (1,))",
    },
    "linear_backward": {
        "view": "flat, places = x.view(-1, x.shape[-1]), upstream.view(-1, upstream.shape[-1])",
        "as_strided": "flat, places = x.as_strided((x.numel() // x.shape[-1], x.shape[-1]), (x.shape[-1], 1)), upstream.flatten(0, -2)",
    },
}  # fmt: skip
REST = {
    "finite_difference": """
    for place in range(x.numel()):
        moved = torch.zeros_like(flat)
        moved[place] = step
        gradient[place] = (function((flat + moved).view(x.shape)) - function((flat - moved).view(x.shape))) / (2 * step)
    return gradient.view(x.shape)""",
    "linear_backward": """
    return upstream @ weight, places.T @ flat, places.sum(dim=0)""",
}
FIRST = {
    "finite_difference": "def finite_difference(function, x, step):",
    "linear_backward": "def linear_backward(upstream, x, weight):",
}


def test_answers_that_lean_on_the_order_in_memory_lose_the_same_points(course: Path) -> None:
    room = Class(course, "06_backpropagation", examples=False)
    source = course / "source" / "zh" / room.name
    whole = nbformat.read(source / f"{room.name}.ipynb", as_version=4)
    examination = examination_of(whole)
    answers = {
        f"{key} {kind}": {key: f"@replaces(gradients)\n{FIRST[key]}\n    {start}{REST[key]}"}
        for key, kinds in IN_MEMORY_ORDER.items()
        for kind, start in kinds.items()
    }
    here = rehearse(without_examples(whole), source, answers)
    with closing(WarmPair(Assignment.of(source, examination, Limits(), False, ()))) as pair:
        for name, answer in answers.items():
            steps = steps_of(room.answered(room.right | answer), examination, "needed")
            outputs = zip(steps, pair.grade(Job(steps)), strict=True)
            lost = {step.check for step, cell in outputs if step.check and any("evalue" in one for one in cell)}
            assert lost == {key for key, run in here[name].items() if run.graded and not run.passed}
            assert {"difference-contract" if "finite" in name else "linear-contract"} <= lost
