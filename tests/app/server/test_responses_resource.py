"""The Responses resource: its fields, items and events, what is stored of it, and errors that name the item and the field."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import openai
import pytest

from engine.errors import ContextOverflow
from tests.app.server.live import Live
from tests.asserting import every

NUMBER = (int, float)
MAYBE_TEXT, MAYBE_COUNT = (str, type(None)), (int, type(None))
RESOURCE: dict[str, Any] = {  # the required fields of Open Responses, and their types
    "id": str, "object": str, "created_at": int, "completed_at": MAYBE_COUNT, "status": str,
    "incomplete_details": (dict, type(None)), "model": str, "previous_response_id": MAYBE_TEXT, "instructions": MAYBE_TEXT,
    "output": list, "error": (dict, type(None)), "tools": list, "tool_choice": (str, dict), "truncation": str,
    "parallel_tool_calls": bool, "text": dict, "top_p": NUMBER, "presence_penalty": NUMBER, "frequency_penalty": NUMBER,
    "top_logprobs": int, "temperature": NUMBER, "reasoning": (dict, type(None)), "usage": (dict, type(None)),
    "max_output_tokens": MAYBE_COUNT, "max_tool_calls": MAYBE_COUNT, "store": bool, "background": bool, "service_tier": str,
    "metadata": dict, "safety_identifier": MAYBE_TEXT, "prompt_cache_key": MAYBE_TEXT,
}  # fmt: skip
ITEMS: dict[str, dict[str, Any]] = {
    "message": {"id": str, "status": str, "role": str, "content": list},
    "function_call": {"id": str, "call_id": str, "name": str, "arguments": str, "status": str},
    "function_call_output": {"id": str, "call_id": str, "output": (str, list), "status": str},
    "reasoning": {"id": str, "summary": list, "content": list},
    "custom_tool_call": {"id": str, "call_id": str, "name": str, "input": str, "status": str},
}
PLACE = {"item_id": str, "output_index": int}
EVENTS: dict[str, dict[str, Any]] = {
    "response.created": {"response": dict},
    "response.in_progress": {"response": dict},
    "response.completed": {"response": dict},
    "response.failed": {"response": dict},
    "response.incomplete": {"response": dict},
    "response.output_item.added": {"output_index": int, "item": dict},
    "response.output_item.done": {"output_index": int, "item": dict},
    "response.content_part.added": {**PLACE, "content_index": int, "part": dict},
    "response.content_part.done": {**PLACE, "content_index": int, "part": dict},
    "response.output_text.delta": {**PLACE, "content_index": int, "delta": str, "logprobs": list},
    "response.output_text.done": {**PLACE, "content_index": int, "text": str, "logprobs": list},
    "response.reasoning_text.delta": {**PLACE, "content_index": int, "delta": str},
    "response.reasoning_text.done": {**PLACE, "content_index": int, "text": str},
    "response.reasoning_summary_part.added": {**PLACE, "summary_index": int, "part": dict},
    "response.reasoning_summary_part.done": {**PLACE, "summary_index": int, "part": dict},
    "response.reasoning_summary_text.delta": {**PLACE, "summary_index": int, "delta": str},
    "response.reasoning_summary_text.done": {**PLACE, "summary_index": int, "text": str},
    "response.function_call_arguments.delta": {**PLACE, "delta": str},
    "response.function_call_arguments.done": {**PLACE, "arguments": str, "name": str},
    "response.custom_tool_call_input.delta": {**PLACE, "delta": str},
    "response.custom_tool_call_input.done": {**PLACE, "input": str},
    "error": {"code": str, "message": str, "error": dict},
}
WEATHER = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


def ask(live: Live, input: Any = "Hi", **more: Any) -> httpx.Response:
    return httpx.post(f"{live.url}/v1/responses", json={"model": "tiny", "input": input, **more}, timeout=30)


def whole(live: Live, input: Any = "Hi", **more: Any) -> Any:
    reply = ask(live, input, **more)
    assert reply.status_code == 200, reply.text
    return reply.json()


def events(live: Live, input: Any = "Hi", **more: Any) -> list[dict[str, Any]]:
    reply = ask(live, input, stream=True, **more)
    assert reply.status_code == 200, reply.text
    found = re.findall(r"event: (.*)\ndata: (.*)\n\n", reply.text)
    data = [json.loads(text) for _, text in found]
    assert [kind for kind, _ in found] == [event["type"] for event in data]
    return data


def check(given: dict[str, Any], fields: dict[str, Any]) -> None:
    for name, kind in fields.items():
        assert name in given, name
        assert isinstance(given[name], kind), f"{name}: {given[name]!r}"
        assert kind is bool or not isinstance(given[name], bool), name


def check_resource(given: dict[str, Any]) -> None:
    check(given, RESOURCE)
    for item in given["output"]:
        check(item, ITEMS[item["type"]])
    for tool in given["tools"]:
        assert tool.keys() >= {"type", "name", "description"}
    if given["usage"] is not None:
        check(given["usage"], dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), int))
        check(given["usage"]["input_tokens_details"], {"cached_tokens": int, "cache_write_tokens": int})
        check(given["usage"]["output_tokens_details"], {"reasoning_tokens": int})


def check_events(given: list[dict[str, Any]]) -> None:
    assert [event["sequence_number"] for event in given] == list(range(len(given)))
    for event in given:
        check(event, EVENTS[event["type"]])
        if "response" in event:
            check_resource(event["response"])
        if "item" in event:
            check(event["item"], ITEMS[event["item"]["type"]])


def test_a_response_has_every_field(live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\nLook: {CALL}"
    made = whole(live, tools=[WEATHER])
    check_resource(made)
    assert made["completed_at"] >= made["created_at"]
    assert (made["temperature"], made["top_p"], made["service_tier"]) == (1.0, 1.0, "default")
    assert made["tools"] == [{**WEATHER, "description": None, "strict": False}]
    assert made["text"] == {"format": {"type": "text"}, "verbosity": "medium"}
    ids = [made["id"], *(item["id"] for item in made["output"])]
    assert [id.split("_")[0] for id in ids] == ["resp", "rs", "msg", "fc"]
    kept = httpx.get(f"{live.url}/v1/responses/{made['id']}").json()
    assert kept == made


def test_what_was_asked_is_in_the_response(live: Live) -> None:
    asked = {
        "temperature": 0.25, "top_p": 0.5, "presence_penalty": 0.5, "frequency_penalty": -0.5, "max_output_tokens": 30,
        "max_tool_calls": 3, "top_logprobs": 2, "truncation": "auto", "store": False, "metadata": {"a": "b"},
        "safety_identifier": "me", "prompt_cache_key": "key", "instructions": "Be kind.", "parallel_tool_calls": False,
    }  # fmt: skip
    made = whole(live, **asked)
    assert {name: made[name] for name in asked} == asked
    params = live.engine.requests[-1].sampling
    assert (params.presence_penalty, params.frequency_penalty) == (0.5, -0.5)


def test_the_events_have_every_field(live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\nLook: {CALL}"
    check_events(events(live, tools=[WEATHER], reasoning={"summary": "auto"}))
    check_events(events(live, max_output_tokens=3))


def test_a_summary_of_the_reasoning_is_its_text(live: Live) -> None:
    live.engine.reply = "<think>\nhm\n</think>\n\nYes."
    plain = whole(live)["output"][0]
    assert (plain["summary"], plain["content"][0]["text"]) == ([], "hm")
    asked = {"reasoning": {"summary": "detailed"}, "include": ["reasoning.encrypted_content"]}
    reply = ask(live, **asked)
    assert reply.headers["x-grus-ignored"] == "include.reasoning.encrypted_content"
    item = reply.json()["output"][0]
    assert item["summary"] == [{"type": "summary_text", "text": "hm"}]
    seen = events(live, **asked)
    deltas = [event["delta"] for event in seen if event["type"] == "response.reasoning_summary_text.delta"]
    assert "".join(deltas) == "hm"
    assert seen[-1]["response"]["reasoning"] == {"effort": None, "summary": "detailed"}
    # a client that returns the summary alone
    question, again = {"role": "user", "content": "Hi"}, {"role": "user", "content": "And?"}
    back = {key: value for key, value in item.items() if key != "content"} | {"encrypted_content": "secret"}
    whole(live, [question, back, {"role": "assistant", "content": "Yes."}, again])


def test_input_items_are_listed(live: Live) -> None:
    first = whole(live, [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}])
    second = whole(live, "Three", previous_response_id=first["id"])
    url = f"{live.url}/v1/responses/{second['id']}/input_items"
    listed = httpx.get(url, params={"order": "asc"}).json()
    assert [item["content"][0]["text"] for item in listed["data"]] == ["One", "Two", "Hello there.", "Three"]
    assert [item["content"][0]["type"] for item in listed["data"]] == [
        "input_text",
        "output_text",
        "output_text",
        "input_text",
    ]
    for item in listed["data"]:
        check(item, ITEMS[item["type"]])
    ids = [item["id"] for item in listed["data"]]
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == (ids[0], ids[-1], False)
    page = httpx.get(url, params={"limit": 2}).json()
    assert [item["id"] for item in page["data"]] == [ids[3], ids[2]]
    assert page["has_more"] is True
    rest = httpx.get(url, params={"limit": 2, "after": page["last_id"]}).json()
    assert [item["id"] for item in rest["data"]] == [ids[1], ids[0]]
    for params, status in ({"after": "msg_none"}, 400), ({"limit": 0}, 400):
        assert httpx.get(url, params=params).status_code == status
    assert httpx.get(f"{live.url}/v1/responses/resp_none/input_items").status_code == 404


def test_an_item_is_referred_to_by_its_id(live: Live) -> None:
    live.engine.reply = CALL
    first = whole(live, "What weather?", tools=[WEATHER])
    (call,) = first["output"]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "wet"}
    live.engine.reply = "Rain."
    for reference in {"type": "item_reference", "id": call["id"]}, {"id": call["id"]}:
        whole(live, [{"role": "user", "content": "What weather?"}, reference, output], tools=[WEATHER])
        assert '{"name": "weather", "arguments": {"city": "Kyiv"}}' in prompt(live)
    missing = ask(live, [{"type": "item_reference", "id": "msg_none"}])
    assert (missing.status_code, missing.json()["error"]["param"]) == (404, "input[0].id")


def prompt(live: Live) -> str:
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


def test_a_response_is_cancelled(live: Live) -> None:
    live.engine.pause = 0.05
    asked = {"model": "tiny", "input": "Hi", "stream": True}
    with httpx.stream("POST", f"{live.url}/v1/responses", json=asked, timeout=30) as reply:
        data = (json.loads(line.removeprefix("data: ")) for line in reply.iter_lines() if line.startswith("data: "))
        id = next(data)["response"]["id"]
        cancelled = httpx.post(f"{live.url}/v1/responses/{id}/cancel").json()
        assert cancelled["status"] == "cancelled"
        last = list(data)[-1]
    assert (last["type"], last["response"]["status"]) == ("response.incomplete", "cancelled")
    again = httpx.post(f"{live.url}/v1/responses/{id}/cancel").json()
    assert (again["id"], again["status"]) == (id, "cancelled")
    assert httpx.post(f"{live.url}/v1/responses/resp_none/cancel").status_code == 404


def test_a_stored_response_is_not_streamed(live: Live) -> None:
    id = whole(live)["id"]
    assert httpx.get(f"{live.url}/v1/responses/{id}", params={"stream": "false"}).status_code == 200
    refused = httpx.get(f"{live.url}/v1/responses/{id}", params={"stream": "true"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "stream")


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,x"}


@pytest.mark.parametrize(
    ("items", "place"),
    [
        ([{"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "input_text"}]}], "input[1].content[0].text"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": 5}]}],
         "input[0].content[1].image_url"),
        ([{"role": "user", "content": [IMAGE]}], "input[0].content[0].image_url"),
        ([{"role": "user", "content": [{"type": "input_image", "file_id": "x"}]}], "input[0].content[0].file_id"),
        ([{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}], "input[0].content[0].type"),
        ([{"role": "robot", "content": "a"}], "input[0].role"),
        ([{"role": "user", "content": "a"}, "b"], "input[1]"),
        ([{"role": "user", "content": 7}], "input[0].content"),
        ([{"type": "function_call", "call_id": "a", "arguments": "{}"}], "input[0].name"),
        ([{"type": "function_call_output", "call_id": "a", "output": "b"}], "input[0].call_id"),
    ],
)  # fmt: skip
def test_an_error_names_the_item_and_the_field(live: Live, items: list[Any], place: str) -> None:
    error = ask(live, items).json()["error"]
    assert error["param"] == place
    assert "valid string" not in error["message"]
    assert error["code"] == ("invalid_value" if place.endswith("image_url") else error["code"])


def test_items_of_other_servers_are_ignored(live: Live) -> None:
    question = {"role": "user", "content": "Hi", "phase": "final_answer", "invented": 1}
    others = [
        {"type": kind, "id": "x_1", "more": {"a": 1}} for kind in ("web_search_call", "local_shell_call", "mcp_call")
    ]
    reply = ask(live, [question, *others, {"type": "compaction", "encrypted_content": "of another"}])
    assert reply.status_code == 200, reply.text
    assert set(reply.headers["x-grus-ignored"].split(", ")) == {
        "input.web_search_call", "input.local_shell_call", "input.mcp_call", "input.compaction", "input.phase", "input.invented",
    }  # fmt: skip


def test_outputs_are_texts_or_parts(live: Live) -> None:
    live.engine.reply = CALL
    first = whole(live, tools=[WEATHER])
    parts = [{"type": "input_text", "text": "wet"}, {"type": "output_text", "text": "and cold", "annotations": []}]
    output = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": parts}
    whole(live, [output], previous_response_id=first["id"], tools=[WEATHER])
    assert "<tool_response>\nwet\nand cold\n</tool_response>" in prompt(live)
    refused = ask(live, [{**output, "output": [IMAGE]}], previous_response_id=first["id"], tools=[WEATHER])
    assert refused.json()["error"]["param"] == "input[0].output[0].image_url"


def test_a_prompt_that_is_too_long_fails_in_the_stream(live: Live) -> None:
    live.engine.refusal = ContextOverflow("Too long.", "prompt", tokens=9000, limit=4096)
    plain = ask(live)
    assert (plain.status_code, plain.json()["error"]["code"]) == (400, "context_length_exceeded")
    seen = events(live)
    check_events(seen)
    assert [event["type"] for event in seen] == ["response.created", "response.in_progress", "error", "response.failed"]
    error = seen[-1]["response"]["error"]
    assert error["code"] == seen[2]["code"] == seen[2]["error"]["code"] == "context_length_exceeded"
    assert error["message"].startswith("This model's maximum context length is 4096 tokens.")


def test_the_oldest_items_are_dropped_where_that_is_wanted(live: Live) -> None:
    items: list[dict[str, Any]] = [{"role": "developer", "content": "Rules."}]
    for number in range(12):
        items.append({"role": "user", "content": f"question {number} " + "x" * 500})
        items.append({"type": "function_call", "call_id": f"c{number}", "name": "weather", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"c{number}", "output": f"result {number}"})
    items.append({"role": "user", "content": "the last question"})
    refused = ask(live, items, tools=[WEATHER])
    assert refused.json()["error"]["code"] == "context_length_exceeded"
    made = whole(live, items, tools=[WEATHER], truncation="auto", instructions="Be kind.")
    assert made["usage"]["input_tokens"] < 4096
    text = prompt(live)
    assert every(said in text for said in ("Rules.", "Be kind.", "the last question", "result 11"))
    assert "question 0 " not in text
    assert text.count('"name": "weather", "arguments"') == text.count("<tool_response>")
    listed = httpx.get(f"{live.url}/v1/responses/{made['id']}/input_items", params={"limit": 100}).json()
    assert len(listed["data"]) == len(items)
    alone = ask(live, "y" * 9000, truncation="auto")
    assert alone.json()["error"]["code"] == "context_length_exceeded"


def test_the_tokens_of_a_prompt_are_counted(live: Live) -> None:
    asked = {"instructions": "Be kind.", "tools": [WEATHER], "reasoning": {"effort": "none"}}
    made = whole(live, **asked)
    live.engine.requests.clear()
    counted = httpx.post(f"{live.url}/v1/responses/input_tokens", json={"model": "tiny", "input": "Hi", **asked}).json()
    assert counted == {"object": "response.input_tokens", "input_tokens": made["usage"]["input_tokens"]}
    items = [{"role": "user", "content": "And?"}]
    more = {"model": "tiny", "input": items, "previous_response_id": made["id"]}
    assert httpx.post(f"{live.url}/v1/responses/input_tokens", json=more).json()["input_tokens"] > 40
    assert not live.engine.requests


@pytest.mark.filterwarnings("error::UserWarning")  # pydantic's, where an item is taken for another kind
def test_the_tokens_of_what_another_server_called_are_counted(live: Live) -> None:
    of_server = {"server_label": "weather", "id": "mcp_1"}
    items = [
        {"role": "user", "content": "How warm is it?"},
        {"type": "mcp_list_tools", **of_server, "tools": [{"name": "now", "input_schema": {"type": "object"}}]},
        {"type": "mcp_approval_request", **of_server, "name": "now", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcp_1", "approve": True},
        {"type": "mcp_call", **of_server, "name": "now", "arguments": "{}", "output": "12 degrees"},
        {"type": "web_search_call", "id": "ws_1"},
        {"role": "user", "content": "And tomorrow?"},
    ]
    made = whole(live, items)
    client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)
    counted = client.responses.input_tokens.count(model="tiny", input=items)  # type: ignore[arg-type]
    assert counted.input_tokens == made["usage"]["input_tokens"]
    assert httpx.post(f"{live.url}/v1/responses/compact", json={"model": "tiny", "input": items}).status_code == 200


def test_openais_client_reads_all_of_it(live: Live) -> None:
    client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)
    made = client.responses.create(model="tiny", input="Hi", prompt_cache_key="key", reasoning={"summary": "auto"})
    assert client.responses.retrieve(made.id).prompt_cache_key == "key"
    assert [item.type for item in client.responses.input_items.list(made.id)] == ["message"]
    assert client.responses.cancel(made.id).status == "completed"
    client.responses.delete(made.id)
