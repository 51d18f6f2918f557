"""Token embeddings: from ids to vectors, and the way back for gradients (chapter 02).

Shape letters: B batch, T tokens of this call, V vocabulary, d width of a hidden vector. A table is
[V, d]: one row a token.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from .arguments import check_generator, check_positive, checked_by, describe, whole
from .tensor_arguments import INTEGER_DTYPES, check_range, two_axes

__all__ = ["TokenEmbedding", "check_ids", "draw_table", "embed", "embedding_backward"]
__all__ += ["init_embedding", "nearest_tokens", "one_hot_matmul"]

def check_ids(ids: Any, vocab_size: int) -> None:
    """Raise ValueError unless ``ids`` are token ids that a table of ``vocab_size`` rows has.

    Indexing alone would not do: a negative id would silently count from the end of the table.

    Where torch only traces, the ids have no values yet, and only their shape and dtype are checked; see
    `hero_transformer.tensor_arguments.values_readable`.

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
            f"ids must have two axes [B, T] and at least one token; received {describe(ids)}. {two_axes(ids)}"
        )
    tokenizer = "Encode the text with the tokenizer of this model"
    check_range(ids, vocab_size, "id", f"{tokenizer}, or build the table with more rows.")


def check_table(table: Any) -> None:
    """Raise ValueError unless ``table`` is a floating-point tensor [V, d] without an empty axis."""
    floating = isinstance(table, torch.Tensor) and table.is_floating_point()
    if not floating or table.dim() != 2 or table.numel() == 0:
        raise ValueError(
            f"table must be a floating-point tensor [V, d], not empty; received {describe(table)}. "
            "Pass the weight of an embedding, one row a token."
        )


@checked_by(lambda ids, table: check_table(table))
def embed(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Look up the row of each id: out[b, t] = table[ids[b, t]].

    The same as one_hot(ids) @ table, without the V - 1 products with zero. An id that occurs twice
    gets the same row twice, so its gradient is the sum over both places. The ids are checked here
    and not by the table: indexing would wrap a negative id round without a word.

    Args:
        ids: [B, T], any integer dtype, 0 <= id < V.
        table: [V, d], one row a token.

    Returns:
        [B, T, d], dtype of ``table``; a copy, so writing into it leaves the table alone.

    Raises:
        ValueError: when ``ids`` is not an integer tensor [B, T], an id is outside 0 <= id < V
            (a negative id is not wrapped round), or ``table`` is not a floating tensor [V, d].

    Example:
        >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
        >>> embed(torch.tensor([[2, 0, 2]]), table)
        tensor([[[2.0000, 2.5000],
                 [0.0000, 0.5000],
                 [2.0000, 2.5000]]])

    Source: chapter 02; Bengio et al. 2003, section 2 (the shared table of word vectors).
    """
    ### BEGIN SOLUTION
    check_ids(ids, table.shape[0])
    # long: torch reads a uint8 index as a mask
    return table[ids.long()]  # [B, T] -> [B, T, d]
    ### END SOLUTION


def _check_lookup(ids: torch.Tensor, table: torch.Tensor) -> None:
    check_table(table)
    check_ids(ids, table.shape[0])


@checked_by(_check_lookup)
def one_hot_matmul(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Look rows up by a matrix product: one_hot(ids) @ table.

    One-hot row (b, t) is 1 at place ids[b, t] and 0 at the V - 1 others. The values are those of
    ``embed`` while the table is finite; 0 times inf is NaN, so one infinite row spoils them all.

    Args:
        ids: [B, T], any integer dtype, 0 <= id < V.
        table: [V, d], one row a token.

    Returns:
        [B, T, d], dtype of ``table``.

    Raises:
        ValueError: when ``ids`` is not an integer tensor [B, T] with 0 <= id < V, or ``table`` is
            not a floating tensor [V, d].

    Example:
        >>> one_hot_matmul(torch.tensor([[2, 0]]), torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
        tensor([[[4., 5.],
                 [0., 1.]]])

    Source: chapter 02.
    """
    ### BEGIN SOLUTION
    # num_classes: without it the width is the largest id of this batch plus 1, not V
    one_hot = F.one_hot(ids.long(), num_classes=table.shape[0])  # [B, T] -> [B, T, V]
    return one_hot.to(table.dtype) @ table  # [B, T, V] @ [V, d] -> [B, T, d]
    ### END SOLUTION


def _check_backward(ids: torch.Tensor, upstream: torch.Tensor, vocab_size: int) -> None:
    check_positive(vocab_size=vocab_size)
    check_ids(ids, vocab_size)
    floating = isinstance(upstream, torch.Tensor) and upstream.is_floating_point()
    if not floating or upstream.dim() != 3 or upstream.shape[:2] != ids.shape:
        B, T = ids.shape
        raise ValueError(
            f"upstream must be a floating-point tensor [B, T, d] with B = {B} and T = {T}, as ids; "
            f"received {describe(upstream)}. Pass the gradient of what embed returned."
        )


@checked_by(_check_backward)
def embedding_backward(ids: torch.Tensor, upstream: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Send the gradient of the looked-up vectors back into the table.

    dE[v] is the *sum* of upstream[b, t] over all places (b, t) with ids[b, t] = v, and 0 for a token
    that does not occur. Note that ``grad[ids] += upstream`` keeps one of several places and drops
    the others.

    Args:
        ids: [B, T], any integer dtype, 0 <= id < V: those that were looked up.
        upstream: [B, T, d], the gradient of the loss with respect to ``embed(ids, table)``.
        vocab_size: V, the rows of the table; a positive int.

    Returns:
        [V, d], dtype of ``upstream``: the gradient of the loss with respect to the table.

    Raises:
        ValueError: when ``ids`` is not an integer tensor [B, T] with 0 <= id < V, or ``upstream``
            is not a floating tensor [B, T, d].

    Example:
        >>> embedding_backward(torch.tensor([[1, 3, 1]]), torch.ones(1, 3, 2), vocab_size=4)
        tensor([[0., 0.],
                [2., 2.],
                [0., 0.],
                [1., 1.]])

    Source: chapter 02.
    """
    ### BEGIN SOLUTION
    places = upstream.flatten(0, 1)  # [B, T, d] -> [B T, d]
    gradient = upstream.new_zeros(vocab_size, upstream.shape[-1])  # [V, d]
    return gradient.index_add_(0, ids.flatten().long(), places)
    ### END SOLUTION


def _check_init(vocab_size: int, d_model: int, generator: torch.Generator) -> None:
    check_positive(vocab_size=vocab_size, d_model=d_model)
    check_generator(generator)


@checked_by(_check_init)
def init_embedding(vocab_size: int, d_model: int, generator: torch.Generator) -> torch.Tensor:
    """Draw the first values of a table: independent N(0, 0.02), standard deviation 0.02.

    Args:
        vocab_size: V, the rows; a positive int.
        d_model: d, the columns; a positive int.
        generator: where the numbers come from, drawn in one go in the order of the table. The
            global random state is neither read nor changed.

    Returns:
        [V, d], in torch's default dtype.

    Raises:
        ValueError: when a size is not a positive int, or ``generator`` is no generator.

    Example:
        >>> table = init_embedding(200, 200, torch.Generator().manual_seed(0))
        >>> table.shape, round(table.std().item(), 3)
        (torch.Size([200, 200]), 0.02)

    Source: chapter 02; Radford et al. 2018, section 4.1 (N(0, 0.02)).
    """
    ### BEGIN SOLUTION
    return 0.02 * torch.randn(vocab_size, d_model, generator=generator)
    ### END SOLUTION


def draw_table(
    rows: int, d_model: int, generator: torch.Generator | None = None, seed: int = 0
) -> torch.Tensor:
    """Draw a table [rows, d] by ``init_embedding``, from a seed unless a generator is given.

    Args:
        rows: V or C; a positive int.
        d_model: d; a positive int.
        generator: where the numbers come from; None means a new generator with ``seed``. The
            global random state is neither read nor changed.
        seed: used only without a generator; 0 by default.

    Raises:
        ValueError: when a size is not a positive int, or ``generator`` is neither None nor a generator.

    Example:
        >>> torch.equal(draw_table(3, 2), draw_table(3, 2))
        True

    Source: chapter 02.
    """
    check_positive(rows=rows, d_model=d_model)
    if generator is None:
        generator = torch.Generator().manual_seed(seed)
    return init_embedding(rows, d_model, generator)


def _check_neighbours(table: torch.Tensor, id: int, k: int) -> None:
    check_table(table)
    V = table.shape[0]
    if not whole(id) or not whole(k) or not 0 <= id < V or not 1 <= k < V:
        raise ValueError(
            f"id and k must be ints with 0 <= id < V = {V} and 1 <= k < V; received id = {id!r} and "
            f"k = {k!r}. A token has at most V - 1 neighbours, since it is not its own."
        )
    without_direction = (~table.any(dim=1) | ~table.isfinite().all(dim=1)).nonzero().flatten().tolist()
    if without_direction:
        raise ValueError(
            f"every row of table must have a direction; the rows {without_direction} are zero or not finite. "
            "Leave them out, or draw the table first."
        )


@checked_by(_check_neighbours)
def nearest_tokens(table: torch.Tensor, id: int, k: int) -> list[int]:
    """Name the k other tokens whose vectors point most nearly in the direction of token ``id``.

    The measure is cosine similarity, a . b / (|a| |b|): lengths do not count, and the opposite
    direction is farthest away.

    Args:
        table: [V, d], floating point, finite, no row zero; it stays as it was.
        id: the token, an int with 0 <= id < V. It is not among its own neighbours.
        k: how many; an int with 1 <= k <= V - 1.

    Returns:
        k ids as plain ints, most similar first; of equally similar tokens the smaller id first.

    Raises:
        ValueError: when ``table`` is not a floating tensor [V, d] or has a row that is zero or not
            finite, or when ``id`` or ``k`` is out of range.

    Example:
        >>> table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [4.0, 3.0], [-1.0, 0.0]])
        >>> nearest_tokens(table, 0, 2)
        [2, 1]

    Source: chapter 02.
    """
    ### BEGIN SOLUTION
    # first to entries of at most 1: the squares of very small ones would be 0, of very large ones inf
    scaled = table / table.abs().amax(dim=1, keepdim=True)
    directions = scaled / scaled.norm(dim=1, keepdim=True)  # [V, d], every row of length 1
    similarity = directions @ directions[id]  # [V, d] @ [d] -> [V]
    ranking = similarity.argsort(descending=True, stable=True).tolist()  # stable: ties by id
    return [other for other in ranking if other != id][:k]
    ### END SOLUTION


class TokenEmbedding(nn.Module):
    """A learned vector for every token of the vocabulary.

    ``weight`` [V, d] is a parameter, named as in ``torch.nn.Embedding``, so that state dicts can be
    exchanged.

    Args:
        vocab_size: V; a positive int.
        d_model: d; a positive int.
        generator: where the first values, N(0, 0.02), come from; None (default) means a fixed seed.

    Raises:
        ValueError: when a size is not a positive int or ``generator`` is none; on a call, when the ids
            are not an integer tensor [B, T] with 0 <= id < V.

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

    def extra_repr(self) -> str:
        """The sizes V and d, as ``print`` shows them."""
        return "{}, {}".format(*self.weight.shape)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the vectors [B, T, d] of the ids [B, T]; see ``embed``."""
        return embed(ids, self.weight)
