"""Nemotron 3 Diarization on both backends against the reference: probabilities of long recordings, in pieces of any size, with the cache."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import grus
from engine.errors import ConfigError, WeightsError
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any
from engine.models.registry import PARTS
from engine.weights.view import check
from tests.engine.models.test_sortformer import heard, run
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.sortformer_checkpoints import conversation
from tests.speech_checkpoints import save_parakeet

BACKENDS = ("torch", "mlx")


@cache
def reference() -> Any:
    audio = dict(
        hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_mel_bins=128,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5),
    )  # fmt: skip
    config = transformers.Nemotron3DiarizationConfig(
        audio_config=audio, head_config=dict(hidden_size=32, num_speakers=3, audio_hidden_size=48),
        streaming_config=dict(num_speakers=3, speaker_cache_length=30), chunk_length=17, chunk_right_context=3, fifo_length=8,
        speaker_cache_update_period=11,
    )  # fmt: skip
    config._attn_implementation = "eager"
    model = transformers.Nemotron3DiarizationForAudioFrameClassification(config).eval()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if p.ndim > 1:
                p.copy_(noise * (1.2 / p[0].numel() ** 0.5))
            else:
                p.copy_(1.0 + 0.1 * noise if "norm" in name and name.endswith("weight") else 0.1 * noise)
        logits = model(**given(20.0, 1)).logits[0]
        out = model.classifier.out_proj
        scale = 2.0 / logits.std(0)  # voices that come and go
        out.weight.mul_(scale[:, None])
        out.bias.copy_((out.bias - logits.mean(0)) * scale)
    return model


def given(seconds: float, seed: int) -> Any:
    extract = transformers.NemotronAsrStreamingFeatureExtractor(feature_size=128)
    return extract(conversation(seconds, seed), sampling_rate=RATE, return_tensors="pt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = tmp_path_factory.mktemp("nemotron")
    reference().save_pretrained(made)
    return str(made)


@pytest.fixture(scope="module")
def opened(folder: str) -> Any:
    return cache(
        lambda backend: load_any(folder, LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none"))
    )


@pytest.mark.parametrize("piece", [1000, 7 * RATE, 60 * RATE])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_recording_is_heard_as_by_the_reference_however_it_comes(opened: Any, backend: str, piece: int) -> None:
    """23 chunks: the queue overflows, and the cache is compressed many times."""
    own, seconds = opened(backend), 30.03
    assert isinstance(own, LoadedPart)
    with torch.no_grad():
        wanted = reference()(**given(seconds, 2)).logits[0].sigmoid().numpy()
    made = heard(own.model, conversation(seconds, 2), piece)
    assert len(made) == int(seconds * RATE) // 160
    np.testing.assert_allclose(made, wanted[: len(made)], atol=1e-3)
    spoken = (made > 0.5).mean(0)
    assert (spoken > 0.05).all()
    assert (spoken < 0.95).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_recording_shorter_than_a_chunk(opened: Any, backend: str) -> None:
    with torch.no_grad():
        wanted = reference()(**given(0.93, 2)).logits[0].sigmoid().numpy()
    made = heard(opened(backend).model, conversation(0.93, 2), 3000)
    np.testing.assert_allclose(made, wanted[: len(made)], atol=1e-4)


def test_memory_does_not_grow_with_the_length(opened: Any) -> None:
    model = opened("torch").model
    stream, sizes = model.start(), []
    for seed in range(6):
        run(model.push(conversation(6.0, seed), stream))
        sizes.append(len(stream.cache))
    assert max(sizes) <= model.rules.cache + model.rules.fifo


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_tells_who_said_what(folder: str, tmp_path: Path, backend: str) -> None:
    words = save_parakeet("parakeet_tdt", tmp_path / "words")
    with grus.Ears(str(words), LoadOptions(backend=backend, device="cpu"), speakers=folder) as ears:
        made = ears.listen(talk(3), rate=RATE)
    assert {segment.speaker for segment in made.segments} <= {"Speaker 1", "Speaker 2", "Speaker 3"}
    assert made.segments


def test_published_sizes() -> None:
    """Names and shapes as the reference makes them by default, none more and none less."""
    config = transformers.Nemotron3DiarizationConfig()
    with torch.device("meta"):
        made = transformers.Nemotron3DiarizationForAudioFrameClassification(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items()}
    own = config.to_dict()
    assert check(lambda w: PARTS["nemotron3_diarization"](w, own), shapes).parameters == sum(
        value.numel() for value in made.state_dict().values()
    )
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: PARTS["nemotron3_diarization"](w, own), shapes | {"model.surprise": (3,)})
    with pytest.raises(ConfigError, match="chunk_left_context"):
        check(lambda w: PARTS["nemotron3_diarization"](w, own | {"chunk_left_context": 2}), shapes)
