"""Right answers to the exercises of chapter 03, each written another way; see docs/authoring.md for the form."""

import math

import torch
from torch.nn import functional as F

from hero_transformer.position import check_block_size, position_ids


def position_ids__shifted(T, past_length=0):
    """从零数起，再加上缓存的长度 | counted from zero, then the past added"""
    return torch.arange(T) + past_length


def position_ids__list(T, past_length=0):
    """由 Python 的 range 造张量 | a tensor made from Python's range"""
    return torch.tensor(list(range(past_length, past_length + T)))


def position_ids__tail(T, past_length=0):
    """数到底，取最后 T 个 | all numbers, then the last T"""
    return torch.arange(past_length + T, dtype=torch.int64)[-T:]


def check_block_size__room(T, past_length, C):
    """看剩下的行够不够 | whether enough rows are left"""
    if C - past_length < T:
        raise ValueError(f"only {C - past_length} of {C} positions are left, {T} tokens came")


def check_block_size__last(T, past_length, C):
    """看最后一个号码在不在表里 | whether the last number is in the table"""
    last = past_length + T - 1
    if last not in range(C):
        raise ValueError(f"no position {last} in a table of {C}")


def check_block_size__own_kind(T, past_length, C):
    """自己的一种 ValueError | a kind of ValueError of one's own"""

    class TooLong(ValueError):
        pass

    if past_length + T > C:
        raise TooLong(f"{past_length + T} > {C}")


def check_block_size__early(T, past_length, C):
    """够用就先返回 | return early when it fits"""
    if past_length + T <= C:
        return
    raise ValueError("too long")


def add_positions__slice(hidden, table, past_length=0):
    """查过上限之后用切片 | a slice, after the bound was checked"""
    T = hidden.shape[-2]
    check_block_size(T, past_length, len(table))
    return hidden + table[past_length : past_length + T].unsqueeze(0)


def add_positions__lookup(hidden, table, past_length=0):
    """用 F.embedding 取行，自己查上限 | rows by F.embedding, the bound checked here"""
    T, C = hidden.size(1), table.size(0)
    if past_length + T > C:
        raise ValueError(f"{past_length} + {T} > {C}")
    return torch.add(F.embedding(position_ids(T, past_length), table), hidden)


def add_positions__expanded(hidden, table, past_length=0):
    """先把位置铺满整个批量 | positions spread over the batch first"""
    B, T, d = hidden.shape
    check_block_size(T, past_length, len(table))
    rows = table.narrow(0, past_length, T).expand(B, T, d).clone()
    return rows.add_(hidden)


def add_positions__loop(hidden, table, past_length=0):
    """逐个词元相加，再叠起来 | token after token, then stacked"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return torch.stack([hidden[:, t] + table[past_length + t] for t in range(hidden.shape[1])], dim=1)


def sinusoidal_positions__assigned(C, d_model, base=10000.0):
    """给奇偶列分别赋值 | even and odd columns assigned"""
    table = torch.zeros(C, d_model, dtype=torch.float64)
    rates = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(base) / d_model))
    angles = torch.outer(torch.arange(C, dtype=torch.float64), rates)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles[:, : d_model // 2])
    return table


def sinusoidal_positions__loops(C, d_model, base=10000.0):
    """两重循环，纯 Python 算 | two loops in plain Python"""
    rows = []
    for p in range(C):
        angles = [p / base ** ((j - j % 2) / d_model) for j in range(d_model)]
        rows.append([math.cos(a) if j % 2 else math.sin(a) for j, a in enumerate(angles)])
    return torch.tensor(rows, dtype=torch.float64)


def sinusoidal_positions__phase(C, d_model, base=10000.0):
    """余弦写成移了相的正弦 | the cosine as a sine with a phase"""
    column = torch.arange(d_model, dtype=torch.float64)
    odd = column.remainder(2)
    angles = torch.arange(C).double().unsqueeze(1) / torch.tensor(base, dtype=torch.float64) ** (
        (column - odd) / d_model
    )
    return torch.where(odd.bool(), torch.sin(angles + math.pi / 2), torch.sin(angles))


def shift_matrix__assigned(k, d_model, base=10000.0):
    """逐块赋值 | block after block assigned"""
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        b = k / base ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(b)
        matrix[i, i + 1], matrix[i + 1, i] = -math.sin(b), math.sin(b)
    return matrix


def shift_matrix__exponential(k, d_model, base=10000.0):
    """斜对称矩阵的指数 | the exponential of a skew matrix"""
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        generator[i + 1, i] = base ** (-i / d_model)
        generator[i, i + 1] = -(base ** (-i / d_model))
    return torch.matrix_exp(k * generator)


def shift_matrix__diagonals(k, d_model, base=10000.0):
    """三条对角线相加 | the sum of three diagonals"""
    b = k / base ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    side = torch.stack([b.sin(), torch.zeros_like(b)], dim=1).flatten()[:-1]
    return torch.diag(b.cos().repeat_interleave(2)) + torch.diag(side, -1) - torch.diag(side, 1)


def prediction_order__list():
    """写成列表 | written as a list"""
    return [2, 0, 1]


def prediction_swapped__list():
    """写成列表 | written as a list"""
    return [0, 1]


def prediction_ids__tensor():
    """写成张量 | written as a tensor"""
    return torch.tensor([7, 8, 9])


def prediction_slow__precise():
    """写到七位小数 | to seven decimals"""
    return 0.0099998


def prediction_self__float():
    """写成小数 | written as a float"""
    return 32.0
