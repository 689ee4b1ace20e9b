"""Turning pairs of features: the papers' numbers, the laws of rotation, and living references."""

import dataclasses
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import DynamicNTK, Linear, LogN, LongRope, Rotary, positions
from posenc.rotary import rotate

COUNT = np.arange(1.0, 9.0)
# Computed by truth() below from Su et al. 2021, section 3.4.2, in 50 digits: COUNT at position 3.
INTERLEAVED = [
    *(-1.272232512720, -1.838864985141, 1.683928640731, 4.707906576486),
    *(4.817777167530, 6.147277703506, 6.975968536024, 8.020963968527),
]
HALF = [
    *(-1.695592536900, 0.137551738283, 2.788681599829, 3.975982036013),
    *(-4.808842474942, 6.323059348076, 7.086836736850, 8.011963982027),
]
PARTIAL_INTERLEAVED = [
    *(-1.272232512720, -1.838864985141, 2.878668100437, 4.088186635603),
    *(5, 6, 7, 8),
]
PARTIAL_HALF = [
    *(-1.413352520780, 1.879118066688, -2.828857481741, 4.058191135401),
    *(5, 6, 7, 8),
]

layouts = pytest.mark.parametrize("layout", ["half", "interleaved"])


@st.composite
def specs(draw):
    """A head of any width, all of it turning or a part, with either exponent."""
    dim = 2 * draw(st.integers(1, 12))
    return Rotary(
        dim=dim,
        base=draw(st.sampled_from([100.0, 10_000.0, 500_000.0])),
        layout=draw(st.sampled_from(["half", "interleaved"])),
        rotary_dim=draw(st.none() | st.integers(1, dim // 2).map(lambda half: 2 * half)),
        exponent=draw(st.sampled_from(["rotary", "head"])),
    )


near = st.integers(-10_000, 10_000)


@dataclasses.dataclass(frozen=True)
class Rule:
    """A scaling that uses what it is told: the length, and a factor on cos and sin."""

    scale: Callable
    table_factor: float = 1.0
    original_length: int | None = None


def halved_beyond_31(frequencies, *, dim, base, length=None):
    return tuple(w / 2 if (length or 0) > 31 else w for w in frequencies)


GROWN = Rule(scale=halved_beyond_31, table_factor=1.25)


def vector(spec, seed=0):
    return np.random.default_rng(seed).standard_normal(spec.dim)


def at(spec, x, position, **kwargs):
    return spec.rotate(x, np.asarray(position), **kwargs)


def truth(x, position, *, layout, turned=None, width=None, base=10_000):
    """The paper's rule, pair by pair, in 50 digits; features beyond `turned` stay."""
    turned = turned or len(x)
    y = [mpmath.mpf(float(value)) for value in x]
    with mpmath.workdps(50):
        for k in range(turned // 2):
            one, other = (k, k + turned // 2) if layout == "half" else (2 * k, 2 * k + 1)
            angle = position * mpmath.mpf(base) ** (-mpmath.mpf(2 * k) / (width or turned))
            cos, sin, a, c = mpmath.cos(angle), mpmath.sin(angle), y[one], y[other]
            y[one], y[other] = a * cos - c * sin, c * cos + a * sin
    return np.asarray([float(value) for value in y])


# A turned value is the sum of two products: two table errors and three roundings of float32.
def float32_error(framework, x):
    return np.abs(x).max() * (2 * framework.exact + 3 * 2**-24)


# The papers' numbers.


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"layout": "interleaved"}, INTERLEAVED),
        ({"layout": "half"}, HALF),
        ({"layout": "interleaved", "rotary_dim": 4}, PARTIAL_INTERLEAVED),
        ({"layout": "half", "rotary_dim": 4}, PARTIAL_HALF),
    ],
)
def test_check_values(framework, fields, want):
    x = framework.array(COUNT[None], "float32")
    got = Rotary(dim=8, **fields).rotate(x, framework.array([3]))
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    np.testing.assert_allclose(
        numpy(got), [want], rtol=0, atol=float32_error(framework, COUNT) + 1e-12
    )
    own = truth(COUNT, 3, layout=fields["layout"], turned=fields.get("rotary_dim"))
    np.testing.assert_allclose(own, want, rtol=0, atol=1e-12)


def test_four_features():
    # huggingface/transformers#25199: two legal layouts, and nothing in a file says which.
    x = COUNT[:4]
    half, interleaved = (Rotary(dim=4, layout=layout) for layout in ("half", "interleaved"))
    want = [-1.9841106486, 1.9599006675, 2.4623779024, 4.0197996683]
    np.testing.assert_allclose(at(half, x, 1), want, rtol=0, atol=1e-10)
    want = [-1.1426396637, 1.9220755965, 2.9598506679, 4.0297995017]
    np.testing.assert_allclose(at(interleaved, x, 1), want, rtol=0, atol=1e-10)


@layouts
@pytest.mark.parametrize("rotary_dim", [None, 64])
def test_far_positions(framework, layout, rotary_dim):
    far = [0, 1, 4096, 131_072, 2**24 + 1, 2**31 - 1]
    x = np.random.default_rng(0).standard_normal((len(far), 128)).astype(np.float32)
    spec = Rotary(dim=128, base=500_000.0, layout=layout, rotary_dim=rotary_dim)
    got = numpy(spec.rotate(framework.array(x), framework.array(far)))
    want = [
        truth(row, position, layout=layout, turned=rotary_dim, base=500_000)
        for row, position in zip(x, far, strict=True)
    ]
    np.testing.assert_allclose(got, want, rtol=0, atol=float32_error(framework, x))


@layouts
def test_scores(layout):
    # Written out, the score is sum_k of a cosine and a sine of the distance; see truth().
    want = {"half": 111.267546661, "interleaved": 103.361616616}[layout]
    spec = Rotary(dim=8, layout=layout)
    for m, n in (7, 2), (107, 102):
        score = at(spec, COUNT, m) @ at(spec, COUNT[::-1], n)
        np.testing.assert_allclose(score, want, rtol=0, atol=1e-9)


def test_scores_of_mixed_layouts_would_move():
    # raiyanyahya/how-to-train-your-gpt#6: angles for neighbours, features swapped by halves.
    q, k = np.asarray([0.1, 0.2, 0.3, 0.4]), np.asarray([0.5, -0.6, 0.7, 0.8])
    for layout, want in ("half", 0.0270175), ("interleaved", 0.4127367):
        spec = Rotary(dim=4, layout=layout)
        for s in 0, 7, 1000:
            score = at(spec, q, 3 + s) @ at(spec, k, 1 + s)
            np.testing.assert_allclose(score, want, rtol=0, atol=1e-7)
        norm = np.linalg.norm(at(spec, COUNT[:4], 1))
        np.testing.assert_allclose(norm, 5.477226, rtol=0, atol=1e-6)


def test_exponents_of_a_partly_turned_head():
    rotary = Rotary(dim=256, rotary_dim=64).frequencies
    head = Rotary(dim=256, rotary_dim=64, exponent="head").frequencies
    assert len(rotary) == len(head) == 32
    np.testing.assert_allclose([rotary[1], rotary[31]], [0.749894, 1.3335e-4], rtol=2e-5)
    np.testing.assert_allclose([head[1], head[31]], [0.930572, 0.107461], rtol=1e-5)
    for exponent, width in ("rotary", 4), ("head", 8):
        got = at(Rotary(dim=8, rotary_dim=4, exponent=exponent), COUNT, 3)
        want = truth(COUNT, 3, layout="half", turned=4, width=width)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


# The laws of rotation.


@given(specs(), near)
def test_length_is_kept(spec, position):
    x = vector(spec)
    np.testing.assert_allclose(np.linalg.norm(at(spec, x, position)), np.linalg.norm(x))


@given(specs())
def test_position_0_changes_nothing(spec):
    x = vector(spec)
    np.testing.assert_array_equal(at(spec, x, 0), x)


@given(specs(), near, near, near)
def test_scores_depend_on_the_distance(spec, m, n, shift):
    q, k = vector(spec, 1), vector(spec, 2)
    want = at(spec, q, m) @ at(spec, k, n)
    got = at(spec, q, m + shift) @ at(spec, k, n + shift)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * spec.dim)


@given(specs(), near, near)
def test_turns_add_up(spec, a, b):
    x = vector(spec)
    np.testing.assert_allclose(at(spec, at(spec, x, b), a), at(spec, x, a + b), atol=1e-13)


@given(specs(), near)
def test_turning_back(spec, position):
    x = vector(spec)
    there = at(spec, x, position)
    np.testing.assert_allclose(at(spec, there, position, inverse=True), x, rtol=0, atol=1e-14)
    back = at(spec, there, -position)
    np.testing.assert_array_equal(at(spec, there, position, inverse=True), back)


@given(specs(), near)
def test_layouts_are_permutations(spec, position):
    half = dataclasses.replace(spec, layout="half")
    interleaved = dataclasses.replace(spec, layout="interleaved")
    r = spec.turned
    order = [*range(0, r, 2), *range(1, r, 2), *range(r, spec.dim)]
    x = vector(spec)
    np.testing.assert_array_equal(at(half, x[order], position), at(interleaved, x, position)[order])


@given(specs(), near)
def test_the_rest_of_a_head_stays(spec, position):
    # AI-Hypercomputer/maxtext#4616, labscommunity/cascadia#69: look at features, not tables.
    x = vector(spec)
    got = at(spec, x, position)
    np.testing.assert_array_equal(got[spec.turned :], x[spec.turned :])
    if spec.exponent == "rotary":
        alone = Rotary(dim=spec.turned, base=spec.base, layout=spec.layout)
        np.testing.assert_array_equal(got[: spec.turned], at(alone, x[: spec.turned], position))


# Positions: of any shape, of each row, after a cache.


def test_table_for_positions_of_any_shape():
    spec = Rotary(dim=6)
    for half, nine in zip(
        spec.table(np.asarray([[5, 0], [2, 9], [9, 7]])), spec.table(np.asarray(9)), strict=True
    ):
        assert half.shape == (3, 2, 3)
        np.testing.assert_array_equal(half[1, 1], nine)
        np.testing.assert_array_equal(half[2, 0], nine)
    assert spec.table(np.zeros((0, 2), dtype=int))[0].shape == (0, 2, 3)


def test_rows_of_their_own(framework):
    spec = Rotary(dim=8)
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 8)).astype(np.float32)
    rows = positions.from_mask(framework.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 0]]))
    got = numpy(spec.rotate(framework.array(x), rows[:, None, :]))
    want = [
        [[truth(t, p, layout="half") for t, p in zip(h, row, strict=True)] for h in b]
        for b, row in zip(x, numpy(rows), strict=True)
    ]
    np.testing.assert_allclose(got, want, rtol=0, atol=float32_error(framework, x))


def test_padding_changes_nothing():
    # huggingface/transformers#22161, OpenNMT/CTranslate2#1372: alone or in a padded batch.
    import torch

    spec = Rotary(dim=16)
    x = torch.randn(2, 3, 5, 16, generator=torch.Generator().manual_seed(0))
    rows = positions.from_mask(torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 0]]))
    got = spec.rotate(x, rows[:, None, :])
    assert torch.equal(got[0, :, 2:], spec.rotate(x[0, :, 2:], torch.arange(3)))
    assert torch.equal(got[1, :, :4], spec.rotate(x[1, :, :4], torch.arange(4)))


def test_heads_before_or_after_tokens():
    # mlfoundations/open_lm#4: positions along the axis of heads.
    spec, five = Rotary(dim=4), np.arange(5)
    got = spec.rotate(np.ones((1, 5, 2, 4)), five[None, :, None])
    np.testing.assert_array_equal(got[:, :, 0], got[:, :, 1])
    assert len(np.unique(got[0, :, 0], axis=0)) == 5
    heads_first = spec.rotate(np.ones((1, 2, 5, 4)), five)
    np.testing.assert_array_equal(heads_first, np.swapaxes(got, 1, 2))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_any_number_of_heads(heads):
    # linkedin/Liger-Kernel#342: with one head, strides lie and the keys came back unturned.
    import torch

    spec = Rotary(dim=4)
    x = torch.ones(2, 5, heads, 4).transpose(1, 2)
    got = spec.rotate(x, torch.arange(5))
    assert torch.equal(got, spec.rotate(x.contiguous(), torch.arange(5)))
    assert torch.equal(got[0, 0], spec.rotate(torch.ones(5, 4), torch.arange(5)))


@given(st.integers(0, 7), st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_prefill_and_steps(start, steps):
    # One call or many, the difference is 0: lucidrains/rotary-embedding-torch#11,
    # patrick-kidger/equinox#799, skyzh/tiny-llm#46.
    import torch

    spec = Rotary(dim=16)
    x = torch.randn(2, sum(steps), 16, generator=torch.Generator().manual_seed(0))
    whole = spec.rotate(x, positions.count(sum(steps), offset=start, like=x))
    done = 0
    for step in steps:
        place = positions.count(step, offset=start + done, like=x)
        got = spec.rotate(x[:, done : done + step], place)
        assert torch.equal(got, whole[:, done : done + step])
        done += step


def test_packed_documents_begin_again():
    # NVIDIA/Megatron-LM#453: the row of the table is the position, not the index.
    for half in Rotary(dim=8).table(np.asarray([0, 1, 2, 0, 1])):
        np.testing.assert_array_equal(half[3:], half[:2])


def test_a_dropped_key_leaves_the_others():
    # NVIDIA/kvpress#31: a key keeps the position it came with.
    spec = Rotary(dim=8)
    x, q = np.random.default_rng(0).standard_normal((2, 6, 8))
    kept = [0, 1, 3, 4, 5]
    query = at(spec, q[0], 6)
    scores = spec.rotate(x, np.arange(6)) @ query
    got = spec.rotate(x[kept], np.asarray(kept)) @ query
    np.testing.assert_allclose(got, scores[kept], rtol=0, atol=1e-14)


@pytest.mark.parametrize("scaling", [None, GROWN])
def test_a_cached_key_moves(scaling):
    # huggingface/transformers#35350: from 10 to 6 without a second attention factor.
    spec = Rotary(dim=8, scaling=scaling)
    moved = at(spec, at(spec, at(spec, COUNT, 10), 10, inverse=True), 6)
    np.testing.assert_allclose(moved, at(spec, COUNT, 6), rtol=1e-13)
    if scaling is None:
        np.testing.assert_allclose(at(spec, at(spec, COUNT, 10), -4), at(spec, COUNT, 6))


def test_fractional_positions(framework):
    x = framework.array(np.tile(COUNT, (2, 1)), "float32")
    got = Rotary(dim=8).rotate(x, framework.array([2.5, -0.75], "float32"))
    want = [truth(COUNT, p, layout="half") for p in (2.5, -0.75)]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=float32_error(framework, COUNT))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "uint64", "float32"])
def test_positions_of_any_dtype(dtype):
    spec, x = Rotary(dim=8), np.tile(COUNT, (2, 1))
    got = spec.rotate(x, np.asarray([3, 200], dtype=dtype))
    np.testing.assert_array_equal(got, spec.rotate(x, np.asarray([3, 200])))


def test_no_tokens(framework):
    spec = Rotary(dim=8, rotary_dim=4)
    x = framework.array(np.zeros((2, 0, 8), dtype=np.float32))
    assert spec.rotate(x, positions.count(0, like=x)).shape == (2, 0, 8)


# Scaling: its frequencies, its factor, the length it looks at.


def test_linear_scaling_is_slower_positions():
    slow = Rotary(dim=8, scaling=Linear(factor=4.0))
    np.testing.assert_array_equal(slow.frequencies, np.asarray(slow.unscaled) / 4)
    np.testing.assert_allclose(at(slow, COUNT, 12), at(Rotary(dim=8), COUNT, 3), rtol=1e-15)


@layouts
def test_attention_factor(framework, layout):
    # It is on cos and sin: the turned features grow, the rest of the head does not.
    plain = Rotary(dim=8, rotary_dim=4, layout=layout)
    grown = dataclasses.replace(plain, scaling=GROWN)
    assert (plain.attention_factor, grown.attention_factor) == (1.0, 1.25)
    x, three = framework.array(COUNT[None], "float32"), framework.array([3])
    got, want = numpy(grown.rotate(x, three)), numpy(plain.rotate(x, three))
    error = 2 * float32_error(framework, COUNT)
    np.testing.assert_allclose(got[:, :4], 1.25 * want[:, :4], rtol=0, atol=error)
    np.testing.assert_array_equal(got[:, 4:], want[:, 4:])
    np.testing.assert_allclose(
        numpy(grown.table(three)[0]), 1.25 * numpy(plain.table(three)[0]), rtol=2e-7
    )
    back = numpy(grown.rotate(grown.rotate(x, three), three, inverse=True))
    np.testing.assert_allclose(back, COUNT[None], rtol=0, atol=2 * error)


@pytest.mark.parametrize("precision", ["exact", "float32"])
def test_length_reaches_the_scaling(precision):
    spec, three, x = Rotary(dim=8, scaling=GROWN), np.asarray([3]), COUNT[None]
    assert spec.frequencies == spec.frequencies_at(None) == spec.frequencies_at(31)
    assert spec.frequencies_at(32) == tuple(w / 2 for w in spec.unscaled)
    like = {"precision": precision}
    short, long = (spec.rotate(x, three, length=length, **like) for length in (31, 32))
    np.testing.assert_array_equal(short, spec.rotate(x, three, **like))
    np.testing.assert_allclose(long, spec.rotate(x, three / 2, **like), rtol=1e-6)
    for far, near in zip(
        spec.table(three, length=32, **like), spec.table(three / 2, **like), strict=True
    ):
        np.testing.assert_allclose(far, near, rtol=1e-6)


@layouts
def test_a_pair_without_frequency_stays(layout):
    still = Rule(scale=lambda w, *, dim, base, length=None: (w[0], *(0.0 for _ in w[1:])))
    got = at(Rotary(dim=8, layout=layout, scaling=still), COUNT, 3)
    first = (0, 4) if layout == "half" else (0, 1)
    rest = [k for k in range(8) if k not in first]
    np.testing.assert_array_equal(got[rest], COUNT[rest])
    assert np.abs(got - COUNT)[list(first)].min() > 1


def test_what_the_scaling_is_told():
    told = Rule(scale=lambda w, *, dim, base, length=None: tuple(dim / base for _ in w))
    for exponent, dim in ("rotary", 4), ("head", 8):
        spec = Rotary(dim=8, rotary_dim=4, base=100.0, exponent=exponent, scaling=told)
        assert spec.frequencies == (dim / 100, dim / 100)


# Dtypes: turned in float32 or wider, rounded once, handed back as they came.


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@layouts
def test_half_precision_is_rounded_once(layout, dtype):
    # EleutherAI/gpt-neox#1003, NVIDIA/Megatron-LM#535, Dao-AILab/flash-attention#823.
    import torch

    dtype = getattr(torch, dtype)
    x = torch.randn(4096, 64, generator=torch.Generator().manual_seed(0)).to(dtype)
    place = torch.arange(4096)
    spec = Rotary(dim=64, layout=layout)
    got = spec.rotate(x, place)
    assert got.dtype == dtype
    assert torch.equal(got, spec.rotate(x.float(), place).to(dtype))
    # Half a unit in the last place, and what float32 adds.
    want = spec.rotate(x.double(), place)
    unit = torch.finfo(dtype).eps * want.abs().clamp(min=torch.finfo(dtype).tiny)
    assert ((got.double() - want).abs() <= 0.5 * unit + 3e-6).all()
    same = spec.rotate(torch.ones(4096, 64, dtype=dtype), place)
    for p in 256, 2048:  # where bfloat16 and float16 stop telling integers apart
        assert not torch.equal(same[p], same[p + 1])


def test_dtype_is_that_of_the_input(framework):
    names = {"numpy": ("float16",), "torch": ("float16", "bfloat16"), "strict": ()}
    for name in (*names.get(framework.name, ("float16", "bfloat16")), "float32", "float64"):
        if name == "float64" and framework.name == "jax":
            continue  # JAX without x64 has none
        x = framework.array(np.ones((2, 8)), name)
        got = Rotary(dim=8, rotary_dim=4).rotate(x, framework.array([1, 2]))
        assert got.dtype == x.dtype == getattr(framework.xp, name)


def test_table_dtype_is_the_last_step(framework):
    spec, far = Rotary(dim=8), framework.array([100_003])
    cos, _ = spec.table(far)
    assert cos.dtype == framework.xp.float32
    if framework.name == "strict":
        return
    half = spec.table(far, dtype=framework.xp.float16)[0]
    np.testing.assert_array_equal(numpy(half), numpy(cos).astype(np.float16))


def test_float64_stays_exact():
    x = np.random.default_rng(0).standard_normal(64)
    got = at(Rotary(dim=64), x, 1_000_003)
    want = truth(x, 1_000_003, layout="half")
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-15)


def test_the_input_stays():
    # lucidrains/rotary-embedding-torch#31. A read-only array refuses every change in place.
    for fields in {}, {"rotary_dim": 4}, {"layout": "interleaved"}:
        x, place = np.tile(COUNT, (3, 1)), np.arange(3)
        x.flags.writeable = place.flags.writeable = False
        got = Rotary(dim=8, **fields).rotate(x, place)
        assert not np.shares_memory(got, x)


def test_autocast_changes_nothing():
    # lucidrains/x-transformers#210: frequencies made under autocast.
    import torch

    x, place = torch.ones(2000, 64), torch.arange(2000, 4000)
    spec = Rotary(dim=64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = spec.rotate(x, place)
    assert torch.equal(got, spec.rotate(x, place))


def test_no_matrix_product():
    # huggingface/transformers#48428: TF32 may round the positions that enter one.
    import jax
    import jax.numpy as jnp
    import torch

    class Turn(torch.nn.Module):
        def forward(self, x, place):
            return Rotary(dim=8).rotate(x, place)

    program = torch.export.export(Turn(), (torch.ones(5, 8), torch.arange(5)))
    names = {str(node.target) for node in program.graph.nodes}
    assert "aten.cos.default" in names
    products = ("mm", "mul.Matrix", "matmul", "einsum", "dot", "linear", "conv")
    assert not [name for name in names if any(product in name for product in products)]
    jaxpr = jax.make_jaxpr(Rotary(dim=8).rotate)(jnp.ones((5, 8)), jnp.arange(5))
    assert "dot_general" not in str(jaxpr)


# Living references.


def llama(dim, base, place, scaling=None):
    """cos and sin of Hugging Face's Llama, each pair twice."""
    import torch
    from transformers.models.llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=dim,
        num_attention_heads=1,
        rope_parameters={"rope_theta": base, "rope_type": "default"} | (scaling or {}),
    )
    return LlamaRotaryEmbedding(config)(torch.ones(1), place[None])


@pytest.mark.parametrize(("base", "factor"), [(10_000.0, None), (500_000.0, 4.0), (1e6, None)])
def test_transformers_llama_to_the_last_bit(base, factor):
    import torch
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    place = torch.cat([torch.arange(600), torch.arange(131_000, 131_072)])
    q, k = torch.randn(2, 1, 3, len(place), 128, generator=torch.Generator().manual_seed(0))
    scaling = {"rope_type": "linear", "factor": factor} if factor else None
    cos, sin = llama(128, base, place, scaling)
    ours = Rotary(dim=128, base=base, scaling=Linear(factor=factor) if factor else None)
    for theirs, own in zip((cos, sin), ours.table(place, precision="float32"), strict=True):
        assert torch.equal(theirs[0, :, :64], own)
        assert torch.equal(theirs[0, :, 64:], own)
    for x, want in zip((q, k), apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        assert torch.equal(ours.rotate(x, place, precision="float32"), want)
    # Exact, the two part where float32 has lost the angle.
    assert (ours.rotate(q, place)[..., -1, :] - want[..., -1, :]).abs().max() > 1e-4
    near = slice(0, 600)  # float32 angles below 600 are off by up to 3e-5
    np.testing.assert_allclose(
        ours.rotate(k, place)[..., near, :], want[..., near, :], rtol=0, atol=4 * 6e-5
    )


def test_transformers_gptj_to_the_last_bit():
    import torch
    from transformers.models.gptj import modeling_gptj as gptj

    x = torch.randn(1, 50, 2, 16, generator=torch.Generator().manual_seed(0))
    sin, cos = gptj.create_sinusoidal_positions(50, 8).chunk(2, dim=-1)
    turned = gptj.apply_rotary_pos_emb(x[..., :8], sin[None], cos[None])
    want = torch.cat([turned, x[..., 8:]], dim=-1)
    ours = Rotary(dim=16, rotary_dim=8, layout="interleaved")
    got = ours.rotate(x, torch.arange(50)[None, :, None], precision="float32")
    assert torch.equal(got, want)


def test_transformers_gpt_neox_to_the_last_bit():
    import torch
    from transformers.models.gpt_neox import GPTNeoXConfig, modeling_gpt_neox as neox

    config = GPTNeoXConfig(
        hidden_size=64,
        num_attention_heads=2,
        rope_parameters={
            "rope_theta": 10_000.0,
            "rope_type": "default",
            "partial_rotary_factor": 0.25,
        },
    )
    place = torch.arange(50)
    q, k = torch.randn(2, 1, 2, 50, 32, generator=torch.Generator().manual_seed(0))
    cos, sin = neox.GPTNeoXRotaryEmbedding(config)(q, place[None])
    ours = Rotary(dim=32, rotary_dim=8)
    for x, want in zip((q, k), neox.apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        assert torch.equal(ours.rotate(x, place, precision="float32"), want)


@pytest.mark.parametrize("rotary_dim", [None, 8])
def test_rotary_embedding_torch(rotary_dim):
    import torch
    from rotary_embedding_torch import RotaryEmbedding

    x = torch.randn(2, 3, 50, 16, generator=torch.Generator().manual_seed(0))
    theirs = RotaryEmbedding(dim=rotary_dim or 16, cache_if_possible=False)
    want = theirs.rotate_queries_or_keys(x).detach()
    got = Rotary(dim=16, rotary_dim=rotary_dim, layout="interleaved").rotate(x, torch.arange(50))
    # Its float32 angles below 50 are off by 2e-6 at most.
    np.testing.assert_allclose(got, want, rtol=0, atol=4 * 4e-6)


# Derivatives and tracing.


@layouts
def test_gradients(layout):
    import torch

    spec = Rotary(dim=6, rotary_dim=4, layout=layout)
    x = torch.randn(2, 3, 6, dtype=torch.float64, requires_grad=True)
    place = torch.tensor([0.5, 3.25, 7.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(spec.rotate, (x, place))
    assert torch.autograd.gradgradcheck(spec.rotate, (x, place))
    y = torch.randn(2, 3, 6, dtype=torch.float64)
    (slope,) = torch.autograd.grad(spec.rotate(x, torch.arange(3)), x, y)
    # The transpose of a rotation is the rotation back.
    np.testing.assert_allclose(slope, spec.rotate(y, torch.arange(3), inverse=True), atol=1e-15)


def test_training_after_inference_mode():
    # Dao-AILab/flash-attention#299: a table kept from inference mode breaks training.
    import torch

    spec, place = Rotary(dim=8), torch.arange(5)
    with torch.inference_mode():
        spec.rotate(torch.ones(5, 8), place)
    x = torch.ones(5, 8, requires_grad=True)
    spec.rotate(x, place).sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("kwargs", [{}, {"inverse": True}, {"precision": "float32"}])
def test_compiles_without_a_break(kwargs):
    # foundation-model-stack/foundation-model-stack#64; and as in Gemma 3, layers of two bases.
    import torch

    torch._dynamo.reset()

    def turn(spec, x, place):
        return spec.rotate(x, place, **kwargs)

    compiled = torch.compile(turn, fullgraph=True, backend="eager", dynamic=True)
    like = {"dim": 8, "rotary_dim": 4, "layout": "interleaved"}
    for base, length in (10_000.0, 5), (1_000_000.0, 7), (10_000.0, 9):
        spec = Rotary(base=base, scaling=Linear(factor=2.0), **like)
        x, place = torch.ones(2, 3, length, 8), torch.arange(length)
        assert torch.equal(compiled(spec, x, place), turn(spec, x, place))


@pytest.mark.slow
@layouts
def test_inductor(layout):
    import torch

    torch._dynamo.reset()
    spec = Rotary(dim=64, layout=layout)
    compiled = torch.compile(spec.rotate, fullgraph=True)
    for dtype in torch.float32, torch.bfloat16:
        x = torch.randn(2, 3, 50, 64).to(dtype)
        place = torch.arange(131_000, 131_050)
        got, want = compiled(x, place).double(), spec.rotate(x.double(), place)
        atol = 2e-6 if dtype is torch.float32 else 2**-8 * 4
        np.testing.assert_allclose(got, want, rtol=0, atol=atol)


def test_exports_with_any_length():
    import torch

    class Turn(torch.nn.Module):
        def forward(self, x, place):
            return Rotary(dim=8).rotate(x, place)

    length = torch.export.Dim("length", min=2, max=1 << 20)
    x, place = torch.ones(2, 3, 5, 8), torch.arange(5)
    program = torch.export.export(Turn(), (x, place), dynamic_shapes=({2: length}, {0: length}))
    x, place = torch.randn(2, 3, 9, 8), torch.arange(100, 109)
    assert torch.equal(program.module()(x, place), Rotary(dim=8).rotate(x, place))


def test_torch_functions():
    import torch

    spec = Rotary(dim=8)
    x, place = torch.randn(4, 5, 8), torch.arange(20).reshape(4, 5)
    assert torch.equal(torch.func.vmap(spec.rotate)(x, place), spec.rotate(x, place))
    y = torch.randn(5, 8)
    slope = torch.func.grad(lambda x: (spec.rotate(x, place[0]) * y).sum())(x[0])
    np.testing.assert_allclose(slope, spec.rotate(y, place[0], inverse=True), atol=1e-6)


def test_jax_transformations():
    import jax
    import jax.numpy as jnp

    spec = Rotary(dim=8, scaling=Linear(factor=2.0))
    x, y = np.random.default_rng(0).standard_normal((2, 4, 5, 8)).astype(np.float32)
    place = np.arange(20).reshape(4, 5)
    got = jax.jit(jax.vmap(spec.rotate))(x, place)
    np.testing.assert_allclose(got, spec.rotate(x, place), atol=2e-6)
    slope = jax.jit(jax.grad(lambda x: (spec.rotate(x, jnp.asarray(place)) * y).sum()))(x)
    np.testing.assert_allclose(slope, spec.rotate(y, place, inverse=True), atol=2e-6)
    # Along positions, the derivative of a cosine is minus its sine, times the frequency.
    slope = jax.jit(jax.grad(lambda p: spec.table(p)[0].sum()))(2.5)
    want = -sum(w * np.sin(2.5 * w) for w in spec.frequencies)
    np.testing.assert_allclose(slope, want, rtol=1e-6)


# What is refused.


def test_wrong_fields():
    with pytest.raises(ValueError, match=r"`dim` must be even.*dim=65.*64 and 66"):
        Rotary(dim=65)
    with pytest.raises(TypeError, match=r"`dim` must be an integer; got 8.0"):
        Rotary(dim=8.0)
    with pytest.raises(ValueError, match=r"`dim` must be at least 2"):
        Rotary(dim=0)
    with pytest.raises(ValueError, match=r"`rotary_dim` must be even.*rotary_dim=3"):
        Rotary(dim=8, rotary_dim=3)
    with pytest.raises(ValueError, match=r"`rotary_dim` must not exceed `dim`.*10, dim=8"):
        Rotary(dim=8, rotary_dim=10)
    assert Rotary(dim=9, rotary_dim=8).turned == 8  # the last feature is one of those that stay
    with pytest.raises(ValueError, match=r"`base` must be finite"):
        Rotary(dim=8, base=float("nan"))
    with pytest.raises(ValueError, match=r"`base` must be greater than 0"):
        Rotary(dim=8, base=-1.0)
    with pytest.raises(ValueError, match=r"`layout` must be one of 'half', 'interleaved'"):
        Rotary(dim=8, layout="neox")
    with pytest.raises(ValueError, match=r"`exponent` must be one of 'rotary', 'head'"):
        Rotary(dim=8, exponent="full")
    with pytest.raises(TypeError, match=r"`scaling` must be a rule such as posenc.Linear.*got 4.0"):
        Rotary(dim=8, scaling=4.0)
    with pytest.raises(ValueError, match=r"`precision` must be one of 'exact', 'float32'"):
        Rotary(dim=8).table(np.arange(3), precision="fp32")


def test_wrong_arrays():
    import torch

    spec, x = Rotary(dim=8), np.ones((5, 8))
    with pytest.raises(TypeError, match=r"got list"):
        spec.rotate(x, [0, 1, 2, 3, 4])
    with pytest.raises(TypeError, match=r"one library.*got Tensor, ndarray"):
        spec.rotate(torch.ones(5, 8), np.arange(5))
    with pytest.raises(TypeError, match=r"`x` must hold floating-point numbers; got int64"):
        spec.rotate(np.ones((5, 8), dtype=int), np.arange(5))
    with pytest.raises(TypeError, match=r"half precision"):
        spec.rotate(x, np.arange(5, dtype=np.float16))
    with pytest.raises(TypeError, match=r"`positions` must be integers or floats; got bool"):
        spec.rotate(x, np.ones(5, dtype=bool))
    with pytest.raises(ValueError, match=r"`x` must have its 8 features.*\(5, 6\)"):
        spec.rotate(x[:, :6], np.arange(5))
    with pytest.raises(ValueError, match=r"2\*\*31"):
        spec.rotate(x[:1], np.asarray([2**31]))


@pytest.mark.parametrize(
    ("x", "place"),
    [
        ((3, 3, 5, 8), (3, 5)),  # batch == heads: rows would go to heads
        ((2, 3, 5, 8), (2, 5)),
        ((2, 3, 5, 8), (4,)),
        ((2, 3, 5, 8), (2, 3, 4)),
        ((5, 8), (1, 1, 5)),
        ((8,), (1,)),
    ],
)
def test_positions_that_could_line_up_wrongly(x, place):
    message = r"one axis for tokens.*each axis of `x`.*give positions\[:, None, :\]"
    with pytest.raises(ValueError, match=r"`positions` must have " + message):
        Rotary(dim=8).rotate(np.ones(x), np.zeros(place, dtype=int))
    table = np.ones((*place, 4))
    with pytest.raises(ValueError, match=r"`cos` must have " + message):
        rotate(np.ones(x), table, table, layout="half")


def test_wrong_tables():
    x = np.ones((5, 8))
    four, eight = np.ones((5, 4)), np.ones((5, 8))
    with pytest.raises(ValueError, match=r"at most half as many.*one a pair.*\(5, 8\)"):
        rotate(x, eight, eight, layout="half")  # Hugging Face's tables hold each pair twice
    with pytest.raises(ValueError, match=r"same shape.*\(5, 4\) and \(5, 8\)"):
        rotate(x, four, eight, layout="half")
    with pytest.raises(ValueError, match=r"same shape.*\(\) and \(\)"):
        rotate(x, np.asarray(1.0), np.asarray(0.0), layout="half")
    with pytest.raises(ValueError, match=r"`layout` must be one of"):
        rotate(x, four, four, layout="both")
    with pytest.raises(TypeError, match=r"`x` must hold floating-point numbers"):
        rotate(x.astype(np.int32), four, four, layout="half")


def test_a_scaling_is_a_rule_and_no_other_thing():
    for wrong in (Linear, LogN(original_length=4)):
        with pytest.raises(TypeError, match=r"`scaling` must be a rule such as posenc.Linear"):
            Rotary(dim=8, scaling=wrong)


@pytest.mark.parametrize(
    "rule",
    [
        DynamicNTK(original_length=16),
        LongRope(short_factors=(1.0,) * 4, long_factors=(2.0,) * 4, original_length=16, factor=4.0),
    ],
)
def test_a_long_text_needs_its_length(framework, rule):
    rope = Rotary(dim=8, scaling=rule)
    for shape in ((16,), (4, 4)):
        rope.table(framework.array(np.arange(16).reshape(shape)))
    with pytest.raises(ValueError, match=r"`length` must be given .* beyond 15.*got position 16 "):
        rope.table(framework.array(np.arange(17)))
    rope.table(framework.array(np.arange(17)), length=17)
    for wrong in (17.0, True):
        with pytest.raises(TypeError, match=rf"`length` must be an integer; got {wrong}"):
            rope.table(framework.array(np.arange(17)), length=wrong)


def test_compiles_for_every_length_of_a_growing_text():
    import torch

    rope = Rotary(dim=8, scaling=DynamicNTK(original_length=4))
    turn = lambda p, x: rope.rotate(x, p, length=p.shape[0])  # noqa: E731
    compiled = torch.compile(turn, fullgraph=True, backend="eager")
    for length in (5, 7, 11):
        x, positions = torch.ones(2, 3, length, 8), torch.arange(length)
        torch.testing.assert_close(compiled(positions, x), turn(positions, x))
