"""Recipes give back the library's numbers; colours keep their sign; pages are complete."""

import dataclasses
import json
import re

import numpy as np
import pytest

from posenc import Rotary, Sinusoidal, spec
from posenc.alibi import Alibi
from posenc.explorer import methods, page, palette, recipes
from posenc.scaling import Linear

STATIC = page.HERE / "static"
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
        columns = [shapes[wave](2 * np.pi * at * turns[k]) for wave, k in recipe["columns"]]
        return recipe["scale"] * np.stack(columns, axis=-1)
    return np.array([[_bias(recipe, head, i, j) for j in range(count)] for i in range(count)])


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
        ('{"kind": "linear", "factor": 2}', "draws Sinusoidal, Rotary and Alibi.*got Linear"),
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


def test_the_page_knows_no_method():
    # Every number of a method is in its recipe: the kernel itself has only 0, 1, 2 and pi.
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", (STATIC / "kernel.js").read_text(), flags=re.DOTALL)
    assert set(re.findall(r"(?<![\w.$])\d[\w.]*", code)) <= {"0", "1", "2"}
    for path in STATIC.rglob("*.js"):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        assert not re.search(r"\b(10_?000|sinusoidal|rotary|alibi)\b", code), path.name


@pytest.mark.parametrize("kind", methods.METHODS)
def test_page(kind):
    content = page.page(kind)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    controls = {control["name"]: control for control in content["controls"]}
    encoding = methods.METHODS[kind].encoding
    fields = {f.name: getattr(encoding, f.name) for f in dataclasses.fields(encoding) if f.init}
    for name, control in controls.items():
        assert control["field"] == (name in fields)
        assert control["default"] == fields.get(name, control["default"])
        if "stops" in control:
            stops = control["stops"]
            assert stops == sorted(set(stops))
            assert control["default"] in stops
            assert control["min"] <= stops[0] <= stops[-1] <= control["max"]
        if "options" in control:
            for option in control["options"]:
                dataclasses.replace(encoding, **{name: option["value"]})
    for axis in content["axes"].values():
        assert axis["control"] in controls
    for picture in content["pictures"]:
        assert (STATIC / "views" / f"{picture['view']}.js").is_file()
    assert all(len(row["answers"]) == len(methods.METHODS) for row in content["questions"])
    assert sum(step["acts"] for step in content["steps"]) == 1
    assert all(formula.startswith("<math") for formula in content["formulas"])
    html = page.render(kind)
    assert content["lead"] in html
    assert "style=" not in html


def test_page_weight():
    size = sum(path.stat().st_size for path in STATIC.rglob("*.js"))
    assert size < 150_000
    assert all(len(page.render(kind)) < 50_000 for kind in methods.METHODS)


# Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of color
# vision deficiency", severity 1; acts on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def _linear(colours):
    srgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colours])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _oklab(linear):
    # Ottosson 2020, the matrices from linear sRGB.
    cones = np.cbrt(
        np.clip(linear, 0, 1)
        @ np.array(
            [
                [0.4122214708, 0.2119034982, 0.0883024619],
                [0.5363325363, 0.6806995451, 0.2817188376],
                [0.0514459929, 0.1073969566, 0.6299787005],
            ]
        )
    )
    return cones @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_sign_survives_colour_blindness(theme, sight):
    seen = _oklab(_linear(palette.colours(theme)) @ np.transpose(SIGHT[sight]))
    steps = np.arange(palette.STEPS // 4, palette.STEPS + 1)
    apart = np.linalg.norm(seen[palette.STEPS + steps] - seen[palette.STEPS - steps], axis=-1)
    assert apart.min() > 0.08  # four times what is just noticeable


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sign_survives_grey(theme):
    colours = palette.colours(theme)
    assert len(colours) == 255
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    luminance = _linear(colours) @ [0.2126, 0.7152, 0.0722]
    lightness = 116 * np.cbrt(luminance) - 16
    assert lightness[-1] - lightness[0] > 25


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_style_sheet_has_the_ends_of_the_palette(theme):
    style = (STATIC / "style.css").read_text()
    colours = palette.colours(theme)
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", style)
    assert len(blocks) == 3  # light, dark by choice, dark by the system
    ours = blocks[:1] if theme == "light" else blocks[1:]
    assert all(f"--plus: {colours[-1]};" in b and f"--minus: {colours[0]};" in b for b in ours)
    assert blocks[1].split() == blocks[2].split()
