"""The openai client in a realtime session, with timeouts."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import openai
import soxr

from tests.app.server.live import Live
from tests.engine.pipelines.listening.conftest import RATE

Event = dict[str, Any]


def pcm(samples: np.ndarray) -> bytes:
    """Sound at 16 kHz as it goes over the wire."""
    return (np.clip(soxr.resample(samples, RATE, 24000), -1, 1) * 32767).astype("<i2").tobytes()


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Caller:
    """`seen` are all events so far, as dictionaries."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.seen: list[Event] = []

    def send(self, kind: str, **fields: Any) -> None:
        self.connection.send({"type": kind, **fields})

    def next(self, seconds: float = 20.0) -> Event:
        event = self.connection.parse_event(self.connection._connection.recv(timeout=seconds, decode=False))
        self.seen.append(event.to_dict())
        return self.seen[-1]

    def until(self, *kinds: str, seconds: float = 20.0) -> list[Event]:
        """Events up to the first of one of these kinds. An error that was not waited for is a failure."""
        found: list[Event] = []
        while not found or found[-1]["type"] not in kinds:
            found.append(self.next(seconds))
            assert found[-1]["type"] != "error" or "error" in kinds, found[-1]
        return found

    def ask(self, kind: str, answer: str, **fields: Any) -> Event:
        """The first event of a kind after something was sent."""
        self.send(kind, **fields)
        return self.until(answer)[-1]

    def error(self, kind: str, **fields: Any) -> Event:
        error: Event = self.ask(kind, "error", **fields)["error"]
        return error

    def update(self, **session: Any) -> Event:
        settings: Event = self.ask("session.update", "session.updated", session={"type": "realtime", **session})[
            "session"
        ]
        return settings

    def say(self, words: str) -> Event:
        """A question in writing."""
        content = [{"type": "input_text", "text": words}]
        item = {"type": "message", "role": "user", "content": content}
        created: Event = self.ask("conversation.item.create", "conversation.item.done", item=item)["item"]
        return created

    def speak(self, samples: np.ndarray, piece: int = 4800) -> None:
        """As a microphone sends it: `piece` bytes at once."""
        data = pcm(samples)
        for at in range(0, len(data), piece):
            self.send("input_audio_buffer.append", audio=text(data[at : at + piece]))

    def answered(self, **options: Any) -> Event:
        """A response, asked for and done."""
        self.send("response.create", **({"response": options} if options else {}))
        response: Event = self.until("response.done")[-1]["response"]
        return response


@contextmanager
def calling(live: Live, model: str | None = None, **how: Any) -> Iterator[Caller]:
    client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)
    with client.realtime.connect(**({"model": model} if model else {}), **how) as connection:
        caller = Caller(connection)
        assert caller.next()["type"] == "session.created"
        yield caller


def kinds(events: list[Event]) -> list[str]:
    """Runs of the same kind count once."""
    types = [event["type"] for event in events]
    return [kind for kind, before in zip(types, [None, *types]) if kind != before]


def of(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event["type"] == kind]


def sound(events: list[Event]) -> bytes:
    return b"".join(base64.b64decode(event["delta"]) for event in of(events, "response.output_audio.delta"))
