"""Models of servers elsewhere over HTTP: one endpoint passes requests on in every protocol."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from app.runtime.catalogue import Catalogue
from app.runtime.remote import servers
from app.runtime.remote.client import RemoteClient
from app.runtime.remote.servers import RemoteServer, RemoteServers, check_url, keep_server
from app.server.config import OPTIONS, catalogue
from engine.errors import ModelNotFound
from engine.media.sound import written
from tests.app import remote_recordings as recorded
from tests.app.remote_peer import Peer, listening, words
from tests.app.server.live import Live, serving
from tests.app.server.scripted import ScriptedEngine, scripted_model
from tests.asserting import every

NAME = "peer::tiny"
HI = [{"role": "user", "content": "Hi"}]


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("elsewhere")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "servers_file", lambda: folder / "config" / "remote-servers.json")
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        yield folder


@pytest.fixture
def peer(own_folder: Path) -> Iterator[Peer]:
    models = [{"id": name, "owned_by": "grus", "kind": kind} for name, kind in
              [("tiny", "text"), ("ears", "transcription"), ("mouth", "speech")]]  # fmt: skip
    with listening(models=models, stream=words("Hello", " there."), key="sesame") as peer:
        server = RemoteServer("peer", check_url(peer.url), silence=2.0)
        keep_server(RemoteClient(server, key="sesame").probe().server, "sesame")
        yield peer


@pytest.fixture(scope="module")
def live(own_folder: Path) -> Iterator[Live]:
    model = scripted_model(own_folder / "here")
    models = Catalogue({"here": str(own_folder / "here")}, use_cache=False, remotes=RemoteServers(["peer"]))
    voices = str(own_folder / "voices")
    with serving(ScriptedEngine, lambda source: model, models, heartbeat_seconds=0.2, voices_dir=voices) as live:
        yield live


def post(live: Live, path: str, body: Any = None, **more: Any) -> httpx.Response:
    return httpx.post(live.url + path, json=body, timeout=60, **more)


def streamed(live: Live, path: str, body: Any) -> list[dict[str, Any]]:
    with httpx.stream("POST", live.url + path, json=body, timeout=60) as response:
        lines = [line.removeprefix("data: ") for line in response.iter_lines() if line.startswith(("data: ", "{"))]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_openai_s_chat(live: Live, peer: Peer) -> None:
    reply = post(live, "/v1/chat/completions", {"model": NAME, "messages": HI, "max_tokens": 9}).json()
    assert reply["choices"][0]["message"]["content"] == "Hello there."
    assert reply["model"] == NAME
    assert (peer.last["model"], peer.last["max_tokens"]) == ("tiny", 9)
    events = streamed(live, "/v1/chat/completions", {"model": NAME, "messages": HI, "stream": True})
    assert "".join(event["choices"][0]["delta"].get("content") or "" for event in events) == "Hello there."
    assert live.engine.requests == []


def test_tools_and_reasoning_in_every_protocol(live: Live, peer: Peer) -> None:
    peer.stream = [{**chunk, "model": "tiny"} for chunk in recorded.VLLM_CALL if isinstance(chunk, dict)]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [
        {"type": "function", "function": {"name": name, "parameters": parameters}} for name in ("weather", "clock")
    ]
    reply = post(live, "/v1/chat/completions", {"model": NAME, "messages": HI, "tools": tools}).json()
    message = reply["choices"][0]["message"]
    assert (message["reasoning_content"], reply["choices"][0]["finish_reason"]) == (
        "They want the weather.",
        "tool_calls",
    )
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["weather", "clock"]
    assert (reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"]) == (162, 39)
    theirs = [{"name": name, "input_schema": parameters} for name in ("weather", "clock")]
    body = {
        "model": NAME,
        "messages": HI,
        "tools": theirs,
        "max_tokens": 99,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    reply = post(live, "/v1/messages", body).json()
    assert [block["type"] for block in reply["content"] if block["type"] != "text"] == [
        "thinking",
        "tool_use",
        "tool_use",
    ]
    assert (reply["content"][-2]["input"], reply["stop_reason"]) == ({"city": "Kyiv"}, "tool_use")
    reply = post(live, "/api/chat", {"model": NAME, "messages": HI, "tools": tools, "stream": False}).json()
    assert reply["message"]["tool_calls"][0]["function"] == {"name": "weather", "arguments": {"city": "Kyiv"}}
    reply = post(live, "/v1/responses", {"model": NAME, "input": "Hi", "tools": [{"type": "function", "name": "weather", "parameters": parameters}]}).json()  # fmt: skip
    assert {item["type"] for item in reply["output"]} >= {"reasoning", "function_call"}


def test_anthropic_s_and_ollama_s_streams(live: Live, peer: Peer) -> None:
    events = streamed(live, "/v1/messages", {"model": NAME, "messages": HI, "max_tokens": 9, "stream": True})
    assert (
        "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta") == "Hello there."
    )
    lines = streamed(live, "/api/chat", {"model": NAME, "messages": HI})
    assert "".join(line["message"]["content"] for line in lines) == "Hello there."


def test_texts_to_continue(live: Live, peer: Peer) -> None:
    peer.stream = [{"choices": [{"index": 0, "text": " end.", "finish_reason": "stop"}]}]
    reply = post(live, "/v1/completions", {"model": NAME, "prompt": "The"}).json()
    assert (reply["choices"][0]["text"], peer.last["prompt"]) == (" end.", "The")
    assert post(live, "/completion", {"model": NAME, "prompt": "The"}).json()["content"] == " end."
    assert post(live, "/generate", {"model": NAME, "text": "The"}).json()["text"] == " end."
    raw = {"model": NAME, "prompt": "The", "raw": True, "stream": False}
    assert post(live, "/api/generate", raw).json()["response"] == " end."


def test_structured_output_and_pictures(live: Live, peer: Peer) -> None:
    peer.stream = words('{"n": 4}')
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    data = io.BytesIO()
    Image.new("RGB", (5, 4), "blue").save(data, "PNG")
    url = "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "How many?"}]
    body = {"model": NAME, "messages": [{"role": "user", "content": content}], "response_format": form}
    reply = post(live, "/v1/chat/completions", body).json()
    assert json.loads(reply["choices"][0]["message"]["content"]) == {"n": 4}
    assert peer.last["response_format"]["json_schema"]["schema"] == schema
    assert peer.last["messages"][0]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    inside = {"url": "file:///etc/passwd"}
    body["messages"] = [{"role": "user", "content": [{"type": "image_url", "image_url": inside}]}]
    asked = len(peer.requests)
    assert post(live, "/v1/chat/completions", body).status_code == 400
    assert len(peer.requests) == asked  # no path and no address is passed on


def test_embeddings(live: Live, peer: Peer) -> None:
    peer.replies["/v1/embeddings"] = (200, "application/json", b'{"data": [{"index": 0, "embedding": [3.0, 4.0]}]}')
    reply = post(live, "/v1/embeddings", {"model": NAME, "input": ["a", "b"]}).json()
    assert [[round(x, 6) for x in one["embedding"]] for one in reply["data"]] == [[0.6, 0.8], [0.6, 0.8]]
    assert post(live, "/api/embed", {"model": NAME, "input": "a"}).json()["embeddings"][0] == pytest.approx([0.6, 0.8])
    refused = post(live, "/v1/embeddings", {"model": NAME, "input": "a", "dimensions": 5})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "dimensions")


def test_speech(live: Live, peer: Peer) -> None:
    wave = np.sin(np.linspace(0, 900, 24000)).astype(np.float32)
    peer.replies["/v1/audio/speech"] = (200, "audio/wav", written([wave], 24000, "wav"))
    reply = post(
        live,
        "/v1/audio/speech",
        {"model": "peer::mouth", "input": "Hello.", "voice": "vivian", "response_format": "wav"},
    )
    assert reply.status_code == 200
    assert reply.content[:4] == b"RIFF"
    assert (peer.last["voice"], peer.last["input"]) == ("vivian", "Hello.")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/tokenize", {"prompt": "Hi"}),
        ("/v1/tokenize", {"messages": HI}),
        ("/v1/detokenize", {"tokens": [1, 2]}),
        ("/v1/completions", {"prompt": [1, 2]}),
        ("/v1/embeddings", {"input": [1, 2]}),
        ("/v1/messages/count_tokens", {"messages": HI}),
        ("/v1/chat/completions", {"messages": HI, "logit_bias": {"5": 1}}),
    ],
)
def test_what_needs_tokens_is_refused_by_name(live: Live, peer: Peer, path: str, body: dict[str, Any]) -> None:
    asked = len(peer.requests)
    reply = post(live, path, {"model": NAME, **body})
    assert reply.status_code == 400
    assert "runs on another server, whose tokens are not known here" in reply.text
    assert len(peer.requests) == asked


def test_lists_mark_them_and_ask_nobody(live: Live, peer: Peer) -> None:
    asked = len(peer.requests)
    cards = {card["id"]: card for card in httpx.get(f"{live.url}/v1/models").json()["data"]}
    assert {name: card["server"] for name, card in cards.items()} == {
        "here": None, "peer::tiny": "peer", "peer::ears": "peer", "peer::mouth": "peer"
    }  # fmt: skip
    assert [cards[f"peer::{name}"]["kind"] for name in ("tiny", "ears", "mouth")] == ["text", "transcription", "speech"]
    assert httpx.get(f"{live.url}/v1/models/{NAME}").json()["server"] == "peer"
    names = [model["name"] for model in httpx.get(f"{live.url}/api/tags").json()["models"]]
    assert every(name in names for name in ("here:latest", "peer::tiny"))
    shown = post(live, "/api/show", {"model": NAME}).json()
    assert {"completion", "tools"} <= set(shown["capabilities"])
    assert post(live, "/v1/load", {"model": NAME}).json()["loaded"] is True
    assert (
        httpx.get(f"{live.url}/v1/stats").json()["models"] == []
        or "peer::tiny" not in httpx.get(f"{live.url}/v1/stats").json()["models"]
    )
    assert post(live, "/v1/unload", {"model": NAME}).status_code == 200
    assert len(peer.requests) == asked


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


def test_what_goes_wrong_has_a_status(live: Live, peer: Peer) -> None:
    body = {"model": NAME, "messages": HI}
    assert code(post(live, "/v1/chat/completions", {**body, "model": "peer::huge"})) == (404, "model_not_found")
    assert code(post(live, "/v1/chat/completions", {**body, "model": "other::tiny"})) == (404, "model_not_found")
    peer.stream = [5.0]
    peer.replies["/v1/chat/completions"] = (500, "text/plain", b"broken")
    assert code(post(live, "/v1/chat/completions", body)) == (502, "remote_failed")
    peer.replies["/v1/chat/completions"] = (429, "text/plain", b"")
    assert code(post(live, "/v1/chat/completions", body)) == (429, "queue_full")
    peer.replies.clear()
    peer.key = "changed"
    assert code(post(live, "/v1/chat/completions", body)) == (502, "remote_access_refused")
    refused = post(
        live, "/v1/chat/completions", {**body, "stream": True}
    )  # said with a status, for nothing has been sent
    assert code(refused) == (502, "remote_access_refused")
    assert post(live, "/v1/messages", {**body, "max_tokens": 5}).json()["error"]["type"] == "server_error"


def test_a_reply_that_is_cut_ends_the_stream_with_an_error(live: Live, peer: Peer) -> None:
    peer.stream, peer.cut = words("Hello", " there.")[:3], True
    events = streamed(live, "/v1/chat/completions", {"model": NAME, "messages": HI, "stream": True})
    assert "".join(event["choices"][0]["delta"].get("content") or "" for event in events[:-1]) == "Hello there."
    assert events[-1]["error"]["code"] == "remote_failed"


def test_a_silent_server_ends_the_request(live: Live, peer: Peer) -> None:
    peer.stream = [4.0]
    reply = post(live, "/v1/chat/completions", {"model": NAME, "messages": HI})
    assert code(reply) == (502, "remote_failed")
    assert "sent nothing for 2 seconds" in reply.text


def test_a_client_that_leaves_closes_the_connection_elsewhere(live: Live, peer: Peer) -> None:
    peer.stream = [*words("Hello")[:2], 30.0]
    body = {"model": NAME, "messages": HI, "stream": True}
    with httpx.stream("POST", f"{live.url}/v1/chat/completions", json=body, timeout=30) as response:
        assert any("Hello" in line for line in islice(response.iter_lines(), 6))
    assert peer.gone.wait(10)


# -- grus serve --remote


def options(**given: Any) -> dict[str, Any]:
    return {
        option.name: list(option.default or ()) if option.kind == "list" else option.default for option in OPTIONS
    } | given


def test_only_named_servers_are_served(peer: Peer) -> None:
    closed = catalogue(options())
    assert closed.remotes is None
    assert every("::" not in known.name for known in closed.all())
    with pytest.raises(ModelNotFound):
        closed.look_up(NAME)
    both = catalogue(options(remote=["peer"], model=["guide"]))
    assert both.default == "guide"
    assert both.look_up(NAME).server == "peer"
    alone = catalogue(options(remote=["peer"], alias=["gpt-*=peer::tiny"]))
    assert alone.default == "peer::tiny"
    assert alone.look_up("gpt-9").name == NAME
    assert alone.look_up("claude-sonnet-9").name == NAME
    with pytest.raises(ModelNotFound, match="no server 'nobody'"):
        catalogue(options(remote=["nobody"]))
