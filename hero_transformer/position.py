"""Learned absolute positions, added to the token embeddings (chapter 03).

Shape letters: B batch, T tokens of this call, d width of a hidden vector, C most positions.
``past_length`` counts the tokens that a cache already holds: this call starts there, not at 0.
"""

import torch
from torch import nn

from .config import check_hidden, check_positive, checked_by
from .embedding import draw_table

__all__ = ["PositionEmbedding", "add_positions", "check_block_size", "position_ids"]


def _check_lengths(T: int, past_length: int = 0, C: int = 1) -> None:
    check_positive(T=T, C=C)
    if past_length != 0:
        check_positive(past_length=past_length)


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
    return torch.arange(past_length, past_length + T)  # [T]


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
        ValueError: past_length + T must be at most C = 64; received 0 + 65 = 65. Shorten the \
input to its last 64 tokens without a cache, or build the model with a larger block_size.

    Source: chapter 03.
    """
    if past_length + T > C:
        raise ValueError(
            f"past_length + T must be at most C = {C}; received {past_length} + {T} = "
            f"{past_length + T}. Shorten the input to its last {C} tokens without a cache, "
            "or build the model with a larger block_size."
        )


def _check_addends(hidden: torch.Tensor, table: torch.Tensor, past_length: int = 0) -> None:
    check_hidden(hidden, table.shape[-1])


@checked_by(_check_addends)
def add_positions(hidden: torch.Tensor, table: torch.Tensor, past_length: int = 0) -> torch.Tensor:
    """Add to each token the vector of its position: out[b, t] = hidden[b, t] + table[past + t].

    The time axis is axis 1; every sequence of the batch gets the same vectors.

    Args:
        hidden: [B, T, d], floating point.
        table: [C, d], one row a position.
        past_length: tokens that the cache already holds; 0 by default.

    Returns:
        [B, T, d], a new tensor; ``hidden`` stays as it was.

    Raises:
        ValueError: when ``hidden`` is not a floating tensor [B, T, d], or past_length + T > C.

    Example:
        >>> table = torch.tensor([[0.0], [10.0], [20.0]])
        >>> add_positions(torch.ones(1, 2, 1), table, past_length=1)
        tensor([[[11.],
                 [21.]]])

    Source: chapter 03; Gehring et al. 2017, section 3.1; Radford et al. 2019, section 2.3.
    """
    T = hidden.shape[1]
    check_block_size(T, past_length, table.shape[0])
    return hidden + table[position_ids(T, past_length)]  # [B, T, d] + [T, d] -> [B, T, d]


class PositionEmbedding(nn.Module):
    """A learned vector for every position.

    ``weight`` [C, d] is a parameter: a larger C costs parameters even when one token comes in.

    Args:
        block_size: C; a positive int.
        d_model: d; a positive int.
        generator: where the first values, N(0, 0.02), come from; None (default) means a fixed seed,
            another one than that of TokenEmbedding.

    Raises:
        ValueError: when a size is not a positive int; on a call, as ``add_positions`` does.

    Example:
        >>> positions = PositionEmbedding(block_size=64, d_model=4)
        >>> positions(torch.zeros(2, 3, 4)).shape
        torch.Size([2, 3, 4])

    Source: chapter 03.
    """

    def __init__(
        self, block_size: int, d_model: int, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        check_positive(block_size=block_size, d_model=d_model)
        self.weight = nn.Parameter(draw_table(block_size, d_model, generator, seed=1))

    def forward(self, hidden: torch.Tensor, past_length: int = 0) -> torch.Tensor:
        """Return ``hidden`` [B, T, d] plus the positions from ``past_length`` on."""
        return add_positions(hidden, self.weight, past_length)
