"""What the server answers, what it refuses, and how it starts and stops."""

import gzip
import io
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from starlette.testclient import TestClient

from posenc import Sinusoidal, explorer
from posenc.explorer import fonts, page, recipes, server
from posenc.explorer.copies import bundle
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS

BYTES = {"content-type": "application/octet-stream"}
FOUR = '{"kind": "sinusoidal", "dim": 4}'


@pytest.fixture(scope="module")
def client():
    with TestClient(server.application(), base_url="http://127.0.0.1:8765") as client:
        yield client


def test_pages(client):
    for room in ("", *ROOMS):
        answer = client.get(f"/{room}")
        assert answer.status_code == 200
        assert answer.text == page.render(room)


def test_recipe(client):
    answer = client.get("/data/recipe", params={"spec": FOUR})
    assert answer.json() == recipes.recipe(Sinusoidal(dim=4))


def test_table(client):
    query = {"spec": FOUR, "start": 7, "count": 3, "head": 0}
    got = np.frombuffer(client.get("/data/table", params=query).content, dtype="<f4")
    np.testing.assert_array_equal(got.reshape(3, 4), Sinusoidal(dim=4).encode(np.arange(7, 10)))


def test_every_file_of_the_page(client):
    for path in (page.HERE / "static").rglob("*.*"):
        answer = client.get(f"/static/{path.relative_to(page.HERE / 'static')}")
        assert answer.status_code == 200
        assert answer.content == path.read_bytes()
        if path.suffix == ".js":
            assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/data/recipe", 400, "lacks `spec`"),
        ("/data/recipe?spec={", 400, "must be JSON"),
        ('/data/recipe?spec={"kind": "sinusoidal", "dim": 7}', 400, "The nearest valid values are"),
        ('/data/recipe?spec={"kind": "sinusoidal", "dim": 1e400}', 400, "must be an integer"),
        (f'/data/recipe?spec={{"kind": "rotary", "dim": 4, "base": {"9" * 400}}}', 400, ""),
        (f"/data/table?spec={FOUR}&start=x&count=1&head=0", 400, "`start` must be a whole number"),
        (f"/data/recipe?spec={FOUR}&mistake=none", 400, ""),
        (f"/data/answer/nowhere?spec={FOUR}", 400, "there are no answers of a room 'nowhere'"),
        (f"/data/table?spec={FOUR}&start=0&count=100000000&head=0", 400, "`count` must lie"),
        (f"/data/table?spec={FOUR}&start={2**31}&count=1&head=0", 400, "`start` must lie"),
        (f"/data/table?spec={FOUR}&start={10**30}&count=1&head=0", 400, ""),
        (
            f"/data/table?spec={FOUR}&start={'9' * 5000}&count=1",
            400,
            "`start` must be a whole number",
        ),
        (f"/data/recipe?spec={'x' * 60_000}", 400, "must be one of"),
        (f"/data/recipe?spec={'[' * 50_000}", 400, "cannot read the encoding"),
        (f"/data/recipe?spec={'%7B%22kind%22:' * 4_000}", 400, "nested too deeply"),
        (f"/data/recipe?spec=rotary:scaling={'linear(' * 8_000}", 400, "cannot read the encoding"),
        ("/data/recipe?spec=%ff%fe%00", 400, "cannot read the encoding"),
        ("/data/recipe?spec=%ed%a0%80", 400, "cannot read the encoding"),
        (f"/data/table?spec={FOUR}&head=%00", 400, "`head` must be a whole number"),
        ("/%ff%fe", 404, "there is no room"),
        ("/nowhere", 404, "there is no room 'nowhere'; there are waves"),
        ("/data/nowhere", 404, ""),
        ("/static/", 404, "Not Found"),
        ("/static/nothing.js", 404, "Not Found"),
        ("/static/../server.py", 404, ""),
        ("/static/%2e%2e/server.py", 404, "Not Found"),
        ("/static/..%2fserver.py", 404, "Not Found"),
        ("/static/views/%2e%2e/%2e%2e/page.html", 404, "Not Found"),
        ("/static//etc/passwd", 404, "Not Found"),
        ("/static/%00", 404, "Not Found"),
        ("/page.html", 404, ""),
        ("/favicon.ico", 404, ""),
    ],
)
def test_refused(client, path, status, words):
    answer = client.get(path)
    assert answer.status_code == status
    assert words.replace("\\", "") in answer.text
    assert "Traceback" not in answer.text
    assert "import" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/waves", "/data/recipe", "/data/table", "/static/main.js"])
def test_only_get(client, method, path):
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "", "127.0.0.1.evil.example", "0.0.0.0"]
)
def test_other_hosts_are_refused(client, host):
    # A page elsewhere that points its own name at this machine must not read from it.
    answer = client.get("/data/recipe", params={"spec": FOUR}, headers={"host": host})
    assert answer.status_code == 400
    assert "cos" not in answer.text


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"[" * 500_000, 400, "a.json"),
        (b'{"a":' * 100_000, 400, "a.json"),
        (b"\xff\xfe{}", 400, "a.json is not text in UTF-8"),
        (b"", 400, "a.json"),
    ],
)
def test_bodies_that_are_no_settings(client, body, status, words):
    answer = client.post("/data/read?name=a.json", content=body, headers=BYTES)
    assert answer.status_code == status
    assert words in answer.text
    assert "Traceback" not in answer.text


def test_a_hundred_megabytes_are_refused_without_being_kept(client):
    body = (b"x" * 1_000_000 for _ in range(100))
    answer = client.post("/data/read?name=a.json", content=body, headers=BYTES)
    assert answer.status_code == 413
    assert "more than 1 MiB" in answer.text
    assert client.post("/data/recipe", content=b"x" * 1_000_000).status_code == 405


def test_sizes_are_whole_numbers(client):
    for size in ("x", "", "1e9", "9" * 5000):
        answer = client.post(f"/data/read?name=a.json&size={size}", content=b"{}", headers=BYTES)
        assert (answer.status_code, "`size` must be a whole number" in answer.text) == (400, True)


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_weights(client, room):
    # What a slow disk or a small machine has to carry; scripts and pages as they travel, packed.
    text = client.get(f"/{room}").text
    assert len(gzip.compress(text.encode())) <= 60_000
    scripts = [source for _, source in bundle.modules(f"rooms/{room}.js" if room else "front.js")]
    assert len(gzip.compress("".join(scripts).encode())) <= 150_000
    assert len(client.get("/static/maths.woff").content) <= 300_000
    names = re.findall(r'(?:src|href)="(/static/[^"]*)"', text)
    assert [name for name in names if client.get(name).status_code != 200] == []
    assert re.findall(r'(?:src|href)="(?!/|#)', text) == []


def test_font_of_the_formulas(client):
    answer = client.get("/static/maths.woff")
    assert answer.headers["content-type"] == "font/woff"
    font = TTFont(io.BytesIO(answer.content))
    formulas = "".join(page.method(kind)["formulas"][0] for kind in METHODS)
    assert "MATH" in font
    assert set(fonts.signs([formulas])) - {chr(code) for code in font.getBestCmap()} <= {
        " ",
        "\u2009",
    }


def test_headers(client):
    for path in ("/", "/data/recipe", "/static/main.js", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_busy_port_is_one_clear_error():
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        with pytest.raises(
            OSError, match=rf"^cannot listen on port {port}: .*--port \d+$"
        ) as error:
            explorer.serve(port=port)
        assert str(error.value).count(str(port)) == 1
        assert "address already in use; choose another one: posenc explore" in str(error.value)
    with pytest.raises(ValueError, match=r"`port` must be at most 65535; got port=99999"):
        explorer.serve(port=99_999)


def test_without_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("posenc.explorer.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(explorer, "server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ModuleNotFoundError, match=r"posenc explore needs uvicorn: pip install"):
        explorer.serve(port=0)


def test_starts_answers_and_stops():
    code = "from posenc import explorer; explorer.serve(port=0)"
    command = [sys.executable, "-W", "error", "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        address = running.stdout.readline().split()[2]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}/data/recipe?spec=rotary:dim=4") as answer:
            assert json.load(answer)["spec"]["kind"] == "rotary"
        port = int(address.rpartition(":")[2])
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=10)
    assert (running.returncode, out, errors) == (0, "", "")
    with socket.create_server(("127.0.0.1", port)):
        pass  # the port is free again
