"""Architectures with sliding windows against the reference library, with windows that move on all the time.

Through a runner: prompts in chunks and replies far longer than a window. Through the engine: prefixes reused, draft tokens
rejected, conversations that share a beginning, sequences preempted and offloaded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from backends.base import KVSpec, Sampling, Segment, SharedKVSpec
from engine.describe import layers, memory_bytes
from engine.errors import ConfigError
from tests.checkpoints import reference_cached, save
from tests.driver import Driver
from tests.engine_driver import EngineDriver, decided, greedy_replies, on_both
from tests.qwen3_tts_cases import checkpoint

NAMES = (
    *("mistral_window", "qwen2_window", "qwen3_moe_window", "phi3", "gpt_oss"),
    *("gemma3", "gemma3n", "gemma4", "gemma4_unified", "muse_glimmer", "laguna", "cohere2", "exaone4", "olmo3", "lfm3"),
)
WHOLE = (  # the same through the engine, of architectures without windows, and of variants of those above
    *("glm4", "glm4_moe", "glm4_moe_lite", "deepseek_v2", "deepseek_v3", "qwen3_5_moe", "minimax_m2"),
    *("gemma4_moe", "laguna_wide", "ministral3", "smollm3", "bitnet", "seed_oss"),
    *("granite", "granitemoe", "granitemoeshared", "ernie4_5", "ernie4_5_moe", "hunyuan", "hunyuan_moe"),
    *("olmo2", "exaone4_full"),
)
MARGIN, STEP = 9, 16
LENGTH = 28


def prompts(seed: int) -> list[list[int]]:
    """Four that begin alike."""
    random = np.random.default_rng(seed)
    beginning = random.integers(0, 250, 48).tolist()
    return [[*beginning[: 48 - 7 * i], *random.integers(0, 250, 20 + 9 * i).tolist()] for i in range(4)]


PROMPTS = prompts(4)


@pytest.fixture(autouse=True)
def small_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.kv_cache.WINDOW_MARGIN", MARGIN)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", STEP)
    monkeypatch.setattr("engine.prefix_cache.WINDOW_STEP", STEP)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("windows")
    return cache(lambda name: save(name, root / name, "old"))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
def test_windows_move_on(folder: Callable[[str], Path], name: str, backend: str) -> None:
    import torch

    driver, ids = Driver(folder(name), backend), [*PROMPTS[0], *greedy_replies(name, PROMPTS[:1], LENGTH)[0]]
    slot = driver.kv.open(len(ids))
    assert slot is not None
    rows = []
    for start, stop in [*((at, at + 11) for at in range(0, 55, 11)), *((at, at + 1) for at in range(55, len(ids)))]:
        segment = Segment(slot, ids[start:stop], want=range(min(stop, len(ids)) - start), sample=Sampling())
        rows.append(driver.runner.run([segment]).read()[slot].logits)
    with torch.no_grad():
        want = reference_cached(name)(torch.tensor([ids])).logits[0].numpy()
    got = np.concatenate([row for row in rows if row is not None])
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()
    assert slot.place.firsts[9] > 60


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_llama_with_a_window_is_mistral(folder: Callable[[str], Path], tmp_path: Path, backend: str) -> None:
    llama = shutil.copytree(folder("mistral_window"), tmp_path / "llama")
    config = json.loads((llama / "config.json").read_text())
    (llama / "config.json").write_text(json.dumps(config | {"model_type": "llama"}))
    mine, theirs = (
        Driver(one, backend).logits(PROMPTS[0], [11] * 6 + [2]) for one in (llama, folder("mistral_window"))
    )
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_talker_with_a_window(tmp_path: Path, backend: str) -> None:
    talker = checkpoint("base", tmp_path / "tts")
    config = json.loads((talker / "config.json").read_text())
    ids = [3 + i % 7 for i in range(12)]
    whole = Driver(talker, backend).hidden(ids)
    asked = {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}
    config["talker_config"] |= asked
    config["talker_config"]["code_predictor_config"] |= asked | {
        "sliding_window": 512,
        "layer_types": None,
    }  # longer than any frame
    (talker / "config.json").write_text(json.dumps(config))
    driver = Driver(talker, backend)
    assert [spec.window for spec in driver.model.memory] == [None] + [5] * (len(driver.model.memory) - 1)  # type: ignore[union-attr]
    rows = driver.hidden(ids, [4, 1, 1, 6])
    assert np.abs(rows[:5] - whole[:5]).max() <= 1e-4 * np.abs(whole).max()
    assert np.abs(rows[8:] - whole[8:]).max() > 1e-2 * np.abs(whole).max()
    config["talker_config"]["code_predictor_config"] |= {"sliding_window": 2, "max_window_layers": 0}
    (talker / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="must cover a frame"):
        Driver(talker, backend)


@pytest.mark.parametrize("bits", [32, 16, 8, 4])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", ["qwen3_window", "gemma4", "gpt_oss"])
def test_whatever_keys_and_values_are_kept_in(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, name: str, backend: str, bits: int
) -> None:
    """As from rows that all stay. On torch the first model is one program of the CPU kernels, where they are."""
    ids = [*PROMPTS[0], *PROMPTS[1]][:128]
    moving = Driver(folder(name), backend, kv_bits=bits).logits(ids, [11] * 5 + [1] * 40 + [11] * 3)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", 512)
    still = Driver(folder(name), backend, kv_bits=bits).logits(ids)
    # a product's last digit depends on how many rows there are, and decides now and then which whole number a key becomes
    assert np.abs(moving - still).max() <= (1e-3 if bits > 8 else 1e-2) * np.abs(still).max()
    assert np.median(np.abs(moving - still)) <= 1e-4 * np.abs(still).max()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", ["gemma3n", "gemma4"])
def test_layers_that_share_keys_and_values_keep_none(folder: Callable[[str], Path], name: str, backend: str) -> None:
    driver = Driver(folder(name), backend)
    memory = driver.model.memory
    assert [spec.layer for spec in memory if isinstance(spec, SharedKVSpec)] == [2, 1]
    own = [spec for spec in memory if isinstance(spec, KVSpec)]
    assert driver.kv.bytes_for(64) == driver.backend.kv(own, 1 << 30).bytes_for(64) > 0
    assert layers(memory) == "2 attention, 3 window-9 attention"
    assert memory_bytes(memory, "f32", 32, 64) == memory_bytes(own, "f32", 32, 64)


@pytest.mark.parametrize(("name", "backend"), on_both(NAMES, WHOLE))
def test_through_the_engine(folder: Callable[[str], Path], tmp_path: Path, name: str, backend: str) -> None:
    driver = EngineDriver(folder(name), backend, tmp_path, 64, LENGTH)
    asked = next(some for some in map(prompts, range(4, 12)) if decided(name, some, LENGTH))
    driver.continues(asked, greedy_replies(name, asked, LENGTH), begun=20, compared=8, hits=4)
    driver.engine.close()
