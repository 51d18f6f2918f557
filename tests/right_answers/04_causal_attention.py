"""Right answers to the exercises of chapter 04, each written another way; see docs/authoring.md for the form."""

import math

import torch

from hero_transformer import attention
from hero_transformer.attention import attend, causal_mask, merge_heads, scaled_scores, split_heads


def scaled_scores__scale_first(q, k):
    """先缩放查询 | the queries scaled first"""
    return torch.matmul(q / q.shape[-1] ** 0.5, k.mT)


def scaled_scores__einsum(q, k):
    """用 einsum | by einsum"""
    return torch.einsum("...id,...jd->...ij", q, k) * (1 / math.sqrt(k.size(-1)))


def scaled_scores__sum(q, k):
    """对应坐标相乘再相加 | products of coordinates, summed"""
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1) / math.sqrt(q.shape[-1])


def scaled_scores__in_float64(q, k):
    """用 float64 算，再换回来 | computed in float64, then turned back"""
    return (q.double() @ k.double().mT / math.sqrt(q.shape[-1])).to(q.dtype)


def causal_mask__compare(T, S):
    """比较行号和列号 | row and column numbers compared"""
    return torch.arange(S)[None, :] <= torch.arange(T)[:, None] + (S - T)


def causal_mask__last_rows(T, S):
    """方掩码的最后 T 行 | the last T rows of the square mask"""
    return torch.tril(torch.ones(S, S)).bool()[S - T :]


def causal_mask__loops(T, S):
    """逐格填 | cell by cell"""
    return torch.tensor([[j <= i + S - T for j in range(S)] for i in range(T)])


def causal_mask__not_upper(T, S):
    """上三角取反 | what is not above the diagonal"""
    return ~torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)


def attend__where(q, k, v, dropout=None):
    """用 where 填负无穷 | minus infinity by where"""
    scores = torch.where(causal_mask(q.shape[-2], k.shape[-2]), scaled_scores(q, k), float("-inf"))
    weights = scores.softmax(-1)
    return torch.matmul(weights if dropout is None else dropout(weights), v)


def attend__added(q, k, v, dropout=None):
    """加上零或负无穷 | zero or minus infinity added"""
    T, S = q.shape[-2], k.shape[-2]
    bias = torch.zeros(T, S, dtype=q.dtype).masked_fill(causal_mask(T, S).logical_not(), float("-inf"))
    p = torch.softmax(attention.scaled_scores(q, k) + bias, dim=-1)
    p = dropout(p) if dropout else p
    return p @ v


def attend__by_hand(q, k, v, dropout=None):
    """自己写 softmax，先减最大值 | softmax written out, the maximum subtracted"""
    allowed = causal_mask(q.size(-2), k.size(-2))
    scores = scaled_scores(q, k).masked_fill(~allowed, -math.inf)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = powers / powers.sum(dim=-1, keepdim=True)
    if dropout is not None:
        weights = dropout(weights)
    return torch.einsum("...ij,...jd->...id", weights, v)


def attend__lowest_number(q, k, v, dropout=None):
    """填这个类型里最小的数 | filled with the lowest number of the dtype"""
    scores = scaled_scores(q, k)
    weights = scores.masked_fill(~causal_mask(*scores.shape[-2:]), torch.finfo(scores.dtype).min).softmax(dim=-1)
    return (dropout(weights) if dropout is not None else weights) @ v


def split_heads__unflatten(x, h):
    """unflatten 再换轴 | unflatten, then exchange"""
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def split_heads__stack(x, h):
    """切片再叠起来 | slices, stacked"""
    return torch.stack(x.split(x.shape[-1] // h, dim=-1), dim=1)


def split_heads__permute(x, h):
    """view 再 permute | view, then permute"""
    B, T, d = x.shape
    return x.view(B, T, h, d // h).permute(0, 2, 1, 3).contiguous()


def split_heads__columns(x, h):
    """填进一个空张量 | written into an empty tensor"""
    B, T, d = x.shape
    heads = torch.empty(B, h, T, d // h, dtype=x.dtype)
    for i in range(h):
        heads[:, i] = x[..., i * d // h : (i + 1) * d // h]
    return heads


def merge_heads__cat(x):
    """沿特征轴接起来 | joined along the features"""
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


def merge_heads__reshape(x):
    """换轴再 reshape | exchange, then reshape"""
    B, h, T, d_h = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d_h)


def merge_heads__contiguous(x):
    """permute、contiguous、view | permute, contiguous, view"""
    B, T = x.shape[0], x.shape[2]
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, -1)


def attention__loop(self, hidden, past_key_value=None, use_cache=False):
    """逐个投影 | one projection after the other"""
    parts = []
    for linear in (self.query, self.key, self.value):
        parts.append(split_heads(linear(hidden), self.n_heads))
    q, k, v = parts
    if past_key_value:
        k = torch.cat((past_key_value[0], k), -2)
        v = torch.cat((past_key_value[1], v), -2)
    y = self.output_dropout(self.output(merge_heads(attend(q, k, v, dropout=self.weights_dropout))))
    if use_cache:
        return y, (k, v)
    return y, None


def attention__packed(self, hidden, past_key_value=None, use_cache=False):
    """三个矩阵打包，一次相乘 | three matrices packed into one product"""
    packed = hidden @ torch.cat([self.query.weight, self.key.weight, self.value.weight]).T
    q, k, v = (split_heads(part, self.n_heads) for part in packed.split(self.d_model, dim=-1))
    if past_key_value is not None:
        k, v = torch.cat([past_key_value[0], k], dim=2), torch.cat([past_key_value[1], v], dim=2)
    heads = attention.attend(q, k, v, self.weights_dropout)
    return self.output_dropout(merge_heads(heads) @ self.output.weight.T), [k, v] if use_cache else None


def attention__each_head(self, hidden, past_key_value=None, use_cache=False):
    """一个头一个头地算 | head by head"""
    q, k, v = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        past_key, past_value = past_key_value
        k, v = torch.cat([past_key, k], dim=2), torch.cat([past_value, v], dim=2)
    heads = [attend(q[:, i], k[:, i], v[:, i], self.weights_dropout) for i in range(self.n_heads)]
    return self.output_dropout(self.output(torch.cat(heads, dim=-1))), (k, v) if use_cache else None


def prediction_average__integer():
    """写成整数 | an integer"""
    return 3


def prediction_chunk__list():
    """写成列表 | a list"""
    return [3, 4.5]


def prediction_head__lists():
    """写成列表 | written as lists"""
    return [[0, 1], [4, 5], [8, 9]]
