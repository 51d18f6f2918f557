"""Chapter 04: causal attention, against torch's scaled_dot_product_attention and by hand."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from hero_transformer.attention import (
    CausalSelfAttention,
    attend,
    causal_mask,
    merge_heads,
    scaled_scores,
    split_heads,
)
from hero_transformer.config import Config

CLOSE = {"rtol": 0.0, "atol": 1e-12}


def config_of(d: int = 4, h: int = 2, dropout: float = 0.0) -> Config:
    return Config(10, 16, d, h, 1, 8, dropout)


def attention_of(d: int = 4, h: int = 2, dropout: float = 0.0) -> CausalSelfAttention:
    attention = CausalSelfAttention(config_of(d, h, dropout)).double()
    for number, weight in enumerate(attention.parameters()):
        weight.data = normal(d, d, seed=100 + number)
    return attention


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def column(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)[:, None]


# The functions.


def test_attend_divides_by_the_root_of_the_head_width():
    # q.k = (0, 2 ln 3) and d_h = 4: weights (1, 3) / 4, of values (0, 4)
    q = torch.tensor([[1.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    k = torch.zeros(2, 4, dtype=torch.float64)
    k[1, 0] = 2 * math.log(3)
    scores = torch.tensor([[0.0, math.log(3)]], dtype=torch.float64)
    torch.testing.assert_close(scaled_scores(q, k), scores, **CLOSE)
    torch.testing.assert_close(attend(q, k, column(0, 4)), column(3.0), **CLOSE)


def test_attend_averages_what_is_visible():
    zero = torch.zeros(3, 2, dtype=torch.float64)
    torch.testing.assert_close(attend(zero, zero, column(6, 0, 3)), column(6, 3, 3), **CLOSE)


def test_attend_aligns_a_cached_chunk_bottom_right():
    q, k = torch.zeros(2, 2, dtype=torch.float64), torch.zeros(4, 2, dtype=torch.float64)
    torch.testing.assert_close(attend(q, k, column(6, 0, 3, 9)), column(3, 4.5), **CLOSE)


@settings(deadline=None)  # the first call of a torch kernel may be slow
@given(st.integers(1, 7), st.integers(0, 5))
def test_causal_mask_is_the_definition(T, past):
    S = T + past
    mask = causal_mask(T, S)
    assert (mask.shape, mask.dtype) == ((T, S), torch.bool)
    assert mask.tolist() == [[j <= i + past for j in range(S)] for i in range(T)]


@pytest.mark.parametrize(("T", "S"), [(1, 1), (5, 5), (1, 6), (2, 7), (4, 5)])
@pytest.mark.parametrize("d_h", [1, 3])
def test_attend_equals_torch(T, S, d_h):
    q, k, v = normal(2, 3, T, d_h), normal(2, 3, S, d_h, seed=1), normal(2, 3, S, d_h, seed=2)
    allowed = torch.tensor([[j <= i + S - T for j in range(S)] for i in range(T)])
    oracle = scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    torch.testing.assert_close(attend(q, k, v), oracle, **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_attend_keeps_dtype_and_has_no_nan(dtype):
    # large scores of both signs: the first row has one allowed token, the rest is -inf
    q, k, v = (100 * normal(1, 2, 3, 4, seed=seed).sign().to(dtype) for seed in range(3))
    out = attend(q, k, v)
    assert out.dtype == dtype
    assert torch.isfinite(out).all()
    assert torch.equal(out[:, :, 0], v[:, :, 0])


def test_attend_applies_dropout_to_the_weights():
    zero = torch.zeros(3, 2, dtype=torch.float64)
    halved = attend(zero, zero, column(6, 0, 3), dropout=lambda weights: weights / 2)
    torch.testing.assert_close(halved, column(3, 1.5, 1.5), **CLOSE)


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_heads_are_slices_and_merge_is_the_inverse(B, T, h, d_h):
    x = normal(B, T, h * d_h)
    heads = split_heads(x, h)
    assert heads.shape == (B, h, T, d_h)
    for i in range(h):
        assert torch.equal(heads[:, i], x[:, :, i * d_h : (i + 1) * d_h])
    assert torch.equal(merge_heads(heads), x)


def test_functions_refuse_what_does_not_fit():
    q, k = torch.zeros(1, 2, 3, 4), torch.zeros(1, 2, 5, 4)
    with pytest.raises(ValueError, match=r"agree on d_h.*\[1, 2, 5, 1\].*Split both"):
        scaled_scores(q, k[..., :1])
    with pytest.raises(ValueError, match="leading axes"):
        scaled_scores(q, k[:, :1])
    with pytest.raises(ValueError, match="agree"):
        scaled_scores(q[0, 0, 0], k[0, 0, 0])
    with pytest.raises(ValueError, match=r"floating-point.*int64.*Pass projected"):
        scaled_scores(q.long(), k)
    with pytest.raises(ValueError, match="received list"):
        scaled_scores([1.0], k)
    with pytest.raises(ValueError, match=r"one value a key.*\[1, 2, 3, 4\]"):
        attend(q, k, q)
    with pytest.raises(ValueError, match="one value a key"):
        attend(q, k, None)
    with pytest.raises(ValueError, match=r"T = 5, S = 3.*past_length"):
        attend(k, q, q)


@pytest.mark.parametrize("sizes", [(0, 3), (2, 0), (2, 2.0), (True, 2), (3, 2)])
def test_causal_mask_refuses_impossible_sizes(sizes):
    with pytest.raises(ValueError, match=r"must be (a positive int|at least T)"):
        causal_mask(*sizes)


def test_heads_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="n_heads = 3 must divide d_model = 4"):
        split_heads(torch.zeros(1, 2, 4), 3)
    with pytest.raises(ValueError, match=r"\[B, T, d\]; received torch.float32 of shape \[2, 4\]"):
        split_heads(torch.zeros(2, 4), 2)
    with pytest.raises(ValueError, match=r"\[B, h, T, d_h\]; received .* of shape \[2, 4, 4\]"):
        merge_heads(torch.zeros(2, 4, 4))


# The module.


def oracle_of(attention: CausalSelfAttention, hidden: torch.Tensor) -> torch.Tensor:
    B, T, d = hidden.shape
    h = attention.n_heads
    q, k, v = (
        (hidden @ weight.T).view(B, T, h, d // h).transpose(1, 2)
        for weight in (attention.query.weight, attention.key.weight, attention.value.weight)
    )
    heads = scaled_dot_product_attention(q, k, v, is_causal=True)
    return heads.transpose(1, 2).reshape(B, T, d) @ attention.output.weight.T


@pytest.mark.parametrize("T", [1, 2, 5])
@pytest.mark.parametrize(("d", "h"), [(1, 1), (4, 1), (4, 2), (4, 4), (6, 3), (12, 4)])
def test_attention_equals_torch(d, h, T):
    attention, hidden = attention_of(d, h), normal(2, T, d)
    attended, present = attention(hidden)
    assert present is None
    torch.testing.assert_close(attended, oracle_of(attention, hidden), **CLOSE)


def test_attention_has_four_matrices_and_no_bias():
    names = [name for name, _ in attention_of().named_parameters()]
    assert names == ["query.weight", "key.weight", "value.weight", "output.weight"]


@pytest.mark.parametrize("chunks", [(5,), (1, 4), (2, 3), (1, 1, 1, 1, 1), (3, 1, 1)])
def test_attention_cached_equals_uncached(chunks):
    attention, hidden = attention_of(6, 3), normal(2, 5, 6)
    whole, _ = attention(hidden)
    past, parts = None, []
    for chunk in hidden.split(chunks, dim=1):
        part, past = attention(chunk, past, use_cache=True)
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, **CLOSE)
    assert past[0].shape == past[1].shape == (2, 3, 5, 2)


def test_attention_does_not_let_the_future_in():
    attention, hidden = attention_of(), normal(2, 5, 4)
    changed = hidden.clone()
    changed[:, 3:] = normal(2, 2, 4, seed=9)
    before, after = attention(hidden)[0], attention(changed)[0]
    torch.testing.assert_close(after[:, :3], before[:, :3], **CLOSE)
    assert (after[:, 3:] - before[:, 3:]).abs().amin(dim=-1).min() > 1e-4


def test_attention_leaves_the_past_and_its_memory_alone():
    attention = attention_of()
    _, past = attention(normal(2, 3, 4), use_cache=True)
    kept = [tensor.clone() for tensor in past]
    _, present = attention(normal(2, 2, 4, seed=1), past, use_cache=True)
    attention(normal(2, 2, 4, seed=2), past, use_cache=True)
    assert all(torch.equal(new, old) for new, old in zip(past, kept, strict=True))
    for tensor in present:
        tensor.detach().zero_()
    assert all(torch.equal(new, old) for new, old in zip(past, kept, strict=True))


def test_attention_without_cache_still_reads_the_past():
    attention = attention_of()
    _, past = attention(normal(2, 3, 4), use_cache=True)
    with_past, present = attention(normal(2, 2, 4, seed=1), past_key_value=past)
    assert present is None
    assert not torch.allclose(with_past, attention(normal(2, 2, 4, seed=1))[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_attention_keeps_dtype(dtype):
    attention = attention_of().to(dtype)
    attended, present = attention(normal(2, 3, 4).to(dtype), use_cache=True)
    assert {attended.dtype, present[0].dtype, present[1].dtype} == {dtype}


def test_attention_drops_weights_and_output_in_training_only():
    attention, hidden = attention_of(dropout=0.5), normal(2, 5, 4)
    attention.output_dropout.p = 0.0  # what is left acts on the weights
    assert not torch.equal(attention(hidden)[0], attention(hidden)[0])
    attention.output_dropout.p, attention.weights_dropout.p = 0.5, 0.0
    assert (attention(hidden)[0] == 0).any()  # the last thing that happens is a dropout
    attention.eval()
    assert torch.equal(attention(hidden)[0], attention(hidden)[0])


def test_attention_calls_the_functions_of_its_module(monkeypatch):
    def no_mask(q, k, v, dropout=None):
        return v

    monkeypatch.setattr("hero_transformer.attention.attend", no_mask)
    attention, hidden = attention_of(), normal(1, 3, 4)
    oracle = hidden @ attention.value.weight.T @ attention.output.weight.T
    torch.testing.assert_close(attention(hidden)[0], oracle, **CLOSE)


def test_attention_can_be_copied_and_pickled():
    attention, hidden = attention_of(), normal(1, 3, 4)
    for other in (copy.deepcopy(attention), pickle.loads(pickle.dumps(attention))):
        assert torch.equal(other(hidden)[0], attention(hidden)[0])
        with pytest.raises(ValueError, match="d = 4"):
            other(normal(1, 3, 5))


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        (torch.zeros(3, 4, dtype=torch.float64), r"three axes \[B, T, d\].*reshape"),
        (torch.zeros(2, 3, 1, dtype=torch.float64), "d = 4.*last axis"),
        (torch.zeros(2, 0, 4, dtype=torch.float64), "no empty axis"),
        (torch.zeros(2, 3, 4, dtype=torch.int64), "floating-point.*int64"),
        (torch.zeros(2, 3, 4, dtype=torch.float32), "dtype of the weights, torch.float64"),
        (None, "received NoneType"),
    ],
)
def test_attention_refuses_another_hidden(hidden, words):
    with pytest.raises(ValueError, match=words):
        attention_of()(hidden)
    with pytest.raises(ValueError, match=words):
        attention_of()(hidden=hidden)


def pair(*shape: int, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (torch.zeros(2, 2, 2, 3, 2), r"pair \(key, value\); received torch.float32 of shape"),
        ((torch.zeros(2, 2, 3, 2),), "pair"),
        (("key", "value"), r"shape \[2, 2, past, 2\]; received str and str"),
        (pair(2, 3, 2), "one shape"),
        (pair(1, 2, 3, 2), r"received .*\[1, 2, 3, 2\].*use_cache=True"),
        (pair(2, 1, 3, 2), "one shape"),
        (pair(2, 2, 3, 4), "one shape"),
        ((pair(2, 2, 3, 2)[0], pair(2, 2, 4, 2)[0]), "one shape"),
        (pair(2, 2, 3, 2, dtype=torch.float32), "dtype of hidden, torch.float64"),
    ],
)
def test_attention_refuses_another_past(past, words):
    with pytest.raises(ValueError, match=f"past_key_value must .*{words}"):
        attention_of()(normal(2, 1, 4), past)
    with pytest.raises(ValueError, match=f"past_key_value must .*{words}"):
        attention_of()(normal(2, 1, 4), past_key_value=past)


def test_attention_caches_under_autocast():
    attention, hidden = attention_of().float(), normal(1, 3, 4).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        _, present = attention(hidden, use_cache=True)
        attended, present = attention(hidden, present, use_cache=True)
    assert present[0].dtype == torch.bfloat16
    assert present[0].shape == (1, 2, 6, 2)
    assert torch.isfinite(attended).all()
