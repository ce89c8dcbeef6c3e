"""The helpers of Anthropic's own client, its list of models, other names of models, and the errors that it tells apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import pytest
from anthropic import beta_tool
from pydantic import BaseModel

from app.runtime.catalogue import Catalogue
from app.server.config import catalogue, gather
from engine.errors import BadRequest, ModelNotFound
from tests.app.server.live import Live, scripted, serving
from tests.app.server.scripted import ScriptedEngine, scripted_model

HI: Any = [{"role": "user", "content": "Hi"}]


class City(BaseModel):
    name: str


@pytest.fixture
def client(live: Live) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=live.url, api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("locked"), api_keys=("secret",), max_body=1 << 20) as live:
        yield live


# -- helpers


def test_text_as_it_comes(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model="tiny", max_tokens=50, messages=HI) as stream:
        assert "".join(stream.text_stream) == "Hello there."
        assert stream.get_final_text() == "Hello there."


def test_the_tool_runner_ends(client: anthropic.Anthropic, live: Live) -> None:
    cities = []

    @beta_tool
    def weather(city: str) -> str:
        """Weather of a city."""
        cities.append(city)
        return "Rain"

    def script(request: Any) -> str:
        call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
        return "It rains." if cities else call

    live.engine.script = script
    runner = client.beta.messages.tool_runner(model="tiny", max_tokens=200, tools=[weather], messages=HI)
    assert [block.text for block in runner.until_done().content if block.type == "text"] == ["It rains."]
    assert cities == ["Kyiv"]


def test_a_thread_sends_its_conversation_again(client: anthropic.Anthropic, live: Live) -> None:
    thread = client.beta.messages.thread(model="tiny", max_tokens=50)
    for text in ("One", "Two"):
        thread.send({"role": "user", "content": text})
    ids = live.engine.requests[-1].prompt_ids
    prompt = live.service.loaded["tiny"].tokenizer.decode(ids, skip_special=False)
    assert "user\nOne<|im_end|>\n<|im_start|>assistant\nHello there.<|im_end|>\n<|im_start|>user\nTwo" in prompt


def test_structured_output(client: anthropic.Anthropic, live: Live) -> None:
    live.engine.reply = '{"name": "Kyiv"}'
    asked: Any = {"model": "tiny", "max_tokens": 50, "messages": HI, "output_format": City}
    assert client.messages.parse(**asked).parsed_output == City(name="Kyiv")
    assert client.beta.messages.parse(**asked).parsed_output == City(name="Kyiv")
    with client.messages.stream(**asked) as stream:
        assert stream.get_final_message().parsed_output == City(name="Kyiv")
    assert [request.sampling.grammar is not None for request in live.engine.requests] == [True] * 3


# -- models


def test_the_models_in_pages(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    for name in names:
        scripted_model(tmp_path / name)
    models = Catalogue({name: str(tmp_path / name) for name in names}, use_cache=False)
    with serving(ScriptedEngine, lambda source: scripted_model(Path(source)), models) as live:
        client = anthropic.Anthropic(base_url=live.url, api_key="none")
        page = client.models.list(limit=2)
        assert [(model.id, model.display_name, model.type) for model in page.data] == [
            ("a",) * 2 + ("model",),
            ("b",) * 2 + ("model",),
        ]
        assert (page.has_more, page.first_id, page.last_id) == (True, "a", "b")
        assert [model.id for model in page] == names  # it fetches the next page
        before = client.models.list(limit=1, before_id="c")
        assert [model.id for model in before.data] == ["b"]
        assert before.has_more
        assert client.models.retrieve("b").max_input_tokens is None
        client.messages.create(model="b", max_tokens=5, messages=HI)
        assert client.models.retrieve("b").max_input_tokens == 4096
        with pytest.raises(anthropic.NotFoundError) as missing:
            client.models.retrieve("nothing")
        body: Any = missing.value.body
        assert body["error"]["type"] == "not_found_error"
        others = httpx.get(f"{live.url}/v1/models?limit=1").json()
        assert (others["object"], len(others["data"])) == ("list", 3)


# -- other names of models


@pytest.mark.parametrize("name", ["claude-opus-5-5", "claude-3-5-haiku-20241022", "anthropic/claude-sonnet-4.5"])
def test_names_of_claude_models_are_the_default_model(client: anthropic.Anthropic, name: str) -> None:
    assert client.messages.create(model=name, max_tokens=5, messages=HI).model == "tiny"
    assert client.models.retrieve(name).id == "tiny"


def test_other_names_are_not_found(live: Live) -> None:
    for name in ("gpt-4o", "claude", "my-claude-3", "anthropic/other"):
        reply = httpx.post(f"{live.url}/v1/chat/completions", json={"model": name, "messages": HI})
        assert reply.status_code == 404, name


def served(tmp_path: Path, *aliases: str, **more: Any) -> Catalogue:
    for name in ("first", "second"):
        scripted_model(tmp_path / name)
    models = [f"{name}={tmp_path / name}" for name in ("first", "second")]
    return catalogue(gather({"model": models, "alias": list(aliases), **more}, {}, None))


def test_an_alias_works_in_every_protocol(tmp_path: Path) -> None:
    models = served(tmp_path, "claude-haiku-*=second", "gpt-*=second", "a.b=first")
    with serving(ScriptedEngine, lambda source: scripted_model(Path(source)), models) as live:
        chat = {"messages": HI, "stream": False, "max_tokens": 5}
        for path in ("/v1/chat/completions", "/v1/messages", "/api/chat"):
            reply = httpx.post(live.url + path, json={"model": "gpt-4o", **chat})
            named = "gpt-4o" if path == "/api/chat" else "second"  # Ollama repeats the name that it was asked for
            assert reply.json()["model"] == named, path
            assert live.engine.requests[-1].model == "second", path
    assert models.look_up("claude-haiku-4-5").name == "second"
    assert models.look_up("claude-opus-5-5").name == "first"
    assert models.look_up("a.b").name == "first"
    for name in ("axb", "xa.b"):
        with pytest.raises(ModelNotFound):
            models.look_up(name)


def test_a_models_own_name_comes_before_an_alias(tmp_path: Path) -> None:
    assert served(tmp_path, "*=second").look_up("first").name == "first"
    assert served(tmp_path, "*=second").look_up("anything at all").name == "second"


@pytest.mark.parametrize("alias", ["first", "=first", "x=", "x=third"])
def test_an_alias_of_nothing_is_refused(tmp_path: Path, alias: str) -> None:
    with pytest.raises(BadRequest, match="alias"):
        served(tmp_path, alias)


def test_aliases_from_the_environment(tmp_path: Path) -> None:
    options = gather({}, {"GRUS_ALIAS": "gpt-*=qwen, o3=qwen"}, None)
    assert options["alias"] == ["gpt-*=qwen", "o3=qwen"]


def test_without_a_first_model_the_only_one_is_the_default(tmp_path: Path) -> None:
    scripted_model(tmp_path / "one")
    assert Catalogue(folder=tmp_path, use_cache=False).look_up("claude-x").name == "one"
    scripted_model(tmp_path / "two")
    with pytest.raises(ModelNotFound):
        Catalogue(folder=tmp_path, use_cache=False).look_up("claude-x")


# -- errors


def test_errors_before_a_handler_have_the_shape_too(locked: Live) -> None:
    def ask(key: str, text: str = "Hi") -> anthropic.Message:
        client = anthropic.Anthropic(base_url=locked.url, api_key=key, max_retries=0)
        return client.messages.create(model="tiny", max_tokens=5, messages=[{"role": "user", "content": text}])

    assert ask("secret").stop_reason == "max_tokens"
    for error, kind, arguments in (
        (anthropic.AuthenticationError, "authentication_error", ("wrong",)),
        (anthropic.APIStatusError, "request_too_large", ("secret", "x" * (1 << 20))),
    ):
        with pytest.raises(error) as raised:
            ask(*arguments)
        body: Any = raised.value.body
        assert (body["type"], body["error"]["type"]) == ("error", kind)
        assert body["request_id"] == raised.value.request_id
    # Claude Code would ask ten more times
    assert httpx.get(f"{locked.url}/v1/models").headers["x-should-retry"] == "false"
    header = {"authorization": "Bearer secret"}
    assert httpx.get(f"{locked.url}/v1/skills", headers=header).json().keys() == {"error"}
    missing = httpx.get(f"{locked.url}/v1/skills", headers=header | {"anthropic-version": "2023-06-01"})
    assert missing.json()["error"]["type"] == "not_found_error"
