"""Wrong answers to the exercises of chapter 01 that nobody foresaw: each is caught, and none is given a false name.

Where the right name is that of a known mistake, the docstring is that name.
"""

from collections import Counter

from hero_transformer.tokenizer import count_pairs, merge_pair


def char_encode__always_raises(self, text):
    """总是抛出 ValueError | always raises ValueError"""
    raise ValueError("a typing mistake of my own")


def char_encode__always_key_error(self, text):
    """总是抛出 KeyError | always raises KeyError"""
    raise KeyError("a typing mistake of my own")


def char_encode__printed(self, text):
    """只打印了错误，没有抛出 | the error only printed, not raised"""
    for place, symbol in enumerate(text):
        if symbol not in self.symbols:
            print(f"no {symbol} at {place}")
            return None
    return [self.symbols.index(symbol) for symbol in text]


def char_encode__no_return(self, text):
    """漏了 return | the return is missing"""
    ids = [self.symbols.index(symbol) for symbol in text if symbol in self.symbols]
    len(ids)


def char_encode__own_alphabet_by_appearance(self, text):
    """编号按首次出现 | ids by first appearance in the text"""
    symbols = list(dict.fromkeys(text))
    return [symbols.index(symbol) for symbol in text]


def char_decode__always_raises(self, ids):
    """总是抛出 ValueError | always raises ValueError"""
    raise ValueError("a typing mistake of my own")


def char_decode__always_index_error(self, ids):
    """总是抛出 IndexError | always raises IndexError"""
    raise IndexError("a typing mistake of my own")


def char_decode__whole_list(self, ids):
    """报错里没有位置 | the error does not name the place"""
    if any(not 0 <= number < len(self.symbols) for number in ids):
        raise ValueError(f"ids out of range: {ids}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__absolute(self, ids):
    """负数取了绝对值 | negative ids made positive"""
    for place, number in enumerate(ids):
        if abs(number) >= len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[abs(number)] for number in ids)


def char_decode__assert(self, ids):
    """用了 assert，抛出的是 AssertionError | AssertionError from an assert instead of ValueError"""
    for number in ids:
        assert 0 <= number < len(self.symbols)
    return "".join(self.symbols[number] for number in ids)


def count_pairs__items(ids):
    """返回了列表，不是字典 | a list of items and not a dictionary"""
    return list(Counter(zip(ids, ids[1:])).items())  # noqa: B905, RUF007


def count_pairs__gap(ids):
    """数的是隔一个的对 | pairs with a gap between them"""
    counts = {}
    for place in range(len(ids) - 2):
        pair = (ids[place], ids[place + 2])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__lists_as_text(ids):
    """键是字符串 | the keys are strings"""
    counts = {}
    for place in range(len(ids) - 1):
        pair = f"{ids[place]},{ids[place + 1]}"
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__always_raises(ids):
    """总是抛出 IndexError | always raises IndexError"""
    raise IndexError("a typing mistake of my own")


def count_pairs__reversed(ids):
    """左右写反了 | left and right exchanged"""
    counts = {}
    for place in range(len(ids) - 1):
        pair = (ids[place + 1], ids[place])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def count_pairs__one_too_many(ids):
    """每一对多数了一次 | each count one too high"""
    counts = {}
    for place in range(len(ids) - 1):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 1) + 1
    return counts


def merge_pair__text(ids, pair, new_id):
    """在十进制的字符串里替换，11、2 也成了 1、2 | replaced in decimal text, where 11, 2 contains 1, 2"""
    text = ", ".join(map(str, ids)).replace(f"{pair[0]}, {pair[1]}", str(new_id))
    return [int(number) for number in text.split(", ") if number]


def merge_pair__emptied(ids, pair, new_id):
    """直接改了传进来的列表 | the list that was passed was changed"""
    out, ids = [], ids if isinstance(ids, list) else list(ids)
    while ids:
        left = ids.pop(0)
        if ids and (left, ids[0]) == pair:
            ids.pop(0)
            left = new_id
        out.append(left)
    return out


def merge_pair__same_tuple(ids, pair, new_id):
    """没有这一对时原样返回了元组 | a tuple without the pair is returned as it is"""
    if pair not in {(ids[place], ids[place + 1]) for place in range(len(ids) - 1)}:
        return ids
    out, place = [], 0
    while place < len(ids):
        hit = tuple(ids[place : place + 2]) == pair
        out.append(new_id if hit else ids[place])
        place += 2 if hit else 1
    return out


def merge_pair__again(ids, pair, new_id):
    """反复合并，直到新编号也合进去 | merged again and again, the new id too"""
    ids, pair = list(ids), tuple(pair)
    place = 0
    while place < len(ids) - 1:
        if ids[place] in (pair[0], new_id) and ids[place + 1] == pair[1]:
            ids[place : place + 2] = [new_id]
        else:
            place += 1
    return ids


def merge_pair__always_raises(ids, pair, new_id):
    """总是抛出 TypeError | always raises TypeError"""
    raise TypeError("a typing mistake of my own")


def train_bpe__right_by_id(ids, n_merges):
    """右词元比的是编号 | right tokens compared by id"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], pair[1]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__left_twice(ids, n_merges):
    """新词元的字节是两个左词元 | the bytes of a new token are those of the left one twice"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[0]])
        merges.append(best)
    return merges


def train_bpe__one_byte(ids, n_merges):
    """只有一个字节时出错 | fails for a single byte"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while ids and len(merges) < n_merges:
        counts = count_pairs(ids)
        if max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__without_overlap(ids, n_merges):
    """计数时重叠的没有数 | overlapping places not counted"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        pairs = {(ids[t], ids[t + 1]) for t in range(len(ids) - 1)}
        counts = {pair: len(ids) - len(merge_pair(ids, pair, -1)) if pair[0] == pair[1] else n
                  for pair, n in count_pairs(ids).items() if pair in pairs}  # fmt: skip
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        out, place = [], 0
        while place < len(ids):
            hit = tuple(ids[place : place + 2]) == best
            out.append(len(tokens) if hit else ids[place])
            place += 2 if hit else 1
        ids = out
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(best)
    return merges


def train_bpe__lists(ids, n_merges):
    """每一对是列表，不是元组 | each pair a list and no tuple"""
    ids, merges, tokens = list(ids), [], [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append(list(best))
    return merges


def train_bpe__dictionary(ids, n_merges):
    """返回了“对到编号”的字典 | a dictionary from pair to id"""
    ids, merges, tokens = list(ids), {}, [bytes([byte]) for byte in range(256)]
    while len(merges) < n_merges:
        counts = count_pairs(ids)
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        ids = merge_pair(ids, best, len(tokens))
        merges[best] = len(tokens)
        tokens.append(tokens[best[0]] + tokens[best[1]])
    return merges


def train_bpe__always_raises(ids, n_merges):
    """总是抛出 ValueError | always raises ValueError"""
    raise ValueError("a typing mistake of my own")


def bpe_encode__right_to_left(self, text):
    """同一对从右往左合并 | one pair merged from right to left"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special:
            places = [t for t in range(len(part) - 1) if (part[t], part[t + 1]) in self.ranks]
            if not places:
                break
            best = min(places, key=lambda t: (self.ranks[part[t], part[t + 1]], -t))
            part[best : best + 2] = [self.merges[part[best], part[best + 1]]]
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__rank_for_id(self, text):
    """新编号写成了名次 | the rank taken for the new id"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.ranks[best])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__tuple(self, text):
    """返回了元组，不是列表 | a tuple and no list"""
    ids = ()
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while not special and (ranked := [pair for pair in count_pairs(part) if pair in self.ranks]):
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += (self.special_tokens[piece],) if special else tuple(part)
    return ids


def bpe_encode__from_the_last_rank(self, text):
    """名次最高的先合并了 | the highest rank merged first"""
    ids = []
    for piece, special in self.split(text):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        for pair in [] if special else reversed(self.merges):
            part = merge_pair(part, pair, self.merges[pair])
        ids += [self.special_tokens[piece]] if special else part
    return ids


def bpe_encode__always_raises(self, text):
    """总是抛出 KeyError | always raises KeyError"""
    raise KeyError("a typing mistake of my own")


def bpe_decode__dropped_bytes(self, ids):
    """不合 UTF-8 的字节丢了 | bytes that are no UTF-8 are lost"""
    return "".join(self.tokens[number].decode("utf-8", errors="ignore") for number in ids)


def bpe_decode__question_mark(self, ids):
    """不合 UTF-8 的字节写成了问号 | bytes that are no UTF-8 written as question marks"""
    return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace").replace("\ufffd", "?")


def bpe_decode__gbk(self, ids):
    """当成 GBK 解码了 | decoded as GBK"""
    return b"".join(self.tokens[number] for number in ids).decode("gbk", errors="replace")


def bpe_decode__always_raises(self, ids):
    """总是抛出 UnicodeError | always raises UnicodeError"""
    raise UnicodeError("a typing mistake of my own")


def bpe_decode__no_return(self, ids):
    """漏了 return | the return is missing"""
    b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")


def char_encode__as_text(self, text):
    """返回的是一个字符串 | one string of ids returned"""
    for place, symbol in enumerate(text):
        if symbol not in self.symbols:
            raise ValueError(f"no {symbol} at {place}")
    return " ".join(str(self.symbols.index(symbol)) for symbol in text)


def char_decode__no_return(self, ids):
    """漏了 return | the return is missing"""
    "".join(self.symbols[number] for number in ids)


def char_decode__printed(self, ids):
    """只打印了错误，没有抛出 | the error only printed, not raised"""
    for place, number in enumerate(ids):
        if not 0 <= number < len(self.symbols):
            print(f"{number} at {place}")
            return None
    return "".join(self.symbols[number] for number in ids)


def char_decode__upper_bound_by_hand(self, ids):
    """把 10 写死了 | 10 written out instead of V"""
    for place, number in enumerate(ids):
        if not 0 <= number < 10:
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number] for number in ids)


def char_decode__strip(self, ids):
    """两头的空白去掉了 | white space removed at both ends"""
    for place, number in enumerate(ids):
        if not 0 <= number < len(self.symbols):
            raise ValueError(f"{number} at {place}")
    return "".join(self.symbols[number] for number in ids).strip()


def merge_pair__first_of_run(ids, pair, new_id):
    """比较之后忘了跳过，长度没变 | a zero left where the right token stood"""
    ids = list(ids)
    for place in range(len(ids) - 1):
        if (ids[place], ids[place + 1]) == pair:
            ids[place], ids[place + 1] = new_id, 0
    return ids


def bpe_encode__cut_at_spaces(self, text):
    """特殊词元当成普通文本拆开了 | special tokens taken apart like ordinary text"""
    ids = []
    for piece in text.split(" "):
        part = [self.byte_ids[byte] for byte in piece.encode()]
        while ranked := [pair for pair in count_pairs(part) if pair in self.ranks]:
            best = min(ranked, key=self.ranks.get)
            part = merge_pair(part, best, self.merges[best])
        ids += part
    return ids
