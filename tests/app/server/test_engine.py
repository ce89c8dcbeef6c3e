"""The server on the real engine: a tiny checkpoint on torch, and many clients on the fake model."""

from __future__ import annotations

import asyncio
import gc
import json
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

import httpx
import openai
import pytest

from app.runtime.catalogue import Catalogue
from app.server.requests import RunningRequest, StreamingReply
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.sequence import RequestState
from engine.types import RequestHandle, Settings
from tests.app.server.fake_model import FakeServed
from tests.app.server.live import Live, serving
from tests.app.server.scripted import until
from tests.asserting import every
from tests.checkpoints import save

USER = [{"role": "user", "content": "Hi"}]
SCHEMA = {
    "type": "object",
    "properties": {"size": {"enum": ["big", "small"]}},
    "required": ["size"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "measure", "parameters": SCHEMA}}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    model = save("qwen3", tmp_path_factory.mktemp("real") / "tiny", max_position_embeddings=2048)
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({"real": str(model)}, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


@pytest.fixture
def client(real: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{real.url}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, **more: Any) -> Any:
    return client.chat.completions.create(**({"model": "real", "messages": USER, "temperature": 0} | more))


def test_a_reply_streamed_equals_the_same_reply_whole(client: openai.OpenAI) -> None:
    whole = ask(client, max_tokens=20)
    assert whole.usage.completion_tokens == 20
    assert whole.choices[0].finish_reason == "length"
    pieces = [chunk.choices[0].delta.content or "" for chunk in ask(client, max_tokens=20, stream=True)]
    assert "".join(pieces) == whole.choices[0].message.content
    assert ask(client, max_tokens=20, n=2).choices[1].message.content == whole.choices[0].message.content


def test_a_stop_string_ends_a_reply(client: openai.OpenAI) -> None:
    text = ask(client, max_tokens=20).choices[0].message.content
    stop = text[5:7]
    stopped = ask(client, max_tokens=20, stop=stop).choices[0]
    assert stopped.finish_reason == "stop"
    assert stopped.message.content == text[: text.index(stop)]


def test_a_schema_holds(client: openai.OpenAI) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}
    reply = ask(client, response_format=schema, max_tokens=900).choices[0]
    assert json.loads(reply.message.content)["size"] in ("big", "small")
    assert reply.finish_reason == "stop"


def test_a_strict_schema_ends_before_the_limit(client: openai.OpenAI) -> None:
    listed = {
        "type": "array",
        "items": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }
    schema = {"type": "object", "properties": {"all": listed}, "required": ["all"]}
    for seed in range(6):
        wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}}
        reply = ask(client, response_format=wanted, max_tokens=60 + seed, temperature=1, seed=seed).choices[0]
        assert isinstance(json.loads(reply.message.content)["all"], list)
        assert reply.finish_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_with_tools_and_a_schema_is_a_call_or_json(client: openai.OpenAI, stream: bool) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}
    kinds = set()
    for seed in range(8):
        more = {"tools": [TOOL], "response_format": schema, "max_tokens": 300, "temperature": 2, "seed": seed}
        if stream:
            deltas = [chunk.choices[0].delta for chunk in ask(client, stream=True, **more)]
            text = "".join(delta.content or "" for delta in deltas)
            arguments = "".join(c.function.arguments or "" for delta in deltas for c in (delta.tool_calls or ())[:1])
        else:
            message = ask(client, **more).choices[0].message
            text, calls = message.content or "", message.tool_calls or ()
            arguments = "".join(call.function.arguments for call in calls[:1])
        kinds.add(bool(arguments))
        assert json.loads(text)["size"] in ("big", "small") if text else '"size"' in arguments
    assert kinds == {True, False}


def test_a_true_prediction_is_accepted_and_changes_nothing(client: openai.OpenAI) -> None:
    letters = {"max_tokens": 30, "logit_bias": {str(i): 100 for i in range(64, 90)}}  # a text that gives its own tokens
    plain = ask(client, **letters)
    text = plain.choices[0].message.content
    assert plain.usage.completion_tokens_details.accepted_prediction_tokens == 0
    for prediction, accepted in ((text, True), (text[:4] + "zq" * 20, False)):
        reply = ask(client, prediction={"type": "content", "content": prediction}, **letters)
        assert reply.choices[0].message.content == text
        details = reply.usage.completion_tokens_details
        assert (details.accepted_prediction_tokens > 10) == accepted
        assert details.rejected_prediction_tokens > 0 or accepted


def test_a_flushed_cache_knows_no_prompt(client: openai.OpenAI, real: Live) -> None:
    ask(client, max_tokens=3)
    assert ask(client, max_tokens=3).usage.prompt_tokens_details.cached_tokens > 0
    assert httpx.post(f"{real.url}/flush_cache").json()["message"] != "0 prefixes were forgotten."
    assert ask(client, max_tokens=3).usage.prompt_tokens_details.cached_tokens == 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_demanded_call_comes(client: openai.OpenAI, stream: bool) -> None:
    choice = {"type": "function", "function": {"name": "measure"}}
    reply = ask(client, tools=[TOOL], tool_choice=choice, max_tokens=900, stream=stream)
    if stream:
        calls = [call.function for chunk in reply for call in chunk.choices[0].delta.tool_calls or ()]
        name, arguments = calls[0].name, "".join(call.arguments for call in calls)
    else:
        name, arguments = reply.choices[0].message.tool_calls[0].function.name, (
            reply.choices[0].message.tool_calls[0].function.arguments
        )  # fmt: skip
    assert name == "measure"
    assert json.loads(arguments)["size"] in ("big", "small")


def test_scores_of_a_prompt(client: openai.OpenAI) -> None:
    scores = (
        client.completions.create(model="real", prompt="abc", echo=True, logprobs=1, max_tokens=1).choices[0].logprobs
    )
    assert scores is not None
    assert scores.token_logprobs is not None
    assert scores.tokens is not None
    assert scores.tokens[:3] == ["a", "b", "c"]
    assert scores.token_logprobs[0] is None
    assert every(score <= 0 for score in scores.token_logprobs[1:])


def test_a_prompt_that_does_not_fit(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, messages=[{"role": "user", "content": "x" * 3000}])
    assert caught.value.code == "context_length_exceeded"


def test_a_grammar_that_is_none_is_a_bad_request(client: openai.OpenAI) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "no such type"}}}
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError):
            ask(client, response_format=schema, stream=stream)


def test_one_bad_prompt_ends_the_others_of_its_call(client: openai.OpenAI, real: Live) -> None:
    before = real.engine.stats().cancelled
    letters = {str(id): 100 for id in range(64, 90)}  # no reply ends by itself
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(model="real", prompt=[[65, 66], [65] * 3000], max_tokens=1900, logit_bias=letters)
    assert caught.value.code == "context_length_exceeded"
    assert real.requests.running == []
    until(lambda: real.engine.stats().active == 0)
    assert real.engine.stats().cancelled - before == 1


def test_a_model_is_unloaded_and_comes_back(client: openai.OpenAI, real: Live) -> None:
    first = ask(client, max_tokens=3).choices[0].message.content
    httpx.post(f"{real.url}/v1/unload", json={"model": "real"})
    assert real.service.resident() == set()
    assert ask(client, max_tokens=3).choices[0].message.content == first
    assert real.service.resident() == {"real"}


def test_a_model_that_is_kept_for_no_time_goes_after_its_reply(real: Live) -> None:
    body = {"model": "real", "messages": USER, "stream": False, "options": {"num_predict": 3}}
    assert httpx.post(f"{real.url}/api/chat", json=body | {"keep_alive": 0}).json()["eval_count"] == 3
    until(lambda: real.service.resident() == set())
    assert httpx.post(f"{real.url}/api/chat", json=body).json()["eval_count"] == 3
    assert real.service.resident() == {"real"}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    fake = FakeServed(tmp_path_factory.mktemp("fake") / "tiny")
    settings = Settings(gpu_memory_limit="1T", max_concurrent=16, max_queue=150)
    catalogue = Catalogue({"tiny": "tiny"}, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: fake, catalogue) as live:
        yield live
    assert fake.kv.violations == []


async def crowd(live: Live, clients: int) -> Counter[Any]:
    """How many streams ended how; none may hang."""
    body = {"model": "tiny", "messages": USER, "stream": True, "max_tokens": 20, "ignore_eos": True}

    async def one(http: httpx.AsyncClient) -> Any:
        async with http.stream("POST", f"{live.url}/v1/chat/completions", json=body) as reply:
            text = (await reply.aread()).decode()
            return text.endswith("data: [DONE]\n\n") if reply.status_code == 200 else reply.status_code

    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=clients)) as http:
        return Counter(await asyncio.gather(*(one(http) for _ in range(clients))))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many requests that began in this test something still holds on to."""
    begun: WeakSet[Any] = WeakSet()
    for kind in (RequestHandle, RunningRequest, StreamingReply, RequestState):

        def noted(self: Any, *given: Any, _made: Any = kind.__init__, **named: Any) -> None:
            _made(self, *given, **named)
            begun.add(self)

        monkeypatch.setattr(kind, "__init__", noted)

    def count() -> int:
        gc.collect()
        return len(begun)

    return count


def test_a_crowd_is_served_or_told_to_come_back(crowded: Live, held: Callable[[], int]) -> None:
    ends = asyncio.run(crowd(crowded, 200))
    assert set(ends) <= {True, 429}
    assert ends[True] >= 100
    until(lambda: crowded.engine.stats().active == 0)
    stats = crowded.engine.stats()
    assert (stats.waiting, stats.leaks) == (0, 0)
    until(lambda: held() == 0)


def test_memory_returns_to_its_start(crowded: Live, held: Callable[[], int]) -> None:
    asyncio.run(crowd(crowded, 20))  # whatever is made once is made now
    until(lambda: held() == 0)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        asyncio.run(crowd(crowded, 20))
        until(lambda: held() == 0)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 1 << 20


def test_clients_that_leave_free_their_slots(crowded: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"model": "tiny", "messages": USER, "stream": True, "max_tokens": 4000, "ignore_eos": True}
    before = crowded.engine.stats().cancelled
    httpx.post(f"{crowded.url}/v1/chat/completions", json=body | {"stream": False, "max_tokens": 1})  # it is loaded
    runner = crowded.service.loaded["tiny"].runner
    monkeypatch.setattr(runner, "before", lambda segments: time.sleep(0.001))  # nobody is done before he leaves
    for _ in range(20):  # more than there are slots: those that stayed would block the last ones
        with httpx.stream("POST", f"{crowded.url}/v1/chat/completions", json=body) as reply:
            next(reply.iter_lines())
    until(lambda: crowded.engine.stats().active == 0)
    assert crowded.engine.stats().cancelled - before == 20
