"""Chapter 07: the ledger row by row, what a wrong count is told, and GPT-2's names."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from hero_transformer import Config, LayerNorm, TransformerLM, make_blocks, parameter_count
from hero_transformer.gpt2 import GPT2_NAMES, gpt2_state_dict
from hero_transformer.ledger import count_changes, diagnose_count, parameter_ledger

BOOK = Config(vocab_size=32, block_size=64, d_model=64, n_heads=4, n_layers=2, d_ff=256)
SMALL = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=2, d_ff=8)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 9), st.integers(1, 3), st.integers(1, 6), st.integers(1, 7))


def registered(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@given(sizes=SIZES)
@settings(max_examples=40, deadline=None)
def test_rows_are_those_of_the_model(sizes):
    V, C, N, d, f = sizes
    rows = parameter_ledger(*sizes)
    model = TransformerLM(Config(V, C, d, 1, N, f))
    attention = sum(registered(block.attention) for block in model.blocks)
    norms = sum(registered(block.ln_attention) + registered(block.ln_feedforward) for block in model.blocks)
    layers = [layer for block in model.blocks for layer in (block.feedforward.linear_1, block.feedforward.linear_2)]
    assert rows == {
        "token_embedding": registered(model.token_embedding),
        "position_embedding": registered(model.position_embedding),
        "attention": attention,
        "feedforward_weights": sum(layer.weight.numel() for layer in layers),
        "feedforward_biases": sum(layer.bias.numel() for layer in layers),
        "block_norms": norms,
        "final_norm": registered(model.ln_final),
        "head": registered(model.head),
    }
    assert sum(rows.values()) == parameter_count(*sizes)


def test_ledger_refuses_what_is_not_a_positive_int():
    for wrong in (0, -1, 2.0, True, "3"):
        with pytest.raises(ValueError, match="N = "):
            parameter_ledger(32, 64, wrong, 64, 256)


# Each mistake, made in a real model of any sizes; the counts of the book's own are in the chapter.


def _reused(model):
    model.blocks = nn.ModuleList([model.blocks[0]] * len(model.blocks))


def _tied(model):
    model.head.weight = model.token_embedding.weight


def _no_final_norm(model):
    model.ln_final = nn.Identity()


def _attention_biases(model):
    d = model.config.d_model
    for block in model.blocks:
        for name in ("query", "key", "value", "output"):
            setattr(block.attention, name, nn.Linear(d, d))


def _head_bias(model):
    model.head = nn.Linear(model.config.d_model, model.config.vocab_size)


def _no_feedforward_biases(model):
    for block in model.blocks:
        block.feedforward.linear_1.bias = block.feedforward.linear_2.bias = None


def _no_beta(model):
    for norm in [module for module in model.modules() if isinstance(module, LayerNorm)]:
        norm.bias = None


def _one_norm(model):
    for block in model.blocks:
        block.ln_feedforward = block.ln_attention


def _sinusoids(model):
    numbers = model.position_embedding.weight.detach()
    del model.position_embedding.weight
    model.position_embedding.register_buffer("weight", numbers)


MISTAKES = [
    (_reused, 58048, "one block is used"),
    (_tied, 105728, "tied to the token table"),
    (_no_final_norm, 107648, "no final LayerNorm"),
    (_attention_biases, 108288, "biases on Q, K, V and O"),
    (_head_bias, 107808, "a bias on the head"),
    (_no_feedforward_biases, 107136, "no biases in the feed-forward"),
    (_no_beta, 107456, "without beta"),
    (_one_norm, 107520, "one LayerNorm a block"),
    (_sinusoids, 103680, "sinusoidal positions"),
]


@pytest.mark.parametrize(("spoil", "count", "name"), MISTAKES, ids=lambda value: getattr(value, "__name__", None))
def test_nine_wrong_models_are_told_by_their_counts(spoil, count, name):
    model = TransformerLM(BOOK)
    spoil(model)
    assert registered(model) == count
    message = diagnose_count(count, BOOK)
    assert name in message
    assert "explanations" not in message
    assert f"{count} = 107776" in message


@given(sizes=SIZES)
@settings(max_examples=25, deadline=None)
def test_changes_are_those_of_real_models_of_any_sizes(sizes):
    V, C, N, d, f = sizes
    config = Config(V, C, d, 1, N, f)
    found = []
    for spoil, _, _ in MISTAKES:
        model = TransformerLM(config)
        spoil(model)
        found.append(registered(model) - parameter_count(*sizes))
    assert found == list(count_changes(*sizes).values())


def test_right_count_is_said_to_be_right():
    assert "as in the ledger" in diagnose_count(107776, BOOK)
    one_block = Config(10, 6, 4, 2, 1, 8)  # here a block used once is no mistake
    assert "as in the ledger" in diagnose_count(registered(TransformerLM(one_block)), one_block)


def test_coincidences_are_all_named_and_strangers_are_not_guessed():
    message = diagnose_count(400, SMALL)
    assert "2 explanations" in message
    assert "sinusoidal" in message
    assert "no biases in the feed-forward" in message
    assert "107776 - 2176: " in diagnose_count(105600, BOOK)
    assert "no known mistake" in diagnose_count(105600, BOOK)
    assert "107776 + 1: " in diagnose_count(107777, BOOK)


@pytest.mark.parametrize("found", [-1, 2.0, True, None, "107776"])
def test_diagnosis_refuses_what_is_no_count(found):
    with pytest.raises(ValueError, match="found = "):
        diagnose_count(found, BOOK)


# make_blocks


def test_blocks_share_nothing_and_are_registered():
    blocks = make_blocks(Config(10, 6, 4, 2, 3, 8))
    assert type(blocks) is nn.ModuleList
    assert len({parameter.data_ptr() for parameter in blocks.parameters()}) == 36
    assert registered(blocks) == 3 * 156


def test_model_meets_another_make_blocks(monkeypatch):
    monkeypatch.setattr("hero_transformer.model.make_blocks", lambda config: nn.ModuleList())
    assert len(TransformerLM(SMALL).blocks) == 0


# GPT-2's names


def test_names_cover_every_parameter_once():
    model = TransformerLM(SMALL)
    used = [
        name.format(n=n) for names, _, how in GPT2_NAMES if how != "zeros"
        for name in names for n in range(2 if "{n}" in name else 1)
    ]  # fmt: skip
    assert sorted(used) == sorted(name for name, _ in model.named_parameters())
    renamed = gpt2_state_dict(model)
    added = sum(4 * SMALL.d_model for _ in model.blocks)
    assert sum(tensor.numel() for tensor in renamed.values()) == registered(model) + added
    assert not any(tensor.requires_grad for tensor in renamed.values())
    assert torch.equal(renamed["transformer.h.0.mlp.c_fc.weight"].T, model.blocks[0].feedforward.linear_1.weight)
