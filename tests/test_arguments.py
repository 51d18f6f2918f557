"""The argument checks that modules share: what they say, and how they stand in front of functions and modules."""

import pickle

import pytest
import torch
from torch import nn

from hero_transformer.arguments import (
    check_calls,
    check_count,
    check_eps,
    check_flag,
    check_function,
    check_generator,
    check_heads,
    check_parts,
    checked_by,
)
from hero_transformer.tensor_arguments import check_features, check_floating, check_hidden, first_parameter


def test_check_features_says_expected_received_and_remedy():
    with pytest.raises(ValueError, match=r"d = 4.*received torch.int64 of shape \[2, 4\].*ids"):
        check_features(torch.zeros(2, 4, dtype=torch.int64), 4)
    with pytest.raises(ValueError, match=r"received list"):
        check_features([1.0], 1)
    with pytest.raises(ValueError, match=r"received torch.float32 of shape \[2, 1\].*last axis"):
        check_features(torch.zeros(2, 1), 4)
    with pytest.raises(ValueError, match=r"shape \[\]"):
        check_features(torch.tensor(1.0), 1)
    with pytest.raises(ValueError, match="empty axis"):
        check_features(torch.zeros(0, 4), 4)
    with pytest.raises(ValueError, match=r"torch.float64; received torch.float32.*x.to"):
        check_features(torch.zeros(2, 4), 4, torch.float64, name="x")
    with pytest.raises(ValueError, match=r"^x must have three axes \[B, T, d\].*\[3, 4\].*x.reshape"):
        check_hidden(torch.zeros(3, 4), 4, name="x")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_count(past=-1), "past = -1 must be an int of 0 or more; pass a whole number such as 0"),
        (lambda: check_count(past=False), "past = False must be an int of 0 or more"),
        (lambda: check_count(past=0.0), "past = 0.0 must be"),
        (lambda: check_heads(3, 4, names=("h", "d")), "h = 3 must divide d = 4; take h = 1 or d = 6"),
        (lambda: check_eps(True), "eps = True must be a number, finite and not negative; pass 1e-5"),
        (lambda: check_eps("x"), "eps = 'x' must be"),
        (lambda: check_eps(float("nan")), "eps = nan must be"),
        (lambda: check_flag(use_cache=1), "use_cache = 1 must be True or False"),
        (lambda: check_function("Pass one.", f=3), "f must be a function; received int. Pass one."),
        (lambda: check_generator(0), "generator must be a torch.Generator; received int. Make one"),
        (lambda: check_parts(None, "block", "Block", ["a"], "Pass one."), "block must be a Block; received NoneType. Pass"),
        (lambda: check_floating(x=torch.ones(2).long()), "^x must be a floating-point tensor; received torch.int64"),
        (lambda: check_floating("Do.", q=[1], k=torch.ones(2)), "^q and k must be floating-point tensors; received list"),
        (lambda: check_floating(q=torch.ones(2).double(), k=torch.ones(2)), r"one dtype.*with .to\(torch.float64\)"),
    ],
)
def test_checks_say_what_was_expected_what_came_and_the_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_floating_dtypes_are_left_to_autocast():
    mixed = {"q": torch.ones(2), "k": torch.ones(2).bfloat16()}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        check_floating(**mixed)
    with pytest.raises(ValueError, match="one dtype"):
        check_floating(**mixed)


def test_checked_by_keeps_name_docstring_and_result():
    seen = []

    @checked_by(lambda x: seen.append(x))
    def triple(x):
        """Three times x."""
        return 3 * x

    assert (triple.__name__, triple.__doc__, triple(x=2), seen) == ("triple", "Three times x.", 6, [2])


def test_checked_by_uses_nothing_up():
    @checked_by(lambda a, b=(): (list(a), list(b)))
    def both(a, b=()):
        return list(a), list(b)

    assert both(iter([1, 2]), b=(n for n in [3])) == ([1, 2], [3])
    assert both({4: 5}, b="x") == ([4], ["x"])


class Twice(nn.Module):
    """A module with a check of its argument."""

    def __init__(self):
        super().__init__()
        check_calls(self, _positive)

    def forward(self, x, times=2):
        return times * x


def _positive(module, x, times=2):
    if x < 0:
        raise ValueError(f"{type(module).__name__}: x = {x} must not be negative")


def test_check_calls_sees_every_call_and_survives_pickling():
    for module in (Twice(), pickle.loads(pickle.dumps(Twice()))):
        assert module(3) == module(x=3) == module(3, times=2) == 6
        for call in (lambda module=module: module(-1), lambda module=module: module(x=-1, times=3)):
            with pytest.raises(ValueError, match="Twice: x = -1 must not"):
                call()


def test_first_parameter_is_that_of_parameters():
    shared = nn.Linear(2, 3, bias=False)
    without = nn.Linear(2, 2)
    without.weight = None
    parts = [nn.ReLU(), without, shared]
    for module in (nn.Sequential(), nn.ReLU(), shared, nn.Sequential(*parts), nn.ModuleDict({"a": nn.Sequential(*parts)})):
        assert first_parameter(module) is next(module.parameters(), None)
    pruned = nn.Sequential(nn.Linear(1, 1))
    pruned[0] = None
    assert first_parameter(pruned) is None
