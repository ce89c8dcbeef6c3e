"""Qwen3-ASR on both backends against the reference: frames of the encoder, logits, greedy tokens; both published layouts."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from backends.base import Segment
from engine.errors import WeightsError
from engine.models.qwen3_asr import qwen3_asr, sound_tokens
from engine.sequence import Sampler
from engine.types import SamplingParams, Sound
from engine.weights.view import check
from tests.driver import Driver
from tests.speech_checkpoints import qwen3_asr_id, qwen3_asr_reference, save_qwen3_asr, sound

BACKENDS = ("torch", "mlx")
LAYOUTS = ("transformers", "thinker", "mlx")
LENGTHS = (3.37, 0.3, 1.0, 2.0001)  # over an attention window, shorter than the least, a whole chunk, and a little more
GREEDY = 24
AUDIO = qwen3_asr_id("<|audio_pad|>")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = cache(lambda layout: save_qwen3_asr(tmp_path_factory.mktemp("qwen3-asr"), layout))
    return cache(lambda backend, layout: Driver(folder(layout), backend))


@cache
def given(which: int) -> dict[str, Any]:
    made = transformers.Qwen3ASRFeatureExtractor()(
        sound(LENGTHS[which], which),
        sampling_rate=16000,
        padding="longest",
        return_attention_mask=True,
        return_tensors="pt",
    )
    return {"input_features": made["input_features"], "input_features_mask": made["attention_mask"]}


def prompt(which: int) -> list[int]:
    start, end = qwen3_asr_id("<|im_start|>"), qwen3_asr_id("<|im_end|>")
    tokens = sound_tokens(int(LENGTHS[which] * 16000), 100)
    return [start, 40, 10, end, start, 50, *[AUDIO] * tokens, qwen3_asr_id("<|audio_end|>"), end, 10, start, 60, 10]


def run(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def encoded(driver: Driver, which: int) -> np.ndarray:
    made: np.ndarray
    (made,) = run(driver.model.encode([Sound(sound(LENGTHS[which], which), "")]))
    return made


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_of_the_encoder(driver: Any, backend: str, layout: str) -> None:
    for which in range(len(LENGTHS)):
        with torch.no_grad():
            wanted = qwen3_asr_reference().model.get_audio_features(**given(which)).pooler_output.numpy()
        made = encoded(driver(backend, layout), which)
        assert made.shape == wanted.shape == (sound_tokens(int(LENGTHS[which] * 16000), 100), 48)
        assert np.abs(made - wanted).max() / np.abs(wanted).max() < 1e-4


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_logits_and_greedy_tokens(driver: Any, backend: str, layout: str) -> None:
    own, which = driver(backend, layout), 0
    ids = prompt(which)
    with torch.no_grad():
        reference = qwen3_asr_reference()
        # a mask of ones: else the reference takes the end of each turn for padding
        inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        inputs |= given(which)
        wanted = reference(**inputs).logits[0].numpy()
        out = reference.generate(**inputs, max_new_tokens=GREEDY, do_sample=False, eos_token_id=10**6)[0, len(ids) :]
    features = encoded(own, which)
    slot = own.kv.open(len(ids) + GREEDY)
    first = ids.index(AUDIO)
    sampler = Sampler(SamplingParams(temperature=0.0), 0, 0, ids, (), own.model.vocab)
    parts: list[np.ndarray] = []
    made: list[int] = []
    behind = ids[first + len(features) :]
    for part, embeds, last in ((ids[:first], None, False), (None, features, False), (behind, None, True)):
        segment = Segment(
            slot,
            part,
            embeds=embeds,
            want=range(len(part if embeds is None else embeds)),
            sample=sampler.at(0) if last else None,
        )
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


PUBLISHED = {  # of the encoder: width, layers, heads, ffn; of the decoder: width, ffn; millions of parameters
    "0.6B": (896, 18, 14, 3584, 1024, 3072, 783),
    "1.7B": (1024, 24, 16, 4096, 2048, 6144, 2038),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes(name: str) -> None:
    """Names and shapes as the reference makes them, none more and none less."""
    width, layers, heads, ffn, hidden, wide, millions = PUBLISHED[name]
    audio = dict(
        d_model=width, encoder_layers=layers, encoder_attention_heads=heads, encoder_ffn_dim=ffn, output_dim=hidden
    )
    text = dict(
        model_type="qwen3", hidden_size=hidden, intermediate_size=wide, num_hidden_layers=28, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, max_position_embeddings=65536, tie_word_embeddings=True, vocab_size=151936,
    )  # fmt: skip
    config = transformers.Qwen3ASRConfig(audio_config=audio, text_config=text)
    with torch.device("meta"):
        made = transformers.Qwen3ASRForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items() if key != "lm_head.weight"}
    own = config.to_dict()
    seen = check(lambda w: qwen3_asr(w, own), shapes)
    assert seen.parameters / 1e6 == pytest.approx(millions, rel=0.01)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: qwen3_asr(w, own), shapes | {"model.surprise": (3,)})
