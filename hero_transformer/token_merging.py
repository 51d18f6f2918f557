"""Merging one long piece in a time that grows with its length and not with its square (chapter 01).

`hero_transformer.tokenizer.BPETokenizer.encode` counts a piece's pairs again after every merge. That is the shortest
way to say what encoding is, and quick for words; a piece of thousands of bytes, such as a line without a space, takes
the way below, to the same ids.
"""

import functools
import heapq
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = ["merge_by_rank", "quickened"]

LONG = 12  # bytes of a piece, from which on it is merged below; a word has fewer


def merge_by_rank(
    ids: Sequence[int], ranks: Mapping[tuple[int, int], int], merges: Mapping[tuple[int, int], int]
) -> list[int]:
    """Merge the pair of the lowest rank, of equal ones the leftmost, until no pair has a rank.

    Each place knows its neighbours, and a heap holds the pairs that may be merged. An entry is never changed: one that
    is no longer true, since its pair went into another merge, is thrown away when it comes out.

    Args:
        ids: the tokens of one piece; they stay as they were.
        ranks: the rank of each pair that merges.
        merges: what it becomes.

    Returns:
        The tokens that are left.

    Example:
        >>> merge_by_rank([1, 1, 1, 2], {(1, 1): 0, (9, 1): 1}, {(1, 1): 9, (9, 1): 10})
        [10, 2]
    """
    ids, end = list(ids), len(ids)
    right = list(range(1, end + 1))
    left = list(range(-1, end - 1))
    heap = [(ranks[pair], place) for place, pair in enumerate(pairwise(ids)) if pair in ranks]
    heapq.heapify(heap)
    while heap:
        rank, place = heapq.heappop(heap)
        used = right[place]
        if used == end or ranks.get(pair := (ids[place], ids[used])) != rank:
            continue
        ids[place], ids[used] = merges[pair], -1  # -1: used up, in no pair
        after = right[place] = right[used]
        if after < end:
            left[after] = place
            if (rank := ranks.get((ids[place], ids[after]))) is not None:
                heapq.heappush(heap, (rank, place))
        before = left[place]
        if before >= 0 and (rank := ranks.get((ids[before], ids[place]))) is not None:
            heapq.heappush(heap, (rank, before))
    return [number for number in ids if number >= 0]


def quickened(simple: Callable[[Any, str], list[int]]) -> Callable[[Any, str], list[int]]:
    """Let the method that encodes a text do so for each different word once, and long pieces by `merge_by_rank`.

    Args:
        simple: ``BPETokenizer.encode`` as it is written; right for any text, slow for a long piece.

    Returns:
        A method with the same ids for the same text.
    """

    @functools.wraps(simple)
    def encode(self: Any, text: str) -> list[int]:
        known: dict[str, list[int]] = {}
        ids: list[int] = []
        for piece, special in self.split(text):
            if special:
                ids.append(self.special_tokens[piece])
                continue
            if piece not in known:
                part = [self.byte_ids[byte] for byte in piece.encode("utf-8")]
                known[piece] = simple(self, piece) if len(part) < LONG else merge_by_rank(part, self.ranks, self.merges)
            ids += known[piece]
        return ids

    return encode
