"""Whisper on both backends against the reference: spectrogram, features, logits, greedy tokens with and without timestamps, and
the time of each token."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import transformers

from backends.base import Segment
from engine.errors import BadRequest, WeightsError
from engine.media.mel import whisper_mel
from engine.models.whisper import token_frames, warped, whisper
from engine.sequence import Sampler
from engine.transcript_rules import TranscriptConstraint
from engine.types import SamplingParams, Sound, TranscriptRules
from engine.weights.view import check
from tests.driver import Driver
from tests.speech_checkpoints import (
    WHISPER_END,
    WHISPER_VOCAB,
    save_whisper,
    sound,
    whisper_generation,
    whisper_id,
    whisper_reference,
)

BACKENDS = ("torch", "mlx")
LENGTHS = (0.9, 0.4, 1.0)
GREEDY = 64
PROMPT = [whisper_id(token) for token in ("<|startoftranscript|>", "<|de|>", "<|transcribe|>")]
UNTIMED = [*PROMPT, whisper_id("<|notimestamps|>")]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = save_whisper(tmp_path_factory.mktemp("whisper"))
    made = cache(lambda backend: Driver(folder, backend))
    yield made
    made.cache_clear()


@cache
def sounds():
    return [sound(seconds, seed) for seed, seconds in enumerate(LENGTHS)]


@cache
def extractor():
    return transformers.WhisperFeatureExtractor(feature_size=80, chunk_length=1)


def spectrogram(which):
    return extractor()(sounds()[which], sampling_rate=16000, return_tensors="pt").input_features


@cache
def encoded_by_reference(which):
    with torch.no_grad():
        return whisper_reference().model.encoder(spectrogram(which)).last_hidden_state[0].numpy()


@cache
def said_by_reference(which, times):
    """The tokens of one pass, and by how much each was the best."""
    with torch.no_grad():
        out = whisper_reference().generate(
            spectrogram(which), language="de", task="transcribe", return_timestamps=times, max_new_tokens=GREEDY,
            force_unique_generate_call=True, output_scores=True, return_dict_in_generate=True,
        )  # fmt: skip
    best = torch.stack(out.scores)[:, 0].topk(2, dim=-1).values
    prompt = len(PROMPT if times else UNTIMED)
    return out.sequences[0, prompt:].tolist(), (best[:, 0] - best[:, 1]).tolist()


def run(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def encoded(driver, samples):
    return run(driver.model.encode([Sound(one, str(i)) for i, one in enumerate(samples)]))


def opened(driver, features):
    slot = driver.kv.open(GREEDY + 8)
    driver.model.begin(driver.kv, slot, features)
    return slot


def worst(a, b):
    return float(np.abs(a - b).max() / np.abs(b).max())


def params(times):
    own = whisper_generation()
    zero = whisper_id("<|0.00|>") if times else None
    rules = TranscriptRules(tuple(own["begin_suppress_tokens"]), zero, WHISPER_END, own["max_initial_timestamp_index"])
    return SamplingParams(temperature=0.0, banned_tokens=own["suppress_tokens"], transcript=rules)


@pytest.mark.parametrize("mels", [80, 128])
def test_the_spectrogram_is_the_reference_s(mels):
    reference = transformers.WhisperFeatureExtractor(feature_size=mels, chunk_length=2)
    samples = sound(1.7, 3)
    wanted = reference(samples, sampling_rate=16000, return_tensors="np").input_features[0].T
    made = whisper_mel(np.pad(samples, (0, 32000 - len(samples))), mels)
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made, wanted, atol=2e-5)


@pytest.mark.parametrize("backend", BACKENDS)
class TestParity:
    def test_features_of_several_sounds_at_once(self, driver, backend):
        own = driver(backend)
        given = [sounds()[i % 3] for i in range(5)]  # more than are encoded together
        for which, features in enumerate(encoded(own, given)):
            assert worst(features, encoded_by_reference(which % 3)) < 1e-4

    def test_logits(self, driver, backend):
        own = driver(backend)
        forced = [*PROMPT, 90, 33, 200]
        with torch.no_grad():
            given = {"input_features": spectrogram(0), "decoder_input_ids": torch.tensor([forced])}
            wanted = whisper_reference()(**given).logits[0].numpy()
        (features,) = encoded(own, sounds()[:1])
        slot = opened(own, features)
        token = own.runner.run([Segment(slot, forced, want=range(len(forced)))]).read()[slot]
        own.kv.close(slot)
        assert worst(token.logits, wanted) < 1e-4

    @pytest.mark.parametrize("times", [True, False], ids=["timestamps", "plain"])
    def test_greedy_tokens_of_several_sounds_together(self, driver, backend, times):
        own, prompt = driver(backend), PROMPT if times else UNTIMED
        rules = params(times)
        slots = [opened(own, features) for features in encoded(own, sounds())]
        said = {slot: [] for slot in slots}
        states = {slot: TranscriptConstraint(rules.transcript, WHISPER_VOCAB) for slot in slots}
        sampler = Sampler(rules, 0, 0, prompt, (), WHISPER_VOCAB)
        live = list(slots)
        for _ in range(GREEDY):
            step = [
                Segment(slot, said[slot][-1:] or prompt, sample=sampler.at(0, mask=states[slot].mask()))
                for slot in live
            ]
            for slot, token in own.runner.run(step).read().items():
                said[slot] += token.ids
                states[slot].accept(token.ids, "")
            live = [slot for slot in live if said[slot][-1] != WHISPER_END]
        for which, slot in enumerate(slots):
            own.kv.close(slot)
            wanted, margins = said_by_reference(which, times)
            assert len(set(wanted)) > 4  # a model that repeats itself would prove little
            parted = next((i for i, (a, b) in enumerate(zip(said[slot], wanted)) if a != b), None)
            assert parted is None or margins[parted] < 1e-5

    def test_when_each_token_is_said(self, driver, backend):
        own = driver(backend)
        with torch.no_grad():
            out = whisper_reference().generate(
                spectrogram(0), language="de", task="transcribe", return_timestamps=True, max_new_tokens=24,
                return_token_timestamps=True, force_unique_generate_call=True, return_dict_in_generate=True,
            )  # fmt: skip
        ids, wanted = out["sequences"][0].tolist(), out["token_timestamps"][0].tolist()
        given = len(PROMPT)
        own.model.choose_like(whisper_generation())
        (features,) = encoded(own, sounds()[:1])
        frames = run(token_frames(own.model, features, ids[:-1], given, own.model.encoder.frames))
        made = (frames * 0.02).tolist()
        assert len(set(made)) > 3
        assert np.abs(np.array(made) - np.array(wanted[given : given + len(made)])).max() <= 0.021


def test_warping_takes_the_cheapest_path():
    from transformers.models.whisper.generation_whisper import _dynamic_time_warping

    random = np.random.default_rng(5)
    for tokens, frames in ((1, 1), (1, 9), (4, 4), (7, 60), (30, 200), (5, 3)):
        cost = random.standard_normal((tokens, frames))
        text, time = _dynamic_time_warping(cost)
        first = [time[text == token].min() for token in range(tokens)]
        np.testing.assert_array_equal(warped(cost), first)


def test_a_sound_that_is_too_long(driver):
    with pytest.raises(BadRequest, match="at most 16000 samples"):
        encoded(driver("torch"), [np.zeros(16001, np.float32)])


PUBLISHED = {  # d_model, encoder and decoder layers, heads, mels, vocabulary; millions of parameters
    "tiny": (384, 4, 4, 6, 80, 51865, 37.8),
    "base.en": (512, 6, 6, 8, 80, 51864, 72.6),
    "small": (768, 12, 12, 12, 80, 51865, 241.7),
    "medium": (1024, 24, 24, 16, 80, 51865, 763.9),
    "large-v3": (1280, 32, 32, 20, 128, 51866, 1543.5),
    "large-v3-turbo": (1280, 32, 4, 20, 128, 51866, 808.9),
    "distil-large-v3": (1280, 32, 2, 20, 128, 51866, 756.4),
}


@pytest.mark.parametrize("head", [False, True], ids=["without the head", "with it"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes(name, head):
    """Names and shapes as the reference makes them, none more and none less; old files hold the tied head too."""
    width, encoder, decoder, heads, mels, vocab, millions = PUBLISHED[name]
    config = transformers.WhisperConfig(
        d_model=width, encoder_layers=encoder, decoder_layers=decoder, encoder_attention_heads=heads,
        decoder_attention_heads=heads, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, num_mel_bins=mels,
        vocab_size=vocab,
    )  # fmt: skip
    with torch.device("meta"):
        model = transformers.WhisperForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items() if head or key != "proj_out.weight"}
    seen = check(lambda w: whisper(w, config.to_dict()), shapes)
    assert round(seen.parameters / 1e6, 1) == pytest.approx(millions, abs=0.06)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: whisper(w, config.to_dict()), shapes | {"model.surprise": (3,)})
