"""Test doubles: parts and numbers that checks use, importable by name in any process.

Shape letters: B sequences, T positions, d features, f features inside the feed-forward.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

import torch
from torch import nn

from .config import Config

__all__ = ["FeedForward", "causal", "feedforward_alone", "filled", "numbers", "silenced", "torch_layer"]

M = TypeVar("M", bound=nn.Module)


def numbers(*shape: int, seed: int) -> torch.Tensor:
    """Standard normal numbers in float64, the same for the same seed.

    Example:
        >>> numbers(2, 3, seed=0).shape, numbers(2, 3, seed=0).equal(numbers(2, 3, seed=0))
        (torch.Size([2, 3]), True)
    """
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


class FeedForward(nn.Sequential):
    """A known-good feed-forward made of torch's own layers; its parameters have the names of the package's.

    It stands in for `hero_transformer.model.FeedForward` where a check looks at the block alone.

    Args:
        config: its ``d_model``, ``d_ff`` and ``dropout`` are used.

    Example:
        >>> config = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8)
        >>> [name for name, _ in FeedForward(config).named_parameters()]
        ['linear_1.weight', 'linear_1.bias', 'linear_2.weight', 'linear_2.bias']
    """

    def __init__(self, config: Config) -> None:
        wide, narrow = nn.Linear(config.d_model, config.d_ff), nn.Linear(config.d_ff, config.d_model)
        steps = {"linear_1": wide, "activation": nn.GELU(), "linear_2": narrow, "dropout": nn.Dropout(config.dropout)}
        super().__init__(OrderedDict(steps))


def filled(module: M, seed: int) -> M:
    """The module in float64, every parameter drawn from a standard normal: none is 0 or 1 by default."""
    generator = torch.Generator().manual_seed(seed)
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, dtype=torch.float64, generator=generator))
    return module


def silenced(block: M) -> M:
    """A block whose two branches add exactly zero: the last projection of each is zero."""
    with torch.no_grad():
        block.attention.output.weight.zero_()
        block.feedforward.linear_2.weight.zero_()
        block.feedforward.linear_2.bias.zero_()
    return block


def feedforward_alone(block: M) -> M:
    """A block with d = f in float64 that adds half the activation of LN(x) to x: attention adds zero,
    the feed-forward has W1 = I, W2 = I / 2 and zero biases."""
    block = block.double()
    with torch.no_grad():
        block.attention.output.weight.zero_()
        for linear, scale in ((block.feedforward.linear_1, 1.0), (block.feedforward.linear_2, 0.5)):
            linear.weight.copy_(scale * torch.eye(len(linear.weight)))
            linear.bias.zero_()
    return block


def causal(T: int) -> torch.Tensor:
    """torch's float mask [T, T] for causal attention: 0 where attention is allowed, -inf elsewhere."""
    return nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)


def torch_layer(block: nn.Module) -> nn.TransformerEncoderLayer:
    """torch's own pre-LN layer with the weights of one of our blocks: an oracle that someone else wrote.

    Args:
        block: a `hero_transformer.model.TransformerBlock` without dropout.

    Returns:
        An encoder layer in float64; its attention has zero biases, as ours has none.
    """
    attention, feedforward = block.attention, block.feedforward
    f, d = feedforward.linear_1.weight.shape
    layer = nn.TransformerEncoderLayer(
        d, attention.n_heads, f, dropout=0.0, activation=nn.functional.gelu, batch_first=True, norm_first=True
    ).double()
    with torch.no_grad():
        packed = torch.cat([attention.query.weight, attention.key.weight, attention.value.weight])  # [3d, d]
        layer.self_attn.in_proj_weight.copy_(packed)
        layer.self_attn.in_proj_bias.zero_()
        layer.self_attn.out_proj.weight.copy_(attention.output.weight)
        layer.self_attn.out_proj.bias.zero_()
        for ours, theirs in (
            (feedforward.linear_1, layer.linear1),
            (feedforward.linear_2, layer.linear2),
            (block.ln_attention, layer.norm1),
            (block.ln_feedforward, layer.norm2),
        ):
            theirs.load_state_dict(ours.state_dict())
    return layer
