"""The backward pass of a decoder block, each part by its own rule (chapter 06).

Shape letters: B batch, T tokens, d width of a hidden vector, h heads, d_h = d / h, f inner width of
the feed-forward. "..." stands for any leading axes.

``upstream`` is always the gradient of one number L with respect to the output of a part, and has the
shape of that output. A backward function returns the gradients of L with respect to the inputs of the
part and to its parameters, each in the shape of what it belongs to. Nothing is changed in place.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .arguments import check_eps, check_function, check_parts, checked_by, describe
from .attention import causal_mask, merge_heads, scaled_scores, split_heads
from .model import gelu
from .tensor_arguments import check_features, check_floating, check_hidden, check_same, first_parameter

__all__ = ["attention_backward", "block_backward", "finite_difference", "gelu_backward"]
__all__ += ["layer_norm_backward", "linear_backward", "residual_backward", "softmax_backward"]


def _check_point(function: Callable[..., Any], x: torch.Tensor, step: float = 1e-6) -> None:
    check_function("Pass a function of a tensor that returns one number.", function=function)
    check_floating("Convert it with .double().", x=x)
    number = isinstance(step, (int, float)) and not isinstance(step, bool)
    if not (number and 0 < step < math.inf):  # NaN fails every comparison
        raise ValueError(f"step = {step!r} must be a number, positive and finite; pass 1e-6.")


@checked_by(_check_point)
def finite_difference(
    function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, step: float = 1e-6
) -> torch.Tensor:
    """Estimate the gradient of a function with one number as its value, by central differences.

    Entry i is (L(x + step e_i) - L(x - step e_i)) / (2 step), one entry of x at a time. In exact
    arithmetic the error shrinks with step^2; rounding adds one that grows with 1 / step.

    Args:
        function: takes a tensor of the shape and dtype of ``x`` and returns a tensor with one entry.
        x: where the gradient is wanted, any shape, floating point; it is not changed in place.
        step: how far each entry is moved; positive, 1e-6 by default, which suits float64.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        ValueError: when ``function`` is none, ``x`` is not floating point or ``step`` is not positive.

    Example:
        >>> x = torch.tensor([3.0, 4.0], dtype=torch.float64)
        >>> finite_difference(torch.norm, x).round(decimals=6)
        tensor([0.6000, 0.8000], dtype=torch.float64)

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    gradient = x.new_zeros(x.numel())
    for place in range(x.numel()):
        moved = x.new_zeros(x.numel())
        moved[place] = step
        moved = moved.reshape(x.shape)
        gradient[place] = (function(x + moved) - function(x - moved)) / (2 * step)
    return gradient.reshape(x.shape)
    ### END SOLUTION


def _check_linear(upstream: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> None:
    tensors = (upstream, x, weight)
    fits = all(isinstance(one, torch.Tensor) and one.is_floating_point() and one.dim() for one in tensors)
    if fits and weight.dim() == 2:
        fits = upstream.shape == (*x.shape[:-1], weight.shape[0]) and x.shape[-1] == weight.shape[1]
    if not fits or weight.dim() != 2:
        received = ", ".join(map(describe, tensors))
        raise ValueError(
            "upstream [..., out], x [..., in] and weight [out, in] must be floating-point tensors that agree on out, "
            f"in and the leading axes; received {received}. Pass the weight as nn.Linear stores it."
        )
    check_floating(upstream=upstream, x=x, weight=weight)


@checked_by(_check_linear)
def linear_backward(
    upstream: torch.Tensor, x: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of y = x weight^T + bias, as ``nn.Linear`` computes it.

    Every position has its own x and uses the same weight and bias, so the gradients of these two are
    sums over all positions; that of x is not.

    Args:
        upstream: dL/dy [..., out].
        x: what the layer was given, [..., in], same leading axes; there may be none.
        weight: [out, in], as ``nn.Linear`` stores it.

    Returns:
        dL/dx [..., in], dL/dweight [out, in] and dL/dbias [out]; a layer without bias has no use for the third.

    Raises:
        ValueError: when the shapes or dtypes do not agree or a tensor is not floating point.

    Example:
        >>> x, weight = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0], [3.0, 1.0]])
        >>> linear_backward(torch.tensor([[1.0, 10.0]]), x, weight)
        (tensor([[31., 10.]]), tensor([[ 1.,  2.],
                [10., 20.]]), tensor([ 1., 10.]))

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    grad_x = upstream @ weight  # [..., out] @ [out, in] -> [..., in]
    places = upstream.reshape(-1, weight.shape[0])  # [..., out] -> [P, out], P positions in all
    grad_weight = places.T @ x.reshape(-1, weight.shape[1])  # [out, P] @ [P, in] -> [out, in]
    return grad_x, grad_weight, places.sum(dim=0)
    ### END SOLUTION


@checked_by(lambda upstream, x: check_same(upstream=upstream, x=x))
def gelu_backward(upstream: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Gradient of the exact GELU, entry by entry: upstream * (Phi(x) + x phi(x)).

    Phi is the distribution function of the standard normal and phi(x) = exp(-x^2 / 2) / sqrt(2 pi)
    its derivative. The slopes at x and -x add up to 1.

    Args:
        upstream: dL/dg(x), the shape of ``x``.
        x: what ``gelu`` was given, any shape, floating point.

    Returns:
        dL/dx, the shape of ``x``.

    Raises:
        ValueError: when the two are not floating-point tensors of one shape and one dtype.

    Example:
        >>> gelu_backward(torch.ones(3), torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.0833,  0.5000,  1.0833])

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    probability = 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))  # Phi
    density = torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)  # phi, the derivative of Phi
    return upstream * (probability + x * density)
    ### END SOLUTION


def _check_norm(upstream: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> None:
    check_same(upstream=upstream, x=x)
    if not isinstance(weight, torch.Tensor) or weight.dim() != 1:
        raise ValueError(f"weight must be a tensor [d]; received {describe(weight)}. Pass norm.weight.")
    check_features(x, weight.shape[0], name="x")
    check_floating(upstream=upstream, x=x, weight=weight)
    check_eps(eps)


@checked_by(_check_norm)
def layer_norm_backward(
    upstream: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of y = z weight + bias with z = (x - mu) / r and r = sqrt(v + eps).

    With g = upstream * weight, and means over the d features of one position:
    dL/dx = (g - mean(g) - z mean(g z)) / r. The second term comes from mu and the third from v;
    v divides by d, and so does mean(g z). Where x is nearly constant and large, z is only as exact as
    the mean, as in ``LayerNorm``.

    Args:
        upstream: dL/dy, the shape of ``x``.
        x: what the layer was given, [..., d].
        weight: gamma [d], shared by all positions.
        eps: 1e-5 by default, finite and not negative; inside the root as in the forward pass.

    Returns:
        dL/dx [..., d], dL/dweight [d] and dL/dbias [d]; the last two are sums over all positions.

    Raises:
        ValueError: when the shapes or dtypes do not agree, a tensor is not floating point, or ``eps``
            is not as above.

    Example:
        >>> upstream, x = torch.tensor([1.0, 0.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 4.0, 4.0])
        >>> grad_x, grad_weight, grad_bias = layer_norm_backward(upstream, x, torch.ones(4), eps=0.0)
        >>> grad_x
        tensor([ 0.2500, -0.2500,  0.0000,  0.0000])
        >>> grad_weight, grad_bias
        (tensor([-1.,  0.,  0.,  0.]), tensor([1., 0., 0., 0.]))

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)
    root = torch.sqrt((centred * centred).mean(dim=-1, keepdim=True) + eps)  # r, [..., 1]
    z = centred / root
    g = upstream * weight  # dL/dz, [..., d]
    through_mean = g.mean(dim=-1, keepdim=True)
    through_variance = z * (g * z).mean(dim=-1, keepdim=True)
    grad_x = (g - through_mean - through_variance) / root
    d = weight.shape[0]
    grad_weight = (upstream * z).reshape(-1, d).sum(dim=0)  # [..., d] -> [d]
    return grad_x, grad_weight, upstream.reshape(-1, d).sum(dim=0)
    ### END SOLUTION


@checked_by(lambda upstream, grad_branch: check_same(upstream=upstream, grad_branch=grad_branch))
def residual_backward(upstream: torch.Tensor, grad_branch: torch.Tensor) -> torch.Tensor:
    """Gradient of y = x + R(x) with respect to x: what came directly plus what came back through R.

    x is used twice, so its gradient is the sum of two. Neither may replace the other, and neither
    tensor is changed: the caller may still need both.

    Args:
        upstream: dL/dy, the shape of x.
        grad_branch: ``upstream`` sent back through R, the shape of x.

    Returns:
        dL/dx, the shape of x.

    Raises:
        ValueError: when the two are not floating-point tensors of one shape and one dtype.

    Example:
        >>> residual_backward(torch.tensor([1.0, 2.0]), torch.tensor([10.0, -2.0]))
        tensor([11.,  0.])

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    return upstream + grad_branch
    ### END SOLUTION


@checked_by(lambda upstream, weights: check_same(upstream=upstream, weights=weights))
def softmax_backward(upstream: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Gradient of weights = softmax(scores) along the last axis, from the weights alone.

    dL/dscores = weights * (upstream - sum(weights * upstream)): only what differs from the weighted
    mean counts, since the weights always add up to 1. A weight of 0 gives a gradient of 0.

    Args:
        upstream: dL/dweights, the shape of ``weights``.
        weights: what the softmax returned, [..., S].

    Returns:
        dL/dscores, the shape of ``weights``; each row adds up to 0.

    Raises:
        ValueError: when the two are not floating-point tensors of one shape and one dtype.

    Example:
        >>> softmax_backward(torch.tensor([1.0, 0.0]), torch.tensor([0.25, 0.75]))
        tensor([ 0.1875, -0.1875])

    Source: chapter 06.
    """
    mean = (weights * upstream).sum(dim=-1, keepdim=True)  # [..., S] -> [..., 1]
    return weights * (upstream - mean)


def _check_attention(upstream: torch.Tensor, attention: nn.Module, hidden: torch.Tensor) -> None:
    parts = ("query", "key", "value", "output", "n_heads", "d_model")
    check_parts(attention, "attention", "CausalSelfAttention", parts, "Of a block pass block.attention.")
    _check_through(upstream, attention, hidden)


def _check_block(upstream: torch.Tensor, block: nn.Module, hidden: torch.Tensor) -> None:
    parts = ("ln_attention", "attention", "ln_feedforward", "feedforward", "d_model")
    check_parts(block, "block", "TransformerBlock", parts, "Of a model pass one of model.blocks.")
    _check_through(upstream, block, hidden)


def _check_through(upstream: torch.Tensor, module: nn.Module, hidden: torch.Tensor) -> None:
    weight = first_parameter(module)
    check_hidden(hidden, module.d_model, None if weight is None else weight.dtype)
    check_same(upstream=upstream, hidden=hidden)
    drops = [one for one in module.modules() if isinstance(one, nn.Dropout) and one.training and one.p > 0]
    if drops:
        raise ValueError(
            f"dropout must be off: it is on with p = {drops[0].p}, and the gradient would need the numbers that the "
            "forward pass drew. Call .eval() first."
        )


@checked_by(_check_attention)
@torch.no_grad()
def attention_backward(
    upstream: torch.Tensor, attention: nn.Module, hidden: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Gradients of ``attention(hidden)[0]``, without cache and without dropout.

    The forward pass is computed once more, for the values in between. ``hidden`` feeds queries, keys
    and values, so its gradient is the sum of three. The mask needs no step of its own: a weight of 0
    sends nothing back.

    Args:
        upstream: dL/dattended [B, T, d].
        attention: a ``CausalSelfAttention``.
        hidden: what it was given, [B, T, d].

    Returns:
        dL/dhidden [B, T, d], and for each parameter's name (``query.weight``, ``key.weight``,
        ``value.weight``, ``output.weight``) its gradient [d, d].

    Raises:
        ValueError: when the module is another, a shape or a dtype does not fit, or dropout is on.

    Example:
        With one token the only weight is 1, so queries and keys get no gradient.

        >>> from hero_transformer import CausalSelfAttention, Config
        >>> attention = CausalSelfAttention(Config(10, 6, 4, 2, 1, 8))
        >>> grad_hidden, grads = attention_backward(torch.ones(2, 1, 4), attention, torch.ones(2, 1, 4))
        >>> grad_hidden.shape, grads["query.weight"].any().item(), grads["value.weight"].any().item()
        (torch.Size([2, 1, 4]), False, True)

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    h, T = attention.n_heads, hidden.shape[1]
    q, k, v = (split_heads(part(hidden), h) for part in (attention.query, attention.key, attention.value))
    scores = scaled_scores(q, k).masked_fill(~causal_mask(T, T).to(hidden.device), -math.inf)
    weights = torch.softmax(scores, dim=-1)  # [B, h, T, T]
    merged = merge_heads(weights @ v)  # [B, T, d], what the output projection was given

    grad_merged, grad_output, _ = linear_backward(upstream, merged, attention.output.weight)
    grad_heads = split_heads(grad_merged, h)  # [B, T, d] -> [B, h, T, d_h]
    grad_v = weights.transpose(-2, -1) @ grad_heads  # [B, h, T, d_h]
    grad_scores = softmax_backward(grad_heads @ v.transpose(-2, -1), weights)  # [B, h, T, T]
    grad_scores = grad_scores / math.sqrt(q.shape[-1])
    grad_q, grad_k = grad_scores @ k, grad_scores.transpose(-2, -1) @ q  # [B, h, T, d_h]

    grad_hidden, grads = torch.zeros_like(hidden), {"output.weight": grad_output}
    for name, gradient in (("query", grad_q), ("key", grad_k), ("value", grad_v)):
        weight = getattr(attention, name).weight
        path, grads[f"{name}.weight"], _ = linear_backward(merge_heads(gradient), hidden, weight)
        grad_hidden = grad_hidden + path
    return grad_hidden, grads
    ### END SOLUTION


@checked_by(_check_block)
@torch.no_grad()
def block_backward(
    upstream: torch.Tensor, block: nn.Module, hidden: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Gradients of ``block(hidden)[0]``, without cache and without dropout, by the rules of its parts.

    Backwards through Y = U + F(LN2(U)) and then through U = X + A(LN1(X)): each part is given what
    it read in the forward pass.

    Args:
        upstream: dL/dY [B, T, d].
        block: a ``TransformerBlock``.
        hidden: X [B, T, d].

    Returns:
        dL/dX [B, T, d], and for each name in ``block.named_parameters()`` the gradient of that
        parameter, in its shape.

    Raises:
        ValueError: when the module is another, a shape or a dtype does not fit, or dropout is on.

    Example:
        >>> from hero_transformer import Config, TransformerBlock
        >>> block = TransformerBlock(Config(10, 6, 4, 2, 1, 8))
        >>> grad_hidden, grads = block_backward(torch.ones(2, 3, 4), block, torch.ones(2, 3, 4))
        >>> sorted(grads) == sorted(name for name, _ in block.named_parameters())
        True

    Source: chapter 06.
    """
    ### BEGIN SOLUTION
    norm_1, norm_2 = block.ln_attention, block.ln_feedforward
    linear_1, linear_2 = block.feedforward.linear_1, block.feedforward.linear_2
    read_1 = norm_1(hidden)
    stream = hidden + block.attention(read_1)[0]  # U, [B, T, d]
    read_2 = norm_2(stream)
    inner = linear_1(read_2)  # [B, T, f]

    g, w2, b2 = linear_backward(upstream, gelu(inner), linear_2.weight)  # [B, T, f]
    g, w1, b1 = linear_backward(gelu_backward(g, inner), read_2, linear_1.weight)  # [B, T, d]
    g, gamma_2, beta_2 = layer_norm_backward(g, stream, norm_2.weight, norm_2.eps)
    grad_stream = residual_backward(upstream, g)  # dL/dU
    g, grads = attention_backward(grad_stream, block.attention, read_1)
    g, gamma_1, beta_1 = layer_norm_backward(g, hidden, norm_1.weight, norm_1.eps)

    grads = {f"attention.{name}": gradient for name, gradient in grads.items()}
    grads |= {"ln_attention.weight": gamma_1, "ln_attention.bias": beta_1}
    grads |= {"ln_feedforward.weight": gamma_2, "ln_feedforward.bias": beta_2}
    grads |= {"feedforward.linear_1.weight": w1, "feedforward.linear_1.bias": b1}
    grads |= {"feedforward.linear_2.weight": w2, "feedforward.linear_2.bias": b2}
    return residual_backward(grad_stream, g), grads
    ### END SOLUTION
