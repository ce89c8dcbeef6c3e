"""Architectures with convolutions and Mamba-2 through the engine: prompts of several chunks of a scan, prefixes reused, draft tokens
rejected, conversations that share a beginning, sequences preempted and offloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Request, SamplingParams, Settings
from tests.checkpoints import reference_cached, save

NAMES = ("lfm2", "lfm3", "granite_hybrid", "nemotron_h_moe")
RANDOM = np.random.default_rng(4)
BEGINNING = RANDOM.integers(0, 250, 140).tolist()
PROMPTS = [[*BEGINNING[: 140 - 7 * i], *RANDOM.integers(0, 250, 10 + 9 * i).tolist()] for i in range(3)]
LENGTH = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("recurrent")
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
def test_through_the_engine(folder: Callable[[str], Path], tmp_path: Path, name: str, backend: str) -> None:
    loaded = load(str(folder(name)), LoadOptions(backend=backend, device="cpu", dtype="f32"))
    settings = Settings(prefill_chunk=96, speculation="ngram", max_draft=4, offload_folder=tmp_path / "offload")
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
    longer = [[*prompt, *reply[:16]] for prompt, reply in zip(PROMPTS, want)]
    assert [ids[:8] for ids in say(longer)] == [reply[16:] for reply in want]
    # a beginning that repeats itself, so that the drafts of n-grams are tried, and rejected
    repeated = [5, 17, 33, 41] * 12
    alone = say([repeated])
    assert say([repeated]) == alone
    stats = engine.stats()
    assert stats.failed == 0
    assert stats.prefix_hits >= 3
    assert stats.evictions
    assert engine.check() == 0
    (executor,) = engine._manager.executors.values()
    assert executor.prefix_cache.clear(hurry=False) > 0
    assert say(PROMPTS) == want  # from the disk, where a stored prefix serves
    engine.close()
