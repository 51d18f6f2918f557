"""Config: what it accepts, and what it says when it refuses."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hero_transformer.config import Config, argument, check_features, check_hidden, checked_by

SIZES = {
    "vocab_size": 32,
    "block_size": 64,
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 256,
}


def test_config_has_head_width_and_no_dropout_by_default():
    config = Config(**SIZES)
    assert (config.d_head, config.dropout) == (16, 0.0)


def test_config_is_frozen_and_comparable():
    config = Config(**SIZES)
    assert config == Config(**SIZES)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 8


@pytest.mark.parametrize("field", SIZES)
@pytest.mark.parametrize("value", [0, -1, 4.0, True, "4", None, float("nan")])
def test_config_refuses_a_size_that_is_not_a_positive_int(field, value):
    with pytest.raises(ValueError, match=rf"^{field} = .*must be a positive int.*pass") as error:
        Config(**{**SIZES, field: value})
    assert repr(value) in str(error.value)


@pytest.mark.parametrize("dropout", [1.0, 1, -0.1, float("nan"), float("inf"), True, "0.1", None])
def test_config_refuses_a_dropout_outside_its_range(dropout):
    with pytest.raises(ValueError, match=r"dropout = .*0 <= dropout < 1.*pass 0.0"):
        Config(**SIZES, dropout=dropout)


@pytest.mark.parametrize("dropout", [0, 0.0, 0.1, 0.999])
def test_config_accepts_a_dropout_in_its_range(dropout):
    assert Config(**SIZES, dropout=dropout).dropout == dropout


@given(st.integers(1, 300), st.integers(1, 300))
def test_config_accepts_heads_exactly_when_they_divide(d_model, n_heads):
    sizes = {**SIZES, "d_model": d_model, "n_heads": n_heads}
    if d_model % n_heads == 0:
        assert Config(**sizes).d_head * n_heads == d_model
        return
    with pytest.raises(ValueError, match=rf"n_heads = {n_heads} must divide d_model = {d_model}"):
        Config(**sizes)


@given(st.integers(1, 300), st.integers(1, 300))
def test_config_remedy_for_heads_is_true(d_model, n_heads):
    try:
        Config(**{**SIZES, "d_model": d_model, "n_heads": n_heads})
    except ValueError as error:
        words = str(error).rstrip(".").split()
        wider, fewer = int(words[-1]), int(words[-5])
        assert Config(**{**SIZES, "d_model": wider, "n_heads": n_heads}).d_model >= d_model
        assert Config(**{**SIZES, "d_model": d_model, "n_heads": fewer}).n_heads <= n_heads


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
    with pytest.raises(ValueError, match=r"torch.float64; received torch.float32.*hidden.to"):
        check_features(torch.zeros(2, 4), 4, torch.float64)
    with pytest.raises(ValueError, match=r"three axes \[B, T, d\].*\[3, 4\].*reshape"):
        check_hidden(torch.zeros(3, 4), 4)


def test_checked_by_keeps_name_docstring_and_result():
    seen = []

    @checked_by(lambda x: seen.append(x))
    def triple(x):
        """Three times x."""
        return 3 * x

    assert (triple.__name__, triple.__doc__, triple(x=2), seen) == (
        "triple",
        "Three times x.",
        6,
        [2],
    )


def test_argument_finds_either_way_of_passing():
    assert argument((1, 2), {}, 1, "past") == 2
    assert argument((1,), {"past": 3}, 1, "past") == 3
    assert argument((1,), {}, 1, "past") is None
