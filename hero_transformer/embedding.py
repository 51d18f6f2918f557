"""Token embeddings: from ids to vectors (chapter 02).

Shape letters: B batch, T tokens of this call, V vocabulary, d width of a hidden vector.
"""

from typing import Any

import torch
from torch import nn

from .config import check_positive, describe

__all__ = ["TokenEmbedding", "check_ids", "draw_table", "embed"]

INTEGER_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_ids(ids: Any, vocab_size: int) -> None:
    """Raise ValueError unless ``ids`` are token ids that a table of ``vocab_size`` rows has.

    Indexing alone would not do: a negative id would silently count from the end of the table.

    Args:
        ids: must be an integer tensor [B, T] (not bool), not empty, with 0 <= id < V.
        vocab_size: V, the rows of the table.

    Raises:
        ValueError: says what was expected, what came, and the remedy.

    Example:
        >>> check_ids(torch.tensor([[0, -1]]), vocab_size=4)
        Traceback (most recent call last):
        ...
        ValueError: ids must satisfy 0 <= id < V = 4; received ids from -1 to 0. Encode the text \
with the tokenizer of this model, or build the table with more rows.
    """
    if not isinstance(ids, torch.Tensor) or ids.dtype not in INTEGER_DTYPES:
        raise ValueError(
            f"ids must be an integer tensor [B, T]; received {describe(ids)}. "
            "Build it with torch.tensor(..., dtype=torch.int64)."
        )
    if ids.dim() != 2 or ids.numel() == 0:
        raise ValueError(
            f"ids must have two axes [B, T] and at least one token; received {describe(ids)}. "
            "Give one sequence a batch axis with ids[None, :]."
        )
    lowest, highest = int(ids.min()), int(ids.max())
    if lowest < 0 or highest >= vocab_size:
        raise ValueError(
            f"ids must satisfy 0 <= id < V = {vocab_size}; received ids from {lowest} to "
            f"{highest}. Encode the text with the tokenizer of this model, or build the table "
            "with more rows."
        )


def embed(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Look up the row of each id: out[b, t] = table[ids[b, t]].

    The same as one_hot(ids) @ table, without the V - 1 products with zero. An id that occurs twice
    gets the same row twice, so its gradient is the sum over both places.

    Args:
        ids: [B, T], any integer dtype, 0 <= id < V.
        table: [V, d], one row a token.

    Returns:
        [B, T, d], dtype of ``table``; a copy, so writing into it leaves the table alone.

    Raises:
        ValueError: when ``ids`` is not an integer tensor [B, T] or an id is outside 0 <= id < V
            (a negative id is not wrapped round).

    Example:
        >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
        >>> embed(torch.tensor([[2, 0, 2]]), table)
        tensor([[[2.0000, 2.5000],
                 [0.0000, 0.5000],
                 [2.0000, 2.5000]]])

    Source: chapter 02; Bengio et al. 2003, section 2 (the shared table of word vectors).
    """
    check_ids(ids, table.shape[0])
    # long: torch reads a uint8 index as a mask
    return table[ids.long()]  # [B, T] -> [B, T, d]


def draw_table(
    rows: int, d_model: int, generator: torch.Generator | None = None, seed: int = 0
) -> torch.Tensor:
    """Draw a table [rows, d] from N(0, 0.02), standard deviation 0.02.

    Args:
        rows: V or C; a positive int.
        d_model: d; a positive int.
        generator: where the numbers come from; None means a new generator with ``seed``. The
            global random state is neither read nor changed.
        seed: used only without a generator; 0 by default.

    Raises:
        ValueError: when a size is not a positive int.

    Example:
        >>> torch.equal(draw_table(3, 2), draw_table(3, 2))
        True

    Source: Radford et al. 2018, section 4.1 (N(0, 0.02)).
    """
    check_positive(rows=rows, d_model=d_model)
    if generator is None:
        generator = torch.Generator().manual_seed(seed)
    return 0.02 * torch.randn(rows, d_model, generator=generator)


class TokenEmbedding(nn.Module):
    """A learned vector for every token of the vocabulary.

    ``weight`` [V, d] is a parameter, named as in ``torch.nn.Embedding``, so that state dicts can be
    exchanged.

    Args:
        vocab_size: V; a positive int.
        d_model: d; a positive int.
        generator: where the first values, N(0, 0.02), come from; None (default) means a fixed seed.

    Raises:
        ValueError: when a size is not a positive int; on a call, when the ids are not an integer
            tensor [B, T] with 0 <= id < V.

    Example:
        >>> tokens = TokenEmbedding(vocab_size=10, d_model=4)
        >>> tokens(torch.tensor([[1, 3, 1]])).shape
        torch.Size([1, 3, 4])

    Source: chapter 02.
    """

    def __init__(
        self, vocab_size: int, d_model: int, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        check_positive(vocab_size=vocab_size, d_model=d_model)
        self.weight = nn.Parameter(draw_table(vocab_size, d_model, generator, seed=0))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the vectors [B, T, d] of the ids [B, T]; see ``embed``."""
        return embed(ids, self.weight)
