"""Chapter 01: characters and byte pairs, against Hugging Face's ``tokenizers``, recounting, and files made by hand."""

import inspect
import random
import unicodedata
from collections import Counter
from heapq import heappop
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from hero_transformer import token_merging, token_pieces
from hero_transformer.doubles import LINE, pair_counts, pair_replaced
from hero_transformer.token_files import spell
from hero_transformer.token_merging import merge_by_rank, quickened
from hero_transformer.token_pieces import settled, split
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
    assert tokenizer.vocab_size == 10
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
    for ids, n in (([256], 1), ([-1], 1), (["a"], 1), ([True, True], 1), ("aa", 1), (b"aa", -1), (b"aa", 1.0)):
        with pytest.raises(ValueError, match=r"ids must be (bytes|ints|a sequence).*Pass bytes|n_merges"):
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
@given(st.text("abcé春", max_size=60), st.text("abcé春", max_size=60))
def test_merging_by_a_heap_equals_counting_again_and_the_library(learned, text):
    """The method as it is written, the way for long pieces, and the compiled library: one result."""
    bpe = BPETokenizer.train(learned, vocab_size=290)
    as_written = inspect.unwrap(BPETokenizer.encode)(bpe, text)
    part = [bpe.byte_ids[byte] for byte in text.encode()]
    assert merge_by_rank(part, bpe.ranks, bpe.merges) == as_written == bpe.encode(text) == oracle(bpe).encode(text).ids
    assert part == list(text.encode())


def test_merging_by_a_heap_minds_overlaps_and_ranks():
    ranks = {(1, 1): 0, (2, 2): 1, (1, 2): 2}
    merges = {(1, 1): 2, (2, 2): 3, (1, 2): 4}
    for length, expected in ((0, []), (1, [1]), (2, [2]), (3, [2, 1]), (4, [3]), (5, [3, 1]), (7, [3, 2, 1]), (8, [3, 3])):
        assert merge_by_rank([1] * length, ranks, merges) == expected
    assert merge_by_rank([5, 1, 1, 5], ranks, merges) == [5, 2, 5]
    assert merge_by_rank([1, 1, 1, 1, 2], ranks, merges) == [3, 2]


def test_work_on_a_long_piece_grows_with_its_length(monkeypatch):
    """Counted, not timed: entries taken from the heap, and characters searched for settled places."""
    taken, searched = [], []
    monkeypatch.setattr(token_merging.heapq, "heappop", lambda heap: taken.append(1) or heappop(heap))
    last_settled = token_pieces._last_settled
    monkeypatch.setattr(token_pieces, "_last_settled", lambda text, *rest: searched.append(len(text)) or last_settled(text, *rest))
    bpe, work = BPETokenizer.train("abcdefadbecfaebdcabdfe" * 3, 300), []
    for length in (1000, 4000):
        letters = "".join(random.Random(0).choices("abcdef", k=length))
        taken.clear()
        searched.clear()
        ids = bpe.encode(letters)
        assert list(bpe.encode_stream(letters)) == ids  # letter by letter
        work.append((len(taken), sum(searched)))
    (merged, looked), (merged_4, looked_4) = work
    assert 100 < merged_4 <= 4.5 * merged
    assert 4000 <= looked_4 <= 4.5 * looked


def test_a_text_s_pieces_are_encoded_once(monkeypatch):
    pieces = []
    simple = quickened(lambda self, piece: pieces.append(piece) or list(piece.encode()))
    assert simple(BPETokenizer(), "the the the") == list(b"the the the")
    assert pieces == ["the", " the"]


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
    with pytest.raises(ValueError, match="text must be a str"):
        list(TRAINED.encode_stream(["a", b"b"]))
    for wrong in (b"a", None, ["a"]):
        with pytest.raises(ValueError, match="text must be a str"):
            TRAINED.encode(wrong)
    for wrong in ([-1], [TRAINED.vocab_size]):
        with pytest.raises(ValueError, match=r"ids must satisfy 0 <= id < V = \d+; received .* at place 0"):
            TRAINED.decode(wrong)


@pytest.mark.parametrize("function", [TRAINED.decode, CharTokenizer(LINE).decode, lambda ids: train_bpe(ids, 1)])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1.0], "ids must be ints; received 1.0 at place 0"),
        ([1, "a"], "ids must be ints; received 'a' at place 1"),
        ([1, 2, True], "ids must be ints; received True at place 2"),
        ([None], "ids must be ints; received None at place 0"),
        (torch.tensor([1]), r"a sequence such as a list; received torch.int64 of shape \[1\]"),
        ("abc", "a sequence such as a list; received str"),
        ({1, 2}, "a sequence such as a list; received set"),
        (None, "a sequence such as a list; received NoneType"),
    ],
)
def test_what_are_no_ids_is_refused(function, wrong, message):
    with pytest.raises(ValueError, match=message):
        function(wrong)


@pytest.mark.parametrize("wrong", [torch.tensor([1, 1, 1]), {1, 2}, "aaa", 3, None])
def test_pairs_are_taken_from_a_sequence_of_ids(wrong):
    for call in (lambda: count_pairs(wrong), lambda: merge_pair(wrong, (1, 1), 2)):
        with pytest.raises(ValueError, match=r"ids must be a sequence such as a list; received .*tolist"):
            call()


def test_ids_that_can_be_read_only_once_are_read_once():
    """What one method yields another takes: a check must not use it up."""
    assert TRAINED.decode(TRAINED.encode_stream(["low ", "lower"])) == "low lower"
    assert CharTokenizer(LINE).decode(iter([3, 5])) == "春眠"
    assert train_bpe(iter(b"aaabdaaabac"), 3) == train_bpe(b"aaabdaaabac", 3)
    assert count_pairs(iter([1, 1, 1])) == {(1, 1): 2}
    assert merge_pair((one for one in [1, 1, 1]), (1, 1), 9) == [9, 1]
    assert BPETokenizer(iter([(97, 98)]), iter(["<s>"]), iter(range(258))).vocab_size == 258
    assert BPETokenizer.train(iter(["abab"]), 258, iter(["<s>"])).encode("ab<s>") == [256, 257]


@pytest.mark.parametrize(
    "call",
    [
        lambda: BPETokenizer(special_tokens="<e>"),
        lambda: BPETokenizer.train("ab", 300, "<e>"),
        lambda: split("ab<e>", "<e>"),
        lambda: list(settled(["ab<e>"], "<e>")),
    ],
)
def test_one_special_token_is_not_taken_for_its_letters(call):
    with pytest.raises(ValueError, match=r"received the one text '<e>', .*Pass \['<e>'\]"):
        call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"merges": [(97, 256)]}, "merge 0 must be a pair of ids from 0 to 255"),
        ({"merges": [(97, 98, 99)]}, "merge 0 must be a pair"),
        ({"merges": [(True, 98)]}, "merge 0 must be a pair"),
        ({"merges": [97]}, "merge 0 must be a pair"),
        ({"merges": "ab"}, "merge 0 must be a pair"),
        ({"merges": [(97, 98), (97, 98)]}, "two merges make the same token b'ab'"),
        ({"special_tokens": [""]}, "none of them empty"),
        ({"special_tokens": ["<s>", "<s>"]}, "different texts"),
        ({"special_tokens": [3]}, "different texts"),
        ({"special_tokens": 3}, "different texts"),
        ({"special_tokens": ["\ud800"]}, "a special token has half a surrogate pair"),
        ({"numbering": [0] * 256}, "numbering must give each of the 256 tokens"),
        ({"numbering": range(255)}, "numbering must give"),
        ({"numbering": [float(number) for number in range(256)]}, "numbering must give"),
    ],
)
def test_a_bad_tokenizer_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        BPETokenizer(**arguments)


def test_tokenizers_show_their_size_and_are_equal_when_they_give_the_same_ids():
    one = BPETokenizer([(97, 98)], ["<s>"])
    assert repr(one) == "BPETokenizer(V=258: 256 bytes, 1 merge, 1 special token)"
    assert repr(BPETokenizer()) == "BPETokenizer(V=256: 256 bytes, 0 merges, 0 special tokens)"
    assert len(one) == one.vocab_size == 258
    assert one == BPETokenizer([(97, 98)], ["<s>"]) != "one"
    others = ([(97, 99)], ["<s>"]), ([(97, 98)], ["<t>"]), ([(97, 98)], ["<s>"], [1, 0, *range(2, 258)])
    assert all(one != BPETokenizer(*other) for other in others)
