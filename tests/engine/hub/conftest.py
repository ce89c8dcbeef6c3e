from __future__ import annotations

from pathlib import Path

import pytest

from tests.hub_server import COMMIT, hub_here

VARIABLES = (
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "HF_HOME",
    "XDG_CACHE_HOME",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def put(tmp_path):
    """Puts a repository into a cache as huggingface_hub would: blobs, links, a reference."""

    def make(repo: str, files: dict[str, bytes], ref: str | None = "main", commit: str = COMMIT) -> Path:
        folder = tmp_path / "hub" / ("models--" + repo.replace("/", "--"))
        snapshot = folder / "snapshots" / commit
        for name, content in files.items():
            blob = folder / "blobs" / f"blob-of-{name.replace('/', '-')}"
            blob.parent.mkdir(parents=True, exist_ok=True)
            blob.write_bytes(content)
            (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
            (snapshot / name).symlink_to(blob)
        if ref:
            (folder / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
            (folder / "refs" / ref).write_text(commit)
        return snapshot

    return make


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr("engine.hub.client._PAUSES", (0.01, 0.02))
    with hub_here(monkeypatch) as fake:
        yield fake
