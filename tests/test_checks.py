"""What a check says, and that it cannot be talked into saying something else."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import pytest
import torch

from hero_transformer import model
from hero_transformer.checks import NAMED, SHEET, CheckFailed, checks, verify_edition
from hero_transformer.diagnosis import agrees, fingerprint, named, telling


@pytest.fixture(autouse=True)
def _sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"seen": {"两倍 / doubled": {"a": 2.0}}}
    (tmp_path / SHEET).write_text(json.dumps({"edition": "reference", "checks": known}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def _lines(run) -> list[str]:
    with pytest.raises(CheckFailed) as caught:
        run()
    assert caught.value._render_traceback_() == caught.value.lines == str(caught.value).splitlines()
    return caught.value.lines


def test_a_block_that_passes_says_how_many(capsys: pytest.CaptureFixture) -> None:
    with checks("seen") as c:
        c.close("a", 1.0, 1.0)
        c.shape("b", torch.zeros(2, 3), (2, 3))
        c.equal("d", None, None)
        c.raises("e", ValueError, int, "x")
    assert capsys.readouterr().out == "\x1b[32m✓ seen: 4 项全部通过 | all 4 passed\x1b[0m\n"


def test_all_failures_are_reported_a_line_each_and_a_known_mistake_is_named() -> None:
    def run() -> None:
        with checks("seen") as c:
            c.close("a", 2.0, 1.0)

    assert _lines(run) == ["✗ a: 期望 expected 1，得到 got 2", NAMED + "两倍 / doubled"]

    def other() -> None:
        with checks("seen") as c:
            c.close("a", 2.0, 1.0)
            c.shape("b", torch.zeros(2), (3,))

    assert _lines(other) == ["✗ a: 期望 expected 1，得到 got 2", "✗ b: 期望 expected (3,)，得到 got (2,)"]


def test_a_hidden_check_uses_the_marks_that_it_is_given() -> None:
    def run() -> None:
        with checks("unseen", known={"零 / zero": {"a": 0.0}}) as c:
            c.close("a", 0, 1.0)

    assert _lines(run)[-1] == NAMED + "零 / zero"


def _not_written(x):
    raise NotImplementedError("gelu")


def test_an_answer_not_written_names_its_cell() -> None:
    def run() -> None:
        with checks("seen") as c:
            c.close("a", _not_written(1), 1)

    zh, en = _lines(run)
    assert zh.startswith("✗ gelu: 尚未作答，请填写单元 gelu")
    assert "not written yet: fill in the cell gelu" in en


def _forgotten():
    pass


def test_a_forgotten_return_gets_a_hint() -> None:
    def run() -> None:
        with checks("seen") as c:
            c.close("a", _forgotten()[0], 1)

    (line,) = _lines(run)
    assert "TypeError" in line
    assert "is a return missing?" in line


def test_an_exception_of_the_answer_ends_the_block_with_its_type_and_text() -> None:
    def run() -> None:
        with checks("seen") as c:
            c.close("b", 1, 2)
            c.close("a", 1 / 0, 1)

    assert _lines(run) == [
        "✗ b: 期望 expected 2，得到 got 1",
        "✗ 代码抛出了异常 | the code raised ZeroDivisionError: division by zero",
        "  检查拿到这个结果后无法继续 | the check could not go on with what was returned",
    ]


def test_an_interrupt_stays_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), checks("seen"):
        raise KeyboardInterrupt


def test_an_expectation_outside_its_block_raises_at_once() -> None:
    with checks("seen") as c:
        c.equal("a", 1, 1)
    with pytest.raises(CheckFailed, match="outside its checks block"):
        c.equal("b", 1, 1)


def test_a_label_twice_is_the_authors_mistake() -> None:
    with pytest.raises(CheckFailed, match="stands twice"), checks("seen") as c:
        c.equal("a", 1, 1)
        c.equal("a", 1, 1)


class Liar:
    """Equal to everything, as a learner's return value may be."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("actual", [Liar(), "1.0", True, None, math.nan, [1.0], torch.ones(1)])
def test_what_is_not_the_number_is_refused(actual: object) -> None:
    def run() -> None:
        with checks("unseen", known={}) as c:
            c.close("a", actual, 1.0)

    assert _lines(run)[0].startswith("✗ a: 期望 expected")


@pytest.mark.parametrize(("actual", "expected"), [(Liar(), 1), (True, 1), (1.0, 1), ([1], (1,)), (Liar(), None)])
def test_equal_wants_the_same_type(actual: object, expected: object) -> None:
    def run() -> None:
        with checks("unseen", known={}) as c:
            c.equal("a", actual, expected)

    assert len(_lines(run)) == 1


def test_tensors_say_where_they_first_differ() -> None:
    right = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    wrong = right.clone()
    wrong[1, 0] += 0.5

    def run() -> None:
        with checks("unseen", known={}) as c:
            c.close("a", wrong, right)

    assert _lines(run) == ["✗ a: 期望 expected 3，得到 got 3.5 @ [1, 0] (1/6 个不同 differ)"]


def test_a_number_is_no_tensor_of_one_element_and_back() -> None:
    def run() -> None:
        with checks("unseen", known={}) as c:
            c.close("a", 1.0, torch.ones(1))

    assert _lines(run) == ["✗ a: 期望 expected 形状 shape (1,)，得到 got ()"]


@pytest.mark.parametrize(
    ("prediction", "right"),
    [((0.1, 0.2), True), ([0.1, 0.2], True), (torch.tensor([0.1, 0.2]), True), ((0.1,), False), ("0.1, 0.2", False), (..., False)],
)
def test_predictions(prediction: object, right: bool) -> None:
    try:
        with checks("unseen", known={}) as c:
            c.predicted("p", prediction, (0.1, 0.2), tolerance=1e-6)
    except CheckFailed as error:
        assert not right
        assert ("no prediction yet" in str(error)) == (prediction is ...)
    else:
        assert right


def test_another_edition_is_refused_with_the_remedy(tmp_path: Path) -> None:
    assert verify_edition() == "reference"
    (tmp_path / SHEET).write_text(json.dumps({"edition": "05_decoder_block", "checks": {}}), encoding="utf-8")
    with pytest.raises(CheckFailed, match="need the edition 05_decoder_block, got reference"):
        verify_edition()
    with pytest.raises(CheckFailed, match="the wrong hero_transformer"), checks("seen"):
        pass
    (tmp_path / SHEET).unlink()
    with pytest.raises(CheckFailed, match=r"fingerprints\.json is not beside the notebook"):
        verify_edition()


def test_a_lost_decorator_is_told_from_an_empty_cell() -> None:
    def gelu(x):
        return x

    gelu.__module__ = "__main__"
    names = {"checks": checks, "gelu": gelu, "model": model}
    with pytest.raises(CheckFailed, match=r"@replaces\(\.\.\.\) above def gelu is gone"):
        exec("with checks('seen', model.gelu):\n    pass", names)
    exec("with checks('seen', model.gelu) as c:\n    c.equal('a', 1, 1)", names | {"gelu": model.gelu})


def test_failures_survive_pickling() -> None:
    failure = CheckFailed("✗ a", "✗ b")
    assert pickle.loads(pickle.dumps(failure)).lines == ["✗ a", "✗ b"]


def test_fingerprints_tell_the_nearest_mistakes_apart() -> None:
    x = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    exact = fingerprint(torch.nn.functional.gelu(x))
    tanh = fingerprint(torch.nn.functional.gelu(x, approximate="tanh"))
    assert not agrees(exact, tanh)
    assert agrees(exact, fingerprint(torch.nn.functional.gelu(x) + 1e-9))
    assert not agrees(fingerprint(torch.zeros(2, 3)), fingerprint(torch.zeros(3, 2)))
    assert not agrees(fingerprint(torch.tensor([1.0, 2.0])), fingerprint(torch.tensor([2.0, 1.0])))
    nan, inf = math.nan, math.inf
    odd = [[nan, 1.0], [1.0, nan], [inf, 1.0], [-inf, 1.0], [1.0, inf], [nan, 2.0], [nan, nan]]
    marks = [fingerprint(torch.tensor(one)) for one in odd]
    assert not any(agrees(a, b) for i, a in enumerate(marks) for b in marks[:i])
    assert json.loads(json.dumps(fingerprint([None, True, "a", 1, torch.ones(2)]))) == fingerprint([None, True, "a", 1, torch.ones(2)])


def test_a_mistake_is_named_only_when_every_label_agrees_and_no_other_mistake_does() -> None:
    known = {"A": {"x": 1.0, "y": 2.0}, "B": {"x": 1.0, "y": 3.0}}
    assert named({"x": 1.0, "y": 2.0}, known) == "A"
    assert named({"x": 1.0}, known) is None
    assert named({"x": 1.0, "y": 9.0}, known) is None
    assert named({"x": 1.0, "y": 2.0}, {**known, "C": known["A"]}) is None


def _raising(error: Exception) -> Exception:
    """The exception, as a line of a notebook raises it."""
    try:
        exec(compile("raise error", "a learner's cell", "exec"), {"__name__": "__main__", "error": error})
    except Exception as caught:
        return caught
    raise AssertionError


def _failing(code: str) -> Exception:
    """The exception of an operation in a line of a notebook."""
    try:
        exec(compile(code, "a learner's cell", "exec"), {"__name__": "__main__", "torch": torch})
    except Exception as caught:
        return caught
    raise AssertionError


def test_an_exception_is_known_by_type_text_and_place() -> None:
    inner = fingerprint(_failing("torch.ones(2, 3) @ torch.ones(2, 3)"))
    assert inner == "RuntimeError in the answer: mat# and mat# shapes cannot be multiplied (#x# and #x#)"
    assert fingerprint(_failing("torch.ones(2, 3) + torch.ones(2, 4)")) != inner
    assert fingerprint(RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")) != inner, "another place"
    assert fingerprint(_raising(RuntimeError("a mistake of my own"))) == "raise RuntimeError"


@pytest.mark.parametrize("kind", [ValueError, KeyError, IndexError, TypeError, RuntimeError, AttributeError])
def test_an_exception_raised_by_hand_tells_no_mistake(kind: type[Exception]) -> None:
    assert not telling({"raised": fingerprint(_raising(kind("a typing mistake of my own")))}, {"a": 1.0})


@pytest.mark.parametrize(
    ("marks", "right", "says_enough"),
    [
        ({"a": 2.0}, {"a": 1.0}, True),
        ({"a": 1.0, "same": "False"}, {"a": 1.0, "same": "True"}, False),
        ({"a": "None"}, {"a": 1.0}, False),
        ({"a": "list"}, {"a": 1.0}, False),
        ({"dtype": "'torch.float32'"}, {"dtype": "'torch.float64'"}, True),
        ({"a": fingerprint(torch.full((3,), math.nan))}, {"a": fingerprint(torch.ones(3))}, False),
        ({"a": fingerprint(torch.tensor([math.nan, 2.0]))}, {"a": fingerprint(torch.ones(2))}, True),
        ({str(n): repr(n < 3) for n in range(5)}, {str(n): "True" for n in range(5)}, True),
        ({str(n): "None" for n in range(5)}, {str(n): "True" for n in range(5)}, False),
        ({str(n): repr(n < 3) for n in range(4)}, {str(n): "True" for n in range(4)}, False),
    ],
)
def test_what_many_mistakes_have_in_common_tells_none(marks: dict, right: dict, says_enough: bool) -> None:
    assert telling(marks, right) is says_enough

