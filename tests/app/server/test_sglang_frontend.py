"""What SGLang's own frontend and other clients of its API send, as recorded from `sglang` 0.4.9."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.checkpoints import save

GEN = {  # of `sgl.gen`
    "skip_special_tokens": True, "spaces_between_special_tokens": True, "max_new_tokens": 12, "min_new_tokens": 0, "n": 1,
    "stop": [], "stop_token_ids": [], "temperature": 0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "frequency_penalty": 0.0,
    "presence_penalty": 0.0, "ignore_eos": False, "regex": None, "json_schema": None,
}  # fmt: skip
PROMPT = "The sky is "
CHOICES = ["blue", "a very large kite", "b", "not here"]


def generate(live: Live, **body: Any) -> Any:
    reply = httpx.post(f"{live.url}/generate", json=body, timeout=30)
    assert reply.status_code == 200, reply.text
    return reply.json()


def refused(live: Live, path: str = "/generate", **body: Any) -> Any:
    reply = httpx.post(live.url + path, json=body, timeout=10)
    assert reply.status_code == 400, reply.text
    return reply.json()["error"]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    model = save("qwen3", tmp_path_factory.mktemp("real") / "tiny", max_position_embeddings=2048)
    where = LoadOptions(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({"real": str(model)}, use_cache=False)
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


# -- on a script


@pytest.mark.parametrize("stream", [False, True])
def test_what_gen_sends(live: Live, stream: bool) -> None:
    reply = httpx.post(f"{live.url}/generate", json={"text": "Hi", "sampling_params": GEN, "stream": stream})
    assert reply.status_code == 200
    assert "x-grus-ignored" not in reply.headers
    whole = reply.json() if not stream else json.loads(reply.text.split("\n\n")[-3].removeprefix("data: "))
    assert whole["text"] == "Hello there."


def test_nulls_and_falses_of_a_client_that_uses_none_of_it(live: Live) -> None:
    nothing = {
        "lora_path": [None], "session_params": None, "token_ids_logprob": [], "return_hidden_states": False,
        "custom_logit_processor": None, "audio_data": [None], "top_logprobs_num": 0, "logprob_start_len": -1,
    }  # fmt: skip
    reply = httpx.post(f"{live.url}/generate", json={"text": ["Hi"], "return_logprob": False} | nothing)
    assert reply.status_code == 200
    assert "x-grus-ignored" not in reply.headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session_params", {"id": "a"}),
        ("token_ids_logprob", [1]),
        ("return_hidden_states", True),
        ("return_hidden_states", [False, True]),
        ("custom_logit_processor", "x"),
        ("input_embeds", [[0.5]]),
        ("audio_data", "x"),
    ],
)
def test_what_changes_the_reply_is_refused_by_name(live: Live, name: str, value: Any) -> None:
    assert refused(live, text="a", **{name: value})["param"] == name


def test_sampling_params_that_cannot_be_followed(live: Live) -> None:
    assert refused(live, text="a", sampling_params={"structural_tag": "x"})["param"] == "sampling_params.structural_tag"
    for first, second in (("regex", "ebnf"), ("json_schema", "stop_regex")):
        params = {first: "a", second: "b"}
        assert refused(live, text="a", sampling_params=params)["param"] == f"sampling_params.{second}"
    reply = httpx.post(f"{live.url}/generate", json={"text": "a", "sampling_params": {"custom_params": {"a": 1}}})
    assert reply.headers["x-grus-ignored"] == "sampling_params.custom_params"


def test_a_stop_string_may_stay(live: Live) -> None:
    end = live.service.loaded["tiny"].tokenizer.id("<|im_end|>")
    live.engine.reply = "one<|im_end|>two"
    shown = {
        skip: generate(live, text="a", sampling_params={"skip_special_tokens": skip})["text"] for skip in (True, False)
    }
    assert shown[False] == "one<|im_end|>two"
    assert isinstance(end, int)


def test_scores_of_each_prompt_of_a_batch(live: Live) -> None:
    live.engine.reply = "c"
    batch = generate(
        live, text=["ab", "abc"], return_logprob=[True, False], logprob_start_len=[1, -1], top_logprobs_num=[1, 0],
    )  # fmt: skip
    assert [entry[:2] for entry in batch[0]["meta_info"]["input_token_logprobs"]] == [[None, 65]]
    assert batch[0]["meta_info"]["input_top_logprobs"] == [None]
    assert "input_token_logprobs" not in batch[1]["meta_info"]
    assert refused(live, text="ab", return_logprob=True, logprob_start_len=2)["param"] == "logprob_start_len"


def test_a_prompt_alone_generates_nothing(live: Live) -> None:
    reply = generate(live, text="abc", sampling_params={"max_new_tokens": 0})
    assert (reply["text"], reply["output_ids"]) == ("", [])
    assert reply["meta_info"]["finish_reason"] == {"type": "length", "length": 0}
    assert (reply["meta_info"]["prompt_tokens"], reply["meta_info"]["completion_tokens"]) == (3, 0)
    scored = generate(live, text="abc", sampling_params={"max_new_tokens": 0}, return_logprob=True)["meta_info"]
    assert [entry[0] for entry in scored["input_token_logprobs"]] == [None, -1.0, -1.0]
    assert scored["output_token_logprobs"] == []


def test_routes_beside_generate(live: Live) -> None:
    assert httpx.get(f"{live.url}/flush_cache").json()["success"]
    assert httpx.get(f"{live.url}/get_load").json()["num_waiting_reqs"] == 0
    assert httpx.get(f"{live.url}/health").status_code == 200
    assert httpx.put(f"{live.url}/generate", json={"text": "a"}).json()["text"] == "Hello there."
    for path in ("/classify",):
        assert path in refused(live, path, query="a", documents=["b"])["message"]


def test_vectors(live: Live) -> None:
    one = httpx.post(f"{live.url}/encode", json={"text": "Hi"}).json()
    assert (len(one["embedding"]), one["meta_info"]["prompt_tokens"]) == (4, 2)
    many = httpx.post(f"{live.url}/encode", json={"input_ids": [[1], [2, 3]]}).json()
    assert [reply["meta_info"]["prompt_tokens"] for reply in many] == [1, 2]


def test_tokens_and_back_without_a_version_in_the_path(live: Live) -> None:
    def post(path: str, **body: Any) -> Any:
        return httpx.post(live.url + path, json=body).json()

    assert post("/tokenize", prompt="Hi") == {"count": 2, "max_model_len": 4096, "tokens": [39, 72], "token_strs": None}
    many = post("/tokenize", prompt=["Hi", "a"])
    assert (many["count"], many["tokens"]) == ([2, 1], [[39, 72], [64]])
    assert post("/tokenize", content="Hi", with_pieces=True)["tokens"] == [
        {"id": 39, "piece": "H"}, {"id": 72, "piece": "i"},
    ]  # fmt: skip
    accent = post("/tokenize", content="é", with_pieces=True)["tokens"]
    assert [token["piece"] for token in accent] == [[0xC3], [0xA9]]
    assert post("/detokenize", tokens=[39, 72]) == {"prompt": "Hi", "text": "Hi", "content": "Hi"}
    assert post("/detokenize", tokens=[[39], [72]])["text"] == ["H", "i"]
    assert post("/detokenize", tokens=[]) == {"prompt": "", "text": "", "content": ""}
    end = live.service.loaded["tiny"].tokenizer.id("<|im_end|>")
    assert post("/detokenize", tokens=[39, end])["text"] == "H"
    assert post("/v1/detokenize", tokens=[39, end])["text"] == "H<|im_end|>"
    assert post("/detokenize", tokens=[1 << 20])["error"]["param"] == "tokens"


# -- in OpenAI's routes


def test_grammars_of_a_chat(live: Live) -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
    for field, kind in (("regex", "regex"), ("ebnf", "ebnf"), ("stop_regex", "ebnf")):
        reply = httpx.post(f"{live.url}/v1/chat/completions", json=body | {field: "a+"})
        assert reply.status_code == 200
        grammar = live.engine.requests[-1].sampling.grammar
        assert grammar is not None
        assert grammar.kind == kind
        assert httpx.post(f"{live.url}/v1/completions", json={"prompt": "a", field: "a+"}).status_code == 200
        assert live.engine.requests[-1].sampling.grammar == grammar
    both = body | {"regex": "a", "response_format": {"type": "json_object"}}
    assert refused(live, "/v1/chat/completions", **both)["param"] == "response_format"


def test_reasoning_stays_in_the_answer_where_it_is_wanted_there(live: Live) -> None:
    live.engine.reply = "<think>\nhm\n</think>\n\nYes."
    body = {"messages": [{"role": "user", "content": "Hi"}], "stream_reasoning": True, "skip_special_tokens": False}
    said = [
        httpx.post(f"{live.url}/v1/chat/completions", json=body | {"separate_reasoning": separate})
        for separate in (True, False)
    ]
    contents = [reply.json()["choices"][0]["message"]["content"] for reply in said]
    assert contents == ["Yes.", "<think>\nhm\n</think>\n\nYes."]
    assert said[0].headers["x-grus-ignored"] == "stream_reasoning, skip_special_tokens"


# -- on a real engine


def direct(real: Live, prefix: str, text: str) -> list[float]:
    """Log probabilities of a text behind another, computed by the reference library."""
    import torch
    from transformers import AutoModelForCausalLM

    loaded = real.service.loaded["real"]
    before, ids = loaded.tokenizer.encode(prefix), loaded.tokenizer.encode(prefix + text)
    assert ids[: len(before)] == before
    with torch.no_grad():
        model = AutoModelForCausalLM.from_pretrained(loaded.folder, dtype=torch.float32)
        scores = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    return [float(scores[at - 1, ids[at]]) for at in range(len(before), len(ids))]


def select(real: Live) -> tuple[list[list[list[Any]]], str]:
    """The requests of the frontend's `select`, and its decision from their replies."""
    alone = {"max_new_tokens": 0, "temperature": 0}
    length = generate(real, text=PROMPT, sampling_params={"max_new_tokens": 0})["meta_info"]["prompt_tokens"]
    replies = generate(
        real, text=[PROMPT + choice for choice in CHOICES], sampling_params=alone, return_logprob=True,
        return_text_in_logprobs=True, logprob_start_len=max(length - 2, 0),
    )  # fmt: skip
    scores = [reply["meta_info"]["input_token_logprobs"] for reply in replies]
    kept = [entries[1:] if PROMPT.endswith(entries[0][2]) else entries for entries in scores]
    means = [sum(entry[0] for entry in entries) / len(entries) for entries in kept]
    return kept, CHOICES[max(range(len(CHOICES)), key=means.__getitem__)]


def test_select_chooses_the_likeliest(real: Live) -> None:
    kept, decision = select(real)
    means = {}
    for choice, entries in zip(CHOICES, kept):
        scores = direct(real, PROMPT, choice)
        means[choice] = sum(scores) / len(scores)
        assert "".join(entry[2] for entry in entries) == choice
        assert [entry[0] for entry in entries] == pytest.approx(scores, abs=1e-3)
    assert decision == max(means, key=means.__getitem__)


def test_unconditional_scores_are_of_the_whole_prompt(real: Live) -> None:
    kept, _ = select(real)
    ids = [[entry[1] for entry in entries] for entries in kept]
    replies = generate(real, input_ids=ids, sampling_params={"max_new_tokens": 0}, return_logprob=True)
    for row, reply in zip(ids, replies):
        entries = reply["meta_info"]["input_token_logprobs"]
        assert [entry[1] for entry in entries] == row
        assert entries[0][0] is None
        assert None not in [entry[0] for entry in entries[1:]]


def test_the_scores_of_a_prompt_have_others_beside_them(real: Live) -> None:
    params = {"max_new_tokens": 1, "temperature": 0}
    meta = generate(
        real, text="abc", sampling_params=params, return_logprob=True, logprob_start_len=0, top_logprobs_num=2
    )["meta_info"]
    assert [len(entry) if entry else None for entry in meta["input_top_logprobs"]] == [None, 2, 2]
    best = meta["input_top_logprobs"][1]
    assert (
        best[0][0] >= best[1][0] >= meta["input_token_logprobs"][1][0]
        or best[0][1] == meta["input_token_logprobs"][1][1]
    )


def test_a_reply_ends_with_the_match_of_an_expression(real: Live) -> None:
    letters = {str(id): 100 for id in range(64, 90)}  # a text that does not end by itself
    params = {"max_new_tokens": 200, "temperature": 0, "logit_bias": letters}
    plain = generate(real, text="abc", sampling_params=params)["text"]
    middle = plain[3:5]
    reply = generate(real, text="abc", sampling_params=params | {"stop_regex": [f"{middle[0]}[{middle[1]}]"]})
    assert reply["text"] == plain[: plain.index(middle) + 2]
    assert reply["meta_info"]["finish_reason"]["type"] == "stop"
    never = generate(real, text="abc", sampling_params=params | {"stop_regex": "/9/", "max_new_tokens": 9})
    assert never["text"] == plain[:9]


@pytest.mark.parametrize("expression", [")(", "(?=a)b", "^a$", "["])
def test_an_expression_that_cannot_be_matched_is_refused(real: Live, expression: str) -> None:
    assert "regex" in refused(real, text="abc", sampling_params={"stop_regex": expression})["message"]


def test_the_stop_that_ended_a_reply_is_reported(real: Live) -> None:
    letters = {str(id): 100 for id in range(64, 90)}
    body = {"prompt": "abc", "max_tokens": 50, "temperature": 0, "logit_bias": letters}

    def ask(**more: Any) -> Any:
        return httpx.post(f"{real.url}/v1/completions", json=body | more, timeout=30)

    text = ask().json()["choices"][0]["text"]
    stop = text[3:5]
    cut = ask(stop=stop).json()["choices"][0]
    assert (cut["text"], cut["matched_stop"]) == (text[: text.index(stop)], stop)
    kept = ask(stop=stop, no_stop_trim=True).json()["choices"][0]["text"]
    assert kept == text[: text.index(stop)] + stop
    lines = [line for line in ask(stop=stop, no_stop_trim=True, stream=True).text.split("\n\n") if "{" in line]
    chunks = [json.loads(line.removeprefix("data: "))["choices"][0] for line in lines]
    assert "".join(chunk["text"] for chunk in chunks) == kept
    assert chunks[-1]["matched_stop"] == stop
    chat = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 50, "temperature": 0, "logit_bias": letters}
    said = httpx.post(f"{real.url}/v1/chat/completions", json=chat | {"stop": list("abcdefgh")}, timeout=30).json()
    assert said["choices"][0]["matched_stop"] in [None, *"abcdefgh"]
