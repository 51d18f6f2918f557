"""Test doubles: parts and numbers that checks use, importable by name in any process.

Shape letters: B sequences, T positions, d features, f features inside the feed-forward.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from . import stand_ins
from .exercise import answer_to
from .stand_ins import *  # noqa: F403

__all__ = [
    "LINE",
    "Unchanging",
    "causal",
    "cubes",
    "feedforward_alone",
    "filled",
    "first_dropped",
    "numbers",
    "rows_product",
    "silenced",
    "slanted_sines",
    "swapping",
    "torch_attention",
    "torch_layer",
    "two_layers",
]
__all__ += stand_ins.__all__

# The running text of the book, by Meng Haoran (8th century): 11 characters, 10 different ones.
LINE = "春眠不觉晓，处处闻啼鸟"

M = TypeVar("M", bound=nn.Module)


def _refuse(self: list, *args: object, **kwargs: object) -> None:
    raise TypeError("the list that was passed must stay as it is: make one of your own, with list(...)")


class Unchanging(list):
    """A list that refuses to be changed, so that an answer that would is seen, in whatever process it runs.

    Example:
        >>> Unchanging([5, 1, 2])[1:], [*Unchanging([5, 1, 2])] == Unchanging([5, 1, 2])
        ([1, 2], True)
        >>> Unchanging([5, 1, 2]).pop()
        Traceback (most recent call last):
        ...
        TypeError: the list that was passed must stay as it is: make one of your own, with list(...)
    """

    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # type: ignore[assignment]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # type: ignore[assignment]

    def __copy__(self) -> list:
        return list(self)

    def __deepcopy__(self, memo: dict) -> list:
        return list(self)

    def __reduce__(self) -> tuple[type, tuple[list]]:  # pickle would append one by one
        return Unchanging, (list(self),)


def numbers(*shape: int, seed: int) -> torch.Tensor:
    """Standard normal numbers in float64, the same for the same seed.

    Example:
        >>> numbers(2, 3, seed=0).shape, numbers(2, 3, seed=0).equal(numbers(2, 3, seed=0))
        (torch.Size([2, 3]), True)
    """
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


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


def swapping(block: M) -> M:
    """A block with d = 2 and one head in float64 whose attention, for one token, exchanges the coordinates of LN(x) and
    doubles them: W_V = I, and W_O has 2 beside the diagonal."""
    block = block.double()
    with torch.no_grad():
        block.attention.value.weight.copy_(torch.eye(2))
        block.attention.output.weight.copy_(2 * torch.eye(2).flip(0))
    return block


def causal(T: int) -> torch.Tensor:
    """torch's float mask [T, T] for causal attention: 0 where attention is allowed, -inf elsewhere."""
    return nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)


@answer_to("model.TransformerBlock.forward")
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


@answer_to("attention.CausalSelfAttention.forward", "attention.attend")
def torch_attention(layer: nn.Module) -> nn.MultiheadAttention:
    """torch's own multi-head attention with the weights of one of our layers: an oracle that someone else wrote.

    Args:
        layer: a `hero_transformer.attention.CausalSelfAttention` without dropout.

    Returns:
        It takes query, key and value, all [B, T, d], and a mask such as `causal`; no bias, float64.
    """
    theirs = nn.MultiheadAttention(layer.d_model, layer.n_heads, bias=False, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.query.weight, layer.key.weight, layer.value.weight]))  # [3d, d]
        theirs.out_proj.weight.copy_(layer.output.weight)
    return theirs


@answer_to("model.FeedForward.forward")
def two_layers(part: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What a feed-forward with these weights gives without dropout, by torch's own functions.

    Args:
        part: a `hero_transformer.model.FeedForward`.
        x: [..., d].

    Example:
        >>> from hero_transformer.config import Config
        >>> part = stand_ins.FeedForward(Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8))
        >>> x = torch.ones(1, 1, 4)
        >>> torch.allclose(two_layers(part, x), part(x))
        True
    """
    inner = nn.functional.gelu(nn.functional.linear(x, part.linear_1.weight, part.linear_1.bias))
    return nn.functional.linear(inner, part.linear_2.weight, part.linear_2.bias)


def first_dropped(weights: torch.Tensor) -> torch.Tensor:
    """A dropout that is not random: the first entry of the last axis becomes 0, the others are doubled.

    Example:
        >>> first_dropped(torch.tensor([[0.25, 0.75]]))
        tensor([[0.0000, 1.5000]])
    """
    return torch.cat([torch.zeros_like(weights[..., :1]), 2 * weights[..., 1:]], dim=-1)


def slanted_sines(x: torch.Tensor) -> torch.Tensor:
    """One number that every entry moves differently: the sum of (i + 1) sin x_i, in row-major order.

    Example:
        >>> round(slanted_sines(torch.tensor([1.0, 2.0])).item(), 4)
        2.6601
    """
    return (torch.arange(1, x.numel() + 1, dtype=x.dtype) * x.flatten().sin()).sum()


def cubes(x: torch.Tensor) -> torch.Tensor:
    """The sum of the cubes, whose central difference is off by exactly the square of the step, but for rounding."""
    return (x**3).sum()


def rows_product(x: torch.Tensor) -> torch.Tensor:
    """The scalar product of two rows [2, n], which only x in its own shape has; the slope is the other row.

    Example:
        >>> rows_product(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(11.)
    """
    return (x[0] * x[1]).sum()
