"""What an exercise may not call while it is checked: the functions of torch that would be its whole answer."""

from collections.abc import Callable

import torch
from torch.nn import functional as F

__all__ = ["BARRED"]

# torch's own lookups; nn.Embedding calls the first
_LOOKUPS = (
    F.embedding, torch.embedding, torch.ops.aten.embedding, torch.ops.aten.embedding.default,
    F.embedding_bag, torch.embedding_bag,
)  # fmt: skip

# autograd, in reverse and in forward mode; torch.func and torch.autograd.functional call these
_AUTOGRAD = (torch.autograd.grad, torch.autograd.backward, torch.Tensor.backward, torch._VF._make_dual)


def _by_autograd(*operations: str) -> tuple[Callable, ...]:
    """Autograd, and torch's own backward operations of these names."""
    packets = [getattr(torch.ops.aten, name) for name in operations]
    return (*_AUTOGRAD, *packets, *(packet.default for packet in packets))


# the loss itself, and its only hard part, the logarithm of a sum of exponentials
_LOSSES = (
    F.cross_entropy, F.nll_loss, torch._C._nn.cross_entropy_loss, torch._C._nn.nll_loss, torch._C._nn.nll_loss_nd,
    F.log_softmax, torch.log_softmax, torch.Tensor.log_softmax, torch.special.log_softmax,
    torch.logsumexp, torch.Tensor.logsumexp, torch.special.logsumexp,
)  # fmt: skip

# The functions that would be the whole answer, refused while that exercise is checked.
BARRED: dict[str, tuple[Callable, ...]] = {
    # nn.MultiheadAttention calls the second
    "attention.attend": (F.scaled_dot_product_attention, F.multi_head_attention_forward),
    "attention.CausalSelfAttention.forward": (F.scaled_dot_product_attention, F.multi_head_attention_forward),
    "model.gelu": (F.gelu,),
    # group_norm with one group, and batch_norm with positions as channels, are the same computation
    "model.LayerNorm.forward": (
        F.layer_norm, torch.layer_norm, torch.native_layer_norm,
        F.group_norm, torch.group_norm, F.batch_norm, torch.batch_norm, F.instance_norm, F.rms_norm,
    ),
    "embedding.embed": _LOOKUPS,
    "embedding.one_hot_matmul": _LOOKUPS,
    # autograd would find the gradient from the lookup; the exercise is to write its rule
    "embedding.embedding_backward": _by_autograd("embedding_dense_backward"),
    "embedding.nearest_tokens": (F.cosine_similarity,),  # nn.CosineSimilarity calls it
    "gradients.finite_difference": _AUTOGRAD,
    "gradients.linear_backward": _by_autograd("linear_backward"),
    "gradients.gelu_backward": _by_autograd("gelu_backward"),
    "gradients.layer_norm_backward": _by_autograd("native_layer_norm_backward"),
    "gradients.residual_backward": _AUTOGRAD,
    "gradients.attention_backward": (*_by_autograd("_softmax_backward_data"), torch._softmax_backward_data),
    "gradients.block_backward": _by_autograd("gelu_backward", "native_layer_norm_backward", "_softmax_backward_data"),
    "loss.cross_entropy": _LOSSES,  # nn.CrossEntropyLoss calls the first
    # autograd would find it from the loss; the exercise is to write softmax less one-hot
    "loss.cross_entropy_backward": _by_autograd("nll_loss_backward", "_log_softmax_backward_data"),
}
