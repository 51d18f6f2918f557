"""Training byte pairs on many pieces, with counts that are updated and never taken anew (chapter 01).

The pair of the highest count comes from a heap. Its entries are never changed: a pair whose count changed is put in
again, and an entry whose count is no longer true is thrown away when it comes out.
"""

import heapq
from collections import Counter, defaultdict

__all__ = ["train_on_pieces"]


def train_on_pieces(pieces: dict[bytes, int], n_merges: int) -> list[tuple[int, int]]:
    """Learn merges as `hero_transformer.tokenizer.train_bpe` does, by the same rule for ties, from many pieces.

    Args:
        pieces: the bytes of each different piece, and how often it occurs.
        n_merges: at most so many merges.

    Returns:
        The merged pairs in order of rank; merge k makes the token 256 + k.

    Example:
        >>> train_on_pieces({b"aaabdaaabac": 1}, 10)
        [(97, 97), (97, 98), (256, 257)]
    """
    tokens = [bytes([byte]) for byte in range(256)]
    chain = _Chain(pieces)
    heap = [(-n, tokens[pair[0]], tokens[pair[1]], pair) for pair, n in chain.totals.items()]
    heapq.heapify(heap)
    merges: list[tuple[int, int]] = []
    while heap and len(merges) < n_merges:
        n, _, _, best = heapq.heappop(heap)
        if chain.totals[best] != -n:  # an older count: the newer one is in the heap as well
            continue
        if -n < 2:
            break
        changed = chain.merge(best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
        for pair in changed:
            if chain.totals[pair] > 0:
                heapq.heappush(heap, (-chain.totals[pair], tokens[pair[0]], tokens[pair[1]], pair))
    return merges


class _Chain:
    """All pieces in one row of places, each place linked to its neighbours, and the counts of their pairs.

    ``totals`` counts a pair once for each occurrence of its piece; ``places`` holds where its left token stands.
    A merge touches its own places and their neighbours, whatever the length of the row.
    """

    def __init__(self, pieces: dict[bytes, int]) -> None:
        self.ids: list[int] = []
        self.left: list[int] = []  # the neighbour's place, -1 at the ends of a piece
        self.right: list[int] = []
        self.times: list[int] = []
        self.totals: Counter[tuple[int, int]] = Counter()
        self.places: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for piece, n in pieces.items():
            start, end = len(self.ids), len(self.ids) + len(piece)
            self.ids += piece
            self.left += [-1, *range(start, end - 1)]
            self.right += [*range(start + 1, end), -1]
            self.times += [n] * len(piece)
        for place in range(len(self.ids)):
            self._add(place, 1)

    def _add(self, place: int, sign: int) -> tuple[int, int] | None:
        """Count the pair whose left token is at a place (sign 1), or stop counting it (-1); return it."""
        if place < 0 or self.right[place] < 0:
            return None
        pair = self.ids[place], self.ids[self.right[place]]
        self.totals[pair] += sign * self.times[place]
        (self.places[pair].add if sign > 0 else self.places[pair].discard)(place)
        return pair

    def merge(self, pair: tuple[int, int], new_id: int) -> set[tuple[int, int]]:
        """Merge a pair everywhere, from left to right; return the pairs whose counts changed."""
        changed: set[tuple[int, int] | None] = set()
        for place in sorted(self.places[pair]):
            if place not in self.places[pair]:  # one of its tokens went into the merge before
                continue
            used = self.right[place]
            around = (self.left[place], place, used)
            changed.update(self._add(one, -1) for one in around)
            self.ids[place], self.right[place] = new_id, self.right[used]
            if self.right[used] >= 0:
                self.left[self.right[used]] = place
            changed.update(self._add(one, 1) for one in around[:2])
        return changed - {None}
