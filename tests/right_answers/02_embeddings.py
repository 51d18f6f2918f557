"""Right answers to the exercises of chapter 02, each written another way; see docs/authoring.md for the form."""

import torch
from torch import nn
from torch.nn import functional as F

from hero_transformer.embedding import check_ids


def embed__own_check(ids, table):
    """自己查范围 | a range check of one's own"""
    if int(ids.min()) < 0 or int(ids.max()) >= len(table):
        raise ValueError(f"ids must lie between 0 and {len(table) - 1}")
    return table[ids.to(torch.int64), :]


def embed__index_select(ids, table):
    """用 index_select 再还原形状 | index_select, then the shape again"""
    check_ids(ids, table.shape[0])
    return table.index_select(0, ids.reshape(-1).long()).reshape(*ids.shape, table.shape[1])


def embed__loop(ids, table):
    """逐个取行再叠起来 | row by row, then stacked"""
    check_ids(ids, table.shape[0])
    return torch.stack([torch.stack([table[token] for token in row]) for row in ids.tolist()])


def embed__gather(ids, table):
    """用 gather | by gather"""
    check_ids(ids, table.shape[0])
    where = ids.long().reshape(-1, 1).expand(-1, table.shape[1])
    return table.gather(0, where).unflatten(0, ids.shape)


def one_hot_matmul__comparison(ids, table):
    """与 0…V−1 比较 | by comparing with 0 … V−1"""
    return (ids[..., None] == torch.arange(len(table))).to(table.dtype) @ table


def one_hot_matmul__identity(ids, table):
    """从单位矩阵取行 | rows of an identity matrix"""
    return torch.eye(table.shape[0], dtype=table.dtype)[ids.long()].matmul(table)


def one_hot_matmul__scatter(ids, table):
    """用 scatter 写一 | ones written by scatter"""
    one_hot = table.new_zeros(*ids.shape, table.shape[0]).scatter_(-1, ids.long()[..., None], 1.0)
    return torch.einsum("btv,vd->btd", one_hot, table)


def one_hot_matmul__places(ids, table):
    """逐个位置造独热行，再乘 | a one-hot row for each place, multiplied one by one"""
    rows = []
    for token in ids.flatten().tolist():
        one_hot = torch.zeros(len(table), dtype=table.dtype)
        one_hot[token] = 1
        rows.append((one_hot[:, None] * table).sum(dim=0))
    return torch.stack(rows).unflatten(0, ids.shape)


def embedding_backward__one_hot(ids, upstream, vocab_size):
    """独热矩阵的转置乘上游 | the transposed one-hot matrix times the upstream gradient"""
    one_hot = F.one_hot(ids.flatten().long(), vocab_size).to(upstream.dtype)
    return one_hot.T @ upstream.flatten(0, 1)


def embedding_backward__accumulate(ids, upstream, vocab_size):
    """index_put_ 加 accumulate | index_put_ with accumulate"""
    gradient = torch.zeros(vocab_size, upstream.shape[2], dtype=upstream.dtype)
    gradient.index_put_((ids.long(),), upstream, accumulate=True)
    return gradient


def embedding_backward__loops(ids, upstream, vocab_size):
    """两层循环 | two loops"""
    gradient = torch.zeros(vocab_size, upstream.shape[2], dtype=upstream.dtype)
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            gradient[int(ids[b, t])] += upstream[b, t]
    return gradient


def embedding_backward__masks(ids, upstream, vocab_size):
    """对每个词元，把它的位置加起来 | for each token, the sum over its places"""
    return torch.stack([upstream[ids == token].sum(dim=0) for token in range(vocab_size)])


def init_embedding__normal(vocab_size, d_model, generator):
    """torch.normal | torch.normal"""
    return torch.normal(0.0, 0.02, (vocab_size, d_model), generator=generator)


def init_embedding__in_place(vocab_size, d_model, generator):
    """空表再 normal_ | an empty table, then normal_"""
    return torch.empty(vocab_size, d_model).normal_(mean=0, std=0.02, generator=generator)


def init_embedding__init(vocab_size, d_model, generator):
    """nn.init.normal_ | nn.init.normal_"""
    return nn.init.normal_(torch.zeros(vocab_size, d_model), std=0.02, generator=generator)


def nearest_tokens__sorted(table, id, k):
    """Python 的 sorted | Python's sorted"""
    unit = F.normalize(table, dim=1)
    similarity = (unit * unit[id]).sum(dim=1).tolist()
    others = (other for other in range(len(table)) if other != id)
    return sorted(others, key=lambda other: (-similarity[other], other))[:k]


def nearest_tokens__quotient(table, id, k):
    """点积除以两个长度，自己设为负无穷 | dot products over lengths, itself set to minus infinity"""
    lengths = table.pow(2).sum(1).sqrt()
    similarity = (table @ table[id]) / (lengths * lengths[id])
    similarity[id] = -torch.inf
    return torch.sort(similarity, descending=True, stable=True).indices[:k].tolist()


def nearest_tokens__unnormalised_query(table, id, k):
    """自己的长度不影响次序 | one's own length does not matter for the order"""
    scores = -((table / torch.linalg.vector_norm(table, dim=1)[:, None]) @ table[id])
    ranking = [int(other) for other in scores.argsort(stable=True)]
    ranking.remove(id)
    return ranking[:k]


def prediction_shape__list():
    """写成列表 | written as a list"""
    return [2, 3, 4]


def prediction_gradient__floats():
    """写成小数 | written as floats"""
    return (2.0, 2.0)


def prediction_rows__float():
    """写成小数 | written as a float"""
    return 5.0
