"""Wrong answers to the exercises of chapter 07 that no list of known mistakes has: each loses points, none is misnamed.

One whose docstring is the name of a known mistake is that mistake, written another way, and may be named.
"""

import torch
from torch.nn import functional as F


def shift_targets__zero_ignored(ids):
    """编号 0 在目标里成了 −100 | the id 0 becomes −100 among the targets"""
    return ids[:, :-1], ids[:, 1:].where(ids[:, 1:] != 0, -100)


def shift_targets__squeezed(ids):
    """只有一条序列时少了批量轴 | the batch axis is lost where there is one sequence"""
    return ids[:, :-1].squeeze(0), ids[:, 1:].squeeze(0)


def shift_targets__three(ids):
    """返回了三样 | three results"""
    return ids[:, :-1], ids[:, 1:], ids


def shift_targets__int64(ids):
    """返回的总是 int64 | always int64"""
    return ids[:, :-1].long(), ids[:, 1:].long()


def cross_entropy__not_long(logits, targets):
    """gather 只认 int32 和 int64 | gather takes int32 and int64 alone"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__viewed_flat(logits, targets):
    """view 只能用在连续的内存上 | view needs contiguous memory"""
    rows, wanted = logits.view(-1, logits.shape[-1]), targets.long().reshape(-1)
    below = rows - rows.max(dim=-1, keepdim=True).values
    return (below.exp().sum(dim=-1).log() - below[torch.arange(len(wanted)), wanted]).mean()


def cross_entropy__three_axes(logits, targets):
    """只认三个轴 | for three axes alone"""
    B, T, _ = logits.shape
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below[torch.arange(B)[:, None], torch.arange(T), targets.long()]
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__time_indexed(logits, targets):
    """总是取了第三个轴 | the third axis is always asked for"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    T = below[:, :, 0].shape[1]
    chosen = below[torch.arange(len(below))[:, None], torch.arange(T), targets.long()]
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__total_detached(logits, targets):
    """总和那一项没有梯度 | no gradient through the total"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log().detach() - chosen).mean()


def cross_entropy__without_graph(logits, targets):
    """结果离开了计算图，梯度断了 | the result is out of the graph: no gradient flows"""
    with torch.no_grad():
        below = logits - logits.max(dim=-1, keepdim=True).values
        chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
        return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__squeezed_axis(logits, targets):
    """结果多了一个轴 | the result has an axis too many"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()[None]


def cross_entropy__raised(logits, targets):
    """自己抛出的异常 | an exception of the answer's own"""
    raise IndexError("too many indices for tensor of dimension 1")


def cross_entropy_backward__not_long(logits, targets):
    """one_hot 只认 int64 | one_hot takes int64 alone"""
    return (logits.softmax(dim=-1) - F.one_hot(targets, logits.shape[-1])) / targets.numel()


def cross_entropy_backward__narrow_one_hot(logits, targets):
    """独热只有最大的目标那么宽 | the one-hot is only as wide as the largest target"""
    return (logits.softmax(dim=-1) - F.one_hot(targets.long())) / targets.numel()


def cross_entropy_backward__squeezed(logits, targets):
    """长度为一的轴都没有了 | axes of length one are lost"""
    return ((logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()).squeeze()


def cross_entropy_backward__zeros(logits, targets):
    """全是零 | nothing but zeros"""
    return torch.zeros_like(logits)


def parameter_ledger__both_biases_wide(V, C, N, d, f):
    """前馈的两个偏置都算成了 f | both biases of the feed-forward counted as f"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * 2 * f, "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__misfiled(V, C, N, d, f):
    """合计对，最终归一化算到了块里 | the total is right; the final LayerNorm counted among the blocks'"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d + 2 * d}
    return rows | {"final_norm": 0, "head": V * d}


def parameter_ledger__misspelt(V, C, N, d, f):
    """两行的名字拼错了 | two rows are misspelt"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weight": N * 2 * d * f, "feedforward_bias": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}
