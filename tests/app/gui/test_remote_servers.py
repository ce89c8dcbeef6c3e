"""Real servers, started by these tests, answer in the window, on the command line and over HTTP; and each is cut in the middle,
slow, asked with a wrong key and for a wrong model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.runtime.catalogue import Catalogue
from app.runtime.remote import client, servers
from app.runtime.remote.client import RemoteClient
from app.runtime.remote.servers import RemoteServer, RemoteServers, check_url, keep_server, with_typed
from engine.errors import RemoteAccessRefused
from tests.app.fresh import grus as fresh
from tests.app.gui.conftest import Opened
from tests.app.gui.test_remote_window import chat, choose
from tests.app.real_servers import Proxy, RealServer, proxied, started, why_not
from tests.app.server.live import serving
from tests.app.server.scripted import ScriptedEngine, scripted_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KEY = "sesame"
SILENCE = 60.0  # seconds: a busy machine


@pytest.fixture(scope="module", params=["llama_cpp", "mlx_lm", "transformers", "grus"])
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    if reason := why_not(request.param):
        pytest.skip(reason)
    with started(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture
def proxy(real: RealServer) -> Iterator[Proxy]:
    with proxied(real) as proxy:
        proxy.key = KEY  # of servers that know none, a gateway asks for it
        yield proxy


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "config" / "Grus"
    monkeypatch.setattr(servers, "servers_file", lambda: folder / "remote-servers.json")
    monkeypatch.setattr(client, "_PROBE", SILENCE)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return folder


def add(real: RealServer, proxy: Proxy, silence: float = SILENCE) -> str:
    """The model's name here."""
    server = RemoteClient(RemoteServer("peer", check_url(proxy.url), silence=silence), key=KEY).probe().server
    keep_server(with_typed(server, [real.model]), KEY)
    return f"peer::{real.model}"


def keep(real: RealServer, proxy: Proxy, key: str = KEY, silence: float = SILENCE) -> None:
    """As `add`, without asking it for its models."""
    keep_server(with_typed(RemoteServer("peer", check_url(proxy.url), silence=silence), [real.model]), key)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    model = scripted_model(tmp_path / "here")
    models = Catalogue({"here": str(tmp_path / "here")}, use_cache=False, remotes=RemoteServers())
    with serving(ScriptedEngine, lambda source: model, models, voices_dir=str(tmp_path / "voices")) as live:
        yield live.url


@pytest.fixture
def window(open_grus: Callable[..., Opened], own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    grus = open_grus()
    monkeypatch.setattr(servers, "servers_file", lambda: own_folder / "remote-servers.json")
    grus.context.core._service.result().catalogue.remotes = RemoteServers()
    return grus


def ask(endpoint: str, name: str, **more: Any) -> httpx.Response:
    body = {"model": name, "messages": [{"role": "user", "content": "What can you do?"}], "max_tokens": 12, **more}
    return httpx.post(f"{endpoint}/v1/chat/completions", json=body, timeout=200)


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


def test_over_http(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    name = add(real, proxy)
    choice = ask(endpoint, name).json()["choices"][0]
    message = choice["message"]
    assert (message["content"] or "") + (message.get("reasoning_content") or "")
    assert choice["finish_reason"] in ("stop", "length")
    body = {"model": name, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8}
    reply = httpx.post(f"{endpoint}/v1/messages", json=body, timeout=200).json()
    assert reply["stop_reason"] in ("end_turn", "max_tokens")
    lines = httpx.post(
        f"{endpoint}/api/chat", json={**body, "stream": False, "options": {"num_predict": 8}}, timeout=200
    ).json()
    assert lines["done"] is True


def test_on_the_command_line(real: RealServer, proxy: Proxy, tmp_path: Path) -> None:
    where = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    added = fresh("remote", "add", "peer", proxy.url, "--model", real.model, given=f"{KEY}\n", **where)
    assert added.code == 0, added.err
    assert f"peer::{real.model}" in added.out
    assert KEY not in added.out + added.err
    said = fresh("run", f"peer::{real.model}", "What can you do?", "--max-tokens", 12, "--json", **where)
    assert said.code == 0, said.err
    assert '"finish_reason": "' in said.out
    assert fresh("remote", "test", "peer", **where).code == 0
    wrong = fresh("run", f"peer::{real.absent or 'nobody'}", "Hi", "--max-tokens", 4, **where)
    if real.absent:
        assert wrong.code in (1, 2)
        assert wrong.err.startswith("grus: peer ")
    else:
        assert wrong.code == 0, wrong.err
    proxy.stall = 0.2
    slow = fresh("run", f"peer::{real.model}", "Hi", "--max-tokens", 4, **where)
    assert slow.code == 0, slow.err
    proxy.stall = 0.0
    assert fresh("remote", "test", "peer", "--silence", 0.5, **where).code == 0
    proxy.stall = 3.0
    silent = fresh("run", f"peer::{real.model}", "Hi", **where)
    assert (silent.code, silent.err) == (1, "grus: peer sent nothing for 0.5 seconds.\n")
    proxy.stall = 0.0
    assert fresh("remote", "test", "peer", "--silence", SILENCE, **where).code == 0
    proxy.cut = 1
    cut = fresh("run", f"peer::{real.model}", "Hi", **where)
    assert cut.code in (1, 2)
    assert cut.err == "grus: peer ended the connection before the reply was complete.\n"
    proxy.cut, proxy.key = None, "changed"
    refused = fresh("run", f"peer::{real.model}", "Hi", **where)
    assert (refused.code, refused.err) == (2, "grus: peer refuses the key. Add it again, with the right one.\n")
    assert fresh("remote", "remove", "peer", **where).code == 0


def test_in_the_window(real: RealServer, proxy: Proxy, window: Opened) -> None:
    name = add(real, proxy)
    pane = chat(window)
    choose(window, pane, name)
    pane.talk.configure(sampling={"max_tokens": 12})
    assert window.window.status_bar.trust.text() == "peer answers: what you send leaves this machine."
    said = reply_in(window, pane, "What can you do?")
    assert said.error == ""
    assert said.text + said.reasoning
    proxy.cut = 1
    assert reply_in(window, pane, "Cut").error == "peer ended the connection before the reply was complete."
    proxy.cut, proxy.key = None, "changed"
    assert reply_in(window, pane, "Key").error == "peer refuses the key. Add it again, with the right one."
    proxy.key, proxy.stall = KEY, 0.2
    assert reply_in(window, pane, "Slow").error == ""
    keep(real, proxy, silence=0.5)
    proxy.stall = 3.0
    assert reply_in(window, pane, "Silent").error == "peer sent nothing for 0.5 seconds."
    proxy.stall = 0.0
    keep(real, proxy)
    pane.model_box.pick(f"peer::{real.absent or 'nobody'}")
    error = reply_in(window, pane, "Model").error
    assert error.startswith("peer ") if real.absent else error == ""


def reply_in(window: Opened, pane: Any, text: str) -> Any:
    before = len(pane.talk.path)
    pane.talk.send(text)
    window.until(lambda: len(pane.talk.path) == before + 2 and not pane.talk.writing, 200)
    return pane.talk.path[-1]


def test_cut_in_the_middle(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    name = add(real, proxy)
    proxy.cut = 1
    assert code(ask(endpoint, name)) == (502, "remote_failed")
    proxy.cut = None
    assert ask(endpoint, name).status_code == 200


def test_slow_and_too_slow(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    name = add(real, proxy)
    proxy.stall = 0.2
    assert ask(endpoint, name, max_tokens=4).status_code == 200
    keep(real, proxy, silence=0.5)
    proxy.stall = 3.0
    began = time.monotonic()
    reply = ask(endpoint, name)
    assert code(reply) == (502, "remote_failed")
    assert "peer sent nothing for 0.5 seconds" in reply.text
    assert time.monotonic() - began < 30


def test_a_wrong_key(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    proxy.key = ""  # servers with keys of their own are asked themselves
    name = add(real, proxy)
    keep(real, proxy, "wrong")
    proxy.key = "" if real.key else KEY
    assert code(ask(endpoint, name)) == (502, "remote_access_refused")
    with pytest.raises(RemoteAccessRefused):
        RemoteClient(RemoteServer("peer", check_url(proxy.url)), key="wrong").probe()


def test_a_wrong_model(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    add(real, proxy)
    if not real.absent:  # llama_cpp.server answers to any name
        assert ask(endpoint, "peer::nobody").status_code == 200
        return
    reply = ask(endpoint, f"peer::{real.absent}")
    assert reply.status_code in (400, 404, 502)
    assert reply.json()["error"]["message"].startswith("peer ")


def test_a_reply_that_is_stopped_frees_the_server(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    name = add(real, proxy)
    body = {
        "model": name,
        "messages": [{"role": "user", "content": "Tell me a story."}],
        "max_tokens": 1500,
        "stream": True,
    }
    proxy.stall = 0.05
    with httpx.stream("POST", f"{endpoint}/v1/chat/completions", json=body, timeout=200) as response:
        next(response.iter_lines())
    end = time.monotonic() + 30
    while proxy.open and time.monotonic() < end:
        time.sleep(0.05)
    assert proxy.open == 0


def test_a_schema_is_held_or_said_to_be_ignored(real: RealServer, proxy: Proxy, endpoint: str) -> None:
    name = add(real, proxy)
    schema = {
        "type": "object",
        "properties": {"n": {"type": "boolean"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    reply = ask(endpoint, name, response_format=form, max_tokens=60)
    if reply.status_code == 200 and reply.json()["choices"][0]["finish_reason"] == "stop":
        assert reply.json()["choices"][0]["message"]["content"].lstrip().startswith("{")
    elif reply.status_code != 200:
        assert reply.json()["error"]["message"].startswith("peer ")
