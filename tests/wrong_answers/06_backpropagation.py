"""Wrong answers to the exercises of chapter 06 that are no known mistakes: each loses a point and gets no name.

The form is that of misconceptions.py; an answer whose right name is a known mistake bears that name.
"""

import math

import torch

from hero_transformer.attention import causal_mask, merge_heads, scaled_scores, split_heads
from hero_transformer.gradients import (
    attention_backward,
    gelu_backward,
    layer_norm_backward,
    linear_backward,
    residual_backward,
    softmax_backward,
)
from hero_transformer.model import gelu


def finite_difference__flattened(function, x, step=1e-6):
    """把摊平的张量交给 function | the function is given a flat tensor"""
    flat, moves = x.reshape(-1), step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(flat + one) - function(flat - one)) / (2 * step) for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__rounded(function, x, step=1e-6):
    """结果四舍五入到五位小数 | rounded to five decimals"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + e.reshape(x.shape)) - function(x - e.reshape(x.shape))) / (2 * step) for e in moves]
    return torch.stack(slopes).reshape(x.shape).round(decimals=5)


def linear_backward__first_alone(upstream, x, weight):
    """只返回了输入的梯度 | the gradient of x alone, in a tuple"""
    return (upstream @ weight,)


def linear_backward__no_bias(upstream, x, weight):
    """没有返回偏置的梯度 | the gradient of the bias is not returned"""
    return upstream @ weight, upstream.reshape(-1, weight.shape[0]).T @ x.reshape(-1, weight.shape[1])


def linear_backward__fourth(upstream, x, weight):
    """多返回了一个 | one result too many"""
    places = upstream.reshape(-1, weight.shape[0])
    return upstream @ weight, places.T @ x.reshape(-1, weight.shape[1]), places.sum(dim=0), weight


def linear_backward__generator(upstream, x, weight):
    """用了 yield，得到的是生成器 | yield makes a generator, not a tuple"""
    places = upstream.reshape(-1, weight.shape[0])
    yield upstream @ weight
    yield places.T @ x.reshape(-1, weight.shape[1])
    yield places.sum(dim=0)


def linear_backward__squeezed(upstream, x, weight):
    """squeeze 去掉了长度为一的轴 | axes of length one are squeezed away"""
    places = upstream.reshape(-1, weight.shape[0])
    grad_x = upstream @ weight
    return grad_x.squeeze(), (places.T @ x.reshape(-1, weight.shape[1])).squeeze(), places.sum(dim=0).squeeze()


def linear_backward__by_hand(upstream, x, weight):
    """抛出了自己的异常 | an exception of its own"""
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (6x5 and 4x5)")


def linear_backward__same_memory(upstream, x, weight):
    """view 要求内存连续 | view, which wants contiguous memory, with the axes exchanged first"""
    places = upstream.transpose(0, -2).view(-1, weight.shape[0]) if upstream.dim() > 1 else upstream[None]
    inputs = x.transpose(0, -2).view(-1, weight.shape[1]) if x.dim() > 1 else x[None]
    return upstream @ weight, places.T @ inputs, places.sum(dim=0)


def linear_backward__double(upstream, x, weight):
    """一律转成 float64 | everything is turned into float64"""
    places = upstream.reshape(-1, weight.shape[0]).double()
    grad_weight = places.T @ x.reshape(-1, weight.shape[1]).double()
    return upstream.double() @ weight.double(), grad_weight, places.sum(dim=0)


def gelu_backward__squeezed(upstream, x):
    """squeeze 去掉了长度为一的轴 | axes of length one are squeezed away"""
    slope = 0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (upstream * slope).squeeze()


def gelu_backward__overflow(upstream, x):
    """先算 exp(x²)，远处是 inf / inf | exp(x²) overflows: inf / inf far from zero"""
    grown = torch.exp(x * x)
    density = grown.sqrt() / grown / math.sqrt(2 * math.pi)
    return upstream * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * density)


def gelu_backward__clamped(upstream, x):
    """把 x 截到 ±4 | x is clamped to ±4"""
    x = x.clamp(-4, 4)
    slope = 0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return upstream * slope


def gelu_backward__view(upstream, x):
    """view(-1) 要求内存连续 | view(-1) wants contiguous memory"""
    flat = x.view(-1)
    slope = 0.5 * (1 + torch.erf(flat / math.sqrt(2))) + flat * torch.exp(-0.5 * flat**2) / math.sqrt(2 * math.pi)
    return upstream * slope.view(x.shape)


def layer_norm_backward__squeezed(upstream, x, weight, eps=1e-5):
    """squeeze 去掉了长度为一的轴 | axes of length one are squeezed away"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x.squeeze(), (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__three_axes(upstream, x, weight, eps=1e-5):
    """只认 [B, T, d]：对前两个轴求和 | [B, T, d] only: the sum runs over the first two axes"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g = c / r, upstream * weight
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    axes = tuple(range(min(2, x.dim() - 1)))
    if not axes:
        return grad_x, upstream * z, upstream.clone()
    return grad_x, (upstream * z).sum(axes), upstream.sum(axes)


def layer_norm_backward__no_bias(upstream, x, weight, eps=1e-5):
    """没有返回 β 的梯度 | the gradient of β is not returned"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0)


def layer_norm_backward__all_nan(upstream, x, weight, eps=1e-5):
    """方差减得不对，开方得 NaN | the root of a negative number: NaN"""
    r = (x.mean(-1, keepdim=True).square() - x.square().mean(-1, keepdim=True) - 1).sqrt()
    z, g, d = x / r, upstream * weight, x.shape[-1]
    return g / r, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def residual_backward__squeezed(upstream, grad_branch):
    """squeeze 去掉了长度为一的轴 | axes of length one are squeezed away"""
    return (upstream + grad_branch).squeeze()


def residual_backward__double(upstream, grad_branch):
    """一律转成 float64 | turned into float64"""
    return upstream.double() + grad_branch.double()


def attention_backward__double_grads(upstream, attention, hidden):
    """参数的梯度一律是 float64 | the parameters' gradients are always float64"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    grad_hidden, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        grad_hidden = grad_hidden + share
    return grad_hidden, {name: gradient.double() for name, gradient in grads.items()}


def attention_backward__stepped(upstream, attention, hidden):
    """顺手更新了参数 | the parameters are updated on the way"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    grad_hidden, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        grad_hidden = grad_hidden + share
    for name, parameter in attention.named_parameters():
        parameter.data -= 0.1 * grads[name]
    return grad_hidden, grads


def attention_backward__squeezed(upstream, attention, hidden):
    """squeeze 去掉了长度为一的轴 | axes of length one are squeezed away"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    grad_hidden, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        grad_hidden = grad_hidden + share
    return grad_hidden.squeeze(), grads


def attention_backward__no_dict(upstream, attention, hidden):
    """没有返回 dict | a list instead of a dict"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    grad_hidden, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        grad_hidden = grad_hidden + share
    return grad_hidden, list(grads.values())


def attention_backward__hidden_alone(upstream, attention, hidden):
    """只返回了 hidden 的梯度 | the gradient of hidden alone"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    grad_hidden, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        grad_hidden = grad_hidden + share
    return grad_hidden


def block_backward__stepped(upstream, block, hidden):
    """顺手更新了参数 | the parameters are updated on the way"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    own = [gamma_1, beta_1, *(inside[f"{name}.weight"] for name in ("query", "key", "value", "output"))]
    own += [gamma_2, beta_2, w1, b1, w2, b2]
    grad_hidden, grads = residual_backward(dU, g), dict(zip(dict(block.named_parameters()), own, strict=True))
    for name, parameter in block.named_parameters():
        parameter.data -= 0.1 * grads[name]
    return grad_hidden, grads


def block_backward__squeezed(upstream, block, hidden):
    """squeeze 去掉了长度为一的轴 | axes of length one are squeezed away"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    own = [gamma_1, beta_1, *(inside[f"{name}.weight"] for name in ("query", "key", "value", "output"))]
    own += [gamma_2, beta_2, w1, b1, w2, b2]
    grad_hidden, grads = residual_backward(dU, g), dict(zip(dict(block.named_parameters()), own, strict=True))
    return grad_hidden.squeeze(), grads


def block_backward__double_grads(upstream, block, hidden):
    """参数的梯度一律是 float64 | the parameters' gradients are always float64"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    own = [gamma_1, beta_1, *(inside[f"{name}.weight"] for name in ("query", "key", "value", "output"))]
    own += [gamma_2, beta_2, w1, b1, w2, b2]
    grad_hidden, grads = residual_backward(dU, g), dict(zip(dict(block.named_parameters()), own, strict=True))
    return grad_hidden, {name: gradient.double() for name, gradient in grads.items()}


def block_backward__nothing_inside(upstream, block, hidden):
    """没有算参数的梯度 | no gradients of parameters"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g = linear_backward(upstream, gelu(inner), l2.weight)[0]
    g = linear_backward(gelu_backward(g, inner), read_2, l1.weight)[0]
    dU = residual_backward(upstream, layer_norm_backward(g, U, n2.weight, n2.eps)[0])
    g = attention_backward(dU, block.attention, read_1)[0]
    return residual_backward(dU, layer_norm_backward(g, hidden, n1.weight, n1.eps)[0]), {}
