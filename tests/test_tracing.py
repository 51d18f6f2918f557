"""What torch does with the model without running it on numbers: checks of values step aside, those of shapes stay.

The backend "eager" compiles nothing: fullgraph then says only whether torch could follow every line.
"""

import warnings

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.func import functional_call, grad, vmap

from hero_transformer import Config, TransformerLM, cross_entropy, cross_entropy_backward, shift_targets
from hero_transformer.doubles import filled
from hero_transformer.embedding import embedding_backward, one_hot_matmul
from hero_transformer.tensor_arguments import values_readable

CONFIG = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=2, d_ff=8)
IDS = torch.tensor([[1, 2, 3, 0, 9], [4, 5, 6, 7, 8]])
CLOSE = {"rtol": 0.0, "atol": 1e-12}


@pytest.fixture
def model() -> TransformerLM:
    torch.compiler.reset()
    return filled(TransformerLM(CONFIG), seed=1).eval()


def whole(function):
    """The function, compiled in one piece or not at all."""
    return torch.compile(function, fullgraph=True, backend="eager")


@torch.no_grad()  # else dynamo asks what comes from the outside for its .grad, and torch warns
def test_model_loss_and_cache_compile_in_one_piece(model):
    compiled, expected = whole(model), model(IDS)[0]
    torch.testing.assert_close(compiled(IDS)[0], expected, **CLOSE)
    _, presents = compiled(IDS[:, :2], use_cache=True)
    torch.testing.assert_close(compiled(IDS[:, 2:], presents, use_cache=True)[0], expected[:, 2:], **CLOSE)
    inputs, targets = shift_targets(IDS)
    loss = whole(lambda inputs, targets: cross_entropy(model(inputs)[0], targets))
    torch.testing.assert_close(loss(inputs, targets), cross_entropy(model(inputs)[0], targets), **CLOSE)


@torch.no_grad()
def test_compiled_model_still_refuses_other_shapes_and_dtypes(model):
    compiled = torch.compile(model, backend="eager")
    for wrong, message in ((IDS[0], "two axes"), (IDS.double(), "integer tensor"), (IDS.repeat(1, 2), "at most C = 6")):
        with pytest.raises(ValueError, match=message):
            compiled(wrong)


def test_gradients_of_a_compiled_loss_are_those_of_the_loss(model):
    def loss(inputs, targets):
        return cross_entropy(model(inputs)[0], targets)

    inputs, targets = shift_targets(IDS)
    expected = torch.autograd.grad(loss(inputs, targets), list(model.parameters()))
    found = torch.autograd.grad(whole(loss)(inputs, targets), list(model.parameters()))
    torch.testing.assert_close(found, expected, **CLOSE)


@pytest.mark.parametrize("strict", [True, False])
def test_model_is_exported_with_any_length(model, strict):
    lengths = {"ids": {1: torch.export.Dim("T", min=2, max=CONFIG.block_size)}}
    program = torch.export.export(model, (IDS[:, :3].clone(),), dynamic_shapes=lengths, strict=strict)
    for T in (2, 5):
        torch.testing.assert_close(program.module()(IDS[:, :T])[0], model(IDS[:, :T])[0], **CLOSE)


def test_model_runs_without_numbers(model):
    logits, presents = TransformerLM(CONFIG).to("meta")(IDS.to("meta"), use_cache=True)
    assert (logits.shape, logits.device.type, presents[0][0].shape) == ((2, 5, 10), "meta", (2, 2, 5, 2))
    assert cross_entropy(logits, IDS.to("meta")).shape == ()
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        assert model(mode.from_tensor(IDS))[0].shape == (2, 5, 10)


def test_gradients_of_each_sample_by_vmap_are_those_one_by_one(model):
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters, ids):
        inputs, targets = shift_targets(ids[None])
        return cross_entropy(functional_call(model, parameters, (inputs,))[0], targets)

    found = vmap(grad(loss), in_dims=(None, 0))(parameters, IDS)
    for sample, ids in enumerate(IDS):
        expected = grad(loss)(parameters, ids)
        for name, gradient in expected.items():
            torch.testing.assert_close(found[name][sample], gradient, **CLOSE)


def test_functions_of_ids_run_under_vmap():
    logits = torch.randn(2, 5, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = vmap(cross_entropy_backward)(logits, IDS)
    torch.testing.assert_close(found[1], cross_entropy_backward(logits[1], IDS[1]), **CLOSE)
    upstream = torch.ones(2, 1, 5, 3)
    found = vmap(lambda ids, g: embedding_backward(ids[None], g, 10))(IDS, upstream)
    assert torch.equal(found[0], embedding_backward(IDS[:1], upstream[0], 10))
    meta = one_hot_matmul(IDS.to("meta"), torch.ones(10, 3, device="meta"))
    assert meta.shape == (2, 5, 3)


class Logits(nn.Module):
    """The model without its second result, which is None: jit.trace takes tensors alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids)[0]


def test_model_is_traced_and_the_trace_takes_other_lengths(model):
    with warnings.catch_warnings():  # torch calls jit.trace deprecated, and warns of every number it may freeze
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        traced = torch.jit.trace(Logits(model), (IDS[:, :3],))
    torch.testing.assert_close(traced(IDS), model(IDS)[0], **CLOSE)


def test_values_are_read_wherever_there_are_some():
    assert values_readable(IDS)
    assert values_readable(nn.Parameter(torch.ones(1)))
    seen = []
    vmap(lambda ids: seen.append(values_readable(ids)) or ids)(IDS)
    torch.compile(lambda ids: ids + int(values_readable(ids)), fullgraph=True, backend="eager")(IDS)
    assert seen == [False]
    for wrong in (torch.tensor([[10]]), torch.tensor([[-1]])):
        with pytest.raises(ValueError, match="0 <= id < V = 10"):
            TransformerLM(CONFIG)(wrong)
