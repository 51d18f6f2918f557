"""The parameter ledger, row by row, and what a wrong total says about a model (chapter 07).

Shape letters: V vocabulary, C most positions, N blocks, d width of a hidden vector, f inner width
of the feed-forward.
"""

from typing import Any

from .arguments import check_positive, checked_by, whole
from .config import Config, check_config

__all__ = ["count_changes", "diagnose_count", "parameter_ledger"]


@checked_by(lambda V, C, N, d, f: check_positive(V=V, C=C, N=N, d=d, f=f))
def parameter_ledger(V: int, C: int, N: int, d: int, f: int) -> dict[str, int]:
    """Count the learnable numbers of TransformerLM row by row.

    Args:
        V: vocabulary; a positive int, like all the others.
        C: most positions.
        N: blocks.
        d: width of a hidden vector.
        f: inner width of the feed-forward.

    Returns:
        Eight rows in the order of the forward pass, each an int: ``token_embedding``,
        ``position_embedding``; of all N blocks together ``attention``, ``feedforward_weights``,
        ``feedforward_biases`` and ``block_norms``; ``final_norm`` and ``head``. Their sum is
        ``parameter_count(V, C, N, d, f)``.

    Raises:
        ValueError: when an argument is not a positive int.

    Example:
        >>> for row, count in parameter_ledger(10, 6, 2, 4, 8).items():
        ...     print(row, count)
        token_embedding 40
        position_embedding 24
        attention 128
        feedforward_weights 128
        feedforward_biases 24
        block_norms 32
        final_norm 8
        head 40

    Source: chapter 07.
    """
    ### BEGIN SOLUTION
    return {
        "token_embedding": V * d,
        "position_embedding": C * d,
        "attention": N * 4 * d * d,  # query, key, value and output, without bias
        "feedforward_weights": N * 2 * d * f,
        "feedforward_biases": N * (f + d),
        "block_norms": N * 2 * 2 * d,  # two LayerNorms a block, a weight and a bias each
        "final_norm": 2 * d,
        "head": V * d,
    }
    ### END SOLUTION


def count_changes(V: int, C: int, N: int, d: int, f: int) -> dict[str, int]:
    """By how much each of nine frequent mistakes changes the number of registered parameters.

    Args:
        V: as in ``parameter_ledger``, like all the others.
        C: most positions.
        N: blocks.
        d: width of a hidden vector.
        f: inner width of the feed-forward.

    Returns:
        The change for each mistake, whose name is in Chinese and English.

    Example:
        >>> changes = count_changes(32, 64, 2, 64, 256)
        >>> {107776 + change for change in changes.values()} == {
        ...     58048, 105728, 107648, 108288, 107808, 107136, 107456, 107520, 103680}
        True

    Source: chapter 07.
    """
    rows = parameter_ledger(V, C, N, d, f)
    blocks = ("attention", "feedforward_weights", "feedforward_biases", "block_norms")
    one_block = sum(rows[name] for name in blocks) // N
    return {
        "所有层用的是同一个块 | one block is used for every layer": -(N - 1) * one_block,
        "head 与词元表绑定 | the head is tied to the token table": -rows["head"],
        "没有最终归一化 | no final LayerNorm": -rows["final_norm"],
        "Q、K、V、O 带了偏置 | biases on Q, K, V and O": N * 4 * d,
        "head 带了偏置 | a bias on the head": V,
        "前馈没有偏置 | no biases in the feed-forward": -rows["feedforward_biases"],
        "LayerNorm 没有 β | LayerNorm without beta": -(rows["block_norms"] + rows["final_norm"]) // 2,
        "每块只有一个 LayerNorm | one LayerNorm a block": -rows["block_norms"] // 2,
        "位置用正弦，不是学出来的 | sinusoidal positions, not learned ones": -rows["position_embedding"],
    }


def diagnose_count(found: Any, config: Config) -> str:
    """Say what a model's number of registered parameters tells about it.

    A count is evidence, not proof: a model with two mistakes may have the count of a third, and a
    mistake that registers nothing (another activation, a transposed mask) does not show at all.

    Args:
        found: the number of registered parameters, an int.
        config: the sizes that the model should have.

    Returns:
        A line in Chinese and English: that the count is right, which of the nine mistakes of
        ``count_changes`` gives it (all of them, a line each, where several do), or by how much it is off.

    Raises:
        ValueError: when ``found`` is not an int that is not negative, or ``config`` is no Config.

    Example:
        >>> config = Config(32, 64, d_model=64, n_heads=4, n_layers=2, d_ff=256)
        >>> print(diagnose_count(107776, config))
        107776 = 107776: 与账本一致 | as in the ledger
        >>> print(diagnose_count(105728, config))
        105728 = 107776 - 2048: head 与词元表绑定 | the head is tied to the token table

    Source: chapter 07.
    """
    check_config(config)
    if not whole(found) or found < 0:
        raise ValueError(
            f"found = {found!r} must be an int that is not negative; pass "
            "sum(parameter.numel() for parameter in model.parameters())."
        )
    sizes = (config.vocab_size, config.block_size, config.n_layers, config.d_model, config.d_ff)
    right = sum(parameter_ledger(*sizes).values())
    change = found - right
    if change == 0:
        return f"{found} = {right}: 与账本一致 | as in the ledger"
    difference = f"{found} = {right} {'+' if change > 0 else '-'} {abs(change)}"
    names = [name for name, by in count_changes(*sizes).items() if by == change]
    if not names:
        return f"{difference}: 不是已知的任何一种，拿差数对照账本 | no known mistake; compare the ledger's rows"
    if len(names) > 1:
        return "\n  ".join([f"{difference}: 有 {len(names)} 种解释 | {len(names)} explanations", *names])
    return f"{difference}: {names[0]}"
