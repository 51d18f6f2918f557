"""Wrong answers to the exercises of chapter 04 that no list of known mistakes has: each loses points, none is misnamed.

One whose docstring is the name of a known mistake is that mistake, written another way, and may be named.
"""

import math

import torch
from torch.nn import functional as F

from hero_transformer import doubles
from hero_transformer.attention import attend, causal_mask, merge_heads, scaled_scores, split_heads


def scaled_scores__detached(q, k):
    """结果离开了计算图 | cut out of the graph"""
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).detach()


def scaled_scores__keys_by_data(q, k):
    """梯度流不回键 | no gradient reaches the keys"""
    return q @ k.data.transpose(-2, -1) / math.sqrt(q.shape[-1])


def scaled_scores__all_axes_reversed(q, k):
    """k.T 把所有的轴都倒了过来 | k.T reverses every axis"""
    return q @ k.T / math.sqrt(q.shape[-1])


def scaled_scores__raised(q, k):
    """自己抛出的异常 | an exception of the answer's own"""
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (1x4 and 3x4)")


def scaled_scores__query_returned(q, k):
    """原样交回了查询 | the queries as they came"""
    return q


def scaled_scores__remembered(q, k):
    """按形状记住了第一次的结果 | the first result of each shape, remembered"""
    memory = vars(math).setdefault("remembered_scores", {})
    return memory.setdefault((q.shape, k.shape, q.dtype), q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).clone()


def scaled_scores__float64(q, k):
    """返回的总是 float64 | always float64"""
    return q.double() @ k.double().transpose(-2, -1) / math.sqrt(q.shape[-1])


def causal_mask__inverted_and_not_moved(T, S):
    """True 和 False 反了，旧的词元也没有管 | True and False exchanged, and old tokens forgotten"""
    return torch.ones(T, S, dtype=torch.bool).triu(diagonal=1)


def causal_mask__reversed_columns(T, S):
    """列的次序反了 | the columns in reverse order"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T).flip(1)


def causal_mask__as_many(T, S):
    """个数对，位置不对 | as many are True, in other places"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T).flip(0)


def causal_mask__integers(T, S):
    """返回的是 int64 | int64, not booleans"""
    return torch.ones(T, S, dtype=torch.int64).tril(diagonal=S - T)


def attend__detached(q, k, v, dropout=None):
    """结果离开了计算图 | cut out of the graph"""
    with torch.no_grad():
        allowed = causal_mask(q.shape[-2], k.shape[-2])
        weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
        return (dropout(weights) if dropout else weights) @ v


def attend__weights_detached(q, k, v, dropout=None):
    """梯度只流回值 | gradients flow back to the values alone"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1).detach()
    return (dropout(weights) if dropout else weights) @ v


def attend__by_numpy(q, k, v, dropout=None):
    """经过了 numpy | by way of numpy"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    weights = dropout(weights) if dropout else weights
    return torch.from_numpy(weights.detach().numpy() @ v.detach().numpy())


def attend__squeezed(q, k, v, dropout=None):
    """批量是一时少了一个轴 | an axis is lost where the batch is one"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return ((dropout(weights) if dropout else weights) @ v).squeeze(0)


def attend__zero_scores_hidden(q, k, v, dropout=None):
    """把等于零的得分都遮住了 | every score that is zero was hidden"""
    scores = scaled_scores(q, k) * causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scores.masked_fill(scores == 0, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__sum_shifted(q, k, v, dropout=None):
    """除数里多了 1e-6 | 1e-6 added to the divisor"""
    scores = scaled_scores(q, k).masked_fill(~causal_mask(q.shape[-2], k.shape[-2]), -math.inf)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = powers / (powers.sum(dim=-1, keepdim=True) + 1e-6)
    return (dropout(weights) if dropout else weights) @ v


def attend__heads_axis(q, k, v, dropout=None):
    """softmax 沿了第一个轴 | softmax along axis one"""
    scores = scaled_scores(q, k).masked_fill(~causal_mask(q.shape[-2], k.shape[-2]), -math.inf)
    weights = torch.softmax(scores, dim=1)
    return (dropout(weights) if dropout else weights) @ v


def attend__mask_of_first_axes(q, k, v, dropout=None):
    """掩码的大小取自前面的轴 | the mask's sizes taken from the leading axes"""
    allowed = causal_mask(q.shape[0], k.shape[0])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__dropout_twice(q, k, v, dropout=None):
    """dropout 用了两次 | dropout twice"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(dropout(weights)) if dropout else weights) @ v


def attend__dropout_always_called(q, k, v, dropout=None):
    """没有给 dropout 也去调用 | dropout called where there is none"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    return dropout(torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)) @ v


def attend__supplied_stand_in(q, k, v, dropout=None):
    """调用了检查用的替身 | the checks' own stand-in was called"""
    return doubles.attend(q, k, v, dropout)


def split_heads__detached(x, h):
    """结果离开了计算图 | cut out of the graph"""
    B, T, d = x.shape
    return x.detach().reshape(B, T, h, d // h).transpose(1, 2)


def split_heads__lists(x, h):
    """经过了列表 | by way of lists"""
    rows = [[[row[i * len(row) // h : (i + 1) * len(row) // h] for row in one] for i in range(h)] for one in x.tolist()]
    return torch.tensor(rows, dtype=x.dtype)


def split_heads__float64(x, h):
    """返回的总是 float64 | always float64"""
    B, T, d = x.shape
    return x.double().reshape(B, T, h, d // h).transpose(1, 2)


def split_heads__flipped(x, h):
    """头的次序反了 | the heads in reverse order"""
    B, T, d = x.shape
    return x.reshape(B, T, h, d // h).transpose(1, 2).flip(1)


def split_heads__batch_with_heads(x, h):
    """换错了轴：批量和头换了 | the wrong axes exchanged: batch with heads"""
    B, T, d = x.shape
    return x.reshape(B, T, h, d // h).transpose(0, 2)


def merge_heads__detached(x):
    """结果离开了计算图 | cut out of the graph"""
    return x.data.transpose(1, 2).flatten(2)


def merge_heads__float64(x):
    """返回的总是 float64 | always float64"""
    return x.double().transpose(1, 2).flatten(2)


def merge_heads__time_with_width(x):
    """换错了轴：时间和 d_h 换了 | the wrong axes exchanged: time with d_h"""
    B, h, T, d_h = x.shape
    return x.transpose(2, 3).reshape(B, T, h * d_h)


def merge_heads__raised(x):
    """自己抛出的异常 | an exception of the answer's own"""
    raise RuntimeError("view size is not compatible with input tensor's size and stride")


def attention__detached(self, hidden, past_key_value=None, use_cache=False):
    """结果离开了计算图 | cut out of the graph"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended.detach(), (key, value) if use_cache else None


def attention__keys_by_data(self, hidden, past_key_value=None, use_cache=False):
    """梯度流不回键的矩阵 | no gradient reaches the matrix of the keys"""
    query, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.value))
    key = split_heads(hidden @ self.key.weight.data.T, self.n_heads)
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__seeded(self, hidden, past_key_value=None, use_cache=False):
    """每次都重设了随机种子 | the random seed set anew in each call"""
    torch.manual_seed(0)
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__always_dropping(self, hidden, past_key_value=None, use_cache=False):
    """评估时也有 dropout | dropout in evaluation too"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    merged = merge_heads(attend(query, key, value, lambda weights: F.dropout(weights, self.weights_dropout.p)))
    return self.output_dropout(self.output(merged)), (key, value) if use_cache else None


def attention__past_on_keys_alone(self, hidden, past_key_value=None, use_cache=False):
    """只接了键，没有接值 | the past joined to the keys alone"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key = torch.cat([past_key_value[0], key], dim=2)
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__past_emptied(self, hidden, past_key_value=None, use_cache=False):
    """旧的键和值用完后清成了零 | the past was set to zero after use"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
        for old in past_key_value:
            old.data.zero_()
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__present_first_alone(self, hidden, past_key_value=None, use_cache=False):
    """present 里只有键 | present holds the keys alone"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key,) if use_cache else None


def attention__present_merged(self, hidden, past_key_value=None, use_cache=False):
    """present 里的键和值没有分头 | keys and values were kept unsplit"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (merge_heads(key), merge_heads(value)) if use_cache else None


def attention__raised(self, hidden, past_key_value=None, use_cache=False):
    """自己抛出的异常 | an exception of the answer's own"""
    raise ValueError("not enough values to unpack (expected 2, got 1)")


def attention__float64(self, hidden, past_key_value=None, use_cache=False):
    """返回的总是 float64 | always float64"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended.double(), (key, value) if use_cache else None
