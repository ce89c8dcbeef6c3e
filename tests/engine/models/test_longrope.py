"""Phi-3 for long contexts, whose rope is chosen by a text's whole length: short texts, long ones, and those that grow past the length."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Segment
from backends.ops import LONG_TEXT
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Request, SamplingParams, Settings
from tests.checkpoints import reference_cached, save
from tests.driver import Driver

TRAINED, LENGTH = 32, 40
RANDOM = np.random.default_rng(6)
# two shorter than the trained length, one as long, one that is longer and begins as the first
PROMPTS = [RANDOM.integers(0, 250, n).tolist() for n in (20, 9, TRAINED)]
PROMPTS.append([*PROMPTS[0], *RANDOM.integers(0, 250, 30).tolist()])
MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "ahead": {"async_scheduling": True},
    "speculating": {"speculation": "ngram"},
    "offloading": {},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("phi3_long", tmp_path_factory.mktemp("phi3"), "old")


@cache
def replies() -> list[list[int]]:
    import torch

    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0, "max_new_tokens": LENGTH}
    model = reference_cached("phi3_long")
    with torch.no_grad():
        outs = [model.generate(torch.tensor([prompt]), **options)[0] for prompt in PROMPTS]
    return [out[len(prompt) :].tolist() for prompt, out in zip(PROMPTS, outs)]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("length", [TRAINED, TRAINED + 1, 50])
def test_logits(folder: Path, backend: str, length: int) -> None:
    import torch

    ids = PROMPTS[3][:length]
    with torch.no_grad():
        want = reference_cached("phi3_long")(torch.tensor([ids])).logits[0].numpy()
    driver = Driver(folder, backend)
    assert driver.model.long_from == TRAINED  # type: ignore[attr-defined]
    slot = driver.kv.open(length)
    assert slot is not None
    pos = np.arange(length, dtype=np.int32) + (LONG_TEXT if length > TRAINED else 0)
    rows = [
        driver.runner.run([Segment(slot, ids[at : at + 7], pos=pos[at : at + 7], want=range(len(ids[at : at + 7])))])
        .read()[slot]
        .logits
        for at in range(0, length, 7)
    ]
    got = np.concatenate([row for row in rows if row is not None])
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_conversations_outgrow_the_trained_length(folder: Path, tmp_path: Path, backend: str, mode: str) -> None:
    loaded = load(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32"))
    kept = {"offload_folder": tmp_path / "offload"} if mode == "offloading" else {}
    engine = Engine(lambda _: loaded, Settings(prefill_chunk=16, **MODES[mode], **kept), start=False)

    def say(prompts: list[list[int]], most: int = LENGTH) -> list[list[int]]:
        params = SamplingParams(temperature=0.0, max_tokens=most, ignore_eos=True)
        handles = [engine.submit(Request("m", prompt, params)) for prompt in prompts]
        while not engine.idle:
            engine.turn()
        return [list(handle.result(0).ids) for handle in handles]

    want = replies()
    assert say(PROMPTS) == want
    assert [say([prompt])[0] for prompt in PROMPTS] == want  # alone, from what the first round left
    assert say(PROMPTS[:1], 12) == [want[0][:12]]  # a short text beside long ones of the same beginning
    if mode == "offloading":
        (executor,) = engine._manager.executors.values()
        executor.prefix_cache.clear(hurry=False)
    follow = [[*prompt, *reply[:25]] for prompt, reply in zip(PROMPTS, want)]
    assert say(follow, 15) == [reply[25:] for reply in want]
    stats = engine.stats()
    assert stats.prefix_hits > 4
    assert stats.failed == engine.check() == 0
    engine.close()
