"""GPT-2's two files of a tokenizer: ``vocab.json`` and ``merges.txt`` (chapter 01).

Bytes are written with a printable alphabet, so that every token is a word without spaces: the 188 bytes that are
visible characters of Latin-1 stand for themselves, the other 68 for the characters 256, 257, ...; a space is Ġ.

The files do not say which entries are special tokens: whatever the merges do not make is one. So a file that lost some
of its lines would still load, with words for special tokens and other ids for every text. What we write therefore has a
checksum in the version line, which other readers pass over; other people's files are looked at for signs of damage.
"""

import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .token_pieces import check_special_tokens, check_unicode

__all__ = ["BYTE_SYMBOLS", "read_files", "read_merges", "read_vocab", "spell", "write_files"]

_NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))  # Hugging Face's and OpenAI's, of one format
_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_SHIFTED = {byte: 256 + place for place, byte in enumerate(b for b in range(256) if b not in _VISIBLE)}

_VERSION, _CHECKSUM = "#version: 0.2", "checksum"

# The printable stand-in of each byte 0 ... 255 (Radford et al. 2019, in the code published with the paper).
BYTE_SYMBOLS = tuple(chr(_SHIFTED.get(byte, byte)) for byte in range(256))


def spell(token: bytes) -> str:
    """Write bytes in the printable alphabet.

    Example:
        >>> spell(b" dawn\\n"), spell("你".encode())
        ('ĠdawnĊ', 'ä½ł')
    """
    return "".join(BYTE_SYMBOLS[byte] for byte in token)


def write_files(
    folder: str | Path, tokens: list[bytes], pairs: Iterable[tuple[int, int]], special_tokens: Mapping[str, int]
) -> None:
    """Write both files; each appears whole or not at all.

    Args:
        folder: made if it is not there.
        tokens: the bytes of each id.
        pairs: the pairs of ids that merge, in order of rank.
        special_tokens: the ids that are written as they are, not in the printable alphabet.

    Raises:
        ValueError: when a special token is spelled like another token.
    """
    written = [spell(token) for token in tokens]
    for text, number in special_tokens.items():
        written[number] = text
    twins = sorted(text for text, n in Counter(written).items() if n > 1)
    if twins:
        raise ValueError(f"the special tokens {twins} are spelled like other tokens of vocab.json; rename them.")
    merges = [f"{written[left]} {written[right]}" for left, right in pairs]
    lines = [f"{_VERSION} {_CHECKSUM} {_checksum(written, merges)}", *merges]
    vocab = json.dumps({text: number for number, text in enumerate(written)}, ensure_ascii=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in zip(_NAMES[0], (vocab, "\n".join(lines)), strict=True):
        _write_whole(Path(folder) / name, content + "\n")


def _checksum(written: list[str], merges: list[str]) -> str:
    """Eight digits that change with any token, id, merge or rank."""
    return f"{zlib.crc32(chr(10).join([*written, '', *merges]).encode('utf-8')):08x}"


def read_files(
    folder: str | Path, special_tokens: Iterable[str] | None = None
) -> tuple[list[tuple[int, int]], list[str], list[int]]:
    """Read both files, ours or GPT-2's own, which OpenAI calls ``encoder.json`` and ``vocab.bpe``.

    Args:
        folder: where they stand.
        special_tokens: which entries are special tokens, when that is known; None (default) for those that the merges
            do not make.

    Returns:
        What makes a ``BPETokenizer`` of them: the merges, the special tokens, and the numbering of all. A special token
        is an entry of the vocabulary that is neither a byte nor made by a merge.

    Raises:
        ValueError: says which file, and where it is wrong.
        FileNotFoundError: when a file is missing.
    """
    vocab_path, merges_path = _find_files(Path(folder))
    vocab, lines = read_vocab(vocab_path), list(read_merges(merges_path))
    missing = [symbol for symbol in BYTE_SYMBOLS if symbol not in vocab]
    if missing:
        raise ValueError(
            f"{vocab_path} lacks {len(missing)} of the 256 bytes, such as {missing[0]!r}: "
            "it is not the vocabulary of a byte-level tokenizer."
        )
    merges, made = _follow(lines, vocab, merges_path)
    special = sorted(vocab.keys() - set(made), key=vocab.__getitem__)
    if special_tokens is not None:
        _refuse_others(check_special_tokens(special_tokens), special, merges_path)
    if not _is_as_saved(vocab, lines, merges_path):  # then we did not save it
        _refuse_another_order([vocab[text] for text in made[256:]], made[256:], merges_path)
        if special_tokens is None:
            _refuse_lost_lines(vocab, special, merges_path)
    return merges, special, [vocab[text] for text in [*made, *special]]


def _follow(
    lines: list[tuple[int, list[str]]], vocab: Mapping[str, int], path: Path
) -> tuple[list[tuple[int, int]], list[str]]:
    """The merges by the places of their tokens, and all tokens that bytes and merges make, by place."""
    places = {symbol: byte for byte, symbol in enumerate(BYTE_SYMBOLS)}
    merges = []
    for number, (left, right) in lines:
        if left not in places or right not in places or left + right in places or left + right not in vocab:
            raise ValueError(
                f"{path}, line {number}: cannot merge {left!r} and {right!r}; both must be bytes or made by "
                "earlier lines, and the result a new entry of vocab.json. Are they of one tokenizer, and whole?"
            )
        merges.append((places[left], places[right]))
        places[left + right] = len(places)
    return merges, list(places)


def _find_files(folder: Path) -> tuple[Path, Path]:
    for names in _NAMES:
        if all((folder / name).is_file() for name in names):
            return folder / names[0], folder / names[1]
    wanted = " or ".join(" and ".join(names) for names in _NAMES)
    there = sorted(name for names in _NAMES for name in names if (folder / name).is_file())
    raise FileNotFoundError(f"{folder} must hold {wanted}; of these it holds {', '.join(there) or 'none'}.")


def _is_as_saved(vocab: Mapping[str, int], lines: list[tuple[int, list[str]]], path: Path) -> bool:
    """Whether the files have a checksum; ValueError when it is that of others."""
    with open(path, encoding="utf-8-sig") as file:
        words = file.readline().split()
    if words[-2:-1] != [_CHECKSUM]:
        return False
    by_id = sorted(vocab, key=vocab.__getitem__)
    if words[-1] != _checksum(by_id, [" ".join(parts) for _, parts in lines]):
        raise ValueError(
            f"{path} and the vocabulary are not what was saved: the checksum of line 1 is another. Save the "
            f"tokenizer again; if you changed the files on purpose, make line 1 just {_VERSION!r}."
        )
    return True


def _refuse_others(wanted: list[str], special: list[str], path: Path) -> None:
    """ValueError unless the entries that no merge makes are the special tokens that the caller named."""
    lacking, more = sorted(set(wanted) - set(special)), sorted(set(special) - set(wanted))
    if lacking or more:
        problem = f"makes no {more[0]!r}" if more else f"makes {lacking[0]!r}, or vocab.json lacks it"
        raise ValueError(
            f"{path} {problem}: the special tokens should be {wanted} and are {special}. Is the file whole, and are "
            "these all the special tokens?"
        )


def _refuse_lost_lines(vocab: Mapping[str, int], special: list[str], path: Path) -> None:
    """ValueError when an entry that no merge makes is two others side by side: so a lost line leaves it.

    Special tokens that are numbered before the bytes, as some trainers do, are none of these.
    """
    first = min(vocab[symbol] for symbol in BYTE_SYMBOLS)
    lost = [text for text in special if vocab[text] > first and _is_two_others(text, vocab)]
    if lost:
        raise ValueError(
            f"{path} makes no {lost[0]!r}, which is two other entries of vocab.json side by side ({len(lost)} of this "
            "kind): it seems to have lost lines. Take both files from one place; if these are special tokens, say so: "
            "load(folder, special_tokens=[...])."
        )


def _refuse_another_order(ids: list[int], made: list[str], path: Path) -> None:
    """ValueError when the merges have ids without gaps, which then count them, but in another order."""
    if ids != sorted(ids) and max(ids) - min(ids) == len(ids) - 1:
        rank = next(rank for rank in range(1, len(ids)) if ids[rank] < ids[rank - 1])
        raise ValueError(
            f"{path} has its merges in another order than vocab.json numbers them, first at {made[rank]!r}: the "
            "order is the rank. Take both files from one place."
        )


def _is_two_others(text: str, vocab: Mapping[str, int]) -> bool:
    return any(text[:place] in vocab and text[place:] in vocab for place in range(1, len(text)))


def read_vocab(path: Path) -> dict[str, int]:
    """Read ``vocab.json``: the id of each token, each id from 0 to V - 1 once.

    Raises:
        ValueError: when the file is not that.
        FileNotFoundError: when it is missing.
    """
    try:
        vocab = json.loads(path.read_text(encoding="utf-8-sig"))  # Windows puts a mark in front
    except (ValueError, RecursionError) as error:  # JSON's and Unicode's errors are ValueErrors
        raise ValueError(f"{path} is not JSON in UTF-8: {error}") from None
    ids = list(vocab.values()) if isinstance(vocab, dict) else []
    if not ids or any(type(number) is not int for number in ids) or sorted(ids) != list(range(len(ids))):
        raise ValueError(f'{path} must give each token another id, from 0 to V - 1, as {{"token": id, ...}}.')
    for text in vocab:
        check_unicode(text, f"{path}: the token of id {vocab[text]}")
    return vocab


def read_merges(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Read ``merges.txt``: for each merge, its line and its two tokens as they are written.

    Raises:
        ValueError: for a line that is not two tokens with a space between.
        FileNotFoundError: when the file is missing.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")  # reading turns \r\n into \n
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8: {error}") from None
    for number, line in enumerate(lines, 1):
        parts = line.split(" ")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        if len(parts) != 2 or not all(parts):
            raise ValueError(f"{path}, line {number}: expected two tokens with one space between; received {line!r}.")
        yield number, parts


def _write_whole(path: Path, text: str) -> None:
    """Write beside the file and move the result into its place, so that nobody meets half a file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
