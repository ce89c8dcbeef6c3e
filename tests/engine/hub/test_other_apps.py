"""Models that LM Studio, Ollama and llama.cpp have: found where these applications put them, named as they name them, only read."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.runtime.catalogue import Catalogue
from engine.errors import ModelNotFound
from engine.hub.other_apps import AppModel, app_model, app_models
from engine.hub.resolve import resolve
from engine.model_files import open_model
from engine.weights.convert import convert
from tests.checkpoints import save


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GRUS_OTHER_APPS", "on")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("engine.hub.other_apps._FRESH", -1.0)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def put(path: Path, data: bytes = b"GGUF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def ollama(root: Path, name: str, data: bytes = b"GGUF", *more: str, media: str = "model") -> Path:
    """A manifest `HOST/NAMESPACE/MODEL/TAG` and its blob, as Ollama writes them."""
    digest = hashlib.sha256(data + name.encode()).hexdigest()
    blob = put(root / "blobs" / f"sha256-{digest}", data)
    layers = [{"mediaType": f"application/vnd.ollama.image.{media}", "digest": f"sha256:{digest}", "size": len(data)}]
    layers += [{"mediaType": f"application/vnd.ollama.image.{kind}", "digest": f"sha256:{'0' * 64}"} for kind in more]
    put(root / "manifests" / name, json.dumps({"schemaVersion": 2, "layers": layers}).encode())
    return blob


def named(app: str) -> dict[str, Path]:
    return {model.name: model.path for model in app_models() if model.app == app}


def test_nothing_is_found_where_nothing_is(home: Path) -> None:
    assert app_models() == []
    assert app_model("qwen3:8b") is None


def test_lm_studios_folders(home: Path) -> None:
    models = home / ".lmstudio" / "models"
    q4 = put(models / "unsloth" / "Qwen3-GGUF" / "Qwen3-Q4_K_M.gguf")
    put(models / "unsloth" / "Qwen3-GGUF" / "mmproj-F16.gguf")
    q8 = put(models / "unsloth" / "Qwen3-GGUF" / "Qwen3-Q8_0.gguf")
    one = put(models / "bartowski" / "Llama-GGUF" / "Llama-UD-IQ2_XXS-00001-of-00002.gguf")
    put(one.with_name("Llama-UD-IQ2_XXS-00002-of-00002.gguf"))
    put(models / "half" / "Here-GGUF" / "Here-Q4_0-00001-of-00002.gguf")  # its second shard is not there yet
    put(models / "mlx-community" / "Qwen3-4bit" / "config.json", b"{}")
    put(models / "mlx-community" / "Qwen3-4bit" / "model.safetensors", b"")
    older = put(home / ".cache" / "lm-studio" / "models" / "old" / "Model" / "model.gguf")
    assert named("LM Studio") == {
        "unsloth/Qwen3-GGUF:Q4_K_M": q4,
        "unsloth/Qwen3-GGUF:Q8_0": q8,
        "bartowski/Llama-GGUF": one,
        "mlx-community/Qwen3-4bit": models / "mlx-community" / "Qwen3-4bit",
        "old/Model": older,
    }
    for asked, path in (
        ("unsloth/Qwen3-GGUF", q4),
        ("unsloth/Qwen3-GGUF:q8", q8),
        ("bartowski/Llama-GGUF:iq2_xxs", one),
    ):
        found = app_model(asked)
        assert found is not None
        assert found.path == path
    assert app_model("bartowski/Llama-GGUF:Q8_0") is None


def test_lm_studio_may_have_moved(home: Path) -> None:
    elsewhere = put(home / "disk" / "models" / "a" / "b" / "b-Q4_0.gguf")
    put(home / ".lmstudio-home-pointer", f"{home / 'disk'}\n".encode())
    assert named("LM Studio") == {"a/b": elsewhere}


def test_ollamas_store(home: Path) -> None:
    root = home / ".ollama" / "models"
    qwen = ollama(root, "registry.ollama.ai/library/qwen3/8b", b"GGUF", "template", "params")
    latest = ollama(root, "registry.ollama.ai/library/llama3/latest")
    other = ollama(root, "registry.ollama.ai/someone/model/q4")
    hugging = ollama(root, "hf.co/unsloth/Qwen3-GGUF/Q4_K_M")
    assert named("Ollama") == {
        "qwen3:8b": qwen,
        "llama3:latest": latest,
        "someone/model:q4": other,
        "hf.co/unsloth/Qwen3-GGUF:Q4_K_M": hugging,
    }
    assert app_model("llama3") == AppModel("llama3:latest", latest, "Ollama")


def test_what_of_ollamas_store_is_no_model_by_itself(home: Path) -> None:
    root = home / ".ollama" / "models"
    ollama(root, "registry.ollama.ai/library/with/adapter", b"GGUF", "adapter")
    ollama(root, "registry.ollama.ai/library/other/tensors", b"GGUF", media="tensor")
    ollama(root, "registry.ollama.ai/library/no/gguf", b"????")
    ollama(root, "registry.ollama.ai/library/gone/1b").unlink()
    places = root / "manifests" / "registry.ollama.ai" / "library"
    put(places / "broken" / "a", b"{")
    put(places / "broken" / "b", b"[]")
    put(places / "broken" / "c", json.dumps({"layers": [1, {"mediaType": 2}, {"mediaType": "x"}]}).encode())
    outside = put(home / "secret.gguf")
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:../../../{outside.name}"}
    put(places / "broken" / "d", json.dumps({"layers": [layer]}).encode())
    assert app_models() == []


def test_ollamas_store_in_another_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = ollama(home / "store", "registry.ollama.ai/library/tiny/latest")
    monkeypatch.setenv("OLLAMA_MODELS", str(home / "store"))
    assert named("Ollama") == {"tiny:latest": blob}


def test_llamacpps_cache(home: Path) -> None:
    cache = home / ".cache" / "llama.cpp"
    q4 = put(cache / "ggml-org_gemma-3_it_GGUF_gemma-3_it-Q4_K_M.gguf")
    put(cache / "manifest=ggml-org=gemma-3_it_GGUF=latest.json", b"{}")
    put(cache / f"{q4.name}.json", b"{}")
    plain = put(cache / "my-model.gguf")
    assert named("llama.cpp") == {"ggml-org/gemma-3_it_GGUF": q4, "my-model": plain}


def test_they_can_be_hidden(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ollama(home / ".ollama" / "models", "registry.ollama.ai/library/tiny/latest")
    monkeypatch.setenv("GRUS_OTHER_APPS", "off")
    assert app_models() == []


def test_a_name_leads_to_the_file_where_it_lies(home: Path) -> None:
    q4 = put(home / ".lmstudio" / "models" / "unsloth" / "Qwen3-GGUF" / "Qwen3-Q4_K_M.gguf")
    blob = ollama(home / ".ollama" / "models", "registry.ollama.ai/library/tiny/1b")
    assert resolve("unsloth/Qwen3-GGUF", home / "hf", download=False) == q4
    assert resolve("tiny:1b", home / "hf", download=False) == blob
    with pytest.raises(ModelNotFound):
        resolve("tiny:2b", home / "hf", download=False)
    before = sorted(home.rglob("*"))
    catalogue = Catalogue(cache_dir=str(home / "hf"))
    assert {(known.name, known.app) for known in catalogue.all()} == {
        ("unsloth/Qwen3-GGUF", "LM Studio"),
        ("tiny:1b", "Ollama"),
    }
    assert catalogue.look_up("tiny:1b").source == str(blob)
    assert catalogue.look_up("unsloth/Qwen3-GGUF:q4_k_m").source == str(q4)
    assert Catalogue(use_cache=False).all() == []
    assert sorted(home.rglob("*")) == before


def test_the_cache_goes_first(home: Path) -> None:
    put(home / ".lmstudio" / "models" / "a" / "b-GGUF" / "b-Q4_0.gguf")
    snapshot = home / "hf" / "models--a--b-GGUF" / "snapshots" / ("0" * 40)
    own = put(snapshot / "b-Q4_0.gguf")
    put(home / "hf" / "models--a--b-GGUF" / "refs" / "main", b"0" * 40)
    assert resolve("a/b-GGUF", home / "hf", download=False) == own
    assert [(known.name, known.app) for known in Catalogue(cache_dir=str(home / "hf")).all()] == [("a/b-GGUF", None)]


def test_a_fresh_process_opens_ollamas_file(tmp_path: Path) -> None:
    """Which has no suffix, and a template and options of its own beside it."""
    file = convert(save("qwen3", tmp_path / "m", "old"), tmp_path / "m.gguf")
    blob = ollama(tmp_path / "store", "registry.ollama.ai/library/tiny/latest", file.read_bytes(), "template", "params")
    assert open_model(blob).stored_as == "F32 (GGUF)"
    environment = {**os.environ, "OLLAMA_MODELS": str(tmp_path / "store"), "GRUS_OTHER_APPS": "on"}
    command = [sys.executable, "-m", "app.cli", "info", "tiny", "--json", "--backend", "torch"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["folder"] == str(blob)
