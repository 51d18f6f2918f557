"""The names that GPT-2 gives to the parameters of our model (chapter 07).

Our model is GPT-2's with three differences in what it computes, two of which the table below shows: no
biases in the attention, an untied head, and GELU in its exact form. So GPT-2's published code computes
what ours computes, when it is given zeros for those biases. A fourth is in the first values: GPT-2 draws
the last matrix of each branch with the standard deviation 0.02 / sqrt(2 N), ours with 0.02 like all the
others.
"""

import torch
from torch import nn

from .arguments import check_parts

__all__ = ["GPT2_NAMES", "gpt2_state_dict"]

_QKV = tuple(f"blocks.{{n}}.attention.{name}.weight" for name in ("query", "key", "value"))

# our names, GPT-2's name, and how the numbers go over; {n} is the number of the block. GPT-2 stores
# the matrices of a block as [in, out], the transpose of nn.Linear, and packs Q, K and V into one.
GPT2_NAMES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("token_embedding.weight",), "transformer.wte.weight", "same"),
    (("position_embedding.weight",), "transformer.wpe.weight", "same"),
    (("blocks.{n}.ln_attention.weight",), "transformer.h.{n}.ln_1.weight", "same"),
    (("blocks.{n}.ln_attention.bias",), "transformer.h.{n}.ln_1.bias", "same"),
    (_QKV, "transformer.h.{n}.attn.c_attn.weight", "transposed"),
    (_QKV, "transformer.h.{n}.attn.c_attn.bias", "zeros"),
    (("blocks.{n}.attention.output.weight",), "transformer.h.{n}.attn.c_proj.weight", "transposed"),
    (("blocks.{n}.attention.output.weight",), "transformer.h.{n}.attn.c_proj.bias", "zeros"),
    (("blocks.{n}.ln_feedforward.weight",), "transformer.h.{n}.ln_2.weight", "same"),
    (("blocks.{n}.ln_feedforward.bias",), "transformer.h.{n}.ln_2.bias", "same"),
    (("blocks.{n}.feedforward.linear_1.weight",), "transformer.h.{n}.mlp.c_fc.weight", "transposed"),
    (("blocks.{n}.feedforward.linear_1.bias",), "transformer.h.{n}.mlp.c_fc.bias", "same"),
    (("blocks.{n}.feedforward.linear_2.weight",), "transformer.h.{n}.mlp.c_proj.weight", "transposed"),
    (("blocks.{n}.feedforward.linear_2.bias",), "transformer.h.{n}.mlp.c_proj.bias", "same"),
    (("ln_final.weight",), "transformer.ln_f.weight", "same"),
    (("ln_final.bias",), "transformer.ln_f.bias", "same"),
    (("head.weight",), "lm_head.weight", "same"),
)


def gpt2_state_dict(model: nn.Module) -> dict[str, torch.Tensor]:
    """The weights of a ``TransformerLM`` under the names of GPT-2's published code.

    They load, every key matching, into a ``GPT2LMHeadModel`` of the package transformers whose
    configuration has ``n_inner`` = f, ``activation_function="gelu"`` (the exact one), the three
    dropout rates 0 and ``tie_word_embeddings=False``; its ``vocab_size``, ``n_positions``,
    ``n_embd``, ``n_head`` and ``n_layer`` are our V, C, d, h and N.

    Args:
        model: a ``hero_transformer.TransformerLM``, or what ``torch.compile`` made of one.

    Returns:
        A new dictionary; the tensors are detached, and those that go over unchanged share memory
        with the model.

    Raises:
        ValueError: when ``model`` is something else.

    Example:
        >>> from hero_transformer import Config, TransformerLM
        >>> found = gpt2_state_dict(TransformerLM(Config(10, 6, 4, 2, 2, 8)))
        >>> found["transformer.h.1.attn.c_attn.weight"].shape, len(found)
        (torch.Size([4, 12]), 29)

    Source: chapter 07; Radford et al. 2019, and the names of its published weights.
    """
    model = getattr(model, "_orig_mod", model)  # torch.compile puts a module of its own around it
    parts = ("token_embedding", "position_embedding", "blocks", "ln_final", "head")
    check_parts(model, "model", "TransformerLM", parts, "Pass the model, not a part of it or its weights.")
    ours, found = model.state_dict(), {}
    for names, theirs, how in GPT2_NAMES:
        for n in range(len(model.blocks) if "{n}" in theirs else 1):
            parts = [ours[name.format(n=n)] for name in names]
            if how == "zeros":
                number = parts[0].new_zeros(sum(len(part) for part in parts))
            elif how == "transposed":
                number = torch.cat([part.T for part in parts], dim=1)  # each [out, in] -> [in, out]
            else:
                (number,) = parts
            found[theirs.format(n=n)] = number
    return found
