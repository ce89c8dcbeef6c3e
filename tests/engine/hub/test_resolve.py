from __future__ import annotations

import pytest

from engine.errors import ModelNotFound, Offline
from engine.hub.resolve import resolve


def test_an_existing_path_is_itself(tmp_path, monkeypatch):
    file = tmp_path / "x.gguf"
    file.write_bytes(b"")
    assert resolve(str(file)) == file
    assert resolve(str(tmp_path)) == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert resolve("~/x.gguf") == file


def test_a_whole_cached_model_needs_no_network(tmp_path, put, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    snapshot = put("a/b", {"config.json": b"{}", "model.safetensors": b""})
    assert resolve("a/b", tmp_path / "hub") == snapshot
    assert resolve("a/b@main", tmp_path / "hub") == snapshot


def test_an_incomplete_cached_model_says_what_it_lacks(tmp_path, put, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    put("a/b", {"config.json": b"{}"})
    with pytest.raises(Offline, match=r"HF_HUB_OFFLINE is set.*lacks model\.safetensors"):
        resolve("a/b", tmp_path / "hub")
    with pytest.raises(ModelNotFound, match=r"lacks model\.safetensors"):
        resolve("a/b", tmp_path / "hub", download=False)


def test_not_cached_and_no_download_wanted(tmp_path):
    with pytest.raises(ModelNotFound, match=rf"no such folder or file, and the cache {tmp_path} does not have it"):
        resolve("a/b", tmp_path, download=False)


@pytest.mark.parametrize("model", ["", "llama", "./nowhere", "/nowhere/x", "a/b/c", "a/b@", "x.gguf", "https://x.y/z"])
def test_anything_else_says_what_was_tried(tmp_path, model):
    with pytest.raises(ModelNotFound, match="neither a folder or file here, nor a repository id"):
        resolve(model, tmp_path)
