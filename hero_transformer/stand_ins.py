"""Known-good stand-ins for the parts that exercises write, by other routes than the package's own.

A check that looks at one exercise alone puts them in the place of the others. `doubles` has them all, and notebooks
take them from there. While an exercise is checked, the stand-in that would be its answer refuses to work.

Shape letters: B sequences, T positions, S = past + T, d features, h heads, d_h = d / h, f features inside the
feed-forward.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch
from torch import nn

from .config import Config
from .exercise import answer_to

__all__ = ["Block", "FeedForward", "attend", "attention_backward", "bounded", "causal_mask", "counted"]
__all__ += ["gelu_backward", "layer_norm_backward", "linear_backward", "make_blocks", "merge_heads"]
__all__ += ["pair_counts", "pair_replaced", "residual_backward", "scaled_scores", "split_heads"]


# Chapters 01 and 03.


@answer_to("tokenizer.count_pairs")
def pair_counts(ids: Sequence[int]) -> dict[tuple[int, int], int]:
    """Known-good counts of neighbours, by ``list.count`` in quadratic time; stands in for `tokenizer.count_pairs`.

    Example:
        >>> pair_counts([1, 1, 1, 2])
        {(1, 1): 2, (1, 2): 1}
    """
    pairs = torch.tensor(list(ids)).unfold(0, 2, 1).tolist() if len(ids) > 1 else []
    return {tuple(pair): pairs.count(pair) for pair in pairs}


@answer_to("tokenizer.merge_pair")
def pair_replaced(ids: Sequence[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """A known-good merge, by Python's own ``str.replace``; stands in for `tokenizer.merge_pair`.

    Example:
        >>> pair_replaced([1, 1, 1, 2], (1, 1), 9)
        [9, 1, 2]
    """
    text = "".join(map(chr, ids)).replace("".join(map(chr, pair)), chr(new_id))
    return list(map(ord, text))


@answer_to("position.position_ids")
def counted(T: int, past_length: int = 0) -> torch.Tensor:
    """T numbers from ``past_length`` on, counted up one by one; stands in for `position_ids`.

    Example:
        >>> counted(2, 5)
        tensor([5, 6])
    """
    return torch.ones(T, dtype=torch.int64).cumsum(0) + (past_length - 1)


@answer_to("position.check_block_size")
def bounded(T: int, past_length: int, C: int) -> None:
    """ValueError unless the last of the T tokens has a place among C; stands in for `check_block_size`.

    Example:
        >>> bounded(2, 63, 64)
        Traceback (most recent call last):
        ...
        ValueError: 64 is not in range
    """
    if T < 1:
        raise ValueError(f"T = {T} must be 1 or more; its order is check_block_size(T, past_length, C)")
    range(C).index(past_length + T - 1)


# Chapter 04.


@answer_to("attention.scaled_scores")
def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Scores [..., T, S] of queries [..., T, d_h] and keys [..., S, d_h]."""
    return torch.einsum("...td,...sd->...ts", q, k).mul(q.shape[-1] ** -0.5)


@answer_to("attention.causal_mask")
def causal_mask(T: int, S: int) -> torch.Tensor:
    """True [T, S] where a token may attend."""
    return torch.arange(S).le(torch.arange(S - T, S).unsqueeze(1))


@answer_to("attention.attend")
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
    if k.shape[:-1] != v.shape[:-1]:
        raise ValueError(
            f"v needs one row for each key: k is {[*k.shape]}, v is {[*v.shape]}. "
            "Split both alike, join the past to both."
        )
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    scores = torch.where(allowed, scaled_scores(q, k), -math.inf)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    return torch.einsum("...ts,...sv->...tv", weights if dropout is None else dropout(weights), v)


@answer_to("attention.split_heads")
def split_heads(x: torch.Tensor, h: int) -> torch.Tensor:
    """[B, T, d] -> [B, h, T, d_h]."""
    return torch.stack(x.chunk(h, dim=-1), dim=1)


@answer_to("attention.merge_heads")
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """[B, h, T, d_h] -> [B, T, d]."""
    return torch.cat(x.unbind(dim=1), dim=-1)


# Chapter 06: no autograd, which is refused while an exercise runs, but every
# Jacobian written out as a matrix and multiplied by the upstream.


@answer_to("gradients.linear_backward")
def linear_backward(
    upstream: torch.Tensor, x: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of x weight^T + bias: of x, weight and bias."""
    grad_weight = torch.einsum("...o,...i->oi", upstream, x)
    return torch.einsum("...o,oi->...i", upstream, weight), grad_weight, torch.einsum("...o->o", upstream)


@answer_to("gradients.gelu_backward")
def gelu_backward(upstream: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Gradient of the exact GELU, by torch's own normal distribution."""
    normal = torch.distributions.Normal(0.0, 1.0)
    return upstream * normal.cdf(x) + upstream * x * normal.log_prob(x).exp()


@answer_to("gradients.layer_norm_backward")
def layer_norm_backward(
    upstream: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of a LayerNorm, of x, weight and bias, by the Jacobian (I - 1 1^T / d - z z^T / d) / r.

    Example:
        >>> one, x = torch.tensor([1.0, 0.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 4.0, 4.0])
        >>> layer_norm_backward(one, x, torch.ones(4), eps=0.0)[0]
        tensor([ 0.2500, -0.2500,  0.0000,  0.0000])
    """
    d = x.shape[-1]
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    r = (variance + eps).sqrt()
    z = (x - mean) / r
    jacobian = (torch.eye(d, dtype=x.dtype) - 1 / d - z[..., :, None] * z[..., None, :] / d) / r[..., None]
    grad_x = torch.einsum("...i,...ij->...j", upstream * weight, jacobian)
    return grad_x, torch.einsum("...i,...i->i", upstream, z), torch.einsum("...i->i", upstream)


@answer_to("gradients.residual_backward")
def residual_backward(upstream: torch.Tensor, grad_branch: torch.Tensor) -> torch.Tensor:
    """Gradient of x + R(x), by torch's own sum of a stack."""
    return torch.stack([upstream, grad_branch]).sum(dim=0)


@answer_to("gradients.attention_backward")
def attention_backward(
    upstream: torch.Tensor, attention: nn.Module, hidden: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Gradients of causal attention, of hidden and the four matrices; the Jacobian of the softmax is built in full."""
    h, T = attention.n_heads, hidden.shape[1]
    w = {name: parameter.detach() for name, parameter in attention.named_parameters()}
    q, k, v = (split_heads(hidden @ w[f"{name}.weight"].T, h) for name in ("query", "key", "value"))
    scores = torch.where(causal_mask(T, T), scaled_scores(q, k), -math.inf)
    a = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))  # [B, h, T, S]
    jacobian = torch.diag_embed(a) - a[..., :, None] * a[..., None, :]  # [B, h, T, S, S]
    heads = split_heads(upstream @ w["output.weight"], h)
    pushed = torch.einsum("bhtd,bhsd,bhtsr->bhtr", heads, v, jacobian) * q.shape[-1] ** -0.5
    paths = {
        "query": torch.einsum("bhts,bhsd->bhtd", pushed, k),
        "key": torch.einsum("bhts,bhtd->bhsd", pushed, q),
        "value": torch.einsum("bhts,bhtd->bhsd", a, heads),
    }
    paths = {f"{name}.weight": merge_heads(path) for name, path in paths.items()}
    grads = {name: torch.einsum("bto,bti->oi", path, hidden) for name, path in paths.items()}
    merged = merge_heads(torch.einsum("bhts,bhsd->bhtd", a, v))
    grads["output.weight"] = torch.einsum("bto,bti->oi", upstream, merged)
    return torch.stack([path @ w[name] for name, path in paths.items()]).sum(dim=0), grads


# Chapters 05 and 07.


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

    @answer_to("model.FeedForward.forward")
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """As the package's feed-forward: [B, T, d] to [B, T, d]."""
        return super().forward(hidden)


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

    @answer_to("model.TransformerBlock.forward")
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


@answer_to("model.make_blocks")
def make_blocks(config: Config) -> nn.ModuleList:
    """Known-good blocks; stands in for `hero_transformer.model.make_blocks`."""
    return nn.ModuleList([Block(config) for _ in range(config.n_layers)])
