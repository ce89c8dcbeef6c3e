from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.hub.cache import REPO_ID, cache_folder, cached_models, find
from engine.hub.download import TerminalBar, clock, size
from tests.engine.hub.conftest import COMMIT


def test_the_cache_folders_precedence(monkeypatch):
    home = Path.home()
    assert cache_folder() == home / ".cache/huggingface/hub"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/huggingface/hub")
    monkeypatch.setenv("HF_HOME", "~/hf")
    assert cache_folder() == home / "hf/hub"
    monkeypatch.setenv("PLACE", "/disk")
    monkeypatch.setenv("HF_HUB_CACHE", "$PLACE/cache")
    assert cache_folder() == Path("/disk/cache")
    assert cache_folder("/explicit") == Path("/explicit")
    monkeypatch.setenv("HF_HUB_CACHE", "")
    assert cache_folder() == home / "hf/hub"


def test_the_default_is_huggingface_hubs_own(monkeypatch):
    script = "from huggingface_hub.constants import HF_HUB_CACHE as c; print(c)"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    theirs = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert cache_folder() == Path(theirs.stdout.strip())


def test_finding_and_resolving_import_no_huggingface_hub():
    script = "import sys, engine.hub.resolve; assert not any(m.startswith('huggingface_hub') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[3])


WHOLE = {"config.json": b"{}", "model.safetensors": b"12345678"}


def test_finds_a_snapshot_by_branch_and_commit(tmp_path, put):
    snapshot = put("a/b", WHOLE)
    put("a/b", WHOLE, ref="refs/pr/1", commit="f" * 40)
    cache = tmp_path / "hub"
    assert find("a/b", None, cache).path == snapshot
    assert find("a/b", COMMIT, cache).path == snapshot
    assert find("a/b", "refs/pr/1", cache).commit == "f" * 40
    assert find("a/b", None, cache).complete
    assert find("a/b", "v2", cache) is None
    assert find("a/c", None, cache) is None
    assert find("a/b", "../../../../etc/hostname", cache) is None


INDEX = {"weight_map": {"x": "model-1.safetensors", "y": "model-2.safetensors"}}


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({"config.json": b"{}"}, {"model.safetensors"}),
        ({"model.safetensors": b""}, {"config.json"}),
        ({"config.json": b"{}", "model.safetensors.index.json": b"{"}, {"model.safetensors.index.json"}),
        (
            {
                "config.json": b"{}",
                "model.safetensors.index.json": json.dumps(INDEX).encode(),
                "model-1.safetensors": b"",
            },
            {"model-2.safetensors"},
        ),
        (
            {"config.json": b"{}", "model-00002-of-00003.safetensors": b""},
            {"model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"},
        ),
        ({"x-Q8_0-00001-of-00002.gguf": b""}, {"x-Q8_0-00002-of-00002.gguf"}),
        ({"x.gguf": b""}, set()),
        ({"LLM/config.json": b"{}", "LLM/model.safetensors": b""}, set()),
        ({"config.json": b"{}", "pytorch_model.bin": b""}, set()),
        (WHOLE, set()),
    ],
)
def test_what_an_incomplete_snapshot_lacks(tmp_path, put, files, missing):
    put("a/b", files)
    assert set(find("a/b", None, tmp_path / "hub").missing) == missing


def test_a_link_without_its_blob_is_missing(tmp_path, put):
    snapshot = put("a/b", {**WHOLE, "tokenizer.json": b"{}"})
    (snapshot / "tokenizer.json").resolve().unlink()
    assert find("a/b", None, tmp_path / "hub").missing == ("tokenizer.json",)


def test_lists_models_with_their_size_on_disk(tmp_path, put):
    assert cached_models(tmp_path / "hub") == []
    put("a/b", WHOLE)
    put("a/b", WHOLE, commit="f" * 40)  # shares its blobs
    put("c/d-e", {"config.json": b"{}"}, ref=None)
    (tmp_path / "hub" / "models--empty--one").mkdir()
    found = cached_models(tmp_path / "hub")
    assert [(model.repo, model.nbytes, model.snapshot.complete) for model in found] == [
        ("a/b", 10, True),
        ("c/d-e", 2, False),
    ]


@pytest.mark.parametrize("text", ["Qwen/Qwen3-0.6B", "a/b", "mlx-community/x_y.z"])
def test_repository_ids(text):
    assert REPO_ID.fullmatch(text)


@pytest.mark.parametrize(
    "text", ["a", "a/b/c", "/a", "a/", "../a", "a/..", "a/b--c", "~/a", "a b/c", "a/b\n", "a\\b", "./a"]
)
def test_what_is_no_repository_id(text):
    assert not REPO_ID.fullmatch(text)


class Screen:
    def __init__(self, tty):
        self.tty, self.text = tty, ""

    def isatty(self):
        return self.tty

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_the_bar_ends_its_line_on_a_terminal():
    screen = Screen(True)
    bar = TerminalBar("model", screen)
    for done in (0, 50, 100):
        bar(done, 100)
    assert screen.text.startswith("\r\x1b[Kmodel [....")
    assert screen.text.count("\n") == 1
    assert f"[{'#' * 30}] 100% of 100 B" in screen.text.splitlines()[-1]


def test_the_bar_prints_few_lines_into_a_file():
    screen = Screen(False)
    bar = TerminalBar("model", screen)
    for done in range(1001):
        bar(done, 1000)
    assert len(screen.text.splitlines()) == 11
    assert "\r" not in screen.text


def test_sizes_and_times_for_people():
    assert [size(n) for n in (0, 999, 1000, 1_234_567, 999_960, 5e12)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.2 MB",
        "1.0 MB",
        "5.0 TB",
    ]
    assert [clock(s) for s in (0, 59.6, 3725)] == ["0:00", "1:00", "1:02:05"]
