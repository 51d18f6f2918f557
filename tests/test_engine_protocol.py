"""The protocol: plain data there and back, and nothing but plain data from bytes that nobody vouches for."""

from __future__ import annotations

import contextlib
import math
import pickle
import socket
import struct
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hero_course.engine.frames import ProtocolError, receive, send
from hero_course.engine.kinds import ITEMS
from hero_course.engine.payload import dump, load
from hero_course.engine.protocol import DTYPES, Opaque, Remote, TooLargeError, decode, encode
from hero_course.engine.tensors import extent

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


def test_a_derived_class_keeps_its_name_and_nothing_else() -> None:
    class Number(float):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = float.__hash__

    back = decode(encode(Number(2)))
    assert (type(back).__name__, isinstance(back, float), back == 3.0) == ("Number", True, False)
    assert pickle.loads(pickle.dumps([back])) == [2.0]
    assert type(decode(encode(torch.nn.Parameter(torch.ones(1))))) is torch.Tensor


def test_objects_become_opaque_and_iterators_stay() -> None:
    thing = decode(encode(memoryview(b"a")))
    assert isinstance(thing, Opaque)
    assert type(thing).__name__ == "memoryview"
    iterators: list[object] = []
    assert isinstance(decode(encode(iter([1]), iterators)), Remote)
    assert len(iterators) == 1


@st.composite
def _anyhow_in_memory(draw: st.DrawFn) -> torch.Tensor:
    """A tensor of different numbers whose axes were exchanged, cut, repeated or taken by steps."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    tensor = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)
    tensor = tensor.permute(draw(st.permutations(range(len(shape)))))
    for axis, size in enumerate(tensor.shape):
        start, step = draw(st.integers(0, size)), draw(st.integers(1, 3))
        tensor = tensor[(slice(None),) * axis + (slice(start, None, step),)]
    return tensor.unsqueeze(0).expand(draw(st.integers(1, 3)), *tensor.shape)


@given(_anyhow_in_memory())
def test_a_tensor_keeps_its_order_in_memory_where_no_elements_share_a_place(tensor: torch.Tensor) -> None:
    back = decode(encode(tensor))
    assert back.dtype == tensor.dtype
    assert torch.equal(back, tensor)
    assert back.is_contiguous() == (tensor.is_contiguous() or extent(tensor.shape, tensor.stride()) is None)
    if not back.is_contiguous():
        long = [axis for axis, size in enumerate(tensor.shape) if size > 1]
        assert [back.stride(axis) for axis in long] == [tensor.stride(axis) for axis in long]


@given(st.lists(st.integers(0, 3), max_size=3), st.data())
def test_no_strides_of_a_workers_reach_outside_its_bytes(shape: list[int], data: st.DataObject) -> None:
    numbers = st.integers(0, 9) | st.integers(2**62, 2**64 - 1)
    strides = data.draw(st.lists(numbers, min_size=len(shape), max_size=len(shape)))
    row_major = encode(torch.ones(shape))
    plain = struct.pack(f"<{len(shape) + 2}Q", len(shape), *shape, 0)
    assert plain in row_major
    with_strides = struct.pack(f"<{2 * len(shape) + 2}Q", len(shape), *shape, len(shape), *strides)
    with contextlib.suppress(ProtocolError):
        assert decode(row_major.replace(plain, with_strides)).tolist() == torch.ones(shape).tolist()


def test_a_value_that_holds_itself_is_cut() -> None:
    value: list[object] = []
    value.append(value)
    assert decode(encode(value))


def test_what_holds_itself_many_times_is_too_large_at_once() -> None:
    value: list[object] = []
    for _ in range(30):
        value = [value, value]
    with pytest.raises(TooLargeError, match="parts"):
        encode(value, most=1 << 24)
    with pytest.raises(TooLargeError, match="bytes"):
        encode(["x" * (1 << 20)] * 1000, most=1 << 24)
    with pytest.raises(TooLargeError, match="bytes"):
        encode(torch.zeros(1).expand(1 << 40), most=1 << 24)


def test_values_of_one_hash_are_refused_and_equal_ones_are_not() -> None:
    modulus = (1 << 61) - 1
    assert decode(encode([(1, 2)] * (ITEMS // 4)))
    for many in (
        [number * modulus for number in range(1, 5000)],
        [complex(-number * 1000003, number) for number in range(1, 5000)],
        [tuple(-1 - (number >> bit & 1) for bit in range(13)) for number in range(5000)],
    ):
        assert len({hash(one) for one in many}) < 20
        with pytest.raises(ProtocolError, match="one hash"):
            decode(encode(many))
        with pytest.raises(ProtocolError, match="one hash"):
            decode(encode(dict.fromkeys(many)))


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
    (back, same, also), tensors, _ = load(dump((layer, x, x))[0])
    assert same is also
    assert same.requires_grad
    assert [type(one) for one in back.parameters()] == [torch.nn.Parameter] * 2
    assert any(one is back.weight for one in tensors)
    assert torch.equal(back(torch.ones(2)), layer(torch.ones(2)))
