"""The protocol: plain data there and back, and nothing but plain data from bytes that nobody vouches for."""

from __future__ import annotations

import contextlib
import socket
import struct
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hero_course.engine.frames import ProtocolError, receive, send
from hero_course.engine.payload import dump, load
from hero_course.engine.protocol import DTYPES, Opaque, Remote, decode, encode

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.just(...)
KEYS = st.text() | st.integers(-(2**60), 2**60)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner), max_leaves=20
)


@given(VALUES)
def test_plain_data_come_back_as_they_went(value: object) -> None:
    back = decode(encode(value))
    assert back == value
    assert type(back) is type(value)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_protocol_error(content: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode(content)


@given(VALUES, st.data())
def test_changed_bytes_give_a_value_or_a_protocol_error(value: object, data: st.DataObject) -> None:
    content = bytearray(encode((value, torch.arange(3))))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ProtocolError):
        decode(bytes(content))


@pytest.mark.parametrize("name", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3)])
def test_tensors_keep_type_shape_and_bits(name: str, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape).to(getattr(torch, name))
    back = decode(encode(tensor))
    assert back.dtype == tensor.dtype
    assert torch.equal(back, tensor)
    assert decode(encode(torch.arange(6).reshape(2, 3).T)).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_subclasses_become_plain_and_objects_become_opaque() -> None:
    class Number(float):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = float.__hash__

    assert type(decode(encode(Number(2)))) is float
    assert type(decode(encode(torch.nn.Parameter(torch.ones(1))))) is torch.Tensor
    assert type(decode(encode(torch.Size([1, 2])))) is tuple
    array = decode(encode(np.ones(2)))
    assert isinstance(array, Opaque)
    assert (type(array).__name__, repr(array)) == ("ndarray", "array([1., 1.])")
    iterators: list[object] = []
    assert isinstance(decode(encode(iter([1]), iterators)), Remote)


def test_a_value_that_holds_itself_is_cut() -> None:
    value: list[object] = []
    value.append(value)
    assert decode(encode(value))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"?", b"I", b"NN", b"I" + struct.pack("<Q", 1 << 40), b"L" + struct.pack("<Q", 1 << 60), b"L" + struct.pack("<Q", 1),
        b"I" + struct.pack("<Q", 5000) + b"1" * 5000, b"M" + struct.pack("<Q", 1) + encode([1]) + b"N",
        encode(torch.ones(2))[:-1], encode(torch.ones(2)).replace(b"float32", b"float99"),
        encode(torch.ones(2)).replace(struct.pack("<Q", 2), struct.pack("<Q", 1 << 61)), b"L" + struct.pack("<Q", 1) * 60,
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused(content: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(content)


def test_frames_have_a_largest_size_and_a_latest_time() -> None:
    ours, theirs = socket.socketpair()
    send(theirs, b"abc")
    assert receive(ours, 3) == b"abc"
    send(theirs, b"abcd")
    with pytest.raises(ProtocolError):
        receive(ours, 3)
    ours.close()
    theirs.close()
    ours, theirs = socket.socketpair()
    theirs.send(b"\3")
    with pytest.raises(TimeoutError):
        receive(ours, 3, time.monotonic() + 0.05)
    theirs.close()
    with pytest.raises(EOFError):
        receive(ours, 3)
    ours.close()


def test_arguments_keep_parameters_gradients_and_identity() -> None:
    layer, x = torch.nn.Linear(2, 2), torch.ones(2, requires_grad=True)
    (back, same, also), tensors = load(dump((layer, x, x))[0])
    assert same is also
    assert same.requires_grad
    assert [type(one) for one in back.parameters()] == [torch.nn.Parameter] * 2
    assert any(one is back.weight for one in tensors)
    assert torch.equal(back(torch.ones(2)), layer(torch.ones(2)))
