"""Health, statistics, loading, lists of models, tokens, and routes that are not supported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from app.runtime.catalogue import Catalogue
from engine.errors import ModelNotFound
from tests.app.server.live import Live


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def post(live: Live, path: str, **body: Any) -> httpx.Response:
    return httpx.post(live.url + path, json=body)


def test_models_are_listed_loaded_and_let_go(client: openai.OpenAI, live: Live) -> None:
    assert post(live, "/v1/load", model="tiny").json()["context_length"] == 4096
    assert post(live, "/v1/load", model="tiny", tensor_parallel=0).status_code == 400
    assert post(live, "/v1/load", model="tiny", replicas=0).status_code == 400
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").model_dump()["loaded"] is True
    assert post(live, "/v1/unload", model="tiny").json() == {"model": "tiny", "loaded": False, "context_length": None}
    assert client.models.retrieve("tiny").model_dump()["loaded"] is False
    assert post(live, "/v1/load", model="other").status_code == 404
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("owner/other")


def test_health_and_figures(client: openai.OpenAI, live: Live) -> None:
    client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": "x"}])
    assert httpx.get(f"{live.url}/health").json() == {"status": "ok"}
    assert httpx.get(f"{live.url}/v1/stats").json()["engine"]["active"] == 0
    page = httpx.get(f"{live.url}/metrics").text
    found = {name: float(value) for name, value in re.findall(r"^(grus_\w+(?:\{.*?\})?) (\S+)$", page, re.MULTILINE)}
    assert found['grus_http_requests_total{route="/v1/chat/completions",status="200"}'] >= 1
    assert found['grus_requests_total{end="stop"}'] >= 1
    assert found["grus_request_seconds_count"] >= 1
    assert {"grus_kv_bytes", "grus_queue_depth", "grus_evictions", "grus_prefix_hits"} <= found.keys()


def test_tokens_there_and_back(live: Live) -> None:
    ids = post(live, "/v1/tokenize", model="tiny", prompt="ab<|im_end|>", return_token_strs=True).json()
    assert ids["count"] == 3
    assert ids["token_strs"] == ["a", "b", "<|im_end|>"]
    text = post(live, "/v1/detokenize", model="tiny", tokens=ids["tokens"]).json()["prompt"]
    assert text == "ab<|im_end|>"
    chat = post(live, "/v1/tokenize", messages=[{"role": "user", "content": "x"}]).json()
    assert chat["count"] > 10
    assert post(live, "/v1/detokenize", tokens=[99999]).status_code == 400
    assert post(live, "/v1/tokenize").status_code == 400


def test_translation_names_the_missing_capability(live: Live) -> None:
    reply = httpx.post(f"{live.url}/v1/audio/translations", files={"file": ("a.wav", b"x")})
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "missing_capability")


def test_a_request_names_a_model_and_never_a_path(tmp_path: Path) -> None:
    inside = tmp_path / "models" / "inside"
    inside.mkdir(parents=True)
    (inside / "config.json").write_text("{}")
    (tmp_path / "models" / "file.gguf").touch()
    (tmp_path / "models" / "other.txt").touch()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.json").write_text("{}")
    catalogue = Catalogue({"named": str(outside)}, tmp_path / "models", str(tmp_path / "cache"))
    assert catalogue.look_up("named").source == str(outside)
    assert catalogue.look_up("inside:latest").source == str(inside)
    assert [known.name for known in catalogue.all()] == ["named", "file.gguf", "inside"]
    for name in (str(outside), "../outside", "inside/../../outside", "..", ".", "", "owner/name", "a" * 5000, "\0"):
        with pytest.raises(ModelNotFound):
            catalogue.look_up(name)
