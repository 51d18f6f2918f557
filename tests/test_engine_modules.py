"""Modules that come back from a worker: they compute as the learner's did, share what was shared, and can do no more."""

from __future__ import annotations

import contextlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from hero_course.engine.frames import ProtocolError
from hero_course.engine.modules import put_together
from hero_course.engine.protocol import Opaque, decode, encode
from hero_transformer import Config, TransformerBlock, TransformerLM

CONFIG = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=2, d_ff=8)


def test_a_module_computes_what_the_one_that_was_sent_does() -> None:
    blocks = nn.ModuleList(TransformerBlock(CONFIG) for _ in range(3))
    back, x = decode(encode(blocks)), torch.randn(2, 3, 4)
    assert type(back) is nn.ModuleList
    assert [type(one) for one in back] == [TransformerBlock] * 3
    assert all(torch.equal(new(x)[0], old(x)[0]) for new, old in zip(back, blocks, strict=True))
    assert back.state_dict().keys() == blocks.state_dict().keys()


@pytest.mark.parametrize("module", [nn.LayerNorm(4), nn.GELU(), nn.Embedding(9, 4), nn.Sequential(nn.Linear(4, 2))])
def test_torchs_own_layers_that_models_are_made_of_come_back_whole(module: nn.Module) -> None:
    x = torch.tensor([[1, 2, 8]]) if isinstance(module, nn.Embedding) else torch.randn(2, 3, 4)
    assert torch.equal(decode(encode(module))(x), module(x))
    assert repr(decode(encode(nn.ModuleDict({"a": module})))) == repr(nn.ModuleDict({"a": module}))


def test_what_is_shared_stays_shared_and_what_is_not_does_not() -> None:
    block, model = TransformerBlock(CONFIG), TransformerLM(CONFIG)
    one, again, other = decode(encode([block, block, TransformerBlock(CONFIG)]))
    assert one is again
    assert one is not other
    model.head.weight = model.token_embedding.weight
    back = decode(encode(model))
    assert back.head.weight is back.token_embedding.weight
    assert sum(p.numel() for p in back.parameters()) == sum(p.numel() for p in model.parameters())


def test_a_parameter_keeps_whether_it_may_have_a_gradient() -> None:
    linear = nn.Linear(2, 3)
    linear.bias.requires_grad_(False)
    back = decode(encode(linear))
    assert [(type(p), p.requires_grad) for p in back.parameters()] == [(nn.Parameter, True), (nn.Parameter, False)]
    assert decode(encode(nn.Linear(2, 3, bias=False))).bias is None
    assert not decode(encode(nn.Dropout(0.5).eval())).training


def test_a_class_of_the_learners_is_opaque_wherever_it_stands() -> None:
    class Mine(nn.Module):
        """Not the package's."""

    assert isinstance(decode(encode(Mine())), Opaque)
    assert isinstance(decode(encode(nn.ModuleList([Mine()]))), Opaque)
    assert isinstance(decode(encode(nn.Upsample(scale_factor=9))), Opaque)  # it would make much of little
    Mine.__module__, Mine.__qualname__ = "hero_transformer.model", "TransformerBlock"
    assert type(decode(encode(Mine()))) is TransformerBlock  # an empty one, of our own class


def test_no_name_of_the_class_itself_is_taken_over() -> None:
    linear = nn.Linear(2, 2)
    linear.forward = 3
    linear.__dict__["_forward_hooks"] = {}
    assert decode(encode(linear))(torch.zeros(1, 2)).shape == (1, 2)


@pytest.mark.parametrize(
    "groups",
    [
        ({"a": []}, {}, {}, {}),
        ({}, {"a": 1}, {}, {}),
        ({}, {}, {"a": torch.ones(1)}, {}),
        ({}, {}, {}, {"a": torch.ones(1)}),
        ({}, {}, {}, {"a.b": None}),
        ({}, {}, {}, []),
    ],
)
def test_parts_that_are_not_what_they_should_be_make_no_module(groups: tuple) -> None:
    place = ("torch.nn.modules.container.ModuleList",)
    assert put_together(place, {}, {}, {}, {"0": nn.Identity()}) is not None
    assert put_together(place, *groups) is None
    assert put_together(("hero_transformer.model.gelu",), {}, {}, {}, {}) is None
    assert put_together(("hero_transformer.nothing.Here",), {}, {}, {}, {}) is None


def test_a_module_that_holds_itself_is_cut() -> None:
    endless = nn.ModuleList()
    endless.append(endless)
    deep = decode(encode(endless))
    assert isinstance(deep, Opaque)


@given(st.data())
def test_changed_bytes_give_a_value_or_a_protocol_error(data: st.DataObject) -> None:
    linear = nn.Linear(1, 1)
    content = bytearray(encode([linear, nn.Sequential(linear, nn.Dropout())]))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ProtocolError):
        decode(bytes(content))
