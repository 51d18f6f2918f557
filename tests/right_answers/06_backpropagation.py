"""Right answers to the exercises of chapter 06, each written another way; see docs/authoring.md for the form."""

import math

import torch
from torch.nn import functional as F

from hero_transformer.attention import causal_mask, merge_heads, split_heads
from hero_transformer.gradients import (
    attention_backward,
    gelu_backward,
    layer_norm_backward,
    linear_backward,
    residual_backward,
)
from hero_transformer.model import gelu


def finite_difference__eye(function, x, step=1e-6):
    """逐行取单位矩阵 | rows of the identity, stacked"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + e.view(x.shape)) - function(x - e.view(x.shape))) / (2 * step) for e in moves]
    return torch.stack(slopes).view(x.shape)


def finite_difference__clone(function, x, step=1e-6):
    """复制之后改一个元素 | one element of a copy is changed"""
    slopes = []
    for place in range(x.numel()):
        ends = []
        for sign in (1, -1):
            flat = x.flatten().clone()
            flat[place] += sign * step
            ends.append(float(function(flat.reshape(x.shape))))
        slopes.append((ends[0] - ends[1]) / (2 * step))
    return torch.tensor(slopes, dtype=x.dtype).reshape(x.shape)


def finite_difference__restored(function, x, step=1e-6):
    """就地移动，再放回原来的值 | moved in place and put back"""
    work, gradient = x.clone().contiguous(), torch.empty(x.shape, dtype=x.dtype)
    flat, out = work.view(-1), gradient.view(-1)
    for place in range(flat.numel()):
        kept = flat[place].item()
        flat[place] = kept + step
        ahead = function(work).item()
        flat[place] = kept - step
        out[place] = (ahead - function(work).item()) / (2 * step)
        flat[place] = kept
    return gradient


def linear_backward__einsum(upstream, x, weight):
    """用 einsum | by einsum"""
    return (
        torch.einsum("...o,oi->...i", upstream, weight),
        torch.einsum("...o,...i->oi", upstream, x),
        torch.einsum("...o->o", upstream),
    )


def linear_backward__loop(upstream, x, weight):
    """逐个位置累加 | accumulated position by position"""
    grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(weight[:, 0])
    for g, row in zip(
        upstream.flatten(0, -2) if upstream.dim() > 1 else upstream[None], x.reshape(-1, x.shape[-1]), strict=True
    ):
        grad_weight += torch.outer(g, row)
        grad_bias += g
    return F.linear(upstream, weight.T), grad_weight, grad_bias


def linear_backward__ones(upstream, x, weight):
    """偏置当作输入恒为一的权重 | the bias as the weight of an input that is always one"""
    out, width = weight.shape
    places = upstream.reshape(-1, out)
    inputs = torch.cat([x.reshape(-1, width), torch.ones(len(places), 1, dtype=x.dtype)], dim=1)
    both = places.t().mm(inputs)
    return places.mm(weight).reshape(x.shape), both[:, :width], both[:, width]


def gelu_backward__ndtr(upstream, x):
    """用标准正态的分布函数 | by the normal distribution function"""
    return upstream * (torch.special.ndtr(x) + x * torch.exp(-x.square() / 2) / (2 * math.pi) ** 0.5)


def gelu_backward__erfc(upstream, x):
    """用 erfc | by erfc"""
    root = 0.5**0.5
    return upstream * torch.erfc(-x * root) / 2 + upstream * x * torch.exp(-((x * root) ** 2)) * root / math.sqrt(
        math.pi
    )


def gelu_backward__logarithms(upstream, x):
    """密度在对数里算 | the density in logarithms"""
    density = torch.exp(-0.5 * x**2 - 0.5 * math.log(2 * math.pi))
    return torch.addcmul(upstream * (1 + torch.erf(x / 2**0.5)) / 2, upstream, x * density)


def layer_norm_backward__chain(upstream, x, weight, eps=1e-5):
    """按计算图一步步倒推 | step by step along the graph"""
    d = x.shape[-1]
    c = x - x.mean(-1, keepdim=True)
    v = c.pow(2).mean(-1, keepdim=True)
    r = (v + eps).sqrt()
    dz = upstream * weight
    dr = -(dz * c).sum(-1, keepdim=True) / r**2
    dc = dz / r + dr / (2 * r) * 2 * c / d
    places, z = upstream.reshape(-1, d), (c / r).reshape(-1, d)
    return dc - dc.mean(-1, keepdim=True), torch.einsum("pd,pd->d", places, z), places.sum(0)


def layer_norm_backward__sums(upstream, x, weight, eps=1e-5):
    """用和代替平均 | sums in place of averages"""
    d = x.shape[-1]
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    z = (x - mean) * torch.rsqrt(variance + eps)
    g = upstream * weight
    bracket = d * g - g.sum(-1, keepdim=True) - z * (g * z).sum(-1, keepdim=True)
    leading = tuple(range(x.dim() - 1))
    grads = [(upstream * z).sum(leading), upstream.sum(leading)] if leading else [upstream * z, upstream.clone()]
    return bracket * torch.rsqrt(variance + eps) / d, *grads


def layer_norm_backward__jacobian(upstream, x, weight, eps=1e-5):
    """造出雅可比矩阵 | with the Jacobian built"""
    d = x.shape[-1]
    centring = torch.eye(d, dtype=x.dtype) - 1 / d
    c = x @ centring
    r = ((c**2).sum(-1, keepdim=True) / d + eps).sqrt()
    z = c / r
    jacobian = (centring - z[..., None] * z[..., None, :] / d) / r[..., None]
    grad_x = ((upstream * weight)[..., None, :] @ jacobian)[..., 0, :]
    return grad_x, (upstream * z).view(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def residual_backward__add(upstream, grad_branch):
    """用 torch.add | by torch.add"""
    return torch.add(upstream, grad_branch)


def residual_backward__clone(upstream, grad_branch):
    """先复制，再就地加到副本上 | added in place to a copy"""
    total = upstream.clone()
    total += grad_branch
    return total


def residual_backward__stack(upstream, grad_branch):
    """叠起来求和 | stacked and summed"""
    return torch.stack((grad_branch, upstream)).sum(0)


def attention_backward__einsum(upstream, attention, hidden):
    """全用 einsum，掩码填很大的负数 | by einsum, the mask as a large negative number"""
    B, T, d = hidden.shape
    h = attention.n_heads
    w = {name: parameter.detach() for name, parameter in attention.named_parameters()}
    q, k, v = ((hidden @ w[f"{one}.weight"].T).view(B, T, h, d // h) for one in ("query", "key", "value"))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(d // h)
    scores = scores + torch.full((T, T), -1e30, dtype=scores.dtype).triu(1)
    a = scores.softmax(-1)
    merged = torch.einsum("bhij,bjhd->bihd", a, v).reshape(B, T, d)
    g = (upstream @ w["output.weight"]).view(B, T, h, d // h)
    da = torch.einsum("bihd,bjhd->bhij", g, v)
    ds = a * (da - (da * a).sum(-1, keepdim=True)) / math.sqrt(d // h)
    back = {
        "query.weight": torch.einsum("bhij,bjhd->bihd", ds, k).reshape(B, T, d),
        "key.weight": torch.einsum("bhij,bihd->bjhd", ds, q).reshape(B, T, d),
        "value.weight": torch.einsum("bhij,bihd->bjhd", a, g).reshape(B, T, d),
    }
    grads = {name: torch.einsum("bto,bti->oi", one, hidden) for name, one in back.items()}
    grads["output.weight"] = torch.einsum("bto,bti->oi", upstream, merged)
    return sum(one @ w[name] for name, one in back.items()), grads


def attention_backward__per_head(upstream, attention, hidden):
    """一条序列、一个头地算 | a sequence and a head at a time"""
    h, T, size = attention.n_heads, hidden.shape[1], attention.d_head
    names = ("query", "key", "value", "output")
    wq, wk, wv, wo = (getattr(attention, name).weight.detach() for name in names)
    grads = {f"{name}.weight": torch.zeros_like(wq) for name in names}
    total = torch.zeros_like(hidden)
    for b, x in enumerate(hidden):
        for head in range(h):
            rows = slice(head * size, (head + 1) * size)
            q, k, v = x @ wq[rows].T, x @ wk[rows].T, x @ wv[rows].T
            s = (q @ k.T / size**0.5).where(causal_mask(T, T), torch.tensor(-math.inf, dtype=x.dtype))
            a = s.softmax(-1)
            grads["output.weight"][:, rows] += upstream[b].T @ (a @ v)
            g = upstream[b] @ wo[:, rows]
            da = g @ v.T
            ds = (torch.diag_embed(a) - a[:, :, None] * a[:, None, :]) @ da[:, :, None]
            ds = ds[:, :, 0] / size**0.5
            dq, dk, dv = ds @ k, ds.T @ q, a.T @ g
            grads["query.weight"][rows] += dq.T @ x
            grads["key.weight"][rows] += dk.T @ x
            grads["value.weight"][rows] += dv.T @ x
            total[b] += dq @ wq[rows] + dk @ wk[rows] + dv @ wv[rows]
    return total, grads


def attention_backward__packed(upstream, attention, hidden):
    """三个投影打包成一个线性层 | three projections packed into one linear layer"""
    h, T = attention.n_heads, hidden.shape[1]
    packed = torch.cat([attention.query.weight, attention.key.weight, attention.value.weight]).detach()
    q, k, v = (split_heads(part, h) for part in F.linear(hidden, packed).chunk(3, dim=-1))
    q = q / q.shape[-1] ** 0.5
    a = torch.softmax((q @ k.mT).masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf), dim=-1)
    merged = merge_heads(a @ v)
    back, output, _ = linear_backward(upstream, merged, attention.output.weight.detach())
    g = split_heads(back, h)
    s = a * (g @ v.mT)
    s = s - a * s.sum(-1, keepdim=True)
    parts = [s @ k / k.shape[-1] ** 0.5, s.mT @ q, a.mT @ g]
    grad_hidden, grad_packed, _ = linear_backward(
        torch.cat([merge_heads(one) for one in parts], dim=-1), hidden, packed
    )
    query, key, value = grad_packed.chunk(3)
    return grad_hidden, {"query.weight": query, "key.weight": key, "value.weight": value, "output.weight": output}


def block_backward__sublayers(upstream, block, hidden):
    """先后两个子层，各自累加 | two sublayers, accumulated one after the other"""
    grads = {}
    with torch.no_grad():
        normed = block.ln_attention(hidden)
        stream = hidden + block.attention(normed)[0]
        normed_2 = block.ln_feedforward(stream)
        inner = block.feedforward.linear_1(normed_2)
    l1, l2 = block.feedforward.linear_1, block.feedforward.linear_2
    grad = upstream.clone()
    for place, norm, read in (
        ("ln_feedforward", block.ln_feedforward, stream),
        ("ln_attention", block.ln_attention, hidden),
    ):
        if place == "ln_feedforward":
            g, grads["feedforward.linear_2.weight"], grads["feedforward.linear_2.bias"] = linear_backward(
                grad, gelu(inner), l2.weight
            )
            g = gelu_backward(g, inner)
            g, grads["feedforward.linear_1.weight"], grads["feedforward.linear_1.bias"] = linear_backward(
                g, normed_2, l1.weight
            )
        else:
            g, inside = attention_backward(grad, block.attention, normed)
            grads.update({f"attention.{name}": value for name, value in inside.items()})
        g, grads[f"{place}.weight"], grads[f"{place}.bias"] = layer_norm_backward(g, read, norm.weight, norm.eps)
        grad = residual_backward(grad, g)
    return grad, grads


def block_backward__formulas(upstream, block, hidden):
    """前馈直接写公式，不调用零件 | the feed-forward by its formulas, no parts called"""
    w = {name: parameter.detach() for name, parameter in block.named_parameters()}
    read = block.ln_attention(hidden).detach()
    stream = (hidden + block.attention(read)[0]).detach()
    read_2 = block.ln_feedforward(stream).detach()
    inner = read_2 @ w["feedforward.linear_1.weight"].T + w["feedforward.linear_1.bias"]
    g = upstream @ w["feedforward.linear_2.weight"]
    g = g * (torch.special.ndtr(inner) + inner * torch.exp(-inner * inner / 2) / math.sqrt(2 * math.pi))
    grads = {
        "feedforward.linear_2.weight": torch.einsum("bto,bti->oi", upstream, gelu(inner)),
        "feedforward.linear_2.bias": upstream.sum((0, 1)),
        "feedforward.linear_1.weight": torch.einsum("bto,bti->oi", g, read_2),
        "feedforward.linear_1.bias": g.sum((0, 1)),
    }
    g = g @ w["feedforward.linear_1.weight"]
    g, grads["ln_feedforward.weight"], grads["ln_feedforward.bias"] = layer_norm_backward(
        g, stream, w["ln_feedforward.weight"], block.ln_feedforward.eps
    )
    g = upstream + g
    back, inside = attention_backward(g, block.attention, read)
    for name, gradient in inside.items():
        grads["attention." + name] = gradient
    back, grads["ln_attention.weight"], grads["ln_attention.bias"] = layer_norm_backward(
        back, hidden, w["ln_attention.weight"], block.ln_attention.eps
    )
    return g + back, grads


def block_backward__module(upstream, block, hidden):
    """按名字装进 dict，前向用模块 | forward by the modules, a dict filled by name"""
    n1, n2, feedforward = block.ln_attention, block.ln_feedforward, block.feedforward
    kept = {}
    hooks = [
        part.register_forward_hook(
            lambda part, inputs, output, name=name: kept.update({name: (inputs[0].detach(), output)})
        )
        for name, part in (("n1", n1), ("n2", n2), ("l1", feedforward.linear_1), ("l2", feedforward.linear_2))
    ]
    block(hidden)
    for hook in hooks:
        hook.remove()
    back, weight_2, bias_2 = linear_backward(upstream, kept["l2"][0], feedforward.linear_2.weight)
    back = gelu_backward(back, kept["l1"][1].detach())
    back, weight_1, bias_1 = linear_backward(back, kept["l1"][0], feedforward.linear_1.weight)
    back, gamma_2, beta_2 = layer_norm_backward(back, kept["n2"][0], n2.weight, n2.eps)
    middle = residual_backward(upstream, back)
    back, inside = attention_backward(middle, block.attention, kept["n1"][1].detach())
    back, gamma_1, beta_1 = layer_norm_backward(back, hidden, n1.weight, n1.eps)
    own = [gamma_1, beta_1, *(inside[f"{name}.weight"] for name in ("query", "key", "value", "output"))]
    own += [gamma_2, beta_2, weight_1, bias_1, weight_2, bias_2]
    return residual_backward(middle, back), dict(zip((name for name, _ in block.named_parameters()), own, strict=True))
