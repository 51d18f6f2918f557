"""Chapters 02 and 03: token and position tables, against torch's own."""

import pytest
import torch
from torch import nn

from hero_transformer.embedding import TokenEmbedding, draw_table, embed
from hero_transformer.position import (
    PositionEmbedding,
    add_positions,
    check_block_size,
    position_ids,
)


def table_of(rows: int, d: int) -> torch.Tensor:
    return torch.arange(rows * d, dtype=torch.float64).reshape(rows, d)


def test_embed_equals_one_hot_product_and_torch_embedding():
    table, ids = table_of(5, 3), torch.tensor([[1, 3, 1], [0, 4, 2]])
    product = nn.functional.one_hot(ids, 5).double() @ table
    assert torch.equal(embed(ids, table), product)
    oracle = nn.Embedding(5, 3, dtype=torch.float64)
    tokens = TokenEmbedding(5, 3).double()
    tokens.load_state_dict(oracle.state_dict())
    assert torch.equal(tokens(ids), oracle(ids))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_embed_takes_every_integer_dtype(dtype):
    ids = torch.tensor([[1, 0, 1]], dtype=dtype)
    assert embed(ids, table_of(2, 3))[0, :, 0].tolist() == [3.0, 0.0, 3.0]


def test_embed_sums_the_gradient_of_a_repeated_id():
    table = table_of(4, 2).requires_grad_()
    embed(torch.tensor([[1, 3, 1]]), table).sum().backward()
    assert table.grad.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_embed_returns_a_copy():
    table = table_of(4, 2)
    embed(torch.tensor([[1]]), table).zero_()
    assert torch.equal(table, table_of(4, 2))


@pytest.mark.parametrize("ids", [[[0, -1]], [[-4]], [[4]], [[1, 100]]])
def test_embed_refuses_ids_out_of_range(ids):
    with pytest.raises(ValueError, match=r"0 <= id < V = 4; received ids from .* tokenizer"):
        embed(torch.tensor(ids), table_of(4, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.float16])
def test_embed_refuses_ids_that_are_not_integers(dtype):
    with pytest.raises(ValueError, match=rf"integer tensor \[B, T\]; received {dtype}.*int64"):
        embed(torch.zeros(1, 2, dtype=dtype), table_of(4, 2))


def test_embed_refuses_a_list():
    with pytest.raises(ValueError, match="received list"):
        embed([[1, 2]], table_of(4, 2))


@pytest.mark.parametrize("shape", [(3,), (), (1, 2, 3), (2, 0), (0, 2)])
def test_embed_refuses_ids_of_another_shape(shape):
    with pytest.raises(ValueError, match=r"two axes \[B, T\].*at least one token.*ids\[None, :\]"):
        embed(torch.zeros(shape, dtype=torch.int64), table_of(4, 2))


def test_tables_come_from_the_generator_and_not_from_the_global_state():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = TokenEmbedding(50, 40)
    torch.manual_seed(2)
    assert torch.equal(first.weight, TokenEmbedding(50, 40).weight)
    torch.manual_seed(1)
    draw_table(5, 4, torch.Generator().manual_seed(3))
    assert torch.equal(torch.get_rng_state(), before)
    other = TokenEmbedding(50, 40, torch.Generator().manual_seed(3))
    assert not torch.equal(first.weight, other.weight)
    assert not torch.equal(first.weight, PositionEmbedding(50, 40).weight)


def test_draw_table_has_standard_deviation_two_hundredths():
    table = draw_table(200, 200)
    # the standard error of the deviation of 40 000 draws is 0.02 / sqrt(80 000) = 7e-5
    assert table.std().item() == pytest.approx(0.02, abs=3e-4)
    # and that of the mean is 0.02 / 200 = 1e-4
    assert table.mean().item() == pytest.approx(0.0, abs=4e-4)


@pytest.mark.parametrize("make", [TokenEmbedding, PositionEmbedding, draw_table])
@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (4, 2.0), (True, 4)])
def test_tables_refuse_sizes_that_are_not_positive_ints(make, sizes):
    with pytest.raises(ValueError, match="must be a positive int"):
        make(*sizes)


def test_position_ids_continue_after_the_past():
    assert position_ids(3).tolist() == [0, 1, 2]
    assert position_ids(2, past_length=5).tolist() == [5, 6]
    assert position_ids(1).dtype == torch.int64


@pytest.mark.parametrize("lengths", [(0, 0), (-1, 0), (2.0, 0), (2, -1), (2, 1.5), (True, 0)])
def test_position_ids_refuse_impossible_lengths(lengths):
    with pytest.raises(ValueError, match="must be a positive int"):
        position_ids(*lengths)


@pytest.mark.parametrize(("T", "past"), [(64, 0), (1, 63), (1, 0)])
def test_check_block_size_accepts_up_to_the_table(T, past):
    assert check_block_size(T, past, 64) is None


@pytest.mark.parametrize(("T", "past", "total"), [(65, 0, 65), (1, 64, 65), (60, 5, 65)])
def test_check_block_size_names_both_numbers(T, past, total):
    message = rf"at most C = 64; received {past} \+ {T} = {total}\. .*larger block_size"
    with pytest.raises(ValueError, match=message):
        check_block_size(T, past, 64)


def test_check_block_size_refuses_a_negative_past():
    with pytest.raises(ValueError, match="past_length = -1"):
        check_block_size(3, -1, 64)


def test_add_positions_adds_along_time_not_batch():
    hidden, table = torch.zeros(3, 2, 4, dtype=torch.float64), table_of(6, 4)
    out = add_positions(hidden, table, past_length=1)
    for b in range(3):
        assert torch.equal(out[b], table[1:3])
    assert not hidden.any()


def test_position_embedding_in_chunks_equals_the_whole():
    positions = PositionEmbedding(6, 4).double()
    hidden = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    chunks = [positions(hidden[:, :2]), positions(hidden[:, 2:], past_length=2)]
    assert torch.equal(torch.cat(chunks, dim=1), positions(hidden))
    assert list(positions.state_dict()) == ["weight"]


def test_add_positions_refuses_what_does_not_fit():
    table = table_of(6, 4)
    with pytest.raises(ValueError, match=r"three axes \[B, T, d\]"):
        add_positions(torch.zeros(3, 4), table)
    with pytest.raises(ValueError, match=r"d = 4.*last axis"):
        add_positions(torch.zeros(2, 3, 1), table)
    with pytest.raises(ValueError, match="floating-point"):
        add_positions(torch.zeros(2, 3, 4, dtype=torch.int64), table)
    with pytest.raises(ValueError, match=r"received 5 \+ 2 = 7"):
        PositionEmbedding(6, 4)(torch.zeros(1, 2, 4), past_length=5)
