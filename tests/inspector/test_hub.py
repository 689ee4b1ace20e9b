"""Names on the hub: a small hub of our own answers, as the real one does."""

from __future__ import annotations

import contextlib
import http.server
import json
import subprocess
import sys
import threading

import pytest

from posenc.inspector import read
from posenc.inspector.sources import hub

CONFIG = json.dumps({"model_type": "gpt2", "n_positions": 512}).encode()
COMMIT = "a" * 40


class Hub(http.server.BaseHTTPRequestHandler):
    """org/open has a config.json, org/gguf has none, org/gated asks for access."""

    def do_GET(self):
        self.server.asked.append((self.command, self.path))
        organisation, name, _, revision, *file = self.path.strip("/").split("/")
        if name == "gated":
            return self.answer(403, {"X-Error-Code": "GatedRepo"})
        if name not in ("open", "gguf"):
            return self.answer(404, {"X-Error-Code": "RepoNotFound"})
        if revision not in ("main", "v1", COMMIT):
            return self.answer(404, {"X-Error-Code": "RevisionNotFound"})
        if name == "gguf" or file != ["config.json"]:
            return self.answer(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        return self.answer(200, {"ETag": '"1"', "X-Repo-Commit": COMMIT}, CONFIG)

    do_HEAD = do_GET

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


@pytest.fixture
def asked(server, tmp_path):
    """Read a name in a process of its own: huggingface_hub looks at its environment once."""

    def ask(name, **environment):
        code = (
            "import sys; from posenc import read\n"
            "try: reading = read(sys.argv[1]); print(reading.source, *reading, sep='\\n')\n"
            "except Exception as error: print(type(error).__name__, error, sep=': ')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={
                "PATH": "",
                "PYTHONPATH": ":".join(filter(None, sys.path)),
                "HOME": str(tmp_path),
                "HF_HOME": str(tmp_path / "cache"),
                "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
                "HF_HUB_DISABLE_TELEMETRY": "1",
            }
            | environment,
        )
        return done.stdout.strip()

    return ask


@pytest.mark.parametrize(
    "name", ["gpt2", "org/name", "org/name@main", "o/n.1@refs/pr/1", "Org_1/na-me@" + COMMIT]
)
def test_names(name):
    assert hub.is_name(name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "./a", "/a", "~/a", "a/b/c", "a/", "a//b", "a b", "a@", "@b", "a\\b", "a:b",
     "config.json", "a/b.gguf", "a/model.safetensors", "../a", "a/../b", "ä/b", "a\n"],
)  # fmt: skip
def test_no_names(name):
    assert not hub.is_name(name)


@pytest.mark.slow
def test_a_name_is_looked_up_once_and_then_in_the_cache(asked, server):
    first = asked("org/open")
    assert first.splitlines()[0] == "org/open"
    assert "Learned(length=512, dim=768" in first
    paths = {path for _, path in server.asked}
    assert {path for path in paths if "/resolve/" in path} == {"/org/open/resolve/main/config.json"}

    server.asked.clear()
    assert asked("org/open", HF_HUB_OFFLINE="1") == first
    assert server.asked == []
    assert asked("org/open@v1").splitlines()[0] == "org/open@v1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("org/none", "FileNotFoundError: 'org/none' is no file or folder here, and no model of"),
        ("org/gated", "PermissionError: org/gated is gated, so its config.json is for those who"),
        ("org/open@v2", "FileNotFoundError: org/open has no revision 'v2' on the Hugging Face Hub"),
        ("org/gguf", "FileNotFoundError: org/gguf holds no config.json; if it holds GGUF files"),
        ("org/a--b", "OSError: cannot read org/a--b from the Hugging Face Hub: "),
    ],
)
def test_one_clear_error(asked, name, message):
    said = asked(name)

    assert said.startswith(message)
    assert "\n" not in said


@pytest.mark.slow
def test_offline(asked, server):
    said = asked("org/open", HF_HUB_OFFLINE="1")

    assert said.startswith("ConnectionError: 'org/open' is no file or folder here and not in the")
    assert said.endswith("the offline mode of huggingface_hub is on: unset HF_HUB_OFFLINE.")
    assert server.asked == []


def test_no_connection_but_in_the_cache(asked):
    first = asked("org/open")

    assert asked("org/open", HF_ENDPOINT="http://127.0.0.1:9") == first
    assert not first.startswith("ConnectionError")


def test_no_connection(asked):
    said = asked("org/open", HF_ENDPOINT="http://127.0.0.1:9")

    assert said.endswith("and the Hugging Face Hub cannot be reached: check the connection.")


def test_the_extra_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(ModuleNotFoundError, match=r"'org/name' is no file.*posenc\[hub\]"):
        read("org/name")


def test_settings_from_the_hub_are_compared_with_weights_in_the_cache(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_bytes(CONFIG)
    compared = []
    monkeypatch.setattr(hub, "config_file", lambda name: tmp_path / "config.json")
    with contextlib.suppress(ZeroDivisionError):
        monkeypatch.setattr(
            "posenc.inspector.sources.weights.compared",
            lambda reading, folder: compared.append((reading.source, folder)) or 1 / 0,
        )
        read("org/open@v1")

    assert compared == [("org/open@v1", tmp_path)]
