"""The pre-LN decoder block (chapter 05) and the language model made of it (chapter 07).

Shape letters: B batch, T tokens of this call, S = past + T tokens that may be seen, d width of a
hidden vector, h heads, d_h = d / h, f inner width of the feed-forward, V vocabulary, C most
positions, N blocks. "..." stands for any leading axes.

Frozen for the whole book: pre-LN, eps = 1e-5 inside the root, exact GELU, Q/K/V/O without bias,
both feed-forward layers with bias, a final LayerNorm, an untied head without bias.
"""

import math
from typing import Any

import torch
from torch import nn

from .arguments import check_calls, check_eps, check_flag, check_generator, check_positive, checked_by
from .attention import CausalSelfAttention
from .config import Config, check_config
from .embedding import TokenEmbedding
from .position import PositionEmbedding
from .tensor_arguments import check_features, check_module_input, check_past_key_value, first_parameter

__all__ = ["Config", "FeedForward", "LayerNorm", "TransformerBlock", "TransformerLM"]
__all__ += ["gelu", "make_blocks", "parameter_count"]


def _check_norm(module: nn.Module, hidden: Any) -> None:
    weight = first_parameter(module)
    check_features(hidden, module.d_model, None if weight is None else weight.dtype)


class LayerNorm(nn.Module):
    """Normalise each position by itself: (x - mu) / sqrt(v + eps) * weight + bias.

    mu and v are taken over the d features of one position, never across time or batch. v divides
    by d, not d - 1: it describes these d numbers and estimates nothing. eps is inside the root, so
    with weight 1 and bias 0 the result has variance v / (v + eps), not 1, and a constant vector
    gives ``bias``, as far as its mean is exact (see below). ``weight`` and ``bias`` [d] start at 1
    and 0; their names are those of ``torch.nn.LayerNorm``, so that state dicts can be exchanged.

    Everything is computed in the dtype of the input; in float16 a deviation above 255 overflows. The
    mean of equal numbers x can be off by their last digit, in float32 |x| / 2^23 = 1.2e-7 |x| or a
    few times that, and the root makes 1 / sqrt(eps) = 316 times as much of it: 1e-4 near 1, but
    0.3 and more near 10 000, where only float64 is of use.

    Args:
        d_model: d; a positive int.
        eps: 1e-5 by default; not negative. With 0 a constant vector gives NaN.

    Raises:
        ValueError: when ``d_model`` or ``eps`` is not as above; on a call, when the last axis is
            not d (torch would broadcast), or the dtype is not that of the weights.

    Example:
        >>> norm = LayerNorm(2)
        >>> norm(torch.tensor([[1.0, 3.0], [0.001, 0.003], [2.0, 2.0]])).detach()
        tensor([[-1.0000,  1.0000],
                [-0.3015,  0.3015],
                [ 0.0000,  0.0000]])

        The mean of three times 15364.4 is off by 0.001 in float32:

        >>> far = torch.full((3,), 15364.4)
        >>> LayerNorm(3)(far).detach(), LayerNorm(3).double()(far.double()).detach()
        (tensor([-0.2951, -0.2951, -0.2951]), tensor([0., 0., 0.], dtype=torch.float64))

    Source: chapter 05; Ba et al. 2016, section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        check_positive(d_model=d_model)
        check_eps(eps)
        self.d_model = d_model
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        check_calls(self, _check_norm)

    def extra_repr(self) -> str:
        """d and eps, as ``print`` shows them."""
        return f"{self.d_model}, eps={self.eps}"

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Normalise each position by itself, then scale by ``self.weight`` and add ``self.bias``.

        Args:
            hidden: [..., d]; it is not changed in place.

        Returns:
            The shape and dtype of ``hidden``: (x - mu) / sqrt(v + self.eps) * weight + bias.
        """
        ### BEGIN SOLUTION
        mean = hidden.mean(dim=-1, keepdim=True)  # [..., d] -> [..., 1]
        centred = hidden - mean
        # from the deviations: E[x^2] - mean^2 would lose all digits when the mean is large
        variance = (centred * centred).mean(dim=-1, keepdim=True)  # [..., d] -> [..., 1]
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        ### END SOLUTION


def gelu(x: torch.Tensor) -> torch.Tensor:
    """The exact Gaussian error linear unit: g(x) = x Phi(x), entry by entry.

    Phi(x) = (1 + erf(x / sqrt 2)) / 2 is the probability that a standard normal number is at most
    x. It is an integral, not a draw: the same input always gives the same output. A negative
    input gives a small negative output, not 0. g(x) - g(-x) = x.

    Args:
        x: any shape, floating point.

    Returns:
        The shape and dtype of ``x``.

    Example:
        >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])

    Source: chapter 05; Hendrycks & Gimpel 2016, section 2 (the exact form, not the tanh one).
    """
    ### BEGIN SOLUTION
    probability = 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))
    return x * probability
    ### END SOLUTION


class FeedForward(nn.Module):
    """Treat every position by itself with the same weights: dropout(gelu(x W1 + b1) W2 + b2).

    ``linear_1`` (d to f) and ``linear_2`` (f to d) both have a bias: 2 d f + f + d parameters.
    torch stores each matrix as [out, in], the transpose of W1 [d, f] and W2 [f, d]. Dropout comes
    last, after ``linear_2``.

    Args:
        config: its ``d_model``, ``d_ff`` and ``dropout`` are used.

    Raises:
        ValueError: when ``config`` is no Config; on a call, when ``hidden`` is not a floating tensor
            [B, T, d].

    Example:
        >>> config = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8)
        >>> FeedForward(config)(torch.zeros(2, 3, 4)).shape
        torch.Size([2, 3, 4])

    Source: chapter 05; Vaswani et al. 2017, section 3.3 (there with ReLU).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        check_config(config)
        self.d_model = config.d_model
        self.linear_1 = nn.Linear(config.d_model, config.d_ff)
        self.linear_2 = nn.Linear(config.d_ff, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        check_calls(self, check_module_input)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the increment of every position; adding it to the stream is the block's work.

        Args:
            hidden: [B, T, d]; it is not changed in place.

        Returns:
            [B, T, d], after ``self.dropout``.
        """
        ### BEGIN SOLUTION
        inner = gelu(self.linear_1(hidden))  # [B, T, d] -> [B, T, f]
        return self.dropout(self.linear_2(inner))  # [B, T, f] -> [B, T, d]
        ### END SOLUTION


def _check_block(module: nn.Module, hidden: Any, past_key_value: Any = None, use_cache: Any = False) -> None:
    check_module_input(module, hidden)
    check_flag(use_cache=use_cache)  # the past is checked by attention, which knows its heads


class TransformerBlock(nn.Module):
    """One pre-LN block: U = X + A(LN1(X)), then Y = U + F(LN2(U)).

    ``ln_attention``, ``attention``, ``ln_feedforward`` and ``feedforward`` have together
    4 d^2 + 2 d f + f + 5 d parameters. Only what enters a branch is normalised, so a block whose
    branches are zero returns its input exactly. Dropout is inside the branches (on the attention
    weights, and after each branch's last projection), never on the sum.

    Args:
        config: its ``d_model``, ``n_heads``, ``d_ff`` and ``dropout`` are used.

    Raises:
        ValueError: when ``config`` is no Config; on a call, when ``hidden`` is not a floating tensor
            [B, T, d] or the past does not fit.

    Example:
        >>> config = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8)
        >>> hidden, present = TransformerBlock(config)(torch.zeros(2, 3, 4))
        >>> hidden.shape, present
        (torch.Size([2, 3, 4]), None)

    Source: chapter 05; Radford et al. 2019, section 2.3 (LayerNorm at the input of each branch).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        check_config(config)
        self.d_model = config.d_model
        self.ln_attention = LayerNorm(config.d_model)
        self.attention = CausalSelfAttention(config)
        self.ln_feedforward = LayerNorm(config.d_model)
        self.feedforward = FeedForward(config)
        check_calls(self, _check_block)

    def forward(
        self, hidden: torch.Tensor, past_key_value: tuple | None = None, use_cache: bool = False
    ) -> tuple[torch.Tensor, tuple | None]:
        """Add the increment of each branch to the stream, attention first.

        The second branch reads the stream after attention was added, not the input of the block.

        Args:
            hidden: X [B, T, d]; it is not changed in place.
            past_key_value: keys and values of earlier tokens, each [B, h, past, d_h], or None.
            use_cache: whether to return the keys and values; False by default.

        Returns:
            Y [B, T, d], and what attention returned as present: a pair of [B, h, S, d_h] when
            ``use_cache``, else None.
        """
        ### BEGIN SOLUTION
        increment, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
        hidden = hidden + increment  # U, [B, T, d]; a new tensor, not an addition in place
        hidden = hidden + self.feedforward(self.ln_feedforward(hidden))  # Y, [B, T, d]
        return hidden, present
        ### END SOLUTION


@checked_by(check_config)
def make_blocks(config: Config) -> nn.ModuleList:
    """Make the N blocks of a model; no two of them share a parameter.

    An ``nn.ModuleList`` registers what it holds: the model then counts, moves, saves and trains the
    parameters of every block. A plain Python list would compute the same and register nothing.

    Args:
        config: its ``n_layers`` says how many; every block is made from the whole of it.

    Returns:
        N new ``TransformerBlock``s. Their numbers are of no account: ``TransformerLM`` draws them.

    Raises:
        ValueError: when ``config`` is no Config.

    Example:
        >>> blocks = make_blocks(Config(10, 6, d_model=4, n_heads=2, n_layers=3, d_ff=8))
        >>> len(blocks), sum(parameter.numel() for parameter in blocks.parameters())
        (3, 468)

    Source: chapter 07.
    """
    ### BEGIN SOLUTION
    return nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
    ### END SOLUTION


def _check_model(module: nn.Module, ids: Any, past_key_values: Any = None, use_cache: Any = False) -> None:
    check_flag(use_cache=use_cache)  # the ids are checked by the token table, which knows V
    if past_key_values is not None:
        _check_pasts(module, past_key_values)


def _check_pasts(module: nn.Module, pasts: Any) -> None:
    """One past for every block, all of one length."""
    N = len(module.blocks)
    remedy = "Pass the presents that an earlier call returned with use_cache=True."
    if not isinstance(pasts, (list, tuple)) or len(pasts) != N:
        count = f" of {len(pasts)}" if isinstance(pasts, (list, tuple)) else ""
        raise ValueError(
            f"past_key_values must be a list with one pair for each of N = {N} blocks; "
            f"received {type(pasts).__name__}{count}. {remedy}"
        )
    for past in pasts:
        check_past_key_value(past, module.config.n_heads, module.config.d_head)
    lengths = [past[0].shape[2] for past in pasts]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"past_key_values must have one length in every block; received {lengths}. {remedy}"
        )


class TransformerLM(nn.Module):
    """A decoder-only language model: ids in, one score for every next token out.

    Token and position vectors are added, dropout follows their sum, then N blocks that share
    no parameter, ``ln_final``, and ``head``, which has no bias and is not tied to the token table.

    Matrices are drawn from N(0, 0.02), standard deviation 0.02; biases start at 0. The numbers come
    from ``generator``; the global random state is left as it was.

    Args:
        config: the sizes.
        generator: source of the weights; None (default) means a new one with seed 0, so two models
            of one config are equal.

    Raises:
        ValueError: when ``config`` is no Config or ``generator`` no generator; on a call, when the
            ids are not integers [B, T] with 0 <= id < V, past + T > C, or the past does not fit.

    Example:
        >>> config = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=2, d_ff=8)
        >>> model = TransformerLM(config, torch.Generator().manual_seed(7))
        >>> logits, presents = model(torch.tensor([[1, 2, 3]]), use_cache=True)
        >>> logits.shape, len(presents), presents[0][0].shape
        (torch.Size([1, 3, 10]), 2, torch.Size([1, 2, 3, 2]))

    Source: chapters 05 and 07; Radford et al. 2018, section 4.1, and 2019, section 2.3.
    """

    def __init__(self, config: Config, generator: torch.Generator | None = None) -> None:
        super().__init__()
        check_config(config)
        generator = torch.Generator().manual_seed(0) if generator is None else generator
        check_generator(generator)
        self.config = config
        with torch.random.fork_rng(devices=[]):  # nn.Linear draws when it is made
            self.token_embedding = TokenEmbedding(config.vocab_size, config.d_model)
            self.position_embedding = PositionEmbedding(config.block_size, config.d_model)
            self.dropout = nn.Dropout(config.dropout)
            self.blocks = make_blocks(config)
            self.ln_final = LayerNorm(config.d_model)
            self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        draw_weights(self, generator)
        check_calls(self, _check_model)

    def forward(
        self,
        ids: torch.Tensor,
        past_key_values: list[tuple[torch.Tensor, torch.Tensor]] | None = None,
        use_cache: bool = False,
    ) -> tuple[torch.Tensor, list[tuple[torch.Tensor, torch.Tensor]] | None]:
        """Score every token of the vocabulary as the successor of each position.

        Args:
            ids: [B, T], integers with 0 <= id < V; past + T <= C.
            past_key_values: one pair of [B, h, past, d_h] a block, or None (default). The ids then
                are only the new tokens.
            use_cache: whether to return the keys and values; False by default.

        Returns:
            logits [B, T, V], not normalised, and presents: a list with one pair of [B, h, S, d_h] a
            block when ``use_cache``, else None.
        """
        ### BEGIN SOLUTION
        pasts = [None] * len(self.blocks) if past_key_values is None else past_key_values
        past_length = 0 if pasts[0] is None else pasts[0][0].shape[2]
        hidden = self.token_embedding(ids)  # [B, T] -> [B, T, d]
        hidden = self.dropout(self.position_embedding(hidden, past_length))
        presents = []
        for block, past in zip(self.blocks, pasts, strict=True):
            hidden, present = block(hidden, past, use_cache)
            presents.append(present)
        logits = self.head(self.ln_final(hidden))  # [B, T, d] -> [B, T, V]
        return logits, presents if use_cache else None
        ### END SOLUTION


def draw_weights(model: nn.Module, generator: torch.Generator) -> None:
    """Draw every matrix of ``model`` from N(0, 0.02) and set the bias of every nn.Linear to 0."""
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, mean=0.0, std=0.02, generator=generator)
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


@checked_by(lambda V, C, N, d, f: check_positive(V=V, C=C, N=N, d=d, f=f))
def parameter_count(V: int, C: int, N: int, d: int, f: int) -> int:
    """Count the learnable numbers of TransformerLM, by the ledger of chapter 05.

    Neither the number of heads nor the length T of an input enters. The result counts scalars:
    neither bytes nor the state of the optimiser.

    Args:
        V: vocabulary; a positive int, like all the others.
        C: most positions.
        N: blocks.
        d: width of a hidden vector.
        f: inner width of the feed-forward.

    Raises:
        ValueError: when an argument is not a positive int.

    Example:
        >>> parameter_count(32, 64, 2, 64, 256), parameter_count(10, 6, 2, 4, 8)
        (107776, 424)

    Source: chapter 05.
    """
    ### BEGIN SOLUTION
    attention = 4 * d * d  # query, key, value and output, without bias
    feedforward = (d * f + f) + (f * d + d)
    norms = 2 * (d + d)  # two LayerNorms, a weight and a bias each
    tables = 2 * V * d + C * d  # token embedding and untied head; positions
    return tables + N * (attention + feedforward + norms) + 2 * d
    ### END SOLUTION
