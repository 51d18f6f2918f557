"""Wrong answers to the exercises of chapter 07 that no list of known mistakes has: each loses points, none is misnamed.

One whose docstring is the name of a known mistake is that mistake, written another way, and may be named.
"""

import torch
from torch import nn
from torch.nn import functional as F

from hero_transformer.model import TransformerBlock


def make_blocks__double(config):
    """float64 的参数，模型跑不起来 | parameters in float64: the model does not run"""
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers)).double()


def make_blocks__evaluating(config):
    """评估模式，dropout 不起作用 | in evaluation mode: dropout does nothing"""
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers)).eval()


def make_blocks__attention_not_dropped(config):
    """注意力里的 dropout 是 0 | the dropout in attention is 0"""
    blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
    for block in blocks:
        block.attention.dropout = nn.Dropout(0.0)
    return blocks


def make_blocks__zero_norms(config):
    """所有参数都清零，归一化的也在内 | every parameter set to zero, the normalisations' too"""
    blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
    for parameter in blocks.parameters():
        nn.init.zeros_(parameter)
    return blocks


def make_blocks__sizes_passed(config):
    """传的是宽度和头数，不是 config | the width and the heads are passed instead of the config"""
    return nn.ModuleList(TransformerBlock(config.d_model, config.n_heads) for _ in range(config.n_layers))


def language_model__always_dropped(self, ids, past_key_values=None, use_cache=False):
    """F.dropout 在评估时也丢弃 | F.dropout drops in evaluation too"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = F.dropout(self.position_embedding(self.token_embedding(ids), past_length), self.dropout.p), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__same_mask(self, ids, past_key_values=None, use_cache=False):
    """每次都丢弃同样的数 | the same numbers are dropped every time"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    torch.manual_seed(0)
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__pasts_overwritten(self, ids, past_key_values=None, use_cache=False):
    """传入的列表被改写了 | the list that was passed is overwritten"""
    presents = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if presents[0] is None else presents[0][0].shape[2]
    hidden = self.dropout(self.position_embedding(self.token_embedding(ids), past_length))
    for n, block in enumerate(self.blocks):
        hidden, present = block(hidden, presents[n], use_cache)
        if use_cache:
            presents[n] = present
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__presents_reversed(self, ids, past_key_values=None, use_cache=False):
    """有过去时，缓存的次序颠倒了 | with a past, the cache comes back in reverse order"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.insert(len(presents) if past is None else 0, present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__second_past(self, ids, past_key_values=None, use_cache=False):
    """长度取自第二块的过去，只有一块就没有 | the length is the second block's, which a single block has not"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if past_key_values is None else past_key_values[1][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__uint8_masks(self, ids, past_key_values=None, use_cache=False):
    """uint8 的编号被当成了掩码 | ids in uint8 are taken for a mask"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding.weight[ids], past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__ids_positioned(self, ids, past_key_values=None, use_cache=False):
    """把编号交给了位置嵌入 | the ids are handed to the position embedding"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    hidden, presents = self.dropout(self.token_embedding(ids) + self.position_embedding(ids)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_width(self, ids, past_key_values=None, use_cache=False):
    """过去的长度取自最后一个轴，那是头的宽度 | the past's length taken from the last axis, the width of a head"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[-1]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_is_new(self, ids, past_key_values=None, use_cache=False):
    """过去的长度取了新词元的个数 | as many past tokens as there are new ones"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else ids.shape[1]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__tokens_detached(self, ids, past_key_values=None, use_cache=False):
    """词元表得不到梯度 | the token table gets no gradient"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids).detach(), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__float64(self, ids, past_key_values=None, use_cache=False):
    """logits 变成了 float64 | logits turned into float64"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)).double(), presents if use_cache else None


def shift_targets__zero_ignored(ids):
    """编号 0 在目标里成了 −100 | the id 0 becomes −100 among the targets"""
    return ids[:, :-1], ids[:, 1:].where(ids[:, 1:] != 0, -100)


def shift_targets__squeezed(ids):
    """只有一条序列时少了批量轴 | the batch axis is lost where there is one sequence"""
    return ids[:, :-1].squeeze(0), ids[:, 1:].squeeze(0)


def shift_targets__three(ids):
    """返回了三样 | three results"""
    return ids[:, :-1], ids[:, 1:], ids


def shift_targets__int64(ids):
    """返回的总是 int64 | always int64"""
    return ids[:, :-1].long(), ids[:, 1:].long()


def cross_entropy__not_long(logits, targets):
    """gather 只认 int32 和 int64 | gather takes int32 and int64 alone"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__viewed_flat(logits, targets):
    """view 只能用在连续的内存上 | view needs contiguous memory"""
    rows, wanted = logits.view(-1, logits.shape[-1]), targets.long().reshape(-1)
    below = rows - rows.max(dim=-1, keepdim=True).values
    return (below.exp().sum(dim=-1).log() - below[torch.arange(len(wanted)), wanted]).mean()


def cross_entropy__three_axes(logits, targets):
    """只认三个轴 | for three axes alone"""
    B, T, _ = logits.shape
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below[torch.arange(B)[:, None], torch.arange(T), targets.long()]
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__time_indexed(logits, targets):
    """总是取了第三个轴 | the third axis is always asked for"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    T = below[:, :, 0].shape[1]
    chosen = below[torch.arange(len(below))[:, None], torch.arange(T), targets.long()]
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__total_detached(logits, targets):
    """总和那一项没有梯度 | no gradient through the total"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log().detach() - chosen).mean()


def cross_entropy__without_graph(logits, targets):
    """结果离开了计算图，梯度断了 | the result is out of the graph: no gradient flows"""
    with torch.no_grad():
        below = logits - logits.max(dim=-1, keepdim=True).values
        chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
        return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__squeezed_axis(logits, targets):
    """结果多了一个轴 | the result has an axis too many"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()[None]


def cross_entropy__raised(logits, targets):
    """自己抛出的异常 | an exception of the answer's own"""
    raise IndexError("too many indices for tensor of dimension 1")


def cross_entropy_backward__not_long(logits, targets):
    """one_hot 只认 int64 | one_hot takes int64 alone"""
    return (logits.softmax(dim=-1) - F.one_hot(targets, logits.shape[-1])) / targets.numel()


def cross_entropy_backward__narrow_one_hot(logits, targets):
    """独热只有最大的目标那么宽 | the one-hot is only as wide as the largest target"""
    return (logits.softmax(dim=-1) - F.one_hot(targets.long())) / targets.numel()


def cross_entropy_backward__squeezed(logits, targets):
    """长度为一的轴都没有了 | axes of length one are lost"""
    return ((logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()).squeeze()


def cross_entropy_backward__zeros(logits, targets):
    """全是零 | nothing but zeros"""
    return torch.zeros_like(logits)


def parameter_ledger__both_biases_wide(V, C, N, d, f):
    """前馈的两个偏置都算成了 f | both biases of the feed-forward counted as f"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * 2 * f, "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__misfiled(V, C, N, d, f):
    """合计对，最终归一化算到了块里 | the total is right; the final LayerNorm counted among the blocks'"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d + 2 * d}
    return rows | {"final_norm": 0, "head": V * d}


def parameter_ledger__misspelt(V, C, N, d, f):
    """两行的名字拼错了 | two rows are misspelt"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weight": N * 2 * d * f, "feedforward_bias": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}
