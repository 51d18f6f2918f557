"""Chapter 03: sinusoidal tables, their shifts, and what attention sees without positions."""

import cmath
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from hero_transformer import doubles
from hero_transformer.attention import CausalSelfAttention
from hero_transformer.config import Config
from hero_transformer.position import (
    add_positions,
    check_block_size,
    position_ids,
    shift_matrix,
    sinusoidal_positions,
)


def test_sinusoids_by_hand():
    # sin 1, cos 1, sin 0.01, cos 0.01
    expected = torch.tensor([0.841470985, 0.540302306, 0.009999833, 0.999950000], dtype=torch.float64)
    torch.testing.assert_close(sinusoidal_positions(2, 4)[1], expected, atol=1e-9, rtol=0)
    assert sinusoidal_positions(1, 4)[0].tolist() == [0.0, 1.0, 0.0, 1.0]


@given(C=st.integers(1, 40), d=st.integers(1, 17), base=st.floats(2, 1e5))
@settings(max_examples=40, deadline=None)
def test_sinusoids_are_powers_of_complex_numbers(C, d, base):
    table = sinusoidal_positions(C, d, base)
    assert table.shape == (C, d)
    assert table.dtype == torch.float64
    for j in range(d):
        unit = cmath.exp(1j / base ** ((j - j % 2) / d))
        powers = [unit**p for p in range(C)]
        expected = [z.real if j % 2 else z.imag for z in powers]
        assert table[:, j].tolist() == pytest.approx(expected, abs=1e-10)


def test_sinusoids_stay_exact_far_from_the_start():
    table = sinusoidal_positions(100_000, 2, 100.0)
    assert table[99_999, 0].item() == pytest.approx(math.sin(99_999), abs=1e-11)


def test_dot_products_of_sinusoids_depend_on_distance_alone():
    table = sinusoidal_positions(30, 8)
    products = table @ table.T
    for k in range(30):
        along = products.diagonal(k)
        torch.testing.assert_close(along, along[:1].expand_as(along), atol=1e-12, rtol=0)
    assert products[0, 0].item() == pytest.approx(4.0)


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (4, 2.0), (True, 4)])
def test_sinusoids_refuse_sizes_that_are_not_positive_ints(sizes):
    with pytest.raises(ValueError, match="must be a positive int"):
        sinusoidal_positions(*sizes)


@pytest.mark.parametrize("base", [1, 0.0, -10000.0, math.nan, math.inf, True, "10000"])
@pytest.mark.parametrize("function", [sinusoidal_positions, shift_matrix])
def test_base_must_be_a_finite_number_above_one(function, base):
    with pytest.raises(ValueError, match=r"base = .* above 1; pass 10000.0"):
        function(2, 4, base)


@given(k=st.integers(-20, 20), half=st.integers(1, 6), base=st.floats(2, 1e5))
@settings(max_examples=40, deadline=None)
def test_shift_matrix_moves_every_row_on(k, half, base):
    table = sinusoidal_positions(50, 2 * half, base)
    M = shift_matrix(k, 2 * half, base)
    first, last = max(0, -k), min(50, 50 - k)
    torch.testing.assert_close(table[first:last] @ M, table[first + k : last + k], atol=1e-11, rtol=0)
    torch.testing.assert_close(M @ M.T, torch.eye(2 * half, dtype=torch.float64), atol=1e-12, rtol=0)


def test_shift_matrix_by_hand():
    s, c = math.sin(1), math.cos(1)
    assert shift_matrix(1, 2).tolist() == [[c, -s], [s, c]]


@pytest.mark.parametrize(
    ("k", "d", "message"),
    [(1, 3, "must be even.*pass 4"), (1.0, 4, "k = 1.0 must be an int"), (1, 0, "positive int"), (True, 4, "k = True")],
)
def test_shift_matrix_refuses_what_does_not_fit(k, d, message):
    with pytest.raises(ValueError, match=message):
        shift_matrix(k, d)


@pytest.mark.parametrize("table", [torch.zeros(4), torch.zeros(1, 6, 4), [[0.0] * 4]])
def test_add_positions_refuses_a_table_of_another_shape(table):
    with pytest.raises(ValueError, match=r"table must be a tensor \[C, d\]"):
        add_positions(torch.zeros(1, 2, 4), table)


def test_add_positions_leaves_table_and_hidden_alone_and_sums_the_gradient():
    hidden, table = doubles.numbers(2, 3, 4, seed=1), doubles.numbers(6, 4, seed=2).requires_grad_()
    before, rows = hidden.clone(), table.detach().clone()
    oracle = nn.Embedding.from_pretrained(table.detach())
    out = add_positions(hidden, table, 2)
    assert torch.equal(out, hidden + oracle(torch.tensor([2, 3, 4])))
    out.sum().backward()
    assert table.grad[:, 0].tolist() == [0, 0, 2, 2, 2, 0]
    assert torch.equal(hidden, before)
    assert torch.equal(table.detach(), rows)


@given(T=st.integers(1, 70), past=st.integers(0, 70))
@settings(max_examples=60, deadline=None)
def test_stand_ins_agree_with_the_functions_they_stand_in_for(T, past):
    assert torch.equal(doubles.counted(T, past), position_ids(T, past))
    outcomes = []
    for check in (doubles.bounded, check_block_size):
        try:
            outcomes.append(check(T, past, 64))
        except ValueError:
            outcomes.append("refused")
    assert outcomes[0] == outcomes[1] == ("refused" if past + T > 64 else None)


def test_causal_attention_sees_which_tokens_came_before_but_in_one_layer_not_their_order():
    attention = doubles.filled(CausalSelfAttention(Config(10, 6, 4, 2, 1, 8)), seed=4)
    x = doubles.numbers(1, 5, 4, seed=5)
    swapped = x[:, [1, 0, 2, 3, 4]]
    once, once_swapped = attention(x)[0], attention(swapped)[0]
    torch.testing.assert_close(once[:, 2:], once_swapped[:, 2:], atol=1e-12, rtol=0)
    twice, twice_swapped = attention(once)[0], attention(once_swapped)[0]
    assert (twice - twice_swapped).abs().amax(-1).min() > 1e-3
