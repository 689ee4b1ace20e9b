"""Where tokens stand: by hand, by counting one token at a time, and as transformers has it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Rotary, positions

masks = st.integers(1, 3).flatmap(
    lambda rows: st.integers(0, 8).flatmap(
        lambda length: st.lists(
            st.lists(st.integers(0, 1), min_size=length, max_size=length),
            min_size=rows,
            max_size=rows,
        )
    )
)


def check(framework, got, want):
    """An array of this framework with integers as wide as it has, and just these."""
    assert framework.is_own(got)
    xp = framework.xp
    assert got.dtype == (xp.int32 if framework.name == "jax" else xp.int64)
    np.testing.assert_array_equal(numpy(got), want)


# Counted.


def test_count(framework):
    like = framework.array([0.0])
    check(framework, positions.count(4, like=like), [0, 1, 2, 3])
    # skyzh/tiny-llm#46: the offset is the number of cached tokens.
    check(framework, positions.count(6, offset=6, like=like), [6, 7, 8, 9, 10, 11])
    check(framework, positions.count(2, offset=-1, like=like), [-1, 0])
    check(framework, positions.count(0, offset=5, like=like), [])


def test_numpy_without_like():
    for made in positions.count(3), positions.packed([3]), positions.grid(3):
        assert isinstance(made, np.ndarray)
        assert made.dtype == np.int64
    assert positions.packed([]).dtype == positions.grid(0, 2).dtype == np.int64


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_prefill_then_steps(offset, prefill, step):
    whole = positions.count(prefill + step, offset=offset)
    parts = [
        positions.count(prefill, offset=offset),
        positions.count(step, offset=offset + prefill),
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


# From a mask.


@pytest.mark.parametrize(
    ("mask", "want"),
    [
        ([0, 0, 1, 1, 1], [0, 0, 0, 1, 2]),  # huggingface/transformers#22161
        ([1, 1, 1, 0, 0], [0, 1, 2, 0, 0]),
        ([1, 0, 1, 0, 1], [0, 0, 1, 0, 2]),
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
    ],
)
def test_from_mask(framework, mask, want):
    check(framework, positions.from_mask(framework.array(mask)), want)
    check(framework, positions.from_mask(framework.array(np.asarray(mask) > 0)), want)


def test_fairseq(framework):
    # fairseq/utils.py, make_positions with padding_idx=1: ids [[1,1,5,6,7], [5,6,7,1,1]].
    mask = framework.array([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
    got = positions.from_mask(mask, start=2, padding=1)
    check(framework, got, [[1, 1, 2, 3, 4], [2, 3, 4, 1, 1]])
    # facebookresearch/fairseq#1187: 512 tokens reach row 513, so their table has 514.
    assert positions.from_mask(np.ones(512, dtype=int), start=2, padding=1).max() == 513


@pytest.mark.slow
def test_transformers_roberta():
    import torch
    from transformers.models.roberta.modeling_roberta import RobertaEmbeddings

    ids = torch.tensor([[1, 1, 5, 6, 7], [5, 6, 7, 1, 1], [5, 1, 6, 1, 7]])
    want = RobertaEmbeddings.create_position_ids_from_input_ids(ids, padding_idx=1)
    assert torch.equal(positions.from_mask(ids != 1, start=2, padding=1), want)


@given(masks, st.integers(-3, 3), st.integers(-3, 3))
def test_from_mask_counts_real_tokens(mask, start, padding):
    got = positions.from_mask(np.asarray(mask, dtype=int), start=start, padding=padding)
    for row, real in zip(got, mask, strict=True):
        count = itertools.count(start)
        assert row.tolist() == [next(count) if one else padding for one in real]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32"])
def test_masks_of_any_dtype(dtype):
    # A mask of bytes must not make positions of bytes.
    mask = np.ones(300, dtype=dtype)
    np.testing.assert_array_equal(positions.from_mask(mask), np.arange(300))


# Packed documents.


def test_packed(framework):
    # huggingface/nanoVLM#201: the first token of the second sample got 101.
    got = positions.packed([101, 201], like=framework.array([0.0]))
    check(framework, got, [*range(101), *range(201)])
    check(framework, positions.packed([2, 0, 1], like=got), [0, 1, 0])
    check(framework, positions.packed([], like=got), [])


def test_from_documents(framework):
    documents = framework.array([[0, 0, 1, 1], [1, 1, 1, 2], [2, 2, 2, 2]])
    want = [[0, 1, 0, 1], [0, 1, 2, 0], [0, 1, 2, 3]]
    check(framework, positions.from_documents(documents), want)


@pytest.mark.parametrize(
    ("documents", "want"),
    [
        ([7, 7, 7, 2, 2, 9], [0, 1, 2, 0, 1, 0]),
        ([1, 1, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1]),  # a number that comes again starts anew
        ([[[3, 3]], [[3, 4]]], [[[0, 1]], [[0, 0]]]),
        ([5], [0]),
    ],
)
def test_documents_of_any_shape(documents, want):
    np.testing.assert_array_equal(positions.from_documents(np.asarray(documents)), want)


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), max_size=4))
def test_documents_are_runs(rows):
    got = positions.from_documents(np.asarray(rows, dtype=int).reshape(-1, 6))
    for row, numbers in zip(got, rows, strict=True):
        lengths = [len(list(run)) for _, run in itertools.groupby(numbers)]
        np.testing.assert_array_equal(row, positions.packed(lengths))


def test_no_tokens(framework):
    empty = framework.array(np.zeros((2, 0), dtype=int))
    assert positions.from_documents(empty).shape == positions.from_mask(empty).shape == (2, 0)
    for shape in (0,), (0, 3):
        empty = np.zeros(shape, dtype=int)
        assert positions.from_documents(empty).shape == positions.from_mask(empty).shape == shape


def test_a_long_row_of_documents():
    # Memory grows with the length, not with its square: that would be a terabyte here.
    documents = np.repeat(np.arange(1_000), 1_000)
    want = np.tile(np.arange(1_000), 1_000)
    np.testing.assert_array_equal(positions.from_documents(documents), want)


def test_a_share_of_packed_documents():
    # NVIDIA/Megatron-LM#5243: ends [0, 4, 8] on 2 ranks. Each document is cut into 4 pieces, and
    # rank 0 has the first and the last of each: rows 0, 3, 4, 7 of the table, not 0, 3, 0, 3.
    rows = positions.shard([4, 4], rank=0, ranks=2)
    assert rows.tolist() == [0, 3, 4, 7]
    place, spec = positions.packed([4, 4]), Rotary(dim=4)
    assert place[rows].tolist() == [0, 3, 0, 3]
    assert positions.count(8)[rows].tolist() == [0, 3, 4, 7]  # one text, not two documents
    for whole, share in zip(spec.table(place), spec.table(place[rows]), strict=True):
        np.testing.assert_array_equal(share, whole[rows])
    x = np.random.default_rng(0).standard_normal((8, 4))
    np.testing.assert_array_equal(spec.rotate(x[rows], place[rows]), spec.rotate(x, place)[rows])


# Shared by processes.


def test_shard(framework):
    like = framework.array([0.0])
    check(framework, positions.shard([8], rank=1, ranks=2, like=like), [2, 3, 4, 5])
    check(framework, positions.shard([4, 8], rank=0, ranks=2, like=like), [0, 3, 4, 5, 10, 11])
    rows = positions.shard([4, 2], rank=1, ranks=2, order="contiguous", like=like)
    check(framework, rows, [2, 3, 5])
    check(framework, positions.shard([0], rank=0, ranks=3, like=like), [])


@given(st.lists(st.integers(0, 3), max_size=4), st.integers(1, 4), st.booleans())
def test_shares_are_all_tokens_once(sizes, ranks, zigzag):
    lengths = [2 * ranks * size for size in sizes]
    order = "zigzag" if zigzag else "contiguous"
    shares = [positions.shard(lengths, rank=r, ranks=ranks, order=order) for r in range(ranks)]
    assert {len(share) for share in shares} == {sum(lengths) // ranks}
    everyone = np.concatenate(shares)
    np.testing.assert_array_equal(np.sort(everyone), np.arange(sum(lengths)))
    np.testing.assert_array_equal(everyone[np.argsort(everyone)], np.arange(sum(lengths)))


@given(st.integers(1, 6), st.integers(1, 6))
def test_zigzag_shares_the_work_of_a_causal_mask(ranks, size):
    # A query at position p sees p + 1 keys.
    work = {
        int((positions.shard([2 * ranks * size], rank=r, ranks=ranks) + 1).sum())
        for r in range(ranks)
    }
    assert len(work) == 1


# After a cache.


def test_after_cache(framework):
    check(framework, positions.after_cache(framework.array([6, 2]), 3), [[6, 7, 8], [2, 3, 4]])
    check(framework, positions.after_cache(framework.array(6), 2), [6, 7])
    check(framework, positions.after_cache(framework.array([[1], [4]]), 1), [[[1]], [[4]]])
    assert positions.after_cache(framework.array([6, 2]), 0).shape == (2, 0)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint64"])
def test_counts_of_any_dtype(dtype):
    # 120 + 10 is past int8, 250 + 10 past uint8.
    cached = np.asarray([120, 250 if dtype != "int8" else 3], dtype=dtype)
    got = positions.after_cache(cached, 11)
    assert got.dtype == np.int64
    assert got[:, 10].tolist() == [130, int(cached[1]) + 10]


def test_padded_rows_decode_after_their_own_tokens():
    mask = np.asarray([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    whole = positions.from_mask(np.concatenate([mask, np.ones((2, 2), dtype=int)], axis=1))
    got = positions.after_cache(mask.sum(axis=1), 2)
    np.testing.assert_array_equal(got, whole[:, 5:])


# Grids.


def test_grid(framework):
    # huggingface/transformers#41380: three rows of four, where a square would hide a swap.
    got = positions.grid(3, 4, like=framework.array([0.0]))
    rows, columns = [0] * 4 + [1] * 4 + [2] * 4, [0, 1, 2, 3] * 3
    check(framework, got, np.stack([rows, columns], axis=1))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_grids_of_any_shape(sizes):
    got = positions.grid(*sizes)
    want = list(itertools.product(*map(range, sizes)))
    np.testing.assert_array_equal(got, np.asarray(want, dtype=int).reshape(-1, len(sizes)))


def test_kept_patches():
    # huggingface/pytorch-image-models#2549: patches that were dropped take their rows along.
    kept = positions.grid(3, 4)[[0, 5, 11]]
    np.testing.assert_array_equal(kept, [[0, 0], [1, 1], [2, 3]])


# Tracing.

functions = pytest.mark.parametrize(
    "function",
    [
        lambda x: positions.count(x.shape[-1], offset=2, like=x),
        lambda x: positions.packed([2, 4], like=x),
        lambda x: positions.shard([2, 4], rank=1, ranks=2, order="contiguous", like=x),
        lambda x: positions.grid(2, 3, like=x),
        lambda x: positions.from_mask(x, start=2, padding=1),
        lambda x: positions.from_documents(x),
        lambda x: positions.after_cache(x, 3),
    ],
    ids=["count", "packed", "shard", "grid", "from_mask", "from_documents", "after_cache"],
)
TWO_ROWS = [[0, 1, 1, 0, 1, 1], [1, 1, 0, 0, 0, 1]]


@functions
def test_torch_traces(function):
    import torch

    torch._dynamo.reset()

    class Made(torch.nn.Module):
        def forward(self, x):
            return function(x)

    x = torch.tensor(TWO_ROWS)
    compiled = torch.compile(function, fullgraph=True, backend="eager")
    for length in 6, 5, 4:
        assert torch.equal(compiled(x[:, :length]), function(x[:, :length]))
    assert torch.equal(torch.export.export(Made(), (x,)).module()(x), function(x))


@functions
def test_jax_jit(function):
    import jax
    import jax.numpy as jnp

    want = function(np.asarray(TWO_ROWS))
    np.testing.assert_array_equal(jax.jit(function)(jnp.asarray(TWO_ROWS)), want)


@pytest.mark.parametrize("function", [positions.from_mask, positions.from_documents])
def test_vmap(function):
    import jax
    import jax.numpy as jnp
    import torch

    want = function(np.asarray(TWO_ROWS))
    np.testing.assert_array_equal(torch.func.vmap(function)(torch.tensor(TWO_ROWS)), want)
    np.testing.assert_array_equal(jax.vmap(function)(jnp.asarray(TWO_ROWS)), want)


# What is refused.


def test_errors():
    with pytest.raises(TypeError, match=r"`length` must be an integer; got 4.0"):
        positions.count(4.0)
    with pytest.raises(ValueError, match=r"`length` must be at least 0; got length=-1"):
        positions.count(-1)
    with pytest.raises(TypeError, match=r"`offset` must be an integer"):
        positions.count(4, offset=0.5)
    with pytest.raises(TypeError, match=r"`mask` must hold booleans or integers; got float64"):
        positions.from_mask(np.ones(3))
    with pytest.raises(TypeError, match=r"got list"):
        positions.from_mask([1, 1, 0])
    with pytest.raises(TypeError, match=r"`start` must be an integer"):
        positions.from_mask(np.ones(3, dtype=int), start=0.0)
    with pytest.raises(TypeError, match=r"`padding` must be an integer; got None"):
        positions.from_mask(np.ones(3, dtype=int), padding=None)
    with pytest.raises(TypeError, match=r"`lengths` must be an integer"):
        positions.packed([2, 1.0])
    with pytest.raises(ValueError, match=r"`lengths` must be at least 0"):
        positions.packed([2, -1])
    with pytest.raises(ValueError, match=r"multiples of 4, .* got 6. Pad it"):
        positions.shard([4, 6], rank=0, ranks=2)
    with pytest.raises(ValueError, match=r"`rank` must be below 2 \(`ranks`\); got rank=2"):
        positions.shard([4], rank=2, ranks=2)
    with pytest.raises(ValueError, match=r"`rank` must be at least 0"):
        positions.shard([4], rank=-1, ranks=2)
    with pytest.raises(ValueError, match=r"`order` must be one of 'zigzag', 'contiguous'"):
        positions.shard([4], rank=0, ranks=2, order="zig-zag")
    with pytest.raises(TypeError, match=r"`lengths` must be an integer; got 4.0"):
        positions.shard([4.0], rank=0, ranks=2)
    with pytest.raises(TypeError, match=r"`documents` must hold integers; got float64"):
        positions.from_documents(np.ones(3))
    for function in positions.from_mask, positions.from_documents:
        with pytest.raises(ValueError, match=r"must have an axis of tokens; got a single number"):
            function(np.asarray(1))
    with pytest.raises(TypeError, match=r"`cached` must be integers.*got float64"):
        positions.after_cache(np.ones(2), 3)
    with pytest.raises(TypeError, match=r"`length` must be an integer"):
        positions.after_cache(np.asarray([1, 2]), 3.0)
    with pytest.raises(ValueError, match=r"`length` must be at least 0"):
        positions.after_cache(np.asarray([1, 2]), -1)
    with pytest.raises(ValueError, match=r"`sizes` must name at least one axis"):
        positions.grid()
    with pytest.raises(TypeError, match=r"`sizes` must be an integer"):
        positions.grid(2, 3.0)
    with pytest.raises(ValueError, match=r"`sizes` must be at least 0"):
        positions.grid(2, -3)


def test_a_mask_of_scores_is_refused(framework):
    with pytest.raises(ValueError, match=r"`mask` must hold 0 and 1"):
        positions.from_mask(framework.array([[-10_000, 0, 0]]))
