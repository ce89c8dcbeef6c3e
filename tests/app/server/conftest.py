"""Fixtures: one scripted server for all tests of the protocols, reset before each test, and a web server that it may fetch from."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from app.runtime import public_web
from app.runtime.public_web import is_public
from tests.app.server.live import Live, scripted
from tests.app.server.web import LOOPBACK, Web, reply


@pytest.fixture(scope="session")
def _scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("served"), heartbeat_seconds=0.2) as live:
        yield live


@pytest.fixture
def live(_scripted: Live) -> Live:
    engine = _scripted.engine
    engine.reply, engine.script, engine.reason = "Hello there.", None, "stop"
    engine.error = engine.refusal = None
    engine.pause = engine.silence = 0.0
    engine.requests.clear()
    engine.cancelled.clear()
    engine.kept.clear()
    return _scripted


@pytest.fixture(scope="session")
def _web() -> Iterator[Web]:
    web = Web()
    threading.Thread(target=web.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield web
    web.server.shutdown()
    web.server.server_close()


@pytest.fixture
def web(_web: Web) -> Web:
    _web.pages = {"/dot.png": reply()}
    _web.asked.clear()
    return _web


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What names lead to. Loopback counts as public, as the only address that a test can reach."""
    names: dict[str, list[Any]] = {"pictures.example": [LOOPBACK]}
    monkeypatch.setattr(public_web, "lookup", lambda host, port: names.get(host) or [ip_address(host)])
    monkeypatch.setattr(public_web, "is_public", lambda address: address == LOOPBACK or is_public(address))
    return names
