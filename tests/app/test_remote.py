"""Models of servers elsewhere in the runtime: what is sent, what is read of every kind of server, and everything that goes wrong."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.runtime.catalogue import Catalogue, abilities, able
from app.runtime.chat import ChatRequest, PreparedChat, ReplyCollector, ReplyMessage, ToolChoice, prepare
from app.runtime.models import ModelService
from app.runtime.remote import servers
from app.runtime.remote.client import RemoteClient
from app.runtime.remote.servers import (
    RemoteServer,
    RemoteServers,
    check_url,
    forget_server,
    keep_server,
    kept_servers,
    offered_models,
)
from engine.errors import (
    BadRequest,
    GrusError,
    ModelNotFound,
    Offline,
    QueueFull,
    RemoteAccessRefused,
    RemoteFailed,
    Unsupported,
)
from engine.hub import offline
from engine.media.sound import written
from engine.types import Done, Failed, Grammar, Request, RequestHandle, SamplingParams
from tests.app import remote_recordings as recorded
from tests.app.remote_peer import Peer, delta, listening, until, words
from tests.app.server.scripted import ScriptedEngine
from tests.asserting import every

KEY = "sk-secret-0123456789"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}
    for name in ("weather", "clock")
]  # fmt: skip
HI = [{"role": "user", "content": "Hi"}]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "servers_file", lambda: tmp_path / "config" / "remote-servers.json")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture
def peer() -> Iterator[Peer]:
    with listening(stream=words("Hello", " there.")) as peer:
        yield peer


@pytest.fixture
def service() -> Iterator[ModelService]:
    catalogue = Catalogue({}, use_cache=False, remotes=RemoteServers())
    service = ModelService(ScriptedEngine, lambda source: None, catalogue)
    yield service
    service.close()


def add(peer: Peer, key: str | None = None, **more: Any) -> RemoteServer:
    """As `grus remote add` does."""
    server = RemoteClient(RemoteServer("peer", check_url(peer.url), **more), key=key).probe().server
    keep_server(server, key)
    return server


def ask(
    service: ModelService, chat: ChatRequest | None = None, name: str = "peer::tiny"
) -> tuple[PreparedChat, RequestHandle]:
    prepared = prepare(chat or ChatRequest(HI), service.load_now(name), name)
    return prepared, service.submit(prepared.request)


def reply(
    service: ModelService, chat: ChatRequest | None = None, name: str = "peer::tiny"
) -> tuple[ReplyMessage, Done]:
    """A whole reply; raises what it ended with."""
    prepared, handle = ask(service, chat, name)
    collector = ReplyCollector()
    for event in handle:
        if isinstance(event, Failed):
            raise event.error
        for part in prepared.reader.read(event):
            collector.add(part)
    assert isinstance(event, Done)
    return collector.messages()[0], event


# -- replies of every kind of server


def test_a_reply_streams(peer: Peer, service: ModelService) -> None:
    add(peer)
    prepared, handle = ask(service)
    texts = [part.text for event in handle for part in prepared.reader.read(event) if part.kind == "answer"]
    assert texts == ["Hello", " there."]
    assert handle.result().text == "Hello there."
    assert peer.last["messages"] == HI
    assert (peer.last["model"], peer.last["stream"]) == ("tiny", True)
    assert service.resident() == set()  # it has no place in memory


def test_vllm_s_reasoning_calls_and_usage(peer: Peer, service: ModelService) -> None:
    peer.models, peer.stream = recorded.VLLM_MODELS, recorded.VLLM_CALL
    server = add(peer)
    assert (server.program, server.models[0].context) == ("vllm", 40960)
    assert server.models[1].abilities == ("listen",)
    prepared, handle = ask(service, ChatRequest(HI, tools=TOOLS), "peer::Qwen/Qwen3-8B")
    message, done = reply(service, ChatRequest(HI, tools=TOOLS), "peer::Qwen/Qwen3-8B")
    assert message.reasoning == "They want the weather."
    assert [(call.id, call.name, call.arguments) for call in message.calls] == [
        ("chatcmpl-tool-1a", "weather", '{"city": "Kyiv"}'),
        ("chatcmpl-tool-2b", "clock", "{}"),
    ]
    assert message.reason == "tool_calls"
    assert (done.timings.prompt_tokens, done.timings.cached_tokens, done.timings.output_tokens) == (162, 144, 39)
    handle.cancel()
    assert prepared.ignored == []


def test_vllm_s_stop_string_and_log_probabilities(peer: Peer, service: ModelService) -> None:
    peer.models, peer.stream = recorded.VLLM_MODELS, recorded.VLLM_STOP
    add(peer)
    message, _ = reply(service, ChatRequest(HI, SamplingParams(stop=(", three",))), "peer::Qwen/Qwen3-8B")
    assert (message.answer, message.stop) == ("One, two", ", three")
    peer.stream = recorded.VLLM_SCORED
    chat = ChatRequest(HI, SamplingParams(logprobs=True, top_logprobs=2))
    message, _ = reply(service, chat, "peer::Qwen/Qwen3-8B")
    tokenizer = service.load_now("peer::Qwen/Qwen3-8B").tokenizer
    assert [(tokenizer.bytes_of(one.id), one.logprob) for one in message.logprobs] == [
        (b"H", -0.25),
        ("é".encode(), -0.5),
    ]
    assert [(tokenizer.bytes_of(id), logprob) for id, logprob in message.logprobs[0].top] == [
        (b"H", -0.25),
        (b"h", -2.5),
    ]
    assert (peer.last["logprobs"], peer.last["top_logprobs"]) == (True, 2)


def test_sglang_s_reasoning_and_calls(peer: Peer, service: ModelService) -> None:
    peer.models, peer.stream = recorded.SGLANG_MODELS, recorded.SGLANG_REPLY
    assert add(peer).program == "sglang"
    prepared, handle = ask(service, name="peer::deepseek-ai/DeepSeek-R1")
    parts = [part for event in handle for part in prepared.reader.read(event)]
    assert "".join(part.text for part in parts if part.kind == "reasoning") == "Two and two."
    assert "".join(part.text for part in parts if part.kind == "answer") == "Four."
    assert prepared.reader.reasoning_tokens == 5
    peer.stream = recorded.SGLANG_CALL
    message, _ = reply(service, ChatRequest(HI, tools=TOOLS), "peer::deepseek-ai/DeepSeek-R1")
    assert [(call.name, json.loads(call.arguments)) for call in message.calls] == [("weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    ("stream", "cities"), [(recorded.OLLAMA_CALLS, ["Rome"]), (recorded.UNNUMBERED_CALLS, ["Bern", "Graz"])]
)
def test_calls_of_other_servers(peer: Peer, service: ModelService, stream: Any, cities: list[str]) -> None:
    peer.stream = stream
    add(peer)
    message, _ = reply(service, ChatRequest(HI, tools=TOOLS))
    assert [json.loads(call.arguments)["city"] for call in message.calls] == cities
    assert message.reason == "tool_calls"


def test_comments_are_skipped_and_an_end_without_a_word_is_one(peer: Peer, service: ModelService) -> None:
    peer.stream, peer.done = recorded.MLX_COMMENTS, False
    add(peer)
    message, _ = reply(service)
    assert (message.answer, message.reason) == ("Hello", "length")


def test_reasoning_that_a_server_leaves_in_the_answer_is_split_off(peer: Peer, service: ModelService) -> None:
    peer.stream = words("<thi", "nk>\nHm", "m.\n</think>\n\nYes", ".")
    add(peer)
    message, _ = reply(service)
    assert (message.reasoning, message.answer) == ("Hmm.", "Yes.")
    message, _ = reply(service, ChatRequest(HI, split_reasoning=False))
    assert (message.reasoning, message.answer) == ("", "<think>\nHmm.\n</think>\n\nYes.")


def test_a_server_that_does_not_stream(peer: Peer, service: ModelService) -> None:
    whole = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "All at once."}, "finish_reason": "stop"}]
    }
    add(peer)
    peer.replies["/v1/chat/completions"] = (200, "application/json", json.dumps(whole).encode())
    message, _ = reply(service)
    assert message.answer == "All at once."


def test_several_choices(peer: Peer, service: ModelService) -> None:
    peer.stream = [delta(0, content="a"), delta(1, content="b"), delta(1, "stop"), delta(0, "length")]
    add(peer)
    prepared, handle = ask(service, ChatRequest(HI, SamplingParams(n=2)))
    collector = ReplyCollector()
    for event in handle:
        for part in prepared.reader.read(event):
            collector.add(part)
    assert [(one.answer, one.reason) for one in collector.messages()] == [("a", "length"), ("b", "stop")]
    assert peer.last["n"] == 2


# -- what is sent


def test_everything_of_a_conversation_is_sent(peer: Peer, service: ModelService) -> None:
    peer.models = recorded.VLLM_MODELS
    add(peer, KEY)
    image = Image.new("RGB", (6, 4), "red")
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": "What is this?"}]},
        {"role": "assistant", "content": "", "reasoning_content": "Look.",
         "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain"},
    ]  # fmt: skip
    params = SamplingParams(
        max_tokens=50, temperature=0.0, top_k=5, min_p=0.1, stop=("END",), seed=7, repetition_penalty=1.1
    )
    chat = ChatRequest(messages, params, TOOLS, ToolChoice("required"), effort="low", reasoning_tokens=100)
    peer.stream = recorded.VLLM_CALL
    reply(service, chat, "peer::Qwen/Qwen3-8B")
    body = peer.last
    assert body["messages"][0] == messages[0]
    url = body["messages"][1]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert body["messages"][1]["content"][1] == {"type": "text", "text": "What is this?"}
    assert body["messages"][2]["reasoning"] == "Look."
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    assert body["messages"][3] == messages[3]
    assert {name: body[name] for name in ("max_tokens", "temperature", "top_k", "min_p", "seed", "repetition_penalty")} == {
        "max_tokens": 50, "temperature": 0.0, "top_k": 5, "min_p": 0.1, "seed": 7, "repetition_penalty": 1.1
    }  # fmt: skip
    assert (body["stop"], body["tools"], body["tool_choice"]) == (["END"], TOOLS, "required")
    assert (body["reasoning_effort"], body["thinking_token_budget"]) == ("low", 100)
    assert peer.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


def test_what_was_not_set_is_not_sent(peer: Peer, service: ModelService) -> None:
    """A server that knows OpenAI's fields alone refuses others."""
    add(peer)
    reply(service)
    assert sorted(peer.last) == ["messages", "model", "stream", "stream_options"]


@pytest.mark.parametrize(
    ("program", "kind", "field", "value"),
    [
        ("vllm", "regex", "structured_outputs", {"regex": "a+"}),
        ("vllm", "ebnf", "structured_outputs", {"grammar": "a+"}),
        ("sglang", "regex", "regex", "a+"),
        ("sglang", "ebnf", "ebnf", "a+"),
        ("llamacpp", "ebnf", "grammar", "a+"),
        ("grus", "regex", "regex", "a+"),
    ],
)
def test_grammars_in_each_program_s_words(
    peer: Peer, service: ModelService, program: str, kind: Any, field: str, value: Any
) -> None:
    peer.models = [{"id": "tiny", "owned_by": program}]
    add(peer)
    reply(service, ChatRequest(HI, grammar=Grammar(kind, "a+")))
    assert peer.last[field] == value


def test_a_grammar_for_a_server_that_takes_none_is_refused(peer: Peer, service: ModelService) -> None:
    add(peer)
    with pytest.raises(Unsupported, match="peer is not known to take"):
        ask(service, ChatRequest(HI, grammar=Grammar("regex", "a+")))


@pytest.mark.parametrize("field", ["logit_bias", "banned_tokens", "stop_token_ids"])
def test_parameters_about_tokens_are_refused_by_name(peer: Peer, service: ModelService, field: str) -> None:
    add(peer)
    value: Any = {5: 1.0} if field == "logit_bias" else (5,)
    with pytest.raises(Unsupported) as raised:
        ask(service, ChatRequest(HI, SamplingParams(**{field: value})))
    assert raised.value.param == field


def test_a_text_to_continue(peer: Peer, service: ModelService) -> None:
    peer.stream = [{"choices": [{"index": 0, "text": " lazy", "finish_reason": None}]}, {"choices": [{"index": 0, "text": " dog", "finish_reason": "length"}]}]  # fmt: skip
    add(peer)
    model = service.load_now("peer::tiny")
    ids = model.tokenizer.encode("the quick – fox")
    result = service.submit(Request("peer::tiny", ids, SamplingParams(max_tokens=2))).result(20)
    assert (result.text, result.reason) == (" lazy dog", "length")
    assert (peer.requests[-1].path, peer.last["prompt"]) == ("/v1/completions", "the quick – fox")


# -- structured output and demanded calls are checked

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'


def test_a_schema_is_sent_and_held(peer: Peer, service: ModelService) -> None:
    peer.stream = words('{"n"', ": 4}")
    add(peer)
    message, _ = reply(service, ChatRequest(HI, grammar=Grammar("json_schema", SCHEMA)))
    assert json.loads(message.answer) == {"n": 4}
    assert peer.last["response_format"]["json_schema"]["schema"] == json.loads(SCHEMA)


@pytest.mark.parametrize(
    ("said", "why"),
    [("Four.", "is not JSON"), ('{"n": "four"}', r"\$\.n of its reply"), ('{"m": 4}', r"\$\.n of its reply")],
)
def test_a_server_that_ignores_a_schema_is_told_on(peer: Peer, service: ModelService, said: str, why: str) -> None:
    peer.stream = words(said)
    add(peer)
    with pytest.raises(RemoteFailed, match=why):
        reply(service, ChatRequest(HI, grammar=Grammar("json_schema", SCHEMA)))


def test_a_server_that_ignores_a_demanded_call_is_told_on(peer: Peer, service: ModelService) -> None:
    add(peer)
    with pytest.raises(RemoteFailed, match="peer ignored tool_choice"):
        reply(service, ChatRequest(HI, tools=TOOLS, tool_choice=ToolChoice("named", "weather")))
    assert peer.last["tool_choice"] == {"type": "function", "function": {"name": "weather"}}


# -- what goes wrong


def test_a_reply_that_is_cut_in_the_middle(peer: Peer, service: ModelService) -> None:
    add(peer)
    peer.stream, peer.cut = words("Hello", " there.")[:2], True
    with pytest.raises(RemoteFailed, match="ended the connection before the reply was complete"):
        reply(service)


def test_a_stream_that_ends_without_an_end_is_cut(peer: Peer, service: ModelService) -> None:
    add(peer)
    peer.stream = words("Hello")[:2]
    with pytest.raises(RemoteFailed, match="before the reply was complete"):
        reply(service)


def test_a_connection_that_ends_within_an_event(peer: Peer, service: ModelService) -> None:
    add(peer)
    peer.stream, peer.done = [*words("Hello")[:2], 'data: {"choices": [{"del'], False
    with pytest.raises(RemoteFailed, match="ended the connection before the reply was complete"):
        reply(service)


def test_how_a_model_elsewhere_is_loaded_is_not_decided_here(peer: Peer, service: ModelService) -> None:
    add(peer)
    name, _ = asyncio.run(service.load_placed("peer::tiny", {}))
    assert name == "peer::tiny"
    with pytest.raises(Unsupported, match="peer::tiny is a model of another server, which decides how it is loaded"):
        asyncio.run(service.load_placed("peer::tiny", {"devices": ("cpu",)}))


def test_a_server_that_falls_silent(peer: Peer, service: ModelService) -> None:
    add(peer, silence=0.4)
    peer.stream = [*words("Hello")[:2], 3.0]
    began = time.monotonic()
    with pytest.raises(RemoteFailed, match=r"peer sent nothing for 0.4 seconds"):
        reply(service)
    assert time.monotonic() - began < 2.5


def test_slow_is_not_silent(peer: Peer, service: ModelService) -> None:
    add(peer, silence=2.0)
    peer.stream = [chunk for word in words(*["slow", "but", "sure"]) for chunk in (0.3, word)]
    message, done = reply(service)
    assert message.answer == "slowbutsure"
    assert done.timings.first_token > 0.25


def test_a_wrong_key_and_none(peer: Peer, service: ModelService) -> None:
    peer.key = KEY
    with pytest.raises(RemoteAccessRefused, match="wants a key"):
        add(peer)
    with pytest.raises(RemoteAccessRefused, match="refuses the key") as raised:
        add(peer, "sk-wrong-999999")
    assert "sk-wrong" not in str(raised.value)
    add(peer, KEY)
    assert reply(service)[0].answer == "Hello there."
    peer.key = "another"
    with pytest.raises(RemoteAccessRefused):
        reply(service)


def test_a_wrong_model(peer: Peer, service: ModelService) -> None:
    add(peer)
    with pytest.raises(ModelNotFound, match="peer has no model huge"):
        reply(service, name="peer::huge")
    with pytest.raises(ModelNotFound, match=r"no server 'other' here\. Added: peer"):
        reply(service, name="other::tiny")


@pytest.mark.parametrize(
    ("status", "kind", "body", "error", "why"),
    [
        (400, "application/json", b'{"error": {"message": "Too long."}}', BadRequest, "peer does not take this: Too long."),
        (422, "application/json", b'{"detail": [{"loc": ["body"], "msg": "Field required"}]}', BadRequest, "Field required"),
        (429, "application/json", b"{}", QueueFull, "peer is busy"),
        (500, "text/plain", b"Internal Server Error", RemoteFailed, "status 500: Internal Server Error"),
        (500, "application/json", b'{"error": "Out of memory"}', RemoteFailed, "Out of memory"),
        (503, "text/html", b"<html>down</html>", RemoteFailed, "answered with status 503"),
        (200, "application/json", b"[]", RemoteFailed, "not OpenAI's API"),
        (200, "text/html", b"<html>a page</html>", RemoteFailed, "not OpenAI's API"),
    ],
)  # fmt: skip
def test_refusals_of_all_shapes(
    peer: Peer, service: ModelService, status: int, kind: str, body: bytes, error: type[GrusError], why: str
) -> None:
    add(peer)
    peer.replies["/v1/chat/completions"] = (status, kind, body)
    with pytest.raises(error, match=why):
        reply(service)


def test_vllm_s_refusals(peer: Peer, service: ModelService) -> None:
    peer.models, peer.stream = recorded.VLLM_MODELS, recorded.VLLM_BREAKS
    add(peer)
    with pytest.raises(RemoteFailed, match="EngineCore encountered an issue"):
        reply(service, name="peer::Qwen/Qwen3-8B")
    peer.replies["/v1/chat/completions"] = recorded.VLLM_CONTEXT
    with pytest.raises(BadRequest, match="maximum context length is 40960 tokens"):
        reply(service, name="peer::Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    "chunk",
    [
        'data: {"choices": [5]}\n\n',
        "data: nonsense\n\n",
        "data: [1]\n\n",
        'data: {"choices": [{"delta": {"tool_calls": "x"}}]}\n\n',
    ],
)
def test_nonsense_in_a_stream(peer: Peer, service: ModelService, chunk: str) -> None:
    add(peer)
    peer.stream = [chunk]
    with pytest.raises(RemoteFailed, match="not OpenAI's API"):
        reply(service)


def test_nobody_there(service: ModelService) -> None:
    with listening() as peer:
        add(peer)
    with pytest.raises(RemoteFailed, match=r"nothing answers at 127\.0\.0\.1"):
        reply(service)


def test_a_redirect_is_not_followed(peer: Peer, service: ModelService) -> None:
    with listening(stream=words("stolen")) as other:
        add(peer, KEY)
        peer.location = f"{other.url}/v1/chat/completions"
        with pytest.raises(RemoteFailed, match="answers from another address"):
            reply(service)
        assert other.requests == []


def test_a_key_is_in_no_message_and_no_log(peer: Peer, service: ModelService, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    add(peer, KEY)
    reply(service)
    body = json.dumps({"error": {"message": f"The key {KEY} may not do this."}}).encode()
    peer.replies["/v1/chat/completions"] = (400, "application/json", body)
    with pytest.raises(BadRequest, match="The key … may not do this"):
        reply(service)
    assert KEY not in caplog.text


def test_cancelling_closes_the_connection(peer: Peer, service: ModelService) -> None:
    add(peer)
    peer.stream = [*words("Hello")[:2], 30.0]
    prepared, handle = ask(service)
    events = iter(handle)
    until(lambda: any(part.kind == "answer" for part in prepared.reader.read(next(events))))
    handle.cancel()
    end = list(events)[-1]
    assert isinstance(end, Done)
    assert end.reason == "cancelled"
    assert peer.gone.wait(10)


def test_what_is_cancelled_before_it_began_has_ended(peer: Peer, service: ModelService) -> None:
    add(peer)
    for _ in range(50):
        _, handle = ask(service)
        handle.cancel()
        handle.wait()
        assert isinstance(list(handle)[-1], Done)


def test_a_new_key_counts_at_once(peer: Peer, service: ModelService) -> None:
    add(peer, "old-key")
    reply(service)
    keep_server(kept_servers()[0], "new-key")
    reply(service)
    assert [request.headers["Authorization"] for request in peer.requests[1:]] == ["Bearer old-key", "Bearer new-key"]


def test_closing_the_service_ends_what_is_being_answered(peer: Peer, service: ModelService) -> None:
    add(peer)
    peer.stream = [*words("Hello")[:2], 30.0]
    _, handle = ask(service)
    until(lambda: len(peer.requests) == 2)
    service.close()
    handle.wait()
    assert peer.gone.wait(10)


def test_many_replies_at_once(peer: Peer, service: ModelService) -> None:
    peer.stream = [0.1, *words("Hello", " there.")]
    add(peer)
    begun = [ask(service)[1] for _ in range(40)]
    results = [handle.result(60).text for handle in begun]
    assert results == ["Hello there."] * 40


def test_offline_binds_it(peer: Peer, service: ModelService) -> None:
    add(peer)
    offline.forbid("a test says so")
    try:
        with pytest.raises(Offline, match="peer was not asked, because a test says so"):
            reply(service)
    finally:
        offline.permit()
    assert len(peer.requests) == 1  # the one that added it
    assert service.catalogue.remotes is not None
    service.catalogue.remotes.allowed = False
    service._elsewhere.clear()
    with pytest.raises(Offline):
        reply(service)


# -- vectors, hearing and speaking


def test_embeddings(peer: Peer, service: ModelService) -> None:
    peer.replies["/v1/embeddings"] = (200, "application/json", b'{"data": [{"index": 0, "embedding": [3.0, 4.0]}], "usage": {"prompt_tokens": 6}}')  # fmt: skip
    add(peer)
    model = service.load_now("peer::tiny")
    result = service.submit(Request("peer::tiny", model.tokenizer.encode("Grüße"), pooling="last")).result(20)
    assert result.vector is not None
    assert result.vector.tolist() == [3.0, 4.0]
    assert result.timings.prompt_tokens == 6
    assert (peer.last["input"], peer.last["model"]) == ("Grüße", "tiny")


def test_listening(peer: Peer, service: ModelService) -> None:
    from engine.media.inputs import Sound

    peer.models = [{"id": "whisper-1"}]
    peer.replies["/v1/audio/transcriptions"] = (200, "application/json", b'{"text": " Good morning. "}')
    add(peer)
    service.load_now("peer::whisper-1")
    sound = Sound(np.zeros(16000, np.float32), "", "de")
    result = service.submit(Request("peer::whisper-1", [0], sound=sound)).result(20)
    assert result.text == "Good morning."
    body = peer.requests[-1].body
    assert every(part in body for part in (b'name="language"', b"de", b"RIFF", b"whisper-1"))


def test_speaking(peer: Peer, service: ModelService) -> None:
    from engine.pipelines.speaking.speech_models import speaker
    from engine.pipelines.speaking.voice import VoiceSettings

    wave = np.sin(np.linspace(0, 800, 16000)).astype(np.float32)
    peer.models = [{"id": "tts-1"}]
    peer.replies["/v1/audio/speech"] = (200, "audio/wav", written([wave], 16000, "wav"))
    add(peer)
    service.load_now("peer::tts-1")
    voice = speaker(service, "peer::tts-1")
    assert "alloy" in voice.presets
    samples = np.concatenate(list(voice.speak("Hello", VoiceSettings(preset="nova", instructions="cheerful"))))
    assert abs(len(samples) - 24000) < 100  # one second at the rate of voices
    assert peer.last == {
        "model": "tts-1",
        "input": "Hello",
        "response_format": "wav",
        "voice": "nova",
        "instructions": "cheerful",
    }


def test_another_grus_says_which_voices_it_has(peer: Peer, service: ModelService) -> None:
    from engine.pipelines.speaking.speech_models import speaker

    peer.models = [{"id": "talker", "owned_by": "grus", "kind": "speech"}]
    peer.replies["/v1/audio/voices?model=talker"] = (
        200,
        "application/json",
        b'{"voices": [{"id": "vivian", "name": "vivian"}]}',
    )
    add(peer)
    service.load_now("peer::talker")
    assert speaker(service, "peer::talker").presets == ["vivian"]


# -- which models there are


def test_models_elsewhere_are_listed_last_and_never_chosen_by_themselves(peer: Peer, service: ModelService) -> None:
    peer.models = [{"id": "whisper-1"}, {"id": "Qwen/Qwen3-8B"}]
    add(peer)
    assert abilities(service.catalogue) == {
        "peer::whisper-1": {"listen", "remote"},
        "peer::Qwen/Qwen3-8B": {"chat", "vision", "embed", "remote"},
    }
    assert able(service.catalogue, "listen") == []
    assert service.catalogue.default is None
    assert peer.requests[-1].path == "/v1/models"  # lists ask no server


def test_a_model_of_this_machine_is_never_taken_for_one_elsewhere(peer: Peer, tmp_path: Path) -> None:
    add(peer)
    (tmp_path / "models" / "peer").mkdir(parents=True)
    catalogue = Catalogue({"tiny": str(tmp_path)}, tmp_path / "models", use_cache=False, remotes=RemoteServers())
    assert catalogue.look_up("tiny").server is None
    assert catalogue.look_up("peer::tiny").server == "peer"
    closed = Catalogue({"tiny": str(tmp_path)}, use_cache=False)
    with pytest.raises(ModelNotFound):
        closed.look_up("peer::tiny")
    with pytest.raises(ModelNotFound):
        Catalogue({}, use_cache=False, remotes=RemoteServers(["other"])).look_up("peer::tiny")


def test_a_server_that_moved_is_asked_at_its_new_address(peer: Peer, service: ModelService) -> None:
    add(peer)
    reply(service)
    with listening(stream=words("From here.")) as other:
        keep_server(RemoteServer("peer", check_url(other.url)))
        assert reply(service)[0].answer == "From here."
    forget_server("peer")
    with pytest.raises(ModelNotFound):
        reply(service)


# -- what is kept


def test_a_key_belongs_to_its_address(peer: Peer, tmp_path: Path) -> None:
    add(peer, KEY)
    kept = tmp_path / "config" / "remote-keys.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert KEY not in (tmp_path / "config" / "remote-servers.json").read_text()
    keep_server(RemoteServer("peer", "http://127.0.0.1:9/v1"))
    assert not kept.exists()  # the old address is nobody's any more
    add(peer, KEY)
    forget_server("peer")
    assert not kept.exists()
    assert kept_servers() == []


def test_a_key_of_the_environment_comes_first(
    peer: Peer, service: ModelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer.key = "of-the-environment"
    monkeypatch.setenv("GRUS_REMOTE_KEY_PEER", "of-the-environment")
    add(peer)
    assert reply(service)[0].answer == "Hello there."


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("http://10.0.0.5:8000", "http://10.0.0.5:8000/v1"),
        ("https://AI.example.org/", "https://ai.example.org/v1"),
        ("https://example.org/api/v1/", "https://example.org/api/v1"),
        ("http://[::1]:11434", "http://[::1]:11434/v1"),
    ],
)
def test_addresses(given: str, made: str) -> None:
    assert check_url(given) == made


@pytest.mark.parametrize(
    "given",
    ["", "example.org", "ftp://example.org", "file:///etc/passwd", "http://", "http://user:pass@example.org", "http://e.org/?a=1",
     "http://e.org/#a", "http://e.org:99999", "http://e.org /v1"],
)  # fmt: skip
def test_addresses_that_are_none(given: str) -> None:
    with pytest.raises(BadRequest):
        check_url(given)


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"a": 1}', '{"a": {"url": "x", "models": []}}'])
def test_a_damaged_file_has_no_servers(tmp_path: Path, damage: str) -> None:
    servers.servers_file().parent.mkdir(parents=True)
    servers.servers_file().write_text(damage)
    assert kept_servers() == []


def test_what_servers_say_of_their_models() -> None:
    models, program = offered_models({"data": recorded.LLAMACPP_MODELS})
    assert (program, models[0].context) == ("llamacpp", 4096)
    said = {
        "data": [
            {"id": "v", "kind": "speech"},
            {"id": "p", "kind": "part"},
            {"id": 5},
            "nonsense",
            {"id": "nomic-embed-text"},
        ]
    }
    models, program = offered_models(said)
    assert [(one.id, one.abilities) for one in models] == [("v", ("speak",)), ("nomic-embed-text", ("embed",))]
    assert program == ""


def test_plain_http_beyond_this_machine_is_warned_of() -> None:
    assert servers.open_to_read("http://10.0.0.5/v1")
    assert not servers.open_to_read("http://127.0.0.1:8000/v1")
    assert not servers.open_to_read("https://example.org/v1")


def test_images_of_paths_and_bytes_are_sent_as_pictures(peer: Peer, service: ModelService, tmp_path: Path) -> None:
    add(peer)
    data = io.BytesIO()
    Image.new("L", (3, 3)).save(data, "JPEG")
    (tmp_path / "a.jpg").write_bytes(data.getvalue())
    for image in (tmp_path / "a.jpg", data.getvalue(), np.zeros((3, 3, 3), np.uint8)):
        reply(service, ChatRequest([{"role": "user", "content": [{"type": "image", "image": image}]}]))
        assert peer.last["messages"][0]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    with pytest.raises(BadRequest, match="cannot be read"):
        reply(service, ChatRequest([{"role": "user", "content": [{"type": "image", "image": tmp_path / "none.jpg"}]}]))
