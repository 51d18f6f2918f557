"""What an exercise may not call while it is checked: the functions of torch that would be its whole answer."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any

import torch
from torch.nn import functional as F

__all__ = ["BARRED", "Barred", "raised"]

_HOMES = (torch, torch.Tensor, F, torch.special, torch._C._nn)


class Barred:
    """Functions of torch by name, wherever they are to be had. A name that this torch does not have bars nothing.

    Args:
        names: an operation's, such as ``gelu``, for all that has this name; or with a dot, for a place below ``torch``.

    Example:
        >>> gelu = Barred("gelu")
        >>> F.gelu in gelu, torch.ops.aten.gelu in gelu, torch.ops.aten.gelu.out in gelu, torch.erf in gelu
        (True, True, True, False)
        >>> torch.autograd.grad in Barred("autograd.grad"), Barred("autograd.no_such_name").functions
        (True, frozenset())
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    @cached_property
    def functions(self) -> frozenset[Callable]:
        """The functions of these names, looked up when one is first asked for."""
        found = [_below(torch, name) for name in self.names if "." in name]
        plain = [name for name in self.names if "." not in name]
        found += [getattr(home, name + end, None) for name in plain for end in ("", "_") for home in _HOMES]
        return frozenset(one for one in found if one is not None)

    def __contains__(self, function: Any) -> bool:
        packet = getattr(function, "overloadpacket", function)
        operation = getattr(packet, "_qualified_op_name", "")
        return operation.removeprefix("aten::").rstrip("_") in self._operations or function in self.functions

    @cached_property
    def _operations(self) -> frozenset[str]:
        return frozenset(name for name in self.names if "." not in name)

    def of(self, graph: Any) -> str | None:
        """The first of these operations that compiled code has, or None."""
        copy = graph.copy()
        torch._C._jit_pass_inline(copy)
        return next((name for name in re.findall(r"aten::(\w+)\(", str(copy)) if name in self._operations), None)


def _below(home: Any, path: str) -> Any:
    for name in path.split("."):
        home = getattr(home, name, None)
    return home


@contextmanager
def raised(
    bar: Callable[[], AbstractContextManager], barred: Barred, refuse: Callable[[str], Exception]
) -> Iterator[None]:
    """Raise a bar, in the threads that are started below it, too, and for code that torch has compiled before.

    Args:
        bar: makes the context in which a barred function is refused; it counts for one thread.
        barred: what is refused.
        refuse: the error for an operation's name.
    """
    start = threading.Thread.start

    def start_below(thread: threading.Thread) -> None:
        run = thread.run

        def run_below() -> None:
            with bar():
                run()

        thread.run = run_below  # type: ignore[method-assign]
        start(thread)

    compiled = {kind: kind.__call__ for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod)}
    threading.Thread.start = start_below  # type: ignore[method-assign]
    for kind, call in compiled.items():
        kind.__call__ = _unless(call, barred, refuse)
    try:
        with bar():
            yield
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]
        for kind, call in compiled.items():
            kind.__call__ = call


def _unless(call: Callable, barred: Barred, refuse: Callable[[str], Exception]) -> Callable:
    """A call of compiled code, refused if it has a barred operation."""

    def checked(compiled: Any, *args: Any, **kwargs: Any) -> Any:
        name = barred.of(compiled.graph)
        if name is not None:
            raise refuse(name)
        return call(compiled, *args, **kwargs)

    return checked


# torch's own lookups; nn.Embedding calls the first
_LOOKUPS = Barred("embedding", "embedding_bag", "_embedding_bag")

# nn.MultiheadAttention calls the second
_ATTENTION = Barred(
    "scaled_dot_product_attention", "multi_head_attention_forward", "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention_for_cpu", "_native_multi_head_attention", "_transformer_encoder_layer_fwd",
)  # fmt: skip

# autograd, in reverse and in forward mode; torch.func and torch.autograd.functional call these
_AUTOGRAD = ("autograd.grad", "autograd.backward", "Tensor.backward", "_VF._make_dual")

# The functions that would be the whole answer, refused while that exercise is checked.
BARRED: dict[str, Barred] = {
    "attention.attend": _ATTENTION,
    "attention.CausalSelfAttention.forward": _ATTENTION,
    "model.gelu": Barred("gelu"),
    # group_norm with one group, and batch_norm with positions as channels, are the same computation
    "model.LayerNorm.forward": Barred(
        "layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "batch_norm", "native_batch_norm",
        "_native_batch_norm_legit", "_batch_norm_impl_index", "instance_norm", "rms_norm", "_fused_rms_norm",
    ),
    "embedding.embed": _LOOKUPS,
    "embedding.one_hot_matmul": _LOOKUPS,
    # autograd would find the gradient from the lookup; the exercise is to write its rule
    "embedding.embedding_backward": Barred(*_AUTOGRAD, "embedding_dense_backward", "embedding_backward"),
    "embedding.nearest_tokens": Barred("cosine_similarity"),  # nn.CosineSimilarity calls it
    "gradients.finite_difference": Barred(*_AUTOGRAD),
    "gradients.linear_backward": Barred(*_AUTOGRAD, "linear_backward"),
    "gradients.gelu_backward": Barred(*_AUTOGRAD, "gelu_backward"),
    "gradients.layer_norm_backward": Barred(*_AUTOGRAD, "native_layer_norm_backward"),
    "gradients.residual_backward": Barred(*_AUTOGRAD),
    "gradients.attention_backward": Barred(*_AUTOGRAD, "_softmax_backward_data"),
    "gradients.block_backward": Barred(
        *_AUTOGRAD, "gelu_backward", "native_layer_norm_backward", "_softmax_backward_data"
    ),
    # the loss itself, and its only hard part, the logarithm of a sum of exponentials
    "loss.cross_entropy": Barred(
        "cross_entropy", "cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss2d", "nll_loss_forward",
        "nll_loss2d_forward", "log_softmax", "_log_softmax", "special_log_softmax", "logsumexp", "special_logsumexp",
    ),
    # autograd would find it from the loss; the exercise is to write softmax less one-hot
    "loss.cross_entropy_backward": Barred(*_AUTOGRAD, "nll_loss_backward", "_log_softmax_backward_data"),
}  # fmt: skip
