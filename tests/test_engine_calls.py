"""The engine's two processes at work on small checks: what a call carries there and back, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from hero_course.engine.assignment import Assignment
from hero_course.engine.examination import Examination, Job, Step
from hero_course.engine.limits import Limits
from hero_course.engine.pair import NotGradedError, WarmPair
from hero_course.engine.plan import examination_of
from hero_course.engine.pool import Pool, warm_up
from hero_transformer.barred import BARRED

CHAPTER = "05_decoder_block"
SETUP = """
import torch
from torch import nn
from torch.nn import functional as F
from hero_transformer import doubles, model
from hero_transformer.checks import checks
from hero_transformer.exercise import replaces, standing_in
from hero_transformer.model import Config, TransformerBlock, gelu
"""
# Each: the learner's gelu (or block), the body of a check on it, and whether it passes.
RIGHT = "return x / 2 * (1 + torch.erf(x / 2 ** 0.5))"
CASES: dict[str, tuple[str, str, bool]] = {
    "value": (RIGHT, "c.close('a', gelu(torch.tensor(1.0)), 0.8413447, tolerance=1e-6)", True),
    "gradient": (
        RIGHT,
        "x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)\n"
        "    (gelu(x) * torch.tensor([1.0, 3.0])).sum().backward()\n"
        "    y = x.detach().requires_grad_()\n"
        "    (F.gelu(y) * torch.tensor([1.0, 3.0])).sum().backward()\n"
        "    c.close('a', x.grad, y.grad)",
        True,
    ),
    "wrong_gradient": (
        "return F.relu(x)",
        "x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)\n"
        "    gelu(x).sum().backward()\n    c.close('a', x.grad, torch.tensor([0.87]), tolerance=0.1)",
        False,
    ),
    "no_gradient": (
        "return x.detach() * 2",
        "x = torch.ones(1, requires_grad=True)\n    c.equal('a', gelu(x).requires_grad, False)",
        True,
    ),
    "iterator": ("return (x * n for n in range(3))", "c.equal('a', [int(y) for y in gelu(torch.ones(()))], [0, 1, 2])", True),
    "endless_iterator": (
        "while True:\n        yield x",
        "items = gelu(torch.ones(()))\n    c.equal('a', [int(next(items)) for _ in range(4)], [1, 1, 1, 1])",
        True,
    ),
    "iterator_that_raises": ("yield x\n    raise KeyError('k')", "c.raises('a', KeyError, list, gelu(torch.ones(())))", True),
    "mutated": ("return x.mul_(2)", "x = torch.ones(2)\n    gelu(x)\n    c.equal('a', x, torch.full((2,), 2.0))", True),
    "mutated_view": (
        "x[:] = 5",
        "x = torch.zeros(3)\n    gelu(x[1:])\n    c.equal('a', x, torch.tensor([0.0, 5.0, 5.0]))",
        True,
    ),
    "generator_drawn_from": (
        "return torch.rand(1, generator=x)",
        "g, like = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)\n"
        "    c.equal('a', torch.cat([gelu(g), gelu(g)]), torch.cat([torch.rand(1, generator=like) for _ in range(2)]))",
        True,
    ),
    "copy_of_a_generator_drawn_from": (
        "copy = torch.Generator()\n    copy.set_state(x.get_state())\n    return torch.rand(1, generator=copy)",
        "g = torch.Generator().manual_seed(1)\n    c.equal('a', bool(gelu(g) == gelu(g)), False)",
        False,
    ),
    "argument_itself": ("return x", "x = torch.zeros(2)\n    y = gelu(x)\n    x += 1\n    c.equal('a', y, torch.ones(2))", True),
    "mutated_list": ("return [y + 1 for y in x]", "c.equal('a', [int(y) for y in gelu([torch.ones(()), torch.zeros(())])], [2, 1])", True),
    "exception": ("raise ValueError('no')", "c.raises('a', ValueError, gelu, torch.ones(1))", True),
    "own_exception": (
        "class Mine(LookupError):\n        pass\n    raise Mine('no')",
        "c.raises('a', LookupError, gelu, torch.ones(1))",
        True,
    ),
    "other_exception": ("raise KeyError('no')", "c.raises('a', ValueError, gelu, torch.ones(1))", False),
    "strange_exception": ("b'\\xff'.decode()", "c.raises('a', UnicodeDecodeError, gelu, torch.ones(1))", False),
    "not_a_tensor": ("return x.numpy()", "c.close('a', gelu(torch.ones(1)), torch.ones(1))", False),
    "a_class": ("return type('Yes', (), {'__eq__': lambda *a: True, '__bool__': lambda a: True})()", "c.equal('a', gelu(1), True)", False),
    "deep": ("a = []\n    for _ in range(500):\n        a = [a]\n    return a", "c.equal('a', gelu(1), 1)", False),
    "huge": ("return torch.zeros(1 << 22)", "c.equal('a', gelu(1), 1)", False),
    "many": ("return [1] * 250_000", "c.equal('a', gelu(1), 1)", False),
    "random": (
        "return torch.rand(3)",
        "torch.manual_seed(3)\n    a, b = gelu(1), gelu(1)\n    torch.manual_seed(3)\n    c.equal('a', torch.rand(3), a)\n"
        "    c.equal('b', bool((a == b).all()), False)",
        True,
    ),
    "stand_in": (
        "return model.LayerNorm(2)(x)",
        "with standing_in(LayerNorm=nn.Softmax):\n        pass\n    with standing_in(LayerNorm=nn.Linear):\n"
        "        c.raises('a', TypeError, gelu, torch.ones(2))",
        True,
    ),
    "barred": ("return F.gelu(x)", "c.close('a', gelu(torch.ones(1)), torch.tensor([0.8413447]), tolerance=1e-6)", False),
    "transposed": ("return x.view(-1)", "c.raises('a', RuntimeError, gelu, torch.ones(2, 3).T)", True),
    "transposed_result": ("return torch.ones(2, 3).T", "c.equal('a', gelu(1).is_contiguous(), False)", True),
    "same_twice": ("return [x + 1] * 2", "a, b = gelu(torch.ones(1))\n    c.equal('a', a is b, True)", True),
    "itself_and_more": (
        "return x, x * 2",
        "x = torch.ones(1, requires_grad=True)\n    y, z = gelu(x)\n    (y + z).sum().backward()\n"
        "    c.equal('a', y is x, True)\n    c.equal('b', x.grad, torch.tensor([3.0]))",
        True,
    ),
    "handed_back": (
        "return x if isinstance(x, list) else (y for y in range(3)) if x == 1 else {y: 0 for y in x}.keys()",
        "c.equal('a', gelu(list(gelu(gelu(1)))), [0, 1, 2])",
        True,
    ),
    "list_of_modules": (
        "class Blocks(nn.ModuleList):\n        def __init__(self, n):\n            super().__init__(nn.Linear(1, 1) for _ in range(n))\n"
        "    return Blocks(3) if x == 1 else len(x)",
        "a = gelu(1)\n    c.equal('a', [isinstance(a, nn.ModuleList), len(a), gelu(a), type(a).__name__], [True, 3, 3, 'Blocks'])",
        True,
    ),
    "list_that_counts_wrong": (
        "class Blocks(nn.ModuleList):\n        def __len__(self):\n            return 7\n    return Blocks()",
        "c.equal('a', len(gelu(1)), 7)",
        False,
    ),
    "one_hash": ("return [tuple(-1 - (n >> b & 1) for b in range(13)) for n in range(8000)]", "c.equal('a', len(set(gelu(1))), 8000)", False),
    "shared": ("a = []\n    for _ in range(30):\n        a = [a, a]\n    return a", "c.equal('a', gelu(1), [])", False),
    "shared_modules": (
        "a = nn.Identity()\n    for _ in range(18):\n        a = nn.Sequential(a, a)\n    return a",
        "c.equal('a', gelu(1)(3), 3)",
        False,
    ),
    "large_range": ("return range(10 ** 12)", "c.equal('a', sum(gelu(1)), 0)", False),
    "large_decimal": ("import decimal\n    return decimal.Decimal('1e99999999')", "c.equal('a', int(gelu(1)), 0)", False),
    "large_text": ("return 'x' * 3_000_000", "c.equal('a', {}[gelu(1)], 0)", False),
    "float16": (RIGHT, "c.equal('a', str(gelu(torch.ones(2).half()).dtype), 'torch.float16')", True),
    "kinds": (
        "return {'n': None, 'i': -3, 'z': 1j, 't': (True, 'é', b'x'), 'e': ...}",
        "c.equal('a', gelu(1) == {'n': None, 'i': -3, 'z': 1j, 't': (True, 'é', b'x'), 'e': ...}, True)",
        True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def pair(course: Path) -> Iterator[WarmPair]:
    head = 'with checks("{}", gelu, known={{}}) as c:\n    '
    checks = {name: head.format(name) + body for name, (_, body, _) in CASES.items()}
    checks["broken-check"] = "1 / 0"
    checks["not-plain"] = head.format("not-plain") + "gelu(lambda: 1)"
    examination = Examination({"setup": SETUP}, {"gelu": "model.gelu"}, (), checks, dict.fromkeys(checks, "gelu"))
    limits = Limits(cell_seconds=5, answer_bytes=1 << 22)
    found = WarmPair(Assignment.of(course / "source" / "zh" / CHAPTER, examination, limits, False, ()))
    yield found
    found.close()


def run(pair: WarmPair, body: str, *checks: str) -> list[list[dict]]:
    sources = [SETUP, f"@replaces(model)\ndef gelu(x):\n    {body}"]
    steps = [Step(n, None, source) for n, source in enumerate(sources)]
    return pair.grade(Job((*steps, *(Step(9, check, "") for check in checks))))[len(sources) :]


def errors(outputs: list[dict]) -> list[str]:
    return [one["evalue"] for one in outputs if one["output_type"] == "error"]


@pytest.mark.parametrize("name", CASES)
def test_a_call_carries(pair: WarmPair, name: str) -> None:
    body, _, passes = CASES[name]
    (outputs,) = run(pair, body, name)
    assert (errors(outputs) == []) == passes, errors(outputs)


def test_the_check_is_told_why(pair: WarmPair) -> None:
    assert "got ndarray" in errors(run(pair, CASES["not_a_tensor"][0], "not_a_tensor")[0])[0]
    assert "too large" in errors(run(pair, "return torch.zeros(1 << 23)", "huge")[0])[0]
    assert "200000 parts" in errors(run(pair, CASES["many"][0], "many")[0])[0]
    assert "BarredAnswer" not in errors(run(pair, CASES["barred"][0], "barred")[0])[0]
    assert "is the answer itself" in errors(run(pair, CASES["barred"][0], "barred")[0])[0]


@pytest.mark.parametrize("name", ["one_hash", "shared", "shared_modules", "large_range", "large_decimal", "large_text"])
def test_an_answer_that_costs_much_is_refused_and_the_rest_is_graded(pair: WarmPair, name: str) -> None:
    first, second = run(pair, CASES[name][0], name, "not_a_tensor")
    assert len(json.dumps(first)) < 20_000
    reason = {"one_hash": "one hash", "shared": "too large", "shared_modules": "too many parts", "large_text": "KeyError"}
    assert reason.get(name, "no plain data") in errors(first)[0]
    assert errors(second), "it was judged"


def test_no_cell_shows_what_a_check_called_the_answer_with(pair: WarmPair) -> None:
    keeping = "kept.append(x)\n    print(x)\n    open('kept', 'a').write(str(x))\n    " + RIGHT
    showing = "print(len(kept), os.path.exists('kept'))"
    sources = [SETUP, f"import os\nkept = []\n@replaces(model)\ndef gelu(x):\n    {keeping}", showing]
    cells = [Step(n, None, source) for n, source in enumerate(sources)]
    check = Step(9, "value", "")
    outputs = pair.grade(Job((*cells, check, cells[2], check, cells[2])))
    assert [one["text"] for one in (outputs[2][0], outputs[4][0], outputs[6][0])] == ["0 False\n"] * 3
    assert errors(outputs[3]) == errors(outputs[5]) == []


def test_a_check_sees_the_answer_as_it_is_at_its_place(pair: WarmPair) -> None:
    sources = [SETUP, f"@replaces(model)\ndef gelu(x):\n    {RIGHT}", "print('now')\n@replaces(model)\ndef gelu(x):\n    return x"]
    setup, right, wrong = (Step(n, None, source) for n, source in enumerate(sources))
    check = Step(9, "value", "")
    first, now, second = pair.grade(Job((setup, right, check, wrong, check)))[2:]
    assert errors(first) == []
    assert now[0]["text"] == "now\n"
    assert errors(second)


def test_the_line_that_is_shown_stands_in_the_learners_own_cells(pair: WarmPair) -> None:
    helper = "def supplied(function):\n    verify_edition()\n    return function()"
    setup = f"{SETUP}\nfrom hero_transformer.checks import verify_edition\n{helper}\nverify_edition()"
    sources = [setup, "@replaces(model)\ndef gelu(x):\n    return supplied(lambda: None.nothing)\n"]
    steps = [Step(n, None, source) for n, source in enumerate(sources)]
    (said,) = errors(pair.grade(Job((*steps, Step(9, "value", ""))))[2])
    assert "return supplied(lambda: None.nothing)" in said
    sources[1] = "@replaces(model)\ndef gelu(x):\n    return supplied(1)\n"
    steps = [Step(n, None, source) for n, source in enumerate(sources)]
    (said,) = errors(pair.grade(Job((*steps, Step(9, "value", ""))))[2])
    assert "return supplied(1)" in said
    assert "return function()" not in said


@pytest.mark.parametrize("check", ["broken-check", "not-plain"])
def test_a_fault_of_the_grader_is_no_zero(pair: WarmPair, check: str) -> None:
    with pytest.raises(NotGradedError):
        run(pair, RIGHT, check)


def test_after_a_crash_the_next_check_finds_a_new_process(pair: WarmPair) -> None:
    body = "import os\n    if torch.is_tensor(x) and x.dtype == torch.float16:\n        os._exit(3)\n    " + RIGHT
    first, second = run(pair, body, "float16", "value")
    assert "ended its own process" in errors(first)[0]
    assert errors(second) == []


def test_every_chapter_says_what_its_checks_look_at(course: Path) -> None:
    for path in sorted((course / "source" / "zh").glob("*/*.ipynb")):
        found = examination_of(nbformat.read(path, as_version=4))
        assert found.exercises
        assert set(found.about.values()) == set(found.exercises) | set(found.predictions)


def test_a_warm_pair_whose_parent_died_is_replaced(course: Path) -> None:
    examination = Examination({"setup": SETUP}, {"gelu": "model.gelu"}, (), {"ok": "1 + 1"}, {"ok": "gelu"})
    assignment = Assignment.of(course / "source" / "zh" / CHAPTER, examination, Limits(), False, ())
    pool = Pool(assignment, 2)
    try:
        job = Job((Step(0, None, "print(6 * 7)"), Step(1, "ok", "")))
        assert pool.submit(job).result()[0][0]["text"] == "42\n"
        pair = warm_up(assignment)
        pair._parents["worker"]._process.kill()
        pair._parents["worker"]._process.wait()
        assert pool.submit(job).result()[0][0]["text"] == "42\n"
        assert warm_up(assignment) is not pair
    finally:
        pool.close()


def test_a_stand_in_is_no_answer_where_torch_has_none(course: Path) -> None:
    """An exercise for which no function of torch's is barred is checked under its own name all the same."""
    assert "model.FeedForward.forward" not in BARRED
    setup = SETUP.replace("TransformerBlock, gelu", "FeedForward, TransformerBlock, gelu")
    check = "config = Config(9, 6, 4, 2, 1, 8)\nwith checks('k', FeedForward.forward, known={}) as c:\n    c.shape('a', FeedForward(config)(torch.ones(1, 2, 4)), (1, 2, 4))"
    examination = Examination({"setup": setup}, {"mine": "model.FeedForward.forward"}, (), {"k": check}, {"k": "mine"})
    found = WarmPair(Assignment.of(course / "source" / "zh" / CHAPTER, examination, Limits(), False, ()))
    try:
        for body, refused in {"doubles.FeedForward(Config(9, 6, 4, 2, 1, 8))(hidden)": True, "hidden + 1": False}.items():
            own = f"@replaces(FeedForward)\ndef forward(self, hidden):\n    return {body}"
            said = errors(found.grade(Job((Step(0, None, setup), Step(1, None, own), Step(2, "k", ""))))[2])
            assert ["is the answer itself" in one for one in said] == [True] * refused
    finally:
        found.close()
