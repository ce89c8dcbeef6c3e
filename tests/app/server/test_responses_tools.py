"""Tools of `/v1/responses`: which run, which are ignored, and custom tools whose input is held to a grammar."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.server.live import Live, scripted
from tests.app.server.test_responses_resource import ask, check_events, check_resource, events, prompt, whole
from tests.asserting import every

WEATHER = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
CLOCK = {"type": "function", "name": "clock"}
PATCH = {"type": "custom", "name": "patch", "description": "Change a file."}
LARK = {"type": "grammar", "syntax": "lark", "definition": 'start: "add " /[a-z]+/ "\\n"'}
HOSTED = [
    {"type": "web_search", "external_web_access": False},
    {"type": "namespace", "name": "agents", "tools": [WEATHER]},
    *({"type": kind} for kind in ("local_shell", "code_interpreter", "image_generation", "computer_use_preview", "tool_search")),
    {"type": "mcp", "server_label": "x"},
]  # fmt: skip


def call(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("strict"), strict=True) as live:
        yield live


def test_tools_that_cannot_run_are_ignored_and_reported(live: Live, strict: Live) -> None:
    reply = ask(live, tools=[WEATHER, *HOSTED])
    assert reply.headers["x-grus-ignored"] == ", ".join(f"tools.{tool['type']}" for tool in HOSTED)
    assert [tool["name"] for tool in reply.json()["tools"]] == ["weather"]
    assert "agents" not in prompt(live)
    refused = ask(strict, tools=[WEATHER, HOSTED[0]])
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "tools[1].type")


@pytest.mark.parametrize("choice", [{"type": "web_search"}, {"type": "mcp", "server_label": "x"}])
def test_a_choice_that_demands_one_of_them_is_refused(live: Live, choice: dict[str, str]) -> None:
    error = ask(live, tools=[WEATHER, *HOSTED], tool_choice=choice).json()["error"]
    assert (error["param"], error["code"]) == ("tool_choice", "unsupported_parameter")
    assert choice["type"] in error["message"]


def test_hints_and_unknown_entries_are_ignored(live: Live, strict: Live) -> None:
    hints = {
        "include": ["reasoning.encrypted_content", "invented"],
        "text": {"verbosity": "low"},
    }
    reply = ask(live, client_metadata={"a": "b"}, stream_options={"include_obfuscation": True}, **hints)
    reported = set(reply.headers["x-grus-ignored"].split(", "))
    assert reported == {
        "include.reasoning.encrypted_content", "include.invented", "text.verbosity", "client_metadata",
        "stream_options.include_obfuscation",
    }  # fmt: skip
    assert reply.json()["text"]["verbosity"] == "low"
    for name, value in hints.items():
        assert ask(strict, **{name: value}).status_code == 400, name


def test_an_effort_is_ignored_by_a_model_that_does_not_reason(tmp_path: Path) -> None:
    with scripted(tmp_path, "qwen3_vl") as plain:
        reply = ask(plain, reasoning={"effort": "high", "summary": "auto"})
        assert reply.headers["x-grus-ignored"] == "reasoning.effort"
        assert [item["type"] for item in reply.json()["output"]] == ["message"]
        held = {**PATCH, "format": LARK}
        assert ask(plain, tools=[held]).headers["x-grus-ignored"] == "tools, tools.format"


def test_tools_that_no_template_shows_are_named(tmp_path: Path) -> None:
    """As ignored, or refused where nothing may be."""
    with scripted(tmp_path / "lenient", "qwen3_vl") as plain:
        assert ask(plain, tools=[PATCH]).headers["x-grus-ignored"] == "tools"
        assert "x-grus-ignored" not in ask(plain, tools=[PATCH], tool_choice="none").headers
    with scripted(tmp_path / "strict", "qwen3_vl", strict=True) as strict:
        reply = ask(strict, tools=[PATCH])
        assert reply.status_code == 400
        assert "shows it no functions" in reply.json()["error"]["message"]


def test_any_number_of_tools(live: Live) -> None:
    many = [{"type": "function", "name": f"tool_{at}"} for at in range(200)]
    assert len(whole(live, tools=many, tool_choice="none")["tools"]) == 200


def test_allowed_tools_are_those_that_are_offered(live: Live) -> None:
    choice: dict[str, Any] = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "clock"}]}
    made = whole(live, tools=[WEATHER, CLOCK], tool_choice=choice)
    assert made["tool_choice"] == choice
    assert '"clock"' in prompt(live)
    assert '"weather"' not in prompt(live)
    live.engine.reply = call("clock", {})
    made = whole(live, tools=[WEATHER, CLOCK], tool_choice={**choice, "mode": "required"})
    assert made["output"][0]["name"] == "clock"
    unknown = {**choice, "tools": [{"type": "function", "name": "none"}]}
    assert ask(live, tools=[CLOCK], tool_choice=unknown).json()["error"]["param"] == "tool_choice.tools[0].name"


def test_at_most_so_many_calls(live: Live) -> None:
    live.engine.reply = "\n".join(call("weather", {"at": at}) for at in range(4))
    for most, calls in (1, 1), (3, 3), (9, 4):
        made = whole(live, tools=[WEATHER], max_tool_calls=most)
        assert [json.loads(item["arguments"])["at"] for item in made["output"]] == list(range(calls))
    seen = events(live, tools=[WEATHER], max_tool_calls=2)
    check_events(seen)
    assert len(seen[-1]["response"]["output"]) == 2


def test_a_custom_tool_takes_a_text(live: Live) -> None:
    text = 'line "one"\n\\two\t\u00e9\U0001f600'
    live.engine.reply = call("patch", {"input": text})
    seen = events(live, tools=[PATCH, WEATHER])
    check_events(seen)
    deltas = [event["delta"] for event in seen if event["type"] == "response.custom_tool_call_input.delta"]
    assert len(deltas) > 3
    (done,) = [event for event in seen if event["type"] == "response.custom_tool_call_input.done"]
    made = seen[-1]["response"]
    (item,) = made["output"]
    assert "".join(deltas) == done["input"] == item["input"] == text
    assert (item["type"], item["name"], item["id"][:4]) == ("custom_tool_call", "patch", "ctc_")
    assert made["tools"][0] == {**PATCH, "format": {"type": "text"}}
    output = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "Applied."}
    live.engine.reply = "Done."
    asked = [{"role": "user", "content": "Hi"}, item, output]
    check_resource(whole(live, asked, tools=[PATCH]))
    assert "<tool_response>\nApplied.\n</tool_response>" in prompt(live)
    assert json.dumps({"input": text}, ensure_ascii=False) in prompt(live)


@pytest.mark.parametrize("arguments", [{"patch": "x"}, {"input": 5}, {}])
def test_a_model_that_writes_other_arguments_loses_nothing(live: Live, arguments: dict[str, Any]) -> None:
    live.engine.reply = call("patch", arguments)
    seen = events(live, tools=[PATCH])
    (item,) = seen[-1]["response"]["output"]
    deltas = [event["delta"] for event in seen if event["type"] == "response.custom_tool_call_input.delta"]
    assert json.loads(item["input"]) == arguments
    assert "".join(deltas) == item["input"]


def test_a_grammar_holds_the_input(live: Live) -> None:
    tool = {**PATCH, "format": LARK}
    live.engine.reply = call("patch", {"input": "add x\n"})
    made = whole(live, tools=[tool, WEATHER], tool_choice={"type": "custom", "name": "patch"})
    assert made["tools"][0]["format"] == LARK
    assert made["output"][0]["input"] == "add x\n"
    grammar = live.engine.requests[-1].sampling.grammar
    assert grammar.kind == "ebnf"
    assert every(said in grammar.text for said in ('"patch', "add ", "[a-z]+"))
    assert "weather" not in grammar.text
    live.engine.reply = call("patch", {"input": "add y\n"})
    assert whole(live, tools=[tool, WEATHER])["output"][0]["input"] == "add y\n"
    assert "<tool_call>" in live.engine.requests[-1].sampling.grammar.text
    assert "Lark grammar" in prompt(live)


@pytest.mark.parametrize(
    "form",
    [
        {"type": "grammar", "syntax": "peg", "definition": "x"},
        {"type": "grammar", "syntax": "lark"},
        {"type": "grammar", "syntax": "lark", "definition": "start: %json {}"},
        {"type": "grammar", "syntax": "regex", "definition": "[z-a]"},
    ],
)
def test_a_grammar_that_is_none_is_refused(live: Live, form: dict[str, str]) -> None:
    error = ask(live, tools=[{**PATCH, "format": form}], tool_choice="required").json()["error"]
    assert (error["type"], error["param"].split(".")[0].split("[")[0]) == ("invalid_request_error", "tools")
