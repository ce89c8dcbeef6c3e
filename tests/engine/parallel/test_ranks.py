"""A model that is split among ranks answers as the whole one does: every architecture, and everything the engine does to sequences."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from backends.torch.kernels import library
from engine import loading
from engine.engine import Engine
from engine.loading import LoadedModel, LoadOptions, load
from engine.types import Request, SamplingParams, Settings
from tests.checkpoints import MODELS, save
from tests.rank_threads import ThreadTeam

LENGTH = 16
NEAR = 1e-5  # logits whose order rounding may change
QUICK = ["llama", "qwen3_5_moe", "deepseek_v3"]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks as threads, without kernels: sums of eight-bit kernels depend on how a matrix is cut."""
    monkeypatch.setattr(loading, "Team", ThreadTeam)
    monkeypatch.setattr(library, "available", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("ranks")

    @cache
    def saved(name: str) -> Path:
        return save(name, root / name)

    return saved


def opened(folder: Path, ranks: int, **more: Any) -> LoadedModel:
    how: dict[str, Any] = dict(backend="torch", device="cpu", dtype="f32", quant="none", tensor_parallel=ranks)
    return load(str(folder), LoadOptions(**{**how, **more}))


def prompts(count: int, vocab: int, shared: int = 0) -> list[list[int]]:
    dice = random.Random(5)
    begin = [dice.randrange(min(vocab, 256)) for _ in range(shared)]
    return [begin + [dice.randrange(min(vocab, 256)) for _ in range(dice.randrange(3, 30))] for _ in range(count)]


def replies(
    loaded: LoadedModel, asked: list[list[int]], settings: Settings | None = None, **params: Any
) -> list[tuple[list[int], list[float]]]:
    """Ids and their log probabilities of requests that run together."""
    engine = Engine(lambda _: loaded, settings or Settings(), start=False)
    how = dict(temperature=0.0, max_tokens=LENGTH, ignore_eos=True, logprobs=True)
    handles = [engine.submit(Request("m", ids, SamplingParams(**{**how, **params}))) for ids in asked]
    while not engine.idle:
        engine.turn()
    results = [handle.result() for handle in handles]
    assert engine.check() == 0
    engine.close()
    return [(result.ids, [one.logprob for one in result.logprobs or ()]) for result in results]


def assert_alike(whole: list[Any], split: list[Any]) -> None:
    for (ids, logprobs), (others, near) in zip(whole, split, strict=True):
        assert others == ids
        assert near == pytest.approx(logprobs, abs=1e-3)


def compare(folder: Path, ranks: int, count: int = 6, settings: Settings | None = None, **how: Any) -> None:
    alone = opened(folder, 1, **how)
    asked = prompts(count, alone.vocab)
    assert_alike(replies(alone, asked, settings), replies(opened(folder, ranks, **how), asked, settings))


@pytest.mark.parametrize("name", QUICK)
def test_two_ranks_answer_as_one(name: str, folder: Callable[[str], Path]) -> None:
    compare(folder(name), 2)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_architecture_is_split(name: str, ranks: int, folder: Callable[[str], Path]) -> None:
    compare(folder(name), ranks, 32)
