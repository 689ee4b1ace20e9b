"""Exact angles against mpmath: every framework, near and far, whole and fractional positions."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from frameworks import numpy
from posenc import angles, frequencies

LAST = 2**31 - 1
EDGES = [0, 1, 2, 3, *(2**k + d for k in range(2, 31) for d in (-1, 0, 1)), LAST - 1, LAST]


def truth(positions, turning):
    """Cosine and sine in 60 digits; a frequency is an exact number or an mpmath one."""
    with mpmath.workdps(60):
        angle = [[mpmath.mpf(p) * mpmath.mpf(w) for w in turning] for p in positions]
        return tuple(
            np.array([[float(f(a)) for a in row] for row in angle])
            for f in (mpmath.cos, mpmath.sin)
        )


def formula(dim, base):
    """base ** (-2k / dim) in 60 digits, from nothing that posenc computed."""
    with mpmath.workdps(60):
        return [mpmath.mpf(base) ** (-mpmath.mpf(2 * k) / dim) for k in range(dim // 2)]


def test_the_constant_is_turns_per_radian():
    with mpmath.workdps(120):
        want = int(mpmath.floor(mpmath.mpf(2) ** 256 / (2 * mpmath.pi)))
    assert want == angles._TURNS_PER_RADIAN


@pytest.mark.parametrize(("dim", "base"), [(2, 1e4), (6, 5e5), (32, 1e6)])
def test_edges_and_powers_of_two(framework, dim, base):
    got = angles.cos_sin(framework.array(EDGES), frequencies.geometric(dim, base))
    for ours, true in zip(got, truth(EDGES, formula(dim, base)), strict=True):
        assert ours.dtype == framework.xp.float32
        assert framework.is_own(ours)
        np.testing.assert_allclose(numpy(ours), true, rtol=0, atol=framework.exact)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 64, 128, 256])
@pytest.mark.parametrize("base", [1e4, 5e5, 1e6])
def test_random_positions(framework, dim, base):
    positions = np.random.default_rng(dim).integers(0, 2**31, 200)
    got = angles.cos_sin(framework.array(positions), frequencies.geometric(dim, base))
    for ours, true in zip(got, truth(positions.tolist(), formula(dim, base)), strict=True):
        np.testing.assert_allclose(numpy(ours), true, rtol=0, atol=framework.exact)


@given(st.integers(-LAST, LAST), st.floats(-1e6, 1e6))
def test_any_frequency_is_taken_as_the_exact_number_it_is(position, frequency):
    cos, sin = angles.cos_sin(np.asarray([position]), (frequency,), dtype=np.float64)
    (true_cos,), (true_sin,) = truth([position], [frequency])
    # The turn is kept to 2**-66 of itself a position, then to float64.
    np.testing.assert_allclose([cos[0], sin[0]], [true_cos, true_sin], rtol=0, atol=2e-15)


@given(st.integers(-LAST, LAST), st.floats(-100, 100))
def test_without_float64_any_frequency(position, frequency):
    import jax.numpy as jnp

    cos, sin = angles.cos_sin(jnp.asarray([position], dtype=jnp.int32), (frequency,))
    (true_cos,), (true_sin,) = truth([position], [frequency])
    got = np.concatenate([numpy(cos)[0], numpy(sin)[0]])
    np.testing.assert_allclose(got, np.concatenate([true_cos, true_sin]), rtol=0, atol=1.2e-7)


@given(st.floats(-(2.0**30), 2.0**30, width=32), st.floats(-1e4, 1e4))
@example(position=-1.21875, frequency=6.0)  # a part of a turn, and of a position below 0
def test_fractional_positions(position, frequency):
    import jax.numpy as jnp

    turning = (*frequencies.geometric(6), frequency)
    for array in (np.asarray([position], np.float32), jnp.asarray([position], jnp.float32)):
        got = angles.cos_sin(array, turning)
        for ours, true in zip(got, truth([position], [*formula(6, 1e4), frequency]), strict=True):
            np.testing.assert_allclose(numpy(ours), true, rtol=0, atol=1.2e-7)


def test_a_plain_array_inside_a_trace():
    import jax
    import jax.numpy as jnp

    positions = jnp.asarray([0, 5])
    cos, _ = jax.jit(lambda: angles.cos_sin(positions, (1.0,)))()
    np.testing.assert_allclose(cos[:, 0], np.cos([0, 5]), rtol=0, atol=1.2e-7)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_narrow_integers(framework, dtype):
    if framework.name == "torch" and dtype in ("uint16", "uint32"):
        values = framework.array([0, 100], "int32").to(getattr(framework.xp, dtype))
    else:
        values = framework.array([0, 100], dtype)
    cos, _ = angles.cos_sin(values, (1.0,))
    np.testing.assert_allclose(numpy(cos)[:, 0], [1, np.cos(100)], rtol=0, atol=framework.exact)


def test_unsigned_integers_too_far():
    import jax.numpy as jnp

    for far in (np.asarray([2**31], np.uint32), np.asarray([2**63], np.uint64)):
        with pytest.raises(ValueError, match=r"within 2\*\*31 of 0"):
            angles.cos_sin(far, (1.0,))
    with pytest.raises(ValueError, match=r"within 2\*\*31 of 0"):
        angles.cos_sin(jnp.asarray([2**31], jnp.uint32), (1.0,))


def test_a_device_without_float64(monkeypatch):
    import torch

    from posenc import _arrays

    monkeypatch.setattr(_arrays, "has_float64", lambda x: False)
    positions = torch.tensor(EDGES)
    for given_positions in (positions, positions[:60].float()):
        got = angles.cos_sin(given_positions, frequencies.geometric(8))
        true = truth([int(p) for p in given_positions.tolist()], formula(8, 1e4))
        for ours, want in zip(got, true, strict=True):
            assert ours.dtype == torch.float32
            np.testing.assert_allclose(ours.numpy(), want, rtol=0, atol=1.2e-7)


def test_positions_that_cannot_be_looked_at_become_nan():
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        far = jnp.asarray([LAST, LAST + 1, -LAST - 1])
        cos, sin = jax.jit(lambda p: angles.cos_sin(p, (1.0, 0.5)))(far)
    assert np.isfinite(cos[0]).all()
    assert np.isnan(cos[1:]).all()
    assert np.isnan(sin[1:]).all()


def test_gradient_reaches_fractional_positions():
    import jax
    import jax.numpy as jnp
    import torch

    want = -sum(w * np.sin(3.7 * w) for w in frequencies.geometric(8))
    turning = frequencies.geometric(8)
    position = torch.tensor(3.7, dtype=torch.float64, requires_grad=True)
    angles.cos_sin(position, turning, dtype=torch.float64)[0].sum().backward()
    np.testing.assert_allclose(position.grad.item(), want, rtol=1e-12)
    for x64 in (False, True):
        with jax.enable_x64(x64):
            got = jax.grad(lambda p: angles.cos_sin(p, turning)[0].sum())(jnp.asarray(3.7))
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_plain_angles(framework):
    got = angles.angles(framework.array([[0, 3], [7, 1]]), (1.0, 0.25))
    want = [[[0, 0], [3, 0.75]], [[7, 1.75], [1, 0.25]]]
    np.testing.assert_array_equal(numpy(got), want)
    learned = angles.angles(framework.array([2]), framework.array([0.5, 2.0]))
    np.testing.assert_array_equal(numpy(learned), [[1, 4]])


def test_angles_are_a_product_and_no_matmul():
    # TF32 would round 2049 to 2048 in a matrix product; an elementwise one never uses it.
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        got = angles.angles(torch.tensor([2048, 2049]), (1.0,))
    finally:
        torch.set_float32_matmul_precision(before)
    assert got[:, 0].tolist() == [2048.0, 2049.0]


def test_nothing_in_and_nothing_out(framework):
    none = framework.array(np.zeros((0, 3), dtype=np.int64))
    cos, sin = angles.cos_sin(none, (1.0, 0.5))
    assert tuple(cos.shape) == tuple(sin.shape) == (0, 3, 2)


def test_errors(framework):
    positions = framework.array([1, 2])
    with pytest.raises(ValueError, match="`frequencies` must hold at least one frequency"):
        angles.cos_sin(positions, ())
    with pytest.raises(ValueError, match="`frequencies` must be finite; got nan"):
        angles.cos_sin(positions, (1.0, float("nan")))
    with pytest.raises(TypeError, match="`positions` must be integers or floats; got .*bool"):
        angles.cos_sin(positions == 1, (1.0,))
    with pytest.raises(ValueError, match="`positions` must be finite"):
        angles.cos_sin(framework.array([0.0, np.inf]), (1.0,))
    with pytest.raises(TypeError, match="arrays must come from one library.*got int"):
        angles.cos_sin(5, (1.0,))
