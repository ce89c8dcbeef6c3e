"""Voice activity with its published weights, against the package they come from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import silero_vad
import torch

from engine.errors import BadRequest
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any

FOLDER = Path(__file__).parents[3] / "resources" / "silero_vad"


@cache
def part(backend: str) -> LoadedPart:
    loaded = load_any(str(FOLDER), LoadOptions(backend=backend, device="cpu"))
    assert isinstance(loaded, LoadedPart)
    return loaded


@cache
def sound(rate: int) -> np.ndarray:
    """Noise, then something with a voice's pitch and beat, then noise."""
    random = np.random.default_rng(0)
    t = np.arange(rate * 4) / rate
    voiced = sum(
        np.sin(2 * np.pi * f * t * (1 + 0.01 * np.sin(9 * t))) / (i + 1) for i, f in enumerate((120, 240, 360, 480))
    )
    beat = np.clip(np.sin(2 * np.pi * 3 * t), 0, 1) * ((t > 1) & (t < 3))
    return (0.02 * random.standard_normal(len(t)) + 0.3 * voiced * beat).astype(np.float32)


@cache
def expected(rate: int) -> np.ndarray:
    model = silero_vad.load_silero_vad()
    size = 512 * rate // 16000
    samples = torch.from_numpy(np.pad(sound(rate), (0, -len(sound(rate)) % size)))
    return np.array([float(model(samples[i : i + size], rate)) for i in range(0, len(samples), size)])


def run(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("rate", [16000, 8000])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
class TestProbabilities:
    def test_of_a_whole_sound(self, backend, rate):
        made = run(part(backend).model.probabilities(sound(rate), rate))
        np.testing.assert_allclose(made, expected(rate), atol=1e-4)
        assert made.min() < 0.1
        assert made.max() > 0.5

    def test_of_a_stream_in_parts(self, backend, rate):
        model = part(backend).model
        state, size, made = model.start(rate), model.chunk(rate), []
        for begin, end in ((0, 3), (3, 4), (4, 60), (60, 500)):
            made.append(run(model.probabilities(sound(rate)[begin * size : end * size], rate, state)))
        np.testing.assert_allclose(np.concatenate(made), expected(rate), atol=1e-4)


def test_nothing_and_a_strange_rate():
    model = part("torch").model
    assert run(model.probabilities(np.zeros(0, np.float32), 16000)).shape == (0,)
    with pytest.raises(BadRequest, match="44100"):
        run(model.probabilities(np.zeros(10, np.float32), 44100))
