"""A tiny model that listens, the real voice activity, and sounds with a voice's pitch and beat."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import grus
from engine.loading import LoadOptions
from engine.types import Settings
from tests.speech_checkpoints import save

RATE = 16000


def voice(seconds: float, seed: int = 0) -> np.ndarray:
    """Not speech, but what voice activity takes for it."""
    random = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    base = 110 + 40 * random.random()
    tones = sum(np.sin(2 * np.pi * base * i * t * (1 + 0.01 * np.sin(9 * t))) / i for i in (1, 2, 3, 4))
    beat = np.clip(np.sin(2 * np.pi * 3 * t), 0, 1)
    return (0.02 * random.standard_normal(len(t)) + 0.3 * tones * beat).astype(np.float32)


def silence(seconds: float, seed: int = 9) -> np.ndarray:
    return (0.002 * np.random.default_rng(seed).standard_normal(int(seconds * RATE))).astype(np.float32)


def talk(parts: int = 3) -> np.ndarray:
    pieces = [silence(0.8)]
    for seed in range(parts):
        pieces += [voice(1.2 + 0.3 * seed, seed), silence(0.9, seed + 50)]
    return np.concatenate(pieces)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save("moonshine", tmp_path_factory.mktemp("ears") / "moonshine-tiny"))


@pytest.fixture(scope="module")
def ears(checkpoint: str) -> Iterator[grus.Ears]:
    with grus.Ears(checkpoint, LoadOptions(backend="auto", device="cpu")) as made:
        yield made


@pytest.fixture
def small(checkpoint: str) -> Iterator[Callable[..., grus.Ears]]:
    made: list[grus.Ears] = []

    def make(**settings: object) -> grus.Ears:
        made.append(grus.Ears(checkpoint, LoadOptions(backend="auto", device="cpu"), Settings(**settings)))
        return made[-1]

    yield make
    for one in made:
        one.close()
