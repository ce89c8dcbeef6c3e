"""llama.cpp's native routes over a socket, as llama.vim and scripts use them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from engine.types import Request
from tests.app.server.live import Live


def ask(live: Live, path: str, **body: Any) -> Any:
    reply = httpx.post(f"{live.url}{path}", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def refused(live: Live, path: str, **body: Any) -> str:
    reply = httpx.post(f"{live.url}{path}", json=body)
    assert reply.status_code == 400, reply.text
    return str(reply.json()["error"]["param"])


def test_a_prompt_is_a_text_tokens_or_both_in_turn(live: Live) -> None:
    live.engine.script = lambda request: f"<{len(request.prompt_ids)}>"
    assert ask(live, "/completion", prompt="abc")["content"] == "<3>"
    assert ask(live, "/completion", prompt={"prompt_string": "abcd"})["content"] == "<4>"
    assert ask(live, "/completion", prompt=[1, "ab", 2])["content"] == "<4>"
    several = ask(live, "/completion", prompt=["a", "ab", [1, 2, "c"]])
    assert [(one["index"], one["content"]) for one in several] == [(0, "<1>"), (1, "<2>"), (2, "<3>")]
    assert (
        refused(live, "/completion", prompt={"prompt_string": "a", "multimodal_data": ["eA=="]})
        == "prompt.multimodal_data"
    )


def test_the_reply_has_the_fields_of_llama_cpp(live: Live) -> None:
    live.engine.reply = "one\ntwo"
    reply = ask(live, "/completion", prompt="ab", n_predict=20, return_tokens=True)
    assert (reply["content"], reply["stop"], reply["stop_type"], reply["has_new_line"]) == (
        "one\ntwo",
        True,
        "eos",
        True,
    )
    assert len(reply["tokens"]) == reply["tokens_predicted"] == reply["timings"]["predicted_n"]
    assert (reply["prompt"], reply["tokens_evaluated"], reply["truncated"]) == ("ab", 2, False)
    assert reply["generation_settings"]["n_predict"] == 20
    assert ask(live, "/completion", prompt="ab")["tokens"] == []
    fields = ["content", "timings/prompt_n", "generation_settings/n_ctx", "no/such"]
    selected = ask(live, "/completion", prompt="ab", response_fields=fields)
    assert selected == {
        "content": "one\ntwo",
        "timings/prompt_n": 2,
        "generation_settings/n_ctx": live.service.loaded["tiny"].context,
    }


def test_sampling_reaches_the_engine(live: Live) -> None:
    seen: list[Request] = []
    live.engine.script = lambda request: seen.append(request) or "x"
    more = dict(n_predict=7, temperature=3.0, top_k=-1, typical_p=0.5, repeat_penalty=1.5, repeat_last_n=8, seed=-1)
    more |= dict(stop=["a", "b"], logit_bias=[[5, 2.0], ["ab", False], [6, True]], n_probs=3, grammar='root ::= "x"')
    ask(live, "/completion", prompt="ab", **more)
    sampling = seen[0].sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_k, sampling.typical_p) == (7, 3.0, 0, 0.5)
    assert (sampling.repetition_penalty, sampling.repetition_window, sampling.seed) == (1.5, 8, None)
    never = dict.fromkeys(live.service.loaded["tiny"].tokenizer.encode("ab", add_special=False), -10000.0)
    assert (tuple(sampling.stop), sampling.logit_bias, sampling.top_logprobs) == (("a", "b"), {5: 2.0} | never, 3)
    assert sampling.grammar is not None
    assert sampling.grammar.kind == "ebnf"
    ask(live, "/completion", prompt="ab", n_predict=-1, json_schema={"type": "object"}, logit_bias={"9": 1})
    assert (seen[1].sampling.max_tokens, seen[1].sampling.logit_bias) == (None, {9: 1.0})
    assert seen[1].sampling.grammar is not None
    assert refused(live, "/completion", prompt="a", grammar="root ::= [a]", json_schema={}) == "json_schema"


def test_a_prompt_is_computed_for_later(live: Live) -> None:
    """llama.vim warms the cache so."""
    reply = ask(live, "/completion", prompt="ab", n_predict=0)
    assert (reply["content"], reply["tokens_predicted"], reply["stop_type"]) == ("", 0, "limit")


def test_probabilities_have_ids(live: Live) -> None:
    live.engine.reply = "cd"
    (first, _) = ask(live, "/completion", prompt="ab", n_probs=1)["completion_probabilities"]
    assert (first["token"], bytes(first["bytes"]), first["logprob"]) == ("c", b"c", -0.5)
    assert set(first["top_logprobs"][0]) == {"id", "token", "bytes", "logprob"}


def test_a_stream_ends_with_the_whole_reply_but_its_text(live: Live) -> None:
    live.engine.reply = "Hello"
    reply = httpx.post(f"{live.url}/completion", json={"prompt": "ab", "stream": True, "stop": ["l"]})
    events = [json.loads(line.removeprefix("data: ")) for line in reply.text.splitlines() if line.startswith("data: ")]
    assert [event["stop"] for event in events[:-1]] == [False] * (len(events) - 1)
    assert "".join(event["content"] for event in events[:-1]) == "Hello"
    assert (events[-1]["stop"], events[-1]["content"], events[-1]["tokens_predicted"]) == (True, "", 5)


def test_fields_of_slots_and_samplers_are_ignored(live: Live) -> None:
    body = {"prompt": "a", "id_slot": 3, "cache_prompt": True, "samplers": ["top_k"], "t_max_predict_ms": 500}
    reply = httpx.post(f"{live.url}/completion", json=body)
    assert reply.status_code == 200
    assert set(reply.headers["x-grus-ignored"].split(", ")) == {
        "id_slot",
        "cache_prompt",
        "samplers",
        "t_max_predict_ms",
    }


@pytest.mark.parametrize("extra", [{}, {"filename": "ok"}, {"filename": 123, "text": "abc"}])
def test_further_files_have_a_text(live: Live, extra: Any) -> None:
    assert refused(live, "/infill", input_prefix="a", input_suffix="b", input_extra=[extra]).startswith("input_extra.0")


def test_a_model_without_fill_in_the_middle_says_so(live: Live) -> None:
    assert refused(live, "/infill", input_prefix="a", input_suffix="b") == "suffix"


def test_the_template_is_applied_however_long_the_conversation_is(live: Live) -> None:
    context = live.service.loaded["tiny"].context if "tiny" in live.service.loaded else 4096
    reply = ask(live, "/apply-template", messages=[{"role": "user", "content": "x" * 2 * context}])
    assert reply["prompt"].startswith("<|im_start|>user\nxxx")
    assert reply["prompt"].endswith("<|im_start|>assistant\n")
    more = {"add_generation_prompt": False, "messages": [{"role": "user", "content": "Hi"}]}
    assert ask(live, "/apply-template", **more)["prompt"] == "<|im_start|>user\nHi<|im_end|>\n"


def test_a_conversation_is_counted(live: Live) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    prompt = ask(live, "/apply-template", messages=messages)["prompt"]
    counted = len(live.service.loaded["tiny"].tokenizer.encode(prompt))
    for path in ("/v1/chat/completions/input_tokens", "/chat/completions/input_tokens"):
        assert ask(live, path, messages=messages)["input_tokens"] == counted


def test_properties_name_the_model_and_not_its_place(live: Live) -> None:
    found = httpx.get(f"{live.url}/props").json()
    model = live.service.loaded["tiny"]
    assert (found["model_alias"], found["model_path"]) == ("tiny", "tiny")
    assert found["default_generation_settings"]["n_ctx"] == model.context
    assert found["chat_template"] == model.template.source()
    assert found["modalities"] == {"vision": False, "audio": False}


def test_a_context_that_is_exceeded_has_its_numbers(live: Live) -> None:
    context = live.service.loaded["tiny"].context if "tiny" in live.service.loaded else 4096
    reply = httpx.post(f"{live.url}/v1/completions", json={"prompt": "x" * 2 * context})
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["code"], error["n_ctx"]) == ("context_length_exceeded", context)
    assert error["n_prompt_tokens"] >= context
