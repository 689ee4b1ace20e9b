"""The room Stretch: what rules do to pairs, and the settings of models read on the page."""

import dataclasses
import json
import math

import numpy as np
import pytest
from browsing import differences, follow, settings, settled, text, values
from starlette.testclient import TestClient

import posenc
from posenc import Linear, Llama3, LongRope, MRotary, NTKByParts, Proportional, Rotary, Yarn
from posenc.explorer import fields, reading, recipes, server
from posenc.explorer.rooms.stretch import LONGEST, answer, effects

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}
LLAMA3 = LLAMA | {
    "rope_theta": 5e5,
    "max_position_embeddings": 131_072,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}
PHI3 = {
    "model_type": "phi3",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "max_position_embeddings": 16_384,
    "original_max_position_embeddings": 4096,
    "rope_scaling": {
        "type": "longrope",
        "short_factor": [1.0] * 8,
        "long_factor": [1.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0],
    },
}


# Rules


def test_pairs_that_never_finish_a_turn():
    # The slow pairs of Llama 2 and of Llama 3, by the lengths of their training.
    two = effects.effect(Rotary(dim=128), trained=4096, wanted=4096)
    assert two["unfinished"] == list(range(46, 64))
    three = effects.effect(Rotary(dim=128, base=5e5), trained=8192, wanted=8192)
    assert len(three["unfinished"]) == 29


def test_without_a_rule_slow_pairs_go_as_far_as_the_text():
    found = answer(Rotary(dim=128), original_length="4096", wanted="16384")
    assert found["plain"] == found["after"]
    assert found["after"]["unseen"] == list(range(46, 64))
    assert found["after"]["farthest"] == 4
    omega = 10_000 ** (-np.arange(64) / 64)
    np.testing.assert_allclose(found["seen"], 4096 * omega / (2 * np.pi))
    np.testing.assert_allclose(found["after"]["wavelengths"], 2 * np.pi / omega)


def test_interpolation_stays_among_known_angles():
    found = answer(Rotary(dim=128, scaling=Linear(factor=4.0)), wanted="16384")
    assert found["after"]["slower"] == [4.0] * 64
    assert found["after"]["unseen"] == []
    # One pair turned more than once and less than four times: it is slow now, but knows its angles.
    assert len(found["after"]["unfinished"]) == sum(turns < 4 for turns in found["seen"])
    assert answer(Rotary(dim=128, scaling=Linear(factor=4.0)), wanted="16388")["after"]["unseen"]


def test_the_rule_knows_its_trained_length_best():
    rope = Rotary(dim=128, scaling=Yarn(factor=4.0, original_length=8192))
    assert answer(rope, original_length="4096", wanted="16384")["trained"] == 8192


PYTHON = """async () => {
    const { python } = await import("/static/tools.js");
    const { current } = await import("/static/main.js");
    return python(JSON.parse(document.getElementById("page").textContent), current());
}"""


@pytest.mark.parametrize(
    "rule",
    [
        NTKByParts(factor=4.0, original_length=4096),
        Llama3(factor=8.0, original_length=8192),
        Yarn(factor=4.0, original_length=4096),
        Yarn(factor=16.0, original_length=4096, truncate=False),
    ],
)
def test_edges_are_where_a_rule_begins_and_ends(rule):
    found = answer(Rotary(dim=128, scaling=rule), wanted="32768")
    low, high = (edge["at"] for edge in found["edges"])
    waves = found["plain"]["wavelengths"]
    for wave, slower in zip(waves, found["after"]["slower"], strict=True):
        if wave < low * (1 - 1e-9):
            assert slower == 1
        elif wave > high * (1 + 1e-9):
            assert slower == pytest.approx(rule.factor)
        elif low * (1 + 1e-9) < wave < high * (1 - 1e-9):
            assert 1 < slower < rule.factor


def test_table_factors_are_named():
    rope = Rotary(dim=128, scaling=Yarn(factor=40.0, original_length=4096, mscale_all_dim=1.0))
    after = answer(rope, wanted="163840")["after"]
    assert after["table_factor"] == 1
    assert after["softmax_factor"] == pytest.approx((0.1 * math.log(40) + 1) ** 2)
    rope = Rotary(dim=128, scaling=Yarn(factor=4.0, original_length=4096))
    assert answer(rope, wanted="16384")["after"]["table_factor"] == 0.1 * math.log(4) + 1


@pytest.mark.parametrize("wanted", [16, 1000, 16_384])
def test_curve_is_a_mean_of_cosines(wanted):
    rope = Rotary(dim=64, scaling=Yarn(factor=4.0, original_length=4096))
    found = answer(rope, wanted=str(wanted))["curve"]
    assert (found["gaps"][0], found["gaps"][-1]) == (0, wanted - 1)
    for name, turning, factor in [
        ("before", rope.unscaled, 1),
        ("after", rope.frequencies_at(wanted), rope.attention_factor**2),
    ]:
        for gap, value in zip(found["gaps"], found[name], strict=True):
            near = np.arange(math.ceil(gap / 1.1), min(math.floor(gap * 1.1), wanted - 1) + 1)
            want = np.cos(np.outer(near, turning)).mean() * factor
            assert value == pytest.approx(want, abs=1e-9)


def test_pairs_that_stand_still():
    found = answer(Rotary(dim=64, scaling=Proportional(fraction=0.25)), wanted="16384")
    assert found["after"]["slower"][8:] == [None] * 24
    assert found["after"]["wavelengths"][8:] == [None] * 24
    json.dumps(found, allow_nan=False)
    assert found["curve"]["after"][-1] > 0.7  # 24 of 32 cosines are 1


@pytest.mark.parametrize("kind", ["rotary", pytest.param("m_rotary", marks=pytest.mark.slow)])
@pytest.mark.parametrize("start", ["none", "linear", "dynamic_ntk", "llama3", "proportional"])
def test_the_name_of_a_rule_chooses_what_its_picture_shows(kind, start):
    given = {"scaling": start, "original_length": 8192, "base": 5e5}

    def asked(settings):
        encoding = recipes.built(fields.data(kind, settings))
        return answer(encoding, original_length="8192", wanted="65536")

    rules = asked(given)["rules"]
    assert [rule["kind"] for rule in rules] == list(effects.COMPARED)
    for rule in rules:
        chosen = asked(given | rule["settings"])["after"]
        assert chosen == {name: rule[name] for name in chosen}


def test_dynamic_ntk_goes_by_the_text():
    rules = answer(Rotary(dim=64), original_length="4096", wanted="20480")["rules"]
    by_kind = {rule["kind"]: rule for rule in rules}
    omega = (10_000 * 5 ** (64 / 62)) ** (-np.arange(32) / 32)
    for kind in ("ntk", "dynamic_ntk"):
        np.testing.assert_allclose(by_kind[kind]["wavelengths"], 2 * np.pi / omega)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ({"wanted": "x"}, "`wanted` must be a number of tokens; got 'x'"),
        ({"wanted": "0"}, "`wanted` must be at least 1"),
        ({"wanted": str(LONGEST + 1)}, "`wanted` must be at most 16777216"),
        ({"wanted": "9" * 5000}, "`wanted` must be"),
        ({"wanted": "16", "original_length": "-1"}, "`original_length` must be at least 1"),
    ],
)
def test_lengths_that_cannot_be(lengths, message):
    with pytest.raises(ValueError, match=message):
        answer(Rotary(dim=8), **lengths)


def test_only_what_turns():
    with pytest.raises(TypeError, match=r"shows rotary encodings.*got Alibi"):
        answer(posenc.Alibi(heads=8), wanted="16")


# Reading


def read(config, **named):
    return reading.read(json.dumps(config).encode(), **named)


@pytest.mark.parametrize(
    "config",
    [
        LLAMA3,
        LLAMA | {"rope_scaling": {"type": "linear", "factor": 2.0}},
        LLAMA | {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
        {"model_type": "qwen2", "rope_scaling": {"type": "yarn", "factor": 4.0}},
        {"model_type": "gptj"},
        {"model_type": "gemma3_text"},
        {"model_type": "qwen3_vl_text", "head_dim": 128},
    ],
)
def test_a_model_sets_the_room(config):
    uses = posenc.read(config).uses
    said = read(config)["uses"]
    assert len(said) == len(uses)
    for use, told in zip(uses, said, strict=True):
        chosen = dict(told["settings"])
        kind = chosen.pop("encoding")
        shown = recipes.built(fields.data(kind, chosen))
        if shown != use.encoding:  # said, not dropped
            assert told["told"]
            shown, meant = (getattr(one, "rotary", one) for one in (shown, use.encoding))
            assert shown.frequencies_at(10**6) == meant.frequencies_at(10**6)


def test_features_that_do_not_turn_are_said():
    config = {"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8}
    (use,) = read(config | {"rotary_pct": 0.125})["uses"]
    assert use["settings"]["dim"] == 8
    assert "cannot be set to 8" in use["told"][0]
    assert "shown as a head of 8 features" in use["told"][1]


def test_lists_of_longrope_are_drawn_but_not_set():
    (use,) = read(PHI3)["uses"]
    assert use["settings"] is None
    assert use["told"] == [
        "The form describes a list of LongRoPE by its two ends, and these lists follow no such "
        "rule; the picture here shows them as they are."
    ]
    assert use["effect"]["slower"] == pytest.approx(PHI3["rope_scaling"]["long_factor"])
    assert use["effect"]["table_factor"] == pytest.approx(math.sqrt(1 + 2 / 12))


def test_encodings_without_turning_have_no_way_into_the_room():
    said = read({"model_type": "gpt2"}, name="../gpt2/config.json")
    assert said["source"] == "config.json"
    (use,) = said["uses"]
    assert (use["settings"], use["effect"], use["told"]) == (None, None, [])
    assert ["length", "1,024", "default of the class: max_position_embeddings"] in use["values"]


def test_findings_are_told_with_their_cure():
    finding, *_ = read(LLAMA | {"rope_tetha": 1e6})["findings"]
    assert finding["key"] == "rope_tetha"
    assert finding["severity"] == "warning"
    assert "rope_theta" in finding["cure"]
    twice = b'{"model_type": "llama", "rope_theta": 1e4, "rope_theta": 1e5}'
    finding, *_ = reading.read(twice)["findings"]
    assert (finding["key"], finding["value"]) == ("rope_theta", "100,000")


def test_a_model_of_many_parts_is_cut_short():
    many = read(LLAMA | {"model_type": "gemma3_text"})
    assert many["left"] == 0
    json.dumps(many, allow_nan=False)


@pytest.mark.parametrize(
    ("body", "name", "message"),
    [
        (b"", "", r"^The pasted text is neither JSON nor GGUF"),
        (b'{"model_type": ', "a/b/config.json", r"^config\.json is neither JSON nor GGUF"),
        (b"[1]", "config.json", r"^config\.json must hold a JSON object.* it holds a list"),
        (b"\xff\xfe", "config.json", "not text in UTF-8"),
        (b"[" * 100_000, "config.json", "nested|recursion"),
        (b"PK\x03\x04", "model.zip", r"^model\.zip is"),
        (b"\0" * 8, "model.safetensors", r"^model\.safetensors holds weights.*config\.json beside"),
        (b"GGUF", "model.gguf", r"^model\.gguf cannot be read as GGUF"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 16, "model.gguf", r"it claims 18446744073709551615 keys"),
        (b" " * (2**20 + 1), "config.json", r"more than 1 MiB.*drop the config\.json"),
        (b"GGUF" + b"\0" * 2**25, "model.gguf", r"more than 32 MiB"),
    ],
)
def test_what_cannot_be_read(body, name, message):
    with pytest.raises(ValueError, match=message) as raised:
        reading.read(body, name=name)
    assert "/tmp" not in str(raised.value)
    assert isinstance(raised.value, reading.TooLarge) == (len(body) > 2**20)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A GGUF file with a small header, divisors for its pairs, and weights after them."""
    gguf = pytest.importorskip("gguf")
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_context_length(131_072)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_rope_freq_base(500_000.0)
    writer.add_rope_dimension_count(16)
    writer.add_tensor("rope_freqs.weight", np.full(8, 2, np.float32))
    writer.add_tensor("output.weight", np.zeros((256, 64), np.float32))
    writer.add_tensor("output_norm.weight", np.zeros(64, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_beginning_of_a_gguf_file_is_enough(model):
    gguf = pytest.importorskip("gguf")
    body = model.read_bytes()
    whole = reading.read(body, name="model.gguf", size=len(body))
    (use,) = whole["uses"]
    assert ["base", "500,000"] in use["rows"]
    assert use["effect"]["slower"] == [2.0] * 8
    weights, last = (tensor.data_offset for tensor in gguf.GGUFReader(model).tensors[1:])
    assert reading.read(body[:weights], name="model.gguf", size=len(body)) == whole
    # A download that broke off is still found to be one, and so are divisors that were not sent.
    broken = reading.read(body[:weights], name="model.gguf", size=last - 1)
    assert "the file ends before its last tensor" in broken["findings"][0]["why"]
    with pytest.raises(ValueError, match=r"^model\.gguf cannot.*`posenc inspect` reads all"):
        reading.read(body[: weights - 1], name="model.gguf", size=len(body))


def test_a_gguf_file_whose_header_goes_on_beyond_what_was_sent(model):
    body = model.read_bytes()
    with pytest.raises(ValueError, match=r"bytes the page sends the first 100; `posenc inspect`"):
        reading.read(body[:100], name="model.gguf", size=len(body))


def test_nothing_is_left_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    read(LLAMA)
    with pytest.raises(ValueError, match="neither JSON"):
        reading.read(b"{")
    assert list(tmp_path.iterdir()) == []


# The route


@pytest.fixture(scope="module")
def client():
    with TestClient(server.application(), base_url="http://127.0.0.1:8765") as client:
        yield client


BYTES = {"content-type": "application/octet-stream"}


def test_post(client):
    body = json.dumps(LLAMA3)
    got = client.post("/data/read?name=config.json", content=body, headers=BYTES)
    assert got.json() == read(LLAMA3, name="config.json")


@pytest.mark.parametrize(
    ("query", "body", "status", "words"),
    [
        ("", b"{", 400, "The pasted text is neither JSON nor GGUF"),
        ("?size=many", b"{}", 400, "`size` must be a whole number; got 'many'"),
        ("?name=%00%1b[31m", b"{", 400, "\\x00\\x1b[31m is neither"),
        ("?name=config.json", b" " * (2**20 + 1), 413, "more than 1 MiB"),
        ("", b"GGUF" + b"\0" * (2**25 + 1), 413, "more than 32 MiB"),
    ],
)
def test_refused(client, query, body, status, words):
    got = client.post(f"/data/read{query}", content=body, headers=BYTES)
    assert got.status_code == status
    assert words in got.text
    assert "Traceback" not in got.text
    assert "default-src 'self'" in got.headers["content-security-policy"]


def test_only_this_page_may_post(client):
    body = json.dumps(LLAMA3)
    for kind in ("text/plain", "application/json", "multipart/form-data", ""):
        plain = client.post("/data/read", content=body, headers={"content-type": kind})
        assert plain.status_code == 400
        assert "must come as application/octet-stream" in plain.text
    assert client.get("/data/read").status_code == 405
    away = client.post("/data/read", content=body, headers=BYTES | {"host": "evil.example"})
    assert away.status_code == 400
    assert "uses" not in away.text


# The page

YARN = "v=1&dim=128&scaling=yarn&wanted=16384"


def test_the_page_says_the_library_s_numbers(visit):
    tab = visit(f"/stretch#{YARN}")
    found = tab.evaluate("import('/static/main.js').then((main) => main.current().got.answer)")
    rope = Rotary(dim=128, scaling=Yarn(factor=4.0, original_length=4096))
    want = [2 * math.pi / float(w) for w in rope.frequencies]
    assert found["after"]["wavelengths"] == pytest.approx(want, rel=1e-15)
    assert "18 of 64 pairs (46–63) never finish a turn within 4,096" in text(tab, "#ruler-twin")
    slow = sum(wave > 4096 for wave in want)
    assert f"With YaRN it is {slow} of 64 pairs" in text(tab, "#ruler-twin")
    assert "(attention factor) 1.1386" in text(tab, "#ruler-twin")
    assert "With YaRN it is none of 64 pairs" in text(tab, "#training-twin")
    assert "1.2965 with it" in text(tab, "#stretched-twin")
    follow(tab, "v=1&dim=128&base=500000&original_length=8192&scaling=none")
    assert "29 of 64 pairs" in text(tab, "#ruler-twin")
    assert "No rule is chosen" in text(tab, "#ruler-twin")


def test_every_pair_in_numbers(visit):
    tab = visit(f"/stretch#{YARN}&column=46")
    tab.click("figure.ruler summary")
    settled(tab)
    rows = tab.locator(".tall tbody tr").all_inner_texts()
    assert len(rows) == 64
    omega = 10_000 ** (-46 / 64)
    want = [46, round(2 * math.pi / omega), round(8 * math.pi / omega), 4]
    assert [float(cell.replace(",", "")) for cell in rows[46].split()[:4]] == want
    assert tab.locator(".tall .here th").inner_text() == "46"
    follow(tab, "v=1&scaling=proportional")
    assert "never turns" in text(tab, ".tall tbody tr:last-child")


@pytest.mark.slow
def test_marks_stand_where_wavelengths_are(visit):
    tab = visit(f"/stretch#{YARN}&column=40")
    strokes = tab.evaluate(
        """() => {
            const across = (name) => [...document.querySelector(`.ruler svg .${name}`)
                .getAttribute("d").matchAll(/M([\\d.]+) ([\\d.]+)/g)]
                .map(([, x, y]) => [Number(x), Number(y)]);
            return { marks: across("known"), fresh: across("fresh"), trained: across("trained") };
        }"""
    )
    rope = Rotary(dim=128, scaling=Yarn(factor=4.0, original_length=4096))
    before, after = (
        sorted(x for x, y in strokes["marks"] + strokes["fresh"] if (y < 0.5) == upper)
        for upper in (True, False)
    )
    assert len(strokes["fresh"]) == 18
    every = {"before": rope.unscaled, "after": rope.frequencies}
    waves = {name: 2 * np.pi / np.asarray(w, float) for name, w in every.items()}
    step = (before[-1] - before[0]) / math.log(waves["before"][-1] / waves["before"][0])
    for places, name in [(before, "before"), (after, "after"), ([strokes["trained"][0][0]], "")]:
        lengths = waves.get(name, np.asarray([4096]))
        want = before[0] + step * np.log(lengths / waves["before"][0])
        np.testing.assert_allclose(places, want, atol=2e-5)


def test_rules_are_chosen_by_name(visit):
    tab = visit("/stretch#v=1&scaling=none")
    tab.focus(".rules button[data-rule=llama3]")
    tab.keyboard.press("Enter")
    settled(tab)
    assert settings(tab)["scaling"] == "llama3"
    assert settings(tab)["factor"] == 4
    assert tab.evaluate("document.activeElement.dataset.rule") == "llama3"
    assert tab.locator(".rules [aria-pressed=true]").all_inner_texts() == ["Llama 3"]
    assert "scaling=llama3" in tab.evaluate("location.hash")


@pytest.mark.slow
def test_one_trained_length_for_all_rules(visit):
    tab = visit("/stretch#v=1&original_length=8192")
    for rule in effects.COMPARED:
        tab.click(f".rules button[data-rule={rule}]")
        settled(tab)
        assert tab.locator("#original_length").count() == 1
        assert tab.input_value("#original_length") == "8192"
        assert "8,192 tokens" in text(tab, "#ruler-twin")


def test_round_trip(visit):
    hash = "#v=1&column=7&wanted=99999&dim=96&scaling=llama3&factor=8&original_length=8192"
    tab = visit(f"/stretch{hash}")
    before = settings(tab)
    assert (before["wanted"], before["original_length"], before["factor"]) == (99_999, 8192, 8)
    twin = text(tab, "#training-twin")
    tab.reload()
    settled(tab)
    assert settings(tab) == before
    assert text(tab, "#training-twin") == twin
    follow(tab, "v=1&wanted=1e9&scaling=longrope&long_last=500")
    assert "Wanted length must be a whole number from 16 to 16777216" in text(tab, "#notice")


@pytest.mark.slow
@pytest.mark.parametrize(
    "hash",
    [
        "v=1&dim=2&column=0&wanted=16",
        "v=1&dim=2&column=0&scaling=ntk&wanted=16777216",
        "v=1&scaling=proportional&fraction=0",
        "v=1&scaling=dynamic_ntk&original_length=1048576&wanted=16777216&base=1000000000",
        "v=1&dim=1024&scaling=yarn&factor=128&truncate=false",
        "v=1&encoding=m_rotary&scaling=yarn",
        "v=1&base=1&scaling=none",
    ],
)
def test_words_at_the_ends_of_the_ranges(visit, hash):
    tab = visit(f"/stretch#{hash}")
    assert text(tab, "#notice") == ""
    for twin in tab.locator("figcaption").all_inner_texts():
        assert twin.endswith(".")
        for odd in ("NaN", "undefined", "null", "Infinity", "∞"):
            assert odd not in twin
    drawn = tab.evaluate(
        "[...document.querySelectorAll('svg [d]')].map((e) => e.getAttribute('d'))"
    )
    assert not any("NaN" in path or "Infinity" in path for path in drawn)


@pytest.mark.slow
def test_a_rule_that_cannot_be_is_said(visit):
    tab = visit("/stretch#v=1&base=1&scaling=none")
    assert "must be greater than 1 for YaRN" in text(tab, "ol.rules")
    assert tab.locator("ol.rules button").count() == 7
    tab.select_option("#scaling", index=5)
    tab.wait_for_selector("#notice:not(:empty)")
    settled(tab)
    assert "must be greater than 1 for YaRN" in text(tab, "#notice")
    assert settings(tab)["scaling"] == "none"
    visit.forgive("Failed to load resource")


# Reading on the page


def give(tab, config, name="config.json"):
    body = config if isinstance(config, bytes) else json.dumps(config).encode()
    tab.set_input_files(
        "#file", {"name": name, "mimeType": "application/octet-stream", "buffer": body}
    )


def test_a_file_is_read_and_shown(visit):
    tab = visit("/stretch")
    give(tab, LLAMA3)
    tab.wait_for_selector(".use")
    assert text(tab, ".report h3") == "config.json: llama"
    assert "1 encoding; nothing odd was found." in text(tab, "#reading-twin")
    words = text(tab, ".use dl")
    assert "pairs 0-28 kept, 29-34 blended, 35-63 divided by 8" in words
    assert "(29 of 64) never finish a turn" in words
    tab.click(".use summary")
    assert "in the file: rope_theta" in text(tab, ".use table")
    button = tab.get_by_role("button", name="Show it in this room")
    assert button.get_attribute("aria-pressed") == "false"
    button.focus()
    tab.keyboard.press("Enter")
    settled(tab)
    assert button.get_attribute("aria-pressed") == "true"
    now = settings(tab)
    assert (now["dim"], now["base"], now["scaling"], now["factor"]) == (128, 5e5, "llama3", 8)
    assert (now["original_length"], now["wanted"]) == (8192, 131_072)
    assert "29 of 64 pairs" in text(tab, "#ruler-twin")
    tab.click(".rules button[data-rule=none]")
    settled(tab)
    assert button.get_attribute("aria-pressed") == "false"


def test_a_wrong_file_loses_nothing(visit):
    tab = visit(f"/stretch#{YARN}")
    give(tab, LLAMA | {"rope_tetha": 1e6})
    tab.wait_for_selector(".use")
    assert "warning rope_tetha = 1,000,000" in text(tab, ".findings")
    before = settings(tab)
    for body, name, message in [
        (b"{", "broken.json", "broken.json is neither JSON nor GGUF"),
        (b"x" * 2**21, "large.bin", "large.bin is no GGUF file and has more than 1 MiB"),
        (b"GGUF\x03", "cut.gguf", "cut.gguf cannot be read as GGUF"),
        (b"", "empty.json", "empty.json is neither JSON nor GGUF"),
    ]:
        give(tab, body, name)
        tab.wait_for_selector(f".status:has-text('{message}')")
        assert settings(tab) == before
        assert text(tab, ".report h3") == "config.json: llama"
    visit.forgive("Failed to load resource")


def test_a_text_is_pasted(visit):
    tab = visit("/stretch")
    tab.focus("#file")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.id") == "pasted"
    tab.click("#read")
    assert "There is no text to read" in text(tab, ".status")
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.insert_text(json.dumps(PHI3))
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".use svg")
    assert text(tab, ".report h3") == "The pasted text: phi3"
    assert "by its two ends" in text(tab, ".way")
    assert tab.get_by_role("button", name="Show it in this room").count() == 0


def test_a_file_is_dropped_anywhere(visit):
    tab = visit("/stretch")
    tab.evaluate(
        """(config) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([config], "config.json"));
            for (const kind of ["dragover", "drop"]) {
                const options = { dataTransfer, bubbles: true, cancelable: true };
                const title = document.querySelector("h1");
                if (title.dispatchEvent(new DragEvent(kind, options))) throw new Error(kind);
            }
        }""",
        json.dumps(LLAMA3),
    )
    tab.wait_for_selector(".use")


@pytest.mark.slow
def test_names_in_a_file_are_words_and_nothing_else(visit):
    tab = visit("/stretch")
    bad = "<img src=x onerror=alert(1)>"
    give(tab, LLAMA | {"model_type": bad, "rope_theta": 1e4, bad: bad}, "<b>bold<b>.json")
    tab.wait_for_selector(".report h3")
    assert tab.locator("figure.reading :is(img, b)").count() == 0
    assert text(tab, ".report h3") == f"<b>bold<b>.json: {bad}"
    give(tab, {"model_type": bad})
    tab.wait_for_selector(".status:has-text('model_type is')")
    assert tab.locator("figure.reading img").count() == 0
    visit.forgive("Failed to load resource")


@pytest.mark.slow
def test_saved_pages_say_what_they_lack(visit, address):
    tab = visit("/stretch")
    saved = tab.request.get(f"{address}/stretch").text()
    start = saved.index('id="page">{') + len('id="page">{')
    offline = f'{saved[:start]}"offline": true, {saved[start:]}'
    tab.route("**/stretch", lambda route: route.fulfill(body=offline, content_type="text/html"))
    tab.reload()
    settled(tab)
    tab.unroute("**/stretch")
    assert "start posenc explore" in text(tab, "figure.reading .drawing")
    assert tab.locator("#file").count() == 0


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.slow)])
def test_no_sideways_scrolling(visit, width):
    tab = visit(f"/stretch#{YARN}&base=1000000000", width=width)
    give(tab, LLAMA3)
    tab.wait_for_selector(".use")
    tab.click(".use summary")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    cut = """() => [...document.querySelectorAll(".marks span")].filter((mark) => {
        const figure = mark.closest("figure").getBoundingClientRect();
        const { left, right } = mark.getBoundingClientRect();
        return left < figure.left || right > figure.right;
    }).map((mark) => mark.textContent)"""
    assert tab.evaluate(cut) == []


def test_longrope_and_fields_of_uses_are_the_library_s():
    rule = LongRope(
        short_factors=(1.0,) * 8, long_factors=(2.0,) * 8, original_length=4096, factor=4.0
    )
    rope = MRotary(rotary=Rotary(dim=16, scaling=rule), sections=(2, 3, 3))
    assert answer(rope, wanted="4096")["after"]["slower"] == [1.0] * 8
    assert answer(rope, wanted="4097")["after"]["slower"] == [2.0] * 8
    bare = dataclasses.replace(rope.rotary, scaling=None)
    assert answer(bare, original_length="4096", wanted="4097")["plain"]["slower"] == [1.0] * 8


def test_longrope_is_set_by_the_ends_of_its_lists(visit):
    tab = visit("/stretch#v=1&dim=16&scaling=none")
    tab.click("button[data-rule='longrope']")
    settled(tab)
    tab.fill("#long_last", "16")
    tab.press("#long_last", "Enter")
    settled(tab)
    chosen = settings(tab)
    assert (chosen["scaling"], chosen["original_length"], chosen["long_last"]) == (
        "longrope",
        4096,
        16,
    )
    assert "long_last=16" in tab.url
    twin = text(tab, "#rules-twin")
    assert "LongRoPE" in twin
    slowest = 2 * math.pi * 10_000 ** (7 / 8)  # of pair 7, sixteen times slower beyond 4,096
    follow(tab, "v=1&dim=16&scaling=longrope&long_last=16&column=7")
    assert f"needs {slowest:,.0f} tokens for a turn before" in text(tab, "#ruler-twin")
    assert f"and {16 * slowest:,.0f} after" in text(tab, "#ruler-twin")
    follow(tab, "v=1&dim=16&scaling=longrope&long_last=16&column=7&wanted=4096")
    assert f"needs {slowest:,.0f} tokens for a turn, before and after" in text(tab, "#ruler-twin")


def test_what_is_said_of_a_table_is_not_said_here(visit):
    tab = visit("/stretch#v=1&dim=16&scaling=longrope&wanted=65536")
    assert not tab.locator("#remark").is_visible()  # "drawn for a text of 64 tokens"
    visit("/waves#v=1&encoding=rotary&dim=16&scaling=longrope&from=4096")
    assert "Drawn for a text of 4,160 tokens. The long list of LongRoPE counts" in text(
        tab, "#remark"
    )


@pytest.mark.parametrize("start", [0, 4096])
def test_copied_python_makes_the_lists_of_longrope(visit, start):
    tab = visit(f"/waves#v=1&encoding=rotary&dim=12&scaling=longrope&long_last=32&from={start}")
    rule = LongRope(
        short_factors=(1.0,) * 6,
        long_factors=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
        original_length=4096,
        factor=4.0,
    )
    at = np.arange(start, start + 64)
    turning = Rotary(dim=12, scaling=rule).table(at, length=start + 64)
    assert differences(values(tab), np.concatenate(turning, axis=-1)) == 0
    made = {}
    exec(tab.evaluate(PYTHON), made)
    assert made["encoding"] == Rotary(dim=12, scaling=rule)
    assert differences(values(tab), made["table"]) == 0


@pytest.mark.parametrize("room", ["rotation", pytest.param("similarity", marks=pytest.mark.slow)])
def test_scores_of_a_text_beyond_the_trained_length(visit, room):
    tab = visit(f"/{room}#v=1&encoding=rotary&dim=64&scaling=dynamic_ntk&original_length=16")
    made = {}
    exec(tab.evaluate(PYTHON), made)
    if room == "rotation":
        assert f"score is {made['score']:.4f}".replace("-", "−") in text(tab, "#hands-twin")
    else:
        said = f"it is {made['similarity'][10, 4]:.3f}".replace("-", "−")
        assert said in text(tab, "#gram-twin")
