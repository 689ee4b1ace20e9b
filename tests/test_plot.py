"""What the pictures hold is what the library computes, and their colours keep the sign."""

import matplotlib
import numpy as np
import pytest

from posenc import Rotary, Sinusoidal, plot


@pytest.mark.parametrize("encoding", [Sinusoidal(dim=16, layout="half"), Rotary(dim=16)])
def test_matrix_holds_the_table(encoding):
    (image,) = plot.figure(encoding, "matrix", length=20).axes[0].images
    if isinstance(encoding, Rotary):
        want = np.concatenate(encoding.table(np.arange(20), dtype=np.float64), axis=-1)
    else:
        want = encoding.encode(np.arange(20), dtype=np.float64)
    np.testing.assert_array_equal(image.get_array(), want)
    assert image.get_clim() == (-1, 1)


def test_waves_are_columns():
    encoding = Sinusoidal(dim=16)
    axes = plot.figure(encoding, "waves", length=30).axes[0]
    table = encoding.encode(np.arange(30), dtype=np.float64)
    assert len(axes.lines) == 6
    for line, label in zip(axes.lines, axes.get_legend().get_texts(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), table[:, int(label.get_text())])


def test_decay_is_the_similarity():
    encoding = Sinusoidal(dim=16)
    line = plot.figure(encoding, "decay", length=40).axes[0].lines[0]
    want = encoding.similarity(np.arange(40), dtype=np.float64)
    np.testing.assert_allclose(line.get_ydata(), want, rtol=0, atol=1e-12)


def test_similarity_is_every_pair():
    encoding = Sinusoidal(dim=16)
    (image,) = plot.figure(encoding, "similarity", length=9).axes[0].images
    gaps = np.arange(9)[:, None] - np.arange(9)
    np.testing.assert_allclose(
        image.get_array(), encoding.similarity(gaps, dtype=np.float64), rtol=0, atol=1e-12
    )


def test_the_sign_survives_without_colour():
    colours = matplotlib.colormaps[plot._SIGNED]([0.0, 0.5, 1.0])[:, :3]
    low, middle, high = colours @ [0.2126, 0.7152, 0.0722]
    assert abs(low - high) > 0.1
    assert middle > max(low, high) + 0.4


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"waves.{suffix}"
    plot.figure(Sinusoidal(dim=8), "waves").savefig(path)
    start = path.read_bytes()[:200]
    assert start.startswith(b"\x89PNG") if suffix == "png" else b"<?xml" in start


def test_errors():
    with pytest.raises(ValueError, match="`picture` must be one of 'waves', 'matrix'"):
        plot.figure(Sinusoidal(dim=8), "wave")
    with pytest.raises(ValueError, match="`length` must be at least 2; got length=1"):
        plot.figure(Sinusoidal(dim=8), length=1)
    with pytest.raises(TypeError, match="`encoding` must be an encoding of posenc.*got int"):
        plot.figure(8)
