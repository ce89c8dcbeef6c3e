"""The end of a ThreadedGenerator: a cancelled one raises, although what it returned looks complete."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

import pytest

from app.server.audio.threads import ThreadedGenerator
from engine.errors import EngineStopped
from engine.tasks import CancelScope


class Sounds:
    """The part of the service that a ThreadedGenerator uses."""

    def __init__(self) -> None:
        self.running: dict[str, Callable[[], None]] = {}

    def sound_begins(self, name: str, stop: Callable[[], None]) -> None:
        self.running[name] = stop

    def sound_ends(self, name: str) -> None:
        self.running.pop(name, None)


def generator_of(pieces: Generator[int, None, None], sounds: Sounds) -> ThreadedGenerator[int]:
    server: Any = SimpleNamespace(requests=sounds)
    request: Any = SimpleNamespace(scope={"state": {"request_id": "one"}})
    engine: Any = None
    return ThreadedGenerator(pieces, CancelScope(engine), server, request)


async def read(items: ThreadedGenerator[int]) -> list[int]:
    return [piece async for piece in items]


def test_what_is_stopped_never_looks_whole() -> None:
    """All that it waited for was cut short, so that it comes to its end in the ordinary way."""
    sounds = Sounds()

    def pieces() -> Generator[int, None, None]:
        yield 1
        sounds.running["one"]()
        yield 2

    items = generator_of(pieces(), sounds)
    with pytest.raises(EngineStopped):
        asyncio.run(read(items))
    assert not sounds.running


def test_what_is_not_stopped_is_whole() -> None:
    sounds = Sounds()
    assert asyncio.run(read(generator_of((n for n in range(3)), sounds))) == [0, 1, 2]
    assert not sounds.running
