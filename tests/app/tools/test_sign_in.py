"""Signing in to a tool server: a real authorization server in a process of its own, a browser, tokens that are refreshed."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.runtime.tools import kept_sign_ins
from app.runtime.tools.connection import McpConnection
from app.runtime.tools.settings import ToolServer, ToolSettings
from app.runtime.tools.sign_in import BrowserSignIn, SignInAuth
from engine.errors import GrusError, ToolServerFailed, ToolSignInNeeded
from tests.app.fresh import ROOT, environment, several
from tests.app.fresh import grus as fresh_grus
from tests.app.tools.oauth_world import OauthWorld, browse, oauth_world, sent_to
from tests.app.tools.test_tools_command import Terminal


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OauthWorld]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with oauth_world(tmp_path) as made:
        yield made


def secret_of(server: ToolServer) -> str:
    with McpConnection(server) as connection:
        return connection.call("secret", {}).result().text


def signing_in(server: ToolServer) -> tuple[McpConnection, BrowserSignIn, queue.SimpleQueue[str]]:
    shown: queue.SimpleQueue[str] = queue.SimpleQueue()
    browser = BrowserSignIn(server, shown.put)
    return McpConnection(server, start=60, browser=browser), browser, shown


def test_a_person_signs_in_once_and_the_tokens_are_refreshed(world: OauthWorld, tmp_path: Path) -> None:
    with pytest.raises(ToolSignInNeeded, match=r"private asks you to sign in: .*`grus tools login private`"):
        secret_of(world.server)
    assert world.log() == []  # nobody was asked anything before the person wants it
    connection, browser, shown = signing_in(world.server)
    with connection:
        listed = connection.tools()
        address = shown.get(timeout=60)
        assert "code_challenge_method=S256" in address
        port = urlsplit(browser.redirect).port
        assert browse(f"http://127.0.0.1:{port}/callback?state=guessed&code=x").startswith("404 ")
        assert browse(f"http://127.0.0.1:{port}/other").startswith("404 ")
        assert "close this page" in browse(address)
        assert [one.name for one in listed.result()] == ["secret"]
    assert world.log() == ["registered Grus", "authorized", "exchanged"]
    kept = tmp_path / "data" / "Grus" / "tool-sign-ins.json"
    assert kept.stat().st_mode & 0o077 == 0
    assert kept_sign_ins.is_signed_in(world.server)
    assert secret_of(world.server) == "The heron is grey."
    before = kept_sign_ins.load(world.server.url)
    kept_sign_ins.keep(world.server.url, json.dumps({**before, "ends": time.time() - 1}))
    assert secret_of(world.server) == "The heron is grey."
    assert world.log()[3:] == ["refreshed"]
    after = kept_sign_ins.load(world.server.url)
    assert after["tokens"]["access_token"] != before["tokens"]["access_token"]
    assert after["ends"] > time.time()
    # a request to `grus serve` that names this address is not the person's
    with (
        McpConnection(replace(world.server, fills=False)) as other,
        pytest.raises(ToolServerFailed, match="Send its authorization with the request"),
    ):
        other.tools().result()
    assert kept_sign_ins.sign_out(world.server)
    assert not kept.exists()
    with pytest.raises(ToolSignInNeeded):
        secret_of(world.server)


@pytest.mark.slow
def test_a_refusal_and_a_cancelled_sign_in_are_said(world: OauthWorld) -> None:
    connection, browser, shown = signing_in(world.server)
    with connection:
        listed = connection.tools()
        shown.get(timeout=60)
        browser.cancel()
        with pytest.raises(ToolServerFailed, match="The sign-in to private was cancelled"):
            listed.result(30)
    world.refuse()
    connection, browser, shown = signing_in(world.server)
    with connection:
        listed = connection.tools()
        browse(shown.get(timeout=60))
        with pytest.raises(ToolServerFailed, match="The sign-in to private was refused: access_denied Not you"):
            listed.result(30)
    assert not kept_sign_ins.is_signed_in(world.server)


@pytest.mark.slow
def test_a_sign_in_without_a_terminal_prints_the_address(world: OauthWorld, tmp_path: Path) -> None:
    """The browser of another machine ends at an address that it cannot open; the person pastes it."""
    data = str(tmp_path / "data")
    keyring = {
        "PYTHON_KEYRING_BACKEND": "tests.app.keyring_in_a_file.KeyringInAFile",
        "TEST_KEYRING": str(tmp_path / "keyring"),
    }
    added = fresh_grus("tools", "add", "private", world.server.url, XDG_DATA_HOME=data)
    assert added.code == 0, added.err
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "tools", "login", "private"], cwd=ROOT, env=environment(XDG_DATA_HOME=data, **keyring),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdin is not None
        assert process.stderr is not None
        address = next(line for line in process.stderr if line.startswith("http://")).strip()
        print(sent_to(address), file=process.stdin, flush=True)
        out, err = process.communicate(timeout=100)
        assert (out, process.returncode) == ("You are signed in: private has 1 tool.\n", 0), err
    finally:
        process.kill()
        process.wait()
    kept = (tmp_path / "data" / "Grus" / "tool-sign-ins.json").read_text()
    assert json.loads(kept) == {world.server.url: {"keyring": True}}
    assert "access-" in (tmp_path / "keyring").read_text()
    tested, listed, out_again, without, gone = several(
        ["tools", "test", "private"],
        ["tools"],
        ["tools", "logout", "private"],
        ["tools", "test", "private"],
        ["tools", "remove", "private"],
        XDG_DATA_HOME=data,
        **keyring,
    )
    assert "private/secret" in tested.out
    assert f"{world.server.url}, signed in" in listed.out
    assert out_again.out == "You are signed out of private here.\n"
    assert (without.code, gone.code) == (2, 0)
    assert "private asks you to sign in" in without.err
    assert "access-" not in (tmp_path / "keyring").read_text()


@pytest.mark.slow
def test_what_takes_no_sign_in_says_so(tmp_path: Path, http_server: str) -> None:
    settings = ToolSettings(tmp_path / "Grus" / "tools.json")
    settings.keep_servers([ToolServer("here", "echo"), ToolServer("open", url=http_server)])
    here, open_server = several(["tools", "login", "here"], ["tools", "login", "open"], XDG_DATA_HOME=str(tmp_path))
    assert (here.code, "here runs on this machine and takes no sign-in" in here.err) == (2, True)
    assert re.fullmatch(r"No sign-in is needed: open has \d+ tools\.\n", open_server.out)


class Hostile(BaseHTTPRequestHandler):
    """Asks for a sign-in, and names what it should not."""

    names = ""

    def do_POST(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", f'Bearer resource_metadata="{self.names}"')
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_a_key_that_is_not_taken_is_no_reason_to_sign_in() -> None:
    web = HTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    try:
        server = ToolServer("x", url=f"http://127.0.0.1:{web.server_port}/", headers={"authorization": "Bearer old"})
        with McpConnection(server) as made, pytest.raises(ToolServerFailed, match="does not accept the Authorization"):
            made.tools().result()
    finally:
        web.shutdown()
        web.server_close()


@pytest.mark.parametrize(
    ("named", "taken"),
    [
        ("https://login.example.org/.well-known/x", True),
        ("https://example.org/.well-known/x", True),
        ("http://login.example.org/x", False),
        ("http://127.0.0.1:631/admin", False),
        ("https://127.0.0.1/x", False),
        ("https://localhost/x", False),
        ("http://169.254.169.254/latest/meta-data", False),
    ],
)
def test_a_server_elsewhere_sends_the_sign_in_to_no_address_of_this_machine(
    named: str, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    import httpx2

    monkeypatch.setattr("engine.hub.offline.forbidden", lambda: None)
    auth = SignInAuth(ToolServer("x", url="https://example.org/mcp"), None)
    request = auth.check_request(httpx2.Request("GET", named))
    if taken:
        asyncio.run(request)
    else:
        with pytest.raises(GrusError, match="for its sign-in, which is not asked"):
            asyncio.run(request)


def test_the_page_of_a_sign_in_is_encrypted() -> None:
    import asyncio

    server = ToolServer("x", url="https://example.org/mcp")
    browser = BrowserSignIn(server, lambda address: None)
    with pytest.raises(ToolServerFailed, match=r"without encryption: http://example\.org"):
        asyncio.run(browser.ask("http://example.org/authorize?state=1"))
    assert not browser.take("http://127.0.0.1/callback?code=1&state=")


@pytest.mark.slow
def test_the_browser_is_opened_when_the_person_says_so(world: OauthWorld, tmp_path: Path) -> None:
    settings = ToolSettings(tmp_path / "data" / "Grus" / "tools.json")
    settings.keep_servers([world.server])
    browser = tmp_path / "browser.py"
    browser.write_text("import sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n")
    terminal = Terminal(
        "tools", "login", "private", XDG_DATA_HOME=str(tmp_path / "data"), DISPLAY=":99", SSH_CONNECTION="",
        BROWSER=f"{sys.executable} {browser} %s",
    )  # fmt: skip
    try:
        terminal.until("Ctrl-C cancels.")
        assert "Type y to open it in the browser of this machine." in terminal.seen
        assert "authorized" not in world.log()
        terminal.type("http://127.0.0.1/callback?code=1&state=2")
        terminal.until("belongs to no sign-in")
        terminal.type("y")
        terminal.until("You are signed in: private has 1 tool.")
        assert terminal.process.wait(60) == 0
    finally:
        terminal.close()
