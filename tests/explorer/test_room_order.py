"""The room Order against attention written out in NumPy."""

import urllib.parse

import numpy as np
import pytest
from browsing import follow, settings, settled, text

import posenc
from posenc import spec
from posenc.explorer import asked, page
from posenc.explorer.recipes import weights
from posenc.explorer.rooms import ROOMS, order

WORDS = "the cat saw the dog run"
IDS = [0, 1, 2, 0, 3, 4]
MOVED = [2, 4, 3, 5, 1, 0]  # where each word stands in the reversed order; equal words keep theirs
KINDS = [
    "sinusoidal",
    "learned",
    "rotary",
    "xpos",
    "alibi",
    "t5",
    "kerple",
    "fire",
    "sandwich",
    "shaw",
    "transformer_xl",
    "deberta",
]
FIRST = ("sinusoidal", "rotary", "t5", "shaw")
EVERY = [kind if kind in FIRST else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]

RUN = """async () => {
    const { current } = await import("/static/main.js");
    const { toy, residual } = await import("/static/order.js");
    const shown = current();
    const found = toy({ ...shown, answer: shown.got.answer });
    const half = (runs) => ({
        size: residual(runs, found.orders).size,
        runs: runs.map(({ weights, outputs: rows }) => ({
            weights, outputs: rows.map((row) => [...row]),
        })),
    });
    return {
        spec: shown.recipe.spec, ids: found.ids, orders: found.orders, words: found.words,
        dropped: found.dropped, without: half(found.without), with: found.with && half(found.with),
    };
}"""


def address(kind="sinusoidal", **more):
    values = {"v": 1, "encoding": kind, **more}
    return "#" + urllib.parse.urlencode({name: each for name, each in values.items() if each != ""})


def mixed(ids, code, *, encoded, causal, head=0):
    """The shares and outputs of attention, by the library's public methods."""
    at = np.arange(len(ids))
    width = 64 if hasattr(code, "bias") else code.dim
    words = order.words(width)[ids]
    trained = weights.made_up(code)
    x = words.astype(np.float64)
    queries, keys, values, extra = x, x, x, 0.0
    if not encoded:
        pass
    elif hasattr(code, "encode"):
        queries = keys = values = x + code.encode(at, **trained)
    elif isinstance(code, posenc.XPos):
        queries, keys = (code.rotate(words, at, role=role) for role in ("query", "key"))
    elif hasattr(code, "rotate"):
        queries = keys = code.rotate(words, at)
    elif hasattr(code, "bias"):
        extra = code.bias(at, at, **trained)[head]
    elif isinstance(code, posenc.Shaw):
        extra = code.score_term(x[None], at, at, key_table=trained["key_table"])[0]
    else:
        every = np.tile(x, (code.heads, 1, 1))
        extra = code.score_term(every, every, at, at, **trained)[head]
    scores = np.asarray(queries, np.float64) @ np.asarray(keys, np.float64).T
    scores = scores * getattr(code, "scale", width**-0.5) + extra
    if causal:
        scores = np.where(np.tri(len(ids), dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares, shares @ values


@pytest.mark.parametrize("mask", ["off", "on"])
@pytest.mark.parametrize("kind", EVERY)
def test_both_halves_equal_numpy(visit, kind, mask):
    tab = visit("/order" + address(kind, sentence=WORDS, mask=mask, head=1))
    found = tab.evaluate(RUN)
    code = spec.from_data(found["spec"])
    assert found["ids"] == IDS
    for half in ("without", "with"):
        options = {"encoded": half == "with", "causal": mask == "on", "head": 1}
        want = [mixed(ids, code, **options) for ids in (IDS, IDS[::-1])]
        for run, (shares, outputs) in zip(found[half]["runs"], want, strict=True):
            # The page goes on in float64 from the library's float32; NumPy here does not always.
            np.testing.assert_allclose(run["weights"], shares, atol=2e-6)
            np.testing.assert_allclose(run["outputs"], outputs, atol=1e-5)
        size = np.abs(want[0][1] - want[1][1][MOVED]).max()
        assert found[half]["size"] == pytest.approx(size, abs=1e-5)
        blind = half == "without" and mask == "off"
        assert (found[half]["size"] < 1e-12) == blind


def test_the_words_beside_the_pictures(visit):
    tab = visit("/order")
    said = text(tab, "#sentence-twin")
    assert "“dog bites man” beside “man bites dog”" in said
    assert "Without positions every word gets the same in both orders: the residual is 0" in said
    code = posenc.Sinusoidal(dim=64)
    (_, one), (_, other) = (
        mixed(ids, code, encoded=True, causal=False) for ids in ([0, 1, 2], [2, 1, 0])
    )
    size = np.abs(one - other[::-1]).max()
    assert f"the residual is {size:.4f}" in said
    assert text(tab, ".residual >> nth=0") == "0"
    assert text(tab, ".residual >> nth=1") == f"{size:.4f}"
    feature = int(np.abs(one[0] - other[2]).argmax())
    numbers = [f"{value:.4f}".replace("-", "−") for value in (one[0, feature], other[2, feature])]
    assert f"most in feature {feature}: {' and '.join(numbers)}." in text(tab, "#outputs-twin")
    length = np.linalg.norm(order.words(64)[0] + code.encode(np.arange(3))[2])
    assert f"the sum {length:.4f}" in text(tab, "#made-twin")
    shares, _ = mixed([0, 1, 2], code, encoded=False, causal=False)
    assert f"“dog” {100 * shares[0, 0]:.1f}%" in text(tab, "#attention-twin")


def test_a_causal_mask_leaks_order(visit):
    tab = visit("/order#v=1&mask=on")
    said = text(tab, "#sentence-twin")
    assert "The causal mask alone tells the order" in said
    assert text(tab, ".residual >> nth=0") != "0"


def test_a_bias_of_distance_alone_is_blind_to_a_mirror(visit):
    tab = visit("/order#v=1&encoding=alibi&direction=symmetric")
    assert "does not tell one side from the other" in text(tab, "#sentence-twin")
    tab.click(".other-order button")
    settled(tab)
    found = tab.evaluate(RUN)
    assert found["orders"][1] not in ([2, 1, 0], [0, 1, 2])
    assert found["with"]["size"] > 1e-4


def test_shuffling_and_choosing_a_word(visit):
    tab = visit("/order" + address(sentence="a b c d e f"))
    tab.click(".other-order button")
    settled(tab)
    first = tab.evaluate(RUN)["orders"][1]
    tab.click(".other-order button")
    settled(tab)
    second = tab.evaluate(RUN)["orders"][1]
    assert sorted(first) == sorted(second) == list(range(6))
    assert first != second
    tab.get_by_role("radio", name="c", exact=True).focus()
    tab.keyboard.press("Space")
    settled(tab)
    assert settings(tab)["word"] == 3
    assert text(tab, "#made-twin").startswith("The embedding of “c”")
    link = tab.evaluate("location.hash")
    again = visit("/order" + link)
    assert again.evaluate(RUN)["orders"][1] == second
    assert settings(again)["word"] == 3


def test_equal_words_count_once_and_a_mirrored_sentence_is_the_same(visit):
    tab = visit("/order" + address(sentence="Dog bites dog"))
    found = tab.evaluate(RUN)
    assert found["ids"] == [0, 1, 0]
    assert found["with"]["size"] == 0
    assert "is the same in the other order" in text(tab, "#sentence-twin")


HOSTILE = [
    "<img src=x onerror=alert(1)> <b>bold</b> &amp; \"quotes\" 'and' `more` ${1}",
    "👩‍👩‍👧‍👦 bites 🐕 שלום עולם مرحبا \u202eevil\u202c\u0000\u0007",
    "x" * 240,
    "",
    "   \t  ",
    "one",
    "__proto__ constructor toString",
]


def test_hostile_sentences_are_text(visit):
    tab = visit("/order", width=390)
    tab.click("summary:has-text('This room')")
    for sentence in HOSTILE:
        tab.fill("#sentence", sentence)
        settled(tab)
        assert tab.locator("#pictures :is(img, b, script)").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        for view in ("sentence", "made", "attention", "outputs"):
            said = text(tab, f"#{view}-twin")
            assert said.endswith(".")
            wrong = ("NaN", "undefined", "null", "Infinity", "\u202e")
            assert not any(word in said for word in wrong), said
        assert ("no word yet" in text(tab, "#sentence-twin")) == (not sentence.split())


def test_long_sentences_are_bounded(visit):
    tab = visit("/order" + address(sentence=" ".join(f"w{at}" for at in range(40))))
    assert "Only the first 24 of 40 words are used." in text(tab, "#sentence-twin")
    assert len(tab.evaluate(RUN)["words"]) == 24
    follow(tab, address(sentence="long " * 2000))
    assert "must have at most 240 characters" in text(tab, "#notice")
    assert "Only the first 24 of 48 words are used." in text(tab, "#sentence-twin")


def test_a_table_of_another_shape_is_not_added(visit):
    tab = visit("/order" + address(mistake="transposed"))
    assert "cannot be added" in text(tab, "#sentence-twin")
    assert "do not fit" in text(tab, "#made-twin")
    assert tab.evaluate(RUN)["with"] is None


def test_no_position_no_order(visit):
    tab = visit("/order" + address(mistake="positions along the batch", order="shuffled"))
    assert tab.evaluate(RUN)["with"]["size"] < 1e-12


def test_which_encodings_it_shows():
    assert page.room("order")["encodings"] == KINDS


def test_the_answer_does_not_know_the_sentence():
    assert ROOMS["order"].asks == ("head",)
    with pytest.raises(TypeError, match=r"acts on the words of a sentence.*got Swin"):
        asked.answer("order", {"spec": "swin:heads=2,window=[4,4]"})
    query = {"spec": "deberta:heads=8,dim=16", "head": "8"}
    with pytest.raises(ValueError, match="`head` must lie between 0 and 7; got head=8"):
        asked.answer("order", query)


def test_a_head_of_an_encoding_whose_heads_are_alike():
    query = {"spec": "shaw:dim=16,max_distance=4"}
    assert asked.answer("order", query | {"head": "-1"}) == asked.answer("order", query)


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary", "sandwich"])
def test_its_python_runs(kind):
    code = spec.from_data(spec.read(kind + {"sandwich": ":heads=8"}.get(kind, ":dim=64")))
    known = {"encoding": f"posenc.{code!r}", "mask": "on", "head": "2", "count": "24"}
    family = {"sinusoidal": "absolute", "rotary": "rotary", "sandwich": "bias"}[kind]
    lines = ROOMS["order"].python[family]
    for name, value in known.items():
        lines = lines.replace("{" + name + "}", value)
    made = {}
    exec(lines, made)
    _, outputs = mixed([0, 1, 2], code, encoded=True, causal=True, head=2)
    np.testing.assert_allclose(made["outputs"], outputs, atol=1e-5)
