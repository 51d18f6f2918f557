"""Absolute positions, learned or sinusoidal, added to the token embeddings (chapter 03).

Shape letters: B batch, T tokens of this call, d width of a hidden vector, C most positions.
``past_length`` counts the tokens that a cache already holds: this call starts there, not at 0.
"""

import math
from typing import Any

import torch
from torch import nn

from .arguments import check_count, check_positive, checked_by, describe, whole
from .embedding import draw_table
from .tensor_arguments import check_floating, check_hidden

__all__ = ["PositionEmbedding", "add_positions", "check_block_size", "position_ids"]
__all__ += ["shift_matrix", "sinusoidal_positions"]


def _check_lengths(T: int, past_length: int = 0, C: int = 1) -> None:
    check_positive(T=T, C=C)
    check_count(past_length=past_length)


@checked_by(_check_lengths)
def position_ids(T: int, past_length: int = 0) -> torch.Tensor:
    """Number the tokens of this call: past_length, past_length + 1, ..., past_length + T - 1.

    Args:
        T: tokens of this call; a positive int.
        past_length: tokens before this call, 0 (default) or a positive int.

    Returns:
        [T], int64.

    Raises:
        ValueError: when ``T`` is not a positive int or ``past_length`` is negative.

    Example:
        >>> position_ids(2, past_length=5)
        tensor([5, 6])

    Source: chapter 03.
    """
    ### BEGIN SOLUTION
    return torch.arange(past_length, past_length + T)  # [T]
    ### END SOLUTION


@checked_by(_check_lengths)
def check_block_size(T: int, past_length: int, C: int) -> None:
    """Refuse a sequence that is longer than the position table.

    A table of C rows has no vector for position C; wrapping round to position 0 would be silently
    wrong. The bound is on past_length + T, and equality is allowed.

    Args:
        T: tokens of this call; a positive int.
        past_length: tokens before this call, 0 or a positive int.
        C: most positions; a positive int.

    Raises:
        ValueError: when past_length + T > C, or when an argument is not such an int.

    Example:
        >>> check_block_size(64, 0, 64)
        >>> check_block_size(65, 0, 64)
        Traceback (most recent call last):
        ...
        ValueError: past + T must be at most C = 64; received 0 + 65 = 65. Shorten the input or enlarge block_size.

    Source: chapter 03.
    """
    ### BEGIN SOLUTION
    if past_length + T > C:
        raise ValueError(
            f"past + T must be at most C = {C}; received {past_length} + {T} = {past_length + T}. "
            "Shorten the input or enlarge block_size."
        )
    ### END SOLUTION


def _check_addends(hidden: torch.Tensor, table: torch.Tensor, past_length: int = 0) -> None:
    if not isinstance(table, torch.Tensor) or table.dim() != 2:
        raise ValueError(
            f"table must be a tensor [C, d], one row a position; received {describe(table)}. "
            "Draw one with draw_table(C, d) or compute one with sinusoidal_positions(C, d)."
        )
    check_hidden(hidden, table.shape[-1])
    check_floating(hidden=hidden, table=table)


@checked_by(_check_addends)
def add_positions(hidden: torch.Tensor, table: torch.Tensor, past_length: int = 0) -> torch.Tensor:
    """Add to each token the vector of its position: out[b, t] = hidden[b, t] + table[past + t].

    The time axis is axis 1; every sequence of the batch gets the same vectors.

    Args:
        hidden: [B, T, d], floating point.
        table: [C, d], one row a position.
        past_length: tokens that the cache already holds; 0 by default.

    Returns:
        [B, T, d], a new tensor; ``hidden`` and ``table`` stay as they were.

    Raises:
        ValueError: when ``table`` is not [C, d], ``hidden`` is not a floating tensor [B, T, d], their
            dtypes differ, or past_length + T > C.

    Example:
        >>> table = torch.tensor([[0.0], [10.0], [20.0]])
        >>> add_positions(torch.ones(1, 2, 1), table, past_length=1)
        tensor([[[11.],
                 [21.]]])

    Source: chapter 03; Gehring et al. 2017, section 3.1; Radford et al. 2019, section 2.3.
    """
    ### BEGIN SOLUTION
    T = hidden.shape[1]
    check_block_size(T, past_length, table.shape[0])
    return hidden + table[position_ids(T, past_length)]  # [B, T, d] + [T, d] -> [B, T, d]
    ### END SOLUTION


def _check_base(base: Any) -> None:
    number = isinstance(base, (int, float)) and not isinstance(base, bool)
    if not (number and 1 < base < math.inf):  # NaN fails every comparison
        raise ValueError(f"base = {base!r} must be a finite number above 1; pass 10000.0.")


def _check_sinusoids(C: int, d_model: int, base: float = 10000.0) -> None:
    check_positive(C=C, d_model=d_model)
    _check_base(base)


@checked_by(_check_sinusoids)
def sinusoidal_positions(C: int, d_model: int, base: float = 10000.0) -> torch.Tensor:
    """Compute a position table instead of learning one: sines and cosines, side by side.

    Columns 2i and 2i + 1 of row p are the sine and the cosine of one angle:

        table[p, 2i] = sin(p / base^(2i/d)),  table[p, 2i + 1] = cos(p / base^(2i/d)).

    The first pair turns by 1 radian a position, later ones more slowly. With an odd d the last
    column is a sine without its cosine. Nothing here is a parameter.

    Args:
        C: positions, the rows of the table; a positive int.
        d_model: d, the columns; a positive int.
        base: sets how slowly the last pairs turn; above 1, 10000.0 by default.

    Returns:
        [C, d], float64: at large p a float32 angle is off by p times 6e-8. Convert it last.

    Raises:
        ValueError: when a size is not a positive int or ``base`` is not a finite number above 1.

    Example:
        >>> sinusoidal_positions(2, 4)
        tensor([[0.0000, 1.0000, 0.0000, 1.0000],
                [0.8415, 0.5403, 0.0100, 1.0000]], dtype=torch.float64)

    Source: chapter 03; Vaswani et al. 2017, section 3.5.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # 2i/d, one a pair
    angles = positions[:, None] * base**-exponents  # [C, 1] * [pairs] -> [C, pairs]
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # [C, pairs, 2]
    return pairs.flatten(1)[:, :d_model]  # an odd d drops the last cosine
    ### END SOLUTION


def _check_shift(k: int, d_model: int, base: float = 10000.0) -> None:
    if not whole(k):
        raise ValueError(f"k = {k!r} must be an int, negative to go back; pass a whole number.")
    check_positive(d_model=d_model)
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} must be even, so that every sine has its cosine; pass {d_model + 1}.")
    _check_base(base)


@checked_by(_check_shift)
def shift_matrix(k: int, d_model: int, base: float = 10000.0) -> torch.Tensor:
    """Build the matrix that moves every sinusoidal position on by k: row(p) @ M = row(p + k).

    One matrix serves all p. It is zero but for d/2 blocks on the diagonal; the block of pair i
    turns (sin a, cos a) by the angle b = k / base^(2i/d):

        [ cos b  -sin b ]
        [ sin b   cos b ]

    Args:
        k: positions to go on by, any int; negative goes back.
        d_model: d; a positive even int.
        base: as in ``sinusoidal_positions``.

    Returns:
        [d, d], float64, for rows multiplied from the left: row @ M.

    Raises:
        ValueError: when ``k`` is not an int, ``d_model`` is not a positive even int or ``base`` is
            not a finite number above 1.

    Example:
        >>> table = sinusoidal_positions(6, 4)
        >>> torch.allclose(table[:4] @ shift_matrix(2, 4), table[2:])
        True

    Source: chapter 03; Vaswani et al. 2017, section 3.5 (that such a map exists).
    """
    ### BEGIN SOLUTION
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # 2i/d, one a pair
    turns = k * base**-exponents  # b, [d/2]
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, -sin, sin, cos], dim=-1).reshape(-1, 2, 2)  # [d/2, 2, 2]
    return torch.block_diag(*blocks)  # [d, d]
    ### END SOLUTION


class PositionEmbedding(nn.Module):
    """A learned vector for every position.

    ``weight`` [C, d] is a parameter: a larger C costs parameters even when one token comes in.

    Args:
        block_size: C; a positive int.
        d_model: d; a positive int.
        generator: where the first values, N(0, 0.02), come from; None (default) means a fixed seed,
            another one than that of TokenEmbedding.

    Raises:
        ValueError: when a size is not a positive int or ``generator`` is none; on a call, as
            ``add_positions`` does.

    Example:
        >>> positions = PositionEmbedding(block_size=64, d_model=4)
        >>> positions(torch.zeros(2, 3, 4)).shape
        torch.Size([2, 3, 4])

    Source: chapter 03.
    """

    def __init__(self, block_size: int, d_model: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        check_positive(block_size=block_size, d_model=d_model)
        self.weight = nn.Parameter(draw_table(block_size, d_model, generator, seed=1))

    def extra_repr(self) -> str:
        """The sizes C and d, as ``print`` shows them."""
        return "{}, {}".format(*self.weight.shape)

    def forward(self, hidden: torch.Tensor, past_length: int = 0) -> torch.Tensor:
        """Return ``hidden`` [B, T, d] plus the positions from ``past_length`` on."""
        return add_positions(hidden, self.weight, past_length)
