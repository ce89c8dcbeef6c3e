"""Architectures with convolutions and Mamba-2 through the engine: prompts of several chunks of a scan, prefixes reused, draft tokens
rejected, conversations that share a beginning, sequences preempted and offloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.checkpoints import save
from tests.engine_driver import EngineDriver, greedy_replies, on_both

NAMES = (
    *("lfm2", "lfm2_moe", "lfm3", "granite_hybrid", "granite_hybrid_dense", "nemotron_h", "nemotron_h_moe"),
    "qwen3_next",
)
RANDOM = np.random.default_rng(4)
BEGINNING = RANDOM.integers(0, 250, 140).tolist()
PROMPTS = [[*BEGINNING[: 140 - 7 * i], *RANDOM.integers(0, 250, 10 + 9 * i).tolist()] for i in range(3)]
LENGTH = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("recurrent")
    return cache(lambda name: save(name, root / name, "old"))


@pytest.mark.parametrize(("name", "backend"), on_both(NAMES))
def test_through_the_engine(folder: Callable[[str], Path], tmp_path: Path, name: str, backend: str) -> None:
    driver = EngineDriver(folder(name), backend, tmp_path, 96, LENGTH)
    driver.continues(PROMPTS, greedy_replies(name, PROMPTS, LENGTH), begun=16, compared=8, hits=3)
    # a beginning that repeats itself, so that the drafts of n-grams are tried, and rejected
    repeated = [5, 17, 33, 41] * 12
    alone = driver.say([repeated])
    assert driver.say([repeated]) == alone
    driver.engine.close()
