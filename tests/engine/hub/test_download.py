from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from engine.errors import GrusError, ModelNotFound, Offline
from engine.hub.cache import find
from engine.hub.download import download, wanted
from engine.hub.resolve import resolve
from tests.asserting import every
from tests.engine.hub.conftest import COMMIT

FILES = {
    "README.md": b"# hello",
    "config.json": b'{"model_type": "x"}',
    "tokenizer.json": b"{}",
    "chat_template.jinja": b"{{ x }}",
    "model-00001-of-00002.safetensors": bytes(70_000),
    "model-00002-of-00002.safetensors": bytes(30_000),
    "model.safetensors.index.json": b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}}',
    "pytorch_model.bin": bytes(100_000),
}
NEEDED = set(FILES) - {"README.md", "pytorch_model.bin"}


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (list(FILES), NEEDED),
        (["config.json", "pytorch_model.bin"], {"config.json", "pytorch_model.bin"}),
        (["model.safetensors", "x.gguf", "x.onnx", "onnx/config.json", "original/params.json"], {"model.safetensors"}),
        (["model.safetensors", "consolidated.safetensors"], {"model.safetensors"}),
        (["consolidated.safetensors", "params.json"], {"consolidated.safetensors", "params.json"}),
        (["speech_tokenizer/model.safetensors", "model.safetensors"],) * 2,
        (["m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-F16.gguf"], {"m-Q4_K_M.gguf", "mmproj-F16.gguf"}),
        (["m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf", "m-Q2_K.gguf"],
         {"m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf"}),
        (["model.Q5_K_M.gguf", "model.f16.gguf"], {"model.Q5_K_M.gguf"}),
        (["odd.gguf", "other.gguf"], {"odd.gguf"}),
        (["config.yaml", "LLM/config.json", "LLM/model.safetensors", "BiCodec/config.yaml", "BiCodec/model.safetensors",
          "wav2vec2-large-xlsr-53/config.json", "wav2vec2-large-xlsr-53/pytorch_model.bin"],) * 2,
        (["Cangjie5_TC.json", "conds.pt", "s3gen.pt", "s3gen.safetensors", "t3_23lang.safetensors", "t3_cfg.pt", "t3_cfg.safetensors",
          "tokenizer.json", "ve.pt", "ve.safetensors"],
         {"conds.pt", "s3gen.safetensors", "t3_cfg.safetensors", "tokenizer.json", "ve.safetensors"}),
        (["config.json", "model.safetensors", "old/pytorch_model.bin"], {"config.json", "model.safetensors"}),
        ([".gitattributes", "LICENSE"], set()),
    ],
)  # fmt: skip
def test_only_what_a_model_needs(names, chosen):
    assert set(wanted(names)) == set(chosen)


def test_downloads_into_the_cache_with_progress(tmp_path, hub):
    hub.repos["a/b"] = FILES
    seen = []
    path = download("a/b", cache_dir=tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert {entry.name for entry in path.iterdir()} == NEEDED
    assert every((path / name).read_bytes() == FILES[name] for name in NEEDED)
    total = sum(len(FILES[name]) for name in NEEDED)
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)
    found = find("a/b", None, tmp_path)
    assert found.path == path
    assert found.complete


def test_a_second_download_fetches_nothing(tmp_path, hub):
    hub.repos["a/b"] = FILES
    download("a/b", cache_dir=tmp_path)
    hub.served.clear()
    seen = []
    download("a/b", cache_dir=tmp_path, progress=lambda done, total: seen.append(done == total))
    assert hub.served == []
    assert seen[-1]


def test_a_download_that_was_cut_off_goes_on_where_it_was(tmp_path, hub, monkeypatch):
    monkeypatch.setattr("engine.hub.download._WORKERS", 1)  # so that no file is half-way when another one fails
    hub.repos["a/b"] = FILES
    hub.fail_after = 3
    with pytest.raises(Offline, match="answered with status 500"):
        download("a/b", cache_dir=tmp_path)
    assert find("a/b", None, tmp_path) is None, "the branch must not point to half a model"
    done = set(hub.served)
    hub.fail_after = None
    hub.served.clear()
    path = resolve("a/b", tmp_path)
    assert {entry.name for entry in path.iterdir()} == NEEDED
    assert len(done) == 3
    assert done.isdisjoint(hub.served)


def test_progress_can_end_a_download(tmp_path, hub):
    hub.repos["a/b"] = FILES

    class Enough(Exception):
        pass

    def refuse(done, total):
        raise Enough

    with pytest.raises(Enough):
        download("a/b", cache_dir=tmp_path, progress=refuse)
    assert find("a/b", None, tmp_path) is None


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ((404, "RepoNotFound"), "no repository a/b"),
        ((401, "RepoNotFound"), "no repository a/b"),
        ((403, "GatedRepo"), r"a/b is gated\. Accept its terms on http://127\.0\.0\.1:\d+/a/b, then give Grus a token"),
        ((403, "Other"), "refused access to a/b"),
    ],
)
def test_refusals_are_explained(tmp_path, hub, error, words):
    hub.errors["a/b"] = error
    with pytest.raises(ModelNotFound, match=words) as raised:
        download("a/b", cache_dir=tmp_path)
    assert not isinstance(raised.value, Offline)


def test_an_unknown_revision(tmp_path, hub):
    hub.repos["a/b"] = FILES
    with pytest.raises(ModelNotFound, match="a/b has no revision v9"):
        resolve("a/b@v9", tmp_path)
    assert resolve(f"a/b@{COMMIT}", tmp_path).name == COMMIT


def test_a_repository_without_a_model(tmp_path, hub):
    hub.repos["a/b"] = {"README.md": b""}
    with pytest.raises(ModelNotFound, match="holds no model files"):
        download("a/b", cache_dir=tmp_path)


def test_a_full_disk_is_noticed_before_the_download(tmp_path, hub, monkeypatch):
    hub.repos["a/b"] = FILES
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=50_000))
    with pytest.raises(GrusError, match=r"needs 100\.1 kB, but .* has only 50\.0 kB left"):
        download("a/b", cache_dir=tmp_path / "not" / "yet")
    assert hub.served == []


def test_no_network(tmp_path, hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(Offline, match=r"a/b is not on this machine and Hugging Face cannot be reached"):
        resolve("a/b", tmp_path)


def test_offline_by_the_environment(tmp_path, hub, monkeypatch):
    hub.repos["a/b"] = FILES
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Offline, match="a/b is not on this machine and HF_HUB_OFFLINE is set"):
        resolve("a/b", tmp_path)
