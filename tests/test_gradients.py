"""Chapter 06: backward passes by hand, against autograd, by hand-computed numbers and by properties."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from hero_transformer import doubles
from hero_transformer import gradients as gradients_module
from hero_transformer.attention import CausalSelfAttention
from hero_transformer.config import Config
from hero_transformer.exercise import BarredAnswer, barred_answers, replaced_by, replaces
from hero_transformer.gradients import (
    attention_backward,
    block_backward,
    finite_difference,
    gelu_backward,
    layer_norm_backward,
    linear_backward,
    residual_backward,
    softmax_backward,
)
from hero_transformer.model import TransformerBlock, TransformerLM

CLOSE = {"rtol": 0.0, "atol": 1e-10}
normal = doubles.numbers
STAND_INS = ["linear_backward", "gelu_backward", "layer_norm_backward", "residual_backward", "attention_backward"]


def vector(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def autograd_of(function, leaves, upstream):
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    return torch.autograd.grad(function(*leaves), leaves, upstream)


# Finite differences.


def test_finite_difference_of_a_length():
    torch.testing.assert_close(finite_difference(torch.norm, vector(3, 4)), vector(0.6, 0.8), rtol=0, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.floats(-3, 3), st.sampled_from([0.5, 0.1, 0.01]))
def test_finite_difference_of_a_cube_is_off_by_the_square_of_the_step(x, step):
    slope = finite_difference(doubles.cubes, vector(x), step)
    torch.testing.assert_close(slope, vector(3 * x * x + step * step), rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 1, 3)])
def test_finite_difference_has_the_shape_of_x_and_leaves_it(shape):
    x = normal(*shape, seed=0)
    before = x.clone()
    (expected,) = autograd_of(doubles.slanted_sines, [x], None)
    torch.testing.assert_close(finite_difference(doubles.slanted_sines, x), expected, rtol=0, atol=1e-8)
    assert torch.equal(x, before)


def test_finite_difference_of_a_transposed_and_of_an_empty_tensor():
    x = normal(3, 2, seed=1).T
    (expected,) = autograd_of(doubles.slanted_sines, [x], None)
    torch.testing.assert_close(finite_difference(doubles.slanted_sines, x), expected, rtol=0, atol=1e-8)
    assert finite_difference(doubles.cubes, torch.zeros(0, 3)).shape == (0, 3)


# The parts.


def test_linear_backward_by_hand():
    x, weight, upstream = vector(1, 2), vector(1, 0, 3, 1).reshape(2, 2), vector(1, 10)
    grad_x, grad_weight, grad_bias = linear_backward(upstream, x, weight)
    assert grad_x.tolist() == [31, 10]
    assert grad_weight.tolist() == [[1, 2], [10, 20]]
    assert grad_bias.tolist() == [1, 10]


@pytest.mark.parametrize("leading", [(), (1,), (2, 3), (2, 3, 2)])
def test_linear_backward_is_autograd(leading):
    x, weight, bias = normal(*leading, 4, seed=2), normal(5, 4, seed=3), normal(5, seed=4)
    upstream = normal(*leading, 5, seed=5)
    for ours, theirs in zip(
        linear_backward(upstream, x, weight), autograd_of(F.linear, [x, weight, bias], upstream), strict=True
    ):
        torch.testing.assert_close(ours, theirs, **CLOSE)


def test_gelu_backward_at_one_and_minus_one():
    slopes = gelu_backward(torch.ones(2, dtype=torch.float64), vector(1, -1))
    torch.testing.assert_close(slopes, vector(1.0833154705876864, -0.0833154705876864), **CLOSE)


@settings(max_examples=50, deadline=None)
@given(st.floats(-30, 30))
def test_gelu_slopes_of_x_and_minus_x_add_up_to_one(x):
    slopes = gelu_backward(torch.ones(2, dtype=torch.float64), vector(x, -x))
    assert slopes.sum().item() == pytest.approx(1, abs=1e-12)


def test_gelu_backward_is_autograd_far_out_too():
    x, upstream = torch.linspace(-40, 40, 801, dtype=torch.float64), normal(801, seed=6)
    torch.testing.assert_close(gelu_backward(upstream, x), autograd_of(F.gelu, [x], upstream)[0], **CLOSE)


def test_layer_norm_backward_by_hand():
    found = layer_norm_backward(vector(1, 0, 0, 0), vector(0, 0, 4, 4), torch.ones(4, dtype=torch.float64), eps=0.0)
    for ours, expected in zip(found, ((0.25, -0.25, 0, 0), (-1, 0, 0, 0), (1, 0, 0, 0)), strict=True):
        torch.testing.assert_close(ours, vector(*expected), **CLOSE)


def test_layer_norm_backward_of_two_features_is_almost_zero():
    grad_x, _, _ = layer_norm_backward(vector(1, 0), vector(1, 3), torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(grad_x, vector(4.999925e-6, -4.999925e-6), rtol=1e-6, atol=0)


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 2)])
@pytest.mark.parametrize("eps", [1e-5, 0.25])
def test_layer_norm_backward_is_autograd(leading, eps):
    x, upstream, weight, bias = (
        normal(*leading, 5, seed=7),
        normal(*leading, 5, seed=8),
        normal(5, seed=9),
        normal(5, seed=10),
    )
    theirs = autograd_of(lambda x, w, b: F.layer_norm(x, (5,), w, b, eps), [x, weight, bias], upstream)
    for ours, expected in zip(layer_norm_backward(upstream, x, weight, eps), theirs, strict=True):
        torch.testing.assert_close(ours, expected, **CLOSE)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_layer_norm_backward_adds_up_to_zero_and_is_zero_for_equal_upstreams(seed, d):
    x, ones = normal(3, d, seed=seed), torch.ones(d, dtype=torch.float64)
    grad_x, _, _ = layer_norm_backward(normal(3, d, seed=seed + 1), x, ones)
    assert (grad_x.sum(dim=-1).abs() <= 1e-11 * (1 + grad_x.abs().amax(dim=-1))).all()
    assert layer_norm_backward(torch.ones_like(x), x, ones)[0].abs().max() < 1e-9


def test_layer_norm_backward_of_equal_features_is_finite():
    grad_x, _, _ = layer_norm_backward(vector(1, 0, 0, 0), torch.full((4,), 2.0, dtype=torch.float64), vector(1, 1, 1, 1))
    torch.testing.assert_close(grad_x, vector(0.75, -0.25, -0.25, -0.25) / math.sqrt(1e-5), **CLOSE)


def test_residual_backward_adds_and_changes_nothing():
    upstream, branch = vector(1, 2), vector(10, -2)
    assert residual_backward(upstream, branch).tolist() == [11, 0]
    assert (upstream.tolist(), branch.tolist()) == ([1, 2], [10, -2])


def test_softmax_backward_by_hand_and_by_autograd():
    torch.testing.assert_close(softmax_backward(vector(1, 0), vector(0.25, 0.75)), vector(0.1875, -0.1875), **CLOSE)
    scores, upstream = normal(2, 3, 4, seed=11), normal(2, 3, 4, seed=12)
    scores[..., 2] = -math.inf
    (expected,) = autograd_of(lambda s: torch.softmax(s, dim=-1), [scores], upstream)
    found = softmax_backward(upstream, torch.softmax(scores, dim=-1))
    torch.testing.assert_close(found, expected, **CLOSE)
    assert not found[..., 2].any()


# Attention and the block.


@pytest.mark.parametrize("h", [1, 2, 3, 6])
@pytest.mark.parametrize("T", [1, 2, 5])
def test_attention_backward_is_autograd(h, T):
    attention = doubles.filled(CausalSelfAttention(Config(10, 6, 6, h, 1, 8)), seed=13)
    x, upstream = normal(2, T, 6, seed=14), normal(2, T, 6, seed=15)
    leaf = x.clone().requires_grad_()
    expected = torch.autograd.grad(attention(leaf)[0], [leaf, *attention.parameters()], upstream)
    grad_hidden, grads = attention_backward(upstream, attention, x)
    assert not grad_hidden.requires_grad
    torch.testing.assert_close(grad_hidden, expected[0], **CLOSE)
    for (name, _), theirs in zip(attention.named_parameters(), expected[1:], strict=True):
        torch.testing.assert_close(grads[name], theirs, **CLOSE)


def test_attention_backward_sends_nothing_to_later_positions():
    attention, upstream = doubles.filled(CausalSelfAttention(Config(10, 6, 4, 2, 1, 8)), seed=16), torch.zeros(1, 5, 4)
    upstream[:, 2] = 1
    grad_hidden, _ = attention_backward(upstream.double(), attention, normal(1, 5, 4, seed=17))
    assert grad_hidden[0].any(dim=-1).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize(("d", "h", "f", "T"), [(4, 2, 8, 3), (6, 3, 5, 1), (6, 1, 10, 6)])
def test_block_backward_is_autograd(d, h, f, T):
    block = doubles.filled(TransformerBlock(Config(10, 6, d, h, 1, f)), seed=18)
    block.ln_attention.eps, block.ln_feedforward.eps = 0.1, 0.3
    x, upstream = normal(2, T, d, seed=19), normal(2, T, d, seed=20)
    leaf = x.clone().requires_grad_()
    expected = torch.autograd.grad(block(leaf)[0], [leaf, *block.parameters()], upstream)
    grad_hidden, grads = block_backward(upstream, block, x)
    torch.testing.assert_close(grad_hidden, expected[0], **CLOSE)
    assert sorted(grads) == sorted(name for name, _ in block.named_parameters())
    for (name, _), theirs in zip(block.named_parameters(), expected[1:], strict=True):
        torch.testing.assert_close(grads[name], theirs, **CLOSE)


def test_block_backward_is_the_gradient_of_torchs_own_layer():
    block = doubles.filled(TransformerBlock(Config(10, 6, 6, 2, 1, 8)), seed=21)
    x, upstream = normal(2, 5, 6, seed=22), normal(2, 5, 6, seed=23)
    layer = doubles.torch_layer(block)
    (expected,) = autograd_of(lambda x: layer(x, src_mask=doubles.causal(5)), [x], upstream)
    torch.testing.assert_close(block_backward(upstream, block, x)[0], expected, **CLOSE)


def test_block_backward_with_zero_branches_returns_the_upstream():
    block = doubles.silenced(doubles.filled(TransformerBlock(Config(10, 6, 4, 2, 1, 8)), seed=24))
    upstream = normal(2, 3, 4, seed=25)
    assert torch.equal(block_backward(upstream, block, normal(2, 3, 4, seed=26))[0], upstream)


def test_backward_passes_are_linear_in_the_upstream_and_change_nothing():
    block = doubles.filled(TransformerBlock(Config(10, 6, 4, 2, 1, 8)), seed=27)
    x, one, other = (normal(2, 3, 4, seed=seed) for seed in (28, 29, 30))
    before = [x.clone(), one.clone()]
    both = block_backward(one + 2 * other, block, x)[0]
    apart = block_backward(one, block, x)[0] + 2 * block_backward(other, block, x)[0]
    torch.testing.assert_close(both, apart, **CLOSE)
    assert torch.equal(x, before[0])
    assert torch.equal(one, before[1])


def test_stand_ins_agree_with_the_package():
    x, upstream, weight = normal(2, 3, 6, seed=31), normal(2, 3, 6, seed=32), normal(6, seed=33)
    attention = doubles.filled(CausalSelfAttention(Config(10, 6, 6, 3, 1, 8)), seed=34)
    arguments = {
        "linear_backward": (normal(2, 3, 5, seed=35), x, normal(5, 6, seed=36)),
        "gelu_backward": (upstream, x),
        "layer_norm_backward": (upstream, x, weight, 0.2),
        "residual_backward": (upstream, x),
        "attention_backward": (upstream, attention, x),
    }
    for name in STAND_INS:
        ours, theirs = getattr(gradients_module, name)(*arguments[name]), getattr(doubles, name)(*arguments[name])
        torch.testing.assert_close(theirs, ours, **CLOSE)


# What is refused.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: finite_difference(torch.norm, torch.tensor([1, 2])), "x must be a floating-point tensor"),
        (lambda: finite_difference(torch.norm, torch.ones(2), 0.0), "step = 0.0 must be a number, positive"),
        (lambda: finite_difference(torch.norm, torch.ones(2), math.nan), "step = nan must be a number, positive"),
        (lambda: finite_difference(torch.norm, torch.ones(2), "x"), "step = 'x' must be a number"),
        (lambda: finite_difference(None, torch.ones(2)), "function must be a function; received NoneType"),
        (lambda: linear_backward(torch.ones(2, 5), torch.ones(2, 4).double(), torch.ones(5, 4)), "one dtype"),
        (lambda: gelu_backward(torch.ones(2).double(), torch.ones(2)), "upstream and x must have one dtype"),
        (lambda: softmax_backward(torch.ones(2).double(), torch.ones(2)), "upstream and weights must have one dtype"),
        (lambda: layer_norm_backward(torch.ones(2, 4), torch.ones(2, 4), torch.ones(4).long()), "weight must be floating"),
        (lambda: layer_norm_backward(torch.ones(2, 4), torch.ones(2, 4), torch.ones(4), -1), "eps = -1 must be"),
        (lambda: layer_norm_backward(torch.ones(2, 4), torch.ones(2, 4), torch.ones(4), None), "eps = None must be"),
        (lambda: layer_norm_backward(torch.ones(2, 0), torch.ones(2, 0), torch.ones(0)), "^x must .*no empty axis"),
        (lambda: linear_backward(torch.ones(2, 5), torch.ones(3, 4), torch.ones(5, 4)), "agree on out, in"),
        (lambda: linear_backward(torch.ones(2, 5), torch.ones(2, 4), torch.ones(4, 5)), "agree on out, in"),
        (lambda: linear_backward(torch.ones(2, 5), torch.ones(2, 4), torch.ones(5)), "agree on out, in"),
        (lambda: gelu_backward(torch.ones(2), torch.ones(2, 2)), "tensors of one shape"),
        (lambda: layer_norm_backward(torch.ones(2, 4), torch.ones(2, 4), torch.ones(3)), "^x must be .* d = 3"),
        (
            lambda: layer_norm_backward(torch.ones(2, 4), torch.ones(2, 4), torch.ones(1, 4)),
            r"weight must be a tensor \[d\]",
        ),
        (lambda: layer_norm_backward(torch.ones(4), torch.ones(2, 4), torch.ones(4)), "tensors of one shape"),
        (lambda: residual_backward(torch.ones(2, 1, 4), torch.ones(2, 3, 4)), "tensors of one shape"),
        (lambda: softmax_backward(torch.ones(2), [1.0, 0.0]), "tensors of one shape"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("backward", "module"), [(attention_backward, CausalSelfAttention), (block_backward, TransformerBlock)]
)
def test_shapes_and_dropout_are_refused(backward, module):
    layer = module(Config(10, 6, 4, 2, 1, 8, dropout=0.5))
    with pytest.raises(ValueError, match="dropout must be off"):
        backward(torch.ones(2, 3, 4), layer, torch.ones(2, 3, 4))
    backward(torch.ones(2, 3, 4), layer.eval(), torch.ones(2, 3, 4))
    with pytest.raises(ValueError, match="three axes"):
        backward(torch.ones(3, 4), layer, torch.ones(3, 4))
    with pytest.raises(ValueError, match="tensors of one shape"):
        backward(torch.ones(2, 1, 4), layer, torch.ones(2, 3, 4))


MODEL = TransformerLM(Config(10, 6, 4, 2, 1, 8))


@pytest.mark.parametrize(
    ("backward", "module", "message"),
    [
        (attention_backward, MODEL.blocks[0], "attention must be a CausalSelfAttention; received TransformerBlock.*block.attention"),
        (attention_backward, None, "attention must be a CausalSelfAttention; received NoneType"),
        (attention_backward, torch.ones(2, 3, 4), "attention must be a CausalSelfAttention; received torch.float32"),
        (block_backward, MODEL.blocks[0].attention, "block must be a TransformerBlock; received CausalSelfAttention"),
        (block_backward, MODEL, "block must be a TransformerBlock; received TransformerLM, .*one of model.blocks"),
    ],
)
def test_another_module_is_refused(backward, module, message):
    with pytest.raises(ValueError, match=message):
        backward(torch.ones(2, 3, 4), module, torch.ones(2, 3, 4))


def test_dtypes_of_a_module_and_its_tensors_must_agree_but_under_autocast():
    block = MODEL.blocks[0]
    for backward, module in ((attention_backward, block.attention), (block_backward, block)):
        with pytest.raises(ValueError, match=r"hidden must have the dtype of the weights, torch.float32; .*hidden.to"):
            backward(torch.ones(2, 3, 4).double(), module, torch.ones(2, 3, 4).double())
        with pytest.raises(ValueError, match="upstream and hidden must have one dtype"):
            backward(torch.ones(2, 3, 4).double(), module, torch.ones(2, 3, 4))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            grad_hidden, _ = backward(torch.ones(2, 3, 4), module, torch.ones(2, 3, 4))
        assert grad_hidden.isfinite().all()


# Autograd is the answer itself.


def by_grad(upstream, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(F.gelu(x), x, upstream)[0]


def by_backward(upstream, x):
    x = x.clone().requires_grad_()
    F.gelu(x).backward(upstream)
    return x.grad


def by_forward_mode(upstream, x):
    return torch.func.jvp(F.gelu, (x,), (upstream,))[1]


def by_vjp(upstream, x):
    return torch.func.vjp(F.gelu, x)[1](upstream)[0]


def by_functional(upstream, x):
    return torch.autograd.functional.vjp(F.gelu, x, upstream)[1]


def by_aten(upstream, x):
    return torch.ops.aten.gelu_backward(upstream, x)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch's own, in forward mode
@pytest.mark.parametrize("answer", [by_grad, by_backward, by_forward_mode, by_vjp, by_functional, by_aten])
def test_autograd_is_refused_as_an_answer(answer, monkeypatch):
    monkeypatch.setattr(gradients_module, "gelu_backward", gelu_backward)
    answer.__name__ = "gelu_backward"
    replaces(gradients_module)(answer)
    x, upstream = vector(1, -1), vector(2, 3)
    torch.testing.assert_close(gradients_module.gelu_backward(upstream, x), gelu_backward(upstream, x), **CLOSE)
    with barred_answers(replaced_by(gradients_module.gelu_backward)), pytest.raises(BarredAnswer):
        gradients_module.gelu_backward(upstream, x)
