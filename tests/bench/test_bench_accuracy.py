"""The column of errors against truth computed another way."""

import mpmath
import numpy as np
import pytest

from posenc.bench import accuracy, ours


@pytest.mark.parametrize("position", [1_000, 10_000_000])
def test_truth(position):
    got = accuracy.truth(position)
    with mpmath.workdps(60):
        for row, pair in ((0, 0), (3, 1), (15, 40), (7, 63)):
            angle = (position + row) / mpmath.power(10_000, mpmath.mpf(pair) / 64)
            turned = mpmath.expj(angle)
            assert got[row, pair] == float(turned.real)
            assert got[row, 64 + pair] == float(turned.imag)


def test_without_mpmath_the_truth_is_ours_and_says_so(monkeypatch):
    want = accuracy.truth(1_000_000)
    assert accuracy.source() == "mpmath"
    monkeypatch.setattr(accuracy, "found", lambda package: False)
    np.testing.assert_allclose(accuracy.truth(1_000_000), want, atol=1e-14)
    assert accuracy.source() == "posenc.angles in float64 (mpmath is not installed)"


@pytest.fixture(scope="module")
def errors():
    return {(row.name, row.dtype): row.errors for row in (find() for find in accuracy.measure())}


def test_posenc_is_exact_at_every_position(errors):
    for name in ("posenc module", "posenc formula"):
        assert list(errors[name, "float32"]) == [10**n for n in range(3, 8)]
        assert max(errors[name, "float32"].values()) < 6e-8
        assert max(errors[name, "bfloat16"].values()) <= 2.0**-9 + 6e-8  # half a step of bfloat16


def test_others_are_as_known(errors):
    """float32 angles are off by about position / 2**24; bfloat16 positions by all of it."""
    for name in ("transformers", "rotary-embedding-torch"):
        far = errors[name, "float32"]
        assert all(0.3 < error / (position * 2.0**-24) < 2 for position, error in far.items())
    assert errors["rotary-embedding-torch", "bfloat16"][10_000] > 1


def test_beyond_its_table_nothing_is_said():
    class Short(ours._Formula):
        name = "short"
        longest = 2_000

    want = {position: accuracy.truth(position) for position in (1_000, 2_000)}
    got = accuracy._errors(Short, "float32", want).errors
    assert got[1_000] < 6e-8
    assert got[2_000] is None


def test_one_who_breaks_on_the_way_says_what_and_how_far():
    class Broken(ours._Formula):
        name = "broken"

        def table(self, positions, like):
            if positions[0] == 2_000:
                raise ImportError("\n    no torchao\n    see the manual")
            return super().table(positions, like)

    want = {position: accuracy.truth(position) for position in (1_000, 2_000)}
    got = accuracy._errors(Broken, "float32", want)
    assert got.failed == "ImportError: no torchao"
    assert got.errors[1_000] < 6e-8
    assert got.errors[2_000] is None
