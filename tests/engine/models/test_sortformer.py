"""Sortformer on both backends against what the reference found: encoder, whole recordings, and long ones with the speaker cache."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any
from engine.media.mel import nemo_mel, normalized_bands, preemphasized
from engine.models.registry import PARTS
from engine.models.sortformer import loud_part
from engine.models.speaker_cache import CacheRules, SpeakerCache, chosen_frames
from engine.weights.view import check
from tests.sortformer_checkpoints import (
    KINDS,
    LONG_V1,
    RATE,
    Kind,
    config,
    conversation,
    mlx_layout,
    published,
    recorded,
    save_sortformer,
    shapes,
    weights,
)

BACKENDS = ("torch", "mlx")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = cache(lambda kind: str(save_sortformer(kind, tmp_path_factory.mktemp("sortformer") / kind)))
    return cache(
        lambda kind, backend: load_any(
            folder(kind), LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none")
        )
    )


def run(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def heard(model: Any, samples: np.ndarray, piece: int) -> np.ndarray:
    """In pieces of so many samples."""
    stream = model.start()
    rows = [run(model.push(samples[at : at + piece], stream)) for at in range(0, len(samples), piece)]
    return np.concatenate([*rows, run(model.push(samples[:0], stream, last=True))])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_encoder_hears_what_the_reference_hears(opened: Any, kind: Kind, backend: str) -> None:
    own, wanted = opened(kind, backend), recorded()[f"{kind}_encoded"]
    assert isinstance(own, LoadedPart)
    mel = nemo_mel(np.pad(preemphasized(conversation(3.0)), 256), own.model.mels)
    encoder = own.model.encoder
    made = own.backend.ops.numpy(run(encoder.encode(encoder.embed(normalized_bands(mel) if kind == "v1" else mel))))
    assert made.shape == wanted.shape
    assert np.abs(made - wanted).max() / np.abs(wanted).max() < 1e-4


@pytest.mark.parametrize("piece", [1000, 7 * RATE, 60 * RATE])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_recording_is_heard_as_by_the_reference_however_it_comes(opened: Any, backend: str, piece: int) -> None:
    """27 chunks: the queue overflows, and the cache is compressed many times."""
    wanted = recorded()["v2_long"]
    made = heard(opened("v2", backend).model, conversation(30.0, 2), piece)
    np.testing.assert_allclose(made, wanted, atol=1e-3)
    assert ((wanted > 0.5).mean(0) > 0.1).all()  # each speaker comes and goes
    assert ((wanted > 0.5).mean(0) < 0.9).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_recording_shorter_than_a_chunk(opened: Any, backend: str) -> None:
    np.testing.assert_allclose(
        heard(opened("v2", backend).model, conversation(0.9, 2), 3000), recorded()["v2_short"], atol=1e-4
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_first_version_hears_a_short_recording_whole(opened: Any, backend: str) -> None:
    """Behind 0.6 seconds of silence, which the reference leaves out."""
    wanted = recorded()["v1_whole"]
    sound = np.concatenate((np.zeros(9600, np.float32), conversation(5.0, 1)))
    begin, _ = loud_part(sound)
    assert begin >= 9600
    made, first = heard(opened("v1", backend).model, sound, 5000), round(begin / 1280)
    assert len(made) == 70
    assert not made[:first].any()
    np.testing.assert_allclose(made[first:], wanted[: len(made) - first], atol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_first_version_hears_a_long_recording_in_chunks(opened: Any, backend: str) -> None:
    model = opened("v1", backend).model
    assert model.chunk * model.frame == LONG_V1
    np.testing.assert_allclose(heard(model, conversation(20.0, 2), 9000), recorded()["v1_long"], atol=1e-3)


def test_nothing_and_silence_are_heard(opened: Any) -> None:
    for kind in KINDS:
        model = opened(kind, "torch").model
        assert len(heard(model, np.zeros(0, np.float32), RATE)) <= 1
        assert np.isfinite(heard(model, np.zeros(3 * RATE, np.float32), RATE)).all()


def test_memory_does_not_grow_with_the_length(opened: Any) -> None:
    model = opened("v2", "torch").model
    stream, sizes = model.start(), []
    for seed in range(8):
        run(model.push(conversation(6.0, seed), stream))
        sizes.append((len(stream.cache), stream.mel.waiting))
    assert max(kept for kept, _ in sizes) <= model.rules.cache + model.rules.fifo
    assert max(waiting for _, waiting in sizes) <= (model.chunk + model.right + 1) * model.frame


RULES = CacheRules(
    speakers=2, cache=12, fifo=4, period=4, silence_per_speaker=1, least_probability=0.25, silence=0.2,
    latest_boost=0.05, strong_rate=0.75, weak_rate=1.5, positive_rate=0.5, by_speaker=True,
)  # fmt: skip


def test_a_speaker_of_long_ago_stays_in_the_cache() -> None:
    """The first speaks for 12 frames and is never heard again; the second speaks on and on."""
    cache = SpeakerCache(RULES, 3)
    for step in range(30):
        speaks = np.tile(np.array([[0.97, 0.02]] if step < 3 else [[0.02, 0.97]], np.float32), (4, 1))
        cache.update(np.full((4, 3), step, np.float32), speaks, np.concatenate((cache.cache_speech, cache.fifo_speech)))
    assert len(cache.cache) == 12
    assert (cache.cache_speech > 0.5).sum(0).min() >= 4


def test_silence_has_its_places() -> None:
    speech = np.full((16, 2), 0.01, np.float32)
    speech[:8, 0] = 0.9
    places = chosen_frames(speech, RULES)
    assert len(places) == 12
    assert sorted(set(places)) == [-1, *range(8)]


def test_a_chunk_longer_than_the_period_does_not_make_the_queue_grow() -> None:
    cache = SpeakerCache(RULES, 3)
    for _ in range(9):
        past = np.concatenate((cache.cache_speech, cache.fifo_speech))
        cache.update(np.zeros((11, 3), np.float32), np.full((11, 2), 0.7, np.float32), past)
    assert len(cache.fifo) == RULES.fifo


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_has_the_reference_s_tensors_and_no_others(kind: Kind) -> None:
    for stored in (weights(kind), mlx_layout(weights(kind))):
        shapes = {name: value.shape for name, value in stored.items()}
        assert not check(lambda w: PARTS["sortformer"](w, config(kind)), shapes).problems


def test_a_config_whose_positions_hold_no_chunk_is_refused() -> None:
    given = config("v2")
    given["tf_encoder_config"]["max_source_positions"] = 60
    with pytest.raises(ConfigError, match="max_source_positions"):
        check(lambda w: PARTS["sortformer"](w, given), {})


@pytest.mark.parametrize(("kind", "millions"), [("v1", 123), ("v2", 117)])
def test_published_sizes(kind: Kind, millions: float) -> None:
    """Names and shapes as the reference makes them, and as many parameters as the model cards say."""
    seen = check(lambda w: PARTS["sortformer"](w, published(kind)), shapes(published(kind)))
    assert seen.parameters / 1e6 == pytest.approx(millions, rel=0.02)
