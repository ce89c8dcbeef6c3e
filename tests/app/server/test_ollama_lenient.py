"""What Ollama's clients send beyond its documentation: odd options, OpenAI's message shapes, older and newer fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import ollama
import pytest

from app.server.ollama.details import tagged
from tests.app.server.live import Live, scripted
from tests.app.server.scripted import schema_of
from tests.checkpoints import save

USER = [{"role": "user", "content": "Hi"}]
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


def post(live: Live, path: str, **body: Any) -> httpx.Response:
    return httpx.post(live.url + path, json={"model": "tiny", "stream": False, **body}, timeout=10)


def chat(live: Live, **body: Any) -> httpx.Response:
    return post(live, "/api/chat", **({"messages": USER} | body))


def prompt(live: Live) -> str:
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"temperature": 500}, {"temperature": 100.0}),
        ({"temperature": -1}, {"temperature": 0.0}),
        ({"top_k": 1 << 40}, {"top_k": (1 << 31) - 1}),
        ({"top_k": -1, "top_p": 0, "min_p": 7}, {"top_k": 0, "top_p": 1e-6, "min_p": 1.0}),
        ({"top_p": 1.5, "typical_p": 0}, {"top_p": 1.0, "typical_p": 1e-6}),
        ({"num_predict": 0}, {"max_tokens": None}),
        ({"num_predict": -1}, {"max_tokens": None}),
        ({"num_predict": -2}, {"max_tokens": None}),
        ({"num_predict": 7.9}, {"max_tokens": 7}),
        ({"repeat_penalty": 0}, {"repetition_penalty": 1.0}),
        ({"repeat_penalty": 1.3, "repeat_last_n": 0}, {"repetition_penalty": 1.0}),
        ({"repeat_last_n": -1}, {"repetition_window": 0}),
        ({}, {"repetition_window": 64, "seed": None}),
        ({"presence_penalty": 5, "frequency_penalty": -5}, {"presence_penalty": 5.0, "frequency_penalty": -5.0}),
        ({"seed": -1}, {"seed": None}),
        ({"seed": 7}, {"seed": 7}),
        ({"stop": ["", "x"]}, {"stop": ("x",)}),
        ({"stop": "x"}, {"stop": ("x",)}),
        ({"temperature": None, "stop": None, "num_ctx": None}, {"temperature": None, "stop": ()}),
        ({"num_ctx": 0}, {"max_tokens": None}),
    ],
)
def test_an_option_beyond_its_range_is_the_end_of_the_range(
    live: Live, options: dict[str, Any], meant: dict[str, Any]
) -> None:
    reply = chat(live, options=options)
    assert reply.status_code == 200
    assert "x-grus-ignored" not in reply.headers
    sampling = live.engine.requests[-1].sampling
    assert {name: getattr(sampling, name) for name in meant} == meant


def test_options_without_effect_are_reported(live: Live) -> None:
    old = {"mirostat": 2, "tfs_z": 0.5, "penalize_newline": True, "num_gqa": 8, "vocab_only": False, "f16_kv": True}
    reply = chat(live, options=old | {"num_thread": 4, "use_mmap": None})
    assert reply.status_code == 200
    assert set(reply.headers["x-grus-ignored"].split(", ")) == {f"options.{name}" for name in [*old, "num_thread"]}


def test_options_of_another_type_are_refused(live: Live) -> None:
    for options in ({"temperature": "warm"}, {"num_predict": []}, {"stop": [1]}):
        reply = chat(live, options=options)
        assert reply.status_code == 400
        assert next(iter(options)) in reply.json()["error"]


@pytest.mark.parametrize(
    ("message", "rendered"),
    [
        ({"role": "User", "content": "Hi"}, "<|im_start|>user\nHi"),
        ({"role": "developer", "content": "Be kind."}, "<|im_start|>system\nBe kind."),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "user\na\nb"),
        ({"role": "assistant", "content": None, "thinking": "hm"}, "assistant"),
        ({"role": "tool", "content": "Rain", "name": "weather"}, "<tool_response>\nRain"),
        ({"role": "function", "content": "Rain", "tool_name": "weather"}, "<tool_response>\nRain"),
        ({"role": "user", "content": "Hi", "images": [], "annotations": {}}, "user\nHi"),
    ],
)
def test_messages_of_other_shapes(live: Live, message: dict[str, Any], rendered: str) -> None:
    assert chat(live, messages=[message, *USER]).status_code == 200
    assert rendered in prompt(live)


@pytest.mark.parametrize("arguments", [{"city": "Kyiv"}, '{"city": "Kyiv"}'])
def test_calls_come_back_as_objects_or_as_text(live: Live, arguments: Any) -> None:
    call = {"id": "x", "type": "function", "function": {"index": 0, "name": "weather", "arguments": arguments}}
    messages = [*USER, {"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "content": "Rain"}]
    assert chat(live, messages=messages, tools=[TOOL]).status_code == 200
    assert '"arguments": {"city": "Kyiv"}' in prompt(live)


def test_tools_that_are_no_functions_are_left_out(live: Live) -> None:
    live.engine.reply = CALL
    reply = chat(live, tools=[{"function": {"name": "weather"}}, {"type": "web_search"}])
    assert reply.json()["message"]["tool_calls"][0]["function"]["arguments"] == {"city": "Kyiv"}
    assert reply.headers["x-grus-ignored"] == "tools"


@pytest.mark.parametrize(
    ("choice", "forced", "ignored"),
    [
        ("auto", False, None),
        ("required", True, None),
        ({"type": "function", "function": {"name": "weather"}}, True, None),
        ({"type": "function", "function": {"name": "other"}}, False, "tool_choice"),
        ("sometimes", False, "tool_choice"),
        (None, False, None),
    ],
)
def test_a_tool_choice_is_followed_where_it_can_be(live: Live, choice: Any, forced: bool, ignored: str | None) -> None:
    reply = chat(live, tools=[TOOL], tool_choice=choice)
    assert reply.headers.get("x-grus-ignored") == ignored
    assert (live.engine.requests[-1].sampling.grammar is not None) == forced


def test_a_tool_choice_of_none_hides_the_tools(live: Live) -> None:
    chat(live, tools=[TOOL], tool_choice="none")
    assert "weather" not in prompt(live)
    assert chat(live, tool_choice="required").headers["x-grus-ignored"] == "tool_choice"


@pytest.mark.parametrize("think", [True, False, "low", "medium", "high", "max", "colossal", None])
def test_thinking_is_a_hint(live: Live, think: Any) -> None:
    assert chat(live, think=think).status_code == 200
    assert prompt(live).endswith("</think>\n\n") == (think is False)


def test_a_model_that_does_not_reason_ignores_think(tmp_path: Path) -> None:
    with scripted(tmp_path, model_type="qwen3_vl") as live:
        for think in (True, "high"):
            assert chat(live, think=think).headers["x-grus-ignored"] == "think"
        assert "x-grus-ignored" not in chat(live, think=False).headers


def test_fields_of_any_version(live: Live) -> None:
    reply = chat(live, truncate=True, shift=True, format="", keep_alive=None, top_logprobs=3, tools=None)
    assert reply.status_code == 200
    assert set(reply.headers["x-grus-ignored"].split(", ")) == {"truncate", "shift", "top_logprobs"}
    assert "x-grus-ignored" not in chat(live, truncate=False, shift=False).headers
    assert httpx.post(f"{live.url}/api/chat", json={"name": "tiny", "messages": USER}).status_code == 200
    assert "model is required" in httpx.post(f"{live.url}/api/chat", json={"messages": USER}).json()["error"]
    assert httpx.post(f"{live.url}/api/chat", content=json.dumps({"model": "tiny"})).json()["done_reason"] == "load"
    assert chat(live, messages=[]).json()["done_reason"] == "load"


def test_a_reply_names_the_model_as_it_was_asked_for(live: Live) -> None:
    assert chat(live, model="tiny:latest").json()["model"] == "tiny:latest"
    assert post(live, "/api/embed", input="a").json()["model"] == "tiny"


# -- /api/generate


def test_a_context_is_carried_from_reply_to_reply(live: Live) -> None:
    first = post(live, "/api/generate", prompt="One").json()
    live_prompt = live.engine.requests[-1].prompt_ids
    said = live.service.loaded["tiny"].tokenizer.encode("Hello there.", add_special=False)
    assert first["context"] == [*live_prompt, *said]
    second = post(live, "/api/generate", prompt="Two", context=first["context"]).json()
    assert "One" in prompt(live)
    assert "Hello there." in prompt(live)
    assert second["context"][: len(first["context"])] == first["context"]
    lines = httpx.post(f"{live.url}/api/generate", json={"model": "tiny", "prompt": "One"}).text.splitlines()
    assert json.loads(lines[-1])["context"] == first["context"]
    assert "context" not in json.loads(lines[0])
    wrong = post(live, "/api/generate", prompt="Two", context=[1 << 20])
    assert wrong.status_code == 400
    assert "no token" in wrong.json()["error"]
    too_long = post(live, "/api/generate", prompt="Two", context=[65] * 5000)
    assert "This model's maximum context length is 4096 tokens." in too_long.json()["error"]


def test_a_template_of_ones_own_is_ignored_and_reported(live: Live) -> None:
    own = live.service.loaded["tiny"].template.source()
    for template in ("", own, None):
        assert "x-grus-ignored" not in post(live, "/api/generate", prompt="a", template=template).headers
    assert post(live, "/api/generate", prompt="a", template="{{ .Prompt }}").headers["x-grus-ignored"] == "template"


def test_raw_prompts(live: Live) -> None:
    post(live, "/api/generate", prompt="as it is", raw=True, format="json", suffix="", think=False, images=[])
    assert prompt(live) == "as it is"
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}
    assert "context" not in post(live, "/api/generate", prompt="a", raw=True).json()
    for param, value in {"system": "x", "template": "x", "context": [1]}.items():
        reply = post(live, "/api/generate", prompt="a", raw=True, **{param: value})
        assert reply.json()["error"] == f"{param} does not go with raw."
    assert "cannot fill in" in post(live, "/api/generate", prompt="a", suffix="b").json()["error"]


# -- models


def test_names_have_tags() -> None:
    assert [tagged(name) for name in ("a", "a:7b", "o/a", "h:80/a", "o/a-GGUF:Q8_0")] == [
        "a:latest", "a:7b", "o/a:latest", "h:80/a:latest", "o/a-GGUF:Q8_0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("DELETE", "/api/delete", {"model": "tiny"}, 400, "not supported"),
        ("DELETE", "/api/delete", {"name": "nope"}, 404, "model 'nope' not found"),
        ("POST", "/api/copy", {"source": "tiny", "destination": "b"}, 400, "not supported"),
        ("POST", "/api/copy", {"source": "nope", "destination": "b"}, 404, "model 'nope' not found"),
        ("POST", "/api/push", {"model": "tiny", "insecure": True}, 400, "not supported"),
        ("POST", "/api/create", {"model": "b", "from": "tiny", "files": {}}, 400, "not supported"),
        ("POST", f"/api/blobs/sha256:{'0' * 64}", None, 400, "not supported"),
        ("POST", "/api/show", {"name": "nope"}, 404, "model 'nope' not found"),
        ("POST", "/api/embed", {"model": "nope", "input": "x"}, 404, "model 'nope' not found"),
        ("POST", "/api/generate", {"model": "nope", "prompt": "x"}, 404, "model 'nope' not found"),
        ("POST", "/api/generate", {"model": "nope"}, 404, "model 'nope' not found"),
    ],
)
def test_errors_in_ollamas_words(live: Live, method: str, path: str, body: Any, status: int, words: str) -> None:
    reply = httpx.request(method, live.url + path, json=body)
    assert reply.status_code == status
    assert list(reply.json()) == ["error"]
    assert words in reply.json()["error"]


def test_probes(live: Live) -> None:
    assert httpx.get(live.url).text == "Ollama is running"
    assert "Grus" in httpx.get(live.url, headers={"accept": "text/html"}).text
    for path in ("/", "/api/tags", "/api/version"):
        assert httpx.head(live.url + path).status_code == 200
    assert httpx.head(f"{live.url}/api/blobs/sha256:{'0' * 64}").status_code == 404
    version = [int(part) for part in httpx.get(f"{live.url}/api/version").json()["version"].split(".")]
    assert version >= [0, 13, 4]


def test_a_model_that_is_here_is_pulled_at_once(live: Live) -> None:
    lines = httpx.post(f"{live.url}/api/pull", json={"model": "tiny:latest"}).text.splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["pulling manifest", "success"]


def test_vectors_of_nothing(live: Live) -> None:
    for given in ("", [], None):
        reply = post(live, "/api/embed", input=given)
        assert (reply.status_code, reply.json()["embeddings"]) == (200, [])
    assert post(live, "/api/embeddings", prompt=None).json() == {"embedding": []}


def test_a_models_details_are_read_from_its_files(tmp_path: Path) -> None:
    """No model is loaded to be listed or shown."""
    from app.runtime.catalogue import Catalogue
    from tests.app.server.live import serving
    from tests.app.server.scripted import ScriptedEngine

    folder = save("qwen3", tmp_path / "real", max_position_embeddings=2048)
    (folder / "LICENSE").write_text("Do as you like.")

    def load(source: str) -> Any:
        raise AssertionError(f"{source} was loaded")

    with serving(ScriptedEngine, load, Catalogue({"real": str(folder)}, use_cache=False)) as live:
        client = ollama.Client(host=live.url)
        listed, shown = client.list().models[0], client.show("real:latest")
        before = listed.digest
        (folder / "config.json").touch()
        assert client.list().models[0].digest != before
    assert listed.details is not None
    assert (listed.model, listed.details.family, listed.details.quantization_level) == ("real:latest", "qwen3", "F32")
    assert listed.size == sum(4 * count for count in parameters(folder))
    assert shown.modelinfo is not None
    assert shown.modelinfo["general.parameter_count"] == sum(parameters(folder))
    assert shown.modelinfo["qwen3.context_length"] == 2048
    assert shown.capabilities == ["completion", "tools", "thinking"]
    assert shown.license == "Do as you like."
    assert "{%" in (shown.template or "")
    assert (shown.modelfile or "").startswith("FROM real\n")


def parameters(folder: Path) -> list[int]:
    from math import prod

    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", framework="np") as file:
        return [prod(file.get_slice(name).get_shape()) for name in file.keys()]  # noqa: SIM118 - it is no mapping
