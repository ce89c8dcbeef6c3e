"""Parakeet on both backends against the reference: spectrogram, encoder, and what each kind of head hears."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from engine.errors import WeightsError
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any
from engine.media.mel import parakeet_mel
from engine.models.parakeet import TimedIds
from engine.models.registry import PARTS
from engine.weights.view import check
from tests.speech_checkpoints import BLANK, PARAKEET, parakeet_reference, save_parakeet, sound

BACKENDS = ("torch", "mlx")
LENGTHS = (2.0, 0.7, 1.313)
SEEDS = (6, 1, 2)  # of sounds in which no two tokens are equally likely: the order of a sum would choose between them


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = cache(lambda kind: str(save_parakeet(kind, tmp_path_factory.mktemp("parakeet") / kind)))
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


@cache
def given(kind: str, which: int) -> Any:
    mels = parakeet_reference(kind).config.encoder_config.num_mel_bins
    extract = transformers.ParakeetFeatureExtractor(feature_size=mels)
    return extract(
        sound(LENGTHS[which], SEEDS[which]), sampling_rate=16000, return_attention_mask=True, return_tensors="pt"
    )


@pytest.mark.parametrize("mels", [80, 128])
def test_the_spectrogram_is_the_reference_s(mels: int) -> None:
    samples = sound(1.7, 3)
    wanted = transformers.ParakeetFeatureExtractor(feature_size=mels)(samples, sampling_rate=16000, return_tensors="pt")
    frames = int(wanted["attention_mask"].sum())
    np.testing.assert_allclose(parakeet_mel(samples, mels), wanted["input_features"][0, :frames].numpy(), atol=2e-4)


@pytest.mark.parametrize("which", range(len(LENGTHS)))
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", PARAKEET)
def test_it_hears_what_the_reference_hears(opened: Any, kind: str, backend: str, which: int) -> None:
    own, reference = opened(kind, backend), parakeet_reference(kind)
    assert isinstance(own, LoadedPart)
    samples, inputs = sound(LENGTHS[which], SEEDS[which]), given(kind, which)
    with torch.no_grad():
        encoded = reference.encoder(**inputs, output_attention_mask=True)
        longer = {} if kind == "parakeet_ctc" else {"max_new_tokens": 1000}  # than what it would stop at
        out = reference.generate(**inputs, **longer)
    frames = int(encoded.attention_mask.sum())
    wanted = encoded.last_hidden_state[0, :frames].numpy()
    made = own.backend.ops.numpy(run(own.model.encoder.run(samples)))
    assert made.shape == wanted.shape
    assert np.abs(made - wanted).max() / np.abs(wanted).max() < 1e-4

    recognized: TimedIds = run(own.model.recognize(samples))
    if kind == "parakeet_ctc":
        best = out[0, :frames].tolist()
        at = [i for i, id in enumerate(best) if id != BLANK and (i == 0 or id != best[i - 1])]
        ids, starts, ends = [best[i] for i in at], at, None
    else:
        tokens, durations = out.sequences[0].tolist()[1:], out.durations[0].tolist()[1:]
        places = np.cumsum([0, *durations])[:-1].tolist()
        ids = [id for id in tokens if id != BLANK]
        starts = [place for id, place in zip(tokens, places) if id != BLANK]
        ends = [place + jump for id, place, jump in zip(tokens, places, durations) if id != BLANK]
    assert which or len(set(ids)) > 3  # a model that says little would prove little
    assert (recognized.ids, recognized.starts) == (ids, starts)
    if kind == "parakeet_tdt":
        assert recognized.ends == [min(end, frames) for end in ends]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", PARAKEET)
def test_piece_by_piece_a_head_writes_what_it_writes_at_once(opened: Any, kind: str, backend: str) -> None:
    """Also where a duration leads over the end of a piece, and where a token continues behind it."""
    own = opened(kind, backend).model
    hidden = run(own.encoder.run(sound(LENGTHS[0], SEEDS[0])))
    whole: TimedIds = run(own._decode(hidden, own.start(), 0, hidden.shape[0]))
    for size in (1, 3, 7):
        memory, ids, starts, logprobs = own.start(), [], [], []
        for stop in [*range(size, hidden.shape[0], size), hidden.shape[0]]:
            first = max(0, memory.at - 5)  # the frames before are not there any more
            part = run(own._decode(hidden[first:stop], memory, first, stop))
            ids, starts, logprobs = ids + part.ids, starts + part.starts, logprobs + part.logprobs
        assert (ids, starts) == (whole.ids, whole.starts)
        np.testing.assert_allclose(logprobs, whole.logprobs, atol=1e-4)


def test_a_sound_of_next_to_nothing_is_silence(opened: Any) -> None:
    for samples in (np.zeros(0, np.float32), np.zeros(200, np.float32)):
        assert run(opened("parakeet_tdt", "torch").model.recognize(samples)).ids == []


def test_a_token_that_takes_no_time_is_written_so_often_and_no_more(opened: Any) -> None:
    """A transducer that never says blank ends all the same."""
    own = opened("parakeet_rnnt", "torch")
    frames = run(own.model.encoder.run(sound(1.0))).shape[0]
    joint, head = own.model.joint, own.model.blank

    def never(x: Any) -> Any:
        logits = joint(x).clone()
        logits[:, head] = -1e9
        return logits

    own.model.joint = never
    try:
        recognized = run(own.model.recognize(sound(1.0)))
    finally:
        own.model.joint = joint
    assert len(recognized.ids) == frames * own.model.most
    assert recognized.starts == sorted(recognized.starts)


PUBLISHED = {  # kind, hidden, layers, mels, vocabulary, bias; millions of parameters
    "ctc-0.6b": ("parakeet_ctc", 1024, 24, 80, 1025, True, 608.9),
    "ctc-1.1b": ("parakeet_ctc", 1024, 42, 80, 1025, True, 1062.8),
    "rnnt-0.6b": ("parakeet_rnnt", 1024, 24, 80, 1025, True, 616.4),
    "tdt-0.6b-v2": ("parakeet_tdt", 1024, 24, 128, 1025, False, 617.7),
    "tdt-0.6b-v3": ("parakeet_tdt", 1024, 24, 128, 8193, False, 626.9),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes(name: str) -> None:
    """Names and shapes as the reference makes them, none more and none less."""
    kind, hidden, layers, mels, vocab, bias, millions = PUBLISHED[name]
    encoder = dict(
        hidden_size=hidden, num_hidden_layers=layers, num_mel_bins=mels, attention_bias=bias, convolution_bias=bias
    )
    config = getattr(transformers, PARAKEET[kind])(vocab_size=vocab, encoder_config=encoder)
    with torch.device("meta"):
        made = getattr(transformers, PARAKEET[kind].replace("Config", "").replace("Parakeet", "ParakeetFor"))(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items()}
    given = config.to_dict()
    seen = check(lambda w: PARTS[kind](w, given), shapes)
    assert seen.parameters / 1e6 == pytest.approx(millions, rel=0.03)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: PARTS[kind](w, given), shapes | {"encoder.surprise": (3,)})
