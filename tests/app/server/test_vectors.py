"""Encoders over a socket: `/v1/embeddings`, `/v1/rerank`, `/v1/score`, `/api/embed` with tiny encoders, on both backends."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import openai
import pytest

import grus
from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.asserting import every
from tests.encoder_checkpoints import reference, save, save_modules
from tests.engine.models.test_text_encoders import wide
from tests.needs import need_kernels

TEXTS = ["the sea is blue.", "bread", "it was as blue as the sky above it"]


@pytest.fixture(scope="module", params=["torch", "mlx"])
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    root = tmp_path_factory.mktemp("vectors")
    folders = {
        "vectors": save("modernbert", root / "vectors"),
        "ranker": save("xlm-roberta", root / "ranker", head=True),
    }
    save_modules(folders["vectors"], "cls_token", prompts={"query": "sea ", "document": ""})
    where = LoadOptions(backend=request.param, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({name: str(folder) for name, folder in folders.items()}, use_cache=False)
    settings = Settings(gpu_memory_limit="1G")
    with serving(lambda of: Engine(of, settings), lambda source: load_any(source, where), catalogue) as live:
        yield live


def post(live: Live, path: str, **body: Any) -> Any:
    reply = httpx.post(live.url + path, json=body, timeout=300)
    assert reply.status_code == 200, reply.text
    return reply.json()


def wanted(live: Live, text: str) -> np.ndarray:
    import torch

    ids = live.service.loaded["vectors"].tokenizer.encode(text)
    with torch.no_grad():
        first = reference("modernbert")(torch.tensor([ids])).last_hidden_state[0, 0].numpy()
    return np.asarray(first / np.linalg.norm(first))


def test_openais_client_receives_the_references_vectors(real: Live) -> None:
    client = openai.OpenAI(base_url=f"{real.url}/v1", api_key="none", max_retries=0)
    reply = client.embeddings.create(model="vectors", input=TEXTS)
    assert every(one.embedding == pytest.approx(wanted(real, text), abs=1e-5) for text, one in zip(TEXTS, reply.data))
    ids = [real.service.loaded["vectors"].tokenizer.encode(text) for text in TEXTS]
    assert reply.usage.prompt_tokens == sum(map(len, ids))
    same = client.embeddings.create(model="vectors", input=ids)
    assert every(one.embedding == pytest.approx(other.embedding, abs=1e-6) for one, other in zip(same.data, reply.data))
    with pytest.raises(openai.BadRequestError, match="no token 9999"):
        client.embeddings.create(model="vectors", input=[9999])


def test_prompts_base64_and_dimensions(real: Live) -> None:
    body = {"model": "vectors", "input": "bread", "prompt_name": "query", "encoding_format": "base64"}
    (coded,) = post(real, "/v1/embeddings", **body)["data"]
    vector = np.frombuffer(base64.b64decode(coded["embedding"]), "<f4")
    assert vector == pytest.approx(wanted(real, "sea bread"), abs=1e-5)
    (short,) = post(real, "/v1/embeddings", **body, dimensions=5)["data"]
    part = vector[:5] / np.linalg.norm(vector[:5])
    assert np.frombuffer(base64.b64decode(short["embedding"]), "<f4") == pytest.approx(part, abs=1e-6)
    refused = httpx.post(f"{real.url}/v1/embeddings", json={**body, "prompt_name": "poem"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "prompt_name")


def test_two_thousand_and_forty_eight_inputs(real: Live) -> None:
    texts = [("bread", "sea", "sky")[i % 3] for i in range(2048)]
    data = post(real, "/v1/embeddings", model="vectors", input=texts)["data"]
    assert [one["index"] for one in data] == list(range(2048))
    made = np.array([one["embedding"] for one in data])
    assert made[-3:] == pytest.approx(np.stack([wanted(real, text) for text in texts[-3:]]), abs=1e-5)
    assert httpx.post(f"{real.url}/v1/embeddings", json={"model": "vectors", "input": [*texts, "a"]}).status_code == 400


def test_ollamas_route(real: Live) -> None:
    made = post(real, "/api/embed", model="vectors", input=[*TEXTS, "bread " * 300])["embeddings"]
    assert np.array(made[:3]) == pytest.approx(np.stack([wanted(real, text) for text in TEXTS]), abs=1e-5)
    assert len(made) == 4
    whole = httpx.post(f"{real.url}/api/embed", json={"model": "vectors", "input": "bread " * 300, "truncate": False})
    assert whole.status_code == 400
    shown = post(real, "/api/show", model="vectors")
    assert shown["capabilities"] == ["embedding"]


def pair_scores(live: Live, query: str, texts: list[str]) -> list[float]:
    import torch

    tokenizer, scores = live.service.loaded["ranker"].tokenizer, []
    for text in texts:
        ids, _ = tokenizer.pair(query, text, 70)
        with torch.no_grad():
            scores.append(float(torch.sigmoid(reference("xlm-roberta", True)(torch.tensor([ids])).logits[0, 0])))
    return scores


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/rerank"])
def test_rerank(real: Live, path: str) -> None:
    documents: list[Any] = [TEXTS[0], {"text": TEXTS[1]}, TEXTS[2]]
    reply = post(real, path, model="ranker", query="blue sea", documents=documents, return_documents=True)
    scores = pair_scores(real, "blue sea", TEXTS)
    assert [one["index"] for one in reply["results"]] == sorted(range(3), key=lambda at: -scores[at])
    for one in reply["results"]:
        assert one["relevance_score"] == pytest.approx(scores[one["index"]], abs=1e-5)
        assert one["document"] == {"text": TEXTS[one["index"]]}
    assert reply["usage"]["total_tokens"] > 0
    best = post(real, path, model="ranker", query="blue sea", documents=TEXTS, top_n=1)["results"]
    assert [one["index"] for one in best] == [reply["results"][0]["index"]]
    assert best[0].get("document") is None


def test_score(real: Live) -> None:
    reply = post(real, "/v1/score", model="ranker", text_1="blue sea", text_2=TEXTS)
    scores = pair_scores(real, "blue sea", TEXTS)
    assert [one["score"] for one in reply["data"]] == pytest.approx(scores, abs=1e-5)
    pairs = post(real, "/v1/score", model="ranker", text_1=["sea", "sky"], text_2=TEXTS[:2])["data"]
    assert [one["score"] for one in pairs] == pytest.approx(
        [*pair_scores(real, "sea", TEXTS[:1]), *pair_scores(real, "sky", TEXTS[1:2])], abs=1e-5
    )
    wrong = httpx.post(f"{real.url}/v1/score", json={"model": "ranker", "text_1": ["a", "b"], "text_2": TEXTS})
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "text_1")


def test_an_embedding_model_scores_by_cosine_and_with_its_prompts(real: Live) -> None:
    data = post(real, "/v1/score", model="vectors", text_1="blue", text_2=TEXTS)["data"]
    query = wanted(real, "sea blue")
    assert [one["score"] for one in data] == pytest.approx([float(query @ wanted(real, t)) for t in TEXTS], abs=1e-5)


def test_the_wrong_model_is_said(real: Live) -> None:
    asked = {"model": "ranker", "input": "a"}
    reply = httpx.post(f"{real.url}/v1/embeddings", json=asked).json()["error"]
    assert "ranks texts" in reply["message"]
    chat = {"model": "vectors", "messages": [{"role": "user", "content": "Hi"}]}
    assert "makes vectors" in httpx.post(f"{real.url}/v1/chat/completions", json=chat).json()["error"]["message"]
    kinds = {card["id"]: card["kind"] for card in httpx.get(f"{real.url}/v1/models").json()["data"]}
    assert kinds == {"vectors": "vectors", "ranker": "ranking"}


@pytest.mark.torch_only("MLX's CPU build multiplies no blocks")
def test_by_default_a_cpu_answers_in_eight_bits_that_can_be_compared_with_f32(tmp_path: Path) -> None:
    need_kernels()
    folder = wide("bert", tmp_path / "wide")
    save_modules(folder)
    where = LoadOptions(backend="torch", device="cpu", memory_limit=1 << 30, download=False)
    catalogue, settings = Catalogue({"wide": str(folder)}, use_cache=False), Settings(gpu_memory_limit="1G")
    with serving(lambda of: Engine(of, settings), lambda source: load_any(source, where), catalogue) as live:
        made = np.array([one["embedding"] for one in post(live, "/v1/embeddings", model="wide", input=TEXTS)["data"]])
        assert live.service.loaded["wide"].quant == "q8_0"
    plain = {"backend": "torch", "device": "cpu"}
    exact = grus.embed(TEXTS, model=str(folder), options=plain | {"quant": "none"})
    assert not np.allclose(made, exact, atol=1e-6)
    assert every(cosine >= 0.999 for cosine in (made * exact).sum(1))
