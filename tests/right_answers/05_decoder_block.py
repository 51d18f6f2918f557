"""Right answers to the exercises of chapter 05, each written another way; see docs/authoring.md for the form."""

import math

import torch
from torch.nn import functional as F

from hero_transformer import model
from hero_transformer.model import Config, TransformerLM, gelu


def layer_norm__var(self, hidden):
    """按 var_mean 算统计量 | statistics by var_mean"""
    variance, mean = torch.var_mean(hidden, dim=-1, correction=0, keepdim=True)
    return (hidden - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def layer_norm__affine(self, hidden):
    """用平方和，再 addcmul | sums of squares, then addcmul"""
    x = hidden - hidden.mean(-1, keepdim=True)
    return torch.addcmul(
        self.bias, x / (x.pow(2).sum(-1, keepdim=True) / hidden.shape[-1] + self.eps) ** 0.5, self.weight
    )


def layer_norm__std(self, hidden):
    """总体标准差再平方 | the population standard deviation squared"""
    v = hidden.std(-1, keepdim=True, unbiased=False) ** 2
    return self.weight * (hidden - hidden.mean(-1, keepdim=True)) / torch.sqrt(v + self.eps) + self.bias


def layer_norm__float64(self, hidden):
    """中间用 float64，最后转回来 | float64 in between, and back at the end"""
    x = hidden.double()
    x = x - x.mean(-1, keepdim=True)
    normed = x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt()
    return (normed * self.weight.double() + self.bias.double()).to(hidden.dtype)


def gelu__where(x):
    """两边分开写，再拼起来 | the two sides apart, then together"""
    phi = 0.5 * torch.erfc(x.abs() / math.sqrt(2))
    return torch.where(x < 0, x * phi, x * (1 - phi))


def gelu__ndtr(x):
    """用标准正态的分布函数 | by the normal distribution function"""
    return x * torch.special.ndtr(x) if x.dtype != torch.float16 else (x.float() * torch.special.ndtr(x.float())).half()


def gelu__erfc(x):
    """用 erfc，负半轴更准 | by erfc, which keeps the far negative tail"""
    return x * torch.erfc(-x * 0.5**0.5) / 2


def gelu__seed(x):
    """按定义写 | as the definition reads"""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def feed_forward__linear(self, hidden):
    """矩阵乘转置 | matrix products with the transposes"""
    inner = gelu(hidden @ self.linear_1.weight.T + self.linear_1.bias)
    return self.dropout(inner @ self.linear_2.weight.T + self.linear_2.bias)


def feed_forward__einsum(self, hidden):
    """用 einsum 写 | by einsum"""
    inner = gelu(torch.einsum("btd,fd->btf", hidden, self.linear_1.weight) + self.linear_1.bias)
    return self.dropout(torch.einsum("btf,df->btd", inner, self.linear_2.weight) + self.linear_2.bias)


def feed_forward__chain(self, hidden):
    """逐步串起来 | step after step in a chain"""
    for step in (self.linear_1, gelu, self.linear_2, self.dropout):
        hidden = step(hidden)
    return hidden


def feed_forward__model(self, hidden):
    """用 F.linear 和 model.gelu | by F.linear and model.gelu"""
    return self.dropout(
        F.linear(
            model.gelu(F.linear(hidden, self.linear_1.weight, self.linear_1.bias)),
            self.linear_2.weight,
            self.linear_2.bias,
        )
    )


def block__seed(self, hidden, past_key_value=None, use_cache=False):
    """分两步更新 hidden | hidden updated in two steps"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    hidden = hidden + self.feedforward(self.ln_feedforward(hidden))
    return hidden, present


def block__keywords(self, hidden, past_key_value=None, use_cache=False):
    """关键字传参 | keyword arguments"""
    a, p = self.attention(self.ln_attention(hidden), past_key_value=past_key_value, use_cache=use_cache)
    u = torch.add(a, hidden)
    return self.feedforward(self.ln_feedforward(u)).add(u), p


def block__list(self, hidden, past_key_value=None, use_cache=False):
    """返回列表；增量收集起来相加 | a list is returned; increments are collected and summed"""
    increment, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    increments = [hidden, increment]
    increments.append(self.feedforward(self.ln_feedforward(sum(increments))))
    return [sum(increments), present]


def block__copy(self, hidden, past_key_value=None, use_cache=False):
    """先复制，再累加 | a copy first, then sums"""
    y = hidden.clone()
    a, p = self.attention(self.ln_attention(y), past_key_value, use_cache)
    y = y.add(a)
    return self.feedforward(self.ln_feedforward(y)).add_(y), p


def parameter_count__long(V, C, N, d, f):
    """逐项列出再求和 | every item listed, then summed"""
    block = sum([4 * d**2, d * f, f, f * d, d, 2 * d, 2 * d])
    return V * d + C * d + N * block + 2 * d + d * V


def parameter_count__factored(V, C, N, d, f):
    """提取公因子 | factored"""
    return d * (2 * V + C + 2) + N * (d * (4 * d + 2 * f + 5) + f)


def parameter_count__model(V, C, N, d, f):
    """造出模型来数 | a model made and counted"""
    return sum(p.numel() for p in TransformerLM(Config(V, C, d, 1, N, f)).parameters())


def prediction_shapes__lists():
    """写成列表 | written as lists"""
    return [[2, 2, 3, 2], [2, 2, 3, 3], [2, 3, 8]]


def prediction_derivative__float():
    """写成小数 | written as a float"""
    return 0.0


def prediction_increment__precise():
    """写成七位小数的张量 | a tensor to seven decimals"""
    return torch.tensor([-0.0793278, 0.4206697])
