"""The events of `/v1/realtime` without audio: a text conversation, and invalid events."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from engine.errors import EngineFault
from engine.types import Request
from tests.app.server.live import Live
from tests.app.server.realtime.caller import Caller, calling, kinds, of
from tests.app.server.scripted import until

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
TOOL = {"type": "function", "name": "weather", "parameters": {"type": "object"}}


@pytest.fixture
def caller(live: Live) -> Any:
    with calling(live) as caller:
        caller.update(output_modalities=["text"])
        yield caller


def prompt(live: Live, at: int = -1) -> str:
    """What the model was asked."""
    request: Request = live.engine.requests[at]
    return str(live.service.loaded["tiny"].tokenizer.decode(request.prompt_ids))


def test_a_session_shows_what_holds(live: Live) -> None:
    with calling(live, model="tiny") as caller:
        session = caller.seen[0]["session"]
        assert session["id"].startswith("sess-")
        assert (session["type"], session["object"], session["model"]) == ("realtime", "realtime.session", "tiny")
        assert session["output_modalities"] == ["audio"]
        assert session["audio"]["input"]["turn_detection"]["silence_duration_ms"] == 500
        settings = caller.update(
            instructions="Be kind.", max_output_tokens=9, audio={"input": {"turn_detection": {"type": "server_vad", "threshold": 0.7}}}
        )  # fmt: skip
        turns = settings["audio"]["input"]["turn_detection"]
        assert (settings["instructions"], settings["max_output_tokens"]) == ("Be kind.", 9)
        assert (turns["threshold"], turns["silence_duration_ms"]) == (0.7, 500)
        assert caller.update(audio={"input": {"turn_detection": None}})["audio"]["input"]["turn_detection"] is None
        assert caller.update(max_output_tokens="inf")["instructions"] == "Be kind."


def test_a_conversation_in_words(caller: Caller, live: Live) -> None:
    caller.update(instructions="Be kind.", temperature=0.5, seed=4)
    first = caller.say("Hi")
    caller.send("response.create")
    events = caller.until("response.done")
    assert kinds(events) == [
        "response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
        "response.output_text.delta", "response.output_text.done", "response.content_part.done",
        "conversation.item.done", "response.output_item.done", "response.done",
    ]  # fmt: skip
    assert "".join(event["delta"] for event in of(events, "response.output_text.delta")) == "Hello there."
    done = events[-1]["response"]
    assert (done["status"], done["status_details"], done["output_modalities"]) == ("completed", None, ["text"])
    assert done["output"][0]["content"] == [{"type": "output_text", "text": "Hello there."}]
    assert done["usage"]["total_tokens"] == done["usage"]["input_tokens"] + done["usage"]["output_tokens"]
    assert done["usage"]["output_tokens"] == len("Hello there.")
    assert of(events, "conversation.item.added")[0]["previous_item_id"] == first["id"]
    request = live.engine.requests[-1]
    assert (request.sampling.temperature, request.sampling.seed, request.id) == (0.5, 4, done["id"])
    assert prompt(live).index("Be kind.") < prompt(live).index("Hi")
    caller.say("And you?")
    caller.answered()
    assert prompt(live).index("Hello there.") < prompt(live).index("And you?")


def test_items_are_inserted_read_and_deleted(caller: Caller, live: Live) -> None:
    second = caller.say("second")
    item = {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "first"}], "id": "mine"}
    added = caller.ask("conversation.item.create", "conversation.item.added", item=item, previous_item_id="root")
    assert (added["item"]["id"], added["previous_item_id"]) == ("mine", None)
    reply = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "between"}]}
    caller.ask("conversation.item.create", "conversation.item.done", item=reply, previous_item_id=second["id"])
    caller.say("third")
    caller.answered()
    said = prompt(live)
    assert said.index("first") < said.index("second") < said.index("between") < said.index("third")
    assert (
        caller.ask("conversation.item.retrieve", "conversation.item.retrieved", item_id="mine")["item"]["id"] == "mine"
    )
    caller.ask("conversation.item.delete", "conversation.item.deleted", item_id=second["id"])
    caller.answered()
    assert "second" not in prompt(live)
    assert caller.error("conversation.item.delete", item_id=second["id"])["code"] == "item_delete_invalid_item_id"


def test_functions_are_called_and_their_results_read(caller: Caller, live: Live) -> None:
    caller.update(tools=[TOOL], tool_choice="auto")
    live.engine.reply = f"Let me look. {CALL}"
    caller.say("The weather?")
    caller.send("response.create")
    events = caller.until("response.done")
    message, call = events[-1]["response"]["output"]
    assert message["content"][0]["text"].strip() == "Let me look."
    assert (call["type"], call["name"], json.loads(call["arguments"])) == ("function_call", "weather", {"city": "Kyiv"})
    (done,) = of(events, "response.function_call_arguments.done")
    deltas = of(events, "response.function_call_arguments.delta")
    assert done["arguments"] == "".join(event["delta"] for event in deltas) == call["arguments"]
    assert {event["call_id"] for event in deltas} == {call["call_id"]}
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": '{"degrees": -4}'}
    caller.ask("conversation.item.create", "conversation.item.done", item=result)
    live.engine.reply = "Cold."
    assert caller.answered()["output"][0]["content"][0]["text"] == "Cold."
    assert prompt(live).index('"city"') < prompt(live).index('{"degrees": -4}')


def test_a_call_that_is_demanded(caller: Caller, live: Live) -> None:
    live.engine.reply = '<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>'
    caller.say("Hi")
    done = caller.answered(tools=[TOOL], tool_choice={"type": "function", "name": "weather"})
    assert [item["type"] for item in done["output"]] == ["function_call"]
    assert live.engine.requests[-1].sampling.grammar is not None
    failed = caller.answered(tool_choice="required")
    assert failed["status_details"]["error"]["message"] == "tool_choice asks for a call, but there are no tools."


def test_what_differs_in_one_response(caller: Caller, live: Live) -> None:
    caller.update(instructions="Be kind.")
    hi = caller.say("Hi")
    own = [
        {"type": "item_reference", "id": hi["id"]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and this"}]},
    ]
    done = caller.answered(
        conversation="none", input=own, instructions="Be brief.", metadata={"topic": "x"}, max_output_tokens=5
    )
    assert (done["conversation_id"], done["metadata"], done["status"]) == (None, {"topic": "x"}, "incomplete")
    assert done["status_details"] == {"type": "incomplete", "reason": "max_output_tokens"}
    assert "Be brief." in prompt(live)
    assert "Hi\n\nand this" in prompt(live)
    assert not of(caller.seen, "conversation.item.added")[1:]
    caller.answered()
    assert "Be kind." in prompt(live)
    assert "Hello" not in prompt(live)


def test_a_response_is_cancelled(caller: Caller, live: Live) -> None:
    live.engine.reply, live.engine.pause = "word " * 200, 0.01
    caller.say("Hi")
    caller.send("response.create")
    caller.until("response.output_text.delta")
    other = caller.error("response.create", event_id="again")
    assert (other["code"], other["event_id"]) == ("conversation_already_has_active_response", "again")
    made = of(caller.seen, "response.output_item.added")[0]["item"]["id"]
    assert "still being made" in caller.error("conversation.item.delete", item_id=made)["message"]
    assert caller.error("response.cancel", response_id="resp-other")["code"] == "response_cancel_not_active"
    caller.send("response.cancel")
    done = caller.until("response.done")[-1]["response"]
    assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "client_cancelled")
    assert done["usage"] is None
    until(lambda: not live.engine.running)
    assert live.engine.cancelled == [done["id"]]
    assert caller.error("response.cancel")["code"] == "response_cancel_not_active"
    live.engine.pause = 0.0
    assert caller.answered()["status"] == "completed"


def test_a_response_is_aborted_by_its_id(caller: Caller, live: Live) -> None:
    live.engine.reply, live.engine.pause = "word " * 200, 0.01
    caller.say("Hi")
    caller.send("response.create")
    rid = caller.until("response.output_text.delta")[0]["response"]["id"]
    message = httpx.post(f"{live.url}/abort_request", json={"rid": rid}).json()["message"]
    assert "1 requests" in message
    assert caller.until("response.done")[-1]["response"]["status"] == "cancelled"


def test_a_fault_of_the_model_ends_the_response_and_not_the_session(caller: Caller, live: Live) -> None:
    live.engine.error = EngineFault("It broke.")
    caller.say("Hi")
    done = caller.answered()
    assert (done["status"], done["status_details"]["error"]["code"]) == ("failed", "engine_fault")
    assert done["status_details"]["error"]["message"] == "It broke."
    live.engine.error = None
    assert caller.answered()["status"] == "completed"


def test_a_conversation_that_is_too_long_loses_its_oldest_turns(caller: Caller, live: Live) -> None:
    system = {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Remember."}]}
    caller.ask("conversation.item.create", "conversation.item.done", item=system)
    for name in ("first", "second", "third"):
        caller.say(name + " x" * 700)
    caller.say("last")
    done = caller.answered()
    assert done["status"] == "completed", done["status_details"]
    said = prompt(live)
    assert len(live.engine.requests[-1].prompt_ids) < 4096 - 512
    assert "Remember." in said
    assert "first" not in said
    assert "third" in said
    caller.update(truncation="disabled")
    assert caller.answered()["status_details"]["error"]["code"] == "context_length_exceeded"


def test_what_the_server_has_no_model_for(caller: Caller) -> None:
    caller.say("Hi")
    error = caller.answered(output_modalities=["audio"])["status_details"]["error"]
    assert (error["code"], "without one that speaks" in error["message"]) == ("missing_capability", True)
    caller.update(audio={"output": {"voice": "eric"}})  # without effect, where nothing speaks
    caller.update(audio={"input": {"turn_detection": None}})
    second = base64.b64encode(bytes(48000)).decode()
    caller.send("input_audio_buffer.append", audio=second)
    caller.send("input_audio_buffer.commit")
    events = caller.until("error")
    assert "conversation.item.done" in kinds(events)
    assert "without one that listens" in events[-1]["error"]["message"]
    assert caller.answered()["status_details"]["error"]["code"] == "missing_capability"


WRONG: list[tuple[dict[str, Any], str | None, str]] = [
    ({"type": "response.begin"}, "type", "There is no event 'response.begin' here. There are: session.update,"),
    ({"type": 3}, "type", "needs a `type`"),
    ({}, "type", "needs a `type`"),
    ({"type": "session.update"}, "session", "session is required"),
    ({"type": "session.update", "session": {"type": "realtime", "model": "x"}}, "session.model", "Open another one"),
    ({"type": "session.update", "session": {"type": "realtime", "temperature": 3}}, "session.temperature", "2"),
    ({"type": "session.update", "session": {"type": "realtime", "audio": {"output": {"format": {"rate": 7000}}}}},
     "session.audio.output.format.rate", "8000"),
    ({"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcmu", "rate": 16000}}}}},
     "session.audio.input.format", "8000 samples a second"),
    ({"type": "session.update", "session": {"input_audio_format": "mp3"}}, "session.input_audio_format", "g711_ulaw"),
    ({"type": "session.update", "session": {"turn_detection": {"type": "psychic"}}},
     "session.audio.input.turn_detection.type", "semantic_vad"),
    ({"type": "session.update", "session": {"prompt": {"id": "pmpt_1"}}}, "session.prompt", "Leave it out"),
    ({"type": "session.update", "session": {"type": "realtime", "audio": {"input": {"turn_detection": {
        "threshold": 2}}}}}, "session.audio.input.turn_detection.threshold", "1"),
    ({"type": "session.update", "session": {"type": "realtime", "audio": {"input": {"turn_detection": {
        "idle_timeout_ms": 5000}}}}}, "session.audio.input.turn_detection.idle_timeout_ms", "Leave it out"),
    ({"type": "session.update", "session": {"type": "realtime", "audio": {"input": {"transcription": {
        "model": "nobody"}}}}}, None, "no model 'nobody'"),
    ({"type": "input_audio_buffer.append", "audio": "%%%"}, "audio", "not base64"),
    ({"type": "input_audio_buffer.append", "audio": "AAAA"}, "audio", "half a sample"),
    ({"type": "input_audio_buffer.append", "audio": 3}, "audio", "string"),
    ({"type": "input_audio_buffer.commit"}, None, "Nobody is speaking"),
    ({"type": "output_audio_buffer.clear"}, None, "No sound is being made"),
    ({"type": "conversation.item.create", "item": {"type": "thing"}}, "item.type", "function_call_output"),
    ({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": []}},
     "item.content", "at least 1"),
    ({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": [
        {"type": "input_image", "image_url": "x"}]}}, "item.content.0.type", "input_text"),
    ({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": [
        {"type": "output_text", "text": "x"}]}}, "item.content.0.type", "takes input_text or input_audio"),
    ({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": [
        {"type": "input_text"}]}}, "item.content.0.text", "needs `text`"),
    ({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": [
        {"type": "input_audio", "audio": "AAA="}]}}, "item.content.0.audio", "0.1 to"),
    ({"type": "conversation.item.create", "previous_item_id": "none", "item": {"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "x"}]}}, "previous_item_id", "no item 'none'"),
    ({"type": "conversation.item.retrieve", "item_id": "none"}, "item_id", "no item 'none'"),
    ({"type": "conversation.item.truncate", "item_id": "none", "content_index": 0, "audio_end_ms": 1}, "item_id", "none"),
    ({"type": "conversation.item.truncate", "item_id": "x", "content_index": 0}, "audio_end_ms", "required"),
    ({"type": "response.create", "response": {"input": [{"type": "item_reference", "id": "none"}]}}, "item_id", "none"),
    ({"type": "response.create", "response": {"conversation": "mine"}}, "response.conversation", "auto"),
    ({"type": "response.create", "response": {"prompt": {"id": "x"}}}, "response.prompt", "Leave it out"),
    ({"type": "response.cancel"}, "response_id", "no such response"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "param", "expected"), WRONG, ids=[json.dumps(event)[9:90] for event, *_ in WRONG])
def test_what_is_wrong_is_said_and_changes_nothing(
    shared: Caller, event: dict[str, Any], param: str | None, expected: str
) -> None:
    before = shared.update()
    shared.connection._connection.send(json.dumps({**event, "event_id": "mine"}))
    error = shared.until("error")[-1]["error"]
    assert (error["event_id"], error["type"]) in {("mine", "invalid_request_error"), ("mine", "not_found_error")}
    assert expected in error["message"]
    assert error["param"] == param
    assert error["code"]
    assert shared.update() == before


@pytest.mark.parametrize("raw", ["{", "[]", "3", '"x"', '{"type": NaN}', "[" * 3000, '{"type": "\\ud800"}', b"\x00"])
def test_what_is_no_event(shared: Caller, raw: str | bytes) -> None:
    shared.connection._connection.send(raw)
    assert shared.until("error")[-1]["error"]["type"] == "invalid_request_error"
    assert shared.update()


@pytest.fixture(scope="module")
def shared(_scripted: Live) -> Any:
    """One session that survives everything."""
    with calling(_scripted) as caller:
        yield caller
