"""Chapters 05 and 07: block and language model, against torch, the seed and the ledger."""

import copy
import inspect
import math
import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

import hero_transformer
from hero_transformer import model as module
from hero_transformer.model import (
    Config,
    FeedForward,
    LayerNorm,
    TransformerBlock,
    TransformerLM,
    gelu,
    parameter_count,
)

ROOT = Path(__file__).resolve().parents[1]
CLOSE = {"rtol": 0.0, "atol": 1e-12}
SMALL = Config(vocab_size=10, block_size=12, d_model=4, n_heads=2, n_layers=2, d_ff=8)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def randomised(part: nn.Module) -> nn.Module:
    """In float64, with every parameter drawn anew: no default value can hide a mistake."""
    part = part.double()
    for number, parameter in enumerate(part.parameters()):
        parameter.data = normal(*parameter.shape, seed=1000 + number)
    return part


def double(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def registered(part: nn.Module) -> int:
    return sum(parameter.numel() for parameter in part.parameters())


# LayerNorm


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (2, 1, 3, 5)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_layer_norm_equals_torch(shape, scale):
    norm, hidden = randomised(LayerNorm(5)), scale * normal(*shape) + scale
    oracle = functional.layer_norm(hidden, (5,), norm.weight, norm.bias, eps=1e-5)
    torch.testing.assert_close(norm(hidden), oracle, **CLOSE)


def test_layer_norm_exchanges_state_with_torch():
    norm, oracle = randomised(LayerNorm(5)), nn.LayerNorm(5, dtype=torch.float64)
    oracle.load_state_dict(norm.state_dict())
    torch.testing.assert_close(norm(normal(2, 5)), oracle(normal(2, 5)), **CLOSE)
    LayerNorm(5).load_state_dict(oracle.state_dict())


def test_layer_norm_starts_at_one_and_zero():
    norm = LayerNorm(3)
    assert (norm.weight.tolist(), norm.bias.tolist(), norm.eps) == ([1, 1, 1], [0, 0, 0], 1e-5)


def test_layer_norm_puts_epsilon_inside_the_root():
    # (1e-3)^2 / (1e-6 + 1e-5) = 1 / 11
    expected = (1 / 11) ** 0.5
    assert round(expected, 6) == 0.301511
    actual = LayerNorm(2).double()(double(0.001, 0.003))
    torch.testing.assert_close(actual, double(-expected, expected), **CLOSE)


def test_layer_norm_of_a_constant_vector_is_the_bias():
    norm = randomised(LayerNorm(2))
    assert torch.equal(norm(double(2, 2)), norm.bias)
    assert LayerNorm(2, eps=0.0).double()(double(2, 2)).isnan().all()


@pytest.mark.parametrize(("v", "expected"), [(1.0, 1 / 1.00001), (1e-5, 0.5), (0.0, 0.0)])
def test_layer_norm_variance_is_v_over_v_plus_epsilon(v, expected):
    z = LayerNorm(2).double()(double(-(v**0.5), v**0.5))
    torch.testing.assert_close(z.mean(), double(0.0)[0], **CLOSE)
    torch.testing.assert_close(z.var(correction=0), double(expected)[0], **CLOSE)


def test_layer_norm_is_blind_to_a_shift_in_float32_too():
    # one-pass E[x^2] - mean^2 has variance 0 here in float32
    norm = LayerNorm(2)
    assert torch.equal(norm(torch.tensor([10001.0, 10003.0])), norm(torch.tensor([1.0, 3.0])))


def test_layer_norm_of_a_constant_vector_is_its_bias_as_far_as_the_mean_is_exact():
    """One last digit of the mean, 2^-10 here, times 1 / sqrt(v + eps) with v = 2^-20, its square."""
    far = torch.full((3,), 15364.4)
    assert (far - far.mean()).tolist() == [-(2.0**-10)] * 3
    expected = -(2.0**-10) / math.sqrt(2.0**-20 + 1e-5)  # -0.2951
    assert LayerNorm(3)(far).tolist() == pytest.approx([expected] * 3, abs=1e-6)
    assert LayerNorm(3).double()(far.double()).tolist() == [0.0] * 3
    for near in (2.0, 12345.0, -1.0):  # whose sums are exact
        assert LayerNorm(3)(torch.full((3,), near)).tolist() == [0.0] * 3
    for number in torch.rand(200, generator=torch.Generator().manual_seed(0)) * 2 - 1:
        assert LayerNorm(12)(number.expand(12)).abs().max() < 2e-4  # a few last digits


def test_layer_norm_gradient_passes_gradcheck():
    norm = randomised(LayerNorm(5))
    assert torch.autograd.gradcheck(norm, normal(2, 3, 5).requires_grad_())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_parts_keep_dtype(dtype):
    hidden = normal(2, 3, 4).to(dtype)
    parts = (LayerNorm(4), FeedForward(SMALL), gelu)
    outs = [
        part.to(dtype)(hidden) if isinstance(part, nn.Module) else part(hidden) for part in parts
    ]
    block_out, present = TransformerBlock(SMALL).to(dtype)(hidden, use_cache=True)
    logits, _ = TransformerLM(SMALL).to(dtype)(torch.tensor([[1, 2]]))
    assert {out.dtype for out in (*outs, block_out, *present, logits)} == {dtype}


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        (torch.zeros(2, 3, 1), r"d = 4.*shape \[2, 3, 1\].*last axis"),
        (torch.zeros(4, 3), "last axis"),
        (torch.tensor(1.0), r"shape \[\]"),
        (torch.zeros(2, 4, dtype=torch.int64), "floating-point.*int64.*embeddings"),
        (torch.zeros(2, 4, dtype=torch.float64), "dtype of the weights, torch.float32"),
        ([1.0, 2.0, 3.0, 4.0], "received list"),
    ],
)
def test_layer_norm_refuses_another_input(hidden, words):
    with pytest.raises(ValueError, match=words):
        LayerNorm(4)(hidden)
    with pytest.raises(ValueError, match=words):
        LayerNorm(4)(hidden=hidden)


def test_layer_norm_refuses_bad_sizes():
    with pytest.raises(ValueError, match="d_model = 0 must be a positive int"):
        LayerNorm(0)
    for eps in (-1e-5, float("nan"), float("inf"), True, "x", None):
        with pytest.raises(ValueError, match=r"eps = .*pass 1e-5"):
            LayerNorm(4, eps=eps)


# gelu and FeedForward


def test_gelu_equals_torch_and_not_its_tanh_form():
    x = torch.linspace(-10, 10, 2001, dtype=torch.float64)
    torch.testing.assert_close(gelu(x), functional.gelu(x), **CLOSE)
    torch.testing.assert_close(gelu(x) - gelu(-x), x, **CLOSE)
    widest = double(2.6989413)  # where the tanh form is furthest off; 5 digits of it are known
    difference = gelu(widest) - functional.gelu(widest, approximate="tanh")
    assert abs(difference).item() == pytest.approx(4.7324e-4, abs=5e-9)
    assert gelu(double(-1.0)).item() == pytest.approx(-0.158655254, abs=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_gelu_keeps_any_shape_and_the_input(shape):
    x = normal(*shape) if shape else double(1.5)[0]
    before = x.clone()
    assert gelu(x).shape == x.shape
    assert torch.equal(x, before)


def test_feedforward_equals_torch():
    feedforward, hidden = randomised(FeedForward(SMALL)), normal(2, 3, 4)
    inner = functional.gelu(
        functional.linear(hidden, feedforward.linear_1.weight, feedforward.linear_1.bias)
    )
    oracle = functional.linear(inner, feedforward.linear_2.weight, feedforward.linear_2.bias)
    torch.testing.assert_close(feedforward(hidden), oracle, **CLOSE)
    assert feedforward.linear_1.weight.shape == (8, 4)
    assert feedforward.linear_2.weight.shape == (4, 8)


def test_feedforward_treats_positions_separately():
    feedforward, hidden = randomised(FeedForward(SMALL)), normal(2, 5, 4)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(
        feedforward(hidden[:, order]), feedforward(hidden)[:, order], **CLOSE
    )


def test_feedforward_drops_its_output_last():
    feedforward = randomised(FeedForward(Config(10, 12, 4, 2, 2, 8, dropout=0.5)))
    out, kept = feedforward(normal(2, 5, 4)), feedforward.eval()(normal(2, 5, 4))
    dropped = out == 0
    assert 0 < dropped.sum() < dropped.numel()
    torch.testing.assert_close(out[~dropped], 2 * kept[~dropped], **CLOSE)


# TransformerBlock


def seed_block() -> TransformerBlock:
    """The seed's example 1: no attention, W1 the identity, W2 half of it, biases 0."""
    block = TransformerBlock(Config(10, 6, 2, 1, 1, 2)).double()
    block.attention.output.weight.data.zero_()
    block.feedforward.linear_1.weight.data = torch.eye(2, dtype=torch.float64)
    block.feedforward.linear_2.weight.data = 0.5 * torch.eye(2, dtype=torch.float64)
    block.feedforward.linear_1.bias.data.zero_()
    block.feedforward.linear_2.bias.data.zero_()
    return block


def test_block_gives_the_numbers_of_the_seed():
    out, present = seed_block()(double(1, 3)[None, None])
    assert present is None
    # the seed gives 7 digits
    torch.testing.assert_close(out.flatten(), double(0.9206722, 3.4206697), rtol=0, atol=5e-8)
    increment = out.flatten() - double(1, 3)
    torch.testing.assert_close(increment[1] - increment[0], double(0.5 / 1.00001**0.5)[0], **CLOSE)
    assert out.mean().item() == pytest.approx(2.1706709, abs=5e-8)


@pytest.mark.parametrize(("d", "h", "f"), [(4, 2, 8), (4, 1, 8), (6, 3, 5), (8, 8, 3)])
@pytest.mark.parametrize("T", [1, 3, 5])
def test_block_equals_torch_encoder_layer(d, h, f, T):
    block = randomised(TransformerBlock(Config(10, 12, d, h, 1, f)))
    oracle = nn.TransformerEncoderLayer(
        d, h, f, 0.0, "gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    a = block.attention
    oracle.self_attn.in_proj_weight.data = torch.cat([a.query.weight, a.key.weight, a.value.weight])
    oracle.self_attn.in_proj_bias.data.zero_()
    oracle.self_attn.out_proj.weight.data = a.output.weight.data
    oracle.self_attn.out_proj.bias.data.zero_()
    oracle.norm1.load_state_dict(block.ln_attention.state_dict())
    oracle.norm2.load_state_dict(block.ln_feedforward.state_dict())
    oracle.linear1.load_state_dict(block.feedforward.linear_1.state_dict())
    oracle.linear2.load_state_dict(block.feedforward.linear_2.state_dict())
    hidden = normal(2, T, d)
    forbidden = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    torch.testing.assert_close(block(hidden)[0], oracle(hidden, src_mask=forbidden), **CLOSE)


def test_block_with_zero_branches_is_the_identity():
    block = randomised(TransformerBlock(SMALL))
    block.attention.output.weight.data.zero_()
    block.feedforward.linear_2.weight.data.zero_()
    block.feedforward.linear_2.bias.data.zero_()
    hidden = normal(2, 3, 4)
    assert torch.equal(block(hidden)[0], hidden)


def test_block_second_branch_reads_the_stream_after_attention():
    block, hidden = randomised(TransformerBlock(SMALL)), normal(2, 3, 4)
    attended = block.attention(block.ln_attention(hidden))[0]
    reads_input = hidden + attended + block.feedforward(block.ln_feedforward(hidden))
    assert (block(hidden)[0] - reads_input).abs().max() > 0.01


def test_block_does_not_let_the_future_in():
    block, hidden = randomised(TransformerBlock(SMALL)), normal(2, 5, 4)
    changed = hidden.clone()
    changed[:, 3:] = normal(2, 2, 4, seed=9)
    before, after = block(hidden)[0], block(changed)[0]
    torch.testing.assert_close(after[:, :3], before[:, :3], **CLOSE)
    assert (after[:, 3:] - before[:, 3:]).abs().amax(dim=-1).min() > 1e-3


def test_block_leaves_hidden_alone_and_hands_the_cache_on():
    block, hidden = randomised(TransformerBlock(SMALL)), normal(2, 5, 4)
    before = hidden.clone()
    whole, nothing = block(hidden)
    first, past = block(hidden[:, :2], None, True)
    second, present = block(hidden[:, 2:], past_key_value=past, use_cache=True)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole, **CLOSE)
    assert nothing is None
    assert present[0].shape == (2, 2, 5, 2)
    assert torch.equal(hidden, before)


def test_block_jacobian_is_identity_plus_branch():
    block, hidden = randomised(TransformerBlock(SMALL)), normal(1, 2, 4)
    jacobian = torch.autograd.functional.jacobian(lambda x: block(x)[0], hidden).reshape(8, 8)

    def branches(x):
        return block(x)[0] - x

    branch = torch.autograd.functional.jacobian(branches, hidden).reshape(8, 8)
    torch.testing.assert_close(jacobian, torch.eye(8, dtype=torch.float64) + branch, **CLOSE)


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        (torch.zeros(3, 4), r"three axes \[B, T, d\]"),
        (torch.zeros(2, 3, 1), "last axis"),
        (torch.zeros(2, 3, 4, dtype=torch.int64), "floating-point"),
        (torch.zeros(2, 3, 4, dtype=torch.float64), "dtype of the weights"),
        (torch.zeros(0, 3, 4), "no empty axis"),
    ],
)
@pytest.mark.parametrize("part", [TransformerBlock, FeedForward])
def test_block_and_feedforward_refuse_another_input(part, hidden, words):
    with pytest.raises(ValueError, match=words):
        part(SMALL)(hidden)
    with pytest.raises(ValueError, match=words):
        part(SMALL)(hidden=hidden)


def test_block_refuses_another_past():
    with pytest.raises(ValueError, match=r"past_key_value must hold .*\[2, 2, past, 2\]"):
        TransformerBlock(SMALL)(torch.zeros(2, 1, 4), (torch.zeros(2, 2, 3, 4),) * 2)


# The course replaces parts by name, and rewrites bodies.


def test_parts_are_looked_up_by_name_when_they_are_needed(monkeypatch):
    feedforward, hidden = randomised(FeedForward(SMALL)), normal(1, 2, 4)
    monkeypatch.setattr(module, "gelu", torch.zeros_like)
    assert torch.equal(feedforward(hidden), feedforward.linear_2.bias.expand(1, 2, 4))
    for name, stand_in in (
        ("LayerNorm", nn.LayerNorm),
        ("FeedForward", lambda config: nn.Identity()),
        ("CausalSelfAttention", lambda config: nn.Identity()),
    ):
        monkeypatch.setattr(module, name, stand_in)
    block = TransformerBlock(SMALL)
    assert type(block.ln_attention) is nn.LayerNorm
    assert type(block.feedforward) is type(block.attention) is nn.Identity
    monkeypatch.setattr(module, "TransformerBlock", lambda config: nn.Identity())
    assert type(TransformerLM(SMALL).blocks[0]) is nn.Identity


def test_checks_stay_when_a_body_is_rewritten(monkeypatch):
    monkeypatch.setattr(TransformerBlock, "forward", lambda self, hidden: (hidden, None))
    monkeypatch.setattr(LayerNorm, "forward", lambda self, hidden: hidden)
    for part in (TransformerBlock(SMALL), LayerNorm(4)):
        with pytest.raises(ValueError, match="last axis"):
            part(torch.zeros(2, 3, 1))


@pytest.mark.parametrize("function", [gelu, TransformerBlock.forward])
def test_solution_region_is_the_whole_body(function):
    source = inspect.getsource(function)
    after_docstring = source.rsplit('"""', 1)[1].strip().splitlines()
    assert after_docstring[0].strip() == "### BEGIN SOLUTION"
    assert after_docstring[-1].strip() == "### END SOLUTION"


# TransformerLM


def ids_of(T: int = 6, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 10, (2, T), generator=torch.Generator().manual_seed(seed))


def test_model_is_the_sum_of_its_parts():
    model, ids = randomised(TransformerLM(SMALL)), ids_of()
    hidden = model.token_embedding.weight[ids] + model.position_embedding.weight[:6]
    for block in model.blocks:
        hidden, _ = block(hidden)
    final = model.ln_final
    hidden = functional.layer_norm(hidden, (4,), final.weight, final.bias)
    logits, presents = model(ids)
    torch.testing.assert_close(logits, hidden @ model.head.weight.T, **CLOSE)
    assert presents is None
    assert logits.shape == (2, 6, 10)


@pytest.mark.parametrize("chunks", [(6,), (1, 5), (2, 3, 1), (1, 1, 1, 1, 1, 1)])
def test_model_cached_equals_uncached(chunks):
    model, ids = randomised(TransformerLM(SMALL)), ids_of()
    whole, _ = model(ids)
    presents, parts, kept = None, [], []
    for chunk in ids.split(chunks, dim=1):
        part, presents = model(chunk, presents, use_cache=True)
        parts.append(part)
        kept.append([(pair, [tensor.clone() for tensor in pair]) for pair in presents])
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, **CLOSE)
    assert [tuple(key.shape) for key, _ in presents] == [(2, 2, 6, 2)] * 2
    for pair, copies in (entry for step in kept for entry in step):
        assert all(torch.equal(new, old) for new, old in zip(pair, copies, strict=True))


def test_model_does_not_change_the_list_of_pasts():
    model = randomised(TransformerLM(SMALL))
    _, presents = model(ids_of(3), use_cache=True)
    before = list(presents)
    model(ids_of(2), presents, use_cache=True)
    assert all(new is old for new, old in zip(presents, before, strict=True))


def test_model_does_not_let_the_future_in():
    model, ids = randomised(TransformerLM(SMALL)), ids_of()
    changed = ids.clone()
    changed[:, 4:] = (ids[:, 4:] + torch.tensor([[3, 5], [7, 1]])) % 10
    before, after = model(ids)[0], model(changed)[0]
    torch.testing.assert_close(after[:, :4], before[:, :4], **CLOSE)
    assert (after[:, 4:] - before[:, 4:]).abs().amax(dim=-1).min() > 1e-3


def test_model_with_dropout_varies_in_training_only():
    model = TransformerLM(Config(10, 12, 4, 2, 2, 8, dropout=0.1))
    assert not torch.equal(model(ids_of())[0], model(ids_of())[0])
    torch.manual_seed(0)
    first = model(ids_of())[0]
    torch.manual_seed(0)
    assert torch.equal(model(ids_of())[0], first)
    model.eval()
    assert torch.equal(model(ids_of())[0], model(ids_of())[0])


def test_model_drops_the_sum_of_the_embeddings():
    model = TransformerLM(Config(10, 12, 4, 2, 2, 8, dropout=0.5))
    seen = []
    model.blocks[0].register_forward_pre_hook(lambda block, args: seen.append(args[0]))
    model(ids_of())
    ids = ids_of()
    total = model.token_embedding.weight[ids] + model.position_embedding.weight[:6]
    kept = seen[0] != 0
    assert 0 < kept.sum() < kept.numel()
    torch.testing.assert_close(seen[0][kept], 2 * total[kept])


def test_model_weights_come_from_the_generator_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = TransformerLM(SMALL)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    again, other = TransformerLM(SMALL), TransformerLM(SMALL, torch.Generator().manual_seed(5))
    for name, weight in first.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
        assert weight.dim() == 1 or not torch.equal(weight, other.state_dict()[name])


def test_model_starts_with_small_matrices_and_zero_biases():
    model = TransformerLM(Config(100, 100, 64, 4, 1, 256))
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            # at least 4096 draws: the standard error is at most 0.02 / sqrt(8192) = 2.2e-4
            assert weight.std().item() == pytest.approx(0.02, abs=1e-3), name
        else:
            start = 1.0 if "ln_" in name and name.endswith("weight") else 0.0
            assert torch.equal(weight, torch.full_like(weight, start)), name


def test_model_gives_every_parameter_a_gradient():
    model = randomised(TransformerLM(SMALL))
    model(ids_of())[0].square().sum().backward()
    unused = [name for name, weight in model.named_parameters() if not weight.grad.any()]
    assert unused == []
    assert not model.position_embedding.weight.grad[6:].any()


def test_model_can_be_copied_and_pickled():
    model = TransformerLM(SMALL)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other(ids_of())[0], model(ids_of())[0])


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (torch.tensor([[0, 10]]), "0 <= id < V = 10; received ids from 0 to 10"),
        (torch.tensor([[0, -1]]), "received ids from -1 to 0"),
        (torch.tensor([1, 2]), r"two axes \[B, T\].*reshape\(1, -1\)"),
        (torch.tensor([[1.0, 2.0]]), "integer tensor.*float32"),
        (torch.zeros(1, 0, dtype=torch.int64), "at least one token"),
        (torch.zeros(1, 13, dtype=torch.int64), r"at most C = 12; received 0 \+ 13 = 13"),
        ([[1, 2]], "received list"),
    ],
)
def test_model_refuses_other_ids(ids, words):
    with pytest.raises(ValueError, match=words):
        TransformerLM(SMALL)(ids)


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_model_and_block_take_true_or_false_for_use_cache(wrong):
    with pytest.raises(ValueError, match=r"use_cache = .* must be True or False"):
        TransformerLM(SMALL)(ids_of(2), use_cache=wrong)
    with pytest.raises(ValueError, match=r"use_cache = .* must be True or False"):
        TransformerBlock(SMALL)(torch.zeros(1, 2, 4), None, wrong)


@pytest.mark.parametrize("wrong", [0, 7, "seed"])
def test_model_refuses_what_is_no_generator(wrong):
    with pytest.raises(ValueError, match=r"generator must be a torch\.Generator; received"):
        TransformerLM(SMALL, wrong)


def test_parts_show_their_sizes():
    assert repr(LayerNorm(4)) == "LayerNorm(4, eps=1e-05)"
    assert "TokenEmbedding(10, 4)" in repr(TransformerLM(SMALL))


def test_model_refuses_to_grow_past_the_block_size():
    model = TransformerLM(SMALL)
    _, presents = model(ids_of(12), use_cache=True)
    with pytest.raises(ValueError, match=r"at most C = 12; received 12 \+ 1 = 13.*block_size"):
        model(ids_of(1), presents)


def test_model_refuses_other_pasts():
    model = TransformerLM(SMALL)
    _, presents = model(ids_of(3), use_cache=True)
    _, longer = model(ids_of(4), use_cache=True)
    one = ids_of(1)
    with pytest.raises(ValueError, match=r"each of N = 2 blocks; received list of 1.*use_cache"):
        model(one, presents[:1])
    with pytest.raises(ValueError, match="received list of 0"):
        model(one, [])
    with pytest.raises(ValueError, match="received Tensor"):
        model(one, past_key_values=presents[0][0])
    with pytest.raises(ValueError, match=r"one length in every block; received \[3, 4\]"):
        model(one, [presents[0], longer[1]])
    with pytest.raises(ValueError, match="pair"):
        model(one, [None, None])
    with pytest.raises(ValueError, match=r"\[1, 2, past, 2\]"):
        model(one[:1], presents)


# The ledger


def test_ledger_gives_the_numbers_of_the_seed():
    config = Config(
        vocab_size=32, block_size=64, d_model=64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0
    )
    model = TransformerLM(config)
    assert registered(model) == parameter_count(32, 64, 2, 64, 256) == 107_776
    assert registered(model.blocks) == 2 * 49_728
    assert registered(TransformerLM(Config(10, 6, 4, 2, 2, 8))) == 424
    assert parameter_count(V=10, C=6, N=2, d=4, f=8) == 424


@settings(deadline=None, max_examples=25)
@given(*[st.integers(1, 9)] * 3, st.integers(1, 3), st.integers(1, 3), st.integers(1, 9))
def test_ledger_equals_registered_for_any_sizes_and_heads(V, C, h, d_h, N, f):
    config = Config(V, C, h * d_h, h, N, f)
    assert registered(TransformerLM(config)) == parameter_count(V, C, N, h * d_h, f)


def test_ledger_refuses_what_is_not_a_positive_int():
    for place, name in enumerate("VCNdf"):
        for value in (0, -1, 2.0, True):
            sizes = [32, 64, 2, 64, 256]
            sizes[place] = value
            with pytest.raises(ValueError, match=f"{name} = .*must be a positive int"):
                parameter_count(*sizes)


def test_package_shows_its_public_face():
    assert hero_transformer.EDITION == "reference"
    assert 'EDITION = "reference"' in inspect.getsource(hero_transformer).splitlines()
    assert all(hasattr(hero_transformer, name) for name in hero_transformer.__all__)


def test_every_module_of_a_chapter_is_there_after_the_import():
    code = "import hero_transformer as h; print(h.gradients.__name__, h.embedding.__name__, h.__version__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found.split() == ["hero_transformer.gradients", "hero_transformer.embedding", hero_transformer.__version__]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]  # one home
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "hero_transformer.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", hero_transformer.__version__)
