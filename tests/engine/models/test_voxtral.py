"""Voxtral on both backends against the reference: frames of short and long sounds, logits, greedy tokens, published sizes."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from backends.base import Segment
from backends.torch.kernels import library as kernels
from engine.errors import ConfigError, WeightsError
from engine.media.inputs import HeardSound
from engine.models.config import Fields
from engine.models.voxtral import voxtral
from engine.sequence import Sampler
from engine.text.tokenizer import Tokenizer
from engine.types import SamplingParams
from engine.vision.voxtral import VoxtralSoundProcessor
from engine.weights.view import check
from tests.driver import Driver
from tests.speech_checkpoints import sound
from tests.voxtral_checkpoints import AUDIO, VOCAB, WINDOW, features, save_voxtral, voxtral_id, voxtral_reference

BACKENDS = ("torch", "mlx")
LAYOUTS = (*((backend, "published") for backend in BACKENDS), ("torch", "mlx"), ("torch", "plain"))
LENGTHS = (3.3, 30.5)  # seconds: one window, and a little more
GREEDY = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return cache(lambda layout: save_voxtral(tmp_path_factory.mktemp("voxtral"), layout))


@pytest.fixture(scope="module")
def driver(folder: Any) -> Any:
    return cache(lambda backend, layout: Driver(folder(layout), backend))


@cache
def wanted_frames(seconds: float) -> np.ndarray:
    with torch.no_grad():
        made: np.ndarray = voxtral_reference().model.get_audio_features(features(sound(seconds))).pooler_output.numpy()
    return made


@cache
def heard(seconds: float) -> HeardSound:
    config = Fields(voxtral_reference().config.to_dict())
    return VoxtralSoundProcessor(config, lambda text: [voxtral_id(text)]).sound(sound(seconds))


def run(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize(("backend", "layout"), LAYOUTS)
def test_frames_of_short_and_long_sounds_together(
    driver: Any, backend: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two batches, of which the second is the end of the long sound."""
    monkeypatch.setattr("engine.models.voxtral.TOGETHER", 2)
    made = run(driver(backend, layout).model.encode([heard(seconds) for seconds in LENGTHS]))
    for one, seconds, windows in zip(made, LENGTHS, (1, 2), strict=True):
        wanted = wanted_frames(seconds)
        assert one.shape == wanted.shape == (windows * WINDOW, 64)
        assert np.abs(one - wanted).max() / np.abs(wanted).max() < 1e-4
    if backend == "torch":
        assert driver(backend, layout).model.tower.encoder.layers.traced == kernels.available()


@pytest.mark.parametrize(
    ("backend", "language"),
    [("torch", ""), ("torch", "lang:en"), ("mlx", "lang:en"), pytest.param("mlx", "", marks=pytest.mark.slow)],
)
def test_logits_and_greedy_tokens(driver: Any, folder: Any, backend: str, language: str) -> None:
    """Of a transcription with a language, and without."""
    own, seconds = driver(backend, "published"), LENGTHS[0]
    named = Tokenizer.from_folder(folder("published")).encode(language, add_special=False)
    before = [voxtral_id(name) for name in ("<s>", "[INST]", "[BEGIN_AUDIO]")]
    behind = [voxtral_id("[/INST]"), *named, voxtral_id("[TRANSCRIBE]")]
    ids = [*before, *[AUDIO] * WINDOW, *behind]
    with torch.no_grad():
        reference = voxtral_reference()
        inputs: dict[str, Any] = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))}
        inputs |= {"input_features": features(sound(seconds))}
        wanted = reference(**inputs).logits[0].numpy()
        out = reference.generate(**inputs, max_new_tokens=GREEDY, do_sample=False, eos_token_id=10**6)[0, len(ids) :]
    (frames,) = run(own.model.encode([heard(seconds)]))
    slot = own.kv.open(len(ids) + GREEDY)
    sampler = Sampler(SamplingParams(temperature=0.0), 0, 0, ids, (), own.model.vocab)
    parts: list[np.ndarray] = []
    made: list[int] = []
    for part, embeds in ((before, None), (None, frames), (behind, None)):
        last = part is behind
        rows = range(len(frames if part is None else part))
        segment = Segment(slot, part, embeds=embeds, want=rows, sample=sampler.at(0) if last else None)
        token = own.runner.run([segment]).read()[slot]
        parts.append(token.logits)
        made += token.ids
    while len(made) < GREEDY:
        made += own.runner.run([Segment(slot, made[-1:], sample=sampler.at(0))]).read()[slot].ids
    own.kv.close(slot)
    logits = np.concatenate(parts)
    assert np.abs(logits - wanted).max() / np.abs(wanted).max() < 1e-4
    assert len(set(made)) > 4  # a model that repeats itself would prove little
    assert made == out.tolist()


PUBLISHED = {  # of the text model: width, layers, ffn; millions of parameters
    "Mini 3B": (3072, 30, 8192, 4676),
    "Small 24B": (5120, 40, 32768, 24260),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes(name: str) -> None:
    """Names and shapes as the reference makes them, none more and none less."""
    width, layers, ffn, millions = PUBLISHED[name]
    text = dict(
        model_type="llama", hidden_size=width, intermediate_size=ffn, num_hidden_layers=layers, num_attention_heads=32,
        num_key_value_heads=8, head_dim=128, max_position_embeddings=131072, vocab_size=131072,
    )  # fmt: skip
    config = transformers.VoxtralConfig(audio_config={}, text_config=text, audio_token_id=AUDIO)
    with torch.device("meta"):
        made = transformers.VoxtralForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items()}
    own = config.to_dict()
    seen = check(lambda w: voxtral(w, own), shapes)
    assert seen.parameters / 1e6 == pytest.approx(millions, rel=0.01)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: voxtral(w, own), shapes | {"model.surprise": (3,)})


@pytest.mark.parametrize(("part", "field", "value", "said"), [
    ("audio_config", "intermediate_size", 100, "must be a multiple"),
    ("audio_config", "activation_function", "relu", "gelu"),
    ("text_config", "model_type", "mamba", "mamba"),
    (None, "audio_token_id", VOCAB, "outside of the vocabulary"),
    (None, "projector_hidden_act", "silu", "silu"),
])  # fmt: skip
def test_what_is_not_known_is_said(part: str | None, field: str, value: Any, said: str) -> None:
    config = voxtral_reference().config.to_dict()
    (config if part is None else config[part])[field] = value
    shapes = {key: tuple(value.shape) for key, value in voxtral_reference().state_dict().items()}
    with pytest.raises(ConfigError, match=said):
        check(lambda w: voxtral(w, config), shapes)
