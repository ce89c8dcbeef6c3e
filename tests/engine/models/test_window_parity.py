"""Architectures with sliding windows against the reference library, with windows that move on all the time.

Through a runner: prompts in chunks and replies far longer than a window. Through the engine: prefixes reused, draft tokens
rejected, conversations that share a beginning, sequences preempted and offloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from backends.base import Sampling, Segment
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.settings import Settings
from engine.types import Request, SamplingParams
from tests.checkpoints import reference_cached, save
from tests.driver import Driver

NAMES = ("mistral_window", "qwen2_window", "qwen3_moe_window", "gemma3", "phi3", "gpt_oss")
MARGIN, STEP = 9, 16
RANDOM = np.random.default_rng(4)
BEGINNING = RANDOM.integers(0, 250, 48).tolist()
PROMPTS = [[*BEGINNING[: 48 - 7 * i], *RANDOM.integers(0, 250, 20 + 9 * i).tolist()] for i in range(4)]
LENGTH = 40


@pytest.fixture(autouse=True)
def small_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.kv_cache.WINDOW_MARGIN", MARGIN)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", STEP)
    monkeypatch.setattr("engine.prefix_cache.WINDOW_STEP", STEP)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("windows")
    return cache(lambda name: save(name, root / name, "old"))


@cache
def replies(name: str) -> list[list[int]]:
    """The reference's greedy replies."""
    import torch

    found = []
    for prompt in PROMPTS:
        options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0, "max_new_tokens": LENGTH}
        with torch.no_grad():
            out = reference_cached(name).generate(torch.tensor([prompt]), **options)
        found.append(out[0, len(prompt) :].tolist())
    return found


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
def test_windows_move_on(folder: Callable[[str], Path], name: str, backend: str) -> None:
    import torch

    driver, ids = Driver(folder(name), backend), [*PROMPTS[0], *replies(name)[0]]
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


@pytest.mark.parametrize("bits", [32, 16, 8, 4])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_whatever_keys_and_values_are_kept_in(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, backend: str, bits: int
) -> None:
    """As from rows that all stay. On torch this model is one program of the CPU kernels, where they are."""
    ids = [*PROMPTS[0], *PROMPTS[1]][:128]
    moving = Driver(folder("qwen3_window"), backend, kv_bits=bits).logits(ids, [11] * 5 + [1] * 40 + [11] * 3)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", 512)
    still = Driver(folder("qwen3_window"), backend, kv_bits=bits).logits(ids)
    assert np.abs(moving - still).max() <= 1e-3 * np.abs(still).max()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
def test_through_the_engine(folder: Callable[[str], Path], tmp_path: Path, name: str, backend: str) -> None:
    loaded = load(str(folder(name)), LoadOptions(backend=backend, device="cpu", dtype="f32"))
    settings = Settings(prefill_chunk=64, speculation="ngram", max_draft=4, offload_folder=tmp_path / "offload")
    engine = Engine(lambda _: loaded, settings, start=False)

    def say(prompts: list[list[int]], evict: int = 0) -> list[list[int]]:
        params = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
        handles = [engine.submit(Request("m", prompt, params)) for prompt in prompts]
        turns = 0
        while not engine.idle:
            engine.turn()
            turns += 1
            if evict and turns % evict == 0:
                (executor,) = engine._manager.executors.values()
                if (victim := executor.scheduler.victim()) is not None:
                    executor.scheduler.preempt(victim)
                    executor.scheduler.cap = 16
        return [list(handle.result(0).ids) for handle in handles]

    want = replies(name)
    assert say(PROMPTS) == want
    assert say(PROMPTS, evict=5) == want  # every prompt is a prefix now
    longer = [[*prompt, *reply[:30]] for prompt, reply in zip(PROMPTS, want)]
    assert [ids[:10] for ids in say(longer)] == [reply[30:] for reply in want]
    stats = engine.stats()
    assert stats.failed == 0
    assert stats.prefix_hits >= 4
    assert stats.evictions
    assert engine.check() == 0
    (executor,) = engine._manager.executors.values()
    assert executor.prefix_cache.clear(hurry=False) > 0
    assert say(PROMPTS) == want  # from the disk, where a stored prefix serves
    engine.close()
