"""What the hub tells of models before anything is downloaded."""

from __future__ import annotations

import pytest

from engine.errors import BadRequest, ModelNotFound, Offline
from engine.hub.searching import facts, quantization_of, search

CARD = {
    "downloads": 5000,
    "likes": 7,
    "pipeline_tag": "text-generation",
    "tags": ["license:apache-2.0"],
    "cardData": {"license": "apache-2.0"},
    "config": {"model_type": "qwen3"},
    "safetensors": {"parameters": {"BF16": 1000}, "total": 1000},
}


def test_words_find_repositories(hub):
    hub.repos = {"Qwen/Qwen3-0.6B": {}, "x/other": {}}
    hub.cards["Qwen/Qwen3-0.6B"] = CARD
    found = search(" qwen3 ")
    assert [(f.repo, f.downloads, f.likes, f.task) for f in found] == [("Qwen/Qwen3-0.6B", 5000, 7, "text-generation")]
    with pytest.raises(BadRequest, match="Type what to search for"):
        search("  ")


def test_the_facts_of_a_repository(hub):
    hub.repos["a/b"] = {"config.json": bytes(10), "model.safetensors": bytes(5000), "README.md": bytes(900)}
    hub.cards["a/b"] = CARD
    found = facts("a/b")
    assert (found.nbytes, found.files, found.format, found.quantization) == (5010, 2, "safetensors", "bf16")
    assert (found.licence, found.architecture, found.parameters, found.gated) == ("apache-2.0", "qwen3", 1000, False)


def test_a_repository_without_a_model_has_no_facts(hub):
    hub.repos["a/b"] = {"config.json": b"{}"}
    with pytest.raises(ModelNotFound, match="holds no model files"):
        facts("a/b")


@pytest.mark.parametrize(
    ("repo", "names", "config", "dtypes", "kind"),
    [
        ("a/Qwen3-8B-GGUF", ["Qwen3-8B-Q4_K_M.gguf"], {}, {}, "Q4_K_M"),
        ("a/x-GGUF", ["model.bf16.gguf"], {}, {}, "BF16"),
        ("a/x", ["model.safetensors"], {"quantization": {"bits": 4}}, {"U32": 9}, "4 bit"),
        ("a/x", ["model.safetensors"], {"quantization_config": {"quant_method": "gptq"}}, {}, "gptq"),
        ("mlx-community/Qwen3-8B-6bit", ["model.safetensors"], {}, {}, "6 bit"),
        ("a/x", ["model.safetensors"], {}, {"F32": 1, "BF16": 9}, "bf16"),
        ("a/x", ["model.safetensors"], {}, {}, ""),
    ],
)
def test_how_a_model_is_quantized(repo, names, config, dtypes, kind):
    assert quantization_of(repo, names, config, dtypes) == kind


def test_without_a_network_it_says_so(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    for ask in (lambda: search("qwen"), lambda: facts("a/b")):
        with pytest.raises(Offline, match="Hugging Face cannot be reached"):
            ask()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Offline, match="HF_HUB_OFFLINE is set"):
        search("qwen")


def test_nothing_is_sent_that_was_not_asked_for(hub):
    hub.repos = {"a/b": {"config.json": b"{}", "model.safetensors": b"x"}}
    search("a")
    facts("a/b")
    assert {path.partition("?")[0] for path, _ in hub.asked} == {"/api/models", "/api/models/a/b"}
    agents = {agent for _, agent in hub.asked}
    assert not any(word in agent for agent in agents for word in ("torch", "agent/"))
