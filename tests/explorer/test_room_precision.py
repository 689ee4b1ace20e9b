"""The room of number formats, against casts by PyTorch and cosines by mpmath."""

import base64
import json
from decimal import ROUND_HALF_UP, Decimal

import mpmath
import numpy as np
import pytest
from browsing import follow, settings, settled, text

from posenc import T5, Alibi, Learned, Rotary, Sinusoidal
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms.precision import answer, shown
from posenc.explorer.rooms.precision.answer import FAR, FARTHEST, LOOKED_AT, NEAR
from posenc.explorer.rooms.precision.narrow import CASTS, FORMATS

torch = pytest.importorskip("torch")


def cast(numbers, name):
    """By PyTorch, from float64 and back."""
    wide = torch.as_tensor(np.asarray(numbers, dtype=np.float64))
    return wide.to(getattr(torch, name)).to(torch.float64).numpy()


def four(value):
    """Four decimals as a browser writes them: of two as near, the larger one."""
    rounded = Decimal(float(value)).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return str(rounded).replace("-", "−")


@pytest.fixture(scope="module")
def near():
    """Positions near each of FAR, and the exact cosine and sine of 32 pairs there."""
    positions = np.concatenate([np.arange(end - NEAR, end) for end in FAR])
    with mpmath.workdps(40):
        frequencies = [mpmath.mpf(10_000) ** (-mpmath.mpf(k) / 32) for k in range(32)]
        exact = [
            [[float(wave(int(p) * w)) for wave in (mpmath.cos, mpmath.sin)] for w in frequencies]
            for p in positions
        ]
    return positions, np.asarray([float(w) for w in frequencies]), np.asarray(exact)


def waves(positions, frequencies, name, what):
    """Every step by NumPy, with PyTorch's casts in between."""

    def when(numbers, *casts):
        return cast(numbers, name) if what in casts else numbers

    where = when(positions, "positions", "every")
    speed = when(frequencies, "rates", "every")
    with np.errstate(over="ignore", invalid="ignore"):
        turned = when(where[:, None] * speed, "products", "every")
        made = np.stack([np.cos(turned), np.sin(turned)], axis=-1)
    return when(made, "every", "end")


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("what", CASTS)
def test_errors_far_out(near, name, what):
    positions, frequencies, exact = near
    off = np.abs(waves(positions, frequencies, name, what) - exact)
    off = np.where(np.isnan(off), np.inf, off).reshape(len(FAR), -1).max(axis=-1)
    found = [np.inf if each is None else each for each in answer(Rotary(dim=64))["far"][name][what]]
    # Three digits are told; a plain float64 product is off by up to 1e-9 at ten million.
    assert found == pytest.approx(off, rel=6e-3, abs=1e-8)


def test_as_transformers_makes_angles(near):
    positions, _, exact = near
    speed = 1.0 / (10_000.0 ** (torch.arange(0, 64, 2).float() / 64))
    turned = torch.as_tensor(positions).float()[:, None] * speed
    made = torch.stack([turned.cos(), turned.sin()], dim=-1).double().numpy()
    off = np.abs(made - exact).reshape(len(FAR), -1).max(axis=-1)
    [other] = answer(Rotary(dim=64))["others"]
    assert other["name"] == "angles as transformers makes them, in float32"
    # PyTorch's powers differ from the nearest float32 in a pair or two.
    assert other["errors"] == pytest.approx(off, rel=0.2)
    assert off[-1] > 0.1 > 1e-7 > answer(Rotary(dim=64))["far"]["float32"]["end"][-1]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_the_map_of_errors(name):
    found = answer(Sinusoidal(dim=64))
    frequencies = 10_000.0 ** (-np.arange(32) / 32)
    edges = found["edges"]
    assert (edges[0], edges[-1]) == (0, FARTHEST + 1)
    assert sorted(set(edges)) == edges
    for what in CASTS:
        levels = np.frombuffer(base64.b64decode(found["errors"][name][what]), np.uint8)
        levels = levels.reshape(32, len(edges) - 1)
        for at in range(24):  # up to 2,896
            places = np.arange(edges[at], edges[at + 1])
            right = waves(places, frequencies, "float64", "end")
            off = np.abs(waves(places, frequencies, name, what) - right).max(axis=(0, 2))
            off[off < 1e-12] = 0.0  # what float64 leaves of these products
            with np.errstate(divide="ignore"):
                want = np.where(off == 0, 0, 200 + 10 * np.log10(off))
            if len(places) <= LOOKED_AT:  # all of them are looked at
                assert levels[:, at] == pytest.approx(want, abs=0.51)
            assert np.all(levels[:, at] <= want + 0.51)


@pytest.mark.parametrize("name", FORMATS)
def test_counted(name):
    found = answer(Rotary(dim=64))["counted"][name]
    first = next(
        n
        for n in (2**k + 1 for k in range(64))
        if int(cast(float(n), name)) != n or int(float(n)) != n
    )
    assert found["lost"] == f"{first:,}"
    positions = np.arange(2048)
    assert found["positions"] == len(np.unique(cast(positions, name)))
    frequencies = 10_000.0 ** (-np.arange(32) / 32)
    for what, key in (("positions", "first"), ("end", "end")):
        rows = waves(positions, frequencies, name, what).reshape(2048, -1)
        assert found[key] == len(np.unique(rows, axis=0))


def test_the_numbers_that_everyone_quotes():
    assert cast(257.0, "bfloat16") == 256.0
    found = answer(Rotary(dim=64))["counted"]["bfloat16"]
    assert (found["lost"], found["positions"], found["first"]) == ("257", 641, 641)
    assert found["end"] == 2048


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_slopes_of_alibi(name):
    positions = np.concatenate([np.arange(end - NEAR, end) for end in FAR]).astype(np.float64)
    slopes = np.asarray(Alibi(heads=12).slopes)
    exact = -positions[:, None] * slopes
    found = answer(Alibi(heads=12))
    assert (found["rows"], found["count"], found["others"]) == ("head", 12, [])
    for what, made in {
        "positions": -cast(positions, name)[:, None] * slopes,
        "rates": -positions[:, None] * cast(slopes, name),
        "end": cast(exact, name),
    }.items():
        off = np.abs(made - exact).reshape(len(FAR), -1).max(axis=-1)
        told = [np.inf if each is None else each for each in found["far"][name][what]]
        assert told == pytest.approx(off, rel=6e-3), what


def test_which_encodings_are_shown():
    kinds = {kind for kind, method in METHODS.items() if shown(method.encoding)}
    assert kinds == {
        *("sinusoidal", "sinusoidal_axes", "rotary", "xpos", "axial_rotary", "m_rotary"),
        *("alibi", "t5", "kerple", "fire", "sandwich"),
    }
    with pytest.raises(TypeError, match="got Learned"):
        answer(Learned(length=8, dim=8))
    for kind in ("t5", "fire", "m_rotary", "axial_rotary"):
        json.dumps(answer(METHODS[kind].encoding), allow_nan=False)
    assert answer(T5(heads=2))["counted"]["bfloat16"]["first"] <= 32  # buckets


def test_the_ruler(visit):
    tab = visit("/precision")
    assert "In bfloat16 257 becomes 256." in text(tab, "#holds-twin")
    assert "only every 2nd whole number is held" in text(tab, "#holds-twin")
    marks = tab.locator(".holds .marks span").all_inner_texts()
    assert "256" in marks
    assert "257" not in marks
    for position, name in ((1_000_001, "bfloat16"), (40_000, "float16"), (30_000_001, "float32")):
        follow(tab, f"v=1&position={position}&format={name}")
        became = int(cast(float(position), name))
        words = f"In {name} {position:,} becomes {became:,}." if became != position else "holds"
        assert words in text(tab, "#holds-twin")
        step = np.spacing(getattr(np, name)(position)) if name != "bfloat16" else 4096
        assert f"only every {int(step):,}" in text(tab, "#holds-twin")
        marks = [
            int(mark.replace(",", ""))
            for mark in tab.locator(".holds .marks span").all_inner_texts()
        ]
        assert marks
        assert cast(marks, name).tolist() == marks
    follow(tab, "v=1&position=70000&format=float16")
    assert text(tab, "#holds-twin") == "float16 has no room for 70,000: it becomes infinite."
    assert "nothing is left of it" in text(tab, "#stairs-twin")
    follow(tab, "v=1&position=70000&format=float64")
    assert "every whole number is held" in text(tab, "#holds-twin")


@pytest.mark.parametrize("what", CASTS)
def test_one_column(visit, what):
    tab = visit(f"/precision#v=1&position=1234&column=35&cast={what}&format=bfloat16")
    frequency = np.asarray([10_000.0 ** (-3 / 32)])
    place = np.asarray([1234])
    right, left = (waves(place, frequency, name, what)[0, 0, 1] for name in ("float64", "bfloat16"))
    said = [four(value) for value in (right, left)]
    outcome = "it stays that" if said[0] == said[1] else f"it becomes {said[1]}"
    twin = text(tab, "#stairs-twin")
    assert f"At position 1,234 the sine of pair 3 is {said[0]}; with" in twin
    assert f"in bfloat16 {outcome}." in twin


def test_one_head(visit):
    tab = visit(
        "/precision#v=1&encoding=alibi&heads=12&head=9&position=3001&cast=end&format=float16"
    )
    [right] = Alibi(heads=12).slopes[9:10]
    right *= -3001
    said = [four(value) for value in (right, float(cast(right, "float16")))]
    assert (
        f"the bias of head 9 is {said[0]}; with the result in float16 it becomes {said[1]}."
        in text(tab, "#stairs-twin")
    )
    heard = tab.locator("#position-slider").get_attribute("aria-valuetext")
    assert heard == f"query 3,001: {said[0]} at key 0"
    follow(tab, "v=1&encoding=t5")
    assert not tab.locator("figure.stairs").is_visible()


def test_words_of_the_tables(visit):
    tab = visit("/precision#v=1&encoding=alibi&format=bfloat16&cast=end")
    assert "of the first 2,048 positions 641 are left" in text(tab, "#lost-twin")
    assert "641 different rows if positions are cast first, 641 if the result is cast" in text(
        tab, "#lost-twin"
    )
    assert text(tab, ".lost tr.here th") == "bfloat16"
    assert "With the result in bfloat16: 1 before 1,000" in text(tab, "#far-twin")
    follow(tab, "v=1")
    rows = tab.locator(".far tbody th").all_inner_texts()
    assert rows[-2:] == [
        "angles as transformers makes them, in float32",
        "posenc, the result in float32",
    ]
    assert "9,007,199,254,740,993" in text(tab, ".lost tbody tr >> nth=0")
    follow(tab, "v=1&mistake=degrees")
    assert "The mistake that is switched on is left out" in text(tab, "#lost-twin")


def test_map_under_the_cursor(visit):
    tab = visit("/precision#v=1&encoding=sinusoidal&position=300&column=7")
    assert "pair 3, positions 256 to 362: an error of about 0.4" in text(tab, "#errors-twin")
    first = "The first error above 0.1 was found in positions"
    assert f"{first} 256 to 362." in text(tab, "#errors-twin")
    edges = answer(Sinusoidal(dim=64))["edges"]
    tab.locator(".errors canvas").scroll_into_view_if_needed()
    box = tab.locator(".errors canvas").bounding_box()
    place = (box["x"] + box["width"] * 20.5 / (len(edges) - 1), box["y"] + box["height"] * 5.5 / 32)
    tab.mouse.click(*place)
    settled(tab)
    assert settings(tab)["position"] == edges[20]
    assert f"pair 5, positions {edges[20]:,} to" in text(tab, "#errors-twin")
    # In float32 an angle of up to 2**21 is off by up to 1/16, of up to 2**23 by up to 1/4.
    follow(tab, "v=1&cast=products&format=float32")
    begin = int(text(tab, "#errors-twin").split(f"{first} ")[1].split()[0].replace(",", ""))
    assert 2**21 <= begin <= 2**23
    follow(tab, "v=1&cast=end&format=float32")
    assert "No error that was found is larger than 0.1." in text(tab, "#errors-twin")


def test_settings_in_the_address(visit):
    hash = "v=1&encoding=xpos&position=5000&column=9&format=float16&cast=rates"
    tab = visit(f"/precision#{hash}")
    tab.locator("[name=format][value=float32]").check()
    settled(tab)
    assert tab.url.endswith(hash.replace("float16", "float32"))
    assert text(tab, "#stairs-twin").startswith("At position 5,000 the")
    follow(tab, "v=1&format=float8&position=99999999999&cast=first")
    assert "Format must be float64 or float32 or float16 or bfloat16" in text(tab, "#notice")
    assert f"must be a whole number from 0 to {FARTHEST}" in text(tab, "#notice")
    assert settings(tab)["position"] == FARTHEST


def test_a_narrow_screen(visit):
    tab = visit("/precision#v=1&position=30000000", width=320, height=700)
    assert tab.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("kind", ["rotary", "sinusoidal", "alibi", "xpos"])
def test_python_of_the_page_runs(visit, kind):
    tab = visit(f"/precision#v=1&encoding={kind}")
    code = tab.evaluate(
        """async () => {
            const { current } = await import("/static/main.js");
            const { python } = await import("/static/tools.js");
            return python(JSON.parse(document.getElementById("page").textContent), current());
        }"""
    )
    found = {}
    exec(code, found)
    if kind == "xpos":
        assert found["left"] == answer(METHODS[kind].encoding)
    else:
        off = [np.abs(found[name] - found["right"]).max() for name in ("cast_first", "cast_last")]
        assert off[0] >= off[1] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind, each in METHODS.items() if shown(each.encoding)])
def test_every_encoding(visit, kind):
    far = 30_000 if kind == "xpos" else 66_000  # float32 ends before what xPos multiplies by there
    for what in CASTS:
        tab = visit(f"/precision#v=1&encoding={kind}&cast={what}&format=float16&position={far}")
        twins = tab.locator("figure:not([hidden]) figcaption").all_inner_texts()
        assert all(twin.endswith(".") for twin in twins)
        assert not any(word in " ".join(twins) for word in ("NaN", "undefined", "null", "Infinity"))
