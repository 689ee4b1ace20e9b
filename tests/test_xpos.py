"""xPos against its formula in 50 digits, its laws, and a living reference."""

import dataclasses

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Rotary
from posenc.xpos import XPos

COUNT = np.arange(1.0, 9.0)
ONES = np.asarray([1.0, 0.0] * 4)  # the first feature of each pair, interleaved
# sum_k decay[k] ** (distance / 512) cos(distance w[k]), Sun et al. 2022, by truth() below.
SCORES = {0: 4, 1: 3.531198967353, 64: 2.970125583546, 512: 0.962005538287}

specs = st.builds(
    XPos,
    dim=st.integers(1, 8).map(lambda half: 2 * half),
    base=st.sampled_from([100.0, 10_000.0]),
    layout=st.sampled_from(["half", "interleaved"]),
    scale_base=st.sampled_from([64.0, 512.0]),
    gamma=st.sampled_from([0.1, 0.4, 1.0]),
    center=st.integers(-300, 300),
)
near = st.integers(-1_000, 1_000)
roles = pytest.mark.parametrize("role", ["query", "key"])


def at(spec, x, position, role):
    return spec.rotate(x, np.asarray(position), role=role)


def truth(x, position, role, *, center=0):
    """The paper's rule for a head of interleaved pairs, in 50 digits."""
    y, dim = [], len(x)
    with mpmath.workdps(50):
        for k in range(dim // 2):
            a, c = (mpmath.mpf(float(value)) for value in x[2 * k : 2 * k + 2])
            angle = position * mpmath.mpf(10_000) ** (-mpmath.mpf(2 * k) / dim)
            zeta = (mpmath.mpf(2 * k) / dim + mpmath.mpf("0.4")) / mpmath.mpf("1.4")
            power = mpmath.mpf(position - center) / 512
            scale = zeta**power if role == "query" else zeta**-power
            cos, sin = mpmath.cos(angle), mpmath.sin(angle)
            y += [scale * (a * cos - c * sin), scale * (c * cos + a * sin)]
    return np.asarray([float(value) for value in y])


# The paper's numbers.


def test_decays():
    want = [0.285714285714, 0.464285714286, 0.642857142857, 0.821428571429]
    np.testing.assert_allclose(XPos(dim=8).decays, want, rtol=0, atol=1e-12)
    decays = XPos(dim=64).decays
    np.testing.assert_allclose([decays[0], decays[-1]], [0.285714285714, 0.977678571429])
    np.testing.assert_allclose(XPos(dim=4, gamma=1.0).decays, [0.5, 0.75])


@roles
def test_rotated_vectors(framework, role):
    spec, place = XPos(dim=8, center=40), [0, 3, 40, 1000]
    x = framework.array(np.tile(COUNT, (4, 1)), "float32")
    got = spec.rotate(x, framework.array(place), role=role)
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = np.asarray([truth(COUNT, p, role, center=40) for p in place])
    # Of the largest in its row: two table errors, four roundings, and without float64 the power.
    error = 2 * framework.exact + 4 * 2**-24 + (1e-6 if framework.name == "jax" else 0)
    size = np.abs(want).max(axis=1, keepdims=True)
    np.testing.assert_allclose(numpy(got) / size, want / size, rtol=0, atol=error)


@pytest.mark.parametrize("center", [0, 300])
def test_scores(center):
    spec = XPos(dim=8, center=center)
    for distance, want in SCORES.items():
        for n in 0, 1000:
            got = at(spec, ONES, n + distance, "query") @ at(spec, ONES, n, "key")
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)
            own = truth(ONES, n + distance, "query") @ truth(ONES, n, "key")
            np.testing.assert_allclose(own, want, rtol=0, atol=1e-11)


# Its laws.


@given(specs, near, near, near)
def test_scores_depend_on_the_distance(spec, m, n, shift):
    q, k = np.random.default_rng(0).standard_normal((2, spec.dim))
    want = at(spec, q, m, "query") @ at(spec, k, n, "key")
    got = at(spec, q, m + shift, "query") @ at(spec, k, n + shift, "key")
    size = max(decay ** ((m - n) / spec.scale_base) for decay in spec.decays)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * size * spec.dim)


@given(specs, near, near, st.integers(-300, 300))
def test_the_center_falls_out(spec, m, n, center):
    q, k = np.random.default_rng(0).standard_normal((2, spec.dim))
    moved = dataclasses.replace(spec, center=center)
    want = at(spec, q, m, "query") @ at(spec, k, n, "key")
    got = at(moved, q, m, "query") @ at(moved, k, n, "key")
    size = max(decay ** ((m - n) / spec.scale_base) for decay in spec.decays)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * size * spec.dim)


@given(specs, near, near)
def test_a_scaled_rotary(spec, m, n):
    # The score of one pair alone is that of Rotary times decay ** (distance / scale_base).
    plain = Rotary(dim=spec.dim, base=spec.base, layout=spec.layout)
    first, second = (0, spec.dim // 2) if spec.layout == "half" else (0, 1)
    q, k = np.zeros((2, spec.dim))
    q[[first, second]], k[[first, second]] = (0.5, -1.0), (2.0, 0.25)
    fade = spec.decays[0] ** ((m - n) / spec.scale_base)
    got = at(spec, q, m, "query") @ at(spec, k, n, "key")
    want = fade * (plain.rotate(q, np.asarray(m)) @ plain.rotate(k, np.asarray(n)))
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11 * fade)


@given(specs)
def test_nothing_grows_at_the_center(spec):
    x = np.random.default_rng(0).standard_normal(spec.dim)
    plain = Rotary(dim=spec.dim, base=spec.base, layout=spec.layout)
    for role in "query", "key":
        got = at(spec, x, spec.center, role)
        np.testing.assert_array_equal(got, plain.rotate(x, np.asarray(spec.center)))


@given(specs, near)
def test_layouts_are_permutations(spec, position):
    half = dataclasses.replace(spec, layout="half")
    interleaved = dataclasses.replace(spec, layout="interleaved")
    x = np.random.default_rng(0).standard_normal(spec.dim)
    order = [*range(0, spec.dim, 2), *range(1, spec.dim, 2)]
    for role in "query", "key":
        got = at(half, x[order], position, role)
        np.testing.assert_array_equal(got, at(interleaved, x, position, role)[order])


def test_queries_and_keys_are_scaled_against_each_other():
    spec = XPos(dim=8)
    query, key = (np.linalg.norm(at(spec, ONES, 512, role)) for role in ("query", "key"))
    np.testing.assert_allclose(query**2, sum(decay**2 for decay in spec.decays))
    np.testing.assert_allclose(key**2, sum(decay**-2 for decay in spec.decays))


def test_cached_keys_stay_right():
    # lucidrains/rotary-embedding-torch#27: six tokens at once, or five and one more.
    spec = XPos(dim=8)
    q, k = np.random.default_rng(0).standard_normal((2, 6, 8))
    whole = spec.rotate(k, np.arange(6), role="key")
    cached = spec.rotate(k[:5], np.arange(5), role="key")
    cached = np.concatenate([cached, spec.rotate(k[5:], np.asarray([5]), role="key")])
    np.testing.assert_array_equal(cached, whole)
    step = spec.rotate(q[5:], np.asarray([5]), role="query")
    np.testing.assert_array_equal(step, spec.rotate(q, np.arange(6), role="query")[5:])


@pytest.mark.parametrize("length", [9, 64])
def test_rotary_embedding_torch(length):
    import torch
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(dim=16, use_xpos=True, cache_if_possible=False)
    q, k = torch.randn(2, 1, 3, length, 16, generator=torch.Generator().manual_seed(0))
    wants = theirs.rotate_queries_and_keys(q, k)
    spec = XPos(dim=16, center=length // 2)
    for x, role, want in zip((q, k), ("query", "key"), wants, strict=True):
        got = spec.rotate(x, torch.arange(length), role=role)
        # Its float32 angles below 64 are off by up to 4e-6.
        np.testing.assert_allclose(got, want.detach(), rtol=0, atol=4 * 4e-6)


# Dtypes.


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtype_is_that_of_the_input(dtype):
    # lucidrains/rotary-embedding-torch#9: keys came back in float32.
    import torch

    dtype = getattr(torch, dtype)
    x = torch.randn(2, 600, 8, generator=torch.Generator().manual_seed(0)).to(dtype)
    place = torch.arange(600)
    for role in "query", "key":
        got = XPos(dim=8).rotate(x, place, role=role)
        assert got.dtype == dtype
        want = XPos(dim=8).rotate(x.double(), place, role=role)
        # Half a unit in the last place, and what float32 adds.
        error = 0.5 * torch.finfo(dtype).eps * want.abs() + (0 if dtype == torch.float64 else 1e-5)
        assert ((got.double() - want).abs() <= error).all()


def test_where_dtypes_end():
    # The first pair of a head grows as 3.5 ** (distance / 512); see the class.
    import torch

    spec, one = XPos(dim=64), torch.zeros(1, 64)
    one[0, 0] = 1.0
    for dtype, last in (torch.float16, 4_500), (torch.bfloat16, 36_000), (torch.float32, 36_000):
        for step, finite in (last, True), (last + 500, False):
            key = spec.rotate(one.to(dtype), torch.tensor([step]), role="key")
            assert bool(key.isfinite().all()) == finite
            moved = dataclasses.replace(spec, center=step)
            key = moved.rotate(one.to(dtype), torch.tensor([step]), role="key")
            assert key.isfinite().all()


def test_precision_without_float64():
    import jax
    import jax.numpy as jnp

    place = np.asarray([0, 1, 700, 5_000, 20_000, 35_000])
    want = XPos(dim=64).table(place, role="key", dtype=np.float64)
    with jax.enable_x64(False):
        got = XPos(dim=64).table(jnp.asarray(place), role="key")
    # cos and sin as the two sides of a triangle: an error of the scale shows in its length.
    lengths = [
        np.hypot(*(np.asarray(half, dtype=np.float64) for half in pair)) for pair in (got, want)
    ]
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=1e-5)


# Derivatives and tracing.


@roles
def test_gradients(role):
    import torch

    spec = XPos(dim=4, scale_base=8.0)
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    place = torch.tensor([0.5, 3.25, 7.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, p: spec.rotate(x, p, role=role), (x, place))


@roles
def test_torch_traces(role):
    import torch

    torch._dynamo.reset()
    spec, x, place = XPos(dim=8), torch.randn(2, 3, 5, 8), torch.arange(5)

    class Turn(torch.nn.Module):
        def forward(self, x, place):
            return spec.rotate(x, place, role=role)

    want = spec.rotate(x, place, role=role)
    assert torch.equal(torch.compile(Turn(), fullgraph=True, backend="eager")(x, place), want)
    assert torch.equal(torch.export.export(Turn(), (x, place)).module()(x, place), want)


def test_jax_transformations():
    import jax
    import jax.numpy as jnp

    def turn(x, place):
        return XPos(dim=8).rotate(x, place, role="key")

    x, place = np.random.default_rng(0).standard_normal((4, 5, 8)), np.arange(20).reshape(4, 5)
    got = jax.jit(jax.vmap(turn))(jnp.asarray(x, dtype=jnp.float32), jnp.asarray(place))
    np.testing.assert_allclose(got, turn(x, place), atol=2e-6)
    slope = jax.jit(jax.grad(lambda x: turn(x, jnp.arange(5))[0, 0]))(jnp.ones((5, 8)))
    want = np.zeros((5, 8))
    want[0, 0] = 1  # position 0 turns nothing
    np.testing.assert_array_equal(slope, want)


# What is refused.


def test_errors():
    spec, x = XPos(dim=8), np.ones((2, 3, 5, 8))
    with pytest.raises(ValueError, match=r"`dim` must be even.*dim=7.*6 and 8"):
        XPos(dim=7)
    with pytest.raises(ValueError, match=r"`layout` must be one of 'half', 'interleaved'"):
        XPos(dim=8, layout="neox")
    for field in "base", "scale_base", "gamma":
        with pytest.raises(ValueError, match=rf"`{field}` must be greater than 0"):
            XPos(dim=8, **{field: 0.0})
    with pytest.raises(TypeError, match=r"`center` must be an integer; got 2.5"):
        XPos(dim=8, center=2.5)
    with pytest.raises(ValueError, match=r"`role` must be one of 'query', 'key'; got role='q'"):
        spec.rotate(x, np.arange(5), role="q")
    with pytest.raises(ValueError, match=r"`x` must have its 8 features"):
        spec.rotate(x[..., :6], np.arange(5), role="key")
    with pytest.raises(ValueError, match=r"`positions` must have one axis for tokens"):
        spec.rotate(x, np.zeros((2, 5), dtype=int), role="key")
    with pytest.raises(TypeError, match=r"got list"):
        spec.rotate(x, [0, 1, 2, 3, 4], role="key")
    with pytest.raises(TypeError, match=r"`x` must hold floating-point numbers"):
        spec.rotate(x.astype(int), np.arange(5), role="key")
