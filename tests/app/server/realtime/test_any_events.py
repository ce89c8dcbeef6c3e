"""Property test of realtime sessions: any events in any order are answered, and a closed session leaves nothing behind."""

from __future__ import annotations

import json
from typing import Any

import httpx
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.app.server.live import Live
from tests.app.server.realtime.caller import calling, pcm, text
from tests.app.server.realtime.test_voice import quiet
from tests.app.server.scripted import until
from tests.engine.pipelines.listening.conftest import silence, voice

SOUNDS = [text(pcm(sound)) for sound in (voice(0.7), silence(0.8), np.zeros(160, np.float32), np.zeros(0, np.float32))]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
IDS = st.sampled_from(["a", "b", "root", "none"])
TURNS = st.none() | st.fixed_dictionaries(
    {"type": st.just("server_vad")},
    optional={
        "threshold": st.sampled_from([0, 0.5, 1]),
        "silence_duration_ms": st.sampled_from([0, 100, 500]),
        "prefix_padding_ms": st.sampled_from([0, 300, 5000]),
        "create_response": st.booleans(),
        "interrupt_response": st.booleans(),
    },
)
CONTENT = st.one_of(
    st.fixed_dictionaries({"type": st.just("input_text"), "text": st.text(max_size=20)}),
    st.fixed_dictionaries({"type": st.just("output_text"), "text": st.text(max_size=20)}),
    st.fixed_dictionaries({"type": st.just("input_audio"), "audio": st.sampled_from(SOUNDS)}),
)
ITEM = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("message"),
            "role": st.sampled_from(["user", "assistant", "system"]),
            "content": st.lists(CONTENT, min_size=1, max_size=2),
        },
        optional={"id": IDS},
    ),
    st.fixed_dictionaries({"type": st.just("function_call"), "name": st.just("f"), "arguments": st.text(max_size=9)}),
    st.fixed_dictionaries({"type": st.just("function_call_output"), "call_id": IDS, "output": st.text(max_size=9)}),
)
RESPONSE = st.fixed_dictionaries(
    {},
    optional={
        "conversation": st.sampled_from(["auto", "none"]),
        "output_modalities": st.sampled_from([["audio"], ["text"]]),
        "instructions": st.text(max_size=9),
        "input": st.lists(ITEM | st.fixed_dictionaries({"type": st.just("item_reference"), "id": IDS}), max_size=2),
        "max_output_tokens": st.sampled_from([1, 5, "inf"]),
    },
)
WELL_FORMED: dict[str, dict[str, Any]] = {
    "session.update": {
        "session": st.fixed_dictionaries(
            {"type": st.just("realtime")},
            optional={
                "audio": st.fixed_dictionaries({"input": st.fixed_dictionaries({"turn_detection": TURNS})}),
                "output_modalities": st.sampled_from([["audio"], ["text"]]),
                "truncation": st.sampled_from(["auto", "disabled"]),
            },
        )
    },
    "input_audio_buffer.append": {"audio": st.sampled_from(SOUNDS)},
    "input_audio_buffer.commit": {},
    "input_audio_buffer.clear": {},
    "output_audio_buffer.clear": {},
    "conversation.item.create": {"item": ITEM, "previous_item_id": st.none() | IDS},
    "conversation.item.retrieve": {"item_id": IDS},
    "conversation.item.delete": {"item_id": IDS},
    "conversation.item.truncate": {
        "item_id": IDS,
        "content_index": st.integers(0, 1),
        "audio_end_ms": st.integers(0, 900),
    },
    "response.create": {"response": RESPONSE},
    "response.cancel": {},
}
EVENT = st.one_of([st.fixed_dictionaries({"type": st.just(kind), **fields}) for kind, fields in WELL_FORMED.items()])
BROKEN = st.builds(
    lambda event, key, value: {**event, key: value},
    EVENT,
    st.sampled_from(["type", "item", "session", "audio", "x"]),
    JUNK,
)


@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(events=st.lists(EVENT | EVENT | EVENT | BROKEN | JUNK, min_size=1, max_size=12), wait=st.booleans())
def test_nothing_that_is_sent_breaks_a_session(served: Live, events: list[Any], wait: bool) -> None:
    """`wait`: until the session has dealt with all of it, or leave at once."""
    served.engine.script.reply, served.engine.script.script = "Yes. No. " * 10, None
    with calling(served, model="scripted") as caller:
        caller.update(audio={"output": {"voice": "eric"}})
        for event in events:
            caller.connection._connection.send(json.dumps(event))
        if wait:
            caller.send("session.update", session={"type": "realtime", "instructions": "the last"})
            caller.until("error", "session.updated")
            while caller.seen[-1].get("session", {}).get("instructions") != "the last":
                caller.until("error", "session.updated")
            faults = [
                one["error"]
                for one in caller.seen
                if one["type"] == "error" and one["error"]["code"] == "internal_error"
            ]
            assert faults == []
    quiet(served)
    until(lambda: "\ngrus_realtime_sessions 0.0" in httpx.get(f"{served.url}/metrics").text, 15)
