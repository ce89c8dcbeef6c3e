"""Ollama's routes over a socket, driven by Ollama's own client."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import ollama
import pytest

from engine.errors import EngineStopped
from tests.app.server.live import Live
from tests.app.server.scripted import schema_of, until
from tests.hub_server import FakeHub, hub_here

USER = [{"role": "user", "content": "Hi"}]
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


def weather(city: str) -> str:
    """Weather of a city."""
    return city


@pytest.fixture
def client(live: Live) -> ollama.Client:
    return ollama.Client(host=live.url)


def prompt(live: Live) -> str:
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


def test_a_chat_whole_and_streamed(client: ollama.Client, live: Live) -> None:
    reply = client.chat("tiny", USER, options={"num_predict": 50, "temperature": 0, "num_thread": 2})
    assert reply.message.content == "Hello there."
    assert (reply.done, reply.done_reason, reply.eval_count) == (True, "stop", 12)
    assert live.engine.requests[-1].sampling.max_tokens == 50
    pieces = list(client.chat("tiny:latest", USER, stream=True))
    assert "".join(piece.message.content or "" for piece in pieces) == "Hello there."
    assert [piece.done for piece in pieces] == [False] * 12 + [True]


def test_calls_and_thoughts(client: ollama.Client, live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\n{CALL}"
    reply = client.chat("tiny", USER, tools=[weather])
    assert reply.message.thinking == "hm"
    assert reply.message.tool_calls is not None
    assert reply.message.tool_calls[0].function.arguments == {"city": "Kyiv"}
    pieces = list(client.chat("tiny", USER, tools=[weather], stream=True))
    calls = [call for piece in pieces for call in piece.message.tool_calls or ()]
    assert [call.function.name for call in calls] == ["weather"]
    again = [*USER, reply.message, {"role": "tool", "tool_name": "weather", "content": "Rain"}]
    client.chat("tiny", again, tools=[weather])
    assert "<tool_response>\nRain\n</tool_response>" in prompt(live)


def test_generate(client: ollama.Client, live: Live) -> None:
    assert client.generate("tiny", "Hi", system="Be kind.").response == "Hello there."
    assert "Be kind." in prompt(live)
    assert "".join(piece.response for piece in client.generate("tiny", "Hi", stream=True)) == "Hello there."
    client.generate("tiny", "as it is", raw=True)
    assert prompt(live) == "as it is"


def test_thinking_and_formats(client: ollama.Client, live: Live) -> None:
    client.chat("tiny", USER, think=False)
    assert prompt(live).endswith("</think>\n\n")
    client.chat("tiny", USER, format={"type": "object"})
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}
    client.generate("tiny", "Hi", format="json")
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}


def test_logprobs(client: ollama.Client) -> None:
    reply = client.chat("tiny", USER, logprobs=True, top_logprobs=2, options={"num_predict": 1})
    assert reply.logprobs is not None
    assert [(one.token, len(one.top_logprobs or ())) for one in reply.logprobs] == [("H", 2)]
    pieces = client.generate("tiny", "x", logprobs=True, stream=True)
    assert sum(len(piece.logprobs or ()) for piece in pieces) == 12


def test_num_ctx_bounds_prompt_and_reply(client: ollama.Client, live: Live) -> None:
    client.chat("tiny", USER)
    length = len(live.engine.requests[-1].prompt_ids)
    assert client.chat("tiny", USER, options={"num_ctx": length + 3}).done_reason == "length"
    with pytest.raises(ollama.ResponseError, match="num_ctx"):
        client.chat("tiny", USER, options={"num_ctx": 3})


def test_loading_and_unloading_by_an_empty_prompt(client: ollama.Client) -> None:
    assert client.generate("tiny", "").done_reason == "load"
    assert [model.model for model in client.ps().models] == ["tiny:latest"]
    assert client.generate("tiny", "", keep_alive=0).done_reason == "unload"
    assert client.ps().models == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [(300, 300.0), ("5m", 300.0), ("1h30m", 5400.0), ("1.5s", 1.5), ("90", 90.0), (-1, None), ("-1", None),
     ("-1m", None), (1e300, None), ("300ms", 0.3)],
)  # fmt: skip
def test_how_long_a_model_is_kept(client: ollama.Client, live: Live, said: float | str, meant: float | None) -> None:
    client.chat("tiny", USER, keep_alive=said)
    assert live.engine.kept == {"tiny": meant}
    live.engine.kept.clear()
    client.generate("tiny", "", keep_alive=said)
    assert live.engine.kept == {"tiny": meant}
    list(client.generate("tiny", "Hi", stream=True))
    assert live.engine.kept == {"tiny": meant}  # as it was told last


def test_when_a_model_goes(client: ollama.Client) -> None:
    client.generate("tiny", "", keep_alive=-1)
    assert (expires := client.ps().models[0].expires_at) is not None
    assert expires.year == 9999
    client.generate("tiny", "", keep_alive="1h")
    assert (expires := client.ps().models[0].expires_at) is not None
    assert timedelta(minutes=59) < expires - datetime.now(UTC) <= timedelta(hours=1)


@pytest.mark.parametrize(("path", "text"), [("/api/embed", "input"), ("/api/embeddings", "prompt")])
def test_how_long_a_model_of_vectors_is_kept(live: Live, path: str, text: str) -> None:
    assert httpx.post(live.url + path, json={"model": "tiny", text: "Hi", "keep_alive": "2m"}).status_code == 200
    assert live.engine.kept == {"tiny": 120.0}


@pytest.mark.parametrize(
    ("path", "more"),
    [("/api/chat", {}), ("/api/generate", {}), ("/api/embed", {"input": "x"}), ("/api/embeddings", {"prompt": "x"})],
)
@pytest.mark.parametrize("said", ["", "soon", "5 m", "m", "1h-5m", "५m"])
def test_what_is_no_duration(live: Live, path: str, more: dict[str, str], said: str) -> None:
    reply = httpx.post(live.url + path, json={"model": "tiny", "keep_alive": said} | more)
    assert reply.status_code == 400
    assert "no duration" in reply.json()["error"]


def test_lists_and_descriptions(client: ollama.Client, live: Live) -> None:
    client.generate("tiny", "")  # loads it, should this be the first test of its process
    assert [model.model for model in client.list().models] == ["tiny:latest"]
    shown = client.show("tiny")
    assert shown.capabilities == ["completion", "tools", "thinking"]
    assert shown.modelinfo is not None
    assert shown.modelinfo["qwen3.context_length"] == live.service.loaded["tiny"].context
    assert httpx.get(f"{live.url}/api/version").json()["version"]
    assert httpx.head(live.url).status_code == 200


def test_errors_have_ollamas_shape(client: ollama.Client) -> None:
    with pytest.raises(ollama.ResponseError) as missing:
        client.chat("nothing", USER)
    assert missing.value.status_code == 404
    assert "model 'nothing' not found" in missing.value.error
    with pytest.raises(ollama.ResponseError, match="reads text only"):
        client.chat("tiny", [{"role": "user", "content": "x", "images": [b"x"]}])


@pytest.fixture
def hub(live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    live.service.catalogue.cache_dir = str(tmp_path / "cache")
    with hub_here(monkeypatch) as hub:
        hub.repos["owner/name"] = {"config.json": b"{}", "model.safetensors": bytes(3_000_000)}
        yield hub


def test_a_pull_tells_how_far_it_is(client: ollama.Client, hub: FakeHub) -> None:
    seen = list(client.pull("hf.co/owner/name", stream=True))
    assert [seen[0].status, seen[1].status, seen[-1].status] == ["pulling manifest", "pulling owner/name", "success"]
    assert (seen[-2].completed, seen[-2].total) == (3_000_002, 3_000_002)
    assert client.pull("owner/name").status == "success"


def test_a_pull_that_fails_says_why(client: ollama.Client, hub: FakeHub) -> None:
    hub.gated["owner/name"] = set()
    with pytest.raises(ollama.ResponseError, match="owner/name is gated"):
        list(client.pull("owner/name", stream=True))
    with pytest.raises(ollama.ResponseError, match="owner/name is gated"):
        client.pull("owner/name")
    with pytest.raises(ollama.ResponseError, match="owner/name"):
        client.pull("../../etc")


def test_a_reply_whose_model_cannot_be_kept_does_not_go_on_for_nobody(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(name: str, seconds: float | None) -> None:
        raise EngineStopped("The engine has been stopped.")

    monkeypatch.setattr(live.engine, "keep", keep)
    live.engine.reply, live.engine.pause = "x" * 200, 0.02
    body = {"model": "tiny", "messages": USER, "keep_alive": "5m"}
    assert httpx.post(live.url + "/api/chat", json=body).status_code == 503
    assert live.requests.running == []
    until(lambda: len(live.engine.cancelled) == 1)
