"""The mistakes that learners make in chapter 05, one function each; see docs/authoring.md."""

import math

import torch


def gelu__relu(x):
    """用了 ReLU | ReLU instead of GELU"""
    return x.clamp(min=0)


def gelu__tanh(x):
    """tanh 近似，不是精确的 erf | the tanh approximation, not the exact erf"""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu__sigmoid(x):
    """sigmoid(1.702x) 近似 | the sigmoid(1.702x) approximation"""
    return x * torch.sigmoid(1.702 * x)


def gelu__silu(x):
    """用了 SiLU | SiLU instead of GELU"""
    return x * torch.sigmoid(x)


def gelu__identity(x):
    """没有激活函数 | no activation at all"""
    return x


def gelu__negative_zero(x):
    """负值被截成零 | negative inputs cut to zero"""
    return torch.where(x > 0, 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0))), torch.zeros_like(x))


def gelu__unscaled_erf(x):
    """erf 里漏了除以 √2 | erf without the division by √2"""
    return 0.5 * x * (1 + torch.erf(x))


def gelu__phi_only(x):
    """只返回了 Φ(x)，没有乘 x | only Φ(x), not times x"""
    return 0.5 * (1 + torch.erf(x / math.sqrt(2.0)))


def gelu__no_half(x):
    """漏了系数 1/2 | the factor 1/2 is missing"""
    return x * (1 + torch.erf(x / math.sqrt(2.0)))


def gelu__in_place(x):
    """原地改写了输入 | the input was overwritten in place"""
    return x.mul_(0.5 * (1 + torch.erf(x / math.sqrt(2.0))))


def gelu__library(x):
    """直接调用了库函数 | the library's own function was called"""
    return torch.nn.functional.gelu(x)


def block__post_ln(self, hidden, past_key_value=None, use_cache=False):
    """写成了 post-LN | post-LN instead of pre-LN"""
    attended, present = self.attention(hidden, past_key_value, use_cache)
    hidden = self.ln_attention(hidden + attended)
    return self.ln_feedforward(hidden + self.feedforward(hidden)), present


def block__normed_residual(self, hidden, past_key_value=None, use_cache=False):
    """把 LN(x) 当成了残差主路 | LN(x) kept as the residual"""
    normed = self.ln_attention(hidden)
    attended, present = self.attention(normed, past_key_value, use_cache)
    hidden = normed + attended
    normed = self.ln_feedforward(hidden)
    return normed + self.feedforward(normed), present


def block__parallel(self, hidden, past_key_value=None, use_cache=False):
    """两条分支都读 X | both branches read X"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return hidden + attended + self.feedforward(self.ln_feedforward(hidden)), present


def block__shared_norm(self, hidden, past_key_value=None, use_cache=False):
    """同一个 LayerNorm 用了两次 | one LayerNorm used twice"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    return hidden + self.feedforward(self.ln_attention(hidden)), present


def block__no_first_residual(self, hidden, past_key_value=None, use_cache=False):
    """漏了第一条残差 | the first residual is missing"""
    hidden, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return hidden + self.feedforward(self.ln_feedforward(hidden)), present


def block__no_second_residual(self, hidden, past_key_value=None, use_cache=False):
    """漏了第二条残差 | the second residual is missing"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return self.feedforward(self.ln_feedforward(hidden + attended)), present


def block__second_adds_x(self, hidden, past_key_value=None, use_cache=False):
    """第二条残差加回了 X 而不是 U | the second residual adds X, not U"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return hidden + self.feedforward(self.ln_feedforward(hidden + attended)), present


def block__broadcast(self, hidden, past_key_value=None, use_cache=False):
    """[B,1,d] 的增量被广播到所有位置 | a [B,1,d] increment broadcast to every position"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended[:, -1:]
    return hidden + self.feedforward(self.ln_feedforward(hidden)), present


def block__past_ignored(self, hidden, past_key_value=None, use_cache=False):
    """没有把 past_key_value 传给注意力 | past_key_value not passed to the attention"""
    attended, present = self.attention(self.ln_attention(hidden), None, use_cache)
    hidden = hidden + attended
    return hidden + self.feedforward(self.ln_feedforward(hidden)), present


def block__present_dropped(self, hidden, past_key_value=None, use_cache=False):
    """present 总是返回 None | present is always None"""
    attended, _ = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    return hidden + self.feedforward(self.ln_feedforward(hidden)), None


def block__always_cached(self, hidden, past_key_value=None, use_cache=False):
    """不用缓存时也返回了 present | present returned even without cache"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, True)
    hidden = hidden + attended
    return hidden + self.feedforward(self.ln_feedforward(hidden)), present


def block__in_place(self, hidden, past_key_value=None, use_cache=False):
    """原地相加，改写了输入 | added in place: the input was overwritten"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden += attended
    hidden += self.feedforward(self.ln_feedforward(hidden))
    return hidden, present


def block__hidden_only(self, hidden, past_key_value=None, use_cache=False):
    """只返回了 hidden，没有返回 (hidden, present) | returned hidden alone, not (hidden, present)"""
    attended, _ = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    return hidden + self.feedforward(self.ln_feedforward(hidden))


def prediction_increment__d_minus_1():
    """方差除以了 d−1 | the variance divided by d−1"""
    return (-0.0848, 0.2688)


def prediction_increment__no_half():
    """忘了第二层权重是一半 | the second weight, one half, forgotten"""
    return (-0.1587, 0.8413)


def prediction_increment__output():
    """写成了块的输出，不是增量 | the block's output, not the increment"""
    return (0.9207, 3.4207)


def prediction_increment__relu():
    """按 ReLU 计算 | computed with ReLU"""
    return (0.0, 0.5)
