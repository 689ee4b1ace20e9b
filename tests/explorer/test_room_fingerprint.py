"""Name that table: what is read, what is refused and how, and what the page says."""

import io
import json

import numpy as np
import pytest
from browsing import differences, follow, settings, settled, text, values
from starlette.testclient import TestClient

import posenc
from posenc import Alibi, Rotary, Sinusoidal, mistakes, tables
from posenc.explorer import fields, naming, server
from posenc.explorer.rooms import ROOMS, fingerprint

WAVES = Sinusoidal(dim=16, base=500.0, layout="half").encode(np.arange(40))
BYTES = {"content-type": "application/octet-stream"}


def npy(values, **options):
    out = io.BytesIO()
    np.save(out, values, **options)
    return out.getvalue()


def with_header(text, body=b""):
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


@pytest.fixture(scope="module")
def client():
    with TestClient(server.application(), base_url="http://127.0.0.1:8765") as client:
        yield client


@pytest.mark.parametrize(
    "body",
    [
        npy(WAVES),
        npy(np.asfortranarray(WAVES.astype(np.float64))),
        npy(WAVES.astype(">f4")),
        tables.to_csv(
            tables.table(Sinusoidal(dim=16, base=500.0, layout="half"), np.arange(40))
        ).encode(),
        b"\xef\xbb\xbf" + "\r\n".join(";".join(map(str, row)) for row in WAVES).encode(),
        "\n".join("\t".join(map(str, row)) for row in WAVES).encode(),
        "\n\n".join("   ".join(map(str, row)) for row in WAVES).encode(),
        json.dumps(WAVES.tolist()).encode(),
        repr(WAVES.tolist()).replace("]]", "],]").encode(),
        np.array2string(WAVES, threshold=10**6).encode(),
    ],
    ids="npy columns bigendian csv semicolons tabs blanks json python printed".split(),
)
def test_every_way_to_write_a_table(body):
    found = naming.read(body, name="a/b\\mine.npy")
    assert found["source"] == "mine.npy"
    assert found["shape"] == [40, 16]
    assert found["verdict"] == "right"
    assert found["best"]["text"] == "sinusoidal:dim=16,base=500.0,layout=half"
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("table", "verdict", "words"),
    [
        (Alibi(heads=12).bias(np.arange(20), np.arange(20)), "right", "no known mistake"),
        (Sinusoidal(dim=16).encode(np.arange(40))[:, ::-1], "harmless", "Harmless by itself"),
        (WAVES.T, "wrong", "A real bug: “transposed”."),
        (np.random.default_rng(1).standard_normal((40, 16)), "unknown", "No known encoding. The"),
        (np.ones((4, 4)), "none", "No known encoding has a table of this form."),
    ],
)
def test_verdicts(table, verdict, words):
    found = naming.named(table)
    direct = posenc.identify(table)
    assert found["verdict"] == verdict
    assert words in found["words"]
    assert (found["verdict"] in ("right", "harmless")) is direct.right
    if direct.best:
        assert found["best"]["residual"] == direct.best.residual
        assert found["best"]["text"] == posenc.spec.to_text(direct.best.spec)


def test_settings_make_the_encoding_again():
    table = Rotary(dim=16, base=500_000.0).table(np.arange(64))
    best = naming.named(np.concatenate(table, axis=-1))
    both = [best["best"], best["runner_up"]]
    for guess in both:
        kind = guess["settings"].pop("encoding")
        made = posenc.spec.from_data(fields.data(kind, guess["settings"]))
        assert posenc.spec.to_text(made) == guess["text"]
    assert "rotary:dim=16,base=500000.0" in [guess["text"] for guess in both]


def test_what_the_page_cannot_show_is_said():
    table = Sinusoidal(dim=16, base=2.0e9).encode(np.arange(64))
    best = naming.named(table)["best"]
    assert best["settings"] is None
    assert "The page has no settings for it" in best["told"]


def test_only_the_beginning_of_a_long_table():
    long = Sinusoidal(dim=8).encode(np.arange(3000)).copy()
    long[1024:] = np.random.default_rng(0).standard_normal((1976, 8))
    found = naming.named(long)
    assert found["best"]["residual"] < 1e-6
    assert (found["shape"], found["picture"]["shape"]) == ([3000, 8], [128, 8])
    assert found["notes"] == ["Of its 3,000 rows the first 1,024 were looked at."]


SHAPE = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"hello\nworld", "is no table of numbers: line 2 holds 'world'"),
        (b"hello", "it has a header and no rows"),
        (b"1,2\n3", "line 2 has 1 entries, the first row 2"),
        (b"5", "one to three axes"),
        (b"1 2 ... 3", "leaves numbers out"),
        (b"[[1,2],[3]]", "line 2 has 1 entries"),
        (b'[{"a": 1}]', "must hold numbers"),
        (b"[" * 100_000, "it is empty"),
        (b"1e999,2\n3,4", "below 1e[+]30"),
        (b"nan,2\n3,4", "NaN"),
        (b'"1,2\n3,4', "is no table of numbers"),
        (b"1," + b"2" * 200_000, "is no CSV"),
        (b"1,2\n\0,3", "is neither a .npy file nor text"),
        (bytes(range(256)), "is neither a .npy file nor text"),
        (b"PK\x03\x04" + bytes(30), "is an archive"),
        (npy(WAVES)[:40], "header cannot be read"),
        (npy(WAVES)[:400], "promises 640 numbers .* it is cut off"),
        (with_header(SHAPE % "(1000000000, 1000000)", bytes(64)), "promises .* it is cut off"),
        (with_header(SHAPE % "(-1, 4)", bytes(64)), "shape .-1, 4., which no array has"),
        (with_header(SHAPE % "(True, 4)", bytes(64)), "which no array has"),
        (with_header("(" * 110), "header cannot be read"),
        (b"\x93NUMPY\x09\x09" + bytes(40), "header cannot be read"),
        (npy(np.array([{1: 2}], dtype=object), allow_pickle=True), "never loaded"),
        (npy(np.array(["a", "b"])), "which are no numbers"),
        (npy(np.array([[1, np.nan], [3, 4.0]])), "holds NaN in 1 of 4 places"),
        (npy(np.zeros((2, 2, 2, 2))), "one to three axes"),
        (npy(np.zeros((0, 4))), "one to three axes"),
        (npy(np.zeros((2, 20_000))), "20,000 numbers in a row"),
    ],
)
def test_bad_files_get_a_sentence(body, words, client):
    with pytest.raises(ValueError, match=f"^bad.npy .*{words}") as raised:
        naming.read(body, name="bad.npy")
    assert "Traceback" not in str(raised.value)
    answer = client.post("/data/name", params={"name": "bad.npy"}, content=body, headers=BYTES)
    assert (answer.status_code, answer.text) == (400, str(raised.value))


def test_the_route(client):
    answer = client.post("/data/name", params={"name": "x.npy"}, content=npy(WAVES), headers=BYTES)
    assert answer.json() == naming.read(npy(WAVES), name="x.npy")
    large = client.post("/data/name", content=b"1" * (naming.MOST + 1), headers=BYTES)
    assert large.status_code == 413
    assert "more than 16 MiB" in large.text
    plain = client.post("/data/name", content=b"1,2", headers={"content-type": "text/plain"})
    assert plain.status_code == 400
    assert client.get("/data/name").status_code == 405


def test_examples():
    names = {
        "1": ("right", "sinusoidal:dim=16,base=500.0,layout=half"),
        "2": ("right", "alibi:heads=12"),
        "4": ("wrong", "sinusoidal:dim=16"),
        "5": ("unknown", None),
    }
    for example, (verdict, told) in names.items():
        found = fingerprint.answer(None, example=example)
        assert found["verdict"] == verdict
        assert told in (None, found["best"]["text"])
    third = fingerprint.answer(None, example="3")
    assert "rotary:dim=16,base=500000.0" in (third["best"]["text"], third["runner_up"]["text"])
    assert fingerprint.answer(None) == {}
    with pytest.raises(ValueError, match="`example` must be one of 1, 2, 3, 4, 5"):
        fingerprint.answer(None, example="9")


def test_a_file_is_named_and_opened_in_the_table(visit):
    tab = visit("/fingerprint")
    file = {"name": "mine.npy", "mimeType": "application/octet-stream", "buffer": npy(WAVES)}
    tab.set_input_files("#file", file)
    tab.wait_for_selector(".named .verdict")
    settled(tab)
    assert text(tab, "#handed-twin") == "mine.npy: 40 by 16 numbers."
    assert "It is sinusoidal:dim=16,base=500.0,layout=half" in text(tab, "#named-twin")
    assert f"row 10, column 4: {WAVES[10, 4]:.4f}".replace("-", "−") in text(tab, "#given-twin")
    tab.locator(".door").click()
    tab.wait_for_url("**/table*")
    settled(tab)
    assert {"dim": 16, "base": 500, "layout": "half"}.items() <= settings(tab).items()
    assert differences(values(tab)[:40], WAVES) == 0


def test_refusals_lose_nothing(visit):
    tab = visit("/fingerprint#v=1&dim=32")
    tab.fill("#pasted", "1 2\n3 4 5")
    tab.click("#read")
    tab.locator(".handed .status", has_text="line 2 has 3 entries").wait_for()
    assert tab.input_value("#pasted") == "1 2\n3 4 5"
    assert settings(tab)["dim"] == 32
    visit.forgive("400")
    tab.fill("#pasted", "  ")
    tab.click("#read")
    assert "There is no text to read" in text(tab, ".handed .status")


def test_an_example_is_guessed_first(visit):
    tab = visit("/fingerprint")
    button = tab.get_by_role("button", name="table 4")
    button.focus()
    tab.keyboard.press("Enter")
    settled(tab)
    assert "is not named yet" in text(tab, "#named-twin")
    assert "cosine" not in text(tab, ".named")
    tab.get_by_role("button", name="Name it").click()
    settled(tab)
    assert "A real bug: “cosine has its own exponent”" in text(tab, "#named-twin")
    assert mistakes.named("cosine has its own exponent").mend in text(tab, ".named .report")
    assert "example=4&shown=yes" in tab.url
    tab.reload()
    settled(tab)
    assert "A real bug" in text(tab, "#named-twin")
    assert button.get_attribute("aria-pressed") == "true"
    follow(tab, "v=1&example=9")
    assert "Example must be 1 or 2 or 3 or 4 or 5, not “9”" in text(tab, "#notice")


@pytest.mark.slow
def test_the_table_of_the_settings(visit):
    tab = visit("/fingerprint#v=1&encoding=alibi&mistake=sign+of+the+bias")
    tab.get_by_role("button", name="Name the table of these settings").click()
    tab.wait_for_selector(".named .verdict")
    assert "sign of the bias" in text(tab, ".named .verdict")
    tab.get_by_role("button", name="table 5").click()
    settled(tab)
    tab.get_by_role("button", name="Name it").click()
    settled(tab)
    assert text(tab, ".named .verdict").startswith("No known encoding. The closest")


def test_python_of_the_room(capsys):
    text = (
        ROOMS["fingerprint"]
        .python["any"]
        .format(
            encoding="posenc.Sinusoidal(dim=16)",
            start=0,
            count=64,
            head=0,
            grid=8,
            mistake="'degrees'",
        )
    )
    exec(text, {})
    assert "Angles are taken for degrees" in capsys.readouterr().out
