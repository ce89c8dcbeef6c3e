"""What real clients send: hints and unknown fields have no effect, and OpenAI's names stand for what is served."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import connect

from tests.app.server.live import Live, scripted
from tests.app.server.realtime.caller import Caller, calling, of, sound
from tests.app.server.realtime.test_events import prompt
from tests.engine.pipelines.listening.conftest import silence, voice

# what `@openai/agents-realtime` 0.20 sends when it connects
AGENTS_SDK: dict[str, Any] = {
    "type": "realtime",
    "instructions": "Be brief.",
    "model": "gpt-realtime-2.1",
    "output_modalities": ["audio"],
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24000},
            "noise_reduction": None,
            "transcription": {"model": "gpt-4o-mini-transcribe"},
            "turn_detection": {"type": "semantic_vad"},
        },
        "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "marin", "speed": 1},
    },
    "tools": [{"type": "function", "name": "weather", "description": "", "parameters": {"type": "object"}}],
}
# what pipecat 1.14 sends, after the message that its context begins with
PIPECAT: dict[str, Any] = {
    "type": "realtime",
    "model": "gpt-realtime-2.1",
    "instructions": "Be brief.",
    "audio": {
        "input": {
            "transcription": {"model": "gpt-realtime-whisper"},
            "noise_reduction": {"type": "near_field"},
            "turn_detection": {"type": "semantic_vad", "eagerness": "high"},
        },
        "output": {"voice": "alloy"},
    },
    "tools": [
        {"type": "function", "name": "weather", "description": "x", "parameters": {"type": "object", "properties": {}}}
    ],
}
LENIENT: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"tracing": "auto", "include": ["item.input_audio_transcription.logprobs"]},
        {},
        "session.include, session.tracing",
    ),
    ({"invented_in_2027": {"deep": [1]}}, {}, "session.invented_in_2027"),
    ({"audio": {"input": {"noise_reduction": {"type": "near_field"}}}}, {}, "session.audio.input.noise_reduction"),
    ({"truncation": {"type": "retention_ratio", "retention_ratio": 0.8}}, {"truncation": "auto"}, "session.truncation"),
    ({"tools": [{"type": "mcp", "server_label": "x"}]}, {"tools": []}, "tools"),
    ({"model": "gpt-realtime"}, {"model": "tiny"}, "session.model"),
    ({"output_modalities": ["text", "audio"]}, {"output_modalities": ["audio"]}, ""),
    ({"max_output_tokens": None, "tools": None, "instructions": None}, {"instructions": "Be kind."}, ""),
    ({"type": None, "audio": {"input": {"turn_detection": {"type": "none"}}}}, {"type": "realtime"}, ""),
]


@pytest.fixture
def caller(live: Live) -> Iterator[Caller]:
    with calling(live, extra_headers={"User-Agent": "Agent/1.0 (linux)"}) as caller:
        caller.update(instructions="Be kind.")
        yield caller


@pytest.mark.parametrize(("session", "holds", "logged"), LENIENT, ids=[next(iter(one[0])) for one in LENIENT])
def test_a_session_update(
    live: Live, caplog: pytest.LogCaptureFixture, session: dict[str, Any], holds: dict[str, Any], logged: str
) -> None:
    agent = f"Agent{LENIENT.index((session, holds, logged))}/1.0"
    with caplog.at_level(logging.INFO, "grus.server"), calling(live, extra_headers={"User-Agent": agent}) as caller:
        caller.update(instructions="Be kind.")
        for _ in range(2):
            shown = caller.update(**session)
            assert {key: shown[key] for key in holds} == holds
            assert shown["instructions"] == "Be kind."
    lines = [line for line in caplog.messages if line.startswith(agent)]
    expected = f"{agent} sends fields that have no effect here: {logged}"
    assert lines == ([expected] if logged else [])


def test_fields_of_events_and_items(live: Live, caller: Caller) -> None:
    caller.update(output_modalities=["text"], invented=1)
    item = {
        "type": "message", "role": "user", "status": "completed", "phase": "commentary", "previous": None,
        "content": [{"type": "input_text", "text": "Hi", "audio": None, "transcript": None, "detail": "auto"}],
    }  # fmt: skip
    caller.ask("conversation.item.create", "conversation.item.done", item=item, previous_item_id=None, newer=1)
    done = caller.answered(output_modalities=["text"], metadata=None, invented={"x": 1}, conversation=None)
    assert done["status"] == "completed"
    assert "Hi" in prompt(live)


def test_items_of_a_conversation_before(caller: Caller, live: Live) -> None:
    """A client that sets the history again sends what was shown to it."""
    caller.update(output_modalities=["text"])
    for role, part in (
        ("user", {"type": "input_audio", "audio": None, "transcript": "What I said."}),
        ("assistant", {"type": "output_audio", "transcript": "What was answered."}),
        ("assistant", {"type": "text", "text": "And written."}),
        ("user", {"type": "text", "text": "Go on."}),
    ):
        item = {"type": "message", "role": role, "content": [part]}
        shown = caller.ask("conversation.item.create", "conversation.item.done", item=item)["item"]["content"][0]
        assert shown.get("text", shown.get("transcript")) == part.get("text", part.get("transcript"))
    assert caller.answered()["status"] == "completed"
    said = ["What I said.", "What was answered.", "And written.", "Go on."]
    assert sorted(said, key=prompt(live).index) == said


def test_what_the_agents_sdk_sends(caller: Caller, live: Live) -> None:
    """On a server that neither listens nor speaks, in words."""
    shown = caller.update(**AGENTS_SDK)
    assert shown["audio"]["input"]["turn_detection"]["type"] == "semantic_vad"
    assert (shown["model"], shown["tools"][0]["name"]) == ("tiny", "weather")
    caller.update(output_modalities=["text"])
    caller.say("Hi")
    assert caller.answered()["status"] == "completed"


@pytest.mark.parametrize("session", [AGENTS_SDK, PIPECAT], ids=["agents-sdk", "pipecat"])
def test_they_speak_and_are_answered(talking: Live, session: dict[str, Any]) -> None:
    with calling(talking, model="gpt-realtime") as caller:
        assert caller.seen[0]["session"]["model"] == "scripted"
        shown = caller.update(**session)["audio"]
        assert (shown["input"]["transcription"]["model"], shown["output"]["model"]) == ("ears", "voice")
        caller.speak(np.concatenate([silence(0.5), voice(1.0), silence(0.8)]))
        events = caller.until("response.done")
        assert of(events, "conversation.item.input_audio_transcription.completed")[0]["transcript"]
        (message,) = events[-1]["response"]["output"]
        assert message["content"][0]["transcript"] == "Good morning. How are you?"
        assert len(sound(events)) > 4800
        # the Agents SDK asks for each item whose words have become known
        stored = caller.ask("conversation.item.retrieve", "conversation.item.retrieved", item_id=message["id"])
        assert stored["item"] == message


@pytest.mark.parametrize(
    ("eagerness", "silence"), [("low", 1200), ("high", 350), ("auto", 700), (None, 700), ("odd", 700)]
)
def test_semantic_vad_waits_by_its_eagerness(caller: Caller, eagerness: str | None, silence: int) -> None:
    caller.update(audio={"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 90}}})
    turns = {"type": "semantic_vad", "eagerness": eagerness, "interrupt_response": False}
    shown = caller.update(audio={"input": {"turn_detection": turns}})["audio"]["input"]["turn_detection"]
    assert (shown["silence_duration_ms"], shown["interrupt_response"]) == (silence, False)
    shown = caller.update(audio={"input": {"turn_detection": {"type": "server_vad"}}})["audio"]["input"][
        "turn_detection"
    ]
    assert (shown["silence_duration_ms"], shown["eagerness"], shown["interrupt_response"]) == (500, None, True)


def test_the_query(live: Live) -> None:
    url = f"ws://127.0.0.1:{live.port}/v1/realtime?model=gpt-realtime&api-version=2025"
    with connect(url, compression=None) as connection:
        assert connection.response is not None
        assert connection.response.headers["x-grus-ignored"] == "api-version, model"
        created = json.loads(connection.recv(timeout=10))
    assert (created["type"], created["session"]["model"]) == ("session.created", "tiny")


def test_strict(tmp_path: Path) -> None:
    with scripted(tmp_path, strict=True) as live:
        with calling(live) as caller:
            update = {"type": "realtime", "colour": "x"}
            assert caller.error("session.update", session=update)["param"] == "session.colour"
            update = {"type": "realtime", "truncation": {"type": "retention_ratio"}}
            assert caller.error("session.update", session=update)["param"] == "session.truncation"
            assert caller.error("response.cancel", why=1)["param"] == "why"
        url = f"ws://127.0.0.1:{live.port}/v1/realtime"
        for query in ("?model=gpt-realtime", "?invented=1"):
            with connect(url + query, compression=None) as connection:
                assert json.loads(connection.recv(timeout=10))["type"] == "error"
