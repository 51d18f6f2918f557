"""Test doubles: parts and numbers that checks use, importable by name in any process.

Shape letters: B sequences, T positions, d features, f features inside the feed-forward.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import nn

from .config import Config

__all__ = ["LINE", "FeedForward", "causal", "feedforward_alone", "filled", "numbers", "silenced", "torch_layer"]
__all__ += ["bounded", "counted", "pair_counts", "pair_replaced"]
__all__ += ["attend", "causal_mask", "first_dropped", "merge_heads", "scaled_scores", "split_heads", "torch_attention"]
__all__ += ["Block", "make_blocks"]

# The running text of the book, by Meng Haoran (8th century): 11 characters, 10 different ones.
LINE = "春眠不觉晓，处处闻啼鸟"

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


# Known-good stand-ins for the parts of chapters 01 and 03.


def pair_counts(ids: Sequence[int]) -> dict[tuple[int, int], int]:
    """Known-good counts of neighbours, by ``list.count`` in quadratic time; stands in for `tokenizer.count_pairs`.

    Example:
        >>> pair_counts([1, 1, 1, 2])
        {(1, 1): 2, (1, 2): 1}
    """
    pairs = torch.tensor(list(ids)).unfold(0, 2, 1).tolist() if len(ids) > 1 else []
    return {tuple(pair): pairs.count(pair) for pair in pairs}


def pair_replaced(ids: Sequence[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """A known-good merge, by Python's own ``str.replace``; stands in for `tokenizer.merge_pair`.

    Example:
        >>> pair_replaced([1, 1, 1, 2], (1, 1), 9)
        [9, 1, 2]
    """
    text = "".join(map(chr, ids)).replace("".join(map(chr, pair)), chr(new_id))
    return list(map(ord, text))


def counted(T: int, past_length: int = 0) -> torch.Tensor:
    """T numbers from ``past_length`` on, counted up one by one; stands in for `position_ids`.

    Example:
        >>> counted(2, 5)
        tensor([5, 6])
    """
    return torch.ones(T, dtype=torch.int64).cumsum(0) + (past_length - 1)


def bounded(T: int, past_length: int, C: int) -> None:
    """ValueError unless the last of the T tokens has a place among C; stands in for `check_block_size`.

    Example:
        >>> bounded(2, 63, 64)
        Traceback (most recent call last):
        ...
        ValueError: 64 is not in range
    """
    range(C).index(past_length + T - 1)


# Known-good stand-ins for the parts of chapter 04, written with other torch functions than the package's own.


def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Scores [..., T, S] of queries [..., T, d_h] and keys [..., S, d_h]."""
    return torch.einsum("...td,...sd->...ts", q, k).mul(q.shape[-1] ** -0.5)


def causal_mask(T: int, S: int) -> torch.Tensor:
    """True [T, S] where a token may attend."""
    return torch.arange(S).le(torch.arange(S - T, S).unsqueeze(1))


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> torch.Tensor:
    """Causal averages [..., T, d_v] of values [..., S, d_v], in logarithms of the weights.

    Example:
        >>> attend(torch.zeros(3, 4), torch.zeros(3, 4), torch.tensor([[6.0], [0.0], [3.0]])).flatten().round()
        tensor([6., 3., 3.])
    """
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    scores = torch.where(allowed, scaled_scores(q, k), -math.inf)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    return torch.einsum("...ts,...sv->...tv", weights if dropout is None else dropout(weights), v)


def split_heads(x: torch.Tensor, h: int) -> torch.Tensor:
    """[B, T, d] -> [B, h, T, d_h]."""
    return torch.stack(x.chunk(h, dim=-1), dim=1)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """[B, h, T, d_h] -> [B, T, d]."""
    return torch.cat(x.unbind(dim=1), dim=-1)


def first_dropped(weights: torch.Tensor) -> torch.Tensor:
    """A dropout that is not random: the first entry of the last axis becomes 0, the others are doubled.

    Example:
        >>> first_dropped(torch.tensor([[0.25, 0.75]]))
        tensor([[0.0000, 1.5000]])
    """
    return torch.cat([torch.zeros_like(weights[..., :1]), 2 * weights[..., 1:]], dim=-1)


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


# Known-good stand-ins for the parts that chapter 07 assembles.


class Block(nn.Module):
    """A known-good pre-LN block without dropout, of torch's own layers and the stand-ins above.

    It stands in for `hero_transformer.model.TransformerBlock` where a check looks at the model alone; its
    parameters have the names of the package's.

    Args:
        config: its ``d_model``, ``n_heads`` and ``d_ff`` are used.

    Example:
        >>> block = Block(Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8))
        >>> hidden, (key, value) = block(torch.zeros(2, 3, 4), use_cache=True)
        >>> hidden.shape, key.shape
        (torch.Size([2, 3, 4]), torch.Size([2, 2, 3, 2]))
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        d, projections = config.d_model, ("query", "key", "value", "output")
        self.n_heads = config.n_heads
        self.ln_attention = nn.LayerNorm(d)
        self.attention = nn.ModuleDict({name: nn.Linear(d, d, bias=False) for name in projections})
        self.ln_feedforward = nn.LayerNorm(d)
        self.feedforward = FeedForward(config)

    def forward(
        self, hidden: torch.Tensor, past_key_value: tuple | None = None, use_cache: bool = False
    ) -> tuple[torch.Tensor, tuple | None]:
        """As the package's block: Y [B, T, d], and a pair of [B, h, S, d_h] or None."""
        x = self.ln_attention(hidden)
        q, k, v = (split_heads(self.attention[name](x), self.n_heads) for name in ("query", "key", "value"))
        if past_key_value is not None:
            k, v = (torch.cat(parts, dim=2) for parts in zip(past_key_value, (k, v), strict=True))
        hidden = hidden + self.attention["output"](merge_heads(attend(q, k, v)))
        return hidden + self.feedforward(self.ln_feedforward(hidden)), (k, v) if use_cache else None


def make_blocks(config: Config) -> nn.ModuleList:
    """Known-good blocks; stands in for `hero_transformer.model.make_blocks`."""
    return nn.ModuleList([Block(config) for _ in range(config.n_layers)])
