"""Chapter 07's model against GPT-2 as the package transformers writes it: the same weights, the same logits.

transformers is a dependency of the tests alone, and is imported here alone. Nothing is fetched: the other
model is made from a configuration, and its weights are ours.
"""

from __future__ import annotations

import warnings

import pytest
import torch

from hero_transformer import Config, TransformerLM, cross_entropy, gpt2_state_dict, shift_targets
from hero_transformer.doubles import filled

CONFIGS = [
    Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=2, d_ff=8),
    Config(vocab_size=32, block_size=64, d_model=64, n_heads=4, n_layers=2, d_ff=256),
    Config(vocab_size=7, block_size=9, d_model=6, n_heads=1, n_layers=1, d_ff=5),
    Config(vocab_size=50, block_size=16, d_model=24, n_heads=6, n_layers=3, d_ff=40),
]
FLOAT32 = {"rtol": 0.0, "atol": 1e-5}


@pytest.fixture(scope="module", autouse=True)
def offline():
    """No look at the network, whatever the machine's settings are."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HF_HUB_OFFLINE", "1")
    yield
    patch.undo()


def theirs(model: TransformerLM) -> torch.nn.Module:
    """GPT-2 with the weights of one of our models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what transformers itself imports
        from transformers import GPT2Config, GPT2LMHeadModel
    c = model.config
    sizes = {"vocab_size": c.vocab_size, "n_positions": c.block_size, "n_embd": c.d_model, "n_head": c.n_heads}
    sizes |= {"n_layer": c.n_layers, "n_inner": c.d_ff, "bos_token_id": 0, "eos_token_id": 0}
    still = dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0)
    gpt2 = GPT2LMHeadModel(GPT2Config(**sizes, **still, activation_function="gelu", tie_word_embeddings=False))
    gpt2.load_state_dict(gpt2_state_dict(model), strict=True)
    return gpt2.to(next(model.parameters()).dtype)


def drawn(config: Config, scale: float = 0.3) -> TransformerLM:
    """Our model in float32, every parameter drawn anew: no bias is 0 and no scale is 1."""
    model = filled(TransformerLM(config), seed=7).float()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(scale)
    return model


def ids_of(config: Config, B: int = 2, T: int | None = None) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(config.vocab_size, (B, T or config.block_size), generator=generator)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_logits_are_those_of_gpt2(config):
    model, ids = drawn(config), ids_of(config)
    logits, _ = model(ids)
    assert logits.std() > 0.01  # a comparison of noughts would say nothing
    torch.testing.assert_close(logits, theirs(model)(ids).logits, **FLOAT32)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_logits_of_a_new_model_are_those_of_gpt2(config):
    model, ids = TransformerLM(config), ids_of(config)
    torch.testing.assert_close(model(ids)[0], theirs(model)(ids).logits, **FLOAT32)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_cached_logits_are_those_of_gpt2_with_its_cache(config):
    model, ids = drawn(config), ids_of(config)
    gpt2, half = theirs(model), config.block_size // 2
    _, presents = model(ids[:, :half], use_cache=True)
    logits, _ = model(ids[:, half:], presents)
    first = gpt2(ids[:, :half], use_cache=True)
    second = gpt2(ids[:, half:], cache=first.cache, use_cache=True)
    torch.testing.assert_close(logits, second.logits, **FLOAT32)


def test_loss_and_gradients_are_those_of_gpt2():
    model = filled(TransformerLM(CONFIGS[0]), seed=3)
    gpt2, ids = theirs(model), ids_of(CONFIGS[0], T=5)
    inputs, targets = shift_targets(ids)
    loss = cross_entropy(model(inputs)[0], targets)
    their_loss = gpt2(ids, labels=ids).loss  # it shifts by itself, and computes the loss in float32
    torch.testing.assert_close(loss, their_loss.double(), rtol=0.0, atol=1e-6)
    ours = torch.autograd.grad(loss, [model.head.weight, model.token_embedding.weight])
    their = torch.autograd.grad(their_loss, [gpt2.lm_head.weight, gpt2.transformer.wte.weight])
    torch.testing.assert_close(ours, their, rtol=0.0, atol=1e-6)


def test_weights_of_a_compiled_model_are_those_of_the_model():
    model = TransformerLM(CONFIGS[0])
    found, expected = gpt2_state_dict(torch.compile(model, backend="eager")), gpt2_state_dict(model)
    assert list(found) == list(expected)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize(
    ("wrong", "came"),
    [
        (lambda model: None, "NoneType"),
        (lambda model: model.state_dict(), "OrderedDict"),
        (lambda model: model.blocks[0], "TransformerBlock, which has no token_embedding"),
        (lambda model: model.head, "Linear, which has no token_embedding"),
    ],
)
def test_what_is_no_model_is_refused(wrong, came):
    with pytest.raises(ValueError, match=f"model must be a TransformerLM; received {came}. Pass the model"):
        gpt2_state_dict(wrong(TransformerLM(CONFIGS[0])))


def test_comparison_sees_the_tanh_form_of_gelu_and_a_wrong_order_of_heads():
    model, ids = drawn(CONFIGS[0], scale=1.0), ids_of(CONFIGS[0])
    for change in ("tanh", "heads"):
        gpt2 = theirs(model)
        for block in gpt2.transformer.h:
            if change == "tanh":
                block.mlp.act = torch.nn.GELU(approximate="tanh")
            else:
                block.attn.c_attn.weight.data = block.attn.c_attn.weight.data.roll(1, dims=1)
        assert (gpt2(ids).logits - model(ids)[0]).abs().max() > 1e-4
