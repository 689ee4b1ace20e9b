"""Recipes of waves and straight lines give back the library's numbers, evaluated in Python."""

import json

import numpy as np
import pytest

from posenc import Alibi, Linear, Rotary, Sinusoidal, XPos, spec
from posenc.explorer import recipes

SINUSOIDS = [
    Sinusoidal(dim=dim, odd=odd, layout=layout, first=first, offset=offset, base=base)
    for dim, odd in ((2, "refuse"), (8, "refuse"), (7, "trim"), (7, "pad"))
    for layout in ("interleaved", "half")
    for first in ("sin", "cos")
    for offset, base in ((0, 10_000.0), (-3, 500_000.0))
]
ROTARIES = [
    Rotary(dim=8, layout=layout, rotary_dim=rotary_dim, scaling=scaling)
    for layout in ("half", "interleaved")
    for rotary_dim in (None, 6)
    for scaling in (None, Linear(factor=4.0))
]
BIASES = [
    Alibi(heads=heads, rule=rule, direction=direction)
    for heads in (1, 8, 12)
    for rule in ("paper", "plain")
    for direction in ("causal", "symmetric", "asymmetric")
]


def evaluate(recipe, start, count, head):
    """What the page does with a recipe, in plain Python."""
    if recipe["kind"] == "waves":
        turns = [sum(pieces) for pieces in recipe["turns"]]
        shapes = {"sin": np.sin, "cos": np.cos, "zero": lambda angle: 0 * angle}
        at = np.arange(start, start + count) + recipe["offset"]
        columns = [
            shapes[wave](2 * np.pi * at * turns[k]) * _growth(recipe, at, k)
            for wave, k in recipe["columns"]
        ]
        return recipe["scale"] * np.stack(columns, axis=-1)
    return np.array([[_bias(recipe, head, i, j) for j in range(count)] for i in range(count)])


def _growth(recipe, at, pair):
    return np.exp((at - recipe["center"]) * recipe["rates"][pair]) if "rates" in recipe else 1.0


def _bias(recipe, head, query, key):
    if query == key:
        return 0.0
    line = recipe["behind"] if query > key else recipe["ahead"]
    if line is None:
        return -np.inf
    return recipe["slopes"][head] * (line[0] + line[1] * abs(query - key))


# A thousand turns in float64 are off by 1e-12; the page drops them before it rounds.
CLOSE = {"rtol": 0, "atol": 1e-11}


@pytest.mark.parametrize("code", SINUSOIDS, ids=spec.to_text)
def test_recipe_of_sinusoidal(code):
    want = code.encode(np.arange(990, 1000), dtype=np.float64)
    np.testing.assert_allclose(evaluate(recipes.recipe(code), 990, 10, 0), want, **CLOSE)


@pytest.mark.parametrize("rope", ROTARIES, ids=spec.to_text)
def test_recipe_of_rotary(rope):
    want = np.concatenate(rope.table(np.arange(990, 1000), dtype=np.float64), axis=-1)
    np.testing.assert_allclose(evaluate(recipes.recipe(rope), 990, 10, 0), want, **CLOSE)


@pytest.mark.parametrize("code", [XPos(dim=8), XPos(dim=8, layout="half", center=1000)])
def test_recipe_of_xpos(code):
    table = code.table(np.arange(990, 1000), role="query", dtype=np.float64)
    want = np.concatenate(table, axis=-1)
    np.testing.assert_allclose(evaluate(recipes.recipe(code), 990, 10, 0), want, **CLOSE)


@pytest.mark.parametrize("alibi", BIASES, ids=spec.to_text)
def test_recipe_of_alibi(alibi):
    recipe = recipes.recipe(alibi)
    bias = alibi.bias(np.arange(6), np.arange(6), dtype=np.float64)
    for head in range(alibi.heads):
        np.testing.assert_array_equal(evaluate(recipe, 0, 6, head), bias[head])


@pytest.mark.parametrize("encoding", SINUSOIDS + ROTARIES + BIASES, ids=spec.to_text)
def test_json_keeps_every_bit(encoding):
    recipe = recipes.recipe(encoding)
    assert json.loads(json.dumps(recipe, allow_nan=False)) == recipe
    assert recipes.read(json.dumps(recipe["spec"])) == encoding
    assert spec.parse(recipe["text"]) == encoding


def test_turns_are_exact():
    from fractions import Fraction

    import mpmath

    code = Sinusoidal(dim=64)
    with mpmath.workdps(60):
        for pair, pieces in enumerate(recipes.recipe(code)["turns"]):
            true = mpmath.mpf(10_000) ** (-mpmath.mpf(2 * pair) / 64) / (2 * mpmath.pi)
            got = sum(map(Fraction, pieces))
            error = mpmath.mpf(got.numerator) / got.denominator - true
            # The last piece is below 2**-45 and has 53 bits.
            assert abs(error - mpmath.nint(error)) < 2.0**-98
            # 31 bits of a position times 22 bits of a piece fit a float64.
            assert all(
                (Fraction(piece) * 2**bits).denominator == 1
                for piece, bits in zip(pieces, (22, 44), strict=False)
            )


def test_partners_are_the_pairs_that_turn():
    for layout in ("half", "interleaved"):
        rope = Rotary(dim=8, rotary_dim=6, layout=layout)
        partners = recipes.recipe(rope)["partners"]
        for pair, (one, other) in enumerate(partners):
            turned = rope.rotate(np.eye(8), np.full(8, 3))
            assert set(np.flatnonzero(turned[one])) == {one, other}
            angle = 3 * rope.frequencies[pair]
            np.testing.assert_allclose(turned[one, [one, other]], [np.cos(angle), np.sin(angle)])


def test_picks():
    assert recipes.recipe(Sinusoidal(dim=64))["picks"] == [0, 2, 4, 8, 16, 32]
    assert recipes.recipe(Sinusoidal(dim=64, layout="half"))["picks"] == [0, 1, 2, 4, 8, 16]
    assert recipes.recipe(Sinusoidal(dim=2))["picks"] == [0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot read the encoding"),
        ("[" * 100_000, "cannot read the encoding"),
        ("{" * 100_000, "must be JSON"),
        ("1" * 5000, "cannot read the encoding"),
        ("[]", "cannot read the encoding"),
        ("{}", "'kind' must be one of"),
        ('{"kind": "sinusoidal", "dim": 7}', "even.*6 and 8"),
        ('{"kind": "sinusoidal", "dim": 1026}', "`dim` must be at most 1024.*dim=1026"),
        ('{"kind": "sinusoidal", "dim": 1e9}', "`dim` must be an integer"),
        ('{"kind": "sinusoidal", "dim": 4, "offset": -9999999999}', "`offset` must be at most"),
        ('{"kind": "rotary", "dim": 1000000000000}', "`dim` must be at most"),
        ('{"kind": "alibi", "heads": 100000}', "`heads` must be at most 64"),
        ('{"kind": "sinusoidal", "dim": 4, "base": NaN}', "must be finite"),
        ('{"kind": "linear", "factor": 2}', "must be an encoding of posenc.*got Linear"),
    ],
)
def test_refused(text, message):
    with pytest.raises((TypeError, ValueError), match=message):
        recipes.recipe(recipes.read(text))


def test_table():
    np.testing.assert_array_equal(
        recipes.table(Sinusoidal(dim=8), 5, 3), Sinusoidal(dim=8).encode(np.arange(5, 8))
    )
    rope = Rotary(dim=8)
    got = recipes.table(rope, 2**18, 3)
    np.testing.assert_array_equal(
        got, np.concatenate(rope.table(np.arange(2**18, 2**18 + 3)), axis=-1)
    )
    bias = recipes.table(Alibi(heads=4), 0, 3, head=1)
    np.testing.assert_array_equal(bias, Alibi(heads=4).bias(np.arange(3), np.arange(3))[1])
    assert got.dtype == bias.dtype == np.float32
    with pytest.raises(ValueError, match=r"`count` must lie between 1 and 512; got count=513"):
        recipes.table(rope, 0, 513)
    with pytest.raises(ValueError, match=r"`head` must lie between 0 and 3; got head=4"):
        recipes.table(Alibi(heads=4), 0, 3, head=4)


def test_xpos_where_float32_holds_it():
    code = XPos(dim=64, scale_base=64.0)
    first, last, says = recipes.recipe(code)["drawable"]
    assert first == 0
    for role in ("query", "key"):
        table = np.concatenate(code.table(np.asarray([last]), role=role))
        assert 1e-38 < np.abs(table).max() < np.inf
    recipes.table(code, last - 127, 64)
    for make in (recipes.table, recipes.recipe):
        with pytest.raises(ValueError, match=r"float32 holds .* only: look there, set `center`"):
            make(code, start=last - 126, count=64)
    assert f"from position 0 to {last}" in says
