"""The mistakes that learners make in chapter 03, one function each; see docs/authoring.md."""

import math

import torch

from hero_transformer.position import check_block_size, position_ids


def position_ids__restart(T, past_length=0):
    """有缓存也从 0 数起 | numbered from 0 although there is a past"""
    return torch.arange(T)


def position_ids__from_one(T, past_length=0):
    """从 1 数起 | counted from 1"""
    return torch.arange(past_length + 1, past_length + T + 1)


def position_ids__the_past_too(T, past_length=0):
    """把缓存里的词元也编了号 | the cached tokens numbered as well"""
    return torch.arange(past_length + T)


def position_ids__ends_at_T(T, past_length=0):
    """终点写成了 T，不是 past_length + T | the end is T, not past_length + T"""
    return torch.arange(past_length, T)


def position_ids__one_too_many(T, past_length=0):
    """终点多算了一个 | the end is included: one id too many"""
    return torch.arange(past_length, past_length + T + 1)


def position_ids__in_calls(T, past_length=0):
    """把 past_length 当成了调用次数 | past_length taken for a number of calls, not of tokens"""
    return torch.arange(past_length * T, past_length * T + T)


def position_ids__backwards(T, past_length=0):
    """从后往前编号 | numbered from the end"""
    return torch.arange(past_length + T - 1, past_length - 1, -1)


def position_ids__float(T, past_length=0):
    """号码成了浮点数，不能用来取行 | floats, which cannot pick rows"""
    return torch.arange(past_length, past_length + T).float()


def position_ids__int32(T, past_length=0):
    """类型是 int32，不是 int64 | int32 instead of int64"""
    return torch.arange(past_length, past_length + T, dtype=torch.int32)


def position_ids__batch_axis(T, past_length=0):
    """多了一个批量轴 | a batch axis too many"""
    return torch.arange(past_length, past_length + T)[None]


def check_block_size__T_alone(T, past_length, C):
    """只查了 T，没加上缓存 | T alone was checked, without the past"""
    if T > C:
        raise ValueError("too long")


def check_block_size__past_alone(T, past_length, C):
    """只查了缓存的长度 | the past alone was checked"""
    if past_length > C:
        raise ValueError("too long")


def check_block_size__equality_refused(T, past_length, C):
    """刚好等于 C 也拒绝了 | equality was refused too"""
    if past_length + T >= C:
        raise ValueError("too long")


def check_block_size__one_too_many(T, past_length, C):
    """多放过了一个：拿最后一个号码和 C 比 | one too many let through: the last id compared with C"""
    if past_length + T - 1 > C:
        raise ValueError("too long")


def check_block_size__returns_bool(T, past_length, C):
    """返回了真假，没有抛出 ValueError | a truth value returned, nothing raised"""
    return past_length + T <= C


def check_block_size__index_error(T, past_length, C):
    """抛出的是 IndexError | IndexError instead of ValueError"""
    if past_length + T > C:
        raise IndexError("too long")


def check_block_size__fixed_64(T, past_length, C):
    """把 64 写死了 | 64 written out instead of C"""
    if past_length + T > 64:
        raise ValueError("too long")


def add_positions__batch_for_time(hidden, table, past_length=0):
    """把批量轴当成了时间轴 | the batch axis taken for time"""
    B = hidden.shape[0]
    check_block_size(B, past_length, table.shape[0])
    return hidden + table[position_ids(B, past_length)][:, None]


def add_positions__batch_length(hidden, table, past_length=0):
    """长度取了批量轴的 | the length of the batch axis, B rows instead of T"""
    B = hidden.shape[0]
    check_block_size(B, past_length, table.shape[0])
    return hidden + table[position_ids(B, past_length)]


def add_positions__numbered_through(hidden, table, past_length=0):
    """第二条序列接着第一条编号 | the second sequence numbered on from the first"""
    B, T, d = hidden.shape
    check_block_size(T, past_length, table.shape[0])
    ids = position_ids(B * T, past_length) % table.shape[0]
    return hidden + table[ids].reshape(B, T, d)


def add_positions__restart(hidden, table, past_length=0):
    """有缓存也从位置 0 加起 | started at position 0 although there is a past"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden + table[: hidden.shape[1]]


def add_positions__bound_without_past(hidden, table, past_length=0):
    """上限和行都没算缓存 | neither the bound nor the rows count the past"""
    check_block_size(hidden.shape[1], 0, table.shape[0])
    return hidden + table[position_ids(hidden.shape[1])]


def add_positions__wrapped(hidden, table, past_length=0):
    """超过 C 就绕回位置 0（取余） | wrapped round to position 0 past C (modulo)"""
    return hidden + table[position_ids(hidden.shape[1], past_length) % table.shape[0]]


def add_positions__clamped(hidden, table, past_length=0):
    """超过 C 的都用最后一行 | everything past C got the last row"""
    return hidden + table[position_ids(hidden.shape[1], past_length).clamp(max=table.shape[0] - 1)]


def add_positions__slice_unchecked(hidden, table, past_length=0):
    """用切片取行，没查上限：只剩一行时被广播 | a slice without the bound: a single row left is broadcast"""
    return hidden + table[past_length : past_length + hidden.shape[1]]


def add_positions__index_unchecked(hidden, table, past_length=0):
    """没查上限，抛出的是 IndexError | the bound was not checked: IndexError"""
    return hidden + table[position_ids(hidden.shape[1], past_length)]


def add_positions__first_for_all(hidden, table, past_length=0):
    """所有词元都加了同一行 | one row for all tokens"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden + table[past_length]


def add_positions__from_one(hidden, table, past_length=0):
    """位置从 1 数起 | positions counted from 1"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden + table.roll(-1, 0)[position_ids(hidden.shape[1], past_length)]


def add_positions__in_place(hidden, table, past_length=0):
    """用 += 改写了 hidden | hidden overwritten by +="""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    hidden += table[position_ids(hidden.shape[1], past_length)]
    return hidden


def add_positions__table_in_place(hidden, table, past_length=0):
    """切片是视图：用 += 改写了位置表 | a slice is a view: the table overwritten by +="""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    rows = table[past_length : past_length + hidden.shape[1]]
    return torch.stack([rows.add_(sequence).clone() for sequence in hidden])


def add_positions__multiplied(hidden, table, past_length=0):
    """相乘了，不是相加 | multiplied instead of added"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden * table[position_ids(hidden.shape[1], past_length)]


def add_positions__concatenated(hidden, table, past_length=0):
    """接在了特征后面，宽度成了两倍 | put beside the features: twice the width"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    rows = table[position_ids(hidden.shape[1], past_length)]
    return torch.cat([hidden, rows.expand_as(hidden)], dim=-1)


def add_positions__positions_alone(hidden, table, past_length=0):
    """只返回了位置，没加 hidden | the positions alone, without hidden"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return table[position_ids(hidden.shape[1], past_length)].expand_as(hidden)


def add_positions__scaled(hidden, table, past_length=0):
    """hidden 先乘了 √d | hidden multiplied by √d first"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden * math.sqrt(hidden.shape[2]) + table[position_ids(hidden.shape[1], past_length)]


def add_positions__float32(hidden, table, past_length=0):
    """转成了 float32，类型变了 | turned into float32: the dtype changed"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden.float() + table.float()[position_ids(hidden.shape[1], past_length)]


def add_positions__detached(hidden, table, past_length=0):
    """表从计算图上断开了，学不到东西 | the table cut off from the gradient: it cannot learn"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden + table.detach()[position_ids(hidden.shape[1], past_length)]


def sinusoidal_positions__exchanged(C, d_model, base=10000.0):
    """正弦和余弦对调了 | sine and cosine exchanged"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.cos(), angles.sin()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__halves(C, d_model, base=10000.0):
    """前一半正弦、后一半余弦，没有交错 | sines first, cosines after: halves, not side by side"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * base**-exponents
    return torch.cat([angles.sin(), angles.cos()], -1)[:, :d_model]


def sinusoidal_positions__half_exponent(C, d_model, base=10000.0):
    """指数写成了 i/d，不是 2i/d | the exponent is i/d, not 2i/d"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / (2 * d_model)
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__own_exponents(C, d_model, base=10000.0):
    """每一列各用自己的指数，正弦和余弦不成对 | an exponent for each column: sine and cosine are no pair"""
    positions = torch.arange(C, dtype=torch.float64)
    columns = torch.arange(d_model, dtype=torch.float64)
    angles = positions[:, None] * base ** (-columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


def sinusoidal_positions__last_is_base(C, d_model, base=10000.0):
    """除以了 d/2−1，最慢的一对恰好慢 base 倍 | divided by d/2−1: the last pair slower by exactly base"""
    positions = torch.arange(C, dtype=torch.float64)
    half = (d_model + 1) // 2
    exponents = torch.arange(half, dtype=torch.float64) / max(half - 1, 1)
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__base_1000(C, d_model, base=10000.0):
    """底数写成了 1000 | the base is 1000"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * 1000.0**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__base_ignored(C, d_model, base=10000.0):
    """写死了 10000，没有用 base | 10000 written out instead of base"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * 10000.0**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__multiplied(C, d_model, base=10000.0):
    """乘了 base 的幂，没有除 | multiplied by the power of base instead of divided"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * base**exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__two_pi(C, d_model, base=10000.0):
    """角度多乘了 2π | an angle in turns: a factor 2π too many"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * base**-exponents * 2 * math.pi
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__from_one(C, d_model, base=10000.0):
    """位置从 1 数起 | positions counted from 1"""
    positions = torch.arange(1, C + 1, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__transposed(C, d_model, base=10000.0):
    """行列颠倒，成了 [d, C] | rows and columns exchanged: [d, C]"""
    positions = torch.arange(C, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model].T


def sinusoidal_positions__odd_crashes(C, d_model, base=10000.0):
    """d 是奇数时出错：余弦比空位多 | an odd d fails: more cosines than places"""
    positions = torch.arange(C, dtype=torch.float64)
    angles = positions[:, None] * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table = torch.zeros(C, d_model, dtype=torch.float64)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def sinusoidal_positions__float32(C, d_model, base=10000.0):
    """用 float32 算，位置远了就不准 | computed in float32: far positions are inexact"""
    positions = torch.arange(C).float()
    exponents = torch.arange(0, d_model, 2).float() / d_model
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__float32_angles(C, d_model, base=10000.0):
    """角度用 float32 算，最后才转成 float64 | angles in float32, converted to float64 too late"""
    positions = torch.arange(C).float()
    exponents = torch.arange(0, d_model, 2).float() / d_model
    angles = positions[:, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model].double()


def shift_matrix__transposed(k, d_model, base=10000.0):
    """转反了：这是列向量用的矩阵 | turned the wrong way: the matrix for columns"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = k * base**-exponents
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, sin, -sin, cos], -1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__mirror(k, d_model, base=10000.0):
    """两个负号放错，成了镜像 | a reflection, not a rotation: the minus sign is misplaced"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = k * base**-exponents
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, sin, sin, -cos], -1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__one_angle(k, d_model, base=10000.0):
    """各对转了同样的角度 | the same angle for all pairs"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = k * torch.ones_like(exponents)
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__half_exponent(k, d_model, base=10000.0):
    """指数写成了 i/d，不是 2i/d | the exponent is i/d, not 2i/d"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / (2 * d_model)
    turns = k * base**-exponents
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__base_ignored(k, d_model, base=10000.0):
    """写死了 10000，没有用 base | 10000 written out instead of base"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = k * 10000.0**-exponents
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__one_step(k, d_model, base=10000.0):
    """漏了 k，总是只走一步 | k is missing: always one step"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = base**-exponents
    cos, sin = turns.cos(), turns.sin()
    blocks = torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__halves(k, d_model, base=10000.0):
    """第 i 对取了列 i 和 i + d/2 | pair i taken from columns i and i + d/2"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = k * base**-exponents
    cos, sin = torch.diag(turns.cos()), torch.diag(turns.sin())
    return torch.cat([torch.cat([cos, -sin], 1), torch.cat([sin, cos], 1)])


def shift_matrix__rolled(k, d_model, base=10000.0):
    """把特征挪了 k 列 | the features moved by k columns"""
    return torch.eye(d_model, dtype=torch.float64).roll(k, 0)


def shift_matrix__float32(k, d_model, base=10000.0):
    """用 float32 算 | computed in float32"""
    turns = k * base ** (-torch.arange(0, d_model, 2).float() / d_model)
    cos, sin = turns.cos(), turns.sin()
    return torch.block_diag(*torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2))


def prediction_order__stay():
    """以为输出留在原处 | that outputs stay in their places"""
    return (0, 1, 2)


def prediction_order__inverse():
    """写成了逆排列 | the inverse order"""
    return (1, 2, 0)


def prediction_order__reversed():
    """写成了颠倒次序 | the order reversed"""
    return (2, 1, 0)


def prediction_swapped__all():
    """以为每一处都变 | that all places change"""
    return (0, 1, 2, 3, 4)


def prediction_swapped__none():
    """以为哪里都不变 | that nothing changes"""
    return ()


def prediction_swapped__later():
    """以为变的是后面 | that the later places change"""
    return (2, 3, 4)


def prediction_ids__restart():
    """从 0 数起，忘了缓存 | counted from 0, the past forgotten"""
    return (0, 1, 2)


def prediction_ids__after():
    """从过去的下一个再往后一个数起 | one too far"""
    return (8, 9, 10)


def prediction_ids__last_again():
    """又从缓存里最后一个数起 | the last cached number again"""
    return (6, 7, 8)


def prediction_slow__first_pair():
    """算成了第一对的正弦 sin 1 | the sine of the first pair, sin 1"""
    return 0.8415


def prediction_slow__cosine():
    """算成了余弦 | the cosine, not the sine"""
    return 0.99995


def prediction_slow__half_exponent():
    """指数算成了 i/d，得 sin 0.1 | the exponent i/d, which gives sin 0.1"""
    return 0.0998


def prediction_slow__column():
    """指数算成了 2·2/d | the exponent 2·2/d"""
    return 0.0001


def prediction_self__width():
    """以为是 d | that it is d"""
    return 64


def prediction_self__one():
    """以为长度是一 | that a row has length one"""
    return 1


def prediction_self__length():
    """算成了长度 √32 | the length √32, not its square"""
    return 5.657
