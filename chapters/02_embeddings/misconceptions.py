"""The mistakes that learners make in chapter 02, one function each; see docs/authoring.md."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from hero_transformer.embedding import check_ids


def embed__no_range_check(ids, table):
    """没有检查范围，负编号绕回了表尾 | no range check: a negative id wraps round to the end"""
    return table[ids.long()]


def embed__only_upper(ids, table):
    """只检查了上界，负编号绕回了表尾 | only the upper bound tested: a negative id wraps round"""
    if ids.max() >= table.shape[0]:
        raise ValueError("too large")
    return table[ids.long()]


def embed__only_lower(ids, table):
    """只检查了下界 | only the lower bound tested"""
    if ids.min() < 0:
        raise ValueError("negative")
    return table[ids.long()]


def embed__off_by_one(ids, table):
    """上界差一：放过了等于 V 的编号 | the upper bound is off by one: id V is let through"""
    if ids.min() < 0 or ids.max() > table.shape[0]:
        raise ValueError("out of range")
    return table[ids.long()]


def embed__modulo(ids, table):
    """用取余把越界的编号悄悄绕了回来 | ids out of range wrapped round with a remainder"""
    return table[ids.long() % table.shape[0]]


def embed__clamp(ids, table):
    """把越界的编号悄悄夹到了边上 | ids out of range clamped to the nearest row"""
    return table[ids.long().clamp(0, table.shape[0] - 1)]


def embed__mask(ids, table):
    """没有转成 int64：uint8 的下标被当成了掩码 | not converted to int64: uint8 is read as a mask"""
    check_ids(ids, table.shape[0])
    return table[ids]


def embed__features_before_time(ids, table):
    """特征轴放到了时间轴前面 | the feature axis before the time axis"""
    check_ids(ids, table.shape[0])
    return table[ids.long()].transpose(1, 2)


def embed__scaled(ids, table):
    """多乘了 √d | multiplied by √d"""
    check_ids(ids, table.shape[0])
    return table[ids.long()] * math.sqrt(table.shape[1])


def embed__detached(ids, table):
    """梯度断了：用了 .data 或 detach | the gradient is cut off by .data or detach"""
    check_ids(ids, table.shape[0])
    return table.detach()[ids.long()]


def embed__float32(ids, table):
    """结果转成了 float32 | the result turned into float32"""
    check_ids(ids, table.shape[0])
    return table[ids.long()].float()


def embed__ids_changed(ids, table):
    """原地改写了编号 | the ids were overwritten in place"""
    check_ids(ids, table.shape[0])
    rows = table[ids.long()]
    ids -= ids.min()
    return rows


def embed__library(ids, table):
    """直接调用了库函数 | the library's own function was called"""
    check_ids(ids, table.shape[0])
    return F.embedding(ids.long(), table)


def one_hot_matmul__default_width(ids, table):
    """没有写 num_classes，宽度只到最大的编号 | num_classes missing: as wide as the largest id"""
    return F.one_hot(ids.long()).to(table.dtype) @ table


def one_hot_matmul__width_d(ids, table):
    """宽度用了 d，不是 V | the width is d and not V"""
    return F.one_hot(ids.long(), table.shape[1]).to(table.dtype) @ table


def one_hot_matmul__table_cut(ids, table):
    """宽度不够就截短了表 | the table cut to the width of the one-hot vectors"""
    one_hot = F.one_hot(ids.long()).to(table.dtype)
    return one_hot @ table[: one_hot.shape[-1]]


def one_hot_matmul__lookup(ids, table):
    """没有做乘法，直接查了表 | a lookup and not a product"""
    return table[ids.long()]


def one_hot_matmul__no_cast(ids, table):
    """独热张量没有转成浮点 | the one-hot tensor not converted to floating point"""
    return F.one_hot(ids.long(), table.shape[0]) @ table


def one_hot_matmul__float(ids, table):
    """写死了 .float()，float64 的表乘不了 | a fixed .float() that does not fit a float64 table"""
    return F.one_hot(ids.long(), table.shape[0]).float() @ table


def one_hot_matmul__all_float32(ids, table):
    """两边都转成了 float32，类型变了 | both sides turned into float32: the dtype changed"""
    return F.one_hot(ids.long(), table.shape[0]).float() @ table.float()


def one_hot_matmul__no_long(ids, table):
    """编号没有转成 int64 | the ids not converted to int64"""
    return F.one_hot(ids, table.shape[0]).to(table.dtype) @ table


def one_hot_matmul__one_based(ids, table):
    """与 1…V 比较，编号从一数起了 | compared with 1 … V: ids counted from one"""
    places = torch.arange(1, table.shape[0] + 1)
    return (ids.long()[..., None] == places).to(table.dtype) @ table


def one_hot_matmul__bag(ids, table):
    """把一条序列的独热向量加在了一起 | the one-hot vectors of a sequence added up"""
    return F.one_hot(ids.long(), table.shape[0]).to(table.dtype).sum(1) @ table


def one_hot_matmul__library(ids, table):
    """直接调用了库函数 | the library's own function was called"""
    return F.embedding(ids.long(), table)


def embedding_backward__overwritten(ids, upstream, vocab_size):
    """用了 dE[ids] += G：重复的词元互相覆盖 | dE[ids] += G: repeated tokens overwrite each other"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    gradient[ids.long()] += upstream
    return gradient


def embedding_backward__first_only(ids, upstream, vocab_size):
    """重复的词元只算了第一处 | only the first place of a repeated token counts"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    seen = set()
    for token, vector in zip(ids.flatten().tolist(), upstream.flatten(0, 1), strict=True):
        if token not in seen:
            gradient[token] = vector
            seen.add(token)
    return gradient


def embedding_backward__mean(ids, upstream, vocab_size):
    """重复的词元取了平均，没有求和 | the mean over the places of a token, not the sum"""
    one_hot = F.one_hot(ids.flatten().long(), vocab_size).to(upstream.dtype)
    total = one_hot.T @ upstream.flatten(0, 1)
    return total / one_hot.sum(0).clamp(min=1)[:, None]


def embedding_backward__counts(ids, upstream, vocab_size):
    """没有用上游梯度，只数了次数 | the upstream gradient ignored: occurrences counted"""
    counts = torch.bincount(ids.flatten().long(), minlength=vocab_size).to(upstream.dtype)
    return counts[:, None].repeat(1, upstream.shape[-1])


def embedding_backward__short(ids, upstream, vocab_size):
    """表只有最大的编号加一那么多行 | only as many rows as the largest id plus one"""
    one_hot = F.one_hot(ids.flatten().long()).to(upstream.dtype)
    return one_hot.T @ upstream.flatten(0, 1)


def embedding_backward__by_sequence(ids, upstream, vocab_size):
    """逐条序列用 +=，同一条序列里的重复丢了 | += for each sequence: repetitions within one are lost"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    for row, vectors in zip(ids.long(), upstream, strict=True):
        gradient[row] += vectors
    return gradient


def embedding_backward__by_position(ids, upstream, vocab_size):
    """逐个位置用 +=，不同序列里的重复丢了 | += for each position: repetitions across sequences are lost"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    for t in range(ids.shape[1]):
        gradient[ids[:, t].long()] += upstream[:, t]
    return gradient


def embedding_backward__last_sequence(ids, upstream, vocab_size):
    """循环里每次都从零开始，只剩最后一条序列 | begun anew in the loop: only the last sequence is left"""
    for row, vectors in zip(ids.long(), upstream, strict=True):
        gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
        gradient.index_add_(0, row, vectors)
    return gradient


def embedding_backward__axes_lost(ids, upstream, vocab_size):
    """摊平上游梯度时弄乱了时间轴和特征轴 | time and feature axes confused in flattening"""
    places = upstream.transpose(1, 2).reshape(-1, upstream.shape[-1])
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    return gradient.index_add_(0, ids.flatten().long(), places)


def embedding_backward__ids_transposed(ids, upstream, vocab_size):
    """编号按时间在前摊平了 | the ids flattened with time first"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    return gradient.index_add_(0, ids.T.flatten().long(), upstream.flatten(0, 1))


def embedding_backward__descent(ids, upstream, vocab_size):
    """符号反了，写成了下降的方向 | the sign reversed: the direction of descent"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    return gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1), alpha=-1)


def embedding_backward__float32(ids, upstream, vocab_size):
    """零表没有给类型，float64 的梯度加不进去 | zeros without a dtype: a float64 gradient does not fit"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1])
    return gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1))


def embedding_backward__no_long(ids, upstream, vocab_size):
    """编号没有转成 int64，uint8 用不了 | the ids not converted to int64: uint8 fails"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    return gradient.index_add_(0, ids.flatten(), upstream.flatten(0, 1))


def embedding_backward__upstream_changed(ids, upstream, vocab_size):
    """原地改写了上游梯度 | the upstream gradient was overwritten in place"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1))
    upstream.zero_()
    return gradient


def embedding_backward__library(ids, upstream, vocab_size):
    """让自动求导代劳了 | left to automatic differentiation"""
    leaf = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype, requires_grad=True)
    leaf[ids.long()].backward(upstream)
    return leaf.grad


def init_embedding__standard(vocab_size, d_model, generator):
    """标准差是一，没有乘 0.02 | standard deviation one: not multiplied by 0.02"""
    return torch.randn(vocab_size, d_model, generator=generator)


def init_embedding__variance(vocab_size, d_model, generator):
    """把 0.02 当成了方差 | 0.02 taken for the variance"""
    return math.sqrt(0.02) * torch.randn(vocab_size, d_model, generator=generator)


def init_embedding__rand(vocab_size, d_model, generator):
    """用了 rand：零到 0.02 之间的均匀分布 | rand: even between zero and 0.02"""
    return 0.02 * torch.rand(vocab_size, d_model, generator=generator)


def init_embedding__uniform_same_deviation(vocab_size, d_model, generator):
    """标准差对，但用了均匀分布 | the right deviation, but an even distribution"""
    return (2 * torch.rand(vocab_size, d_model, generator=generator) - 1) * 0.02 * math.sqrt(3)


def init_embedding__truncated(vocab_size, d_model, generator):
    """截掉了两个标准差以外的尾巴 | the tails beyond two deviations cut off"""
    return (0.02 * torch.randn(vocab_size, d_model, generator=generator)).clamp(-0.04, 0.04)


def init_embedding__global(vocab_size, d_model, generator):
    """没有用 generator，取自全局随机状态 | generator not used: drawn from the global state"""
    return 0.02 * torch.randn(vocab_size, d_model)


def init_embedding__global_seeded(vocab_size, d_model, generator):
    """重设了全局的种子 | the global seed was set"""
    torch.manual_seed(0)
    return 0.02 * torch.randn(vocab_size, d_model)


def init_embedding__own_generator(vocab_size, d_model, generator):
    """另造了一个种子为零的发生器 | a new generator with seed zero"""
    return 0.02 * torch.randn(vocab_size, d_model, generator=torch.Generator().manual_seed(0))


def init_embedding__reseeded(vocab_size, d_model, generator):
    """用发生器原来的种子重新开始 | the generator begun again from its own seed"""
    generator.manual_seed(generator.initial_seed())
    return 0.02 * torch.randn(vocab_size, d_model, generator=generator)


def init_embedding__columns_first(vocab_size, d_model, generator):
    """按列的次序取数 | drawn column by column"""
    return 0.02 * torch.randn(d_model, vocab_size, generator=generator).T


def init_embedding__transposed(vocab_size, d_model, generator):
    """形状写成了 [d, V] | the shape is [d, V]"""
    return 0.02 * torch.randn(d_model, vocab_size, generator=generator)


def init_embedding__float64(vocab_size, d_model, generator):
    """结果是 float64 | the result is float64"""
    return (0.02 * torch.randn(vocab_size, d_model, generator=generator)).double()


def init_embedding__library(vocab_size, d_model, generator):
    """用了 nn.Embedding 自己的初值 | the values that nn.Embedding draws itself"""
    return nn.Embedding(vocab_size, d_model).weight.detach()


def nearest_tokens__dot(table, id, k):
    """用了点积，没有除以长度 | the dot product, not divided by the lengths"""
    ranking = (table @ table[id]).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__distance(table, id, k):
    """用了距离 | the distance between the vectors"""
    ranking = (table - table[id]).norm(dim=1).argsort(stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__itself(table, id, k):
    """把它自己也算进去了 | the token counted among its own neighbours"""
    directions = table / table.norm(dim=1, keepdim=True)
    return (directions @ directions[id]).argsort(descending=True, stable=True).tolist()[:k]


def nearest_tokens__drop_first(table, id, k):
    """丢掉了排在最前的，未必是它自己 | whatever came first was dropped, not the token itself"""
    directions = table / table.norm(dim=1, keepdim=True)
    return (directions @ directions[id]).argsort(descending=True, stable=True).tolist()[1 : k + 1]


def nearest_tokens__doubles_dropped(table, id, k):
    """同向的别的词元也被去掉了 | other tokens of the same direction left out too"""
    directions = table / table.norm(dim=1, keepdim=True)
    similarity = directions @ directions[id]
    ranking = similarity.argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if similarity[other] < 1 - 1e-9][:k]


def nearest_tokens__one_short(table, id, k):
    """先取 k 个再去掉自己，少了一个 | k taken before the token is left out: one too few"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking[:k] if other != id]


def nearest_tokens__absolute(table, id, k):
    """取了绝对值，反方向也算近 | the absolute value: opposite directions count as near"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).abs().argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__farthest(table, id, k):
    """从小到大排，最远的在前 | sorted upwards: the farthest first"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__reversed(table, id, k):
    """从小到大排再倒过来，并列的次序反了 | sorted upwards and reversed: ties in the wrong order"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(stable=True).flip(0).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__columns(table, id, k):
    """沿列归一，不是沿行 | columns brought to length one, not rows"""
    directions = table / table.norm(dim=0, keepdim=True)
    ranking = (directions @ directions[id]).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__no_root(table, id, k):
    """除以了长度的平方，没有开根号 | divided by the squares of the lengths, without the root"""
    directions = table / table.square().sum(dim=1, keepdim=True)
    ranking = (directions @ table[id]).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__in_place(table, id, k):
    """原地归一，改写了表 | normalised in place: the table was overwritten"""
    table /= table.norm(dim=1, keepdim=True)
    ranking = (table @ table[id]).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__tensor(table, id, k):
    """返回了张量，不是列表 | a tensor returned, not a list"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(descending=True, stable=True)
    return ranking[ranking != id][:k]


def nearest_tokens__library(table, id, k):
    """直接调用了库函数 | the library's own function was called"""
    ranking = F.cosine_similarity(table, table[id], dim=1).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def prediction_shape__one_hot():
    """末尾成了 V：那是独热张量的形状 | V at the end: the shape of the one-hot tensor"""
    return (2, 3, 10)


def prediction_shape__no_features():
    """漏了特征轴 | the feature axis is missing"""
    return (2, 3)


def prediction_shape__flattened():
    """批量和时间合成了一个轴 | batch and time as one axis"""
    return (6, 4)


def prediction_width__v():
    """以为它知道 V | as if it knew V"""
    return (2, 3, 10)


def prediction_width__largest():
    """宽度等于最大的编号，漏了零号 | as wide as the largest id: id zero forgotten"""
    return (2, 3, 7)


def prediction_width__different():
    """宽度是不同编号的个数 | as wide as the number of different ids"""
    return (2, 3, 5)


def prediction_gradient__once():
    """重复的词元只算了一次 | the repeated token counted once"""
    return (1, 1)


def prediction_gradient__all_places():
    """把三个位置全加了 | all three places added"""
    return (3, 3)


def prediction_rows__places():
    """数了位置，没有去掉重复 | places counted, repetitions included"""
    return 6


def prediction_rows__all():
    """以为每一行都有梯度 | as if every row had a gradient"""
    return 10


def prediction_rows__once():
    """只数了出现一次的词元 | only tokens that occur once"""
    return 4


def prediction_nearest__one_measure():
    """以为三种量法答案一样 | as if all measures agreed"""
    return (1, 1, 1)


def prediction_nearest__all_short():
    """按余弦和点积也选了离得最近的 | the closest point chosen by every measure"""
    return (6, 6, 6)


def prediction_nearest__dot_as_cosine():
    """点积没有计入长度 | the lengths left out of the dot product"""
    return (1, 1, 6)
