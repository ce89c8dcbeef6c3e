"""A download goes on in the middle of a file, and what arrives damaged does not count."""

from __future__ import annotations

import hashlib
import shutil
from types import SimpleNamespace

import pytest

from engine.errors import GrusError, Offline
from engine.hub.cache import find
from engine.hub.download import Damaged, damaged_files, download, matches

WEIGHTS = bytes(range(256)) * 12_000  # three pieces
FILES = {"config.json": b'{"model_type": "x"}', "model.safetensors": WEIGHTS}
SUM = hashlib.sha256(WEIGHTS).hexdigest()


@pytest.fixture
def one(hub):
    hub.repos["a/b"] = FILES
    hub.tags["model.safetensors"] = SUM
    return hub


def part_of(folder):
    return folder / "models--a--b" / "blobs" / f"{SUM}.part"


def test_a_broken_connection_is_taken_up_where_it_broke(tmp_path, one):
    one.cuts["model.safetensors"] = [2_000_000, 500_000]
    path = download("a/b", cache_dir=tmp_path)
    assert (path / "model.safetensors").read_bytes() == WEIGHTS
    asked = [int(r.removeprefix("bytes=").rstrip("-")) for _, r in one.ranges]
    assert len(asked) == 2
    assert 0 < asked[0] <= 2_000_000 < asked[1] <= 2_500_000
    assert not part_of(tmp_path).exists()


def test_a_paused_download_goes_on_after_a_restart(tmp_path, one):
    one.cuts["model.safetensors"] = [1_500_000, 0, 0, 0]
    with pytest.raises(Offline, match="cannot be reached"):
        download("a/b", cache_dir=tmp_path)
    kept = part_of(tmp_path).stat().st_size
    assert kept > 0
    assert find("a/b", None, tmp_path) is None
    one.ranges.clear()
    seen = []
    path = download("a/b", cache_dir=tmp_path, progress=lambda done, total: seen.append(done))
    assert one.ranges == [("model.safetensors", f"bytes={kept}-")]
    assert (path / "model.safetensors").read_bytes() == WEIGHTS
    assert damaged_files(path) == []


def test_what_arrives_damaged_is_thrown_away(tmp_path, one):
    one.repos["a/b"] = {**FILES, "model.safetensors": WEIGHTS[:-1] + b"!"}
    with pytest.raises(Damaged, match=r"model\.safetensors arrived damaged"):
        download("a/b", cache_dir=tmp_path)
    assert not part_of(tmp_path).exists()
    assert find("a/b", None, tmp_path) is None


def test_a_file_that_rotted_on_disk_is_found(tmp_path, one):
    path = download("a/b", cache_dir=tmp_path)
    (path / "model.safetensors").resolve().write_bytes(b"rot" + WEIGHTS[3:])
    assert damaged_files(path) == ["model.safetensors"]


def test_checksums_as_git_makes_them(tmp_path):
    file = tmp_path / "hello"
    file.write_bytes(b"hello\n")
    assert matches(file, "ce013625030ba8dba906f756967f9e9ca394464a")
    assert not matches(file, "0" * 40)
    assert matches(file, "no-checksum-at-all")


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, one):
    one.repos["a/b"] = {**FILES, f"{tmp_path}/escaped.json": b"{}"}
    with pytest.raises(GrusError, match="no name inside a repository"):
        download("a/b", cache_dir=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    one.repos["a/b"] = FILES
    one.tags["config.json"] = "../../escaped"
    with pytest.raises(GrusError, match="does not say which version"):
        download("a/b", cache_dir=tmp_path / "cache")
    assert list(tmp_path.rglob("*escaped*")) == []


def test_a_resumed_download_needs_room_for_the_rest_alone(tmp_path, one, monkeypatch):
    one.cuts["model.safetensors"] = [2_000_000, 0, 0, 0]
    with pytest.raises(Offline):
        download("a/b", cache_dir=tmp_path)
    kept = part_of(tmp_path).stat().st_size
    free = len(WEIGHTS) - kept + 100
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    assert (download("a/b", cache_dir=tmp_path) / "model.safetensors").read_bytes() == WEIGHTS
