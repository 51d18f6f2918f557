"""The sizes of a model.

Shape letters, the same in every module:

    B  batch                     d    width of a hidden vector (d_model)
    T  tokens of this call       h    attention heads (n_heads)
    S  tokens that may be seen,  d_h  width of a head, d / h (d_head)
       S = past + T              f    inner width of the feed-forward (d_ff)
    C  most positions            V    size of the vocabulary (vocab_size)
       (block_size)              N    blocks (n_layers)
"""

from dataclasses import dataclass
from typing import Any

from .arguments import check_heads, check_positive, describe

__all__ = ["Config", "check_config"]


@dataclass(frozen=True)
class Config:
    """The sizes of a decoder-only transformer (chapter 05).

    Args:
        vocab_size: V, number of different tokens; a positive int.
        block_size: C, the most positions a sequence may have; a positive int. T may be smaller.
        d_model: d, width of a hidden vector; a positive int.
        n_heads: h, attention heads; a positive int that divides ``d_model``. It only divides the
            width, so it does not change the number of parameters.
        n_layers: N, blocks; a positive int.
        d_ff: f, inner width of the feed-forward; a positive int.
        dropout: probability that an activation is zeroed in training, 0 <= dropout < 1; 0.0 by
            default, which makes the forward pass a function of its input.

    Raises:
        ValueError: when a size is not a positive int (``True`` and ``4.0`` are refused too), when
            ``n_heads`` does not divide ``d_model``, or when ``dropout`` is not in [0, 1).

    Example:
        >>> sizes = dict(vocab_size=32, block_size=64, d_model=64, n_layers=2, d_ff=256)
        >>> config = Config(n_heads=4, **sizes)
        >>> config.d_head, config.dropout
        (16, 0.0)
        >>> Config(n_heads=5, **sizes)
        Traceback (most recent call last):
        ...
        ValueError: n_heads = 5 must divide d_model = 64; take n_heads = 1 or d_model = 65.
    """

    vocab_size: int
    block_size: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int
    dropout: float = 0.0

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "block_size", "d_model", "n_heads", "n_layers", "d_ff")
        check_positive(**{name: getattr(self, name) for name in sizes})
        check_heads(self.n_heads, self.d_model)
        number = isinstance(self.dropout, (int, float)) and not isinstance(self.dropout, bool)
        if not (number and 0 <= self.dropout < 1):  # NaN fails every comparison
            raise ValueError(
                f"dropout = {self.dropout!r} must be a number with 0 <= dropout < 1; "
                "pass 0.0 to switch dropout off."
            )

    @property
    def d_head(self) -> int:
        """Width of one head, d_h = d / h."""
        return self.d_model // self.n_heads


def check_config(config: Any) -> None:
    """Raise ValueError unless ``config`` is a `Config`.

    Example:
        >>> check_config({"d_model": 4})
        Traceback (most recent call last):
        ...
        ValueError: config must be a Config; received dict. Make one: Config(vocab_size=32, block_size=64, d_model=64, \
n_heads=4, n_layers=2, d_ff=256).
    """
    if not isinstance(config, Config):
        raise ValueError(
            f"config must be a Config; received {describe(config)}. Make one: "
            "Config(vocab_size=32, block_size=64, d_model=64, n_heads=4, n_layers=2, d_ff=256)."
        )
