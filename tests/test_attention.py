"""Chapter 04: causal attention, against torch's scaled_dot_product_attention and by hand."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from hero_transformer import attention as attention_module
from hero_transformer import doubles
from hero_transformer.attention import (
    CausalSelfAttention,
    attend,
    causal_mask,
    merge_heads,
    scaled_scores,
    split_heads,
)
from hero_transformer.config import Config
from hero_transformer.exercise import BarredAnswer, barred_answers, replaced_by, replaces

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


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(0, 4), st.integers(1, 4))
def test_attend_equals_torch_with_its_own_bottom_right_mask(T, past, d_h):
    q, k, v = normal(2, 3, T, d_h), normal(2, 3, T + past, d_h, seed=1), normal(2, 3, T + past, d_h, seed=2)
    oracle = scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(T, T + past))
    torch.testing.assert_close(attend(q, k, v), oracle, **CLOSE)


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(0, 5))
def test_causal_mask_is_the_last_rows_of_the_square(T, past):
    assert torch.equal(causal_mask(T, T + past), causal_mask(T + past, T + past)[-T:])


def test_attend_divides_by_nothing_else():
    # the number of chapter 04 and what wrong divisors of q.k would give: none, d_h, the root of d = 8
    wrong = [4 * r / (1 + r) for r in (9.0, 3**0.5, 9 ** (1 / 8**0.5))]
    torch.testing.assert_close(wrong, [3.6, 2.535898, 2.739991], rtol=0, atol=5e-7)
    q, k = torch.zeros(1, 4, dtype=torch.float64), torch.zeros(2, 4, dtype=torch.float64)
    q[0, 0], k[1, 0] = 1.0, 2 * math.log(3)
    assert min(abs(attend(q, k, column(0, 4)).item() - number) for number in wrong) > 0.2


def test_attend_gives_the_weights_when_the_values_are_the_identity():
    weights = attend(normal(4, 3), normal(4, 3, seed=1), torch.eye(4, dtype=torch.float64))
    assert not weights.triu(diagonal=1).any()
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(4, dtype=torch.float64), **CLOSE)


def test_attend_does_not_see_one_vector_added_to_all_keys():
    q, k, v, b = normal(2, 5, 3), normal(2, 5, 3, seed=1), normal(2, 5, 3, seed=2), normal(3, seed=3)
    torch.testing.assert_close(attend(q, k + b, v), attend(q, k, v), **CLOSE)
    torch.testing.assert_close(attend(q, k, v + b), attend(q, k, v) + b, **CLOSE)
    assert (attend(q + b, k, v) - attend(q, k, v)).abs().max() > 1e-3


def test_attend_is_not_moved_by_another_future():
    old, new = ([normal(5, 3, seed=seed) for seed in range(start, start + 3)] for start in (0, 3))
    mixed = [torch.cat([before[:3], after[3:]]) for before, after in zip(old, new, strict=True)]
    torch.testing.assert_close(attend(*mixed)[:3], attend(*old)[:3], **CLOSE)


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


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 3), st.integers(1, 3), st.integers(1, 4))
def test_doubles_agree_with_the_package(B, T, past, h, d_h):
    x, q = normal(B, T, h * d_h), normal(B, h, T, d_h)
    k, v = normal(B, h, T + past, d_h, seed=1), normal(B, h, T + past, d_h, seed=2)
    torch.testing.assert_close(doubles.scaled_scores(q, k), scaled_scores(q, k), **CLOSE)
    assert torch.equal(doubles.causal_mask(T, T + past), causal_mask(T, T + past))
    for dropout in (None, doubles.first_dropped):
        torch.testing.assert_close(doubles.attend(q, k, v, dropout), attend(q, k, v, dropout), **CLOSE)
    assert torch.equal(doubles.split_heads(x, h), split_heads(x, h))
    assert torch.equal(doubles.merge_heads(q), merge_heads(q))


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
    with pytest.raises(ValueError, match=r"k must have at least as many tokens as q.*T = 5 in q and S = 3 in k"):
        attend(k, q, q)
    with pytest.raises(ValueError, match=r"dropout must be a function; received torch\.bool.*no mask is passed"):
        attend(q, k, k, causal_mask(3, 5))
    with pytest.raises(ValueError, match=r"dropout must be a function; received float"):
        attend(q, k, k, dropout=0.1)
    with pytest.raises(ValueError, match=r"no empty axis; received .*\[1, 2, 3, 0\].*at least one token and one feature"):
        attend(q[..., :0], k[..., :0], k)


def test_functions_refuse_a_mixture_of_dtypes_but_under_autocast():
    q, k = normal(2, 3, 4).float(), normal(2, 3, 4).float()
    with pytest.raises(ValueError, match=r"q and k must have one dtype; received torch.float32.*torch.float64"):
        scaled_scores(q, k.double())
    with pytest.raises(ValueError, match="q and k and v must have one dtype"):
        attend(q, k, k.bfloat16())
    with pytest.raises(ValueError, match="q and k and v must be floating-point tensors"):
        attend(q, k, k.long())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert attend(q, k, k.bfloat16()).dtype == torch.bfloat16


@pytest.mark.parametrize("sizes", [(0, 3), (2, 0), (2, 2.0), (True, 2), (3, 2)])
def test_causal_mask_refuses_impossible_sizes(sizes):
    with pytest.raises(ValueError, match=r"must be (a positive int|at least T)"):
        causal_mask(*sizes)


def test_heads_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match=r"^h = 3 must divide d = 4; take h = 1 or d = 6"):
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


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(0, 3))
def test_attention_with_a_past_equals_torch_for_any_number_of_heads(h, d_h, T, past_length):
    attention, hidden = attention_of(h * d_h, h), normal(2, past_length + T, h * d_h)
    theirs = doubles.torch_attention(attention)
    mask = doubles.causal(past_length + T)
    oracle = theirs(hidden, hidden, hidden, attn_mask=mask, need_weights=False)[0][:, past_length:]
    past = attention(hidden[:, :past_length], use_cache=True)[1] if past_length else None
    attended, present = attention(hidden[:, past_length:], past, use_cache=True)
    torch.testing.assert_close(attended, oracle, **CLOSE)
    assert present[0].shape == (2, h, past_length + T, d_h)


def test_attention_sees_on_which_side_the_past_stands():
    # one new token sees all keys, so their order does not matter; two new ones tell
    attention, past = attention_of(), tuple(normal(1, 2, 3, 2, seed=seed) for seed in (7, 8))
    for T in (1, 2):
        hidden = normal(1, T, 4)
        heads = [split_heads(linear(hidden), 2) for linear in (attention.query, attention.key, attention.value)]
        new_first = attend(heads[0], *(torch.cat([new, old], dim=2) for new, old in zip(heads[1:], past, strict=True)))
        apart = attention(hidden, past)[0] - attention.output(merge_heads(new_first))
        assert (apart.abs().max() < 1e-12) == (T == 1)


def test_attention_refuses_the_answers_that_torch_has(monkeypatch):
    q, k, v = (normal(1, 2, 3, 2, seed=seed) for seed in range(3))
    monkeypatch.setattr(attention_module, "attend", attention_module.attend)

    @replaces(attention_module)
    def attend(q, k, v, dropout=None):
        if dropout:
            return nn.MultiheadAttention(2, 1, bias=False).double()(q[0], k[0], v[0])[0]
        return scaled_dot_product_attention(q, k, v, is_causal=True)

    place = replaced_by(attention_module.attend)
    assert place.target == "attention.attend"
    with barred_answers(place):
        with pytest.raises(BarredAnswer, match="scaled_dot_product_attention"):
            attention_module.attend(q, k, v)
        with pytest.raises(BarredAnswer, match="multi_head_attention_forward"):
            attention_module.attend(q, k, v, doubles.first_dropped)
    assert attention_module.attend(q, k, v).shape == q.shape


def test_attention_gives_zero_for_zero_because_nothing_has_a_bias():
    assert not attention_of()(torch.zeros(2, 3, 4, dtype=torch.float64))[0].any()


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


@pytest.mark.parametrize("wrong", ["no", 1, 0, None, torch.tensor(True)])
def test_attention_takes_true_or_false_for_use_cache(wrong):
    with pytest.raises(ValueError, match=r"use_cache = .* must be True or False"):
        attention_of()(normal(1, 3, 4), use_cache=wrong)
