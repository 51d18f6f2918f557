"""The mistakes that learners make in chapter 01, one function each; see docs/authoring.md."""

import unicodedata

import torch

from hero_transformer.tokenizer import count_pairs, merge_pair


def prediction_ids__from_one():
    """编号从一数起 | ids counted from one"""
    return (3, 3, 8)


def prediction_ids__by_appearance():
    """按首次出现编号 | numbered by first appearance"""
    return (6, 6, 7)


def prediction_ids__places():
    """给的是在诗里的位置 | the places in the line"""
    return (6, 7, 8)


def prediction_ids__code_points():
    """给的是码点 | the code points"""
    return (22788, 22788, 38395)


def prediction_bytes__characters():
    """数的是字符 | characters counted, not bytes"""
    return 11


def prediction_bytes__two_each():
    """每个字符算了两个字节（那是 UTF-16） | two bytes each, as in UTF-16"""
    return 22


def prediction_bytes__ascii_comma():
    """把全角逗号当成了一个字节 | the full-width comma taken for one byte"""
    return 31


def prediction_bytes__different():
    """只数了不同的字符 | only different characters counted"""
    return 30


def prediction_count__no_overlap():
    """重叠的没有数 | overlapping places not counted"""
    return 2


def prediction_count__letters():
    """数的是字母 a | the letters a counted"""
    return 7


def prediction_count__runs():
    """每段 aaa 数了三处 | three places in each run"""
    return 6


def prediction_tie__first_met():
    """取了先遇到的一对 | the pair met first"""
    return (256, 97)


def prediction_tie__again():
    """又合并了一次 (a, a) | (a, a) once more"""
    return (97, 97)


def prediction_tie__third():
    """取了再下一次的合并 | the merge after that"""
    return (256, 98)


def prediction_rank__text_order():
    """按文本次序先合并了 ab | ab merged first, in text order"""
    return (257, 99)


def prediction_rank__both():
    """一个 b 用了两次 | the b used twice"""
    return (257, 256)


def prediction_rank__one():
    """合成了一个词元 | all in one token"""
    return (257,)


def char_encode__rebuilt(self, text):
    """用要编码的文本另造了一张字符表 | an alphabet made anew from the text to be encoded"""
    symbols = sorted(set(text))
    return [symbols.index(symbol) for symbol in text]


def char_encode__from_one(self, text):
    """编号从一数起 | ids counted from one"""
    if set(text) - set(self.symbols):
        raise ValueError([(place, symbol) for place, symbol in enumerate(text) if symbol not in self.symbols])
    return [self.symbols.index(symbol) + 1 for symbol in text]


def char_encode__code_points(self, text):
    """给的是码点 | code points instead of ids"""
    return [ord(symbol) for symbol in text]


def char_encode__utf8(self, text):
    """给的是 UTF-8 字节 | the bytes of UTF-8 instead of ids"""
    return list(text.encode("utf-8"))


def char_encode__skipped(self, text):
    """表外的字符被跳过了 | characters outside were skipped"""
    return [self.symbols.index(symbol) for symbol in text if symbol in self.symbols]


def char_encode__zero(self, text):
    """表外的字符得了编号 0 | characters outside got the id 0"""
    ids = {symbol: number for number, symbol in enumerate(self.symbols)}
    return [ids.get(symbol, 0) for symbol in text]


def char_encode__minus_one(self, text):
    """表外的字符得了 −1（像 str.find） | characters outside got −1, as from str.find"""
    return ["".join(self.symbols).find(symbol) for symbol in text]


def char_encode__key_error(self, text):
    """抛出的是 KeyError，不是 ValueError | KeyError raised instead of ValueError"""
    ids = {symbol: number for number, symbol in enumerate(self.symbols)}
    return [ids[symbol] for symbol in text]


def char_encode__no_names(self, text):
    """报错里没有说是哪个字符、在哪里 | the error names neither the character nor its place"""
    return [self.symbols.index(symbol) for symbol in text]


def char_encode__no_place(self, text):
    """报错里没有位置 | the error does not name the place"""
    for symbol in text:
        if symbol not in self.symbols:
            raise ValueError(f"unknown character {symbol!r}")
    return [self.symbols.index(symbol) for symbol in text]


def char_encode__place_from_one(self, text):
    """报错里的位置从一数起 | the place in the error is counted from one"""
    for place, symbol in enumerate(text, 1):
        if symbol not in self.symbols:
            raise ValueError(f"unknown character {symbol!r} at {place}")
    return [self.symbols.index(symbol) for symbol in text]


def char_encode__no_symbol(self, text):
    """报错里没有字符 | the error does not name the character"""
    for place, symbol in enumerate(text):
        if symbol not in self.symbols:
            raise ValueError(f"unknown character at {place}")
    return [self.symbols.index(symbol) for symbol in text]


def char_encode__strings(self, text):
    """编号成了字符串 | the ids are strings"""
    if set(text) - set(self.symbols):
        raise ValueError([(place, symbol) for place, symbol in enumerate(text) if symbol not in self.symbols])
    return [str(self.symbols.index(symbol)) for symbol in text]


def char_encode__tensor(self, text):
    """返回了张量，不是列表 | a tensor instead of a list"""
    if set(text) - set(self.symbols):
        raise ValueError([(place, symbol) for place, symbol in enumerate(text) if symbol not in self.symbols])
    return torch.tensor([self.symbols.index(symbol) for symbol in text])


def char_decode__unchecked(self, ids):
    """没有查范围，负数从末尾数起 | no test of the range: negative ids count from the end"""
    return "".join(self.symbols[number] for number in ids)


def char_decode__upper_only(self, ids):
    """只查了上限，负数漏过 | only the upper bound tested: negative ids pass"""
    for place, number in enumerate(ids):
        if number >= len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__lower_only(self, ids):
    """只查了下限，太大的编号抛出 IndexError | only the lower bound tested: ids too large raise IndexError"""
    for place, number in enumerate(ids):
        if number < 0:
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__up_to_v(self, ids):
    """把 V 也算在范围里 | V itself taken as in range"""
    for place, number in enumerate(ids):
        if not 0 <= number <= len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__modulo(self, ids):
    """超出的编号绕了回来 | ids outside wrapped round"""
    return "".join(self.symbols[number % len(self.symbols)] for number in ids)


def char_decode__skipped(self, ids):
    """超出的编号被跳过了 | ids outside were skipped"""
    return "".join(self.symbols[number] for number in ids if 0 <= number < len(self.symbols))


def char_decode__spaces(self, ids):
    """字符之间加了空格 | spaces between the characters"""
    for place, number in enumerate(ids):
        if not 0 <= number < len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return " ".join(self.symbols[number] for number in ids)


def char_decode__list(self, ids):
    """返回了字符的列表 | a list of characters"""
    for place, number in enumerate(ids):
        if not 0 <= number < len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return [self.symbols[number] for number in ids]


def char_decode__from_one(self, ids):
    """编号从一数起 | ids counted from one"""
    for place, number in enumerate(ids):
        if not 1 <= number <= len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number - 1] for number in ids)


def char_decode__chr(self, ids):
    """把编号当成了码点 | ids taken for code points"""
    return "".join(chr(number) for number in ids)


def char_decode__no_place(self, ids):
    """报错里没有位置 | the error does not name the place"""
    if any(not 0 <= number < len(self.symbols) for number in ids):
        raise ValueError(f"bad id {[number for number in ids if not 0 <= number < len(self.symbols)]}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__place_from_one(self, ids):
    """报错里的位置从一数起 | the place in the error is counted from one"""
    for place, number in enumerate(ids, 1):
        if not 0 <= number < len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__no_id(self, ids):
    """报错里没有编号 | the error does not name the id"""
    for place, number in enumerate(ids):
        if not 0 <= number < len(self.symbols):
            raise ValueError(f"bad id at place {place}")
    return "".join(self.symbols[number] for number in ids)


def count_pairs__no_overlap(ids):
    """重叠的没有数 | overlapping places not counted"""
    counts, place, last = {}, 0, {}
    for place in range(len(ids) - 1):
        pair = (ids[place], ids[place + 1])
        if last.get(pair) != place - 1:
            counts[pair] = counts.get(pair, 0) + 1
            last[pair] = place
    return counts


def count_pairs__every_second(ids):
    """两个两个地跳着数，漏了一半位置 | counted in steps of two: half the places are missing"""
    counts = {}
    for place in range(0, len(ids) - 1, 2):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__once(ids):
    """每一对只记了一次 | every pair counted once"""
    return {(ids[place], ids[place + 1]): 1 for place in range(len(ids) - 1)}


def count_pairs__unordered(ids):
    """不分次序：(1, 2) 和 (2, 1) 混在了一起 | order ignored: (1, 2) and (2, 1) are one"""
    counts = {}
    for place in range(len(ids) - 1):
        pair = (min(ids[place], ids[place + 1]), max(ids[place], ids[place + 1]))
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__ring(ids):
    """把末尾和开头也算成了一对 | the last and the first counted as a pair"""
    counts = {}
    for place in range(len(ids)):
        pair = (ids[place - 1], ids[place])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__short(ids):
    """漏了最后一处 | the last place is missing"""
    counts = {}
    for place in range(len(ids) - 2):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__first_missing(ids):
    """漏了第一处 | the first place is missing"""
    counts = {}
    for place in range(1, len(ids) - 1):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__index_error(ids):
    """读到了末尾之外 | read beyond the end"""
    counts = {}
    for place in range(len(ids)):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__empty(ids):
    """空的序列出错 | fails on an empty sequence"""
    counts, left = {}, ids[0]
    for right in ids[1:]:
        counts[left, right] = counts.get((left, right), 0) + 1
        left = right
    return counts


def count_pairs__equal_left_out(ids):
    """漏了两个相同的词元 | pairs of equal tokens left out"""
    counts = {}
    for place in range(len(ids) - 1):
        pair = (ids[place], ids[place + 1])
        if pair[0] != pair[1]:
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__singles(ids):
    """数的是单个词元 | single tokens counted"""
    counts = {}
    for number in ids:
        counts[number] = counts.get(number, 0) + 1
    return counts


def count_pairs__all_pairs(ids):
    """不相邻的也数了 | tokens that are no neighbours counted too"""
    counts = {}
    for place in range(len(ids)):
        for later in range(place + 1, len(ids)):
            pair = (ids[place], ids[later])
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__from_zero(ids):
    """第一次出现记成了零 | the first occurrence counted as zero"""
    counts = {}
    for place in range(len(ids) - 1):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts[pair] + 1 if pair in counts else 0
    return counts


def merge_pair__overlap(ids, pair, new_id):
    """重叠的两处都合并了：一个词元用了两次 | both of two overlapping places merged: a token used twice"""
    out = []
    for place in range(len(ids)):
        if place + 1 < len(ids) and (ids[place], ids[place + 1]) == pair:
            out.append(new_id)
        elif not (place and (ids[place - 1], ids[place]) == pair):
            out.append(ids[place])
    return out


def merge_pair__one_step(ids, pair, new_id):
    """合并之后只走了一步，右边的词元又留了一份 | one step after a merge: the right token is kept as well"""
    out = []
    for place in range(len(ids)):
        out.append(new_id if tuple(ids[place : place + 2]) == pair else ids[place])
    return out


def merge_pair__first_only(ids, pair, new_id):
    """只合并了第一处 | only the first place merged"""
    ids = list(ids)
    for place in range(len(ids) - 1):
        if (ids[place], ids[place + 1]) == pair:
            return [*ids[:place], new_id, *ids[place + 2 :]]
    return ids


def merge_pair__right_to_left(ids, pair, new_id):
    """从右往左合并了 | merged from right to left"""
    out, place = [], len(ids) - 1
    while place >= 0:
        if place and (ids[place - 1], ids[place]) == pair:
            out.append(new_id)
            place -= 2
        else:
            out.append(ids[place])
            place -= 1
    return out[::-1]


def merge_pair__last_lost(ids, pair, new_id):
    """末尾的词元丢了 | the last token is lost"""
    out, place = [], 0
    while place < len(ids) - 1:
        if (ids[place], ids[place + 1]) == pair:
            out.append(new_id)
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def merge_pair__index_error(ids, pair, new_id):
    """读到了末尾之外 | read beyond the end"""
    out, place = [], 0
    while place < len(ids):
        if (ids[place], ids[place + 1]) == pair:
            out.append(new_id)
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def merge_pair__end_not_merged(ids, pair, new_id):
    """末尾的一对没有合并 | a pair at the end is not merged"""
    out, place = [], 0
    while place < len(ids):
        if place < len(ids) - 2 and (ids[place], ids[place + 1]) == pair:
            out.append(new_id)
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def merge_pair__either_order(ids, pair, new_id):
    """次序反过来的一对也合并了 | the pair the other way round merged too"""
    out, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) in (pair, pair[::-1]):
            out.append(new_id)
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def merge_pair__list_and_tuple(ids, pair, new_id):
    """列表和元组相比，永远不相等 | a list compared with a tuple, which is never equal"""
    ids, out, place = list(ids), [], 0
    while place < len(ids):
        if ids[place : place + 2] == pair:
            out.append(new_id)
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def merge_pair__others_dropped(ids, pair, new_id):
    """别的词元丢了 | all other tokens are lost"""
    out, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            out.append(new_id)
            place += 2
        else:
            place += 1
    return out


def merge_pair__both_replaced(ids, pair, new_id):
    """两个词元各换成了一个新编号 | both tokens replaced by a new one each"""
    out, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            out += [new_id, new_id]
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def merge_pair__either_token(ids, pair, new_id):
    """只看单个词元，见一个换一个 | single tokens of the pair replaced, wherever they stand"""
    return [new_id if number in pair else number for number in ids]


def merge_pair__in_place(ids, pair, new_id):
    """直接改了传进来的列表 | the list that was passed was changed"""
    place = 0
    while place < len(ids) - 1:
        if (ids[place], ids[place + 1]) == pair:
            ids[place : place + 2] = [new_id]
        place += 1
    return ids


def train_bpe__first_met(ids, n_merges):
    """并列时取了先遇到的一对 | ties go to the pair met first"""
    ids, merges = list(ids), []
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        ids = merge_pair(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def train_bpe__last_met(ids, n_merges):
    """并列时取了后遇到的一对 | ties go to the pair met last"""
    ids, merges = list(ids), []
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = max(reversed(list(counts)), key=counts.get)
        ids = merge_pair(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def train_bpe__smallest_ids(ids, n_merges):
    """并列时比的是编号，不是字节 | ties go by ids, not by bytes"""
    ids, merges = list(ids), []
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        ids = merge_pair(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def train_bpe__largest_ids(ids, n_merges):
    """并列时取了编号最大的 | ties go to the largest ids"""
    ids, merges = list(ids), []
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        ids = merge_pair(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def train_bpe__largest_bytes(ids, n_merges):
    """并列时取了字节最大的 | ties go to the largest bytes"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=lambda pair: (counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__joined_bytes(ids, n_merges):
    """并列时把左右的字节接起来比 | ties go by the bytes of left and right joined"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]] + tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__left_only(ids, n_merges):
    """并列时只比了左词元 | ties go by the left token alone"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__counted_once(ids, n_merges):
    """只在开头数了一次，没有重新数 | counted once at the start and never again"""
    counts = count_pairs(list(ids))
    ranking = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [pair for pair in ranking if counts[pair] > 1][:n_merges]


def train_bpe__not_merged(ids, n_merges):
    """数了，但没有在序列上合并 | counted, but never merged in the sequence"""
    merges = []
    for _ in range(n_merges):
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
    return merges


def train_bpe__once_is_enough(ids, n_merges):
    """只出现一次的对也合并了 | pairs that stand once are merged too"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__three_times(ids, n_merges):
    """出现两次的对没有合并 | pairs that stand twice are not merged"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 3:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__from_257(ids, n_merges):
    """新编号从 257 开始 | new ids begin at 257"""
    ids, merges, tokens = list(ids), [], {byte: bytes([byte]) for byte in range(256)}
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        tokens[257 + len(merges)] = tokens[best[0]] + tokens[best[1]]
        ids = merge_pair(ids, best, 257 + len(merges))
        merges.append(best)
    return merges


def train_bpe__one_too_few(ids, n_merges):
    """少学了一次 | one merge too few"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    for _ in range(1, n_merges):
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__one_too_many(ids, n_merges):
    """多学了一次 | one merge too many"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    for _ in range(n_merges + 1):
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__nothing_left(ids, n_merges):
    """没有对可数时出错 | fails when there is no pair left"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        if counts[best] < 2:
            break
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__sequence(ids, n_merges):
    """返回了合并后的序列，不是合并的表 | the merged sequence returned, not the list of merges"""
    ids, count, tokens = list(ids), 0, [bytes([byte]) for byte in range(256)]
    while count < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        count += 1
    return ids


def train_bpe__rarest(ids, n_merges):
    """合并了最少的一对 | the rarest pair merged"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = {pair: n for pair, n in count_pairs(ids).items() if n > 1}
        if not counts:
            break
        best = min(counts, key=lambda pair: (counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def bpe_encode__text_order(self, text):
    """按文本次序合并，没有按名次 | merged in text order, not by rank"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special:
            pairs = [(part[place], part[place + 1]) for place in range(len(part) - 1)]
            pair = next((pair for pair in pairs if pair in self.ranks), None)
            if pair is None:
                break
            place = next(t for t in range(len(part) - 1) if (part[t], part[t + 1]) == pair)
            part[place : place + 2] = [self.merges[pair]]
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__highest_rank(self, text):
    """名次最高的先合并了 | the highest rank merged first"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = max(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__most_frequent(self, text):
    """在新文本里重新数，出现最多的先合并 | the most frequent pair of the new text merged first"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special:
            counts = {pair: n for pair, n in count_pairs(part).items() if pair in self.ranks}
            if not counts:
                break
            best = max(counts, key=lambda pair: (counts[pair], self.ranks[pair]))
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__longest_token(self, text):
    """从左到右取词表里最长的词元 | the longest token of the vocabulary taken from the left"""
    ids = []
    for piece, special in self.split(text):
        if special:
            ids.append(self.special_tokens[piece])
            continue
        rest = piece.encode()
        while rest:
            size = max(n for n in range(1, len(rest) + 1) if rest[:n] in self.tokens)
            ids.append(self.tokens.index(rest[:size]))
            rest = rest[size:]
    return ids


def bpe_encode__one_merge(self, text):
    """每段只合并了一次 | only one merge in each piece"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        ranked = [pair for pair in count_pairs(part) if pair in self.ranks]
        if ranked and not special:
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__no_merges(self, text):
    """没有合并，只有字节 | bytes only, nothing merged"""
    ids = []
    for piece, special in self.split(text):
        ids += [self.special_tokens[piece]] if special else [self.byte_ids[byte] for byte in piece.encode()]
    return ids


def bpe_encode__across_pieces(self, text):
    """合并跨过了小段 | merges cross from piece to piece"""
    ids = []
    for piece, special in self.split(text):
        ids += [self.special_tokens[piece]] if special else [self.byte_ids[byte] for byte in piece.encode()]
    while ranked := [pair for pair in count_pairs(ids) if pair in self.ranks]:
        best = min(ranked, key=self.ranks.get)
        ids = merge_pair(ids, best, self.merges[best])
    return ids


def bpe_encode__special_as_text(self, text):
    """特殊词元当成普通文本拆开了 | special tokens taken apart like ordinary text"""
    ids = []
    for piece, _ in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while ranked := [pair for pair in count_pairs(part) if pair in self.ranks]:
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += part
    return ids


def bpe_encode__special_lost(self, text):
    """特殊词元被跳过了 | special tokens skipped"""
    ids = []
    for piece, special in self.split(text):
        part = [] if special else [self.byte_ids[byte] for byte in piece.encode()]
        while ranked := [pair for pair in count_pairs(part) if pair in self.ranks]:
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += part
    return ids


def bpe_encode__code_points(self, text):
    """用码点代替了字节 | code points instead of bytes"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[ord(symbol)] if ord(symbol) < 256 else ord(symbol) for symbol in piece]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__ascii(self, text):
    """不是 ASCII 的字符丢了 | characters that are not ASCII are lost"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode("ascii", errors="ignore")]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__normalised(self, text):
    """先做了规范化，文本变了 | the text was normalised first, and so changed"""
    ids = []
    for piece, special in self.split(unicodedata.normalize("NFC", text)):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__line_ends(self, text):
    """把 CRLF 换成了 LF | CRLF turned into LF"""
    ids = []
    for piece, special in self.split(text.replace("\r\n", "\n")):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__stripped(self, text):
    """去掉了每段的空白 | white space of every piece removed"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.strip().encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__lower_case(self, text):
    """把文本变成了小写 | the text turned into lower case"""
    ids = []
    for piece, special in self.split(text.lower()):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__byte_values(self, text):
    """用了字节的值，没有查 byte_ids | byte values used instead of byte_ids"""
    ids = []
    for piece, special in self.split(text):
        part = list(piece.encode())
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__256_and_rank(self, text):
    """新编号写成了 256 加名次，没有查 merges | 256 and the rank instead of merges"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, 256 + self.ranks[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__smallest_id(self, text):
    """取了新编号最小的对，没有看名次 | the pair with the smallest new id merged, ranks ignored"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.merges]):
            best = min(ranked, key=self.merges.get)
            part = merge_pair(part, best, self.merges[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__nested(self, text):
    """每段各成一个列表 | a list of lists, one a piece"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids.append([self.special_tokens[piece]] if special else part)
    return ids


def bpe_encode__last_piece(self, text):
    """只留下了最后一段 | only the last piece kept"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids = [self.special_tokens[piece]] if special else part
    return ids


def bpe_decode__each_alone(self, ids):
    """逐个词元解码再拼，字符在边界上断开 | every token decoded alone: characters break at the borders"""
    return "".join(self.tokens[number].decode("utf-8", errors="replace") for number in ids)


def bpe_decode__strict(self, ids):
    """遇到不合 UTF-8 的字节就抛出异常 | raises at bytes that are no UTF-8"""
    return b"".join(self.tokens[number] for number in ids).decode("utf-8")


def bpe_decode__ignored(self, ids):
    """不合 UTF-8 的字节丢了 | bytes that are no UTF-8 are lost"""
    return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="ignore")


def bpe_decode__latin_1(self, ids):
    """当成 latin-1 解码了 | decoded as latin-1"""
    return b"".join(self.tokens[number] for number in ids).decode("latin-1")


def bpe_decode__backslashes(self, ids):
    """不合 UTF-8 的字节写成了反斜杠 | bytes that are no UTF-8 written with backslashes"""
    return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="backslashreplace")


def bpe_decode__bytes(self, ids):
    """返回了字节串，没有解码 | bytes returned, not decoded"""
    return b"".join(self.tokens[number] for number in ids)


def bpe_decode__spaces(self, ids):
    """词元之间加了空格 | spaces between the tokens"""
    return b" ".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")


def bpe_decode__stripped(self, ids):
    """两头的空白去掉了 | white space removed at both ends"""
    return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace").strip()


def bpe_decode__line_ends(self, ids):
    """把 CRLF 换成了 LF | CRLF turned into LF"""
    return "\n".join(b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace").split("\r\n"))


def bpe_decode__special_lost(self, ids):
    """特殊词元被去掉了 | special tokens left out"""
    special = set(self.special_tokens.values())
    return b"".join(self.tokens[number] for number in ids if number not in special).decode("utf-8", errors="replace")


def bpe_decode__only_bytes(self, ids):
    """只认得字节，不认得合并出来的词元 | knows only bytes, no merged tokens"""
    return bytes(number for number in ids if number < 256).decode("utf-8", errors="replace")


def bpe_decode__chr(self, ids):
    """把编号当成了码点 | ids taken for code points"""
    return "".join(chr(number) for number in ids)


def bpe_decode__list(self, ids):
    """返回了词元的列表 | a list of tokens returned"""
    return [self.tokens[number].decode("utf-8", errors="replace") for number in ids]
