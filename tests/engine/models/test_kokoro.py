"""Kokoro on both backends against torch's own layers: durations, pitch, loudness, samples; the published names and sizes."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, WeightsError
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any
from engine.models.kokoro import KokoroSound, kokoro
from engine.weights.view import check
from tests.kokoro_checkpoints import PUBLISHED, TINY, save_kokoro, shapes, spoken, voice

BACKENDS = ("torch", "mlx")
SAMPLES = 2 * 5 * 2 * 2  # of a frame


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = save_kokoro(tmp_path_factory.mktemp("kokoro"))
    return cache(
        lambda backend, dtype="f32": load_any(str(folder), LoadOptions(backend=backend, device="cpu", dtype=dtype))
    )


def run(work: Generator[None, None, KokoroSound]) -> KokoroSound:
    while True:
        try:
            next(work)
        except StopIteration as end:
            made: KokoroSound = end.value
            return made


def passage(count: int, seed: int) -> list[int]:
    return [int(id) for id in np.random.default_rng(seed).integers(1, TINY["n_token"], count)]


@pytest.mark.parametrize(("count", "seed", "speed"), [(12, 0, 1.0), (1, 1, 1.0), (30, 2, 0.7), (20, 3, 1.8)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_stage_is_the_reference_s(opened: Any, backend: str, count: int, seed: int, speed: float) -> None:
    own = opened(backend)
    assert isinstance(own, LoadedPart)
    ids, style = passage(count, seed), voice(seed)[count - 1, 0]
    made = run(own.model.speak(ids, style, speed, seed=seed))
    noise = np.random.default_rng(seed).standard_normal((len(made.samples), 9), dtype=np.float32)
    spectrum = own.model.decoder.generator.source(made.pitch, np.random.default_rng(seed))
    wanted = spoken(ids, style, speed, noise, spectrum[:, 11:])
    assert made.durations.tolist() == wanted["durations"].tolist()
    assert count == 1 or len(set(made.durations.tolist())) > 1
    assert len(made.samples) == SAMPLES * made.durations.sum() == len(wanted["samples"])
    voiced = (wanted["pitch"] > 10).mean()
    assert count == 1 or 0.1 < voiced < 0.97  # frames with a pitch and without
    for name in ("pitch", "loudness", "samples"):
        theirs, ours = wanted[name], getattr(made, name)
        assert np.abs(ours - theirs).max() / np.abs(theirs).max() < 1e-3, name


@pytest.mark.parametrize("backend", BACKENDS)
def test_by_default_rounding_is_far_below_the_sound(opened: Any, backend: str) -> None:
    """Convolutions of the decoder may be products of bf16. What decides when and how high something is said is f32 all the same."""
    ids, style = passage(30, 2), voice(2)[29, 0]
    exact, made = (run(opened(backend, dtype).model.speak(ids, style, seed=2)) for dtype in ("f32", "auto"))
    assert made.durations.tolist() == exact.durations.tolist()
    np.testing.assert_array_equal(made.pitch, exact.pitch)
    error = np.square(made.samples - exact.samples).mean() / np.square(exact.samples).mean()
    assert error < 1e-4  # 40 dB


def test_a_seed_repeats_the_sound_and_another_one_changes_it(opened: Any) -> None:
    own, ids, style = opened("torch").model, passage(8, 5), voice()[7, 0]
    first, again, other = (run(own.speak(ids, style, seed=seed)).samples for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_a_passage_that_is_too_long(opened: Any) -> None:
    with pytest.raises(BadRequest, match="62 are spoken at once"):
        run(opened("torch").model.speak([1] * 63, voice()[0, 0]))


@pytest.mark.parametrize("new", [False, True], ids=["weight_g", "parametrizations"])
def test_published_sizes(new: bool) -> None:
    """Names and shapes of the published file, none more and none less, with either of torch's names for a normed weight."""
    table = shapes(PUBLISHED, "published")
    if new:
        names = {"weight_g": "parametrizations.weight.original0", "weight_v": "parametrizations.weight.original1"}
        table = {
            f"{name.rpartition('.')[0]}.{names.get(name.rpartition('.')[2], name.rpartition('.')[2])}": shape
            for name, shape in table.items()
        }
    seen = check(lambda w: kokoro(w, PUBLISHED), table)
    assert seen.parameters / 1e6 == pytest.approx(81.2, abs=1.0)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: kokoro(w, PUBLISHED), table | {"decoder.surprise": (3,)})
