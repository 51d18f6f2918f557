"""The mistakes that learners make in chapter 07, one function each; see docs/authoring.md."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from hero_transformer.model import Config, TransformerBlock

# make_blocks


def make_blocks__plain_list(config):
    """块放在普通的列表里，没有登记 | the blocks are in a plain list, not registered"""
    return [TransformerBlock(config) for _ in range(config.n_layers)]


def make_blocks__tuple(config):
    """块放在元组里，没有登记 | the blocks are in a tuple, not registered"""
    return tuple(TransformerBlock(config) for _ in range(config.n_layers))


def make_blocks__same_block(config):
    """同一个块重复了 N 次 | one block, repeated N times"""
    return nn.ModuleList([TransformerBlock(config)] * config.n_layers)


def make_blocks__sequential(config):
    """用了 Sequential：它不会传递过去和缓存 | a Sequential, which cannot hand on the past and the cache"""
    return nn.Sequential(*(TransformerBlock(config) for _ in range(config.n_layers)))


def make_blocks__heads(config):
    """块数用了头数 | as many blocks as heads"""
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_heads))


def make_blocks__one_block(config):
    """只造了一个块 | only one block"""
    return nn.ModuleList([TransformerBlock(config)])


def make_blocks__one_extra(config):
    """多造了一个块 | one block too many"""
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers + 1))


def make_blocks__one_short(config):
    """少造了一个块 | one block too few"""
    return nn.ModuleList(TransformerBlock(config) for _ in range(1, config.n_layers))


def make_blocks__classes(config):
    """放进去的是类，不是块 | the class itself instead of blocks"""
    return nn.ModuleList([TransformerBlock] * config.n_layers)


def make_blocks__no_return(config):
    """漏了 return | the return is missing"""
    nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))


def make_blocks__shared_attention(config):
    """各块共用一份注意力 | all blocks share one attention"""
    blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
    for block in blocks:
        block.attention = blocks[0].attention
    return blocks


def make_blocks__shared_norms(config):
    """各块共用归一化 | all blocks share their LayerNorms"""
    blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
    for block in blocks:
        block.ln_attention, block.ln_feedforward = blocks[0].ln_attention, blocks[0].ln_feedforward
    return blocks


def make_blocks__four_d(config):
    """前馈宽度写死成 4d | the inner width fixed at 4 d"""
    config = Config(**{**vars(config), "d_ff": 4 * config.d_model})
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))


def make_blocks__no_dropout(config):
    """dropout 没有传给块 | dropout is not handed to the blocks"""
    config = Config(**{**vars(config), "dropout": 0.0})
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))


def make_blocks__one_head(config):
    """头数没有传给块 | the number of heads is not handed to the blocks"""
    config = Config(**{**vars(config), "n_heads": 1})
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))


def make_blocks__frozen(config):
    """参数被冻结，不能有梯度 | the parameters are frozen and may have no gradient"""
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers)).requires_grad_(False)


# TransformerLM.forward


def language_model__no_final_norm(self, ids, past_key_values=None, use_cache=False):
    """漏了最终归一化 | the final LayerNorm is missing"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(hidden), presents if use_cache else None


def language_model__norm_first(self, ids, past_key_values=None, use_cache=False):
    """最终归一化放在了块的前面 | the final LayerNorm stands before the blocks"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    hidden = self.ln_final(hidden)
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(hidden), presents if use_cache else None


def language_model__norm_every_block(self, ids, past_key_values=None, use_cache=False):
    """最终归一化在循环里，每块之后都做 | the final LayerNorm is in the loop, after every block"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        hidden = self.ln_final(hidden)
        presents.append(present)
    return self.head(hidden), presents if use_cache else None


def language_model__no_positions(self, ids, past_key_values=None, use_cache=False):
    """没有加位置 | the positions are not added"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    hidden, presents = self.dropout(self.token_embedding(ids)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__positions_restart(self, ids, past_key_values=None, use_cache=False):
    """用了缓存，位置却又从 0 数起 | with a cache the positions start at 0 again"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids))), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_axis(self, ids, past_key_values=None, use_cache=False):
    """过去的长度取错了轴：那是头数 | the past's length taken from the wrong axis, that of the heads"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[1]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_by_blocks(self, ids, past_key_values=None, use_cache=False):
    """过去的长度用了块数 len(past_key_values) | the past's length is len(past_key_values), the blocks"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else len(pasts)
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_reversed(self, ids, past_key_values=None, use_cache=False):
    """过去给错了块：次序颠倒 | each past given to the wrong block, in reverse order"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts[::-1], strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_first(self, ids, past_key_values=None, use_cache=False):
    """每个块都拿到了第一个块的过去 | every block is given the past of the first"""
    past = None if past_key_values is None else past_key_values[0]
    past_length = 0 if past is None else past[0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block in self.blocks:
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__past_ignored(self, ids, past_key_values=None, use_cache=False):
    """过去没有交给块 | the past is not handed to the blocks"""
    past_length = 0 if past_key_values is None else past_key_values[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block in self.blocks:
        hidden, present = block(hidden, None, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__cache_not_asked(self, ids, past_key_values=None, use_cache=False):
    """use_cache 没有交给块 | use_cache is not handed to the blocks"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__presents_always(self, ids, past_key_values=None, use_cache=False):
    """没有要缓存也返回了列表 | a list is returned although no cache was asked for"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents


def language_model__cache_always(self, ids, past_key_values=None, use_cache=False):
    """不管要不要，都算并返回缓存 | the cache is made and returned, asked for or not"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, True)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents


def language_model__presents_never(self, ids, past_key_values=None, use_cache=False):
    """缓存从不返回 | the cache is never returned"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden = self.dropout(self.position_embedding(self.token_embedding(ids), past_length))
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, _ = block(hidden, past, use_cache)
    return self.head(self.ln_final(hidden)), None


def language_model__last_present(self, ids, past_key_values=None, use_cache=False):
    """只返回了最后一块的缓存 | only the last block's cache is returned"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, present = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), None
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
    return self.head(self.ln_final(hidden)), [present] if use_cache else None


def language_model__parallel(self, ids, past_key_values=None, use_cache=False):
    """每个块都读嵌入，没有首尾相接 | every block reads the embeddings: the blocks are not chained"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    start, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(start, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__first_repeated(self, ids, past_key_values=None, use_cache=False):
    """反复用第一个块 | the first block is used again and again"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for past in pasts:
        hidden, present = self.blocks[0](hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__blocks_reversed(self, ids, past_key_values=None, use_cache=False):
    """块的次序颠倒了 | the blocks run in reverse order"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(reversed(self.blocks), pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__extra_residual(self, ids, past_key_values=None, use_cache=False):
    """块外又加了一次残差 | the stream is added once more outside the block"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        output, present = block(hidden, past, use_cache)
        hidden = hidden + output
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__tied_head(self, ids, past_key_values=None, use_cache=False):
    """用词元表代替了 head | the token table is used in place of the head"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return F.linear(self.ln_final(hidden), self.token_embedding.weight), presents if use_cache else None


def language_model__softmaxed(self, ids, past_key_values=None, use_cache=False):
    """返回了概率，不是 logits | probabilities are returned, not logits"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)).softmax(dim=-1), presents if use_cache else None


def language_model__log_softmaxed(self, ids, past_key_values=None, use_cache=False):
    """返回了对数概率，不是 logits | log-probabilities are returned, not logits"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)).log_softmax(dim=-1), presents if use_cache else None


def language_model__no_head(self, ids, past_key_values=None, use_cache=False):
    """漏了 head，返回的是隐藏向量 | the head is missing: hidden vectors are returned"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.ln_final(hidden), presents if use_cache else None


def language_model__last_position(self, ids, past_key_values=None, use_cache=False):
    """只给了最后一个位置的 logits | logits of the last position only"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden))[:, -1], presents if use_cache else None


def language_model__only_logits(self, ids, past_key_values=None, use_cache=False):
    """只返回了 logits，没有返回一对 | only the logits are returned, not a pair"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden = self.dropout(self.position_embedding(self.token_embedding(ids), past_length))
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, _ = block(hidden, past, use_cache)
    return self.head(self.ln_final(hidden))


def language_model__no_dropout(self, ids, past_key_values=None, use_cache=False):
    """嵌入之后漏了 dropout | dropout after the embeddings is missing"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.position_embedding(self.token_embedding(ids), past_length), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__dropout_on_tokens(self, ids, past_key_values=None, use_cache=False):
    """dropout 只作用在词元向量上，位置没有 | dropout falls on the token vectors alone, before positions"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.position_embedding(self.dropout(self.token_embedding(ids)), past_length), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__dropout_last(self, ids, past_key_values=None, use_cache=False):
    """dropout 放在了块的后面 | dropout stands after the blocks"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.position_embedding(self.token_embedding(ids), past_length), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(self.dropout(hidden))), presents if use_cache else None


def language_model__scaled_embedding(self, ids, past_key_values=None, use_cache=False):
    """词元向量乘了 √d（2017 年那篇的写法） | token vectors times the root of d, as in the paper of 2017"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    scaled = self.token_embedding(ids) * math.sqrt(self.config.d_model)
    hidden, presents = self.dropout(self.position_embedding(scaled, past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden, past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__detached(self, ids, past_key_values=None, use_cache=False):
    """块之间用 detach 断开了梯度 | detach between the blocks cuts the gradient"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
    for block, past in zip(self.blocks, pasts, strict=True):
        hidden, present = block(hidden.detach(), past, use_cache)
        presents.append(present)
    return self.head(self.ln_final(hidden)), presents if use_cache else None


def language_model__no_grad(self, ids, past_key_values=None, use_cache=False):
    """在 no_grad 里计算，没有梯度 | computed under no_grad: there is no gradient"""
    pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
    past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
    with torch.no_grad():
        hidden, presents = self.dropout(self.position_embedding(self.token_embedding(ids), past_length)), []
        for block, past in zip(self.blocks, pasts, strict=True):
            hidden, present = block(hidden, past, use_cache)
            presents.append(present)
        return self.head(self.ln_final(hidden)), presents if use_cache else None


# shift_targets


def shift_targets__unshifted(ids):
    """目标没有错位：抄输入就是对的 | the targets are not shifted: copying the input is right"""
    return ids[:, :-1], ids[:, :-1]


def shift_targets__twice(ids):
    """错了两位：目标是再下一个 | shifted twice: the target is the token after the next"""
    return ids[:, :-2], ids[:, 2:]


def shift_targets__swapped(ids):
    """输入和目标调换了 | inputs and targets exchanged"""
    return ids[:, 1:], ids[:, :-1]


def shift_targets__roll(ids):
    """用 roll 循环错位：最后一个的目标是第一个 | rolled round: the last token's target is the first"""
    return ids, ids.roll(-1, dims=1)


def shift_targets__padded(ids):
    """输入没有截短，目标末尾补了 0 | the inputs are not cut, and the targets end in a made-up 0"""
    return ids, F.pad(ids[:, 1:], (0, 1))


def shift_targets__inputs_whole(ids):
    """输入没有截短，比目标多一个 | the inputs are not cut: one more than the targets"""
    return ids, ids[:, 1:]


def shift_targets__along_batch(ids):
    """沿批量轴错位 | shifted along the batch"""
    return ids[:-1], ids[1:]


def shift_targets__halves(ids):
    """对半切开：前一半作输入，后一半作目标 | cut in half: the first half read, the second predicted"""
    half = ids.shape[1] // 2
    return ids[:, :half], ids[:, half:]


def shift_targets__last_only(ids):
    """目标只有最后一个词元 | only the last token is a target"""
    return ids[:, :-1], ids[:, -1:]


def shift_targets__flattened(ids):
    """拉平成了一维 | flattened to one axis"""
    return ids[:, :-1].reshape(-1), ids[:, 1:].reshape(-1)


def shift_targets__across(ids):
    """先拉平再错位，目标跨到了下一条序列 | flattened first: targets reach into the next sequence"""
    flat = torch.cat([ids.reshape(-1)[1:], ids.reshape(-1)[:1]]).reshape(ids.shape)
    return ids[:, 1:], flat[:, 1:]


def shift_targets__floats(ids):
    """目标变成了小数 | the targets are turned into floats"""
    return ids[:, :-1], ids[:, 1:].double()


def shift_targets__first_twice(ids):
    """输入前面补了 0，多造出一个预测 | a made-up 0 in front gives one prediction too many"""
    return F.pad(ids[:, :-1], (1, 0)), ids


def shift_targets__overwritten(ids):
    """改写了传进来的编号 | the ids that were passed are overwritten"""
    inputs = ids[:, :-1].clone()
    ids[:, :-1] = ids[:, 1:].clone()
    return inputs, ids[:, :-1]


# cross_entropy


def cross_entropy__sum(logits, targets):
    """求了和，不是平均 | the sum instead of the mean"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).sum()


def cross_entropy__batch_mean(logits, targets):
    """时间上求和，只对批量平均 | summed over time, averaged over the batch only"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).sum() / max(len(targets) if targets.dim() else 1, 1)


def cross_entropy__by_vocabulary(logits, targets):
    """除以了 logits 的个数，多除了 V | divided by the number of logits, V times too many"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).sum() / logits.numel()


def cross_entropy__not_averaged(logits, targets):
    """没有平均，每个位置一个数 | not averaged: one number a position"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return below.exp().sum(dim=-1).log() - chosen


def cross_entropy__sign(logits, targets):
    """漏了负号 | the minus sign is missing"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (chosen - below.exp().sum(dim=-1).log()).mean()


def cross_entropy__log_of_softmax(logits, targets):
    """先 softmax 再取对数，概率会下溢成 0 | the log of a softmax: probabilities underflow to 0"""
    p = logits.softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return -p.log().mean()


def cross_entropy__overflow(logits, targets):
    """没有先减最大值，指数会上溢 | the maximum is not subtracted: the exponential overflows"""
    chosen = logits.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (logits.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__global_maximum(logits, targets):
    """减的是整个张量的最大值，不是各位置自己的 | one maximum for all positions instead of each one's own"""
    below = logits - logits.max()
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__maximum_lost(logits, targets):
    """减掉的最大值没有还回去 | the maximum is taken off one term only"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = logits.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__softmax_twice(logits, targets):
    """softmax 做了两次 | softmax applied twice"""
    p = logits.softmax(dim=-1).softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return -p.log().mean()


def cross_entropy__added_constant(logits, targets):
    """对数里加了 1e-9 来躲零 | 1e-9 added inside the logarithm to dodge zero"""
    p = logits.softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return -(p + 1e-9).log().mean()


def cross_entropy__clamped(logits, targets):
    """把概率截在 1e-12 以上 | probabilities clamped at 1e-12"""
    p = logits.softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return -p.clamp(min=1e-12).log().mean()


def cross_entropy__bits(logits, targets):
    """用了以 2 为底的对数 | the logarithm to base 2"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean() / math.log(2)


def cross_entropy__probability(logits, targets):
    """没有取对数：1 减去概率 | no logarithm: 1 less the probability"""
    p = logits.softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (1 - p).mean()


def cross_entropy__entropy(logits, targets):
    """算成了熵，没有用目标 | the entropy, which does not use the targets"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    log_p = below - below.exp().sum(dim=-1, keepdim=True).log()
    return -(log_p.exp() * log_p).sum(dim=-1).mean()


def cross_entropy__log_of_mean(logits, targets):
    """先平均概率再取对数 | the log of the mean probability"""
    p = logits.softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return -p.mean().log()


def cross_entropy__perplexity(logits, targets):
    """多取了一次指数，那是困惑度 | one exponential more: the perplexity"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean().exp()


def cross_entropy__all_rows(logits, targets):
    """logits[..., targets] 取了每一对，不是各取各的 | logits[..., targets] takes every pair of positions"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.reshape(-1, below.shape[-1])[:, targets.long().reshape(-1)]
    return (below.exp().sum(dim=-1).log()).mean() - chosen.mean()


def cross_entropy__viewed(logits, targets):
    """把 [B,T,V] 直接看成 [B,V,T]，轴错乱了 | [B,T,V] viewed as [B,V,T]: the axes are scrambled"""
    if logits.dim() < 3:
        below = logits - logits.max(dim=-1, keepdim=True).values
    else:
        B, T, V = logits.shape
        below = logits.reshape(B, V, T).transpose(1, 2)
        below = below - below.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__over_time(logits, targets):
    """softmax 沿时间轴做了 | the softmax runs along time"""
    axis = -2 if logits.dim() > 1 else -1
    below = logits - logits.max(dim=axis, keepdim=True).values
    log_p = below - below.exp().sum(dim=axis, keepdim=True).log()
    return -log_p.gather(-1, targets.long().unsqueeze(-1)).mean()


def cross_entropy__shifted_again(logits, targets):
    """在损失里又错了一位 | shifted once more inside the loss"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    log_p = below - below.exp().sum(dim=-1, keepdim=True).log()
    return -log_p[:, :-1].gather(-1, targets[:, 1:].long().unsqueeze(-1)).mean()


def cross_entropy__last_only(logits, targets):
    """只算了最后一个位置 | only the last position counts"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    log_p = below - below.exp().sum(dim=-1, keepdim=True).log()
    found = -log_p.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return found[..., -1].mean() if found.dim() else found


def cross_entropy__ignores_zero(logits, targets):
    """把编号 0 当成填充跳过了 | the id 0 is taken for padding and skipped"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    log_p = below - below.exp().sum(dim=-1, keepdim=True).log()
    found = -log_p.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return found[targets != 0].mean()


def cross_entropy__squared(logits, targets):
    """算成了概率与独热之差的平方 | squared distance between probabilities and one-hot rows"""
    return (logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])).square().sum(dim=-1).mean()


def cross_entropy__detached(logits, targets):
    """结果离开了计算图，梯度断了 | the result is out of the graph: no gradient flows"""
    below = (logits - logits.max(dim=-1, keepdim=True).values).detach()
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__number(logits, targets):
    """返回的是 Python 的数，不是张量 | a Python number, not a tensor"""
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean().item()


def cross_entropy__in_place(logits, targets):
    """原地减最大值，改写了 logits | the maximum is subtracted in place: the logits are overwritten"""
    with torch.no_grad():
        logits -= logits.max(dim=-1, keepdim=True).values
    chosen = logits.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (logits.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__float32(logits, targets):
    """先转成了 float32，精度丢了 | turned into float32: digits are lost"""
    logits = logits.float()
    below = logits - logits.max(dim=-1, keepdim=True).values
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (below.exp().sum(dim=-1).log() - chosen).mean()


def cross_entropy__library(logits, targets):
    """直接调用了库函数 | the library's own function was called"""
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.long().reshape(-1))


# cross_entropy_backward


def cross_entropy_backward__undivided(logits, targets):
    """没有除以位置数 | not divided by the number of positions"""
    return logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])


def cross_entropy_backward__by_batch(logits, targets):
    """只除以了第一个轴的长度 B | divided by B only, the length of the first axis"""
    count = len(targets) if targets.dim() else 1
    return (logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / count


def cross_entropy_backward__by_time(logits, targets):
    """只除以了最后一个轴的长度 T | divided by T only, the length of the last axis"""
    count = targets.shape[-1] if targets.dim() else 1
    return (logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / count


def cross_entropy_backward__by_logits(logits, targets):
    """除以了 logits 的个数，多除了 V | divided by the number of logits, V times too many"""
    return (logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / logits.numel()


def cross_entropy_backward__no_one_hot(logits, targets):
    """漏了独热 | the one-hot is missing"""
    return logits.softmax(dim=-1) / targets.numel()


def cross_entropy_backward__only_one_hot(logits, targets):
    """只有独热，漏了 softmax | the one-hot alone, without the softmax"""
    return -F.one_hot(targets.long(), logits.shape[-1]).to(logits.dtype) / targets.numel()


def cross_entropy_backward__sign(logits, targets):
    """符号反了：独热减 softmax | the sign is turned: one-hot less softmax"""
    return (F.one_hot(targets.long(), logits.shape[-1]) - logits.softmax(dim=-1)) / targets.numel()


def cross_entropy_backward__added(logits, targets):
    """加了独热，不是减 | the one-hot is added, not subtracted"""
    return (logits.softmax(dim=-1) + F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()


def cross_entropy_backward__one_everywhere(logits, targets):
    """每个词元都减了 1 | 1 is subtracted from every token"""
    return (logits.softmax(dim=-1) - 1) / targets.numel()


def cross_entropy_backward__half_divided(logits, targets):
    """只有 softmax 除以了位置数 | only the softmax is divided by the number of positions"""
    return logits.softmax(dim=-1) / targets.numel() - F.one_hot(targets.long(), logits.shape[-1])


def cross_entropy_backward__target_only(logits, targets):
    """只有目标处有梯度，别的词元是 0 | a gradient at the target only, 0 for all other tokens"""
    one_hot = F.one_hot(targets.long(), logits.shape[-1])
    return (logits.softmax(dim=-1) - one_hot) * one_hot / targets.numel()


def cross_entropy_backward__jacobian(logits, targets):
    """只推过了 softmax，漏了对数的 1/p | pushed through the softmax only, without the log's 1/p"""
    p, one_hot = logits.softmax(dim=-1), F.one_hot(targets.long(), logits.shape[-1])
    return (p - one_hot) * (p * one_hot).sum(dim=-1, keepdim=True) / targets.numel()


def cross_entropy_backward__by_probability(logits, targets):
    """求成了对概率的导数 −1/p | the derivative by the probability, -1/p"""
    p, one_hot = logits.softmax(dim=-1), F.one_hot(targets.long(), logits.shape[-1])
    return -one_hot / p / targets.numel()


def cross_entropy_backward__overflow(logits, targets):
    """没有先减最大值，指数会上溢 | the maximum is not subtracted: the exponential overflows"""
    p = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)
    return (p - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()


def cross_entropy_backward__over_time(logits, targets):
    """softmax 沿时间轴做了 | the softmax runs along time"""
    axis = -2 if logits.dim() > 1 else -1
    return (logits.softmax(dim=axis) - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()


def cross_entropy_backward__all_rows(logits, targets):
    """每一行都减了所有位置的目标 | every row is less the targets of all positions"""
    p = logits.softmax(dim=-1)
    p[..., targets.long().reshape(-1)] -= 1
    return p / targets.numel()


def cross_entropy_backward__shifted_again(logits, targets):
    """目标又错了一位 | the targets are shifted once more"""
    later = targets.long().roll(-1, dims=-1) if targets.dim() else targets.long()
    return (logits.softmax(dim=-1) - F.one_hot(later, logits.shape[-1])) / targets.numel()


def cross_entropy_backward__softmax_twice(logits, targets):
    """softmax 做了两次 | softmax applied twice"""
    p = logits.softmax(dim=-1).softmax(dim=-1)
    return (p - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()


def cross_entropy_backward__in_place(logits, targets):
    """原地计算，改写了 logits | computed in place: the logits are overwritten"""
    logits.sub_(logits.max(dim=-1, keepdim=True).values).exp_()
    p = logits / logits.sum(dim=-1, keepdim=True)
    return (p - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()


def cross_entropy_backward__summed(logits, targets):
    """把各位置的梯度加成了一行 | the gradients of all positions are added into one row"""
    rows = (logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()
    return rows.reshape(-1, logits.shape[-1]).sum(dim=0)


def cross_entropy_backward__float32(logits, targets):
    """先转成了 float32，类型变了 | turned into float32: the dtype changed"""
    return (logits.float().softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / targets.numel()


def cross_entropy_backward__library(logits, targets):
    """让 autograd 代劳了 | left to autograd"""
    leaf = logits.detach().clone().requires_grad_()
    value = -leaf.log_softmax(dim=-1).gather(-1, targets.long().unsqueeze(-1)).mean()
    return torch.autograd.grad(value, leaf)[0]


# parameter_ledger


def parameter_ledger__one_block(V, C, N, d, f):
    """漏了块数 N | the number of blocks is missing"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": 4 * d * d}
    rows |= {"feedforward_weights": 2 * d * f, "feedforward_biases": f + d, "block_norms": 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__tables_swapped(V, C, N, d, f):
    """词元表和位置表的行数调换了 | the rows of the two tables exchanged"""
    rows = {"token_embedding": C * d, "position_embedding": V * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__attention_biases(V, C, N, d, f):
    """注意力算上了偏置 | the attention is counted with biases"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * (d * d + d)}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__no_output_projection(V, C, N, d, f):
    """漏了注意力的输出投影 | the attention's output projection is missing"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 3 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__one_matrix(V, C, N, d, f):
    """前馈只算了一个矩阵 | one matrix of the feed-forward only"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__inner_bias_only(V, C, N, d, f):
    """前馈只算了第一层的偏置 | the bias of the feed-forward's first layer only"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * f, "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__one_norm(V, C, N, d, f):
    """每块只算了一套归一化 | one LayerNorm a block"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 2 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__no_beta(V, C, N, d, f):
    """归一化漏了 β | the LayerNorms are counted without beta"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 2 * d}
    return rows | {"final_norm": d, "head": V * d}


def parameter_ledger__final_each_block(V, C, N, d, f):
    """最终归一化每块都算了一次 | the final LayerNorm counted once a block"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": N * 2 * d, "head": V * d}


def parameter_ledger__tied(V, C, N, d, f):
    """head 算成了与词元表绑定 | the head counted as tied to the token table"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": 0}


def parameter_ledger__head_bias(V, C, N, d, f):
    """head 算上了偏置 | the head counted with a bias"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d + V}


def parameter_ledger__total_row(V, C, N, d, f):
    """多了一行合计，总和翻了倍 | a row with the total: the sum of the rows is doubled"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    rows |= {"final_norm": 2 * d, "head": V * d}
    return rows | {"total": sum(rows.values())}


def parameter_ledger__floats(V, C, N, d, f):
    """用了除法，返回的是小数 | a division makes floats"""
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 8 * d / 2}
    return rows | {"final_norm": 2 * d, "head": V * d}


def parameter_ledger__d_and_f(V, C, N, d, f):
    """d 和 f 调换了 | d and f exchanged"""
    d, f = f, d
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": N * 4 * d * d}
    rows |= {"feedforward_weights": N * 2 * d * f, "feedforward_biases": N * (f + d), "block_norms": N * 4 * d}
    return rows | {"final_norm": 2 * d, "head": V * d}


# predictions


def prediction_registered__both():
    """把同一个块数了两次 | one block counted twice"""
    return 312


def prediction_registered__none():
    """以为列表里的都不登记 | nothing in the list is thought to be registered"""
    return 0


def prediction_cached_shapes__past_in_logits():
    """以为过去的词元也有 logits | the tokens of the past are thought to have logits too"""
    return ((2, 5, 10), (2, 2, 5, 2))


def prediction_cached_shapes__new_keys_only():
    """以为缓存里只有新词元 | only the new tokens are thought to be in the cache"""
    return ((2, 3, 10), (2, 2, 3, 2))


def prediction_cached_shapes__hidden_width():
    """把 logits 的宽度写成了 d | d is given as the width of the logits"""
    return ((2, 3, 4), (2, 2, 5, 2))


def prediction_zero_head__zero():
    """以为全零的 logits 没有损失 | logits of zero are thought to have no loss"""
    return 0.0


def prediction_zero_head__probability():
    """写成了概率 1/V | the probability 1/V instead of its surprise"""
    return 0.1


def prediction_zero_head__bits():
    """用了以 2 为底的对数 | the logarithm to base 2"""
    return 3.321928


def prediction_gradient__softmax():
    """只写了 softmax，没有减独热 | the softmax, without the one-hot"""
    return (0.25, 0.75)


def prediction_gradient__sign():
    """符号反了 | the sign is turned"""
    return (0.75, -0.75)


def prediction_gradient__other_target():
    """按目标是 1 算了 | computed for the target 1"""
    return (0.25, -0.25)


def prediction_unused_rows__repeated():
    """6 个输入词元，没有去掉重复的 | the 6 input tokens, with the repeated one counted twice"""
    return (4, 3, 0)


def prediction_unused_rows__all_used():
    """以为每一行都有梯度 | every row is thought to have a gradient"""
    return (0, 0, 0)


def prediction_unused_rows__targets():
    """把只作目标的词元也算成读过 | tokens that are only targets counted as read"""
    return (3, 3, 0)


def prediction_unused_rows__head():
    """以为 head 只有目标的那几行有梯度 | only the targets' rows of the head are thought to have a gradient"""
    return (5, 3, 5)


def prediction_unused_rows__positions():
    """以为位置表每一行都有梯度 | every row of the position table is thought to have a gradient"""
    return (5, 0, 0)
