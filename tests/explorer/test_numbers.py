"""The numbers and colours of the page in a real browser are the library's."""

import numpy as np
import pytest
from browsing import differences, follow, settled, text, values

from posenc import Rotary, Sinusoidal
from posenc.alibi import Alibi
from posenc.explorer import palette, recipes


@pytest.mark.parametrize("start", [0, 2**18 - 512, recipes.FARTHEST])
def test_sinusoidal_numbers(visit, start):
    tab = visit()
    positions = np.arange(start, start + 512)
    for dim, fields in [
        (4, {}),
        (64, {"base": 500_000, "layout": "half"}),
        (64, {"spacing": "endpoint"}),
        (1024, {}),
    ]:
        extra = "".join(f"&{name}={value}" for name, value in fields.items())
        follow(tab, f"v=1&dim={dim}&from={start}&count=512{extra}")
        want = Sinusoidal(dim=dim, **fields).encode(positions)
        assert differences(values(tab), want) == 0


@pytest.mark.parametrize("start", [0, 2**18 - 512, recipes.FARTHEST])
def test_rotary_numbers(visit, start):
    tab = visit("/waves#encoding=rotary")
    positions = np.arange(start, start + 512)
    for dim, base in [(4, 10_000), (64, 10_000), (128, 500_000)]:
        follow(tab, f"v=1&encoding=rotary&dim={dim}&base={base}&from={start}&count=512")
        want = np.concatenate(Rotary(dim=dim, base=base).table(positions), axis=-1)
        assert differences(values(tab), want) == 0


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_turned_queries_and_keys(visit, layout):
    tab = visit(f"/rotation#v=1&dim=64&layout={layout}")
    positions = [0, 1, 5, 1000, 131_072, 2**18, 2**31 - 1]
    vector, turned = tab.evaluate(
        """async (positions) => {
            const { current } = await import("/static/main.js");
            const { rotate } = await import("/static/kernel.js");
            const { recipe } = current();
            const { query } = recipe.example;
            return [query, positions.map((position) => [...rotate(recipe, query, position)])];
        }""",
        positions,
    )
    vector = np.asarray(vector, dtype=np.float32)
    want = Rotary(dim=64, layout=layout).rotate(
        np.tile(vector, (len(positions), 1)), np.asarray(positions)
    )
    assert differences(np.asarray(turned, dtype=np.float32), want) == 0


@pytest.mark.parametrize("heads", [8, 12])
@pytest.mark.parametrize("direction", ["causal", "symmetric", "asymmetric"])
def test_alibi_numbers(visit, heads, direction):
    tab = visit("/bias")
    bias = Alibi(heads=heads, direction=direction).bias(np.arange(64), np.arange(64))
    for head in range(heads):
        follow(tab, f"v=1&heads={heads}&direction={direction}&head={head}")
        assert differences(values(tab), bias[head]) == 0


def test_fields_that_no_slider_sets(visit):
    tab = visit()
    for code in [
        Sinusoidal(dim=6, offset=2, first="cos"),
        Sinusoidal(dim=7, odd="pad", layout="half"),
        Sinusoidal(dim=7, odd="trim"),
    ]:
        got = tab.evaluate(
            """async (recipe) => {
                const { table, wave } = await import("/static/kernel.js");
                const { values, columns } = table(recipe, { start: 5, count: 9, head: 0 });
                const curves = values.map((_, cell) =>
                    wave(recipe, cell % columns, 5 + Math.floor(cell / columns)));
                return [[...values], [...curves]];
            }""",
            recipes.recipe(code),
        )
        want = code.encode(np.arange(5, 14))
        for numbers in got:
            numbers = np.asarray(numbers, dtype=np.float32).reshape(want.shape)
            assert differences(numbers, want) == 0


def test_the_page_compares_its_own_numbers(visit):
    tab = visit("/waves#v=1&dim=128&from=131072")
    tab.click("#check")
    tab.wait_for_selector("#notice:has-text('all are equal')")
    assert "8,192 numbers" in text(tab, "#notice")
    tab.evaluate(
        "import('/static/main.js').then(({ current }) => { current().values[7] += 1e-7; })"
    )
    tab.click("#check")
    tab.wait_for_selector("#notice:has-text('1 differ')")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_those_of_the_numbers(visit, theme):
    tab = visit("/waves#v=1&dim=64&count=96", theme=theme)
    pixels = np.asarray(
        tab.evaluate(
            """() => {
                const canvas = document.querySelector(".sheet canvas");
                const { width, height } = canvas;
                return [...canvas.getContext("2d").getImageData(0, 0, width, height).data];
            }"""
        )
    ).reshape(96, 64, 4)
    steps = np.floor(127 * Sinusoidal(dim=64).encode(np.arange(96), dtype=float) + 0.5).astype(int)
    colours = [[*bytes.fromhex(colour[1:]), 255] for colour in palette.colours(theme)]
    np.testing.assert_array_equal(pixels, np.asarray(colours)[steps + 127])


def test_masked_keys_are_hatched(visit):
    tab = visit("/bias")
    alpha = tab.evaluate(
        """() => {
            const context = document.querySelector(".sheet canvas").getContext("2d");
            const { data } = context.getImageData(0, 0, 64, 64);
            return [data[4 * 63 + 3], data[4 * 63 * 64 + 3]];
        }"""
    )
    assert alpha == [0, 255]


def test_moving_both_tokens_keeps_the_score(visit):
    tab = visit("/rotation#v=1&gap=5")
    hands = "document.querySelector('.dials .current path.query:not(.before)').getAttribute('d')"
    score, before = text(tab, ".score"), tab.evaluate(hands)
    follow(tab, "v=1&gap=5&position=40")
    assert text(tab, ".score") == score
    assert tab.evaluate(hands) != before
    follow(tab, "v=1&gap=6&position=40")
    assert text(tab, ".score") != score


def test_numbers_around_the_cursor(visit):
    tab = visit("/waves#v=1&dim=4&position=2")
    tab.click("figure.matrix summary")
    settled(tab)
    rows = tab.locator(".numbers tbody tr").all_inner_texts()
    assert rows[2].split() == ["2", "0.9093", "−0.4161", "0.0200", "0.9998"]
    follow(tab, "v=1&dim=4&position=3")
    assert text(tab, ".numbers .here") == "0.9996"


def test_alibi_in_words(visit):
    tab = visit("/bias#v=1&heads=12&head=8")
    assert "not in order" in text(tab, "#slopes-twin")
    assert "takes 0.7071 off a score" in text(tab, "#slopes-twin")
    follow(tab, "v=1&heads=8&head=0&position=3&column=1")
    assert "its attention halves every 1.39 positions" in text(tab, "#slopes-twin")
    assert "head 0 gives −1.0000" in text(tab, "#lines-twin")
    assert "4 of 64 keys are open." in text(tab, "#scores-twin")
