"""From text to ids and back: characters, and byte pairs (chapter 01).

Letters: V size of the vocabulary, T tokens of a text. A *pair* is two tokens that stand side by side; a
*merge* replaces a pair by one new token; its *rank* is its place among the merges, the first learned being 0.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from .arguments import check_count, check_ints, check_sequence, checked_by, whole
from .token_files import read_files, write_files
from .token_merging import quickened
from .token_pieces import check_special_tokens, check_text, check_unicode, settled, split
from .token_training import train_on_pieces

__all__ = ["BPETokenizer", "CharTokenizer", "count_pairs", "merge_pair", "train_bpe"]


_TO_INTS = "Pass a list of ids; turn a tensor or an array into ints with .tolist()."


def _check_text(self: Any, text: str) -> None:
    check_text(text)


def _check_ids(self: Any, ids: Any) -> None:
    check_ints(_TO_INTS, ids=ids)


class CharTokenizer:
    """One token a character: the alphabet of a text, in code point order.

    Args:
        text: the text whose characters make the alphabet; not empty.

    Attributes:
        symbols: the V characters in the order of their ids, 0 <= id < V. The order depends on the set of
            characters alone, not on where they stand in the text.

    Raises:
        ValueError: when ``text`` is not a str or is empty.

    Example:
        >>> tokenizer = CharTokenizer("banana")
        >>> tokenizer.symbols, tokenizer.encode("nab"), tokenizer.decode([1, 0, 2])
        (('a', 'b', 'n'), [2, 0, 1], 'ban')

    Source: chapter 01.
    """

    def __init__(self, text: str) -> None:
        check_text(text)
        if not text:
            raise ValueError("text must have at least one character; received ''. Pass the text to be encoded.")
        self.symbols = tuple(sorted(set(text)))

    @property
    def vocab_size(self) -> int:
        """V: the characters of the alphabet."""
        return len(self.symbols)

    @checked_by(_check_text)
    def encode(self, text: str) -> list[int]:
        """Give each character its id, its place in ``self.symbols``.

        Args:
            text: any str of the alphabet's characters; may be empty.

        Returns:
            One int a character.

        Raises:
            ValueError: for a character outside the alphabet; the message names the character and its place in
                ``text``, counted from 0.

        Example:
            >>> CharTokenizer("banana").encode("bad")
            Traceback (most recent call last):
            ...
            ValueError: the alphabet has no 'd', at place 2 of the text; build the tokenizer from a text that has it.
        """
        ### BEGIN SOLUTION
        ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        for place, symbol in enumerate(text):
            if symbol not in ids:
                raise ValueError(
                    f"the alphabet has no {symbol!r}, at place {place} of the text; "
                    "build the tokenizer from a text that has it."
                )
        return [ids[symbol] for symbol in text]
        ### END SOLUTION

    @checked_by(_check_ids)
    def decode(self, ids: Sequence[int]) -> str:
        """Write the character of each id, one after another.

        Args:
            ids: ints with 0 <= id < V; may be empty.

        Returns:
            A str of one character an id: ``decode(encode(text)) == text``.

        Raises:
            ValueError: for an id outside, negative ones too: -1 is not the last character. (What is no int is refused
                before.)
        """
        ### BEGIN SOLUTION
        for place, number in enumerate(ids):
            if not 0 <= number < len(self.symbols):
                raise ValueError(
                    f"ids must satisfy 0 <= id < V = {len(self.symbols)}; received {number} at place {place}."
                )
        return "".join(self.symbols[number] for number in ids)
        ### END SOLUTION


@checked_by(lambda ids: check_sequence(_TO_INTS, ids=ids))
def count_pairs(ids: Sequence[int]) -> dict[tuple[int, int], int]:
    """Count how often each pair stands in a sequence: the places t with (ids[t], ids[t+1]) = pair.

    Every place counts, also where two of them overlap: (1, 1) stands twice in 1 1 1, though only one of the
    two can be merged.

    Args:
        ids: the sequence, of any length; ``bytes`` will do. It is not changed.

    Returns:
        For each pair that occurs, the number of its places; they add up to len(ids) - 1.

    Raises:
        ValueError: when ``ids`` is no sequence, or a tensor, whose entries would all count as different.

    Example:
        >>> count_pairs([1, 1, 1, 2])
        {(1, 1): 2, (1, 2): 1}

    Source: chapter 01; Sennrich et al. 2016, section 3.2.
    """
    ### BEGIN SOLUTION
    counts: dict[tuple[int, int], int] = {}
    for place in range(len(ids) - 1):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts
    ### END SOLUTION


def _check_merge(ids: Sequence[int], pair: tuple[int, int], new_id: int) -> None:
    check_sequence(_TO_INTS, ids=ids)
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"pair must be a tuple of two ids; received {pair!r}. Pass for instance (97, 98).")


@checked_by(_check_merge)
def merge_pair(ids: Sequence[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Replace a pair by one new token, from left to right, without overlap.

    In 1 1 1 the pair (1, 1) is replaced once, at the left: a token that went into a merge is used up.

    Args:
        ids: the sequence, of any length. It is not changed.
        pair: the two ids to be replaced.
        new_id: what stands in their place.

    Returns:
        A new list.

    Raises:
        ValueError: when ``ids`` is no sequence or ``pair`` is not a tuple of two.

    Example:
        >>> merge_pair([1, 1, 1, 2, 1, 1], (1, 1), 9)
        [9, 1, 2, 9]

    Source: chapter 01; Sennrich et al. 2016, section 3.2.
    """
    ### BEGIN SOLUTION
    merged: list[int] = []
    place = 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            merged.append(new_id)
            place += 2
        else:
            merged.append(ids[place])
            place += 1
    return merged
    ### END SOLUTION


def _check_training(ids: Sequence[int], n_merges: int) -> None:
    check_count(n_merges=n_merges)
    remedy = "Pass bytes, as of text.encode('utf-8'), or ints from 0 to 255."
    check_ints(remedy, ids=ids)
    if len(ids) and not 0 <= min(ids) <= max(ids) < 256:
        raise ValueError(f"ids must be bytes; received ints from {min(ids)} to {max(ids)}. {remedy}")


@checked_by(_check_training)
def train_bpe(ids: Sequence[int], n_merges: int) -> list[tuple[int, int]]:
    """Learn merges from one sequence of bytes: merge the most frequent pair, count again, and so on.

    The pairs are counted as in ``count_pairs``. Among pairs of the highest count the one whose left token has the
    smallest bytes is merged, and among these the one whose right token has (b"a" < b"aa" < b"b"). So the
    result does not depend on the order in which pairs were met.

    Args:
        ids: bytes, 0 <= id < 256.
        n_merges: at most so many merges; 0 or more.

    Returns:
        The merged pairs in order; merge k makes the token 256 + k. Fewer than ``n_merges`` when no pair stands
        twice any more.

    Raises:
        ValueError: when an id is no byte or ``n_merges`` is negative.

    Example:
        >>> train_bpe(b"aaabdaaabac", 10)
        [(97, 97), (97, 98), (256, 257)]

    Source: chapter 01; Gage 1994; Sennrich et al. 2016, section 3.2.
    """
    ### BEGIN SOLUTION
    ids = list(ids)
    tokens = [bytes([byte]) for byte in range(256)]
    merges: list[tuple[int, int]] = []
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        # the most frequent; of several the one of the smallest bytes
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]), default=None)
        if best is None or counts[best] < 2:  # no pair stands twice
            break
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges
    ### END SOLUTION


def _check_unicode(self: Any, text: str) -> None:
    check_unicode(text)


def _check_known(self: Any, ids: Sequence[int]) -> None:
    check_ints(_TO_INTS, ids=ids)
    V = len(self.tokens)
    if len(ids) and not 0 <= min(ids) <= max(ids) < V:
        place, number = next((place, number) for place, number in enumerate(ids) if not 0 <= number < V)
        raise ValueError(
            f"ids must satisfy 0 <= id < V = {V}; received {number} at place {place}. "
            "Use the tokenizer that made these ids."
        )


class BPETokenizer:
    """Byte pair encoding on the bytes of UTF-8, in GPT-2's form: every text has ids, and its ids give it back.

    Args:
        merges: the pairs in order of rank, as ``train_bpe`` returns them: below 256 a byte, 256 + k merge k.
        special_tokens: texts that are one token each and never merged with anything; they come after the merges.
        numbering: for those of other people's files that count otherwise: the id of each of the 256 bytes, of each
            merge and of each special token; None (default) numbers them 0 ... V - 1 in this order.

    Attributes:
        tokens: the bytes of each id, a list of V.
        byte_ids: the id of each of the 256 bytes.
        ranks: for each pair of ids that merges, its rank; the lowest rank merges first.
        merges: for each pair of ids that merges, the id it becomes; in order of rank.
        special_tokens: the id of each special token.

    Raises:
        ValueError: for a merge of a token that does not exist yet, two tokens of one content, a special token that is
            empty or stands twice, or a numbering that is not a permutation of 0 ... V - 1.

    Example:
        >>> tokenizer = BPETokenizer(train_bpe(b"aaabdaaabac", 3), special_tokens=["<|end|>"])
        >>> tokenizer.encode("aab 你<|end|>")
        [256, 98, 32, 228, 189, 160, 259]
        >>> tokenizer.decode([257, 228, 189, 259])     # the last byte of 你 is missing
        'ab�<|end|>'

    Source: chapter 01; Sennrich et al. 2016; Radford et al. 2019, section 2.2.
    """

    def __init__(
        self,
        merges: Iterable[tuple[int, int]] = (),
        special_tokens: Iterable[str] = (),
        numbering: Sequence[int] | None = None,
    ) -> None:
        merges, special_tokens = list(merges), check_special_tokens(special_tokens)
        contents = [bytes([byte]) for byte in range(256)]
        for rank, pair in enumerate(merges):
            two = isinstance(pair, (tuple, list)) and len(pair) == 2
            if not two or not all(whole(part) and 0 <= part < len(contents) for part in pair):
                raise ValueError(
                    f"merge {rank} must be a pair of ids from 0 to {len(contents) - 1}; received {pair!r}."
                )
            contents.append(contents[pair[0]] + contents[pair[1]])
        _refuse_twins(contents)
        contents += [text.encode("utf-8") for text in special_tokens]
        V = len(contents)
        numbering = list(range(V) if numbering is None else numbering)
        if not all(map(whole, numbering)) or sorted(numbering) != list(range(V)):
            raise ValueError(f"numbering must give each of the {V} tokens another id from 0 to {V - 1}.")
        self.byte_ids = numbering[:256]
        self.tokens = [contents[place] for place in sorted(range(V), key=numbering.__getitem__)]
        pairs = [(numbering[left], numbering[right]) for left, right in merges]
        self.ranks = {pair: rank for rank, pair in enumerate(pairs)}
        self.merges = dict(zip(pairs, numbering[256 : 256 + len(pairs)], strict=True))
        self.special_tokens = dict(zip(special_tokens, numbering[256 + len(pairs) :], strict=True))

    @property
    def vocab_size(self) -> int:
        """V: the bytes, the merges and the special tokens."""
        return len(self.tokens)

    def split(self, text: str) -> list[tuple[str, bool]]:
        """Cut a text into special tokens (True) and pieces (False); together they are the text.

        Where several special tokens begin, the longest is taken. The other pieces follow GPT-2's pattern: a run of
        letters, of digits or of other signs with at most one space before it, or white space.

        Example:
            >>> BPETokenizer(special_tokens=["<|end|>"]).split("It's dawn.<|end|>")
            [('It', False), ("'s", False), (' dawn', False), ('.', False), ('<|end|>', True)]
        """
        return split(text, tuple(self.special_tokens))

    def __len__(self) -> int:
        return self.vocab_size

    def __eq__(self, other: object) -> bool:
        """Whether two tokenizers give every text the same ids."""
        if not isinstance(other, BPETokenizer):
            return NotImplemented
        return vars(self) == vars(other)

    def __repr__(self) -> str:
        """In one line, such as ``BPETokenizer(V=260: 256 bytes, 3 merges, 1 special token)``."""
        merges, special = len(self.merges), len(self.special_tokens)
        return (
            f"BPETokenizer(V={self.vocab_size}: 256 bytes, {merges} merge{'s' * (merges != 1)}, "
            f"{special} special token{'s' * (special != 1)})"
        )

    @checked_by(_check_unicode)
    @quickened
    def encode(self, text: str) -> list[int]:
        """Turn a text into ids: each piece into bytes, then, while a pair has a rank, the lowest rank is merged.

        Args:
            text: any str without lone surrogates; may be empty.

        Returns:
            The ids; ``decode`` gives the text back.

        Raises:
            ValueError: when ``text`` is not a str or has half a surrogate pair.
        """
        ### BEGIN SOLUTION
        ids: list[int] = []
        for piece, special in self.split(text):
            if special:
                ids.append(self.special_tokens[piece])
                continue
            part = [self.byte_ids[byte] for byte in piece.encode("utf-8")]
            while ranked := [pair for pair in count_pairs(part) if pair in self.ranks]:
                best = min(ranked, key=self.ranks.__getitem__)
                part = merge_pair(part, best, self.merges[best])
            ids += part
        return ids
        ### END SOLUTION

    @checked_by(_check_known)
    def decode(self, ids: Sequence[int]) -> str:
        """Join the bytes of all tokens, then read them as UTF-8.

        Args:
            ids: ints with 0 <= id < V; may be empty.

        Returns:
            The text; bytes that are no UTF-8, such as half a character, become U+FFFD.

        Raises:
            ValueError: for an id outside, and for what is no int.
        """
        ### BEGIN SOLUTION
        return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        ### END SOLUTION

    def encode_stream(self, lines: Iterable[str], remember: int = 65536) -> Iterator[int]:
        """Yield the ids of ``"".join(lines)`` one by one, without ever holding the whole text.

        Only text whose pieces are settled is encoded; the rest, mostly a word, waits for the next line.

        Args:
            lines: an open file, or any other parts of a text, cut wherever you like.
            remember: for so many different pieces the ids are kept and not computed again.

        Example:
            >>> tokenizer = BPETokenizer([(32, 97)])
            >>> list(tokenizer.encode_stream(["no", "t ", " a"])) == tokenizer.encode("not  a")
            True
        """
        known = lru_cache(maxsize=remember)(lambda piece: tuple(self.encode(piece)))
        for chunk in settled(lines, tuple(self.special_tokens)):
            for piece, special in self.split(chunk):
                yield from (self.special_tokens[piece],) if special else known(piece)

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int, special_tokens: Iterable[str] = ()) -> "BPETokenizer":
        """Learn a tokenizer of V tokens from a text: as ``train_bpe``, but no merge crosses from piece to piece.

        Each different piece is kept once, with its number of occurrences, and a merge updates only the counts beside
        its own places, instead of counting everything again. Rule for ties as in ``train_bpe``.

        Args:
            text: a str, or the parts of one, such as an open file.
            vocab_size: V, 256 bytes and the special tokens included. It stays smaller when no pair stands twice.
            special_tokens: left out of the training, and given the last ids.

        Raises:
            ValueError: when V has no room for bytes and special tokens.

        Example:
            >>> tokenizer = BPETokenizer.train("low lower lowest", vocab_size=259)
            >>> [token.decode() for token in tokenizer.tokens[256:]]
            ['lo', 'low', ' low']
        """
        special_tokens = check_special_tokens(special_tokens)
        check_count(vocab_size=vocab_size)
        n_merges = vocab_size - 256 - len(special_tokens)
        if n_merges < 0:
            raise ValueError(f"vocab_size = {vocab_size} must be at least {256 + len(special_tokens)}: 256 bytes and "
                             f"{len(special_tokens)} special tokens.")  # fmt: skip
        blank = cls(special_tokens=special_tokens)
        pieces: Counter[str] = Counter()
        for chunk in settled([text] if isinstance(text, str) else text, tuple(special_tokens)):
            check_unicode(chunk)
            pieces.update(piece for piece, special in blank.split(chunk) if not special)
        merges = train_on_pieces({piece.encode("utf-8"): n for piece, n in pieces.items()}, n_merges)
        return cls(merges, special_tokens)

    def save(self, folder: str | Path) -> None:
        """Write ``vocab.json`` and ``merges.txt`` as GPT-2 has them; each file appears whole or not at all.

        Raises:
            ValueError: when a special token is spelled like another token in the printable alphabet.
        """
        write_files(folder, self.tokens, self.merges, self.special_tokens)

    @classmethod
    def load(cls, folder: str | Path, special_tokens: Iterable[str] | None = None) -> "BPETokenizer":
        """Read ``vocab.json`` and ``merges.txt``, ours or GPT-2's own.

        Under OpenAI's names, ``encoder.json`` and ``vocab.bpe``, they will do as well. An entry of the vocabulary
        that is neither a byte nor made by a merge is a special token. What ``save`` wrote has a checksum; in other
        people's files a lost line is seen where it leaves an entry that two others make.

        Args:
            folder: where the two files stand.
            special_tokens: which entries are special tokens; None (default) when that is not known.

        Raises:
            ValueError: says which file, and where it is wrong.
            FileNotFoundError: when a file is missing.
        """
        return cls(*read_files(folder, special_tokens))


def _refuse_twins(contents: list[bytes]) -> None:
    if len(set(contents)) < len(contents):
        twin = next(content for content, n in Counter(contents).items() if n > 1)
        raise ValueError(f"two merges make the same token {twin!r}; leave out the later one.")
