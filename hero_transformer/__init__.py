"""A decoder-only transformer, built from torch tensors one chapter at a time.

The package is the library that the book teaches. Each module belongs to the chapter that
introduces it, and imports only from its own or earlier chapters: ``arguments`` and ``config`` (any), ``tokenizer``
(01), ``embedding`` (02), ``position`` (03), ``attention`` (04), ``model`` (05 and 07), ``gradients``
(06), ``loss``, ``ledger`` and ``gpt2`` (07).

From a configuration to logits:

>>> import torch
>>> from hero_transformer import Config, TransformerLM, parameter_count
>>> config = Config(vocab_size=32, block_size=64, d_model=64, n_heads=4, n_layers=2, d_ff=256)
>>> model = TransformerLM(config).eval()
>>> sum(parameter.numel() for parameter in model.parameters())
107776
>>> parameter_count(32, 64, 2, 64, 256)
107776
>>> ids = torch.tensor([[3, 1, 4, 1, 5]])             # [B, T] = [1, 5]
>>> logits, presents = model(ids)
>>> logits.shape                                      # [B, T, V]
torch.Size([1, 5, 32])
>>> presents is None                                  # no cache was asked for
True

With ``use_cache=True`` the keys and values come back, and later tokens need not repeat the work:

>>> _, presents = model(ids[:, :3], use_cache=True)
>>> chunk, presents = model(ids[:, 3:], presents, use_cache=True)
>>> torch.allclose(chunk, logits[:, 3:], atol=1e-5)
True

A text is its own answer sheet: at every position the token to be predicted is the next one. The
loss is the mean surprise, -ln p. A head of zeros prefers no token, so there it is ln V = ln 32:

>>> from hero_transformer import cross_entropy, shift_targets
>>> inputs, targets = shift_targets(ids)              # [B, T + 1] -> two of [B, T]
>>> targets.tolist()
[[1, 4, 1, 5]]
>>> logits, _ = model(inputs)
>>> loss = cross_entropy(logits, targets)             # a scalar; loss.backward() fills the gradients
>>> loss.requires_grad
True
>>> cross_entropy(torch.zeros_like(logits), targets)  # ln 32
tensor(3.4657)
"""

from . import gradients as gradients
from .attention import CausalSelfAttention
from .config import Config
from .gpt2 import gpt2_state_dict
from .ledger import diagnose_count, parameter_ledger
from .loss import cross_entropy, cross_entropy_backward, shift_targets
from .model import (
    FeedForward,
    LayerNorm,
    TransformerBlock,
    TransformerLM,
    gelu,
    make_blocks,
    parameter_count,
)
from .tokenizer import BPETokenizer, CharTokenizer

# Which edition this copy is: the build rewrites this line to the chapter of a learner's edition.
EDITION = "reference"
__version__ = "0.1.0"

__all__ = [
    "EDITION",
    "BPETokenizer",
    "CausalSelfAttention",
    "CharTokenizer",
    "Config",
    "FeedForward",
    "LayerNorm",
    "TransformerBlock",
    "TransformerLM",
    "cross_entropy",
    "cross_entropy_backward",
    "diagnose_count",
    "gelu",
    "gpt2_state_dict",
    "make_blocks",
    "parameter_count",
    "parameter_ledger",
    "shift_targets",
]
