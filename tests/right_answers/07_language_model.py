"""Right answers to the exercises of chapter 07, each written another way; see docs/authoring.md for the form."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from hero_transformer.model import Config, TransformerBlock


def make_blocks__append(config):
    """逐个追加 | appended one by one"""
    blocks = nn.ModuleList()
    for _ in range(config.n_layers):
        blocks.append(TransformerBlock(config))
    return blocks


def make_blocks__list(config):
    """先列表推导，再包起来 | a list first, then wrapped"""
    return nn.ModuleList([TransformerBlock(config) for _ in range(config.n_layers)])


def make_blocks__deepcopy(config):
    """深复制：初值相同，参数各是各的 | deep copies: equal at first, and each with its own parameters"""
    import copy

    first = TransformerBlock(config)
    return nn.ModuleList([first, *(copy.deepcopy(first) for _ in range(config.n_layers - 1))])


def make_blocks__subclass(config):
    """ModuleList 的子类 | a subclass of ModuleList"""

    class Blocks(nn.ModuleList):
        pass

    return Blocks(TransformerBlock(config) for _ in range(config.n_layers))


def language_model__copied_pasts(self, ids, past_key_values=None, use_cache=False):
    """复制传入的列表，逐个换成新的 | a copy of the list, replaced one by one"""
    kept = list(past_key_values or [None] * len(self.blocks))
    x = self.token_embedding(ids)
    x = self.dropout(self.position_embedding(x, 0 if kept[-1] is None else kept[-1][1].size(2)))
    for n, block in enumerate(self.blocks):
        x, kept[n] = block(x, kept[n], use_cache)
    return self.head(self.ln_final(x)), kept if use_cache else None


def language_model__two_cases(self, ids, past_key_values=None, use_cache=False):
    """分有无过去两种情形 | the two cases apart"""
    if past_key_values is None:
        x = self.dropout(self.position_embedding(self.token_embedding(ids)))
        results = []
        for block in self.blocks:
            x, present = block(x, use_cache=use_cache)
            results.append(present)
    else:
        x = self.position_embedding(self.token_embedding(ids), past_key_values[0][0].size(-2))
        x, results = self.dropout(x), []
        for number, block in enumerate(self.blocks):
            x, present = block(x, past_key_value=past_key_values[number], use_cache=use_cache)
            results.append(present)
    return self.head(self.ln_final(x)), (results if use_cache else None)


def language_model__matrices(self, ids, past_key_values=None, use_cache=False):
    """表自己查，head 自己乘 | the tables looked up and the head multiplied by hand"""
    start = past_key_values[0][1].shape[-2] if past_key_values else 0
    x = self.token_embedding.weight[ids.long()] + self.position_embedding.weight[start : start + ids.shape[1]]
    x, presents = self.dropout(x), [] if use_cache else None
    for place in range(len(self.blocks)):
        x, kv = self.blocks[place](x, past_key_values[place] if past_key_values else None, use_cache)
        if presents is not None:
            presents.append(kv)
    return self.ln_final(x) @ self.head.weight.T, presents


def language_model__iterator(self, ids, past_key_values=None, use_cache=False):
    """用迭代器取过去 | the pasts taken from an iterator"""
    pasts = iter(past_key_values or ())
    length = next((past[0].shape[2] for past in past_key_values or ()), 0)
    stream = self.dropout(self.position_embedding(self.token_embedding(ids), length))
    kept = []
    for block in self.blocks:
        stream, one = block(stream, next(pasts, None), use_cache)
        kept += [one]
    return self.head(self.ln_final(stream)), kept if use_cache else None


def shift_targets__narrow(ids):
    """用 narrow | by narrow"""
    T = ids.shape[1] - 1
    return ids.narrow(1, 0, T), ids.narrow(1, 1, T)


def shift_targets__copies(ids):
    """复制出来的 | as copies"""
    return ids[..., :-1].clone(), ids[..., 1:].contiguous()


def shift_targets__windows(ids):
    """两个一组的窗口 | windows of two"""
    windows = ids.unfold(1, 2, 1)  # [B, T, 2]
    return windows[..., 0], windows[..., 1]


def cross_entropy__maximum_added_back(logits, targets):
    """最大值先减后加 | the maximum subtracted and added back"""
    top = logits.amax(dim=-1)
    total = top + (logits - top.unsqueeze(-1)).exp().sum(dim=-1).log()
    return (total - logits.take_along_dim(targets.long().unsqueeze(-1), dim=-1).squeeze(-1)).mean()


def cross_entropy__rows(logits, targets):
    """拉平之后按行号取 | flattened, picked by row number"""
    rows, y = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1).long()
    rows = rows - rows.max(dim=1, keepdim=True)[0]
    return (rows.exp().sum(dim=1).log() - rows[torch.arange(len(y)), y]).sum() / len(y)


def cross_entropy__one_hot(logits, targets):
    """用独热挑出目标 | the target picked by its one-hot"""
    rest = logits - logits.detach().amax(dim=-1, keepdim=True)
    log_p = rest - torch.log(torch.sum(torch.exp(rest), dim=-1, keepdim=True))
    return -(log_p * F.one_hot(targets.long(), logits.shape[-1])).sum() / targets.numel()


def cross_entropy_backward__softmax(logits, targets):
    """softmax 减独热 | softmax less one-hot"""
    count = math.prod(targets.shape)
    return (logits.softmax(dim=-1) - F.one_hot(targets.long(), logits.shape[-1])) / count


def cross_entropy_backward__rows(logits, targets):
    """拉平，在目标处减一 | flattened, one less at the target"""
    rows = torch.softmax(logits.reshape(-1, logits.shape[-1]), dim=1)
    rows[torch.arange(len(rows)), targets.reshape(-1).long()] -= 1
    return (rows / len(rows)).reshape(logits.shape)


def cross_entropy_backward__compare(logits, targets):
    """用比较造出独热 | the one-hot made by comparison"""
    p = (logits - logits.logsumexp(dim=-1, keepdim=True)).exp()
    is_target = torch.arange(logits.shape[-1]) == targets.unsqueeze(-1)
    return torch.where(is_target, p - 1, p).div(targets.numel())


def parameter_ledger__blocks_first(V, C, N, d, f):
    """先写一个块，再乘块数 | one block first, then times N"""
    block = {
        "attention": 4 * d**2,
        "feedforward_weights": d * f + f * d,
        "feedforward_biases": d + f,
        "block_norms": 4 * d,
    }
    table = {"token_embedding": V * d, "position_embedding": C * d}
    return {**table, **{name: N * count for name, count in block.items()}, "final_norm": d + d, "head": d * V}


def parameter_ledger__other_order(V, C, N, d, f):
    """行的次序不同 | the rows in another order"""
    rows = {}
    rows["head"] = rows["token_embedding"] = V * d
    rows["position_embedding"], rows["final_norm"] = C * d, 2 * d
    rows["block_norms"], rows["attention"] = 2 * N * rows["final_norm"], N * (2 * d) ** 2
    rows["feedforward_weights"], rows["feedforward_biases"] = 2 * N * d * f, N * d + N * f
    return rows


def parameter_ledger__counted(V, C, N, d, f):
    """造出零件来数 | parts made and counted"""
    block = TransformerBlock(Config(V, C, d, 1, 1, f))
    sizes = {name: parameter.numel() for name, parameter in block.named_parameters()}
    weights = N * sum(count for name, count in sizes.items() if "linear" in name and "weight" in name)
    biases = N * sum(count for name, count in sizes.items() if "linear" in name and "bias" in name)
    attention = N * sum(count for name, count in sizes.items() if name.startswith("attention."))
    norms = N * sum(count for name, count in sizes.items() if name.startswith("ln_"))
    rows = {"token_embedding": V * d, "position_embedding": C * d, "attention": attention, "head": V * d}
    return rows | {
        "feedforward_weights": weights,
        "feedforward_biases": biases,
        "block_norms": norms,
        "final_norm": 2 * d,
    }


def prediction_registered__product():
    """由公式算出 | by the formula"""
    return 4 * 4**2 + 2 * 4 * 8 + 8 + 5 * 4


def prediction_cached_shapes__lists():
    """写成列表 | written as lists"""
    return [[2, 3, 10], [2, 2, 5, 2]]


def prediction_zero_head__formula():
    """由公式算出 | by the formula"""
    return math.log(10)


def prediction_gradient__tensor():
    """写成张量 | a tensor"""
    return torch.tensor([-0.75, 0.75])


def prediction_unused_rows__list():
    """写成列表 | a list"""
    return [5, 3, 0]
