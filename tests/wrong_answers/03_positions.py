"""Wrong answers to the exercises of chapter 03 that nobody foresaw: each is caught, and none is given a false name.

Where the right name is that of a known mistake, the docstring is that name.
"""

import math

import torch

from hero_transformer.position import check_block_size, position_ids


def position_ids__wraps(T, past_length=0):
    """过了 64 就绕回去 | wrapped round at 64"""
    return torch.arange(past_length, past_length + T) % 64


def position_ids__list(T, past_length=0):
    """返回了列表，不是张量 | a list and no tensor"""
    return list(range(past_length, past_length + T))


def position_ids__column(T, past_length=0):
    """成了一列 | a column"""
    return torch.arange(past_length, past_length + T)[:, None]


def position_ids__raises(T, past_length=0):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def check_block_size__printed(T, past_length, C):
    """只打印了错误，没有抛出 | the error only printed, not raised"""
    if past_length + T > C:
        print("too long")


def check_block_size__wrong_way(T, past_length, C):
    """比较的方向反了 | compared the wrong way round"""
    if past_length + T < C:
        raise ValueError("too long")


def check_block_size__only_with_a_past(T, past_length, C):
    """没有过去就不查 | tested only where there is a past"""
    if past_length and past_length + T > C:
        raise ValueError("too long")


def check_block_size__either(T, past_length, C):
    """分别查了两个长度，没有相加 | both lengths tested, but not their sum"""
    if T > C or past_length > C:
        raise ValueError("too long")


def check_block_size__difference(T, past_length, C):
    """相减了，没有相加 | the difference and not the sum"""
    if T - past_length > C:
        raise ValueError("too long")


def check_block_size__returns_sum(T, past_length, C):
    """放行时返回了长度 | the length returned where it fits"""
    if past_length + T > C:
        raise ValueError("too long")
    return past_length + T


def check_block_size__assert(T, past_length, C):
    """用了 assert，抛出的是 AssertionError | AssertionError from an assert instead of ValueError"""
    assert past_length + T <= C


def check_block_size__returned_error(T, past_length, C):
    """异常是返回的，没有抛出 | the exception returned and not raised"""
    return ValueError("too long") if past_length + T > C else None


def check_block_size__raises(T, past_length, C):
    """总是抛出 ValueError | always raises ValueError"""
    raise ValueError("a typing mistake of my own")


def check_block_size__raises_index_error(T, past_length, C):
    """总是抛出 IndexError | always raises IndexError"""
    raise IndexError("a typing mistake of my own")


def add_positions__hidden_detached(hidden, table, past_length=0):
    """hidden 从计算图上断开了 | hidden cut off from the gradient"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden.detach() + table[position_ids(hidden.shape[1], past_length)]


def add_positions__no_grad(hidden, table, past_length=0):
    """在 no_grad 里算的 | computed under no_grad"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    with torch.no_grad():
        return hidden + table[position_ids(hidden.shape[1], past_length)]


def add_positions__float64(hidden, table, past_length=0):
    """float32 变成了 float64 | float32 becomes float64"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden.double() + table.double()[position_ids(hidden.shape[1], past_length)]


def add_positions__bound_exchanged(hidden, table, past_length=0):
    """check_block_size 的参数写反了 | T and past_length exchanged in check_block_size"""
    check_block_size(past_length, hidden.shape[1], table.shape[0])
    return hidden + table[position_ids(hidden.shape[1], past_length)]


def add_positions__remembered(hidden, table, past_length=0, _known={}):
    """形状相同时给了上一次的结果 | the last result again for the same shapes"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    key = (hidden.shape, table.shape, past_length, hidden.dtype)
    return _known.setdefault(key, hidden + table[position_ids(hidden.shape[1], past_length)])


def add_positions__squeezed(hidden, table, past_length=0):
    """长度是一的轴不见了 | axes of length one are gone"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return (hidden + table[position_ids(hidden.shape[1], past_length)]).squeeze()


def add_positions__backwards(hidden, table, past_length=0):
    """从后往前加 | added from the end"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden + table[position_ids(hidden.shape[1], past_length).flip(0)]


def add_positions__whole_table(hidden, table, past_length=0):
    """加了整张表 | the whole table added"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    return hidden + table


def add_positions__as_stored(hidden, table, past_length=0):
    """按存储的次序读了 hidden | hidden read in the order of memory"""
    check_block_size(hidden.shape[1], past_length, table.shape[0])
    B, T, d = hidden.shape
    flat = torch.as_strided(hidden, (B, T, d), (T * d, d, 1))
    return flat + table[position_ids(T, past_length)]


def add_positions__raises(hidden, table, past_length=0):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def add_positions__raises_value_error(hidden, table, past_length=0):
    """总是抛出 ValueError | always raises ValueError"""
    raise ValueError("a typing mistake of my own")


def sinusoidal_positions__base_in_float32(C, d_model, base=10000.0):
    """底数成了 float32 | the base in float32"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = torch.arange(C, dtype=torch.float64)[:, None] / torch.tensor(base).double() ** exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__all_sines(C, d_model, base=10000.0):
    """全是正弦 | sines only"""
    column = torch.arange(d_model, dtype=torch.float64)
    return torch.sin(torch.arange(C).double()[:, None] / base ** ((column - column % 2) / d_model))


def sinusoidal_positions__degrees(C, d_model, base=10000.0):
    """角度当成了度 | angles taken for degrees"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = torch.arange(C, dtype=torch.float64)[:, None] / base**exponents * math.pi / 180
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def sinusoidal_positions__scaled(C, d_model, base=10000.0):
    """每一行除以了长度 | every row brought to length one"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = torch.arange(C, dtype=torch.float64)[:, None] / base**exponents
    table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]
    return table / table.norm(dim=1, keepdim=True)


def sinusoidal_positions__raises(C, d_model, base=10000.0):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")


def shift_matrix__base_in_float32(k, d_model, base=10000.0):
    """底数成了 float32 | the base in float32"""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    turns = k / torch.tensor(base).double() ** exponents
    cos, sin = turns.cos(), turns.sin()
    return torch.block_diag(*torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2))


def shift_matrix__absolute(k, d_model, base=10000.0):
    """负的步数当成了正的 | negative steps taken as positive"""
    turns = abs(k) * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = turns.cos(), turns.sin()
    return torch.block_diag(*torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2))


def shift_matrix__degrees(k, d_model, base=10000.0):
    """角度当成了度 | angles taken for degrees"""
    turns = k * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model) * math.pi / 180
    cos, sin = turns.cos(), turns.sin()
    return torch.block_diag(*torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2))


def shift_matrix__blocks(k, d_model, base=10000.0):
    """返回了一叠小块 | a stack of blocks returned"""
    turns = k * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = turns.cos(), turns.sin()
    return torch.stack([cos, -sin, sin, cos], -1).reshape(-1, 2, 2)


def shift_matrix__raises(k, d_model, base=10000.0):
    """总是抛出 RuntimeError | always raises RuntimeError"""
    raise RuntimeError("a typing mistake of my own")
