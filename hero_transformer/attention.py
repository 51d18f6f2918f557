"""Causal multi-head self-attention with a cache of keys and values (chapter 04).

Shape letters: B batch, T tokens of this call, S tokens that may be seen (S = past + T), d width of
a hidden vector, h heads, d_h = d / h width of a head. "..." stands for any leading axes.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .arguments import check_calls, check_flag, check_function, check_heads, check_positive, checked_by, describe
from .config import Config, check_config
from .tensor_arguments import check_axes, check_floating, check_module_input, check_past_key_value

__all__ = ["CausalSelfAttention", "attend", "causal_mask"]
__all__ += ["merge_heads", "scaled_scores", "split_heads"]


def _check_queries_and_keys(q: torch.Tensor, k: torch.Tensor) -> None:
    check_floating("Pass projected hidden vectors.", q=q, k=k)
    same_leading_axes = q.shape[:-2] == k.shape[:-2]
    if min(q.dim(), k.dim()) < 2 or not same_leading_axes or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            "q [..., T, d_h] and k [..., S, d_h] must agree on d_h and on all leading axes; "
            f"received {describe(q)} and {describe(k)}. Split both into heads in the same way."
        )
    if 0 in q.shape or 0 in k.shape:
        raise ValueError(
            "q [..., T, d_h] and k [..., S, d_h] must have no empty axis; "
            f"received {describe(q)} and {describe(k)}. Pass at least one token and one feature."
        )


@checked_by(_check_queries_and_keys)
def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Compare every query with every key: scores = q k^T / sqrt(d_h).

    The divisor is the root of the width of a *head*, not d_h itself and not the root of d. It
    keeps the variance of a score at 1 when the entries of q and k are independent with variance 1.

    Args:
        q: queries [..., T, d_h], floating point.
        k: keys [..., S, d_h], same leading axes.

    Returns:
        [..., T, S].

    Raises:
        ValueError: when the shapes or dtypes do not agree, an axis is empty, or a tensor is not
            floating point.

    Example:
        >>> q, k = torch.tensor([[1.0, 1.0, 1.0, 1.0]]), torch.tensor([[0.5, 1.5, 1.0, 3.0]])
        >>> scaled_scores(q, k)
        tensor([[3.]])

    Source: chapter 04; Vaswani et al. 2017, section 3.2.1.
    """
    ### BEGIN SOLUTION
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # [..., T, d_h] -> [..., T, S]
    ### END SOLUTION


def _check_mask_sizes(T: int, S: int) -> None:
    check_positive(T=T, S=S)
    if S < T:
        raise ValueError(
            f"S must be at least T, because a token sees itself; received T = {T}, S = {S}. "
            "Pass S = past_length + T."
        )


@checked_by(_check_mask_sizes)
def causal_mask(T: int, S: int) -> torch.Tensor:
    """Say which of S tokens each of the last T may attend to: mask[i, j] = (j <= i + S - T).

    The T queries are the *last* of the S tokens, so the triangle is aligned bottom-right: with
    S > T a cached chunk sees its whole past. Every row allows at least one token.

    Args:
        T: tokens of this call; a positive int.
        S: all tokens, those of this call included; an int with S >= T.

    Returns:
        [T, S], bool; True means "may attend". (``torch.nn.MultiheadAttention`` means the opposite.)

    Raises:
        ValueError: when a size is not a positive int or S < T.

    Example:
        >>> causal_mask(2, 4).int()
        tensor([[1, 1, 1, 0],
                [1, 1, 1, 1]], dtype=torch.int32)

    Source: chapter 04; Vaswani et al. 2017, section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T)  # [T, S]
    ### END SOLUTION


def _check_attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> None:
    _check_queries_and_keys(q, k)
    if not isinstance(v, torch.Tensor) or v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            "v must have one value a key: k [..., S, d_h], v [..., S, d_v]; received "
            f"{describe(k)} and {describe(v)}. Split both into heads in the same way."
        )
    check_floating("Pass projected hidden vectors.", q=q, k=k, v=v)
    if k.shape[-2] < q.shape[-2]:
        raise ValueError(
            f"k must have at least as many tokens as q, because a token sees itself; received T = {q.shape[-2]} in q "
            f"and S = {k.shape[-2]} in k. Join the keys of the past and those of this call."
        )
    if dropout is not None:
        remedy = "Pass an nn.Dropout or None; no mask is passed, the causal one is always there."
        check_function(remedy, dropout=dropout)


@checked_by(_check_attend)
def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> torch.Tensor:
    """Average the values that each token may see: softmax(mask(q k^T / sqrt(d_h))) v.

    Forbidden scores become -inf *before* the softmax, so their weights are exactly 0 and the
    others still sum to 1. Masking after the softmax would leave sums below 1.

    Args:
        q: queries [..., T, d_h], floating point.
        k: keys [..., S, d_h], S >= T; the queries belong to the last T of the S tokens.
        v: values [..., S, d_v]; here d_v = d_h.
        dropout: applied to the weights after the softmax, None (default) for none. In training the
            weights that are left are scaled up, so a row then need not sum to 1.

    Returns:
        [..., T, d_v].

    Raises:
        ValueError: when the shapes or dtypes do not agree, S < T, an axis is empty, a tensor is not
            floating point, or ``dropout`` is no function.

    Example:
        Equal scores average what is visible: 6, then (6 + 0) / 2, then (6 + 0 + 3) / 3.

        >>> v = torch.tensor([[6.0], [0.0], [3.0]])
        >>> attend(torch.zeros(3, 4), torch.zeros(3, 4), v).flatten()
        tensor([6., 3., 3.])

    Source: chapter 04; Vaswani et al. 2017, sections 3.2.1 and 3.2.3.
    """
    ### BEGIN SOLUTION
    scores = scaled_scores(q, k)  # [..., T, S]
    allowed = causal_mask(q.shape[-2], k.shape[-2]).to(scores.device)  # [T, S]
    weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)  # [..., T, S]
    if dropout is not None:
        weights = dropout(weights)
    return weights @ v  # [..., T, S] @ [..., S, d_v] -> [..., T, d_v]
    ### END SOLUTION


def _check_split(x: torch.Tensor, h: int) -> None:
    check_axes(x, "B T d")
    check_heads(h, x.shape[-1], names=("h", "d"))


@checked_by(_check_split)
def split_heads(x: torch.Tensor, h: int) -> torch.Tensor:
    """Cut the features into h consecutive pieces, one a head: [B, T, d] -> [B, h, T, d_h].

    Head i holds the features i d_h to (i + 1) d_h - 1. A view straight to [B, h, T, d_h] has the
    right shape and mixes tokens with heads: the two axes must be exchanged.

    Args:
        x: [B, T, d].
        h: heads; a positive int that divides d.

    Returns:
        [B, h, T, d_h], which shares its memory with ``x`` when it can.

    Raises:
        ValueError: when ``x`` has not three axes or h does not divide d.

    Example:
        >>> split_heads(torch.arange(8.0).reshape(1, 2, 4), 2).tolist()
        [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]]

    Source: chapter 04; Vaswani et al. 2017, section 3.2.2.
    """
    ### BEGIN SOLUTION
    B, T, d = x.shape
    pieces = x.reshape(B, T, h, d // h)  # [B, T, d] -> [B, T, h, d_h]
    return pieces.transpose(1, 2)  # [B, T, h, d_h] -> [B, h, T, d_h]
    ### END SOLUTION


def _check_merge(x: torch.Tensor) -> None:
    check_axes(x, "B h T d_h")


@checked_by(_check_merge)
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Put the heads side by side again, the inverse of ``split_heads``.

    Args:
        x: [B, h, T, d_h].

    Returns:
        [B, T, d] with d = h d_h.

    Raises:
        ValueError: when ``x`` has not four axes.

    Example:
        >>> x = torch.arange(8.0).reshape(1, 2, 4)
        >>> torch.equal(merge_heads(split_heads(x, 2)), x)
        True

    Source: chapter 04; Vaswani et al. 2017, section 3.2.2.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # [B, h, T, d_h] -> [B, T, h, d_h] -> [B, T, d]
    ### END SOLUTION


def _check_attention(module: nn.Module, hidden: Any, past_key_value: Any = None, use_cache: Any = False) -> None:
    check_module_input(module, hidden)
    if past_key_value is not None:
        check_past_key_value(past_key_value, module.n_heads, module.d_head, hidden)
    check_flag(use_cache=use_cache)


class CausalSelfAttention(nn.Module):
    """Let every token read from itself and from the tokens before it.

    ``query``, ``key``, ``value`` and ``output`` are four ``nn.Linear(d, d, bias=False)``: 4 d^2
    parameters, whatever the number of heads. torch stores each matrix as [out, in].

    Dropout sits in two places: on the attention weights, and after the output projection.

    Args:
        config: its ``d_model``, ``n_heads`` and ``dropout`` are used.

    Raises:
        ValueError: when ``config`` is no Config; on a call, when ``hidden`` or the past does not fit.

    Example:
        >>> config = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8)
        >>> attention = CausalSelfAttention(config)
        >>> attended, present = attention(torch.zeros(2, 3, 4), use_cache=True)
        >>> attended.shape, present[0].shape
        (torch.Size([2, 3, 4]), torch.Size([2, 2, 3, 2]))
        >>> _, present = attention(torch.zeros(2, 1, 4), present, use_cache=True)
        >>> present[0].shape
        torch.Size([2, 2, 4, 2])

    Source: chapter 04; Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        check_config(config)
        self.d_model = config.d_model
        self.n_heads = config.n_heads
        self.d_head = config.d_head
        self.query = nn.Linear(config.d_model, config.d_model, bias=False)
        self.key = nn.Linear(config.d_model, config.d_model, bias=False)
        self.value = nn.Linear(config.d_model, config.d_model, bias=False)
        self.output = nn.Linear(config.d_model, config.d_model, bias=False)
        self.weights_dropout = nn.Dropout(config.dropout)
        self.output_dropout = nn.Dropout(config.dropout)
        check_calls(self, _check_attention)

    def forward(
        self,
        hidden: torch.Tensor,
        past_key_value: tuple[torch.Tensor, torch.Tensor] | None = None,
        use_cache: bool = False,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor] | None]:
        """Attend from the tokens of this call to the past and to each other, causally.

        Args:
            hidden: [B, T, d], floating point, the dtype of the weights.
            past_key_value: keys and values of earlier tokens, each [B, h, past, d_h], or None
                (default). They are read, never written.
            use_cache: whether to return the keys and values; False by default.

        Returns:
            attended [B, T, d], and present: a pair of [B, h, S, d_h] with S = past + T when
            ``use_cache``, else None.
        """
        ### BEGIN SOLUTION
        query = split_heads(self.query(hidden), self.n_heads)  # [B, T, d] -> [B, h, T, d_h]
        key = split_heads(self.key(hidden), self.n_heads)  # [B, T, d] -> [B, h, T, d_h]
        value = split_heads(self.value(hidden), self.n_heads)  # [B, T, d] -> [B, h, T, d_h]
        if past_key_value is not None:
            past_key, past_value = past_key_value
            # cat copies: an in-place append would change the cache of whoever holds the past
            key = torch.cat([past_key, key], dim=2)  # [B, h, T, d_h] -> [B, h, S, d_h]
            value = torch.cat([past_value, value], dim=2)  # [B, h, T, d_h] -> [B, h, S, d_h]
        heads = attend(query, key, value, self.weights_dropout)  # [B, h, T, d_h]
        attended = self.output_dropout(self.output(merge_heads(heads)))  # [B, T, d]
        return attended, (key, value) if use_cache else None
        ### END SOLUTION
