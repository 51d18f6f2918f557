"""What a learner reads: each message says what is wrong and, where it can be known, what to do about it."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from hero_transformer.checks import SHEET, CheckFailed, checks
from hero_transformer.comparison import difference, inequality, prediction_problem
from hero_transformer.diagnosis import SUPPLIED
from hero_transformer.failure import describe


@pytest.fixture(autouse=True)
def _sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / SHEET).write_text(json.dumps({"edition": "reference", "checks": {}}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def _said(look) -> str:
    with pytest.raises(CheckFailed) as caught, checks("any") as c:
        look(c)
    return str(caught.value)


def test_none_where_something_was_expected_asks_for_the_return() -> None:
    for said in (inequality(None, [3, 5, 0]), difference(None, 1.0, 0.0)):
        assert "is a return missing?" in said
    assert "return" not in inequality(3, None)


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        ((9, 1), [9, 1], "a list is expected, a tuple came"),
        ([9, 1], (9, 1), "a tuple is expected, a list came"),
        ([((1, 2), 3)], {(1, 2): 3}, "a dict is expected, a list came"),
    ],
)
def test_another_container_is_named(actual: object, expected: object, words: str) -> None:
    assert words in inequality(actual, expected)


def test_numbers_of_numpy_are_as_good_inside_lists_and_dictionaries_but_no_int_by_themselves() -> None:
    assert inequality([np.int64(1), 2], [1, 2]) is None
    assert inequality({(np.int32(1), np.int32(2)): np.int64(3)}, {(1, 2): 3}) is None
    assert inequality([np.int64(1), 3], [1, 2]) is not None
    assert inequality([True, 2], [1, 2]) is not None
    assert "got" in inequality(np.int64(5), 5)


def test_numbers_that_print_alike_show_how_far_they_are_apart_and_the_dtype() -> None:
    want = torch.tensor([math.sin(1.0)], dtype=torch.float64)
    said = difference(want.float(), want, 1e-9)
    apart = abs(float(np.float32(math.sin(1.0))) - math.sin(1.0))
    assert f"got 0.841471（相差 apart by {apart:.2g}，至多 at most 1e-09；得到 got float32）" in said


def test_nan_says_where_it_comes_from() -> None:
    assert "NaN: 0/0, or a whole row of −inf" in difference(torch.tensor([math.nan]), torch.tensor([1.0]), 1e-9)


def test_infinity_equals_itself_alone() -> None:
    inf = torch.tensor([math.inf, -math.inf])
    assert difference(inf, inf, 0.0) is None
    assert difference(-inf, inf, 1e-9) is not None
    assert difference(torch.tensor([math.nan]), torch.tensor([math.nan]), 1e-9) is not None


def test_long_lists_say_where_they_differ() -> None:
    names = [f"parameters of part {n}" for n in range(9)]
    assert "missing: parameters of part 8; 多余 not asked for: part 8" in inequality(
        [*names[:8], "part 8"], names
    ).replace("；", "; ")
    assert "item 70: 期望 expected 70，得到 got 71" in inequality([*range(70), 71], [*range(71)])
    assert "length: 期望 expected 71，得到 got 70" in inequality([*range(70)], [*range(71)])


def test_a_refusal_that_was_only_printed_is_told_from_one_that_was_raised() -> None:
    said = _said(lambda c: c.raises("T = 65", ValueError, lambda: print("too long")))
    assert "nothing was raised: was it only printed?" in said
    assert "only printed" not in _said(lambda c: c.raises("T = 65", ValueError, lambda: 7))


def test_the_hints_are_given_only_where_they_fit() -> None:
    assert "a return missing" not in describe(TypeError("'NoneType' object is not callable"))
    assert "a return missing" in describe(TypeError("'NoneType' object is not subscriptable"))

    def forward(self, hidden):
        return hidden

    assert "keep the def line" in describe(TypeError("forward() takes 2 positional arguments but 3 were given"), forward)
    for other in ("FeedForward.forward() takes 2 positional arguments but 3 were given", "int() argument must be a string"):
        assert "keep the def line" not in describe(TypeError(other), forward)
        assert "keep the def line" not in describe(TypeError(other))


def test_the_check_says_when_it_cannot_go_on_with_a_result() -> None:
    said = _said(lambda c: c.equal("dtype", [1, 2].dtype, "torch.float64"))
    assert "'list' object has no attribute 'dtype'" in said
    assert "the check could not go on with what was returned" in said


def _cell(code: str, name: str, **names: object) -> dict:
    space = {"__name__": "__main__", **names}
    exec(compile(code, name, "exec"), space)
    return space


def _caught(function) -> Exception:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError


def test_the_line_shown_is_the_learners_own_and_no_supplied_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linecache.getline", lambda name, line: f"line {line} of {name}")
    SUPPLIED.add("the set-up cell")
    helper = _cell("def complaint(function):\n    return function([1], 2)", "the set-up cell")["complaint"]
    decode = _cell("def decode(ids):\n    return ids", "a learner's cell")["decode"]
    error = _caught(lambda: helper(decode))
    said = describe(error, decode)
    assert "line 2: " not in said
    assert "keep the def line as it was" in said
    deep = _cell("def decode(ids, n):\n    return ids[n]", "a learner's cell")["decode"]
    assert "(第 2 行 line 2: line 2 of a learner's cell)" in describe(_caught(lambda: helper(deep)), deep)


def test_a_prediction_whose_cell_did_not_run_says_so() -> None:
    error = _caught(lambda: _cell("prediction_ids", "the check's cell"))
    said = describe(error)
    assert said.startswith("prediction_ids: 没有预测")
    assert "must be half-width" in said


def test_torchs_own_not_implemented_is_no_unwritten_exercise() -> None:
    said = describe(NotImplementedError('"cholesky_cpu" not implemented for \'Half\''))
    assert "not written yet" not in said
    assert "NotImplementedError" in said
    assert "gelu: 尚未作答" in describe(NotImplementedError("gelu"))


@pytest.mark.parametrize(
    "prediction",
    [
        (2, 2, 7), [2, 2, 7], (2.0, 2.0, 7.0), np.array([2, 2, 7]), torch.tensor([2, 2, 7]), (np.int64(2), 2, 7),
        (Fraction(2), Decimal(2), torch.tensor(7)), [[2, 2, 7]], (np.array(2), np.array(2.0), np.float32(7)),
    ],
)  # fmt: skip
def test_other_forms_of_a_right_prediction_are_right(prediction: object) -> None:
    assert prediction_problem(prediction, (2, 2, 7), 0.0) is None


@pytest.mark.parametrize("prediction", [(2, 2), (2, 2, 8), (2, 2, 7, 7), {2, 7}, None, math.nan, "2 2 7", (2, (2, 7))])
def test_a_wrong_prediction_is_wrong(prediction: object) -> None:
    assert prediction_problem(prediction, (2, 2, 7), 0.0) is not None


def test_nesting_counts_where_the_truth_is_nested() -> None:
    truth = ((2, 3, 10), (2, 2, 5, 2))
    assert prediction_problem([[2, 3, 10], [2, 2, 5, 2]], truth, 0.0) is None
    assert prediction_problem((2, 3, 10, 2, 2, 5, 2), truth, 0.0) is None
    assert prediction_problem(((2,), (3, 10, 2, 2, 5, 2)), truth, 0.0) is not None


@pytest.mark.parametrize("text", ["33", "33 bytes"])
def test_a_prediction_in_quotes_or_with_a_unit_says_what_to_write(text: str) -> None:
    assert f"write a number, without quotes and units; got the text {text!r}" in prediction_problem(text, 33, 0.0)
    assert prediction_problem("yes", "yes", 0.0) is None


def test_the_number_of_results_is_counted_before_they_are_compared() -> None:
    one = torch.ones(2)
    assert "2 个结果 results，得到 got 1" in _said(lambda c: c.each({"x": one, "W": one}, (one,)))
    for nothing in ((), [], None, iter(())):
        assert "✗ x, W: 期望 expected 2 个结果 results" in _said(lambda c, n=nothing: c.each({"x": one, "W": one}, n))


def test_a_gradient_that_is_cut_off_or_missing_is_told() -> None:
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    expected = {"x": torch.ones(2), "w": torch.ones(2)}
    with checks("any") as c:
        c.gradients((x + w).sum(), expected, [x, w])
    assert "no gradient flows back" in _said(lambda c: c.gradients((x + w).detach().sum(), expected, [x, w]))
    assert "✗ w: 期望 expected 1，得到 got 0" in _said(lambda c: c.gradients((x + w.detach()).sum(), expected, [x, w]))


def test_a_block_that_looks_at_nothing_fails() -> None:
    assert "the check found nothing to look at" in _said(lambda c: None)
