"""Chapter 07: shifted targets, cross-entropy and its gradient, against torch, by hand, and at the edges."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from hero_transformer.loss import cross_entropy, cross_entropy_backward, shift_targets

CLOSE = {"rtol": 0.0, "atol": 1e-12}
BY_HAND = torch.tensor([[0.0, math.log(3)], [0.0, math.log(3)]], dtype=torch.float64)


def case(shape, seed=0, scale=1.0):
    """Logits [*shape] in float64 and targets for them."""
    generator = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(*shape, dtype=torch.float64, generator=generator)
    return logits, torch.randint(shape[-1], shape[:-1], generator=generator)


def theirs(logits, targets):
    return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


# shift_targets


@given(B=st.integers(1, 4), T=st.integers(1, 9), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_target_is_the_next_input(B, T, seed):
    ids = torch.randint(50, (B, T + 1), generator=torch.Generator().manual_seed(seed))
    before = ids.clone()
    inputs, targets = shift_targets(ids)
    assert inputs.shape == targets.shape == (B, T)
    assert torch.equal(inputs[:, 1:], targets[:, :-1])
    assert torch.equal(torch.cat([inputs[:, :1], targets], dim=1), before)
    assert torch.equal(ids, before)


def test_targets_keep_the_dtype():
    for dtype in (torch.int64, torch.int32, torch.uint8):
        assert {part.dtype for part in shift_targets(torch.ones(2, 3).to(dtype))} == {dtype}


@pytest.mark.parametrize(
    ("ids", "remedy"),
    [
        (torch.ones(2, 1).long(), "Pass longer sequences"),
        (torch.ones(4).long(), r"ids.reshape\(1, -1\)"),
        (torch.ones(2, 3, 4).long(), r"ids.flatten\(0, -2\)"),
        (torch.ones(2, 3), "dtype=torch.int64"),
        (torch.ones(2, 3).bool(), "dtype=torch.int64"),
        ([[1, 2]], "dtype=torch.int64"),
        (torch.ones(0, 3).long(), "Leave out what is empty"),
    ],
)
def test_shift_refuses_what_has_no_successor(ids, remedy):
    with pytest.raises(ValueError, match=rf"\[B, T \+ 1\] with at least two tokens.*{remedy}"):
        shift_targets(ids)


# cross_entropy


def test_loss_by_hand():
    assert cross_entropy(BY_HAND, torch.tensor([0, 0])).item() == pytest.approx(math.log(4), abs=1e-12)
    assert cross_entropy(BY_HAND, torch.tensor([1, 1])).item() == pytest.approx(math.log(4 / 3), abs=1e-12)
    assert cross_entropy(BY_HAND, torch.tensor([0, 1])).item() == pytest.approx(0.836988, abs=5e-7)


@pytest.mark.parametrize("V", [2, 10, 32])
def test_equal_logits_cost_ln_v(V):
    logits = torch.full((2, 3, V), 7.0, dtype=torch.float64)
    assert cross_entropy(logits, torch.ones(2, 3).long()).item() == pytest.approx(math.log(V), abs=1e-12)


@given(B=st.integers(1, 3), T=st.integers(1, 5), V=st.integers(1, 8), scale=st.sampled_from([0.1, 3.0, 200.0]))
@settings(max_examples=40, deadline=None)
def test_loss_and_gradient_equal_torch(B, T, V, scale):
    logits, targets = case((B, T, V), seed=B + 10 * T, scale=scale)
    logits.requires_grad_()
    expected = theirs(logits, targets)
    (gradient,) = torch.autograd.grad(expected, logits)
    found = cross_entropy(logits, targets)
    torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-11)
    torch.testing.assert_close(torch.autograd.grad(found, logits)[0], gradient, **CLOSE)
    torch.testing.assert_close(cross_entropy_backward(logits.detach(), targets), gradient, **CLOSE)


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5), (2, 1, 3, 5)])
def test_any_leading_axes(shape):
    logits, targets = case(shape)
    torch.testing.assert_close(cross_entropy(logits, targets), theirs(logits, targets), **CLOSE)
    assert cross_entropy_backward(logits, targets).shape == shape


def test_constant_added_to_a_position_changes_nothing():
    logits, targets = case((2, 3, 5))
    moved = logits + torch.tensor([[[1.0], [-2.0], [3.0]]])
    torch.testing.assert_close(cross_entropy(moved, targets), cross_entropy(logits, targets), **CLOSE)


def test_large_logits_neither_overflow_nor_underflow_in_float32():
    large = torch.tensor([[1000.0, 0.0]])
    assert cross_entropy(large, torch.tensor([0])).item() == 0.0
    assert cross_entropy(large, torch.tensor([1])).item() == 1000.0
    torch.testing.assert_close(cross_entropy_backward(large, torch.tensor([1])), torch.tensor([[1.0, -1.0]]))
    mixed = torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0]])
    assert cross_entropy(mixed, torch.tensor([0, 0])).item() == pytest.approx(math.log1p(math.exp(-1)), abs=1e-6)
    assert cross_entropy(torch.tensor([[0.0, -math.inf]]), torch.tensor([0])).item() == 0.0


def test_gradient_passes_gradcheck_and_adds_up_to_zero():
    logits, targets = case((2, 3, 4))
    assert torch.autograd.gradcheck(lambda x: cross_entropy(x, targets), logits.requires_grad_())
    gradient = cross_entropy_backward(logits.detach(), targets)
    torch.testing.assert_close(gradient.sum(dim=-1), torch.zeros(2, 3, dtype=torch.float64), **CLOSE)
    torch.testing.assert_close(
        cross_entropy_backward(BY_HAND, torch.tensor([0, 1])) * 8, torch.tensor([[-3.0, 3.0], [1.0, -1.0]]).double()
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_stays_and_arguments_are_left_alone(dtype):
    logits, targets = case((2, 3, 4))
    logits, targets = logits.to(dtype), targets.to(torch.int32)
    before = logits.clone(), targets.clone()
    assert cross_entropy(logits, targets).dtype == cross_entropy_backward(logits, targets).dtype == dtype
    assert torch.equal(logits, before[0])
    assert torch.equal(targets, before[1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_loss_and_gradient_are_in_float32_under_autocast_as_torchs(dtype):
    logits, targets = case((40, 512))
    logits = logits.to(dtype)
    with torch.autocast("cpu", dtype=dtype):
        found, gradient, expected = cross_entropy(logits, targets), cross_entropy_backward(logits, targets), theirs(logits, targets)
    assert found.dtype == gradient.dtype == expected.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-6)
    truth, slope = cross_entropy(logits.double(), targets), cross_entropy_backward(logits.double(), targets)
    assert (found - truth).abs() < 1e-6 < (cross_entropy(logits, targets) - truth).abs()  # what is lost without
    torch.testing.assert_close(gradient.double(), slope, rtol=0.0, atol=1e-8)


def test_a_loss_is_trained_in_float32_under_autocast():
    head, (hidden, targets) = torch.nn.Linear(8, 16), case((5, 8))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = head(hidden.float())
        loss = cross_entropy(logits, targets)
    loss.backward()
    assert (logits.dtype, loss.dtype, head.weight.grad.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    logits, targets = case((5, 16))  # float64 stays: it is not autocast's to shorten
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert cross_entropy(logits, targets).dtype == torch.float64


@pytest.mark.parametrize("function", [cross_entropy, cross_entropy_backward])
@pytest.mark.parametrize(
    ("logits", "targets", "words"),
    [
        (torch.zeros(2, 3, 4), torch.full((2, 3), 4), "targets from 4 to 4"),
        (torch.zeros(2, 3, 4), torch.full((2, 3), -1), "targets from -1 to -1"),
        (torch.zeros(2, 3, 4), torch.zeros(3, 2).long(), "shape of logits without the last axis"),
        (torch.zeros(2, 4, 3), torch.zeros(2, 3).long(), "shape of logits without the last axis"),
        (torch.zeros(2, 3, 4), torch.zeros(2, 3), "integer tensor of ids"),
        (torch.zeros(2, 3, 4), torch.zeros(2, 3).bool(), "integer tensor of ids"),
        (torch.zeros(2, 3, 4), [[0, 1, 2]] * 2, "integer tensor of ids"),
        (torch.zeros(2, 3, 4).long(), torch.zeros(2, 3).long(), "floating-point"),
        (torch.zeros(2, 0, 4), torch.zeros(2, 0).long(), "not empty"),
        ((torch.zeros(2, 3, 4), None), torch.zeros(2, 3).long(), "first of the two values"),
    ],
)
def test_errors_say_what_was_expected_and_what_came(function, logits, targets, words):
    with pytest.raises(ValueError, match=words):
        function(logits, targets)
