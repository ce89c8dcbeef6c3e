"""The beta protocol, as frameworks that were written for it speak it, and sessions that transcribe only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import connect

from tests.app.server.live import Live
from tests.app.server.realtime.caller import pcm, text
from tests.engine.pipelines.listening.conftest import silence, voice

QUESTION = np.concatenate([silence(0.5), voice(1.0), silence(0.8)])
BETA: dict[str, Any] = {"additional_headers": {"OpenAI-Beta": "realtime=v1"}}


class Raw:
    """A client without a library."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def send(self, kind: str, **fields: Any) -> None:
        self.connection.send(json.dumps({"type": kind, **fields}))

    def until(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while not found or found[-1]["type"] != kind:
            found.append(json.loads(self.connection.recv(timeout=30)))
            assert found[-1]["type"] != "error", found[-1]
        return found

    def speak(self, samples: np.ndarray) -> None:
        data = pcm(samples)
        for at in range(0, len(data), 4800):
            self.send("input_audio_buffer.append", audio=text(data[at : at + 4800]))


@contextmanager
def opened(live: Live, query: str = "", **how: Any) -> Iterator[Raw]:
    with connect(
        f"ws://127.0.0.1:{live.port}/v1/realtime{query}", compression=None, max_size=None, **how
    ) as connection:
        yield Raw(connection)


@pytest.mark.parametrize(
    "how", [BETA, {"subprotocols": ["realtime", "openai-beta.realtime-v1"]}], ids=["header", "subprotocol"]
)
def test_a_conversation(talking: Live, how: dict[str, Any]) -> None:
    with opened(talking, "?model=scripted", **how) as raw:
        created = raw.until("session.created")[0]["session"]
        assert created["modalities"] == ["text", "audio"]
        assert (created["input_audio_format"], created["output_audio_format"]) == ("pcm16", "pcm16")
        assert created["turn_detection"]["type"] == "server_vad"
        assert created["max_response_output_tokens"] == "inf"
        session = {
            "modalities": ["audio", "text"], "instructions": "Be kind.", "voice": "alloy", "input_audio_format": "pcm16",
            "output_audio_format": "pcm16", "input_audio_transcription": {"model": "whisper-1"}, "tools": [],
            "turn_detection": {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": 400},
            "tool_choice": "auto", "temperature": 0.8, "max_response_output_tokens": "inf",
        }  # fmt: skip
        raw.send("session.update", session=session)
        updated = raw.until("session.updated")[0]["session"]
        assert updated["turn_detection"]["silence_duration_ms"] == 400
        assert updated["input_audio_transcription"]["model"] == "ears"
        assert {key: updated[key] for key in ("voice", "temperature")} == {"voice": "alloy", "temperature": 0.8}
        raw.speak(QUESTION)
        events = raw.until("response.done")
    kinds = {event["type"] for event in events}
    assert {"conversation.item.created", "response.audio.delta", "response.audio.done", "response.audio_transcript.delta",
            "response.audio_transcript.done", "response.content_part.added"} <= kinds  # fmt: skip
    assert not [kind for kind in kinds if "output_audio" in kind or (kind.endswith(("item.added", "conversation.item.done"))
                and kind != "response.output_item.added")]  # fmt: skip
    done = events[-1]["response"]
    assert (done["status"], done["modalities"], done["output_audio_format"]) == (
        "completed",
        ["text", "audio"],
        "pcm16",
    )
    assert done["output"][0]["content"] == [{"type": "audio", "transcript": "Good morning. How are you?"}]


def test_words_and_no_turn_detection(talking: Live) -> None:
    with opened(talking, "?model=scripted", **BETA) as raw:
        raw.send(
            "session.update",
            session={"modalities": ["text"], "turn_detection": None, "input_audio_transcription": None},
        )
        updated = raw.until("session.updated")[-1]["session"]
        assert (updated["turn_detection"], updated["input_audio_transcription"], updated["modalities"]) == (
            None,
            None,
            ["text"],
        )
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
        raw.send("conversation.item.create", item=item)
        raw.send("response.create", response={"modalities": ["text"], "max_response_output_tokens": 1000})
        events = raw.until("response.done")
    said = "".join(event["delta"] for event in events if event["type"] == "response.text.delta")
    assert said == "Good morning. How are you?"
    assert events[-1]["response"]["output"][0]["content"] == [{"type": "text", "text": said}]
    assert events[-1]["response"]["max_output_tokens"] == 1000


def test_flat_settings_without_the_beta(talking: Live) -> None:
    """They are read in every session; the events are those of now."""
    with opened(talking, "?model=scripted") as raw:
        raw.send("session.update", session={"voice": "eric", "input_audio_format": "g711_ulaw", "speed": 1.5})
        audio = raw.until("session.updated")[-1]["session"]["audio"]
    assert (audio["output"]["voice"], audio["output"]["speed"]) == ("eric", 1.5)
    assert audio["input"]["format"] == {"type": "audio/pcmu", "rate": 8000}


@pytest.mark.parametrize("way", ["query", "update", "beta"])
def test_a_session_that_transcribes_only(talking: Live, way: str) -> None:
    with opened(talking, "?intent=transcription&model=gpt-4o-transcribe" if way != "update" else "?model=scripted",
                **(BETA if way == "beta" else {})) as raw:  # fmt: skip
        kind = "transcription_session" if way == "beta" else "session"
        raw.until("session.created" if way == "update" else f"{kind}.created")
        flat = {"input_audio_format": "pcm16", "input_audio_transcription": {"model": "whisper-1", "prompt": "Names"}}
        nested = {"type": "transcription", "audio": {"input": {"transcription": {"model": "gpt-4o-transcribe"}}}}
        raw.send(f"{kind}.update", session=flat if way == "beta" else nested)
        shown = raw.until(f"{kind}.updated")[-1]["session"]
        assert shown["object"] == "realtime.transcription_session"
        raw.speak(QUESTION)
        said = raw.until("conversation.item.input_audio_transcription.completed")[-1]["transcript"]
        assert said
        raw.send("response.create")
        error = json.loads(raw.connection.recv(timeout=10))
        assert (error["type"], "transcribes only" in error["error"]["message"]) == ("error", True)
