"""Wrong answers to the exercises of chapter 05 that no list of known mistakes has: each loses points, none is misnamed.

One whose docstring is the name of a known mistake is that mistake, written another way, and may be named.
"""

import math

import torch

from hero_transformer.model import gelu, parameter_count


def layer_norm__detached(self, hidden):
    """结果离开了计算图 | cut out of the graph"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    normed = centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return (normed * self.weight + self.bias).detach()


def layer_norm__statistics_detached(self, hidden):
    """统计量不在计算图里 | statistics outside the graph"""
    with torch.no_grad():
        mean = hidden.mean(dim=-1, keepdim=True)
        r = ((hidden - mean).square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return (hidden - mean) / r * self.weight + self.bias


def layer_norm__weight_by_data(self, hidden):
    """梯度流不到 weight | no gradient reaches the weight"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight.data + self.bias


def layer_norm__divided_in_place(self, hidden):
    """原地除，反向时失败 | divided in place: the backward pass fails"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    centred /= (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return centred * self.weight + self.bias


def layer_norm__mean_of_products(self, hidden):
    """方差写成了 mean(x(x−μ)) | the variance as mean(x(x−μ))"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / ((hidden * centred).mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__squeezed(self, hidden):
    """长度是一的轴少了 | axes of length one are lost"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    normed = centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return (normed * self.weight + self.bias).squeeze()


def layer_norm__mean_deviation(self, hidden):
    """除以了平均绝对偏差 | divided by the mean absolute deviation"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (centred.abs().mean(dim=-1, keepdim=True).square() + self.eps).sqrt() * self.weight + self.bias


def layer_norm__norm(self, hidden):
    """除以了长度 | divided by the length of the vector"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (centred.square().sum(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__eps_squared(self, hidden):
    """ε 多平方了一次 | ε squared"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps**2).sqrt() * self.weight + self.bias


def layer_norm__mean_kept(self, hidden):
    """方差对了，却没有减均值 | the right variance, and the mean not subtracted"""
    variance = hidden.var(dim=-1, correction=0, keepdim=True)
    return hidden / (variance + self.eps).sqrt() * self.weight + self.bias


def layer_norm__raised(self, hidden):
    """自己抛出的异常 | an exception of the answer's own"""
    raise RuntimeError("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1")


def layer_norm__visible_values(self, hidden):
    """只记住了看得见的值 | the visible values alone, zeros elsewhere"""
    table = {
        (1.0, 3.0): (-0.9999950000374997, 0.9999950000374997),
        (0.001, 0.003): (-0.30151134457776363, 0.30151134457776363),
        (10.0, 1.0, 2.0, 3.0): tuple(value / math.sqrt(12.50001) for value in (6.0, -3.0, -2.0, -1.0)),
    }
    rows = [table.get(tuple(row), (0.0,) * len(row)) for row in hidden.detach().reshape(-1, hidden.shape[-1]).tolist()]
    return torch.tensor(rows, dtype=hidden.dtype).reshape(hidden.shape)


def gelu__detached(x):
    """结果离开了计算图 | cut out of the graph"""
    return (0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))).detach()


def gelu__probability_detached(x):
    """梯度不经过 Φ | no gradient passes through Φ"""
    return x * (0.5 * (1 + torch.erf(x / math.sqrt(2.0)))).detach()


def gelu__number_by_number(x):
    """逐个数地算，离开了计算图 | number by number, out of the graph"""
    values = [0.5 * one * (1 + math.erf(one / math.sqrt(2.0))) for one in x.flatten().tolist()]
    return torch.tensor(values, dtype=x.dtype).reshape(x.shape)


def gelu__by_numpy(x):
    """经过了 numpy | by way of numpy"""
    import numpy

    erf = numpy.vectorize(math.erf)
    array = x.detach().numpy()
    values = 0.5 * array * (1 + erf(array / math.sqrt(2.0)))
    return torch.from_numpy(values.astype(array.dtype))


def gelu__viewed(x):
    """view 只用于连续的张量 | view, which needs a contiguous tensor"""
    flat = x.view(-1)
    return (0.5 * flat * (1 + torch.erf(flat / math.sqrt(2.0)))).view(x.shape)


def gelu__clamped(x):
    """输入截到了 ±4 | the input clamped to ±4"""
    x = x.clamp(-4, 4)
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))


def gelu__squeezed(x):
    """长度是一的轴少了 | axes of length one are lost"""
    return (0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))).squeeze()


def gelu__half_wrong(x):
    """float16 时换成了 ReLU | ReLU for float16"""
    return x.clamp(min=0) if x.dtype == torch.float16 else 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))


def gelu__remembered(x, memory={}):
    """按形状记住了第一次的结果 | the first result of each shape, remembered"""
    return memory.setdefault((x.shape, x.dtype), 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))).clone()


def feed_forward__detached(self, hidden):
    """结果离开了计算图 | cut out of the graph"""
    return self.dropout(self.linear_2(gelu(self.linear_1(hidden)))).detach()


def feed_forward__inner_detached(self, hidden):
    """中间量离开了计算图 | the inner state cut out of the graph"""
    return self.dropout(self.linear_2(gelu(self.linear_1(hidden)).detach()))


def feed_forward__weight_by_data(self, hidden):
    """梯度流不到第一层的矩阵 | no gradient reaches the first matrix"""
    inner = gelu(hidden @ self.linear_1.weight.data.T + self.linear_1.bias)
    return self.dropout(self.linear_2(inner))


def feed_forward__seeded(self, hidden):
    """每次都设同一个种子 | the same seed set in every call"""
    torch.manual_seed(0)
    return self.dropout(self.linear_2(gelu(self.linear_1(hidden))))


def feed_forward__no_second_bias(self, hidden):
    """漏了第二层的偏置 | the second bias is missing"""
    return self.dropout(gelu(self.linear_1(hidden)) @ self.linear_2.weight.T)


def feed_forward__no_first_bias(self, hidden):
    """漏了第一层的偏置 | the first bias is missing"""
    return self.dropout(self.linear_2(gelu(hidden @ self.linear_1.weight.T)))


def feed_forward__drops_in_evaluation(self, hidden):
    """评估时也丢 | drops in evaluation too"""
    return torch.nn.functional.dropout(self.linear_2(gelu(self.linear_1(hidden))), self.dropout.p)


def feed_forward__over_sequences(self, hidden):
    """混合了不同的序列 | sequences are mixed: the mean over the batch was subtracted"""
    hidden = hidden - hidden.mean(dim=0, keepdim=True)
    return self.dropout(self.linear_2(gelu(self.linear_1(hidden))))


def feed_forward__raised(self, hidden):
    """自己抛出的异常 | an exception of the answer's own"""
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (1x2 and 3x2)")


def block__detached(self, hidden, past_key_value=None, use_cache=False):
    """主路离开了计算图 | the stream cut out of the graph"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden.detach() + attended
    return stream + self.feedforward(self.ln_feedforward(stream)), present


def block__attention_detached(self, hidden, past_key_value=None, use_cache=False):
    """注意力的增量离开了计算图 | the attention's increment cut out of the graph"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended.detach()
    return stream + self.feedforward(self.ln_feedforward(stream)), present


def block__squeezed(self, hidden, past_key_value=None, use_cache=False):
    """长度是一的轴少了 | axes of length one are lost"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended
    return (stream + self.feedforward(self.ln_feedforward(stream))).squeeze(), present


def block__evaluation(self, hidden, past_key_value=None, use_cache=False):
    """切到了评估模式 | switched to evaluation"""
    self.eval()
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended
    return stream + self.feedforward(self.ln_feedforward(stream)), present


def block__sum_dropped(self, hidden, past_key_value=None, use_cache=False):
    """对和也用了 dropout | dropout on the sum as well"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended
    return self.feedforward.dropout(stream + self.feedforward(self.ln_feedforward(stream))), present


def block__past_only_when_cached(self, hidden, past_key_value=None, use_cache=False):
    """不存缓存时也不读过去 | the past is read only where it is cached again"""
    past = past_key_value if use_cache else None
    attended, present = self.attention(self.ln_attention(hidden), past, use_cache)
    stream = hidden + attended
    return stream + self.feedforward(self.ln_feedforward(stream)), present


def block__past_zeroed(self, hidden, past_key_value=None, use_cache=False):
    """用过的缓存被清零 | the cache that was read is set to zero"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    if past_key_value is not None:
        for one in past_key_value:
            one.detach().zero_()
    stream = hidden + attended
    return stream + self.feedforward(self.ln_feedforward(stream)), present


def block__second_norm_missing(self, hidden, past_key_value=None, use_cache=False):
    """只漏了第二套归一化 | only the second norm is missing"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended
    return stream + self.feedforward(stream), present


def block__first_norm_missing(self, hidden, past_key_value=None, use_cache=False):
    """只漏了第一套归一化 | only the first norm is missing"""
    attended, present = self.attention(hidden, past_key_value, use_cache)
    stream = hidden + attended
    return stream + self.feedforward(self.ln_feedforward(stream)), present


def block__first_in_place(self, hidden, past_key_value=None, use_cache=False):
    """原地相加，改写了输入 | added in place: the input was overwritten"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden += attended
    return hidden + self.feedforward(self.ln_feedforward(hidden)), present


def block__two_arguments(self, hidden, past_key_value=None, use_cache=False):
    """前馈多给了一个参数 | one argument too many for the feed-forward"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended
    return stream + self.feedforward(self.ln_feedforward(stream), use_cache), present


def block__past_returned(self, hidden, past_key_value=None, use_cache=False):
    """返回了旧的缓存 | returned the old cache"""
    attended, _ = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    stream = hidden + attended
    return stream + self.feedforward(self.ln_feedforward(stream)), past_key_value


def block__raised(self, hidden, past_key_value=None, use_cache=False):
    """自己抛出的异常 | an exception of the answer's own"""
    raise TypeError("unsupported operand type(s) for +: 'Tensor' and 'tuple'")


def block__zeros(self, hidden, past_key_value=None, use_cache=False):
    """输出全是零 | zeros, with the right cache"""
    _, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return torch.zeros_like(hidden), present


def parameter_count__numpy(V, C, N, d, f):
    """返回的是 numpy 的整数 | returned numpy's integer, not an int"""
    import numpy

    return numpy.int64(2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 5 * d) + 2 * d)


def parameter_count__no_second_bias(V, C, N, d, f):
    """漏了前馈第二层的偏置 | the second bias of the feed-forward is missing"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 4 * d) + 2 * d


def parameter_count__no_first_bias(V, C, N, d, f):
    """漏了前馈第一层的偏置 | the first bias of the feed-forward is missing"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + 5 * d) + 2 * d


def parameter_count__no_head(V, C, N, d, f):
    """漏了 head 和最终归一化 | the head and the final LayerNorm are missing"""
    return V * d + C * d + N * (4 * d * d + 2 * d * f + f + 5 * d)


def parameter_count__visible_values(V, C, N, d, f):
    """只记住了看得见的值 | the visible values alone"""
    return {(32, 64, 2, 64, 256): 107776, (10, 6, 2, 4, 8): 424, (10, 6, 3, 4, 8): 580}.get((V, C, N, d, f), 0)


def parameter_count__text(V, C, N, d, f):
    """返回的是文字 | returned a text"""
    return str(2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 5 * d) + 2 * d)


def parameter_count__called_itself(V, C, N, d, f):
    """调用了自己 | calls itself without end"""
    return parameter_count(V, C, N, d, f)
