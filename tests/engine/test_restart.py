"""A conversation that is continued by another process, from a folder of offloaded prefixes, and the file that the bench of it makes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.load_options import LoadOptions
from engine.prefix_offload import StoredPrefix, export_prefix
from tests.bench import restart
from tests.checkpoints import save

PROMPT = "What one process has read, the next one need not read again. " * 2


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With gated delta rules, which cannot go back by themselves, and attention."""
    folder = tmp_path_factory.mktemp("models") / "qwen3_5"
    save("qwen3_5", folder, "old")
    return folder


def run(model: Path, backend: str, prompt: str, *options: str) -> dict[str, Any]:
    given = ["--raw", "--json", "--max-tokens", "6", "--temperature", "0", "--backend", backend, "--dtype", "f32"]
    command = [sys.executable, "-m", "app.cli", "run", str(model), prompt, *given, *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_the_next_process_continues_a_conversation(model: Path, backend: str, tmp_path: Path) -> None:
    """Its text continues the prompt: the reply is shown otherwise, as by a chat template that leaves reasoning out."""
    kept = "--kv-offload-dir", str(tmp_path / "kept")
    first = run(model, backend, PROMPT, *kept)
    assert first["timings"]["cached_tokens"] == 0
    (file,) = (tmp_path / "kept").glob("*.prefix")
    again = run(model, backend, f"{PROMPT}And then?", *kept)
    assert again["timings"]["cached_tokens"] == len(first["prompt_ids"]) - restart.TAIL
    assert file.exists()
    assert again["output_ids"] == run(model, backend, f"{PROMPT}And then?")["output_ids"]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_the_benchs_file_is_the_engines(model: Path, backend: str, tmp_path: Path) -> None:
    options = LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none")
    computed = restart.opened(model, options, tmp_path / "computed", start=False)
    restart.ask(computed, np.random.default_rng(0).integers(0, 250, 90).tolist())
    executor = restart.executor_of(computed)
    (*_, prefix) = executor.prefix_cache._entries
    stored = export_prefix(executor.loaded.kv, prefix.slot, prefix.checkpoints)
    computed.close()

    made = restart.opened(model, options, tmp_path / "made", start=False)
    executor = restart.executor_of(made)
    executor.prefix_cache.clear(offload=False)
    length, checkpoint = len(prefix.key), stored.states[0][0]
    rows, states = restart.made_up(executor.loaded.kv, executor.loaded.runner, length)
    assert _shapes(StoredPrefix([*rows, *states], [(checkpoint, states)])) == _shapes(stored)
    restart.keep(executor, prefix.key, stored)
    made.close()
    (one,), (other,) = ([*(tmp_path / name).glob("*.prefix")] for name in ("computed", "made"))
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()


def _shapes(stored: StoredPrefix) -> list[tuple[Any, ...]]:
    arrays = [*stored.arrays, *(array for _, states in stored.states for array in states)]
    return [(array.shape, array.dtype) for array in arrays] + [length for length, _ in stored.states]
