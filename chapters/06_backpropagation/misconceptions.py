"""The mistakes that learners make in chapter 06, one function each; see docs/authoring.md."""

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


def finite_difference__one_sided(function, x, step=1e-6):
    """单边差分：只往前走了一步 | one-sided: only a step ahead"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + one.reshape(x.shape)) - function(x)) / step for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__behind(function, x, step=1e-6):
    """单边差分：只往后退了一步 | one-sided: only a step back"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x) - function(x - one.reshape(x.shape))) / step for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__not_halved(function, x, step=1e-6):
    """走了两步，只除以一步 | moved by two steps, divided by one"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + one.reshape(x.shape)) - function(x - one.reshape(x.shape))) / step for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__half_step(function, x, step=1e-6):
    """只走了一步，却除以两步 | moved by one step, divided by two"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + one.reshape(x.shape)) - function(x)) / (2 * step) for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__sign(function, x, step=1e-6):
    """前后减反了，差一个负号 | ahead and behind exchanged: the sign is wrong"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x - one.reshape(x.shape)) - function(x + one.reshape(x.shape))) / (2 * step) for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__all_at_once(function, x, step=1e-6):
    """所有元素一起动，得到的是各偏导数之和 | all elements moved at once: a sum of derivatives"""
    return torch.ones_like(x) * (function(x + step) - function(x - step)) / (2 * step)


def finite_difference__fixed_step(function, x, step=1e-6):
    """步长写死了，没有用 step | a step written into the code instead of step"""
    moves = 1e-5 * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + one.reshape(x.shape)) - function(x - one.reshape(x.shape))) / 2e-5 for one in moves]
    return torch.stack(slopes).reshape(x.shape)


def finite_difference__flat(function, x, step=1e-6):
    """结果摊平了，没有恢复 x 的形状 | the result is flat, without the shape of x"""
    moves = step * torch.eye(x.numel(), dtype=x.dtype)
    slopes = [(function(x + one.reshape(x.shape)) - function(x - one.reshape(x.shape))) / (2 * step) for one in moves]
    return torch.stack(slopes)


def finite_difference__not_put_back(function, x, step=1e-6):
    """就地加了 step，没有放回去 | moved in place and not put back"""
    gradient = torch.zeros(x.numel(), dtype=x.dtype)
    for place in range(x.numel()):
        behind = function(x - step * torch.eye(x.numel(), dtype=x.dtype)[place].reshape(x.shape))
        x[torch.arange(x.numel()).reshape(x.shape) == place] += step
        gradient[place] = (function(x) - behind) / (2 * step)
    return gradient.reshape(x.shape)


def finite_difference__accumulated(function, x, step=1e-6):
    """前面动过的元素没有还原，越动越多 | elements moved before stay moved"""
    gradient, moved = torch.zeros(x.numel(), dtype=x.dtype), torch.zeros(x.numel(), dtype=x.dtype)
    for place in range(x.numel()):
        moved[place] = step
        ahead, behind = function(x + moved.reshape(x.shape)), function(x - moved.reshape(x.shape))
        gradient[place] = (ahead - behind) / (2 * step)
    return gradient.reshape(x.shape)


def finite_difference__float32(function, x, step=1e-6):
    """结果用了默认的 float32 | the result is in float32, torch's default"""
    gradient = torch.zeros(x.numel())
    for place in range(x.numel()):
        moved = torch.zeros(x.numel(), dtype=x.dtype)
        moved[place] = step
        moved = moved.reshape(x.shape)
        gradient[place] = (function(x + moved) - function(x - moved)) / (2 * step)
    return gradient.reshape(x.shape)


def linear_backward__transposed(upstream, x, weight):
    """输入的梯度误用了转置的权重 | the transposed weight for the gradient of x"""
    out, width = weight.shape
    places = upstream.reshape(-1, out)
    return upstream @ weight.T, places.T @ x.reshape(-1, width), places.sum(dim=0)


def linear_backward__weight_transposed(upstream, x, weight):
    """权重的梯度转置了，成了 [in, out] | the gradient of the weight is transposed, [in, out]"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return upstream @ weight, x.reshape(-1, x.shape[-1]).T @ places, places.sum(dim=0)


def linear_backward__bias_one_axis(upstream, x, weight):
    """偏置的梯度只沿第一个轴求和 | the bias is summed over the first axis only"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return upstream @ weight, places.T @ x.reshape(-1, x.shape[-1]), upstream.sum(dim=0)


def linear_backward__bias_over_time(upstream, x, weight):
    """偏置的梯度只沿时间轴求和 | the bias is summed over the time axis only"""
    places = upstream.reshape(-1, upstream.shape[-1])
    bias = upstream.sum(dim=-2) if upstream.dim() > 1 else upstream
    return upstream @ weight, places.T @ x.reshape(-1, x.shape[-1]), bias


def linear_backward__bias_kept(upstream, x, weight):
    """偏置的梯度没有求和 | the bias is not summed at all"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return upstream @ weight, places.T @ x.reshape(-1, x.shape[-1]), upstream.clone()


def linear_backward__mean(upstream, x, weight):
    """参数的梯度对位置取了平均 | the parameters' gradients are averaged over positions"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return upstream @ weight, places.T @ x.reshape(-1, x.shape[-1]) / len(places), places.mean(dim=0)


def linear_backward__bias_mean(upstream, x, weight):
    """偏置的梯度对位置取了平均 | the gradient of the bias is averaged over positions"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return upstream @ weight, places.T @ x.reshape(-1, x.shape[-1]), places.mean(dim=0)


def linear_backward__overwritten(upstream, x, weight):
    """循环里覆盖，只剩最后一个位置 | overwritten in a loop: only the last position is left"""
    places, inputs = upstream.reshape(-1, upstream.shape[-1]), x.reshape(-1, x.shape[-1])
    return upstream @ weight, places[-1][:, None] * inputs[-1], places[-1].clone()


def linear_backward__weight_batched(upstream, x, weight):
    """权重的梯度每条序列一份，没有加起来 | one gradient of the weight a sequence, not summed"""
    places = upstream.reshape(-1, upstream.shape[-1])
    rows = upstream[..., :, None] * x[..., None, :] if upstream.dim() == 1 else upstream.transpose(-2, -1) @ x
    return upstream @ weight, rows, places.sum(dim=0)


def linear_backward__order(upstream, x, weight):
    """次序颠倒：先返回了权重的梯度 | the order is wrong: the weight's gradient comes first"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return places.T @ x.reshape(-1, x.shape[-1]), upstream @ weight, places.sum(dim=0)


def linear_backward__summed_input(upstream, x, weight):
    """输入的梯度也对位置求了和 | the gradient of x is summed over positions too"""
    places = upstream.reshape(-1, upstream.shape[-1])
    return (
        (places @ weight).sum(dim=0).expand(x.shape).clone(),
        places.T @ x.reshape(-1, x.shape[-1]),
        places.sum(dim=0),
    )


def linear_backward__wrong_reshape(upstream, x, weight):
    """摊平时轴弄乱了：reshape(out, −1) 不是转置 | axes mixed up: reshape(out, −1) is not a transpose"""
    out, width = weight.shape
    mixed = upstream.reshape(out, -1)
    return upstream @ weight, mixed @ x.reshape(-1, width), mixed.sum(dim=1)


def linear_backward__mutated(upstream, x, weight):
    """改动了输入：上游就地清零 | changes its argument: the upstream is set to zero"""
    places = upstream.reshape(-1, upstream.shape[-1])
    found = upstream @ weight, places.T @ x.reshape(-1, x.shape[-1]), places.sum(dim=0)
    upstream.zero_()
    return found


def gelu_backward__no_upstream(upstream, x):
    """漏了上游 | the upstream is missing"""
    return 0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def gelu_backward__phi_only(upstream, x):
    """漏了第二项 x φ(x) | the second term x φ(x) is missing"""
    return upstream * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_backward__density_only(upstream, x):
    """漏了第一项 Φ(x) | the first term Φ(x) is missing"""
    return upstream * x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def gelu_backward__no_x(upstream, x):
    """第二项漏了因子 x | the factor x of the second term is missing"""
    density = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return upstream * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + density)


def gelu_backward__no_half(upstream, x):
    """指数里漏了二分之一 | the half in the exponent is missing"""
    density = torch.exp(-x * x) / math.sqrt(2 * math.pi)
    return upstream * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * density)


def gelu_backward__no_constant(upstream, x):
    """密度没有除以 √(2π) | the density is not divided by √(2π)"""
    return upstream * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-0.5 * x * x))


def gelu_backward__root_pi(upstream, x):
    """密度除以了 √π，漏了内层的 1/√2 | divided by √π: the inner factor 1/√2 is missing"""
    density = torch.exp(-0.5 * x * x) / math.sqrt(math.pi)
    return upstream * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * density)


def gelu_backward__no_root_two(upstream, x):
    """erf 里漏了除以 √2 | the division by √2 inside erf is missing"""
    density = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return upstream * (0.5 * (1 + torch.erf(x)) + x * density)


def gelu_backward__tanh(upstream, x):
    """tanh 近似的导数 | the derivative of the tanh approximation"""
    scale = math.sqrt(2 / math.pi)
    tanh = torch.tanh(scale * (x + 0.044715 * x**3))
    return upstream * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * scale * (1 + 3 * 0.044715 * x**2))


def gelu_backward__sigmoid(upstream, x):
    """x σ(1.702x) 的导数 | the derivative of x σ(1.702x)"""
    s = torch.sigmoid(1.702 * x)
    return upstream * (s + 1.702 * x * s * (1 - s))


def gelu_backward__relu(upstream, x):
    """ReLU 的导数 | the derivative of ReLU"""
    return upstream * (x > 0)


def gelu_backward__forward(upstream, x):
    """上游乘了前向的值，不是斜率 | the upstream times the value, not the slope"""
    return upstream * gelu(x)


def gelu_backward__at_value(upstream, x):
    """在 GELU 的输出处求斜率，不是在输入处 | the slope at the output of GELU, not at its input"""
    y = gelu(x)
    return upstream * (0.5 * (1 + torch.erf(y / math.sqrt(2))) + y * torch.exp(-0.5 * y * y) / math.sqrt(2 * math.pi))


def gelu_backward__mutated(upstream, x):
    """就地改动了上游 | the upstream is changed in place"""
    slope = 0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    upstream *= slope
    return upstream


def layer_norm_backward__no_mean_term(upstream, x, weight, eps=1e-5):
    """漏了穿过均值的一项 | the term through the mean is missing"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__no_variance_term(upstream, x, weight, eps=1e-5):
    """漏了穿过方差的一项 | the term through the variance is missing"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    return (g - g.mean(-1, keepdim=True)) / r, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__detached(upstream, x, weight, eps=1e-5):
    """把均值和方差当成了常数 | mean and variance are taken for constants"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    d = x.shape[-1]
    return upstream * weight / r, (upstream * c / r).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__d_minus_1_term(upstream, x, weight, eps=1e-5):
    """方差项里除以了 d−1 | d−1 in the variance term"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).sum(-1, keepdim=True) / (d - 1)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__d_minus_1(upstream, x, weight, eps=1e-5):
    """前向和反向处处用了 d−1 | d−1 throughout, forward and backward"""
    c = x - x.mean(-1, keepdim=True)
    r = (x.var(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).sum(-1, keepdim=True) / (d - 1)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__d_minus_1_forward(upstream, x, weight, eps=1e-5):
    """重算前向时 var() 除以了 d−1 | var() with its d−1 in the forward pass alone"""
    r = (x.var(-1, keepdim=True) + eps).sqrt()
    z, g, d = (x - x.mean(-1, keepdim=True)) / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__eps_outside(upstream, x, weight, eps=1e-5):
    """eps 加在了根号外面 | eps added outside the root"""
    c = x - x.mean(-1, keepdim=True)
    r = c.square().mean(-1, keepdim=True).sqrt() + eps
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__eps_fixed(upstream, x, weight, eps=1e-5):
    """写死了 1e-5，没有用 eps | 1e-5 written out instead of eps"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__no_eps(upstream, x, weight, eps=1e-5):
    """漏了 eps | eps is missing"""
    c = x - x.mean(-1, keepdim=True)
    r = c.square().mean(-1, keepdim=True).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__no_gamma(upstream, x, weight, eps=1e-5):
    """往 x 推时漏了 γ | γ is missing on the way to x"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, d = c / r, x.shape[-1]
    grad_x = (upstream - upstream.mean(-1, keepdim=True) - z * (upstream * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__gamma_last(upstream, x, weight, eps=1e-5):
    """γ 乘在了最后，没有在取平均之前 | γ multiplied at the end, not before the averages"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, d = c / r, x.shape[-1]
    grad_x = (upstream - upstream.mean(-1, keepdim=True) - z * (upstream * z).mean(-1, keepdim=True)) / r * weight
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__gamma_without_z(upstream, x, weight, eps=1e-5):
    """γ 的梯度没有乘 z | the gradient of γ without z"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, upstream.reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__gamma_with_x(upstream, x, weight, eps=1e-5):
    """γ 的梯度乘了 x，不是归一化后的 z | the gradient of γ with x instead of z"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * x).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__gamma_with_c(upstream, x, weight, eps=1e-5):
    """γ 的梯度乘了中心化坐标，没有除以 r | the gradient of γ with c, not divided by r"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * c).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__gamma_from_g(upstream, x, weight, eps=1e-5):
    """参数的梯度用了 Gγ，不是 G | the parameters' gradients with Gγ instead of G"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (g * z).reshape(-1, d).sum(0), g.reshape(-1, d).sum(0)


def layer_norm_backward__one_axis(upstream, x, weight, eps=1e-5):
    """参数的梯度只沿第一个轴求和 | the parameters are summed over the first axis only"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g = c / r, upstream * weight
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).sum(0), upstream.sum(0)


def layer_norm_backward__not_summed(upstream, x, weight, eps=1e-5):
    """参数的梯度没有对位置求和 | the parameters' gradients are not summed over positions"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g = c / r, upstream * weight
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, upstream * z, upstream.clone()


def layer_norm_backward__averaged(upstream, x, weight, eps=1e-5):
    """参数的梯度对位置取了平均 | the parameters' gradients are averaged over positions"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).mean(0), upstream.reshape(-1, d).mean(0)


def layer_norm_backward__no_root(upstream, x, weight, eps=1e-5):
    """最后漏了除以 r | not divided by r at the end"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__variance_root(upstream, x, weight, eps=1e-5):
    """最后除以了方差，不是它的根 | divided by the variance at the end, not by its root"""
    c = x - x.mean(-1, keepdim=True)
    v = c.square().mean(-1, keepdim=True) + eps
    z, g, d = c / v.sqrt(), upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - z * (g * z).mean(-1, keepdim=True)) / v
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__no_second_z(upstream, x, weight, eps=1e-5):
    """方差项漏了外面的 z | the outer z of the variance term is missing"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) - (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__plus(upstream, x, weight, eps=1e-5):
    """方差项的符号反了 | the sign of the variance term is wrong"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.mean(-1, keepdim=True) + z * (g * z).mean(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__not_averaged(upstream, x, weight, eps=1e-5):
    """两项用了和，没有除以 d | sums instead of averages in the last two terms"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, g, d = c / r, upstream * weight, x.shape[-1]
    grad_x = (g - g.sum(-1, keepdim=True) - z * (g * z).sum(-1, keepdim=True)) / r
    return grad_x, (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)


def layer_norm_backward__mutated(upstream, x, weight, eps=1e-5):
    """就地改动了上游 | the upstream is changed in place"""
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).sqrt()
    z, d = c / r, x.shape[-1]
    grads = (upstream * z).reshape(-1, d).sum(0), upstream.reshape(-1, d).sum(0)
    upstream *= weight
    grad_x = (upstream - upstream.mean(-1, keepdim=True) - z * (upstream * z).mean(-1, keepdim=True)) / r
    return grad_x, *grads


def residual_backward__overwritten(upstream, grad_branch):
    """分支的梯度覆盖了直接的那份 | overwritten: only what came through the branch"""
    return grad_branch.clone()


def residual_backward__direct_only(upstream, grad_branch):
    """只留了直接的那份，忘了分支 | the direct path alone, the branch is forgotten"""
    return upstream.clone()


def residual_backward__averaged(upstream, grad_branch):
    """两份取了平均 | the two are averaged"""
    return (upstream + grad_branch) / 2


def residual_backward__difference(upstream, grad_branch):
    """两份相减了 | the two are subtracted"""
    return upstream - grad_branch


def residual_backward__in_place(upstream, grad_branch):
    """就地加到了上游上 | added to the upstream in place"""
    upstream += grad_branch
    return upstream


def residual_backward__branch_in_place(upstream, grad_branch):
    """就地加到了分支的梯度上 | added to the branch's gradient in place"""
    return grad_branch.add_(upstream)


def attention_backward__no_scale(upstream, attention, hidden):
    """反向漏了除以 √d_h | the division by √d_h is missing on the way back"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a)
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__root_d(upstream, attention, hidden):
    """除以了 √d，不是每个头的 √d_h | divided by √d, not by √d_h of a head"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(hidden.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__no_root(upstream, attention, hidden):
    """除以了 d_h，没有开根号 | divided by d_h, not by its root"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / q.shape[-1]
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__no_mask(upstream, attention, hidden):
    """重算前向时忘了掩码 | the mask is forgotten when the forward pass is computed again"""
    h = attention.n_heads
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__no_subtraction(upstream, attention, hidden):
    """softmax 的反向忘了减去加权平均 | softmax without subtracting the weighted mean"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = a * (G @ v.mT) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__no_softmax(upstream, attention, hidden):
    """跳过了 softmax 的反向 | the softmax is skipped on the way back"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = (G @ v.mT) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__merge_reshaped(upstream, attention, hidden):
    """拼头没有换轴，直接 reshape | heads merged by a reshape, without exchanging axes"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        flat = path.reshape(hidden.shape)
        share, grads[f"{name}.weight"], _ = linear_backward(flat, hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__split_reshaped(upstream, attention, hidden):
    """上游分头没有换轴，直接 reshape | the upstream is split into heads without exchanging axes"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = back.reshape(q.shape)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__one_head(upstream, attention, hidden):
    """没有分头，当成一个头算 | computed as a single head"""
    T = hidden.shape[1]
    q, k, v = (split_heads(part(hidden), 1) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, 1)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__keys_and_values(upstream, attention, hidden):
    """键和值的梯度弄反了 | the gradients of keys and values exchanged"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": a.mT @ G, "value": S.mT @ q}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__queries_and_keys(upstream, attention, hidden):
    """查询和键的梯度弄反了 | the gradients of queries and keys exchanged"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S.mT @ q, "key": S @ k, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__output_from_hidden(upstream, attention, hidden):
    """output.weight 的梯度用了 hidden，不是拼好的头 | output.weight from hidden, not the merged heads"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, hidden, attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__no_output_projection(upstream, attention, hidden):
    """没有过输出投影，上游直接分头 | the upstream goes into heads without the output projection"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    _, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(upstream, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__overwritten(upstream, attention, hidden):
    """三份没有相加，后一份盖掉前一份 | three shares overwritten, only the last is left"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        total, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
    return total, grads


def attention_backward__weights_constant(upstream, attention, hidden):
    """把注意力权重当成了常数：只有值的那条路 | the weights taken for constants: only the path of the values"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    share, value, _ = linear_backward(merge_heads(a.mT @ G), hidden, attention.value.weight)
    none = torch.zeros_like(value)
    return share, {"output.weight": out, "value.weight": value, "query.weight": none, "key.weight": none.clone()}


def attention_backward__no_transpose(upstream, attention, hidden):
    """值的梯度用了 a，没有转置 | a instead of its transpose for the values"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__keys_no_transpose(upstream, attention, hidden):
    """键的梯度用了 S，没有转置 | S instead of its transpose for the keys"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, grads


def attention_backward__weights_transposed(upstream, attention, hidden):
    """四个矩阵的梯度都转置了 | the gradients of all four matrices are transposed"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, {name: gradient.T for name, gradient in grads.items()}


def attention_backward__names(upstream, attention, hidden):
    """参数名漏了 .weight | the names lack .weight"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    return total, {name.removesuffix(".weight"): gradient for name, gradient in grads.items()}


def attention_backward__mutated(upstream, attention, hidden):
    """就地改动了上游 | the upstream is changed in place"""
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    a = torch.softmax(scaled_scores(q, k).masked_fill(~causal_mask(T, T), -math.inf), -1)
    back, out, _ = linear_backward(upstream, merge_heads(a @ v), attention.output.weight)
    G = split_heads(back, h)
    S = softmax_backward(G @ v.mT, a) / math.sqrt(q.shape[-1])
    total, grads = torch.zeros_like(hidden), {"output.weight": out}
    for name, path in {"query": S @ k, "key": S.mT @ q, "value": a.mT @ G}.items():
        share, grads[f"{name}.weight"], _ = linear_backward(merge_heads(path), hidden, getattr(attention, name).weight)
        total = total + share
    upstream.copy_(total.detach())
    return upstream, grads


def block_backward__overwritten(upstream, block, hidden):
    """两处残差都被分支的梯度盖掉 | both residuals overwritten by the branch"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = g
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return g, grads


def block_backward__first_overwritten(upstream, block, hidden):
    """注意力那处残差被盖掉 | the residual of the attention is overwritten"""
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
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return g, grads


def block_backward__second_overwritten(upstream, block, hidden):
    """前馈那处残差被盖掉 | the residual of the feed-forward is overwritten"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = g
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__direct_only(upstream, block, hidden):
    """两处残差都只留了直接的那条路 | both residuals keep the direct path alone"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = upstream
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return dU, grads


def block_backward__attention_from_upstream(upstream, block, hidden):
    """注意力的上游用了块的上游，没有用 U 的梯度 | attention is given the upstream of the block"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(upstream, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__last_from_upstream(upstream, block, hidden):
    """最后相加时用了块的上游，没有用 U 的梯度 | the last sum takes the upstream of the block, not the gradient of U"""
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
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(upstream, g), grads


def block_backward__second_norm_reads_x(upstream, block, hidden):
    """第二套归一化的反向用了 X，没有用 U | the second normalisation is given X, not U"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, hidden, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__first_norm_reads_u(upstream, block, hidden):
    """第一套归一化的反向用了 U，没有用 X | the first normalisation is given U, not X"""
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
    g, gamma_1, beta_1 = layer_norm_backward(g, U, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__attention_reads_x(upstream, block, hidden):
    """注意力的反向用了 X，没有归一化 | attention is given X, not normalised"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, hidden)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__linear_reads_u(upstream, block, hidden):
    """第一个线性层的反向用了 U，没有归一化 | the first linear layer is given U, not normalised"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), U, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__no_activation_kept(upstream, block, hidden):
    """第二个线性层的反向用了 GELU 之前的值 | the second linear layer is given what GELU read, not what it returned"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, inner, l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__gelu_skipped(upstream, block, hidden):
    """跳过了 GELU 的反向 | the backward pass of GELU is skipped"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(g, read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__gelu_at_output(upstream, block, hidden):
    """在 GELU 的输出处求斜率 | the slope of GELU at its output"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, gelu(inner)), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__one_norm(upstream, block, hidden):
    """两套归一化用了同一个 γ | one γ for both normalisations"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n1.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__default_eps(upstream, block, hidden):
    """没有传归一化的 eps | the eps of the normalisations is not passed on"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__norms_swapped(upstream, block, hidden):
    """两套归一化的梯度名字弄反 | the names of the two normalisations exchanged"""
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
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_2, "ln_attention.bias": beta_2}
    grads |= {"ln_feedforward.weight": gamma_1, "ln_feedforward.bias": beta_1}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__gamma_and_beta(upstream, block, hidden):
    """γ 和 β 的梯度弄反 | the gradients of γ and β exchanged"""
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
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": beta_1, "ln_attention.bias": gamma_1}
    grads |= {"ln_feedforward.weight": beta_2, "ln_feedforward.bias": gamma_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__names(upstream, block, hidden):
    """注意力的参数名漏了 attention. | the names of the attention lack attention."""
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
    grads = dict(inside)
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__biases_missing(upstream, block, hidden):
    """漏了前馈两个偏置的梯度 | the biases of the feed-forward are missing"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, _ = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, _ = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1}
    grads |= {"feedforward.linear_2.weight": w2}
    return residual_backward(dU, g), grads


def block_backward__norms_skipped(upstream, block, hidden):
    """跳过了两套归一化的反向（只算了 γ 和 β） | both normalisations are skipped on the way to x"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    _, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = residual_backward(upstream, g)
    g, inside = attention_backward(dU, block.attention, read_1)
    _, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__post_ln(upstream, block, hidden):
    """按 post-LN 的次序倒推：归一化在残差之后 | backwards through a post-LN block: normalisation after the residual"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    dU = residual_backward(upstream, g)
    dU, gamma_2, beta_2 = layer_norm_backward(dU, U, n2.weight, n2.eps)
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def block_backward__in_place(upstream, block, hidden):
    """残差就地加到了上游上 | the residual is added to the upstream in place"""
    n1, n2, l1, l2 = block.ln_attention, block.ln_feedforward, block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = n1(hidden)
    U = hidden + block.attention(read_1)[0]
    read_2 = n2(U)
    inner = l1(read_2)
    g, w2, b2 = linear_backward(upstream, gelu(inner), l2.weight)
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, l1.weight)
    g, gamma_2, beta_2 = layer_norm_backward(g, U, n2.weight, n2.eps)
    dU = upstream.add_(g.detach())
    g, inside = attention_backward(dU, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, n1.weight, n1.eps)
    grads = {f"attention.{name}": one for name, one in inside.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(dU, g), grads


def prediction_factor__ten():
    """按 h 缩小，那是单边差分 | proportional to h, as a one-sided difference is"""
    return 10


def prediction_factor__thousand():
    """按 h³ 缩小 | proportional to h³"""
    return 1000


def prediction_factor__inverse():
    """写成了缩小后的比例 | the ratio after, not the factor"""
    return 0.01


def prediction_bias__one():
    """上游是一，就以为梯度是一：没有对位置求和 | one, as the upstream: not summed over positions"""
    return 1


def prediction_bias__two():
    """只对批量求了和 | summed over the batch only"""
    return 2


def prediction_bias__three():
    """只对时间求了和 | summed over time only"""
    return 3


def prediction_bias__with_inputs():
    """把输入的四个特征也数了进去 | the four features of the input are counted too"""
    return 24


def prediction_ones__half():
    """当成常数的均值和方差：1 / r | mean and variance taken for constants: 1 / r"""
    return 0.5


def prediction_ones__one():
    """上游原样送回 | the upstream comes back unchanged"""
    return 1


def prediction_ones__quarter():
    """写成了上游 (1, 0, 0, 0) 的那个数 | the number for the upstream (1, 0, 0, 0)"""
    return 0.25


def prediction_softmax__not_subtracted():
    """忘了减去加权平均 | the weighted mean is not subtracted"""
    return (0.25, 0.0)


def prediction_softmax__upstream():
    """减了加权平均，忘了乘权重 | the weighted mean is subtracted, the weights are forgotten"""
    return (0.75, -0.25)


def prediction_softmax__plain_mean():
    """减了普通平均 | the plain mean is subtracted"""
    return (0.125, -0.375)


def prediction_softmax__sigmoid():
    """每个都写成 a(1−a) | a(1−a) for both"""
    return (0.1875, 0.1875)


def prediction_softmax__sign():
    """符号反了 | the sign is wrong"""
    return (-0.1875, 0.1875)


def prediction_reach__itself():
    """只有自己 | itself alone"""
    return (0, 1, 0)


def prediction_reach__future():
    """自己和后面：方向反了 | itself and later ones: the wrong direction"""
    return (0, 1, 1)


def prediction_reach__all():
    """全部，忘了因果 | all of them: causality is forgotten"""
    return (1, 1, 1)


def prediction_reach__past():
    """只有前面，漏了自己 | earlier ones alone, without itself"""
    return (1, 0, 0)
