"""What the server answers, what it refuses, and how it starts and stops."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from starlette.testclient import TestClient

from posenc import Sinusoidal, explorer
from posenc.explorer import methods, page, recipes, server

FOUR = '{"kind": "sinusoidal", "dim": 4}'


@pytest.fixture(scope="module")
def client():
    with TestClient(server.application(), base_url="http://127.0.0.1:8765") as client:
        yield client


def test_pages(client):
    for kind in methods.METHODS:
        answer = client.get(f"/{kind}")
        assert answer.status_code == 200
        assert answer.text == page.render(kind)
        assert client.get(f"/{kind}.json").json() == page.page(kind)
    assert client.get("/").text == page.render("sinusoidal")


def test_recipe(client):
    answer = client.get("/recipe", params={"spec": FOUR})
    assert answer.json() == recipes.recipe(Sinusoidal(dim=4))


def test_table(client):
    query = {"spec": FOUR, "start": 7, "count": 3, "head": 0}
    got = np.frombuffer(client.get("/table", params=query).content, dtype="<f4")
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
        ("/recipe", 400, "lacks `spec`"),
        ("/recipe?spec={", 400, "must be JSON"),
        ('/recipe?spec={"kind": "sinusoidal", "dim": 7}', 400, "The nearest valid values are"),
        ('/recipe?spec={"kind": "sinusoidal", "dim": 1e400}', 400, "must be an integer"),
        (f'/recipe?spec={{"kind": "rotary", "dim": 4, "base": {"9" * 400}}}', 400, ""),
        (f"/table?spec={FOUR}", 400, "lacks `start`"),
        (f"/table?spec={FOUR}&start=x&count=1&head=0", 400, "invalid literal"),
        (f"/table?spec={FOUR}&start=0&count=100000000&head=0", 400, "`count` must lie"),
        (f"/table?spec={FOUR}&start={2**31}&count=1&head=0", 400, "2\\*\\*31"),
        (f"/table?spec={FOUR}&start={10**30}&count=1&head=0", 400, ""),
        ("/nowhere", 404, "there is no page 'nowhere'; there are sinusoidal"),
        ("/nowhere.json", 404, "there is no page"),
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
@pytest.mark.parametrize(
    "path", ["/", "/rotary", "/rotary.json", "/recipe", "/table", "/static/main.js"]
)
def test_only_get(client, method, path):
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "", "127.0.0.1.evil.example", "0.0.0.0"]
)
def test_other_hosts_are_refused(client, host):
    # A page elsewhere that points its own name at this machine must not read from it.
    answer = client.get("/recipe", params={"spec": FOUR}, headers={"host": host})
    assert answer.status_code == 400
    assert "cos" not in answer.text


def test_headers(client):
    for path in ("/", "/recipe", "/static/main.js", "/nowhere"):
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
        with urllib.request.urlopen(f"{address}/rotary.json") as answer:
            assert json.load(answer)["kind"] == "rotary"
        port = int(address.rpartition(":")[2])
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=10)
    assert (running.returncode, out, errors) == (0, "", "")
    with socket.create_server(("127.0.0.1", port)):
        pass  # the port is free again
