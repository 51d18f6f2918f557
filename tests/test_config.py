"""Config: what it accepts, and what it says when it refuses."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hero_transformer.attention import CausalSelfAttention
from hero_transformer.config import Config
from hero_transformer.ledger import diagnose_count
from hero_transformer.model import FeedForward, TransformerBlock, TransformerLM, make_blocks

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


@pytest.mark.parametrize("wrong", [None, {"d_model": 4}, Config, 4])
@pytest.mark.parametrize(
    "maker",
    [
        TransformerLM, TransformerBlock, FeedForward, CausalSelfAttention, make_blocks,
        lambda config: diagnose_count(1, config),
    ],
)  # fmt: skip
def test_what_is_no_config_is_refused(maker, wrong):
    with pytest.raises(ValueError, match=r"config must be a Config; received \w+\. Make one: Config\(vocab_size="):
        maker(wrong)
