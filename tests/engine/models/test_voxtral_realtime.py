"""Voxtral Realtime on both backends against the reference: rows of the encoder, whole transcriptions through the engine, sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import grus
from backends.torch.kernels import library as kernels
from engine.errors import ConfigError, WeightsError
from engine.loading import LoadOptions
from engine.models.voxtral_realtime import voxtral_realtime
from engine.pipelines.listening.voxtral import VoxtralRealtimeTranscriber
from engine.weights.view import check
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import sound
from tests.voxtral_checkpoints import (
    DELAY,
    LEFT,
    RIGHT,
    TOKEN,
    realtime_features,
    realtime_reference,
    save_realtime,
    voxtral_id,
)

SECONDS = 3.33
PROMPT = [voxtral_id("<s>"), *[voxtral_id("[STREAMING_PAD]")] * (LEFT + DELAY)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_realtime(tmp_path_factory.mktemp("realtime") / "voxtral-realtime")


@pytest.fixture(scope="module", params=["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def ears(request: pytest.FixtureRequest, folder: Path) -> Iterator[grus.Ears]:
    where = LoadOptions(backend=request.param, device="cpu", dtype="f32", quant="none")
    with grus.Ears(str(folder), where) as made:
        yield made


def test_rows_of_the_encoder(ears: grus.Ears) -> None:
    samples = sound(SECONDS)
    with torch.no_grad():
        wanted = realtime_reference().model.get_audio_features(realtime_features(samples)).pooler_output[0].numpy()
    made: np.ndarray = ears.service.task(ears.loaded.name, lambda loaded: loaded.model.heard(samples)).result()
    assert made.shape == wanted.shape == (LEFT + -(-len(samples) // TOKEN) + RIGHT, 64)
    assert np.abs(made - wanted).max() / np.abs(wanted).max() < 1e-4
    if ears.loaded.backend.name == "torch":
        assert ears.loaded.model.encoder.layers.traced == kernels.available()


@pytest.mark.filterwarnings("ignore:Using the model-agnostic default")
def test_a_transcription_is_the_references(ears: grus.Ears) -> None:
    """Token by token to the end of the silence behind the sound; several together are the same."""
    own = ears.listener
    assert isinstance(own, VoxtralRealtimeTranscriber)
    parts = [sound(SECONDS), sound(1.0, 1)]
    for samples, handle in zip(parts, [own.submit(samples) for samples in parts], strict=True):
        with torch.no_grad():
            out = (
                realtime_reference()
                .generate(
                    input_ids=torch.tensor([PROMPT]),
                    attention_mask=torch.ones(1, len(PROMPT)),
                    input_features=realtime_features(samples),
                    num_delay_tokens=DELAY,
                    do_sample=False,
                )[0, len(PROMPT) :]
                .tolist()
            )
        assert len(set(out)) > 4
        assert len(out) == own._own.tokens(len(samples)) - len(PROMPT)
        assert list(handle.result().ids) == out


def test_a_recording_is_heard_in_pieces(ears: grus.Ears) -> None:
    heard = ears.listen(talk(2), rate=RATE, language="nl")
    assert (heard.language, len(heard.segments)) == ("nl", 2)
    assert every(one.text and one.tokens and 0 < one.confidence <= 1 for one in heard.segments)
    for given, said in ((dict(prompt="Grus"), "takes no prompt"), (dict(words=True), "no times of words")):
        with pytest.raises(grus.GrusError, match=said):
            ears.listen(talk(1), rate=RATE, **given)


def test_published_sizes() -> None:
    config = transformers.VoxtralRealtimeConfig(audio_config={}, text_config={"model_type": "voxtral_realtime_text"})
    with torch.device("meta"):
        made = transformers.VoxtralRealtimeForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items() if key != "lm_head.weight"}
    own = config.to_dict()
    seen = check(lambda w: voxtral_realtime(w, own), shapes)
    assert seen.parameters / 1e6 == pytest.approx(4430, rel=0.02)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: voxtral_realtime(w, own), shapes | {"model.surprise": (3,)})
    with pytest.raises(ConfigError, match="audio_length_per_tok"):
        check(lambda w: voxtral_realtime(w, {**own, "audio_length_per_tok": 9}), shapes)
