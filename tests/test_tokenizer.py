"""Chapter 01: characters and byte pairs, against Hugging Face's ``tokenizers``, recounting, and files made by hand."""

import json
import os
import random
import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from hero_transformer.doubles import LINE, pair_counts, pair_replaced
from hero_transformer.token_files import BYTE_SYMBOLS, spell
from hero_transformer.tokenizer import BPETokenizer, CharTokenizer, count_pairs, merge_pair, train_bpe

TEXT = (
    "In spring one sleeps and does not notice the dawn. Everywhere birds are heard, and the birds don't stop.\n"
    "It's 8 o'clock; we'll wait, they've 12345 reasons.\r\n\n  The end,\tthe  end!\n"
    "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。春天的鸟，春天的花，春天的雨。\n"
    "é e\u0301 👩‍👩‍👧 🏳️‍🌈 नमस्ते こんにちは 안녕 \u200f\u0000\u0085\u2028\xa0x\n"
)
TRAINED = BPETokenizer.train(TEXT * 3, vocab_size=420, special_tokens=["<|end|>", "<|end|>of", "<s>"])
# Unicode without half surrogate pairs; and texts rich in what GPT-2's pattern treats specially
ANY = st.text(st.characters(exclude_categories=["Cs"]))
TRICKY = st.lists(
    st.sampled_from([" ", "  ", "\n", "\r\n", "\t", "'s", "'ll", "'", "a", "the", " dawn", "7", "42", "!", "春", "，", "鸟",
                     "é", "e\u0301", "👩‍👧", "\x1c", "\x85", "\xa0", "\u3000", "<|end|>", "<|en", "d|>", "of", "<", "s>"])
).map("".join)  # fmt: skip


def oracle(tokenizer: BPETokenizer) -> Tokenizer:
    """The same vocabulary and merges in the library of Hugging Face."""
    written = {spell(token): number for number, token in enumerate(tokenizer.tokens)}
    merges = [(spell(tokenizer.tokens[a]), spell(tokenizer.tokens[b])) for a, b in tokenizer.merges]
    theirs = Tokenizer(models.BPE(vocab=written, merges=merges))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    return theirs


PLAIN = BPETokenizer.train(TEXT * 3, vocab_size=420)
ORACLE = oracle(PLAIN)


# CharTokenizer


def test_the_line_of_the_book_has_ten_characters_in_code_point_order():
    tokenizer = CharTokenizer(LINE)
    assert "".join(tokenizer.symbols) == "不啼处春晓眠觉闻鸟，"
    assert tokenizer.encode(LINE) == [3, 5, 0, 6, 4, 9, 2, 2, 7, 1, 8]
    assert (tokenizer.encode("春眠不"), tokenizer.encode("处处闻")) == ([3, 5, 0], [2, 2, 7])


@given(st.text(min_size=1))
def test_char_tokenizer_round_trips_and_does_not_depend_on_the_order_of_the_text(text):
    tokenizer = CharTokenizer(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.symbols == CharTokenizer(text[::-1]).symbols == tuple(sorted(set(text), key=ord))
    assert (tokenizer.encode(""), tokenizer.decode([])) == ([], "")


def test_char_tokenizer_names_the_symbol_and_its_place():
    with pytest.raises(ValueError, match="no '夜', at place 1"):
        CharTokenizer(LINE).encode("春夜")
    for wrong, place in (([0, 10], 1), ([-1], 0)):
        with pytest.raises(ValueError, match=rf"0 <= id < V = 10; received {wrong[place]} at place {place}"):
            CharTokenizer(LINE).decode(wrong)
    for wrong in (b"abc", None, 3):
        with pytest.raises(ValueError, match="text must be a str"):
            CharTokenizer(wrong)
        with pytest.raises(ValueError, match="text must be a str"):
            CharTokenizer(LINE).encode(wrong)
    with pytest.raises(ValueError, match="at least one character"):
        CharTokenizer("")


# count_pairs, merge_pair


def test_pairs_of_the_known_example():
    ids = list(b"aaabdaaabac")
    assert count_pairs(ids) == {(97, 97): 4, (97, 98): 2, (98, 100): 1, (100, 97): 1, (98, 97): 1, (97, 99): 1}
    assert merge_pair(ids, (97, 97), 256) == [256, 97, 98, 100, 256, 97, 98, 97, 99]


SMALL = st.lists(st.integers(0, 3), max_size=30)


@given(SMALL)
def test_count_pairs_equals_counter_and_torch(ids):
    before = list(ids)
    assert count_pairs(ids) == Counter(pairwise(ids)) == pair_counts(ids)
    assert sum(count_pairs(ids).values()) == max(len(ids) - 1, 0)
    assert ids == before


@given(SMALL, st.integers(0, 3), st.integers(0, 3))
def test_merge_pair_equals_str_replace_and_leaves_no_pair(ids, left, right):
    before = list(ids)
    merged = merge_pair(ids, (left, right), 9)
    text = "".join(map(str, ids)).replace(f"{left}{right}", "9")
    assert "".join(map(str, merged)) == text
    assert merged == pair_replaced(ids, (left, right), 9) == merge_pair(tuple(ids), (left, right), 9)
    assert (left, right) not in count_pairs(merged)
    assert ids == before


@pytest.mark.parametrize("pair", [[1, 2], (1,), (1, 2, 3), "ab", None])
def test_merge_pair_refuses_what_is_no_pair(pair):
    with pytest.raises(ValueError, match="tuple of two ids"):
        merge_pair([1, 2], pair, 9)


# train_bpe


def test_training_by_hand():
    assert train_bpe(b"aaabdaaabac", 3) == [(97, 97), (97, 98), (256, 257)]
    assert train_bpe(list(b"aaabdaaabac"), 99) == train_bpe(b"aaabdaaabac", 3)
    assert train_bpe(b"aaabdaaabac", 1) == [(97, 97)]
    assert [train_bpe(text, 9) for text in (b"", b"a", b"abc")] == [[], [], []]


def test_ties_go_to_the_smaller_bytes_not_to_the_first_seen_or_the_smaller_id():
    assert train_bpe(b"zyzyxyxy", 1) == [(120, 121)]
    # after ab, the pairs (256, 99) = abc and (122, 100) = zd stand twice: by bytes abc is smaller, by ids zd would be
    assert train_bpe(b"abcabczdzd", 2) == [(97, 98), (256, 99)]
    # the left token decides first: (b"a", b"z") before (b"ab", b"c"), though abc comes before az in a dictionary
    assert train_bpe(b"ababab.abc!abc?az/az+", 2) == [(97, 98), (97, 122)]


def naive_training(pieces: Counter, n_merges: int) -> list[tuple[int, int]]:
    """Recount everything for every merge: slow, and plainly right."""
    words, tokens, merges = {piece: list(piece) for piece in pieces}, [bytes([b]) for b in range(256)], []
    for _ in range(n_merges):
        totals = Counter()
        for piece, word in words.items():
            for pair in pairwise(word):
                totals[pair] += pieces[piece]
        if not totals or max(totals.values()) < 2:
            break
        best = min(totals, key=lambda pair: (-totals[pair], tokens[pair[0]], tokens[pair[1]]))
        words = {piece: pair_replaced(word, best, len(tokens)) for piece, word in words.items()}
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


@settings(max_examples=60, deadline=None)
@given(st.text("ab", max_size=80) | st.text("abcé春", max_size=60))
def test_updating_equals_recounting_on_one_piece(letters):
    """A text of letters alone is one piece: the trainer for learners and the one that updates agree."""
    trained = BPETokenizer.train(letters, vocab_size=300)
    assert list(trained.merges) == train_bpe(letters.encode(), 44)
    assert list(trained.merges.values()) == list(range(256, 256 + len(trained.merges)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["the ", "then ", "a", "aa", "春眠", "，", "\n", "ththth ", "'s", "121"]), max_size=40))
def test_updating_equals_recounting_on_many_pieces(parts):
    text = "".join(parts)
    pieces = Counter(piece.encode() for piece, _ in BPETokenizer().split(text))
    assert list(BPETokenizer.train(text, vocab_size=290).merges) == naive_training(pieces, 34)


def test_training_takes_parts_of_a_text_and_leaves_special_tokens_out():
    assert PLAIN.merges == BPETokenizer.train(iter(TEXT * 3), vocab_size=420).merges
    assert PLAIN.merges == BPETokenizer.train((TEXT * 3).splitlines(keepends=True), vocab_size=420).merges
    marked = BPETokenizer.train("<|end|>".join(["low lower"] * 9), 270, ["<|end|>"])
    assert not any(b"|" in token for token in marked.tokens[256:-1])
    assert marked.special_tokens == {"<|end|>": len(marked.tokens) - 1}


@pytest.mark.parametrize("size", [0, 255, 256, -1, 300.0, True])
def test_training_refuses_a_vocabulary_without_room(size):
    with pytest.raises(ValueError, match=r"vocab_size = .* must be"):
        BPETokenizer.train("abc", size, ["<s>"])


def test_train_bpe_refuses_what_is_no_byte():
    for ids, n in (([256], 1), ([-1], 1), (["a"], 1), (b"aa", -1), (b"aa", 1.0)):
        with pytest.raises(ValueError, match=r"ids must be bytes|n_merges"):
            train_bpe(ids, n)


# BPETokenizer: encoding, decoding


@settings(max_examples=400, deadline=None)
@given(ANY | TRICKY)
def test_encoding_equals_the_library_of_hugging_face(text):
    ids = PLAIN.encode(text)
    assert ids == ORACLE.encode(text).ids
    assert PLAIN.decode(ids) == text


def test_encoding_of_the_training_text_equals_the_library_and_is_shorter():
    ids = PLAIN.encode(TEXT)
    assert ids == ORACLE.encode(TEXT).ids
    assert len(ids) < 0.6 * len(TEXT.encode())


@settings(max_examples=200, deadline=None)
@given(ANY | TRICKY)
def test_round_trip_with_special_tokens(text):
    assert TRAINED.decode(TRAINED.encode(text)) == text


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, TRAINED.vocab_size - 1), max_size=30))
def test_any_ids_decode_and_broken_bytes_are_replaced_as_the_library_does(ids):
    assert TRAINED.decode(ids) == b"".join(TRAINED.tokens[i] for i in ids).decode("utf-8", "replace")
    plain = [i for i in ids if i < PLAIN.vocab_size]
    assert PLAIN.decode(plain) == ORACLE.decode(plain, skip_special_tokens=False)


def test_half_a_character_becomes_the_replacement_character():
    tokenizer = BPETokenizer()
    assert tokenizer.encode("你好") == [228, 189, 160, 229, 165, 189]
    assert tokenizer.decode([228, 189]) == "\ufffd"
    assert tokenizer.decode([255, 97, 128]) == "\ufffda\ufffd"


def test_nothing_is_normalised():
    for text in ("é", "e\u0301", "\r\n", "\ufeffx", "ﬁ", "\u00a0"):
        assert TRAINED.decode(TRAINED.encode(text)) == text
    assert unicodedata.normalize("NFC", "e\u0301") == "é"
    assert TRAINED.encode("e\u0301") != TRAINED.encode("é")


def test_the_lowest_rank_merges_first_not_the_first_in_the_text():
    tokenizer = BPETokenizer([(98, 99), (97, 98)])  # bc before ab
    assert tokenizer.encode("abc") == [97, 256]
    assert tokenizer.encode("ababc") == [257, 97, 256]


def test_the_longest_special_token_wins_and_is_one_token():
    specials = TRAINED.special_tokens
    assert TRAINED.encode("<|end|>of<|end|>") == [specials["<|end|>of"], specials["<|end|>"]]
    assert specials["<|end|>"] not in TRAINED.encode("<|end|")
    assert TRAINED.decode([specials["<s>"]]) == "<s>"


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY | TRICKY, max_size=8))
def test_a_stream_has_the_ids_of_the_whole_text_wherever_it_is_cut(parts):
    assert list(TRAINED.encode_stream(parts)) == TRAINED.encode("".join(parts))


def test_a_stream_holds_no_more_than_a_word(tmp_path):
    read = []

    def lines():
        for number in range(1000):
            read.append(number)
            yield "In spring one sleeps.\n"

    ids = TRAINED.encode_stream(lines())
    next(ids)
    assert len(read) <= 2
    path = tmp_path / "text"
    path.write_text(TEXT, encoding="utf-8", newline="")
    with open(path, encoding="utf-8", newline="") as file:
        assert list(TRAINED.encode_stream(file)) == TRAINED.encode(TEXT)


def test_errors_of_encoding_and_decoding():
    with pytest.raises(ValueError, match=r"half a surrogate pair, '\\ud800', at place 1"):
        TRAINED.encode("a\ud800")
    with pytest.raises(ValueError, match="half a surrogate pair"):
        list(TRAINED.encode_stream(["a\ud800 b"]))
    with pytest.raises(ValueError, match="half a surrogate pair"):
        BPETokenizer.train("a\ud800 b", 300)
    for wrong in (b"a", None, ["a"]):
        with pytest.raises(ValueError, match="text must be a str"):
            TRAINED.encode(wrong)
    for wrong in ([-1], [TRAINED.vocab_size], [1.0], ["a"], [True], torch.tensor([1])):
        with pytest.raises(ValueError, match=r"ids must be ints with 0 <= id < V = \d+; received .* at place 0"):
            TRAINED.decode(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"merges": [(97, 256)]}, "merge 0 must be a pair of ids from 0 to 255"),
        ({"merges": [(97, 98, 99)]}, "merge 0 must be a pair"),
        ({"merges": [(97, 98), (97, 98)]}, "two merges make the same token b'ab'"),
        ({"special_tokens": [""]}, "none of them empty"),
        ({"special_tokens": ["<s>", "<s>"]}, "different texts"),
        ({"special_tokens": [3]}, "different texts"),
        ({"numbering": [0] * 256}, "numbering must give each of the 256 tokens"),
        ({"numbering": range(255)}, "numbering must give"),
    ],
)
def test_a_bad_tokenizer_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        BPETokenizer(**arguments)


# GPT-2's files


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
    with pytest.raises(FileNotFoundError, match=r"vocab\.json"):  # half a pair is none
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
    assert (tmp_path / "merges.txt").read_text(encoding="utf-8").startswith("#version: 0.2\n")
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


def test_any_numbering_gives_the_same_tokens(tmp_path):
    numbers = list(range(PLAIN.vocab_size))
    random.Random(0).shuffle(numbers)
    shuffled = BPETokenizer(PLAIN.merges, numbering=numbers)
    assert shuffled.encode(TEXT) == [numbers[i] for i in PLAIN.encode(TEXT)]
    shuffled.save(tmp_path)
    assert BPETokenizer.load(tmp_path).encode(TEXT) == shuffled.encode(TEXT)
