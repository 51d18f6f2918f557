"""Right answers to the exercises of chapter 05, each written another way; see docs/authoring.md for the form."""

import math

import torch


def gelu__reference_text(x):
    """按定义写 | as the definition reads"""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def gelu__erfc(x):
    """用 erfc，负半轴更准 | by erfc, which keeps the far negative tail"""
    upper = torch.erfc(-x * math.sqrt(0.5))
    return x * upper / 2


def gelu__normal_cdf(x):
    """用标准正态的分布函数 | by the normal distribution function"""
    return x.mul(torch.special.ndtr(x))


def block__seed(self, hidden, past_key_value=None, use_cache=False):
    """分两步更新 hidden | hidden updated in two steps"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    hidden = hidden + self.feedforward(self.ln_feedforward(hidden))
    return hidden, present


def block__keywords(self, hidden, past_key_value=None, use_cache=False):
    """用关键字传参，最后一次相加 | keyword arguments, and one sum at the end"""
    result = self.attention(self.ln_attention(hidden), past_key_value=past_key_value, use_cache=use_cache)
    middle = torch.add(hidden, result[0])
    return middle + self.feedforward(self.ln_feedforward(middle)), result[1]


def block__clone(self, hidden, past_key_value=None, use_cache=False):
    """先复制，再原地累加 | a copy first, then sums in place"""
    stream = hidden.clone()
    attended, present = self.attention(self.ln_attention(stream), past_key_value, use_cache)
    stream += attended
    stream += self.feedforward(self.ln_feedforward(stream))
    return stream, present


def prediction_increment__exact():
    """写了七位小数 | given to seven decimals"""
    return (-0.0793278, 0.4206697)


def prediction_increment__list():
    """写成了列表 | written as a list"""
    return [-0.079, 0.421]
