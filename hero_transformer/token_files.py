"""GPT-2's two files of a tokenizer: ``vocab.json`` and ``merges.txt`` (chapter 01).

Bytes are written with a printable alphabet, so that every token is a word without spaces: the 188 bytes that are
visible characters of Latin-1 stand for themselves, the other 68 for the characters 256, 257, ...; a space is Ġ.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

__all__ = ["BYTE_SYMBOLS", "read_files", "read_merges", "read_vocab", "spell", "write_files"]

_NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))  # Hugging Face's and OpenAI's, of one format
_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_SHIFTED = {byte: 256 + place for place, byte in enumerate(b for b in range(256) if b not in _VISIBLE)}

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
    lines = ["#version: 0.2", *(f"{written[left]} {written[right]}" for left, right in pairs)]
    vocab = json.dumps({text: number for number, text in enumerate(written)}, ensure_ascii=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in zip(_NAMES[0], (vocab, "\n".join(lines)), strict=True):
        _write_whole(Path(folder) / name, content + "\n")


def read_files(folder: str | Path) -> tuple[list[tuple[int, int]], list[str], list[int]]:
    """Read both files, ours or GPT-2's own, which OpenAI calls ``encoder.json`` and ``vocab.bpe``.

    Returns:
        What makes a ``BPETokenizer`` of them: the merges, the special tokens, and the numbering of all. A special token
        is an entry of the vocabulary that is neither a byte nor made by a merge.

    Raises:
        ValueError: says which file, and where it is wrong.
        FileNotFoundError: when a file is missing.
    """
    pairs = [(Path(folder) / vocab, Path(folder) / merges) for vocab, merges in _NAMES]
    vocab_path, merges_path = next((pair for pair in pairs if all(path.is_file() for path in pair)), pairs[0])
    vocab = read_vocab(vocab_path)
    places = {symbol: byte for byte, symbol in enumerate(BYTE_SYMBOLS)}
    merges = []
    for number, (left, right) in read_merges(merges_path):
        if left not in places or right not in places or left + right in places or left + right not in vocab:
            raise ValueError(
                f"{merges_path}, line {number}: cannot merge {left!r} and {right!r}; both must be bytes or made by "
                "earlier lines, and the result a new entry of vocab.json. Are the two files of one tokenizer?"
            )
        merges.append((places[left], places[right]))
        places[left + right] = len(places)
    missing = [symbol for symbol in BYTE_SYMBOLS if symbol not in vocab]
    if missing:
        raise ValueError(
            f"{vocab_path} lacks {len(missing)} of the 256 bytes, such as {missing[0]!r}: "
            "it is not the vocabulary of a byte-level tokenizer."
        )
    special = sorted((text for text in vocab if text not in places), key=vocab.__getitem__)
    return merges, special, [vocab[text] for text in [*places, *special]]


def read_vocab(path: Path) -> dict[str, int]:
    """Read ``vocab.json``: the id of each token, each id from 0 to V - 1 once.

    Raises:
        ValueError: when the file is not that.
        FileNotFoundError: when it is missing.
    """
    try:
        vocab = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # JSON's and Unicode's errors are ValueErrors
        raise ValueError(f"{path} is not JSON in UTF-8: {error}") from None
    ids = list(vocab.values()) if isinstance(vocab, dict) else []
    if not ids or any(type(number) is not int for number in ids) or sorted(ids) != list(range(len(ids))):
        raise ValueError(f'{path} must give each token another id, from 0 to V - 1, as {{"token": id, ...}}.')
    return vocab


def read_merges(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Read ``merges.txt``: for each merge, its line and its two tokens as they are written.

    Raises:
        ValueError: for a line that is not two tokens with a space between.
        FileNotFoundError: when the file is missing.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # reading turns \r\n into \n
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
