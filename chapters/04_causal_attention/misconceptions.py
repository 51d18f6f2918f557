"""The mistakes that learners make in chapter 04, one function each; see docs/authoring.md."""

import math

import torch
from torch.nn import functional as F

from hero_transformer.attention import attend, causal_mask, merge_heads, scaled_scores, split_heads


def scaled_scores__unscaled(q, k):
    """没有除以 √d_h | not divided by √d_h"""
    return q @ k.transpose(-2, -1)


def scaled_scores__by_d_h(q, k):
    """除以了 d_h，没有开根号 | divided by d_h, not by its root"""
    return q @ k.transpose(-2, -1) / q.shape[-1]


def scaled_scores__by_root_of_d_model(q, k):
    """除以了 √d，不是 √d_h | divided by √d, not by √d_h"""
    heads = q.shape[1] if q.dim() == 4 else 1
    return q @ k.transpose(-2, -1) / math.sqrt(heads * q.shape[-1])


def scaled_scores__by_root_of_T(q, k):
    """除以了 √T | divided by √T"""
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-2])


def scaled_scores__by_root_of_S(q, k):
    """除以了 √S | divided by √S"""
    return q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])


def scaled_scores__whole_root(q, k):
    """√d_h 取成了整数 | √d_h rounded down to an integer"""
    return q @ k.transpose(-2, -1) / math.isqrt(q.shape[-1])


def scaled_scores__multiplied(q, k):
    """乘以了 √d_h | multiplied by √d_h"""
    return q @ k.transpose(-2, -1) * math.sqrt(q.shape[-1])


def scaled_scores__not_transposed(q, k):
    """键没有转置 | the keys were not transposed"""
    return q @ k / math.sqrt(q.shape[-1])


def scaled_scores__keys_by_queries(q, k):
    """行和列反了：一行一个键 | rows and columns exchanged: a row for each key"""
    return k @ q.transpose(-2, -1) / math.sqrt(q.shape[-1])


def scaled_scores__wrong_axes(q, k):
    """转置了第一、第二个轴 | axes one and two were exchanged, not the last two"""
    return q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])


def scaled_scores__cosine(q, k):
    """算成了余弦：先把 q 和 k 归一了 | cosines: q and k were normalised first"""
    return F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)


def scaled_scores__softmax_too(q, k):
    """在这里就做了 softmax | the softmax was taken here already"""
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)


def scaled_scores__in_place(q, k):
    """原地除，改写了 q | divided in place: q was overwritten"""
    q /= math.sqrt(q.shape[-1])
    return q @ k.transpose(-2, -1)


def scaled_scores__float32(q, k):
    """先转成了 float32，类型变了 | turned into float32: the dtype changed"""
    return q.float() @ k.float().transpose(-2, -1) / math.sqrt(q.shape[-1])


def causal_mask__inverted(T, S):
    """True 和 False 反了 | True and False exchanged"""
    return torch.ones(T, S, dtype=torch.bool).triu(diagonal=S - T + 1)


def causal_mask__top_left(T, S):
    """对齐了左上角 | aligned top-left, not bottom-right"""
    return torch.ones(T, S, dtype=torch.bool).tril()


def causal_mask__no_mask(T, S):
    """什么都可以看 | everything may be seen"""
    return torch.ones(T, S, dtype=torch.bool)


def causal_mask__strict(T, S):
    """看不见自己，第一行全空 | a token does not see itself, and the first row is empty"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T - 1)


def causal_mask__one_ahead(T, S):
    """多看了一个未来的词元 | one token of the future may be seen"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T + 1)


def causal_mask__wrong_sign(T, S):
    """diagonal 写成了 T − S | diagonal is T − S, not S − T"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=T - S)


def causal_mask__upper(T, S):
    """三角形朝了未来：只看自己和后面 | the triangle points to the future: itself and what follows"""
    return torch.ones(T, S, dtype=torch.bool).triu(diagonal=S - T)


def causal_mask__transposed(T, S):
    """掩码转置了 | the mask is transposed"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T).T


def causal_mask__square_T(T, S):
    """总是 T × T，没有管旧的词元 | always T × T: old tokens forgotten"""
    return torch.ones(T, T, dtype=torch.bool).tril()


def causal_mask__square_S(T, S):
    """总是 S × S，没有只留最后 T 行 | always S × S: the last T rows were not cut out"""
    return torch.ones(S, S, dtype=torch.bool).tril()


def causal_mask__past_hidden(T, S):
    """旧的词元一概看不见 | the past may not be seen"""
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T).triu(diagonal=0) & (torch.arange(S) >= S - T)


def causal_mask__float(T, S):
    """返回的是 1 和 0，不是布尔值 | ones and zeros, not booleans"""
    return torch.ones(T, S).tril(diagonal=S - T)


def causal_mask__additive(T, S):
    """返回的是 0 和 −∞，不是布尔值 | zeros and −∞, not booleans"""
    return torch.full((T, S), -math.inf).triu(diagonal=S - T + 1)


def attend__mask_after(q, k, v, dropout=None):
    """softmax 之后才遮 | masked after the softmax"""
    weights = torch.softmax(scaled_scores(q, k), dim=-1) * causal_mask(q.shape[-2], k.shape[-2])
    return (dropout(weights) if dropout else weights) @ v


def attend__renormalised(q, k, v, dropout=None):
    """softmax 之后才遮，再除以和：可能是 0/0 | masked after the softmax, then divided by the sum, which may be 0/0"""
    weights = torch.softmax(scaled_scores(q, k), dim=-1) * causal_mask(q.shape[-2], k.shape[-2])
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (dropout(weights) if dropout else weights) @ v


def attend__times_zero(q, k, v, dropout=None):
    """不许看的得分乘成了零，不是负无穷 | forbidden scores became zero, not minus infinity"""
    weights = torch.softmax(scaled_scores(q, k) * causal_mask(q.shape[-2], k.shape[-2]), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__transposed_mask(q, k, v, dropout=None):
    """掩码转置了 | the mask was transposed"""
    allowed = causal_mask(q.shape[-2], k.shape[-2]).T
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__query_axis(q, k, v, dropout=None):
    """softmax 沿了查询的轴 | softmax along the axis of the queries"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-2)
    return (dropout(weights) if dropout else weights) @ v


def attend__no_mask(q, k, v, dropout=None):
    """没有掩码 | no mask"""
    weights = torch.softmax(scaled_scores(q, k), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__inverted_mask(q, k, v, dropout=None):
    """遮住的是可以看的：忘了取反 | what may be seen was hidden: the mask was not negated"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__top_left(q, k, v, dropout=None):
    """掩码对齐了左上角 | the mask aligned top-left"""
    scores = scaled_scores(q, k)
    allowed = torch.ones_like(scores, dtype=torch.bool).tril()
    weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__square_T(q, k, v, dropout=None):
    """掩码总是 T × T，没有管旧的词元 | the mask is always T × T: old tokens forgotten"""
    allowed = causal_mask(q.shape[-2], q.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__square_S(q, k, v, dropout=None):
    """掩码总是 S × S，没有只留最后 T 行 | the mask is always S × S: the last T rows were not cut out"""
    allowed = causal_mask(k.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__strict(q, k, v, dropout=None):
    """自己也被遮住，第一行成了 NaN | a token hidden from itself: the first row is NaN"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    allowed = allowed.tril(diagonal=k.shape[-2] - q.shape[-2] - 1)
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__nan_to_zero(q, k, v, dropout=None):
    """自己也被遮住，再把 NaN 改成零 | a token hidden from itself, and NaN replaced by zero"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    allowed = allowed.tril(diagonal=k.shape[-2] - q.shape[-2] - 1)
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1).nan_to_num(0.0)
    return (dropout(weights) if dropout else weights) @ v


def attend__unscaled(q, k, v, dropout=None):
    """得分没有除以 √d_h | scores not divided by √d_h"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax((q @ k.transpose(-2, -1)).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__scaled_twice(q, k, v, dropout=None):
    """得分除了两次 √d_h | scores divided by √d_h twice"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    scores = scaled_scores(q, k) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__no_softmax(q, k, v, dropout=None):
    """没有做 softmax | no softmax"""
    weights = scaled_scores(q, k).masked_fill(~causal_mask(q.shape[-2], k.shape[-2]), 0.0)
    return (dropout(weights) if dropout else weights) @ v


def attend__minus_ten(q, k, v, dropout=None):
    """填的是 −10，未来漏了进来 | filled with −10: the future leaks in"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -10.0), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__minus_ten_thousand(q, k, v, dropout=None):
    """填的是 −1e4，比它还低的得分输给了未来 | filled with −1e4: scores below it lose to the future"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -1e4), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__minus_billion(q, k, v, dropout=None):
    """填的是 −1e9，float16 装不下 | filled with −1e9, which float16 cannot hold"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -1e9), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__overflow(q, k, v, dropout=None):
    """直接取指数，大的得分溢出 | exponentials as they are: large scores overflow"""
    powers = scaled_scores(q, k).exp() * causal_mask(q.shape[-2], k.shape[-2])
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return (dropout(weights) if dropout else weights) @ v


def attend__weights_returned(q, k, v, dropout=None):
    """返回的是权重，没有乘值 | the weights were returned, not times the values"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return dropout(weights) if dropout else weights


def attend__dropout_on_scores(q, k, v, dropout=None):
    """dropout 作用在了得分上 | dropout on the scores"""
    scores = dropout(scaled_scores(q, k)) if dropout else scaled_scores(q, k)
    return torch.softmax(scores.masked_fill(~causal_mask(q.shape[-2], k.shape[-2]), -math.inf), dim=-1) @ v


def attend__dropout_ignored(q, k, v, dropout=None):
    """没有用 dropout | dropout was ignored"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    return torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1) @ v


def attend__dropout_on_output(q, k, v, dropout=None):
    """dropout 作用在了输出上 | dropout on the output"""
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    output = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1) @ v
    return dropout(output) if dropout else output


def attend__in_place(q, k, v, dropout=None):
    """在 q 里原地缩放，改写了输入 | q was scaled in place: the input was overwritten"""
    q.mul_(1 / math.sqrt(q.shape[-1]))
    scores = (q @ k.transpose(-2, -1)).masked_fill(~causal_mask(q.shape[-2], k.shape[-2]), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__float32(q, k, v, dropout=None):
    """先转成了 float32，类型变了 | turned into float32: the dtype changed"""
    q, k, v = q.float(), k.float(), v.float()
    allowed = causal_mask(q.shape[-2], k.shape[-2])
    weights = torch.softmax(scaled_scores(q, k).masked_fill(~allowed, -math.inf), dim=-1)
    return (dropout(weights) if dropout else weights) @ v


def attend__library(q, k, v, dropout=None):
    """直接调用了库函数 | the library's own function was called"""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(q.shape[-2], k.shape[-2]))


def split_heads__view(x, h):
    """一步 reshape，没有换轴：不同的位置混在一个头里 | one reshape, axes not exchanged: positions mixed in a head"""
    B, T, d = x.shape
    return x.reshape(B, h, T, d // h)


def split_heads__no_exchange(x, h):
    """没有换轴，返回的是 [B, T, h, d_h] | axes not exchanged: [B, T, h, d_h] was returned"""
    B, T, d = x.shape
    return x.reshape(B, T, h, d // h)


def split_heads__interleaved(x, h):
    """隔 h 个取一个特征，不是相邻的一段 | every h-th feature, not a run of neighbours"""
    B, T, d = x.shape
    return x.reshape(B, T, d // h, h).permute(0, 3, 1, 2)


def split_heads__sizes_swapped(x, h):
    """h 和 d_h 弄反了 | h and d_h exchanged"""
    B, T, d = x.shape
    return x.reshape(B, T, d // h, h).transpose(1, 2)


def split_heads__last_exchanged(x, h):
    """换错了轴：时间和 d_h 换了 | the wrong axes exchanged: time with d_h"""
    B, T, d = x.shape
    return x.reshape(B, T, h, d // h).transpose(1, 3)


def split_heads__into_batch(x, h):
    """头并进了批量轴 | heads folded into the batch axis"""
    B, T, d = x.shape
    return x.reshape(B, T, h, d // h).transpose(1, 2).reshape(B * h, T, d // h)


def split_heads__heads_first(x, h):
    """头的轴放在了最前面 | the head axis comes first of all"""
    return torch.stack(x.chunk(h, dim=-1), dim=0)


def split_heads__chunks(x, h):
    """返回了一组张量，没有叠起来 | returned several tensors, not one"""
    return x.chunk(h, dim=-1)


def merge_heads__no_exchange(x):
    """没有换轴就 reshape：不同的位置混在一起 | reshaped without exchanging axes: positions mixed"""
    B, h, T, d_h = x.shape
    return x.reshape(B, T, h * d_h)


def merge_heads__interleaved(x):
    """各头的特征交错排了 | features of the heads interleaved"""
    return x.permute(0, 2, 3, 1).flatten(2)


def merge_heads__view(x):
    """换轴之后用了 view，内存不连续 | view after the exchange: memory is not contiguous"""
    B, h, T, d_h = x.shape
    return x.transpose(1, 2).view(B, T, h * d_h)


def merge_heads__not_joined(x):
    """只换了轴，没有合并 | axes exchanged and not joined"""
    return x.transpose(1, 2)


def merge_heads__sum(x):
    """把各头加了起来 | the heads were added up"""
    return x.sum(dim=1)


def merge_heads__reversed(x):
    """头的次序反了 | the heads in reverse order"""
    return x.flip(1).transpose(1, 2).flatten(2)


def merge_heads__along_time(x):
    """沿时间轴接了起来 | the heads joined along the time axis"""
    return x.flatten(1, 2)


def merge_heads__wrong_axes(x):
    """换错了轴：头和 d_h 换了 | the wrong axes exchanged: heads with d_h"""
    return x.transpose(1, 3).flatten(2)


def attention__query_bias(self, hidden, past_key_value=None, use_cache=False):
    """查询加了偏置 | a bias on the queries"""
    query = split_heads(self.query(hidden) + torch.arange(self.d_model) / 8, self.n_heads)
    key, value = (split_heads(part(hidden), self.n_heads) for part in (self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__key_bias(self, hidden, past_key_value=None, use_cache=False):
    """键加了偏置：只在缓存里看得出来 | a bias on the keys, seen in the cache alone"""
    key = split_heads(self.key(hidden) + torch.arange(self.d_model) / 8, self.n_heads)
    query, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__value_bias(self, hidden, past_key_value=None, use_cache=False):
    """值加了偏置 | a bias on the values"""
    value = split_heads(self.value(hidden) + 1, self.n_heads)
    query, key = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__output_bias(self, hidden, past_key_value=None, use_cache=False):
    """输出投影加了偏置 | a bias on the output projection"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output(merge_heads(attend(query, key, value, self.weights_dropout))) + 1
    return self.output_dropout(attended), (key, value) if use_cache else None


def attention__scaled_twice(self, hidden, past_key_value=None, use_cache=False):
    """得分除了两次 √d_h | scores divided by √d_h twice"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    heads = attend(query / math.sqrt(self.d_head), key, value, self.weights_dropout)
    return self.output_dropout(self.output(merge_heads(heads))), (key, value) if use_cache else None


def attention__not_split(self, hidden, past_key_value=None, use_cache=False):
    """没有分头，整个宽度当成一个头 | not split: the whole width taken as one head"""
    query, key, value = (split_heads(part(hidden), 1) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__values_not_split(self, hidden, past_key_value=None, use_cache=False):
    """值没有分头 | the values were not split into heads"""
    query, key = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key))
    value = self.value(hidden)
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__two_heads(self, hidden, past_key_value=None, use_cache=False):
    """头数写死成了 2 | the number of heads is always 2"""
    query, key, value = (split_heads(part(hidden), 2) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__merged_by_reshape(self, hidden, past_key_value=None, use_cache=False):
    """拼头时没有换轴 | heads merged by a reshape, without exchanging axes"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    heads = attend(query, key, value, self.weights_dropout).reshape(hidden.shape)
    return self.output_dropout(self.output(heads)), (key, value) if use_cache else None


def attention__heads_reversed(self, hidden, past_key_value=None, use_cache=False):
    """拼头的次序反了 | heads merged in reverse order"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    heads = attend(query, key, value, self.weights_dropout).flip(1)
    return self.output_dropout(self.output(merge_heads(heads))), (key, value) if use_cache else None


def attention__no_output(self, hidden, past_key_value=None, use_cache=False):
    """漏了输出投影 | the output projection was left out"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(merge_heads(attend(query, key, value, self.weights_dropout)))
    return attended, (key, value) if use_cache else None


def attention__residual(self, hidden, past_key_value=None, use_cache=False):
    """在这里就加了残差 | the residual was added here already"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return hidden + attended, (key, value) if use_cache else None


def attention__queries_and_keys_swapped(self, hidden, past_key_value=None, use_cache=False):
    """查询和键的投影用反了 | the projections of queries and keys exchanged"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.key, self.query, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__keys_and_values_swapped(self, hidden, past_key_value=None, use_cache=False):
    """键和值的投影用反了 | the projections of keys and values exchanged"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.value, self.key))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__weights_not_transposed(self, hidden, past_key_value=None, use_cache=False):
    """直接乘存储的 weight，漏了转置 | multiplied by weight as it is stored, without the transpose"""
    parts = (self.query, self.key, self.value)
    query, key, value = (split_heads(hidden @ part.weight, self.n_heads) for part in parts)
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = merge_heads(attend(query, key, value, self.weights_dropout)) @ self.output.weight
    return self.output_dropout(attended), (key, value) if use_cache else None


def attention__no_mask(self, hidden, past_key_value=None, use_cache=False):
    """没有掩码 | no mask"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(self.d_head), dim=-1)
    heads = self.weights_dropout(weights) @ value
    return self.output_dropout(self.output(merge_heads(heads))), (key, value) if use_cache else None


def attention__past_ignored(self, hidden, past_key_value=None, use_cache=False):
    """没有用旧的键和值 | old keys and values were ignored"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__past_only_with_use_cache(self, hidden, past_key_value=None, use_cache=False):
    """use_cache 为假时没有看旧的 | the past was looked at only if use_cache was true"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None and use_cache:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__past_after(self, hidden, past_key_value=None, use_cache=False):
    """新的接在了旧的前面 | new keys and values put before the old ones"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip((key, value), past_key_value, strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__wrong_axis(self, hidden, past_key_value=None, use_cache=False):
    """接在了错误的轴上：没有写 dim=2 | joined along the wrong axis: dim=2 is missing"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__present_before(self, hidden, past_key_value=None, use_cache=False):
    """present 里只有新的：在接上之前就取了 | present holds the new part alone: taken before joining"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    present = (key, value) if use_cache else None
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, present


def attention__present_is_past(self, hidden, past_key_value=None, use_cache=False):
    """present 还是旧的，没有加上新的 | present is still the past, without the new part"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    present = (key, value) if past_key_value is None else past_key_value
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, present if use_cache else None


def attention__always_cached(self, hidden, past_key_value=None, use_cache=False):
    """不用缓存时也返回了 present | present returned even without use_cache"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value)


def attention__never_cached(self, hidden, past_key_value=None, use_cache=False):
    """present 总是 None | present is always None"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, None


def attention__pair_swapped(self, hidden, past_key_value=None, use_cache=False):
    """present 里键和值的次序反了 | present holds value and key in the wrong order"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (value, key) if use_cache else None


def attention__attended_only(self, hidden, past_key_value=None, use_cache=False):
    """只返回了 attended，没有返回一对 | returned attended alone, not a pair"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    return self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))


def attention__past_overwritten(self, hidden, past_key_value=None, use_cache=False):
    """把新的写进了旧缓存的内存 | new keys and values written into the memory of the past"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        joined = [torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True)]
        for old, new in zip(past_key_value, joined, strict=True):
            old.copy_(new[:, :, -old.shape[2] :].detach())
        key, value = joined
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__no_weights_dropout(self, hidden, past_key_value=None, use_cache=False):
    """没有把 weights_dropout 交给 attend | weights_dropout not passed to attend"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value))))
    return attended, (key, value) if use_cache else None


def attention__no_output_dropout(self, hidden, past_key_value=None, use_cache=False):
    """漏了最后的 dropout | the last dropout is missing"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output(merge_heads(attend(query, key, value, self.weights_dropout)))
    return attended, (key, value) if use_cache else None


def attention__dropout_before_output(self, hidden, past_key_value=None, use_cache=False):
    """dropout 放在了输出投影之前 | dropout before the output projection"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output(self.output_dropout(merge_heads(attend(query, key, value, self.weights_dropout))))
    return attended, (key, value) if use_cache else None


def attention__in_place(self, hidden, past_key_value=None, use_cache=False):
    """结果写进了输入 | the result was written into the input"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    attended = self.output_dropout(self.output(merge_heads(attend(query, key, value, self.weights_dropout))))
    hidden.copy_(attended.detach())
    return hidden, (key, value) if use_cache else None


def attention__library(self, hidden, past_key_value=None, use_cache=False):
    """直接调用了库函数 | the library's own function was called"""
    query, key, value = (split_heads(part(hidden), self.n_heads) for part in (self.query, self.key, self.value))
    if past_key_value is not None:
        key, value = (torch.cat(pair, dim=2) for pair in zip(past_key_value, (key, value), strict=True))
    allowed = causal_mask(query.shape[2], key.shape[2])
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    return self.output_dropout(self.output(merge_heads(heads))), (key, value) if use_cache else None


def prediction_average__unscaled():
    """没有除以 √d_h | not divided by √d_h"""
    return 3.6


def prediction_average__by_d_h():
    """除以了 d_h | divided by d_h"""
    return 2.5359


def prediction_average__even():
    """两个值平均了 | the plain mean of the two values"""
    return 2.0


def prediction_chunk__top_left():
    """三角形对齐了左上角 | the triangle aligned top-left"""
    return (6.0, 3.0)


def prediction_chunk__no_mask():
    """没有掩码 | no mask"""
    return (4.5, 4.5)


def prediction_chunk__strict():
    """看不见自己 | a token does not see itself"""
    return (3.0, 3.0)


def prediction_chunk__new_only():
    """只看了新的词元 | only new tokens were seen"""
    return (3.0, 6.0)


def prediction_late_mask__right_order():
    """写成了先遮后 softmax 的结果 | the result of masking before the softmax"""
    return (6.0, 3.0, 3.0)


def prediction_late_mask__no_effect():
    """以为掩码没有起作用 | as if the mask had no effect"""
    return (3.0, 3.0, 3.0)


def prediction_late_mask__other_side():
    """遮掉了自己和过去 | itself and the past were hidden"""
    return (1.0, 1.0, 0.0)


def prediction_head__one_reshape():
    """按内存次序直接切了 | cut in the order of memory"""
    return ((0, 1), (2, 3), (4, 5))


def prediction_head__interleaved():
    """隔一个取一个特征 | every other feature"""
    return ((0, 2), (4, 6), (8, 10))


def prediction_head__other_head():
    """写成了第一个头 | head one, not head zero"""
    return ((2, 3), (6, 7), (10, 11))


def prediction_keys__cached():
    """写成了用缓存的个数 | the count with a cache"""
    return 6


def prediction_keys__square():
    """每一步都按六个算 | six in every step"""
    return 36


def prediction_keys__past_only():
    """漏了每一步新来的那个 | the new token of each step is missing"""
    return 15
