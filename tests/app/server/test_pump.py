"""A pump's end: what was stopped says so, though what it read looks whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

import pytest

from app.server.audio.pump import Pump
from engine.cancel import CancelScope
from engine.errors import EngineStopped


class Sounds:
    """The service as a pump knows it: who may be stopped by its id."""

    def __init__(self) -> None:
        self.running: dict[str, Callable[[], None]] = {}

    def sound_begins(self, name: str, stop: Callable[[], None]) -> None:
        self.running[name] = stop

    def sound_ends(self, name: str) -> None:
        self.running.pop(name, None)


def pump_of(pieces: Generator[int, None, None], sounds: Sounds) -> Pump[int]:
    server: Any = SimpleNamespace(requests=sounds)
    request: Any = SimpleNamespace(scope={"state": {"request_id": "one"}})
    engine: Any = None
    return Pump(pieces, CancelScope(engine), server, request)


async def read(pump: Pump[int]) -> list[int]:
    return [piece async for piece in pump]


def test_what_is_stopped_never_looks_whole() -> None:
    """All that it waited for was cut short, so that it comes to its end in the ordinary way."""
    sounds = Sounds()

    def pieces() -> Generator[int, None, None]:
        yield 1
        sounds.running["one"]()
        yield 2

    pump = pump_of(pieces(), sounds)
    with pytest.raises(EngineStopped):
        asyncio.run(read(pump))
    assert not sounds.running


def test_what_is_not_stopped_is_whole() -> None:
    sounds = Sounds()
    assert asyncio.run(read(pump_of((n for n in range(3)), sounds))) == [0, 1, 2]
    assert not sounds.running
