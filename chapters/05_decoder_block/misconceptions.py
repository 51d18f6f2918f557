"""The mistakes that learners make in chapter 05, one function each; see docs/authoring.md."""

import math

import torch
from torch.nn import functional as F

from hero_transformer.model import gelu


def layer_norm__d_minus_1(self, hidden):
    """方差除以了 d−1 | the variance divided by d−1"""
    variance = hidden.var(dim=-1, keepdim=True)
    return (hidden - hidden.mean(dim=-1, keepdim=True)) / (variance + self.eps).sqrt() * self.weight + self.bias


def layer_norm__std_plus_eps(self, hidden):
    """分母写成了 std() + eps | the denominator is std() + eps"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (hidden.std(dim=-1, keepdim=True) + self.eps) * self.weight + self.bias


def layer_norm__eps_outside(self, hidden):
    """eps 加在了根号外面 | eps added outside the root"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance.sqrt() + self.eps) * self.weight + self.bias


def layer_norm__eps_1e_6(self, hidden):
    """eps 写成了 1e-6 | eps is 1e-6"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + 1e-6).sqrt() * self.weight + self.bias


def layer_norm__eps_ignored(self, hidden):
    """写死了 1e-5，没有用 self.eps | 1e-5 written out instead of self.eps"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + 1e-5).sqrt() * self.weight + self.bias


def layer_norm__no_eps(self, hidden):
    """漏了 eps | eps is missing"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / variance.sqrt() * self.weight + self.bias


def layer_norm__no_root(self, hidden):
    """除以了方差，没有开根号 | divided by the variance, not by its root"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + self.eps) * self.weight + self.bias


def layer_norm__over_time(self, hidden):
    """统计量跨了时间 | statistics across time as well"""
    axes = tuple(range(max(hidden.dim() - 2, 0), hidden.dim()))
    centred = hidden - hidden.mean(dim=axes, keepdim=True)
    return centred / (centred.square().mean(dim=axes, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__whole_tensor(self, hidden):
    """整个张量共用一个均值和方差 | one mean and variance for the whole tensor"""
    centred = hidden - hidden.mean()
    return centred / (centred.square().mean() + self.eps).sqrt() * self.weight + self.bias


def layer_norm__over_batch(self, hidden):
    """沿第一个轴求统计量（像 BatchNorm） | statistics along the first axis, as in BatchNorm"""
    centred = hidden - hidden.mean(dim=0, keepdim=True)
    return centred / (centred.square().mean(dim=0, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__rms(self, hidden):
    """写成了 RMSNorm：没有减均值 | RMSNorm: the mean is not subtracted"""
    return hidden / (hidden.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__no_affine(self, hidden):
    """漏了 weight 和 bias | weight and bias are missing"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


def layer_norm__no_bias(self, hidden):
    """漏了 bias | the bias is missing"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


def layer_norm__bias_scaled(self, hidden):
    """先加 bias 再乘 weight | bias added before weight multiplies"""
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    return (centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() + self.bias) * self.weight


def layer_norm__one_pass(self, hidden):
    """方差用了一趟写法 E[x²]−E[x]² | the one-pass variance E[x²]−E[x]²"""
    mean = hidden.mean(dim=-1, keepdim=True)
    variance = (hidden * hidden).mean(dim=-1, keepdim=True) - mean * mean
    return (hidden - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


def layer_norm__no_keepdim(self, hidden):
    """求均值时没有保留轴（keepdim） | the averaged axis was not kept (keepdim)"""
    centred = hidden - hidden.mean(dim=-1)
    return centred / (centred.square().mean(dim=-1) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__in_place(self, hidden):
    """原地减均值，改写了输入 | the mean was subtracted in place: the input was overwritten"""
    hidden -= hidden.mean(dim=-1, keepdim=True)
    return hidden / (hidden.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def layer_norm__float32(self, hidden):
    """先转成了 float32，类型变了 | turned into float32: the dtype changed"""
    hidden = hidden.float()
    centred = hidden - hidden.mean(dim=-1, keepdim=True)
    scaled = centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return scaled * self.weight.float() + self.bias.float()


def layer_norm__library(self, hidden):
    """直接调用了库函数 | the library's own function was called"""
    return F.layer_norm(hidden, (self.d_model,), self.weight, self.bias, self.eps)


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


def gelu__mirrored(x):
    """用了 Φ(−x)，正负反了 | Φ(−x) instead of Φ(x): the sign is the other way round"""
    return 0.5 * x * (1 - torch.erf(x / math.sqrt(2.0)))


def gelu__sampled(x):
    """按概率 Φ(x) 抽样，而不是乘以它 | drew with probability Φ(x) instead of multiplying by it"""
    return x * torch.bernoulli(0.5 * (1 + torch.erf(x / math.sqrt(2.0))))


def gelu__numpy(x):
    """转成了 float64，类型变了 | turned into float64: the dtype changed"""
    return 0.5 * x.double() * (1 + torch.erf(x.double() / math.sqrt(2.0)))



def feed_forward__no_activation(self, hidden):
    """两层之间没有激活 | no activation between the two layers"""
    return self.dropout(self.linear_2(self.linear_1(hidden)))


def feed_forward__relu(self, hidden):
    """激活用了 ReLU | ReLU as the activation"""
    return self.dropout(self.linear_2(self.linear_1(hidden).clamp(min=0)))


def feed_forward__tanh(self, hidden):
    """激活用了 tanh 近似的 GELU | the tanh approximation of GELU as the activation"""
    return self.dropout(self.linear_2(F.gelu(self.linear_1(hidden), approximate="tanh")))


def feed_forward__activation_first(self, hidden):
    """激活放在了第一层之前 | the activation stands before the first layer"""
    return self.dropout(self.linear_2(self.linear_1(gelu(hidden))))


def feed_forward__activation_last(self, hidden):
    """激活放在了第二层之后 | the activation stands after the second layer"""
    return self.dropout(gelu(self.linear_2(self.linear_1(hidden))))


def feed_forward__activation_twice(self, hidden):
    """两层之后都加了激活 | an activation after both layers"""
    return self.dropout(gelu(self.linear_2(gelu(self.linear_1(hidden)))))


def feed_forward__transposed(self, hidden):
    """把存储的 weight 当成 W 直接相乘，漏了转置 | multiplied by weight as it is stored, without the transpose"""
    inner = gelu(hidden @ self.linear_1.weight + self.linear_1.bias)
    return self.dropout(inner @ self.linear_2.weight + self.linear_2.bias)


def feed_forward__layers_exchanged(self, hidden):
    """两层的次序反了 | the two layers in the wrong order"""
    return self.dropout(self.linear_1(gelu(self.linear_2(hidden))))


def feed_forward__no_bias(self, hidden):
    """漏了两个偏置 | both biases are missing"""
    return self.dropout(gelu(hidden @ self.linear_1.weight.T) @ self.linear_2.weight.T)


def feed_forward__residual_inside(self, hidden):
    """在这里就加了残差 | the residual was added here already"""
    return hidden + self.dropout(self.linear_2(gelu(self.linear_1(hidden))))


def feed_forward__mixes_time(self, hidden):
    """混合了不同的时间：减去了沿时间的均值 | times are mixed: the mean over time was subtracted"""
    hidden = hidden - hidden.mean(dim=1, keepdim=True)
    return self.dropout(self.linear_2(gelu(self.linear_1(hidden))))


def feed_forward__reshaped(self, hidden):
    """用 reshape 调换轴，把时间和特征混在了一起 | axes exchanged by reshape: times and features are mixed"""
    B, T, d = hidden.shape
    mixed = hidden.reshape(B, d, T).transpose(1, 2)
    return self.dropout(self.linear_2(gelu(self.linear_1(mixed))))


def feed_forward__no_dropout(self, hidden):
    """漏了 dropout | dropout is missing"""
    return self.linear_2(gelu(self.linear_1(hidden)))


def feed_forward__dropout_inside(self, hidden):
    """dropout 放在了两层之间 | dropout between the two layers"""
    return self.linear_2(self.dropout(gelu(self.linear_1(hidden))))


def feed_forward__in_place(self, hidden):
    """原地改写了输入 | the input was overwritten in place"""
    hidden.copy_(self.dropout(self.linear_2(gelu(self.linear_1(hidden)))).detach())
    return hidden


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
    """present 总是 None：没有返回，或没有传 use_cache | present is always None, or use_cache not passed"""
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


def block__norms_swapped(self, hidden, past_key_value=None, use_cache=False):
    """两个 LayerNorm 用反了 | the two LayerNorms exchanged"""
    attended, present = self.attention(self.ln_feedforward(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    return hidden + self.feedforward(self.ln_attention(hidden)), present


def block__no_norm(self, hidden, past_key_value=None, use_cache=False):
    """分支入口没有归一化 | nothing is normalised"""
    attended, present = self.attention(hidden, past_key_value, use_cache)
    hidden = hidden + attended
    return hidden + self.feedforward(hidden), present


def block__feedforward_first(self, hidden, past_key_value=None, use_cache=False):
    """先算了前馈，后算注意力 | the feed-forward comes before the attention"""
    hidden = hidden + self.feedforward(self.ln_feedforward(hidden))
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return hidden + attended, present


def block__first_normed(self, hidden, past_key_value=None, use_cache=False):
    """第一条残差加回的是 LN(x) | the first residual adds LN(x) back"""
    normed = self.ln_attention(hidden)
    attended, present = self.attention(normed, past_key_value, use_cache)
    hidden = normed + attended
    return hidden + self.feedforward(self.ln_feedforward(hidden)), present


def block__second_normed(self, hidden, past_key_value=None, use_cache=False):
    """第二条残差加回的是 LN(u) | the second residual adds LN(u) back"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    normed = self.ln_feedforward(hidden + attended)
    return normed + self.feedforward(normed), present


def block__half_post(self, hidden, past_key_value=None, use_cache=False):
    """注意力是 pre-LN，前馈成了 post-LN | pre-LN for the attention, post-LN for the feed-forward"""
    attended, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + attended
    return self.ln_feedforward(hidden + self.feedforward(hidden)), present


def block__pair_added(self, hidden, past_key_value=None, use_cache=False):
    """没有拆开注意力返回的一对 | the pair that attention returns was not taken apart"""
    hidden = hidden + self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    return hidden + self.feedforward(self.ln_feedforward(hidden)), None



def parameter_count__no_feedforward_bias(V, C, N, d, f):
    """漏了前馈的两个偏置 | the two biases of the feed-forward are missing"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + 4 * d) + 2 * d


def parameter_count__one_norm(V, C, N, d, f):
    """每块只数了一个 LayerNorm | one LayerNorm a block"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 3 * d) + 2 * d


def parameter_count__norm_without_bias(V, C, N, d, f):
    """LayerNorm 漏了 β | LayerNorms without β"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 3 * d) + d


def parameter_count__tied_head(V, C, N, d, f):
    """head 与词嵌入共用了权重 | the head tied to the token embedding"""
    return V * d + C * d + N * (4 * d * d + 2 * d * f + f + 5 * d) + 2 * d


def parameter_count__no_final_norm(V, C, N, d, f):
    """漏了最终的 LayerNorm | the final LayerNorm is missing"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 5 * d)


def parameter_count__no_positions(V, C, N, d, f):
    """漏了位置表 | the table of positions is missing"""
    return 2 * V * d + N * (4 * d * d + 2 * d * f + f + 5 * d) + 2 * d


def parameter_count__one_block(V, C, N, d, f):
    """只数了一个块 | one block counted, not N"""
    return 2 * V * d + C * d + (4 * d * d + 2 * d * f + f + 5 * d) + 2 * d


def parameter_count__attention_bias(V, C, N, d, f):
    """给 Q/K/V/O 加了偏置 | biases counted for Q/K/V/O"""
    return 2 * V * d + C * d + N * (4 * d * d + 4 * d + 2 * d * f + f + 5 * d) + 2 * d


def parameter_count__head_bias(V, C, N, d, f):
    """给 head 加了偏置 | a bias counted for the head"""
    return 2 * V * d + V + C * d + N * (4 * d * d + 2 * d * f + f + 5 * d) + 2 * d


def parameter_count__no_output_projection(V, C, N, d, f):
    """注意力只数了 Q/K/V，漏了 O | Q/K/V counted, O forgotten"""
    return 2 * V * d + C * d + N * (3 * d * d + 2 * d * f + f + 5 * d) + 2 * d


def parameter_count__one_feedforward_matrix(V, C, N, d, f):
    """前馈只数了一个矩阵 | one matrix of the feed-forward, not two"""
    return 2 * V * d + C * d + N * (4 * d * d + d * f + f + 5 * d) + 2 * d


def parameter_count__final_norm_in_every_block(V, C, N, d, f):
    """把最终的 LayerNorm 数进了每一块 | the final LayerNorm counted in every block"""
    return 2 * V * d + C * d + N * (4 * d * d + 2 * d * f + f + 7 * d)


def parameter_count__f_is_4d(V, C, N, d, f):
    """默认了 f = 4d | assumed that f = 4d"""
    return 2 * V * d + C * d + N * (12 * d * d + 9 * d) + 2 * d


def parameter_count__d_and_f_swapped(V, C, N, d, f):
    """d 和 f 用反了 | d and f exchanged"""
    return 2 * V * f + C * f + N * (4 * f * f + 2 * d * f + d + 5 * f) + 2 * f


def parameter_count__float(V, C, N, d, f):
    """返回的是小数，不是 int | returned a float, not an int"""
    return 2 * V * d + C * d + N * (4 * d**2 + 2 * d * f + f + 5 * d) + 4 * d / 2

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


def prediction_increment__no_activation():
    """漏了激活 | the activation was left out"""
    return (-0.5, 0.5)


def prediction_increment__sign_lost():
    """负输入也当成了正的 | the negative input taken as positive"""
    return (0.4207, 0.4207)


def prediction_variance__one():
    """以为归一化之后方差总是一 | that the variance is always one"""
    return 1.0


def prediction_variance__zero():
    """以为方差小就成了零 | that a small variance becomes zero"""
    return 0.0


def prediction_variance__standard_deviation():
    """算成了标准差 | the standard deviation, not the variance"""
    return 0.7071


def prediction_variance__at_one():
    """算成了 v = 1 的情形 | the case v = 1"""
    return 0.99999


def prediction_variance__outside():
    """把 ε 放在了根号外面 | ε outside the root"""
    return 0.99369


def prediction_derivative__branch_only():
    """只算了分支，漏了恒等项 | the branch alone, without the identity"""
    return -1


def prediction_derivative__identity_only():
    """只算了恒等项，漏了分支 | the identity alone, without the branch"""
    return 1


def prediction_derivative__difference():
    """两项相减了 | the two terms subtracted"""
    return 2


def prediction_shapes__heads_after_time():
    """头轴放在了时间轴之后 | the head axis after the time axis"""
    return ((2, 3, 2, 2), (2, 2, 3, 3), (2, 3, 8))


def prediction_shapes__full_width():
    """每头仍是完整的宽度 d | each head still of the full width d"""
    return ((2, 2, 3, 4), (2, 2, 3, 3), (2, 3, 8))


def prediction_shapes__no_heads():
    """没有头轴 | no axis for the heads"""
    return ((2, 3, 4), (2, 3, 3), (2, 3, 8))


def prediction_shapes__features_compared():
    """注意力权重按特征而不是按位置 | weights between features, not between positions"""
    return ((2, 2, 3, 2), (2, 2, 2, 2), (2, 3, 8))


def prediction_shapes__inner_width():
    """前馈中间量仍是宽度 d | the inner state of width d"""
    return ((2, 2, 3, 2), (2, 2, 3, 3), (2, 3, 4))


def prediction_count__one_block():
    """只数了一个块 | one block, not N"""
    return 268


def prediction_count__block_only():
    """只写了一个块的参数 | a single block's parameters"""
    return 156


def prediction_count__blocks_only():
    """漏了块外的参数 | what stands outside the blocks is missing"""
    return 312


def prediction_count__tied_head():
    """head 与词嵌入共用了权重 | the head tied to the token embedding"""
    return 384


def prediction_count__no_final_norm():
    """漏了最终归一化 | the final normalisation is missing"""
    return 416


def prediction_count__no_positions():
    """漏了位置表 | the table of positions is missing"""
    return 400

