"""How fast the book's tokenizer trains and encodes, beside Hugging Face's ``tokenizers``, which is written in Rust.

    python benchmarks/tokenizer_speed.py
    python benchmarks/tokenizer_speed.py --sizes 100000 400000 1600000 --vocab 4000 --repeat 5

``tokenizers`` is installed for the tests (``pip install hero-transformer[test]``), where it says what the right ids
are; the book itself does not use it. Here it says how far plain Python is from a compiled program, and whether the work
of both grows in the same way. The text is the book's own: all ``chapters/*/chapter.md``, in turn, repeated when a size
asks for more. Both sides get the same text, pieces and size of vocabulary, train until no pair stands twice, and run in
turn, several times, in one process; a time is the median. ``tokenizers`` is held to one thread.

- ``train``: a vocabulary from the text;
- ``stream``: the text, line by line, with one vocabulary for both, the ids compared; ours through ``encode_stream``;
- ``encode``: the whole text in one call;
- ``unbroken``: one word, the book's letters with nothing between (``--letters``), where no cut makes the work smaller.

The columns say how many times longer ours takes, and how each time grew from the size before; a text that is twice as
long should take at most twice as long.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"  # read when tokenizers starts its first thread
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from hero_transformer.token_files import BYTE_SYMBOLS, spell
from hero_transformer.tokenizer import BPETokenizer

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 200_000, 400_000], help="bytes of text")
    parser.add_argument("--letters", type=int, nargs="+", default=[4000, 16_000, 64_000], help="length of a word")
    parser.add_argument("--vocab", type=int, default=2000, help="V, the 256 bytes included")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the median counts")
    options = parser.parse_args()
    texts = [book(size) for size in options.sizes]
    words = ["".join(filter(str.isalpha, book(8 * length)))[:length] for length in options.letters]
    bpe = BPETokenizer.train(texts[-1], options.vocab)
    print(f"V = {options.vocab}, median of {options.repeat}\n")
    head = ("ours s", "theirs s", "ratio", "ours grew", "theirs grew", "text grew")
    print(f"{'':9}{'bytes':>10}" + "".join(f"{title:>12}" for title in head))
    for name, sides, inputs in (
        ("train", lambda text: train_both(text, options.vocab), texts),
        ("stream", lambda text: stream_both(text, bpe), texts),
        ("encode", lambda text: encode_both(text, bpe), texts),
        ("unbroken", lambda text: encode_both(text, bpe), words),
    ):
        before = None
        for text in inputs:
            ours, theirs = in_turn(*sides(text), repeat=options.repeat)
            now = (ours, theirs, len(text.encode()))
            grew = [f"{new / old:.2f}x" for new, old in zip(now, before, strict=True)] if before else ["–"] * 3
            columns = [f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.1f}x", *grew]
            print(f"{name:9}{now[2]:10,}" + "".join(f"{column:>12}" for column in columns))
            before = now


def book(size: int) -> str:
    """The first ``size`` bytes of the book's chapters, repeated as often as needed, up to the end of a character."""
    chapters = b"".join(path.read_bytes() for path in sorted(ROOT.glob("chapters/*/chapter.md")))
    return (chapters * (size // len(chapters) + 1))[:size].decode("utf-8", errors="ignore")


def in_turn(ours: Callable[[], object], theirs: Callable[[], object], repeat: int) -> tuple[float, float]:
    """The median seconds of two functions that run one after the other, ``repeat`` times."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for side, run in zip(times, (ours, theirs), strict=True):
            start = time.perf_counter()
            run()
            side.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def train_both(text: str, vocab_size: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Training as two functions without arguments."""
    lines = text.splitlines(keepends=True)

    def theirs() -> None:
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, min_frequency=2, initial_alphabet=list(BYTE_SYMBOLS), show_progress=False
        )
        library(models.BPE()).train_from_iterator(lines, trainer)

    return lambda: BPETokenizer.train(lines, vocab_size), theirs


def stream_both(text: str, bpe: BPETokenizer) -> tuple[Callable[[], object], Callable[[], object]]:
    """Encoding line by line as two functions without arguments."""
    lines, their = text.splitlines(keepends=True), same_vocabulary(bpe, text)
    return lambda: list(bpe.encode_stream(lines)), lambda: list(
        itertools.chain(*(their.encode(line).ids for line in lines))
    )


def encode_both(text: str, bpe: BPETokenizer) -> tuple[Callable[[], object], Callable[[], object]]:
    """Encoding the whole text in one call as two functions without arguments."""
    their = same_vocabulary(bpe, text)
    return lambda: bpe.encode(text), lambda: their.encode(text)


def same_vocabulary(bpe: BPETokenizer, text: str) -> Tokenizer:
    """The library's tokenizer with the vocabulary of ours, after a look at whether they agree on a text."""
    vocab = {spell(token): number for number, token in enumerate(bpe.tokens)}
    merges = [(spell(bpe.tokens[left]), spell(bpe.tokens[right])) for left, right in bpe.merges]
    their = library(models.BPE(vocab=vocab, merges=merges))
    if not list(bpe.encode_stream([text])) == bpe.encode(text) == their.encode(text).ids:
        raise SystemExit("the ids differ: nothing to compare")
    return their


def library(model: models.BPE) -> Tokenizer:
    """A tokenizer of the library's with GPT-2's pieces."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


if __name__ == "__main__":
    main()
