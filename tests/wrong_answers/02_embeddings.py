"""Wrong answers to the exercises of chapter 02 that nobody foresaw: each is caught, and none is given a false name.

Where the right name is that of a known mistake, the docstring is that name.
"""

import torch
from torch.nn import functional as F

from hero_transformer.embedding import check_ids


def embed__int8(ids, table):
    """编号转成了 int8，大编号溢出 | ids turned into int8: large ones overflow"""
    check_ids(ids, table.shape[0])
    return table[ids.to(torch.int8).long()]


def embed__view(ids, table):
    """按存储的次序读了编号和表 | ids and table read in the order of memory"""
    check_ids(ids, table.shape[0])
    flat = torch.as_strided(table, table.shape, (table.shape[1], 1))
    return flat[ids.long()]


def embed__remembered(ids, table, _known={}):
    """形状相同时给了上一次的结果 | the last result again for the same shapes"""
    check_ids(ids, table.shape[0])
    key = (ids.shape, table.shape, ids.dtype, table.dtype)
    return _known.setdefault(key, table[ids.long()])


def embed__squeezed(ids, table):
    """长度是一的轴不见了 | axes of length one are gone"""
    check_ids(ids, table.shape[0])
    return table[ids.long()].squeeze()


def embed__no_grad(ids, table):
    """梯度断了：用了 .data 或 detach | the gradient is cut off by .data or detach"""
    check_ids(ids, table.shape[0])
    with torch.no_grad():
        return table[ids.long()]


def embed__flat(ids, table):
    """批量和时间合成了一个轴 | batch and time as one axis"""
    check_ids(ids, table.shape[0])
    return table[ids.long().flatten()]


def embed__numpy(ids, table):
    """返回了 numpy 的数组 | a numpy array returned"""
    check_ids(ids, table.shape[0])
    return table.detach().numpy()[ids.numpy()]


def embed__raises(ids, table):
    """总是抛出 ValueError | always raises ValueError"""
    raise ValueError("a typing mistake of my own")


def embed__printed(ids, table):
    """只打印了错误，没有抛出 | the error only printed, not raised"""
    if ids.min() < 0 or ids.max() >= len(table):
        print("out of range")
        return None
    return table[ids.long()]


def embed__assert(ids, table):
    """用了 assert，抛出的是 AssertionError | AssertionError from an assert instead of ValueError"""
    assert ids.min() >= 0
    assert ids.max() < len(table)
    return table[ids.long()]


def one_hot_matmul__float64(ids, table):
    """float32 的表给了 float64 | float64 for a float32 table"""
    return F.one_hot(ids.long(), len(table)).double() @ table.double()


def one_hot_matmul__detached(ids, table):
    """梯度断了 | the gradient is cut off"""
    return F.one_hot(ids.long(), len(table)).to(table.dtype) @ table.detach()


def one_hot_matmul__data(ids, table):
    """用了 .data | .data"""
    return (F.one_hot(ids.long(), len(table)).to(table.dtype) @ table.data).requires_grad_(table.requires_grad)


def one_hot_matmul__remembered(ids, table, _known={}):
    """形状相同时给了上一次的结果 | the last result again for the same shapes"""
    key = (ids.shape, table.shape, ids.dtype, table.dtype)
    return _known.setdefault(key, F.one_hot(ids.long(), len(table)).to(table.dtype) @ table)


def one_hot_matmul__nan(ids, table):
    """表里有无穷大就全给 NaN | everything NaN when the table has an infinity"""
    rows = table[ids.long()]
    return rows if table.isfinite().all() else rows * torch.nan


def one_hot_matmul__transposed(ids, table):
    """乘反了：表的转置 | multiplied by the transposed table"""
    return F.one_hot(ids.long(), len(table)).to(table.dtype) @ table.T


def one_hot_matmul__squeezed(ids, table):
    """长度是一的轴不见了 | axes of length one are gone"""
    return (F.one_hot(ids.long(), len(table)).to(table.dtype) @ table).squeeze(0)


def one_hot_matmul__raises(ids, table):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def one_hot_matmul__typing(ids, table):
    """写错了一个名字 | a misspelt name"""
    return F.one_hot(ids.long(), len(table)).to(tabel.dtype) @ table  # noqa: F821


def embedding_backward__squeezed(ids, upstream, vocab_size):
    """长度是一的轴不见了 | axes of length one are gone"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    return gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1)).squeeze()


def embedding_backward__float64(ids, upstream, vocab_size):
    """结果总是 float64 | the result is always float64"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=torch.float64)
    return gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1).double())


def embedding_backward__mean_of_all(ids, upstream, vocab_size):
    """除以了位置的总数 | divided by the number of all places"""
    gradient = torch.zeros(vocab_size, upstream.shape[-1], dtype=upstream.dtype)
    return gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1)) / ids.numel()


def embedding_backward__one_vector(ids, upstream, vocab_size):
    """返回了每个位置的梯度，没有加到表里 | a gradient for each place, not added into the table"""
    return upstream.flatten(0, 1).clone()


def embedding_backward__transposed(ids, upstream, vocab_size):
    """行列颠倒，成了 [d, V] | rows and columns exchanged: [d, V]"""
    one_hot = F.one_hot(ids.flatten().long(), vocab_size).to(upstream.dtype)
    return upstream.flatten(0, 1).T @ one_hot


def embedding_backward__raises(ids, upstream, vocab_size):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def embedding_backward__typing(ids, upstream, vocab_size):
    """形状写错了，加不进去 | a shape that does not fit"""
    gradient = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    return gradient.index_add_(0, ids.flatten().long(), upstream.flatten(0, 1))


def init_embedding__cut(vocab_size, d_model, generator):
    """截掉了三个标准差以外的尾巴 | the tails beyond three deviations cut off"""
    return (0.02 * torch.randn(vocab_size, d_model, generator=generator)).clamp(-0.06, 0.06)


def init_embedding__squeezed(vocab_size, d_model, generator):
    """长度是一的轴不见了 | axes of length one are gone"""
    return 0.02 * torch.randn(vocab_size, d_model, generator=generator).squeeze()


def init_embedding__row_by_row(vocab_size, d_model, generator):
    """一行一行地取，没有一次取出 | drawn row by row and not at once"""
    rows = [0.02 * torch.randn(d_model, generator=generator) for _ in range(vocab_size)]
    return torch.stack(rows).flip(0)


def init_embedding__root_d(vocab_size, d_model, generator):
    """标准差取了 1/√d | the deviation is 1/√d"""
    return torch.randn(vocab_size, d_model, generator=generator) / d_model**0.5


def init_embedding__two_seeds(vocab_size, d_model, generator):
    """用发生器原来的种子重新开始 | the generator begun again from its own seed"""
    return 0.02 * torch.randn(vocab_size, d_model, generator=torch.Generator().manual_seed(generator.initial_seed()))


def init_embedding__shifted(vocab_size, d_model, generator):
    """加了 0.02，没有乘 | 0.02 added and not multiplied"""
    return 0.02 + torch.randn(vocab_size, d_model, generator=generator)


def init_embedding__raises(vocab_size, d_model, generator):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def nearest_tokens__unstable(table, id, k):
    """并列时的次序没有保证 | the order of ties is left to chance"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(descending=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__rounded(table, id, k):
    """相似度先四舍五入了 | similarities rounded before they are compared"""
    directions = table / table.norm(dim=1, keepdim=True)
    similarity = (directions @ directions[id]).mul(1e4).round()
    ranking = similarity.argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__remembered(table, id, k, _known={}):
    """形状相同时给了上一次的结果 | the last result again for the same shape"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(descending=True, stable=True).tolist()
    return _known.setdefault((table.shape, id, k), [other for other in ranking if other != id][:k])


def nearest_tokens__float64_only(table, id, k):
    """写死了 float64，float32 的表出错 | float64 written out: a float32 table fails"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = torch.mv(directions, directions[id].double()).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def nearest_tokens__pairs(table, id, k):
    """返回了编号和相似度的对 | pairs of id and similarity returned"""
    directions = table / table.norm(dim=1, keepdim=True)
    similarity = directions @ directions[id]
    ranking = similarity.argsort(descending=True, stable=True).tolist()
    return [(other, similarity[other].item()) for other in ranking if other != id][:k]


def nearest_tokens__all(table, id, k):
    """没有只取 k 个 | all of them, not only k"""
    directions = table / table.norm(dim=1, keepdim=True)
    ranking = (directions @ directions[id]).argsort(descending=True, stable=True).tolist()
    return [other for other in ranking if other != id]


def nearest_tokens__raises(table, id, k):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def nearest_tokens__manhattan(table, id, k):
    """用了距离 | the distance between the vectors"""
    ranking = (table - table[id]).abs().sum(1).argsort(stable=True).tolist()
    return [other for other in ranking if other != id][:k]


def init_embedding__copied_generator(vocab_size, d_model, generator):
    """从发生器的副本里抽，下一张表和这张一样 | drawn from a copy of the generator: the next table is the same"""
    copy = torch.Generator()
    copy.set_state(generator.get_state())
    return 0.02 * torch.randn(vocab_size, d_model, generator=copy)
