"""The loss of next-token prediction and its gradient (chapter 07).

Shape letters: B batch, T predictions in a sequence, V vocabulary. "..." stands for any leading
axes, usually B T.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch

from .arguments import checked_by, describe
from .tensor_arguments import INTEGER_DTYPES, autocasts, check_range, two_axes

__all__ = ["cross_entropy", "cross_entropy_backward", "shift_targets"]


def _check_sequences(ids: Any) -> None:
    expected = "ids must be an integer tensor [B, T + 1] with at least two tokens, one to read and one to predict"
    if not isinstance(ids, torch.Tensor) or ids.dtype not in INTEGER_DTYPES:
        raise ValueError(f"{expected}; received {describe(ids)}. Build it with torch.tensor(..., dtype=torch.int64).")
    if ids.dim() != 2 or ids.numel() == 0:
        raise ValueError(f"{expected}; received {describe(ids)}. {two_axes(ids)}")
    if ids.shape[1] < 2:
        raise ValueError(f"{expected}; received {describe(ids)}. Pass longer sequences.")


@checked_by(_check_sequences)
def shift_targets(ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Split sequences into what the model reads and what it must predict there.

    The target of position t is the token at t + 1. So the last token is never read and the first
    is never predicted, and the shift is made here, once: neither the model nor the loss shifts.

    Args:
        ids: [B, T + 1], integers; they stay as they were.

    Returns:
        inputs [B, T] and targets [B, T], of the dtype of ``ids``.

    Raises:
        ValueError: when ``ids`` is not an integer tensor with two axes and two tokens a sequence.

    Example:
        >>> inputs, targets = shift_targets(torch.tensor([[5, 7, 2, 3]]))
        >>> inputs.tolist(), targets.tolist()
        ([[5, 7, 2]], [[7, 2, 3]])

    Source: chapter 07.
    """
    ### BEGIN SOLUTION
    return ids[:, :-1], ids[:, 1:]
    ### END SOLUTION


def _check_predictions(logits: Any, targets: Any) -> None:
    floating = isinstance(logits, torch.Tensor) and logits.is_floating_point()
    if not floating or logits.dim() < 1 or logits.numel() == 0:
        raise ValueError(
            "logits must be a floating-point tensor [..., V], not empty; received "
            f"{describe(logits)}. Pass the first of the two values that the model returns."
        )
    if not isinstance(targets, torch.Tensor) or targets.dtype not in INTEGER_DTYPES:
        raise ValueError(
            f"targets must be an integer tensor of ids; received {describe(targets)}. Pass ids, "
            "not one-hot rows or probabilities; convert whole numbers with targets.long()."
        )
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets must have the shape of logits without the last axis, "
            f"{list(logits.shape[:-1])}; received {describe(targets)}. "
            "Take inputs and targets from one call of shift_targets."
        )
    check_range(targets, logits.shape[-1], "target", "Encode the text with the tokenizer of this model.")


def _in_float32_under_autocast(function: Callable) -> Callable:
    """Give a function of logits float32 where autocast made them shorter, as torch's own losses are given it.

    A formula of exp, sum and log is not on autocast's list of what needs float32; in bfloat16 a loss has two digits.
    """

    @functools.wraps(function)
    def widened(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        short = autocasts(logits) and logits.dtype in (torch.bfloat16, torch.float16)
        return function(logits.float() if short else logits, targets)

    return widened


@checked_by(_check_predictions)
@_in_float32_under_autocast
def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean of -ln p(target) over all positions, in nats; p is the softmax of the logits.

    At one position -ln p(y) = ln(sum_j exp(s_j)) - s_y. A constant added to all logits of a
    position changes nothing, so their maximum is subtracted first: the largest exponential is then
    exp(0) = 1 and none overflows, however large the logits are.

    Args:
        logits: [..., V], floating point, scores that are not normalised; they stay as they were.
        targets: [...], integers with 0 <= target < V. They are not shifted here.

    Returns:
        A scalar in the dtype of ``logits`` (under autocast in float32), at least 0; equal logits give
        ln V.

    Raises:
        ValueError: when the shapes do not fit, a target is out of range, or targets are not
            integers.

    Example:
        >>> logits = torch.tensor([[0.0, 3.0], [0.0, 3.0]]).log1p()  # (0, ln 4), twice
        >>> cross_entropy(logits, torch.tensor([0, 1]))  # the mean of ln 5 and ln 5/4
        tensor(0.9163)

    Source: chapter 07.
    """
    ### BEGIN SOLUTION
    below = logits - logits.max(dim=-1, keepdim=True).values  # [..., V], every entry at most 0
    log_total = below.exp().sum(dim=-1).log()  # [..., V] -> [...]
    chosen = below.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)  # [..., V] -> [...]
    return (log_total - chosen).mean()
    ### END SOLUTION


@checked_by(_check_predictions)
@_in_float32_under_autocast
def cross_entropy_backward(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The gradient of ``cross_entropy`` with respect to the logits: (softmax - one-hot) / count.

    The count is the number of positions, the product of the sizes of "...". At each position the V
    numbers add up to 0: what is taken from the other tokens is given to the target.

    Args:
        logits: [..., V], floating point; they stay as they were.
        targets: [...], integers with 0 <= target < V.

    Returns:
        The shape and dtype of ``logits`` (under autocast float32).

    Raises:
        ValueError: as ``cross_entropy`` does.

    Example:
        >>> logits = torch.tensor([[0.0, 3.0], [0.0, 3.0]]).log1p()
        >>> cross_entropy_backward(logits, torch.tensor([0, 1]))  # (0.2, 0.8) less (1, 0), over 2; ...
        tensor([[-0.4000,  0.4000],
                [ 0.1000, -0.1000]])

    Source: chapter 07.
    """
    ### BEGIN SOLUTION
    weights = (logits - logits.max(dim=-1, keepdim=True).values).exp()
    gradient = weights / weights.sum(dim=-1, keepdim=True)  # the softmax, [..., V]
    places = targets.long().unsqueeze(-1)  # [...] -> [..., 1]
    gradient.scatter_add_(-1, places, -torch.ones_like(gradient[..., :1]))
    return gradient / targets.numel()
    ### END SOLUTION
