"""Embeddings over a socket, with OpenAI's and Ollama's own clients; the last tests run a tiny model."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import ollama
import openai
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.errors import BadRequest, QueueFull
from engine.loading import LoadOptions, load
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.app.server.scripted import VECTOR, scripted_model, until
from tests.asserting import every
from tests.checkpoints import reference_cached, save

LENGTH = float(np.linalg.norm(VECTOR))


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def post(live: Live, path: str = "/v1/embeddings", **body: Any) -> httpx.Response:
    return httpx.post(live.url + path, json={"model": "tiny", **body})


@pytest.mark.parametrize(
    ("given", "read"),  # the tokenizer counts letters from 64
    [
        ("abc", [[64, 65, 66]]),
        (["a", "bc"], [[64], [65, 66]]),
        ([64, 65], [[64, 65]]),
        ([[64], [65, 66]], [[64], [65, 66]]),
    ],
)
def test_every_kind_of_input(client: openai.OpenAI, live: Live, given: Any, read: list[list[int]]) -> None:
    reply = client.embeddings.create(model="tiny", input=given)
    assert sorted(list(request.prompt_ids) for request in live.engine.requests) == read
    assert [one.index for one in reply.data] == list(range(len(read)))
    assert reply.usage.prompt_tokens == reply.usage.total_tokens == sum(map(len, read))
    assert every(one.embedding == pytest.approx([x / LENGTH for x in VECTOR]) for one in reply.data)


def test_base64_holds_the_same_numbers(live: Live) -> None:
    plain = post(live, input="abc").json()["data"][0]["embedding"]
    coded = post(live, input="abc", encoding_format="base64").json()["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(coded), "<f4").tolist() == plain


def test_fewer_dimensions_have_length_one_again(client: openai.OpenAI) -> None:
    assert client.embeddings.create(model="tiny", input="x", dimensions=2).data[0].embedding == pytest.approx(
        [0.6, 0.8]
    )
    with pytest.raises(openai.BadRequestError) as caught:
        client.embeddings.create(model="tiny", input="x", dimensions=5)
    assert caught.value.param == "dimensions"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": [1 << 20]}, "input"),
        ({"input": []}, None),
        ({"input": "x" * 5000}, "input"),
    ],
)
def test_bad_inputs_are_named(live: Live, body: dict[str, Any], param: str | None) -> None:
    reply = post(live, **body)
    assert reply.status_code == 400
    assert param is None or reply.json()["error"]["param"] == param


def test_errors_of_the_engine_reach_the_client(live: Live) -> None:
    live.engine.refusal = QueueFull("Full.")
    assert post(live, input=["a", "b"]).status_code == 429
    live.engine.refusal, live.engine.error = None, BadRequest("No.", "input")
    assert post(live, input=["a", "b"]).status_code == 400
    assert httpx.post(f"{live.url}/v1/embeddings", json={"model": "none", "input": "a"}).status_code == 404


def test_a_long_list_fills_no_queue(live: Live) -> None:
    live.engine.pause = 0.02
    most: list[int] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.002):
            most.append(live.engine.running)

    watcher = threading.Thread(target=look)
    watcher.start()
    assert len(post(live, input=["a"] * 50).json()["data"]) == 50
    done.set()
    watcher.join()
    assert 1 < max(most) <= 16


def test_a_client_that_leaves_ends_its_requests(live: Live) -> None:
    live.engine.pause = 30.0
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{live.url}/v1/embeddings", json={"model": "tiny", "input": ["a"] * 20}, timeout=0.2)
    until(lambda: live.engine.running == 0)
    assert len(live.engine.requests) == 16


def test_ollamas_client(live: Live) -> None:
    client = ollama.Client(host=live.url)
    reply = client.embed("tiny", ["ab", "c"], dimensions=2)
    assert [list(row) for row in reply.embeddings] == [pytest.approx([0.6, 0.8])] * 2
    assert reply.prompt_eval_count == 3
    assert client.embed("tiny", "").embeddings == []
    assert list(client.embeddings("tiny", "ab").embedding) == pytest.approx([x / LENGTH for x in VECTOR])
    client.embed("tiny", "abcdef", options={"num_ctx": 4})
    assert live.engine.requests[-1].prompt_ids == [64, 65, 66, 67]
    with pytest.raises(ollama.ResponseError, match="6 tokens"):
        client.embed("tiny", "abcdef", truncate=False, options={"num_ctx": 4})


@pytest.mark.parametrize(
    ("said", "pooling"),
    [
        (None, "last"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_mean_tokens": False, "pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode": "mean"}, "mean"),
        ({"pooling_mode_cls_token": True}, None),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, None),
        ([], None),
    ],
)
def test_pooling_is_the_checkpoints_to_say(live: Live, tmp_path: Path, said: Any, pooling: str | None,
                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    if said is not None:
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(said))
    post(live, input="x")
    monkeypatch.setattr(live.service.loaded["tiny"], "folder", tmp_path)
    reply = post(live, input="x")
    if pooling is None:
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "model")
    else:
        assert live.engine.requests[-1].pooling == pooling


def test_what_runs_through_mlx_lm_gives_none(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    post(live, input="x")
    monkeypatch.setattr(live.service.loaded["tiny"], "foreign", True)
    assert "mlx-lm" in post(live, input="x").json()["error"]["message"]
    assert "mlx-lm" in post(live, "/api/embed", input="x").json()["error"]


def test_gguf_models_say_it_in_a_key(tmp_path: Path) -> None:
    from engine.pipelines.embedding import pooling_of

    model = scripted_model(tmp_path / "m")
    model.config["pooling"] = "mean"
    assert pooling_of(model) == "mean"
    model.config["pooling"] = "rank"
    with pytest.raises(BadRequest, match="rank"):
        pooling_of(model)


@pytest.fixture(scope="module", params=["torch", "mlx"])
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = save("qwen3", tmp_path_factory.mktemp("vectors") / "tiny")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    where = LoadOptions(backend=request.param, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({"tiny": str(folder)}, use_cache=False)
    settings = Settings(gpu_memory_limit="1G", prefill_chunk=16)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


def test_a_real_model_gives_the_reference_librarys_vectors(real: Live) -> None:
    import torch

    texts = ["The sea is blue.", "Bread", "The sea is as blue as it was yesterday, and so is the sky above it."]
    reply = openai.OpenAI(base_url=f"{real.url}/v1", api_key="none").embeddings.create(model="tiny", input=texts)
    for text, one in zip(texts, reply.data):
        ids = real.service.loaded["tiny"].tokenizer.encode(text)
        with torch.no_grad():
            made = reference_cached("qwen3")(torch.tensor([ids]), output_hidden_states=True)
        mean = made.hidden_states[-1][0].mean(0).numpy()
        assert one.embedding == pytest.approx(mean / np.linalg.norm(mean), abs=1e-4)
