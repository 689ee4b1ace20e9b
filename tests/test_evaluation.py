"""Every encoding answers alike: rows and biases are what its own methods give, in float64."""

import numpy as np
import pytest

from posenc import Rotary, evaluation, spec

ENCODINGS = {
    "sinusoidal:dim=6": ("absolute", 0),
    "learned:length=40,dim=4": ("absolute", 0),
    "sinusoidal_axes:dim=12,axes=[2,0,1]": ("absolute", 3),
    "learned_axes:lengths=[6,7],widths=[4,2]": ("absolute", 2),
    "fourier_features:dim=8,axes=2,scale=1.0": ("absolute", 2),
    "nerf:octaves=3": ("absolute", 3),
    "rotary:dim=8": ("rotary", 0),
    "xpos:dim=8": ("rotary", 0),
    "axial_rotary:dim=8": ("rotary", 2),
    "mixed_rotary:dim=8,heads=3": ("rotary", 2),
    "m_rotary:rotary=rotary(dim=16),sections=[2,3,3]": ("rotary", 3),
    "bipe:intra=sinusoidal(dim=8),inter=alibi(heads=2)": ("other", 0),
    "alibi:heads=6": ("bias", 0),
    "t5:heads=2": ("bias", 0),
    "kerple:heads=2": ("bias", 0),
    "fire:heads=2": ("bias", 0),
    "sandwich:heads=4,dim=32": ("bias", 0),
    "swin:heads=2,window=[5,6]": ("bias", 2),
    "swin_v2:heads=2,window=[5,6]": ("bias", 2),
    "shaw:dim=8,max_distance=4": ("other", 0),
    "transformer_xl:heads=2,dim=4,model_dim=8,max_distance=9": ("other", 0),
    "deberta:heads=2,dim=4": ("other", 0),
    "cope:dim=8,length=4": ("other", 0),
    "decomposed:dim=8,grid=[4,5]": ("other", 2),
}
TEXTS = {kind: [t for t in ENCODINGS if ENCODINGS[t][0] == kind] for kind in ("rotary", "bias")}


def places(axes, count=4):
    """As many positions as asked for, all different, along every axis."""
    numbers = np.arange(count)
    return (
        np.stack([numbers[::-1] if a % 2 else numbers for a in range(axes)], -1)
        if axes
        else numbers
    )


def given(encoding):
    """The encoding's own arrays as its methods take them."""
    return {name: array.astype(np.float64) for name, array in evaluation.weights(encoding).items()}


def test_every_encoding_is_tried():
    assert {text.partition(":")[0] for text in ENCODINGS} == set(spec.ENCODINGS)


@pytest.mark.parametrize("text", ENCODINGS)
def test_family_axes_and_weights(text):
    encoding = spec.parse(text)
    assert (evaluation.family(encoding), evaluation.axes(encoding)) == ENCODINGS[text]
    made = {name: array.shape for name, array in evaluation.weights(encoding).items()}
    assert made == dict(evaluation.shapes(encoding))


@pytest.mark.parametrize("text", [t for t in ENCODINGS if ENCODINGS[t][0] == "absolute"])
def test_rows_of_vectors(text):
    encoding = spec.parse(text)
    where = places(evaluation.axes(encoding))
    got = evaluation.rows(encoding, where, evaluation.weights(encoding))
    np.testing.assert_array_equal(got, encoding.encode(where, dtype=np.float64, **given(encoding)))
    assert got.dtype == np.float64


@pytest.mark.parametrize("text", TEXTS["rotary"])
def test_rows_of_cosines_and_sines(text):
    encoding = spec.parse(text)
    where = places(evaluation.axes(encoding))
    role = {"role": "key"} if text.startswith("xpos") else {}
    got = evaluation.rows(encoding, where, evaluation.weights(encoding), **role)
    cos, sin = encoding.table(where, dtype=np.float64, **role, **given(encoding))
    assert got.shape == (4, 2 * cos.size // 4)
    for token, row in enumerate(got):
        want = [cos[..., token, :].ravel(), sin[..., token, :].ravel()]
        np.testing.assert_array_equal(row, np.concatenate(want))


@pytest.mark.parametrize("text", TEXTS["bias"])
def test_bias(text):
    encoding = spec.parse(text)
    queries, keys = places(evaluation.axes(encoding)), places(evaluation.axes(encoding), count=3)
    got = evaluation.bias(encoding, queries, keys, evaluation.weights(encoding))
    want = encoding.bias(queries, keys, dtype=np.float64, **given(encoding))
    np.testing.assert_array_equal(got, want)
    assert got.dtype == np.float64
    assert got.shape == (encoding.heads, 4, 3)


def test_length_and_frequencies():
    dynamic = spec.parse("rotary:dim=8,scaling=dynamic_ntk(original_length=100)")
    of_text = spec.parse(
        "m_rotary:rotary=rotary(dim=8,scaling=dynamic_ntk(original_length=100)),sections=[1,1,2]"
    )
    for length in None, 200:
        want = dynamic.frequencies_at(length)
        assert evaluation.frequencies(dynamic, length=length) == want
        assert evaluation.frequencies(of_text, length=length) == want
    takers = {text for text in ENCODINGS if evaluation.takes_length(spec.parse(text))}
    assert takers == {"rotary:dim=8", "m_rotary:rotary=rotary(dim=16),sections=[2,3,3]"}
    where = np.asarray([[7, 7, 7]])
    np.testing.assert_array_equal(
        evaluation.rows(of_text, where, length=200),
        evaluation.rows(dynamic, where[0, :1], length=200),
    )


def test_no_positions_give_no_rows():
    mixed = spec.parse("mixed_rotary:dim=8,heads=3")
    assert evaluation.rows(mixed, np.zeros((0, 2), int), evaluation.weights(mixed)).shape == (0, 24)


def test_errors(monkeypatch):
    where = np.arange(4)
    with pytest.raises(TypeError, match=r"`encoding` must be an encoding of posenc.*got Linear"):
        evaluation.family(spec.parse("linear:factor=2"))
    for ask in (evaluation.rows, lambda encoding, where: evaluation.bias(encoding, where, where)):
        with pytest.raises(TypeError, match=r"positions alone.*no queries and keys.*got Shaw"):
            ask(spec.parse("shaw:dim=8,max_distance=4"), where)
        with pytest.raises(TypeError, match=r"segments of a text: take its two parts"):
            ask(spec.parse("bipe:intra=sinusoidal(dim=8),inter=alibi(heads=2)"), where)
    for text in "learned:length=9,dim=4", "alibi:heads=2":
        with pytest.raises(TypeError, match=r"must give a row for each position without trained"):
            evaluation.rows(spec.parse(text), where)
    for text in "t5:heads=2", "rotary:dim=8":
        with pytest.raises(TypeError, match=r"must be a bias without trained weights"):
            evaluation.bias(spec.parse(text), where, where)
    with pytest.raises(TypeError, match=r"one row a position; XPos has one for each role"):
        evaluation.rows(spec.parse("xpos:dim=8"), where)
    monkeypatch.setattr(evaluation, "LARGEST", 31)
    with pytest.raises(ValueError, match=r"`positions` must be fewer.*at most 31.*got 32\."):
        evaluation.rows(Rotary(dim=8), where)
    with pytest.raises(ValueError, match=r"`positions` must be fewer.*got 32\."):
        evaluation.bias(spec.parse("alibi:heads=2"), where, where)
    assert evaluation.rows(Rotary(dim=8), where[:3]).shape == (3, 8)
