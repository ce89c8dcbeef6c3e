"""The tests' hub is right when huggingface_hub itself, with its own ways, gets along with it."""

from __future__ import annotations

import hashlib

import pytest

FILES = {"config.json": b'{"model_type": "x"}', "model.safetensors": bytes(range(256)) * 4000, "sub/a.txt": b"a"}
TOKEN = "hf_TheTokenOfATest0123456789"


@pytest.fixture
def api(hub):
    from huggingface_hub import HfApi

    hub.repos["a/b"] = FILES
    return HfApi(endpoint=hub.address, token=False)


def test_information_tree_and_search(hub, api):
    info = api.model_info("a/b", files_metadata=True)
    large = {file.rfilename: file.lfs for file in info.siblings}["model.safetensors"]
    assert large.sha256 == hashlib.sha256(FILES["model.safetensors"]).hexdigest()
    tree = {entry.path: entry.size for entry in api.list_repo_tree("a/b", recursive=True)}
    assert tree == {name: len(data) for name, data in FILES.items()}
    assert [found.id for found in api.list_models(search="b", limit=5)] == ["a/b"]


def test_its_own_download(hub, tmp_path):
    from huggingface_hub import snapshot_download

    hub.repos["a/b"] = FILES
    folder = snapshot_download("a/b", cache_dir=tmp_path, endpoint=hub.address, token=False)
    from pathlib import Path

    assert {name: (Path(folder) / name).read_bytes() for name in FILES} == FILES


def test_gates_and_absence(hub, api):
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

    hub.gated["a/b"] = {TOKEN}
    assert api.model_info("a/b").gated == "manual"
    url = f"{hub.address}/a/b/resolve/main/config.json"
    with pytest.raises(GatedRepoError):
        api.get_hf_file_metadata(url=url)
    with pytest.raises(HfHubHTTPError, match="Invalid credentials"):
        api.get_hf_file_metadata(url=url, token="hf_nobody")
    assert api.get_hf_file_metadata(url=url, token=TOKEN).size == len(FILES["config.json"])
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("a/nothing")
    with pytest.raises(RevisionNotFoundError):
        api.model_info("a/b", revision="v9")


def test_grus_and_the_library_share_a_cache(hub, tmp_path):
    """What one of them brought, the other one finds whole and does not fetch again."""
    from huggingface_hub import snapshot_download

    from engine.hub.download import download

    hub.repos["a/b"] = {name: data for name, data in FILES.items() if name != "sub/a.txt"} | {"tokenizer.json": b"{}"}
    ours = download("a/b", cache_dir=tmp_path)
    hub.served.clear()
    theirs = snapshot_download("a/b", cache_dir=tmp_path, endpoint=hub.address, token=False)
    assert theirs == str(ours)
    assert hub.served == []
