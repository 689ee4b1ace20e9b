"""Fused tables are as exact as the formula promises, near and far, and make no choice by size."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from posenc import Linear, Rotary, Yarn, angles, kernels
from posenc.frequencies import geometric

EXACT = 6e-8  # what the README promises for float32


def truth(positions, frequencies):
    with mpmath.workdps(40):
        table = [
            [
                mpmath.mpf(int(p)) * (mpmath.mpf(float(w)) + mpmath.mpf(getattr(w, "tail", 0.0)))
                for w in frequencies
            ]
            for p in positions
        ]
        cos, sin = ([[float(f(a)) for a in row] for row in table] for f in (mpmath.cos, mpmath.sin))
    return np.asarray(cos), np.asarray(sin)


EDGES = (0, 1, 2, 2**16 - 1, 131_072, 10_000_000, 2**24 + 1, 2**31 - 1, -1, -(2**31) + 1)


@pytest.mark.parametrize("base", [100.0, 10_000.0, 5e5, 1e7])
def test_against_mpmath(base):
    frequencies = geometric(32, base)
    far = np.random.default_rng(0).integers(-(2**31) + 1, 2**31, 40)
    positions = np.concatenate([EDGES, far])
    got = kernels.cos_sin(positions, frequencies)
    for ours, true in zip(got, truth(positions, frequencies), strict=True):
        assert ours.dtype == np.float32
        assert np.abs(ours - true).max() <= EXACT


@given(
    position=st.integers(-(2**31) + 1, 2**31 - 1),
    frequency=st.floats(-50, 50, allow_nan=False),
)
def test_any_frequency(position, frequency):
    got = kernels.cos_sin(np.asarray([position]), (frequency,))
    for ours, true in zip(got, truth([position], (frequency,)), strict=True):
        assert abs(float(ours[0, 0]) - true[0, 0]) <= EXACT


@pytest.mark.parametrize("quarter", range(-9, 10))
def test_around_the_edges_of_quadrants(quarter):
    """One position in fractions of a turn just before, at and after each eighth."""
    turn = quarter / 8
    frequencies = [float(turn * 2 * np.pi) + tiny for tiny in (-1e-9, 0.0, 1e-9)]
    got = kernels.cos_sin(np.asarray([1]), frequencies)
    for ours, true in zip(got, truth([1], frequencies), strict=True):
        assert np.abs(ours - true).max() <= EXACT


def test_factor_multiplies_before_rounding():
    spec = Rotary(dim=64, scaling=Yarn(factor=4.0, original_length=4096))
    positions = np.asarray([0, 1, 5000, 131_071])
    got = kernels.cos_sin(positions, spec.frequencies, factor=spec.attention_factor)
    for ours, true in zip(got, truth(positions, spec.frequencies), strict=True):
        error = np.abs(ours - spec.attention_factor * true).max()
        assert error <= EXACT * spec.attention_factor


def test_agrees_with_the_formula_to_a_rounding():
    spec = Rotary(dim=128, scaling=Linear(factor=3.0))
    positions = np.arange(5000).reshape(2, 2500)
    got, want = kernels.cos_sin(positions, spec.frequencies), spec.table(positions)
    for ours, formula in zip(got, want, strict=True):
        assert ours.shape == formula.shape
        assert np.abs(ours - formula).max() <= EXACT


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_row_depends_on_its_position_alone(threads, monkeypatch):
    from posenc.kernels import threads as module

    monkeypatch.setattr(module, "count", lambda: threads)
    frequencies = geometric(128, 1e4)
    positions = np.arange(100_000, 101_001)
    whole = kernels.cos_sin(positions, frequencies)
    steps = [kernels.cos_sin(positions[i : i + 1], frequencies) for i in (0, 500, 1000)]
    for part, of_steps in zip(whole, zip(*steps, strict=True), strict=True):
        np.testing.assert_array_equal(part[[0, 500, 1000]], np.concatenate(of_steps))


def test_digits_beyond_a_float_count():
    """Two pairs whose frequencies agree as floats, but not in the digits behind."""
    exact = geometric(64, 1e4)[1]
    rounded = float(exact)
    got = kernels.cos_sin(np.asarray([2**31 - 1]), (exact, rounded))
    want = truth([2**31 - 1], (exact, rounded))
    for ours, true in zip(got, want, strict=True):
        assert np.abs(ours - true).max() <= EXACT


@pytest.mark.parametrize("shape", [(0,), (2, 0), ()])
def test_empty_and_single(shape):
    cos, sin = kernels.cos_sin(np.zeros(shape, dtype=np.int32), (1.0, 0.5))
    assert cos.shape == sin.shape == (*shape, 2)
    np.testing.assert_array_equal(cos, 1.0)


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        (np.asarray([0.5]), TypeError, "must be integers"),
        (np.asarray([2**31]), ValueError, "within 2\\*\\*31"),
        (np.asarray([True]), TypeError, "must be integers"),
    ],
)
def test_refused(positions, error, message):
    with pytest.raises(error, match=message):
        kernels.cos_sin(positions, (1.0,))


def test_whole_turns_in_fixed_point():
    with mpmath.workdps(60):
        want = [int(mpmath.nint(mpmath.mpf(w) / (2 * mpmath.pi) * 2**64)) for w in (1.0, 0.25)]
    assert angles.fixed_point((1.0, 0.25)) == want
    assert angles.fixed_point((-1.0,)) == [2**64 - want[0]]
