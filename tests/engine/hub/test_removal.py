"""A model that is taken out of the cache can be put back, until it is thrown away."""

from __future__ import annotations

import pytest

from engine.errors import ModelNotFound
from engine.hub.cache import cached_models, discard_unfinished, find, purge_all, remove

WHOLE = {"config.json": b"{}", "model.safetensors": b"weights"}


def test_taken_out_and_put_back(put, tmp_path):
    put("a/b", WHOLE)
    cache = tmp_path / "hub"
    removed = remove("a/b", cache)
    assert cached_models(cache) == []
    assert removed.restore()
    assert find("a/b", None, cache).complete
    with pytest.raises(ModelNotFound, match="is not in the cache"):
        remove("a/gone", cache)


def test_what_was_thrown_away_does_not_come_back(put, tmp_path):
    put("a/b", WHOLE)
    cache = tmp_path / "hub"
    removed = remove("a/b", cache)
    purge_all(cache)
    assert not removed.restore()
    assert not any(aside.exists() for _, aside in removed.moved)


def test_a_new_download_is_not_overwritten(put, tmp_path):
    put("a/b", WHOLE)
    removed = remove("a/b", tmp_path / "hub")
    put("a/b", WHOLE)
    assert not removed.restore()
    removed.purge()
    assert find("a/b", None, tmp_path / "hub").complete


def test_what_a_download_left_goes_and_a_whole_model_stays(put, tmp_path):
    cache = tmp_path / "hub"
    put("a/whole", WHOLE)
    put("a/half", {"config.json": b"{}"})
    for repo in ("whole", "half"):
        (cache / f"models--a--{repo}" / "blobs" / "x.part").write_bytes(b"some")
        discard_unfinished(f"a/{repo}", cache)
    assert find("a/whole", None, cache).complete
    assert not list((cache / "models--a--whole" / "blobs").glob("*.part"))
    assert not (cache / "models--a--half").exists()
