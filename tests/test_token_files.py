"""Chapter 01: the two files of a tokenizer, made by hand, by us, by the library of Hugging Face, and damaged."""

import json
import os
import random

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.trainers import BpeTrainer

from hero_transformer.doubles import LINE
from hero_transformer.token_files import BYTE_SYMBOLS
from hero_transformer.tokenizer import BPETokenizer

TEXT = (
    "In spring one sleeps and does not notice the dawn. Everywhere birds are heard, and the birds don't stop.\n"
    "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。\n"
)
PLAIN = BPETokenizer.train(TEXT * 3, vocab_size=320)
TRAINED = BPETokenizer.train(TEXT * 3, vocab_size=320, special_tokens=["<|end|>", "<|end|>of", "<s>"])

def test_the_printable_alphabet_is_that_of_the_library():
    assert sorted(BYTE_SYMBOLS) == sorted(pre_tokenizers.ByteLevel.alphabet())
    assert (BYTE_SYMBOLS[32], BYTE_SYMBOLS[10], BYTE_SYMBOLS[65], BYTE_SYMBOLS[173]) == ("Ġ", "Ċ", "A", "Ń")


def hand_made(folder):
    """A tiny pair of files in GPT-2's form: bytes numbered in GPT-2's order, three merges, one special token."""
    order = [*range(33, 127), *range(161, 173), *range(174, 256)]
    order += [byte for byte in range(256) if byte not in order]
    vocab = {BYTE_SYMBOLS[byte]: number for number, byte in enumerate(order)}
    vocab |= {"Ġd": 256, "aw": 257, "Ġdaw": 258, "<|endoftext|>": 259}
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\nĠ d\na w\nĠd aw\n", encoding="utf-8")


def test_hand_made_files_give_gpt2s_ids(tmp_path):
    hand_made(tmp_path)
    tokenizer = BPETokenizer.load(tmp_path)
    # in GPT-2's own vocabulary too, A is 32, n is 77, a is 64 and the space alone is 220
    assert tokenizer.encode("A dawn<|endoftext|> a") == [32, 258, 77, 259, 220, 64]
    assert tokenizer.decode([32, 258, 77, 259]) == "A dawn<|endoftext|>"
    theirs = Tokenizer(models.BPE.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    for text in (TEXT, LINE, "daw  dawn\r\ndawaw"):
        assert tokenizer.encode(text) == theirs.encode(text).ids


def test_the_files_may_have_openais_names(tmp_path):
    hand_made(tmp_path)
    (tmp_path / "vocab.json").rename(tmp_path / "encoder.json")
    with pytest.raises(  # half a pair is none
        FileNotFoundError,
        match=r"hold vocab\.json and merges\.txt or encoder\.json and vocab\.bpe; .* holds encoder\.json, merges\.txt",
    ):
        BPETokenizer.load(tmp_path)
    (tmp_path / "merges.txt").rename(tmp_path / "vocab.bpe")
    assert BPETokenizer.load(tmp_path).encode("A dawn") == [32, 258, 77]


def test_saved_files_come_back_and_the_library_reads_them(tmp_path):
    for tokenizer in (TRAINED, PLAIN, BPETokenizer()):
        tokenizer.save(tmp_path / "deep" / "folder")
        again = BPETokenizer.load(tmp_path / "deep" / "folder")
        assert vars(again) == vars(tokenizer)
        assert list(again.ranks) == list(tokenizer.ranks)
    PLAIN.save(tmp_path)
    theirs = Tokenizer(models.BPE.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert theirs.encode(TEXT).ids == PLAIN.encode(TEXT)
    assert (tmp_path / "merges.txt").read_text(encoding="utf-8").startswith("#version: 0.2 checksum ")
    assert sorted(os.listdir(tmp_path)) == ["deep", "merges.txt", "vocab.json"]


def test_files_with_windows_line_ends_load(tmp_path):
    hand_made(tmp_path)
    text = (tmp_path / "merges.txt").read_text(encoding="utf-8")
    (tmp_path / "merges.txt").write_text(text, encoding="utf-8", newline="\r\n")
    assert BPETokenizer.load(tmp_path).encode(" dawn") == [258, 77]


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    PLAIN.save(tmp_path)
    before = (tmp_path / "vocab.json").read_bytes()

    def full(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        TRAINED.save(tmp_path)
    assert (tmp_path / "vocab.json").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["merges.txt", "vocab.json"]


def test_a_special_token_spelled_like_another_token_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"\['Ġ'\] are spelled like other tokens"):
        BPETokenizer(special_tokens=["Ġ"]).save(tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("vocab", "merges", "message"),
    [
        ("{", "", "vocab.json is not JSON"),
        ("[" * 100_000, "", "vocab.json is not JSON"),
        ('{"\\ud800": 0}', "", r"vocab.json: the token of id 0 has half a surrogate pair"),
        ("[1]", "", "must give each token another id"),
        ('{"a": 1}', "", "must give each token another id"),
        ('{"a": 0, "b": 0}', "", "must give each token another id"),
        ('{"a": 0}', "", "lacks 255 of the 256 bytes"),
        (None, "Ġ d e\n", "line 1: expected two tokens"),
        (None, "#version: 0.2\nĠd\n", "line 2: expected two tokens"),
        (None, "Ġ x\n", "line 1: cannot merge 'Ġ' and 'x'"),
        (None, "Ġd aw\n", "line 1: cannot merge 'Ġd' and 'aw'"),
        (None, "Ġ d\nĠ d\n", "line 2: cannot merge"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(tmp_path, vocab, merges, message):
    hand_made(tmp_path)
    if vocab is not None:
        (tmp_path / "vocab.json").write_text(vocab, encoding="utf-8")
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        BPETokenizer.load(tmp_path)


def test_files_in_another_encoding_or_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        BPETokenizer.load(tmp_path)
    hand_made(tmp_path)
    (tmp_path / "merges.txt").write_bytes("Ġ d".encode("utf-16"))
    with pytest.raises(ValueError, match=r"merges.txt is not in UTF-8"):
        BPETokenizer.load(tmp_path)


def test_files_with_a_byte_order_mark_load(tmp_path):
    hand_made(tmp_path)
    for name in ("vocab.json", "merges.txt"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert BPETokenizer.load(tmp_path).encode("A dawn<|endoftext|> a") == [32, 258, 77, 259, 220, 64]


# What happened to the lines of merges.txt, without the version line, and what is said when there is no checksum.
DAMAGE = {
    "cut after the second": (lambda lines: lines[:2], "lost lines"),
    "empty": (lambda lines: [], "lost lines"),
    "one lost": (lambda lines: lines[:3] + lines[4:], "cannot merge|lost lines"),
    "the last lost": (lambda lines: lines[:-1], "lost lines"),
    "cut within the last": (lambda lines: [*lines[:-1], lines[-1][:-1]], "cannot merge|two tokens"),
    "two exchanged": (lambda lines: [lines[1], lines[0], *lines[2:]], "another order"),
    "turned round": (lambda lines: lines[::-1], "cannot merge"),
}


def damage(folder, how, version=None):
    """Write merges.txt anew after something happened to its lines, and to line 1 if a version is given."""
    first, *lines = (folder / "merges.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    text = "\n".join([version or first, *how(lines)]) + "\n"
    (folder / "merges.txt").write_text(text, encoding="utf-8", newline="\n")


@pytest.mark.parametrize("tokenizer", [PLAIN, TRAINED], ids=["plain", "special"])
@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_file_is_refused_with_and_without_checksum(tmp_path, case, tokenizer):
    how, message = DAMAGE[case]
    tokenizer.save(tmp_path)
    damage(tmp_path, how)
    with pytest.raises(ValueError, match=r"cannot merge|two tokens|checksum of line 1.*#version: 0\.2"):
        BPETokenizer.load(tmp_path)
    tokenizer.save(tmp_path)
    damage(tmp_path, how, "#version: 0.2")
    with pytest.raises(ValueError, match=f"merges.txt.*({message})"):
        BPETokenizer.load(tmp_path)
    damage(tmp_path, lambda lines: lines)  # the sound lines: what was refused was the damage
    tokenizer.save(tmp_path)
    damage(tmp_path, lambda lines: lines, "#version: 0.2")
    assert BPETokenizer.load(tmp_path) == tokenizer


def test_another_vocabulary_is_not_that_of_the_checksum(tmp_path):
    PLAIN.save(tmp_path)
    vocab = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    with pytest.raises(ValueError, match="not what was saved"):
        BPETokenizer.load(tmp_path)


def test_special_tokens_may_be_said_and_then_must_be_those(tmp_path):
    odd = BPETokenizer([(108, 111)], special_tokens=["low", "<s>"])  # "low" is "lo" and "w" side by side
    odd.save(tmp_path)
    assert BPETokenizer.load(tmp_path) == odd
    damage(tmp_path, lambda lines: lines, "#version: 0.2")
    with pytest.raises(ValueError, match=r"makes no 'low'.*load\(folder, special_tokens="):
        BPETokenizer.load(tmp_path)
    assert BPETokenizer.load(tmp_path, special_tokens=["<s>", "low"]) == odd
    for wrong, problem in ((["low"], "makes no '<s>'"), (["low", "<s>", "<t>"], "makes '<t>', or vocab.json lacks it")):
        with pytest.raises(ValueError, match=problem):
            BPETokenizer.load(tmp_path, special_tokens=wrong)
    with pytest.raises(ValueError, match=r"Pass \['<s>'\]"):
        BPETokenizer.load(tmp_path, special_tokens="<s>")
    TRAINED.save(tmp_path)
    damage(tmp_path, lambda lines: [lines[1], lines[0], *lines[2:]], "#version: 0.2")
    with pytest.raises(ValueError, match="another order"):  # which special tokens say nothing about
        BPETokenizer.load(tmp_path, special_tokens=TRAINED.special_tokens)


def test_files_of_another_trainer_load(tmp_path):
    """Hugging Face's numbers special tokens first, then the bytes, then the merges."""
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=330, special_tokens=["<s>", "zq"], initial_alphabet=list(BYTE_SYMBOLS), show_progress=False
    )
    theirs.train_from_iterator([TEXT], trainer)
    theirs.model.save(str(tmp_path))
    ours = BPETokenizer.load(tmp_path)
    assert ours.special_tokens == {"<s>": 0, "zq": 1}  # "zq" comes before the bytes, so it is no lost merge
    for text in (TEXT, "春天的雨, the  birds!"):
        assert ours.encode(text) == theirs.encode(text).ids
    damage(tmp_path, lambda lines: lines[:-2])
    with pytest.raises(ValueError, match="lost lines"):
        BPETokenizer.load(tmp_path)


def test_any_numbering_gives_the_same_tokens(tmp_path):
    numbers = list(range(PLAIN.vocab_size))
    random.Random(0).shuffle(numbers)
    shuffled = BPETokenizer(PLAIN.merges, numbering=numbers)
    assert shuffled.encode(TEXT) == [numbers[i] for i in PLAIN.encode(TEXT)]
    shuffled.save(tmp_path)
    assert BPETokenizer.load(tmp_path).encode(TEXT) == shuffled.encode(TEXT)
