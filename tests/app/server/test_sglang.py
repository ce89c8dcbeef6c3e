"""SGLang's native routes, byte by byte: there is no client library for them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live
from tests.app.server.scripted import schema_of, until


def generate(live: Live, **body: Any) -> httpx.Response:
    return httpx.post(f"{live.url}/generate", json=body, timeout=10)


def events(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_a_text_and_tokens(live: Live) -> None:
    reply = generate(live, text="abc", sampling_params={"max_new_tokens": 5, "temperature": 0}).json()
    assert reply["text"] == "Hello"
    assert len(reply["output_ids"]) == 5
    meta = reply["meta_info"]
    assert (meta["prompt_tokens"], meta["completion_tokens"]) == (3, 5)
    assert meta["finish_reason"] == {"type": "length", "length": 5}
    assert generate(live, input_ids=[1, 2]).json()["meta_info"]["prompt_tokens"] == 2


def test_batches_and_choices_are_lists(live: Live) -> None:
    live.engine.script = lambda request: f"<{len(request.prompt_ids)}>"
    params = [{"max_new_tokens": 9}, {"max_new_tokens": 2}]
    batch = generate(live, text=["a", "abc"], sampling_params=params, rid=["x", "y"]).json()
    assert [(one["text"], one["meta_info"]["id"]) for one in batch] == [("<1>", "x"), ("<3", "y")]
    assert [one["text"] for one in generate(live, input_ids=[[1]], sampling_params={"n": 2}).json()] == ["<1>"] * 2


def test_a_stream_repeats_the_text_so_far(live: Live) -> None:
    live.engine.reply = "abc"
    seen = events(generate(live, text="x", stream=True).text)
    assert [one["text"] for one in seen] == ["a", "ab", "abc", "abc"]
    assert seen[-1]["meta_info"]["finish_reason"]["type"] == "stop"
    batch = events(generate(live, text=["x", "y"], stream=True).text)
    assert {one["index"] for one in batch} == {0, 1}


def test_logprobs(live: Live) -> None:
    live.engine.reply = "c"
    more: dict[str, Any] = {"return_logprob": True, "top_logprobs_num": 1, "return_text_in_logprobs": True}
    meta = generate(live, text="ab", logprob_start_len=0, **more).json()["meta_info"]
    assert [(lp, word) for lp, _, word in meta["input_token_logprobs"]] == [(None, "a"), (-1.0, "b")]
    assert [(lp, word) for lp, _, word in meta["output_token_logprobs"]] == [(-0.5, "c")]
    assert len(meta["output_top_logprobs"][0]) == 1
    assert generate(live, text="ab", **more).json()["meta_info"]["input_token_logprobs"] == []


def test_grammars(live: Live) -> None:
    generate(live, text="a", sampling_params={"regex": "a+"})
    assert live.engine.requests[-1].sampling.grammar.kind == "regex"
    generate(live, text="a", sampling_params={"json_schema": '{"type": "object"}'})
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}


def test_what_is_wrong_is_named(live: Live) -> None:
    def named(**body: Any) -> str:
        reply = generate(live, **body)
        assert reply.status_code == 400
        return str(reply.json()["error"]["param"] or reply.json()["error"]["message"])

    assert "either" in named(text="a", input_ids=[1])
    assert named(text="a", image_data="x") == "image_data"
    assert named(text=["a", "b"], sampling_params=[{}]) == "sampling_params"
    assert named(text="a", sampling_params={"regex": "a", "ebnf": "b"}) == "sampling_params.ebnf"
    assert named(text=["a", "b"], rid=["x", "x"]) == "rid"


def test_a_request_is_aborted_by_its_id(live: Live) -> None:
    live.engine.reply, live.engine.pause = "x" * 1000, 0.005
    with httpx.stream("POST", f"{live.url}/generate", json={"text": "a", "rid": "mine", "stream": True}) as reply:
        lines = reply.iter_lines()
        next(lines)
        assert "1 requests" in httpx.post(f"{live.url}/abort_request", json={"rid": "mine"}).json()["message"]
        last = [line for line in lines if line.startswith("data: {")][-1]
    assert json.loads(last.removeprefix("data: "))["meta_info"]["finish_reason"] == {"type": "abort"}
    until(lambda: live.engine.running == 0)
    assert httpx.post(f"{live.url}/abort_request", json={}).status_code == 400
    assert "0 requests" in httpx.post(f"{live.url}/abort_request", json={"abort_all": True}).json()["message"]


def test_what_the_server_says_of_itself(live: Live) -> None:
    for path in ("/model_info", "/get_model_info"):
        assert httpx.get(live.url + path).json()["max_context_length"] == 4096
    for path in ("/server_info", "/get_server_info"):
        info = httpx.get(live.url + path).json()
        assert info["device"] == "Cpu"
        assert "api_keys" not in json.dumps(info)
        assert info["internal_states"][0]["active"] == 0
    assert httpx.get(f"{live.url}/health_generate").status_code == 200
    assert httpx.post(f"{live.url}/flush_cache").json()["success"]


@pytest.mark.parametrize(("device", "shown"), [("cuda:1", "Cuda(1)"), ("metal", "Metal(0)"), ("cpu", "Cpu")])
def test_devices(device: str, shown: str) -> None:
    from types import SimpleNamespace

    from app.server.sglang.info import device_name

    assert device_name(SimpleNamespace(backend=SimpleNamespace(device=device))) == shown  # type: ignore[arg-type]
