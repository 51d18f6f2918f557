"""Right answers to the exercises of chapter 01, each written another way; see docs/authoring.md for the form."""

from collections import Counter

from hero_transformer import tokenizer
from hero_transformer.tokenizer import count_pairs, merge_pair


def char_encode__index(self, text):
    """用 index 查，先验后编 | by index, tested first"""
    for n, s in enumerate(text):
        if s not in self.symbols:
            raise ValueError(f"{s} at {n} is not in the alphabet")
    return [self.symbols.index(s) for s in text]


def char_encode__try(self, text):
    """先查表，查不到再报 | look up, and complain when that fails"""
    ids, out = dict(zip(self.symbols, range(len(self.symbols)), strict=True)), []
    for n, s in enumerate(text):
        try:
            out.append(ids[s])
        except KeyError:
            raise ValueError("字符 " + s + " 不在表里，位置 " + str(n)) from None
    return out


def char_encode__find(self, text):
    """接成字符串用 find | joined into a string, by find"""
    alphabet = "".join(self.symbols)
    ids = list(map(alphabet.find, text))
    if -1 in ids:
        raise ValueError((ids.index(-1), text[ids.index(-1)]))
    return ids


def char_encode__wordy(self, text):
    """报错里还有别的数 | an error with more numbers in it"""
    missing = [(n, s) for n, s in enumerate(text) if s not in self.symbols]
    if missing:
        n, s = missing[0]
        raise ValueError(f"{s} (U+{ord(s):04X}), at place {n} from zero, is the {n + 1}th of {len(text)} characters")
    return [self.symbols.index(s) for s in text]


def char_decode__wordy(self, ids):
    """报错里还有别的数 | an error with more numbers in it"""
    for n, i in enumerate(ids):
        if not 0 <= i < len(self.symbols):
            raise ValueError(f"{i} at place {n}, the {n + 1}th of {len(ids)}; ids go up to {len(self.symbols) - 1}")
    return "".join(self.symbols[i] for i in ids)


def char_decode__map(self, ids):
    """先验，再 map | tested first, then map"""
    bad = [(n, i) for n, i in enumerate(ids) if i not in range(len(self.symbols))]
    if bad:
        raise ValueError(f"place {bad[0][0]}: id {bad[0][1]}")
    return "".join(map(self.symbols.__getitem__, ids))


def char_decode__loop(self, ids):
    """逐个累加 | added up one by one"""
    text = ""
    for i in ids:
        if i < 0 or i >= len(self.symbols):
            raise ValueError(f"id {i} at {len(text)}")
        text += self.symbols[i]
    return text


def char_decode__dictionary(self, ids):
    """用字典 | by a dictionary"""
    table = dict(enumerate(self.symbols))
    for n, i in enumerate(ids):
        if i not in table:
            raise ValueError(n, i)
    return "".join(table[i] for i in ids)


def count_pairs__counter(ids):
    """Counter 和 zip | Counter and zip"""
    return Counter(zip(ids, ids[1:]))  # noqa: B905, RUF007


def count_pairs__previous(ids):
    """记住前一个 | the previous one remembered"""
    counts, previous = {}, None
    for number in ids:
        if previous is not None:
            counts.setdefault((previous, number), 0)
            counts[previous, number] += 1
        previous = number
    return counts


def count_pairs__set(ids):
    """先取集合，再逐对数 | a set first, then each pair counted"""
    pairs = [tuple(ids[n : n + 2]) for n in range(len(ids) - 1)]
    return {pair: pairs.count(pair) for pair in set(pairs)}


def merge_pair__skip(ids, pair, new_id):
    """for 循环加一个跳过标记 | a for loop with a mark to skip"""
    out, skip = [], False
    for n in range(len(ids)):
        if skip:
            skip = False
        elif n + 1 < len(ids) and ids[n] == pair[0] and ids[n + 1] == pair[1]:
            out.append(new_id)
            skip = True
        else:
            out.append(ids[n])
    return out


def merge_pair__stack(ids, pair, new_id):
    """像栈一样，看末尾能不能合 | a stack whose top is merged"""
    out, fresh = [], False
    for number in ids:
        if out and not fresh and (out[-1], number) == pair:
            out[-1] = new_id
            fresh = True
        else:
            out.append(number)
            fresh = False
    return out


def merge_pair__text(ids, pair, new_id):
    """变成字符串再替换 | replaced in a string"""
    return [ord(s) for s in "".join(map(chr, ids)).replace(chr(pair[0]) + chr(pair[1]), chr(new_id))]


def merge_pair__deep_copy(ids, pair, new_id):
    """先深拷贝，再在拷贝里改 | a deep copy, which is then changed"""
    import copy

    ids, n = copy.deepcopy(ids) if isinstance(ids, list) else list(ids), 0
    while n < len(ids) - 1:
        if (ids[n], ids[n + 1]) == pair:
            ids[n : n + 2] = [new_id]
        n += 1
    return ids


def merge_pair__from_the_front(ids, pair, new_id):
    """从头上一个个取下 | taken off the front one by one"""
    ids = [*ids]
    out = []
    while ids:
        if len(ids) > 1 and (ids[0], ids[1]) == pair:
            out, ids = [*out, new_id], ids[2:]
        else:
            out, ids = [*out, ids[0]], ids[1:]
    return out


def train_bpe__sorted(ids, n_merges):
    """排序取第一 | sorted, the first taken"""
    contents, merges = {n: (n,) for n in range(256)}, []
    sequence = [*ids]
    for rank in range(n_merges):
        counts = count_pairs(sequence)
        order = sorted(counts, key=lambda p: (-counts[p], contents[p[0]], contents[p[1]]))
        if not order or counts[order[0]] == 1:
            break
        contents[256 + rank] = contents[order[0][0]] + contents[order[0][1]]
        sequence = merge_pair(sequence, order[0], 256 + rank)
        merges.append(order[0])
    return merges


def train_bpe__candidates(ids, n_merges):
    """先取最多的，再从中选 | the highest count first, then a choice among them"""
    ids, tokens = list(ids), [bytes((n,)) for n in range(256)]
    out = []
    while len(out) < n_merges and len(ids) > 1:
        counts = tokenizer.count_pairs(ids)
        most = max(counts.values())
        if most < 2:
            return out
        a, b = min((p for p in counts if counts[p] == most), key=lambda p: (tokens[p[0]], tokens[p[1]]))
        ids = tokenizer.merge_pair(ids, (a, b), len(tokens))
        tokens += [tokens[a] + tokens[b]]
        out += [(a, b)]
    return out


def train_bpe__alone(ids, n_merges):
    """不借别的练习 | without the other exercises"""
    words = [bytes([n]) for n in ids]
    number, out = {bytes([n]): n for n in range(256)}, []
    for rank in range(n_merges):
        pairs = Counter(zip(words, words[1:]))  # noqa: B905, RUF007
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        if pairs[best] < 2:
            break
        out.append((number[best[0]], number[best[1]]))
        number[best[0] + best[1]] = 256 + rank
        n, merged = 0, []
        while n < len(words):
            hit = tuple(words[n : n + 2]) == best
            merged.append(words[n] + words[n + 1] if hit else words[n])
            n += 2 if hit else 1
        words = merged
    return out


def bpe_encode__all_merges(self, text):
    """按名次把每个合并都做一遍 | every merge applied in order of rank"""
    out = []
    for piece, special in self.split(text):
        if special:
            out += [self.special_tokens[piece]]
        else:
            part = [self.byte_ids[b] for b in piece.encode("utf-8")]
            for pair, new_id in self.merges.items():
                part = merge_pair(part, pair, new_id)
            out += part
    return out


def bpe_encode__one_place(self, text):
    """每次只合并最左边的一处 | one place at a time, the leftmost"""
    out = []
    for piece, special in self.split(text):
        part = [self.byte_ids[b] for b in piece.encode()]
        while not special:
            pairs = [tuple(part[n : n + 2]) for n in range(len(part) - 1)]
            places = [(self.ranks[p], n) for n, p in enumerate(pairs) if p in self.ranks]
            if not places:
                break
            _, n = min(places)
            part[n : n + 2] = [self.merges[part[n], part[n + 1]]]
        out.extend([self.special_tokens[piece]] if special else part)
    return out


def bpe_encode__infinity(self, text):
    """没有名次的算无穷大 | no rank counts as infinity"""
    out = []
    for piece, special in self.split(text):
        if special:
            out.append(self.special_tokens[piece])
            continue
        ids = list(map(self.byte_ids.__getitem__, piece.encode("utf-8")))
        while len(ids) > 1:
            best = min(count_pairs(ids), key=lambda pair: self.ranks.get(pair, float("inf")))
            if best not in self.ranks:
                break
            ids = merge_pair(ids, best, self.merges[best])
        out.extend(ids)
    return out


def bpe_decode__bytearray(self, ids):
    """累加到 bytearray | collected in a bytearray"""
    content = bytearray()
    for number in ids:
        content += self.tokens[number]
    return content.decode("utf-8", "replace")


def bpe_decode__str(self, ids):
    """用 str 解码 | decoded by str"""
    return str(b"".join(map(self.tokens.__getitem__, ids)), encoding="utf-8", errors="replace")


def bpe_decode__incremental(self, ids):
    """增量解码器 | an incremental decoder"""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return "".join(decoder.decode(self.tokens[number]) for number in ids) + decoder.decode(b"", final=True)


def prediction_ids__list():
    """写成列表 | written as a list"""
    return [2, 2, 7]


def prediction_tie__list():
    """写成列表 | written as a list"""
    return [97, 98]
