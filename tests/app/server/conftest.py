"""One scripted server for all tests of the protocols, as it was before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.server.live import Live, scripted


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
