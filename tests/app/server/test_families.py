"""Each family of models through OpenAI's client on a socket: reasoning, words and calls in, results back. A token is a byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from app.runtime.catalogue import Catalogue
from engine.text.families import tags_for
from engine.text.template import ChatTemplate
from tests.app.server.live import Live, serving
from tests.app.server.scripted import ScriptedEngine, scripted_model
from tests.asserting import every
from tests.engine.text.test_families import CALLS, FAMILIES, MESSAGES, SINGLE, TOOLS, without_end, written

ASKED = {"role": "user", "content": "How is it?"}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("families")
    base = scripted_model(folder / "base", "qwen3")

    def load(source: str) -> Any:
        kind, template, _ = FAMILIES[source.rpartition("/")[2]]
        made = ChatTemplate({"default": template}, {"bos_token": "", "eos_token": "</s>"})
        return type(base)(**{**vars(base), "config": base.config | {"model_type": kind}, "template": made})

    for name in FAMILIES:
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps({"model_type": FAMILIES[name][0]}))
    catalogue = Catalogue({name: str(folder / name) for name in FAMILIES}, use_cache=False)
    with serving(ScriptedEngine, load, catalogue, voices_dir=str(folder / "voices")) as live:
        yield live


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=live.url + "/v1", api_key="none", max_retries=0) as client:
        yield client


def reply_of(name: str) -> str:
    """A thought, and the calls as the family's template writes them."""
    calls = without_end(written(name, CALLS[:1] if name in SINGLE else CALLS))
    tags = tags_for(*FAMILIES[name][:2])
    if name == "gpt-oss":
        return f"{tags.open}I look.{tags.close}{calls}<|call|>"  # type: ignore[union-attr]
    if name in MESSAGES:
        return f"{tags.open}I look.{tags.close}{calls}<|eot|>"  # type: ignore[union-attr]
    return calls if tags is None else f"{tags.open}\nI look.\n{tags.close}\n{calls}"


def prompt(live: Live, name: str) -> str:
    tokenizer = live.service.loaded[name].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_round_trip(live: Live, client: openai.OpenAI, name: str) -> None:
    live.engine.reply = reply_of(name)
    opened = (tags := tags_for(*FAMILIES[name][:2])) is not None
    if opened and tags is not None:  # templates that open the thought themselves
        client.chat.completions.create(model=name, messages=[ASKED], tools=TOOLS)  # type: ignore[list-item, call-overload]
        if tags.opened_in(prompt(live, name)):
            live.engine.reply = live.engine.reply.removeprefix(tags.open)
    wanted = [call["function"]["arguments"] for call in (CALLS[:1] if name in SINGLE else CALLS)]
    said: Any = client.chat.completions.create(model=name, messages=[ASKED], tools=TOOLS)  # type: ignore[list-item, call-overload]
    message = said.choices[0].message
    assert "It is so." in prompt(live, name)  # the functions are shown
    assert said.choices[0].finish_reason == "tool_calls"
    assert [json.loads(call.function.arguments) for call in message.tool_calls] == wanted
    assert {call.function.name for call in message.tool_calls} == {"weather"}
    assert (message.content or "").strip() == ""
    assert getattr(message, "reasoning_content", None) == ("I look." if opened else None)

    arguments: dict[int, str] = {}
    stream: Any = client.chat.completions.create(model=name, messages=[ASKED], tools=TOOLS, stream=True)  # type: ignore[list-item, call-overload]
    for chunk in stream:
        for call in chunk.choices[0].delta.tool_calls or []:
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    assert [json.loads(text) for text in arguments.values()] == wanted

    results = [
        {"role": "tool", "tool_call_id": call.id, "content": f"found {at}"}
        for at, call in enumerate(message.tool_calls)
    ]
    live.engine.reply = "It is fine."
    turns = [ASKED, message.model_dump(exclude_none=True), *results]
    client.chat.completions.create(model=name, messages=turns, tools=TOOLS)  # type: ignore[arg-type]
    shown = prompt(live, name)
    assert shown.index("Zürich") < shown.index("found 0")
    assert every(shown.count(result["content"]) == 1 for result in results)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_thought_is_bounded_and_can_be_left_out(live: Live, client: openai.OpenAI, name: str) -> None:
    tags = tags_for(*FAMILIES[name][:2])
    live.engine.reply = "It is fine."
    client.chat.completions.create(model=name, messages=[ASKED], extra_body={"thinking_token_budget": 20})  # type: ignore[list-item]
    limit = live.engine.requests[-1].sampling.reasoning
    assert (limit is None) == (tags is None)
    if limit is not None and tags is not None:
        assert limit.tokens == 20
        closing = live.service.loaded[name].tokenizer.decode(limit.closing, skip_special=False)
        assert closing.startswith("\n\nConsidering the limited time")
        assert tags.close in closing
        assert limit.started == tags.opened_in(prompt(live, name))
    client.chat.completions.create(model=name, messages=[ASKED], reasoning_effort="none")  # type: ignore[list-item]
    off = live.engine.requests[-1].sampling.reasoning
    assert not (tags is not None and tags.opened_in(prompt(live, name))) or off.tokens == 0


@pytest.mark.parametrize(
    ("name", "effort", "written"),
    [
        ("gpt-oss", "minimal", "Reasoning: low"),
        ("gpt-oss", "low", "Reasoning: low"),
        ("gpt-oss", "medium", "Reasoning: medium"),
        ("gpt-oss", "xhigh", "Reasoning: high"),
        ("seed-oss", "low", "your thinking budget"),
        ("seed-oss", "none", "your thinking budget is 0"),
        ("deepseek-v3.1", "high", "<｜Assistant｜><think>"),
        ("deepseek-v3.1", "none", "<think></think>"),
        ("glm47-flash", "none", "</think>"),
        ("gemma4", "high", "<|think|>"),
        ("deepseek-v4", "max", "Reasoning Effort: Absolute maximum"),
    ],
)
def test_an_effort_in_the_words_of_the_template(
    live: Live, client: openai.OpenAI, name: str, effort: Any, written: str
) -> None:
    live.engine.reply = "It is fine."
    client.chat.completions.create(model=name, messages=[ASKED], reasoning_effort=effort)  # type: ignore[list-item]
    if name == "seed-oss" and effort == "low":
        assert "strictly follow the thinking budget, which is 2048" in prompt(live, name)
    else:
        assert written in prompt(live, name)


@pytest.mark.parametrize(
    ("more", "tokens"),
    [
        ({"thinking_token_budget": 7}, 7),
        ({"thinking_budget_tokens": 7}, 7),
        ({"reasoning_budget_tokens": 7}, 7),
        ({"thinking_budget": 7}, 7),
        ({"reasoning": {"max_tokens": 7}}, 7),
        ({"thinking": {"type": "enabled", "budget_tokens": 7}}, 7),
        ({"custom_params": {"thinking_budget": 7}}, 7),
        ({"thinking_token_budget": -1}, None),
        ({"reasoning": {"effort": "none"}}, None),
        ({"thinking": {"type": "disabled"}}, None),
        ({"enable_thinking": False}, None),
        ({"thinking_token_budget": 7, "thinking_budget": 7}, 7),
    ],
    ids=str,
)
def test_each_name_of_the_budget(live: Live, client: openai.OpenAI, more: dict[str, Any], tokens: int | None) -> None:
    live.engine.reply = "It is fine."
    raw = client.chat.completions.with_raw_response.create(model="qwen3", messages=[ASKED], extra_body=more)  # type: ignore[list-item]
    assert "x-grus-ignored" not in raw.headers
    limit = live.engine.requests[-1].sampling.reasoning
    assert (limit.tokens if limit else None) == tokens
    off = more.get("enable_thinking") is False or "disabled" in str(more) or "none" in str(more)
    assert prompt(live, "qwen3").endswith("</think>\n\n") == off


def test_budgets_that_differ_are_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="say different things"):
        client.chat.completions.create(  # type: ignore[call-overload]
            model="qwen3", messages=[ASKED], extra_body={"thinking_budget": 7, "thinking_token_budget": 8}
        )


@pytest.mark.parametrize("name", [name for name in MESSAGES if name in FAMILIES])
def test_an_answer_in_json_comes_after_the_notes(live: Live, client: openai.OpenAI, name: str) -> None:
    tags: Any = tags_for(*FAMILIES[name][:2])
    live.engine.reply = f'{tags.open}hm{tags.close}{tags.answers}{{"a": 1}}'
    said = client.chat.completions.create(model=name, messages=[ASKED], response_format={"type": "json_object"})  # type: ignore[list-item]
    assert said.choices[0].message.content == '{"a": 1}'
    grammar = live.engine.requests[-1].sampling.grammar
    assert grammar.kind == "ebnf"
    assert live.engine.requests[-1].sampling.grammar_after is None
    from tests.engine.text.test_call_grammars import takes

    assert takes(grammar, live.engine.reply)
    assert not takes(grammar, f"{tags.open}hm{tags.close}{tags.answers}Hello")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [ASKED], "thinking_token_budget": 9}),
        ("/v1/responses", {"input": "Hi", "thinking_token_budget": 9}),
        ("/v1/responses", {"input": "Hi", "reasoning": {"max_tokens": 9}}),
        ("/v1/messages", {"messages": [ASKED], "max_tokens": 400, "thinking": {"type": "enabled", "budget_tokens": 9}}),
        ("/api/chat", {"messages": [ASKED], "thinking_token_budget": 9}),
        ("/api/generate", {"prompt": "Hi", "think": "low", "thinking_token_budget": 9}),
        (
            "/generate",
            {"text": "Hi", "sampling_params": {"max_new_tokens": 400, "custom_params": {"thinking_budget": 9}}},
        ),
    ],
)
def test_a_budget_over_every_protocol(live: Live, path: str, body: dict[str, Any]) -> None:
    live.engine.reply = "<think>" + "abc" * 100 + "</think>\n\nDone."
    reply = httpx.post(live.url + path, json={"model": "qwen3", "stream": False} | body, timeout=30)
    assert reply.status_code == 200, reply.text
    assert "x-grus-ignored" not in reply.headers
    assert live.engine.requests[-1].sampling.reasoning.tokens == 9
    assert "abcabcabc" in reply.text
    assert "abcabcabca" not in reply.text
    assert "Considering the limited time" in reply.text
    assert "Done." in reply.text


def test_other_parameters_of_a_logit_processor_are_named(live: Live) -> None:
    params = {"custom_params": {"thinking_budget": True}}
    reply = httpx.post(
        f"{live.url}/generate", json={"model": "qwen3", "text": "Hi", "sampling_params": params}, timeout=30
    )
    assert reply.headers["x-grus-ignored"] == "sampling_params.custom_params"
    params = {"custom_params": {"thinking_budget": 9}}
    plain = {"model": "llama3", "text": "Hi", "sampling_params": params}
    assert httpx.post(f"{live.url}/generate", json=plain, timeout=30).status_code == 200
    assert live.engine.requests[-1].sampling.reasoning is None
