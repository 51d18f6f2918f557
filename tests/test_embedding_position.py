"""Chapters 02 and 03: token and position tables, against torch's own."""

import math
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from hero_transformer.embedding import (
    TokenEmbedding,
    draw_table,
    embed,
    embedding_backward,
    init_embedding,
    nearest_tokens,
    one_hot_matmul,
)
from hero_transformer.exercise import BarredAnswer, barred_answers, replaced_by, replaces
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


@pytest.mark.parametrize(
    ("shape", "remedy"),
    [
        ((3,), r"ids.reshape\(1, -1\)"),
        ((), r"ids.reshape\(1, -1\)"),
        ((1, 2, 3), r"ids.flatten\(0, -2\)"),
        ((2, 0), "Leave out what is empty"),
        ((0, 2), "Leave out what is empty"),
        ((0,), "Leave out what is empty"),
    ],
)
def test_embed_refuses_ids_of_another_shape_with_a_remedy_that_fits(shape, remedy):
    ids = torch.zeros(shape, dtype=torch.int64)
    with pytest.raises(ValueError, match=rf"two axes \[B, T\].*at least one token.*{remedy}"):
        embed(ids, table_of(4, 2))
    if ids.numel():  # then what the message says does work
        changed = ids.reshape(1, -1) if ids.dim() < 2 else ids.flatten(0, -2)
        assert embed(changed, table_of(4, 2)).dim() == 3


@pytest.mark.parametrize(
    "table", [torch.zeros(3), torch.zeros(2, 3, 1), torch.zeros(0, 3), torch.zeros(3, 2).long(), [[1.0]]]
)
@pytest.mark.parametrize("function", [embed, one_hot_matmul, lambda ids, table: nearest_tokens(table, 0, 1)])
def test_lookups_refuse_what_is_no_table(function, table):
    with pytest.raises(ValueError, match=r"table must be a floating-point tensor \[V, d\].*one row a token"):
        function(torch.tensor([[0]]), table)


ids_and_sizes = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda sizes: st.tuples(
        st.just(sizes),
        st.lists(st.integers(0, sizes[0] - 1), min_size=sizes[2] * sizes[3], max_size=sizes[2] * sizes[3]),
    )
)


@settings(deadline=None)  # the first call of autograd takes seconds on a busy machine
@given(ids_and_sizes, st.integers(0, 99))
def test_product_is_the_lookup_and_backward_its_transpose(drawn, seed):
    (V, d, B, T), numbers = drawn
    ids, generator = torch.tensor(numbers).reshape(B, T), torch.Generator().manual_seed(seed)
    table = torch.randn(V, d, dtype=torch.float64, generator=generator)
    upstream = torch.randn(B, T, d, dtype=torch.float64, generator=generator)
    assert torch.equal(one_hot_matmul(ids, table), embed(ids, table))
    gradient = embedding_backward(ids, upstream, V)
    leaf = table.clone().requires_grad_()
    F.embedding(ids, leaf).backward(upstream)
    torch.testing.assert_close(gradient, leaf.grad, rtol=0, atol=1e-12)
    # <E, backward(G)> = <lookup(E), G>: one map is the transpose of the other
    torch.testing.assert_close((table * gradient).sum(), (embed(ids, table) * upstream).sum(), rtol=0, atol=1e-11)


def test_one_hot_product_takes_every_row():
    table = table_of(6, 2)
    table[5] = torch.inf
    assert one_hot_matmul(torch.tensor([[1, 2]]), table).isnan().all()
    assert embed(torch.tensor([[1, 2]]), table).isfinite().all()


@pytest.mark.parametrize("ids", [[[0, -1]], [[4]]])
def test_one_hot_and_backward_refuse_ids_out_of_range(ids):
    with pytest.raises(ValueError, match="0 <= id < V = 4"):
        one_hot_matmul(torch.tensor(ids), table_of(4, 2))
    with pytest.raises(ValueError, match="0 <= id < V = 4"):
        embedding_backward(torch.tensor(ids), torch.ones(1, len(ids[0]), 2), 4)


def test_backward_by_hand_and_the_line_that_overwrites():
    ids, upstream = torch.tensor([[1, 3, 1]]), torch.ones(1, 3, 2)
    assert embedding_backward(ids, upstream, 4).tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]
    wrong = torch.zeros(4, 2)
    wrong[ids] += upstream
    assert wrong[1].tolist() == [1, 1]


@pytest.mark.parametrize("shape", [(3, 2), (1, 2, 2), (2, 3, 2), (1, 3)])
def test_backward_refuses_an_upstream_that_does_not_fit(shape):
    with pytest.raises(ValueError, match=r"upstream must be .* B = 1 and T = 3.*what embed returned"):
        embedding_backward(torch.tensor([[1, 3, 1]]), torch.zeros(shape), 4)
    with pytest.raises(ValueError, match=r"received torch\.int64"):
        embedding_backward(torch.tensor([[1, 3, 1]]), torch.zeros(1, 3, 2).long(), 4)


@pytest.mark.parametrize("size", [0, 2.0, True])
def test_backward_refuses_a_size_that_is_no_positive_int(size):
    with pytest.raises(ValueError, match="vocab_size"):
        embedding_backward(torch.tensor([[0]]), torch.zeros(1, 1, 2), size)


def test_init_embedding_is_torchs_normal_and_what_draw_table_draws():
    made = init_embedding(50, 40, torch.Generator().manual_seed(3))
    oracle = nn.init.normal_(torch.empty(50, 40), std=0.02, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(made, oracle, rtol=0, atol=1e-8)
    assert torch.equal(made, draw_table(50, 40, seed=3))
    assert torch.equal(draw_table(10, 4), 0.02 * torch.randn(10, 4, generator=torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("arguments", [(0, 4), (4, True), (4, 2.0)])
def test_init_embedding_refuses_bad_sizes_and_generators(arguments):
    with pytest.raises(ValueError, match="must be a positive int"):
        init_embedding(*arguments, torch.Generator())
    with pytest.raises(ValueError, match=r"must be a torch\.Generator; received NoneType"):
        init_embedding(4, 4, None)


def test_nearest_tokens_agree_with_torchs_cosine():
    table = torch.randn(40, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    for token in range(40):
        similarity = F.cosine_similarity(table, table[token], dim=1)
        similarity[token] = -2
        assert nearest_tokens(table, token, 5) == similarity.topk(5).indices.tolist()


def test_nearest_tokens_by_hand_with_ties_doubles_and_lengths():
    hand_made = torch.tensor([[5.0, 12.0], [4.0, 3.0], [15.0, 8.0], [3.0, 4.0], [6.0, 8.0], [-3.0, -4.0]])
    assert nearest_tokens(hand_made, 3, 5) == [4, 0, 1, 2, 5]  # 1, 63/65, 24/25, 77/85, -1
    assert nearest_tokens(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [2.0, 0.0]]), 0, 3) == [3, 1, 2]


@settings(deadline=None)
@given(st.integers(0, 30), st.floats(0.01, 100), st.floats(0, 6.28))
def test_nearest_tokens_mind_neither_scale_nor_rotation(seed, scale, angle):
    table = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    a = torch.tensor(angle, dtype=torch.float64)
    turn = torch.stack([torch.stack([a.cos(), a.sin()]), torch.stack([-a.sin(), a.cos()])])
    stretched = table.clone()
    stretched[3] *= scale
    assert nearest_tokens(table, 1, 5) == nearest_tokens(stretched @ turn, 1, 5)


@pytest.mark.parametrize(("id", "k"), [(-1, 1), (4, 1), (0, 0), (0, 4), (True, 1), (0, 1.0)])
def test_nearest_tokens_refuse_what_is_out_of_range(id, k):
    with pytest.raises(ValueError, match=r"0 <= id < V = 4 and 1 <= k < V; received id"):
        nearest_tokens(table_of(4, 2) + 1, id, k)


def test_nearest_tokens_refuse_a_row_without_direction():
    with pytest.raises(ValueError, match=r"the rows \[0, 2\] are zero or not finite"):
        nearest_tokens(torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), 1, 1)
    with pytest.raises(ValueError, match=r"the rows \[1, 2\] are zero or not finite"):
        nearest_tokens(torch.tensor([[0.0, 1.0], [math.nan, 0.0], [1.0, math.inf]]), 0, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", ["tiny", "max"])
def test_nearest_tokens_of_rows_whose_squares_leave_the_range(dtype, size):
    directions = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.1], [0.5, 0.5]], dtype=dtype)
    table = directions * getattr(torch.finfo(dtype), size)
    assert torch.isin(table.square().sum(dim=1), torch.tensor([0.0, math.inf], dtype=dtype)).all()
    assert nearest_tokens(table, 0, 3) == nearest_tokens(directions, 0, 3) == [2, 3, 1]
    assert nearest_tokens(torch.tensor([[1e-30, 0], [-1e-30, 0], [1e-30, 1e-31]]), 0, 2) == [2, 1]


def test_autograd_and_torchs_lookups_are_barred_by_name():
    from hero_transformer import embedding

    def embedding_backward(ids, upstream, vocab_size):
        leaf = torch.zeros(vocab_size, upstream.shape[-1], requires_grad=True)
        return torch.autograd.grad(leaf[ids], leaf, upstream)[0]

    def embed(ids, table):
        return torch.ops.aten.embedding(table, ids)

    before = {name: vars(embedding)[name] for name in ("embed", "embedding_backward")}
    ids, cases = torch.tensor([[1, 0]]), {"autograd.grad": (embedding_backward, (torch.ones(1, 2, 2), 2))}
    cases["aten.embedding"] = (embed, (torch.ones(2, 2),))
    try:
        for name, (function, arguments) in cases.items():
            learners = replaces(embedding)(function)
            with barred_answers(replaced_by(learners)), pytest.raises(BarredAnswer, match=name):
                learners(ids, *arguments)
    finally:
        for name, function in before.items():
            setattr(embedding, name, function)


def test_uint8_ids_are_no_mask():
    ids = torch.tensor([[1, 0], [1, 1], [0, 1]], dtype=torch.uint8)  # as many rows and columns as the table
    table = table_of(3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert table[ids].dim() == 1
    assert torch.equal(embed(ids, table), F.embedding(ids.long(), table))


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


@pytest.mark.parametrize("lengths", [(0, 0), (-1, 0), (2.0, 0), (2, -1), (2, 1.5), (True, 0), (2, 0.0), (2, False)])
def test_position_ids_refuse_impossible_lengths(lengths):
    with pytest.raises(ValueError, match=r"T = .* must be a positive int|past_length = .* must be an int of 0 or more"):
        position_ids(*lengths)


@pytest.mark.parametrize(("T", "past"), [(64, 0), (1, 63), (1, 0)])
def test_check_block_size_accepts_up_to_the_table(T, past):
    assert check_block_size(T, past, 64) is None


@pytest.mark.parametrize(("T", "past", "total"), [(65, 0, 65), (1, 64, 65), (60, 5, 65)])
def test_check_block_size_names_both_numbers(T, past, total):
    message = rf"at most C = 64; received {past} \+ {T} = {total}\. .*enlarge block_size"
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
    with pytest.raises(ValueError, match="hidden and table must be floating-point tensors"):
        add_positions(torch.zeros(2, 3, 4), table.long())
    with pytest.raises(ValueError, match="hidden and table must have one dtype"):  # the sum would be in float64
        add_positions(torch.zeros(2, 3, 4), table)
    with pytest.raises(ValueError, match=r"received 5 \+ 2 = 7"):
        PositionEmbedding(6, 4)(torch.zeros(1, 2, 4), past_length=5)


@pytest.mark.parametrize("made", [TokenEmbedding, PositionEmbedding])
def test_tables_show_their_sizes_and_refuse_what_is_no_generator(made):
    assert repr(made(10, 4)) == f"{made.__name__}(10, 4)"
    for wrong in (0, 7, "seed"):
        with pytest.raises(ValueError, match=r"generator must be a torch\.Generator; received (int|str)\. Make one"):
            made(10, 4, wrong)
