"""Qwen3's forced aligner on both backends against the reference: classes at the marks, times in order, words; both published layouts."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers.models.qwen3_asr.processing_qwen3_asr import Qwen3ASRProcessor, _fix_timestamps

from engine.errors import WeightsError
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any
from engine.models.qwen3_aligner import qwen3_forced_aligner
from engine.models.qwen3_asr import sound_tokens
from engine.pipelines.listening.alignment import in_order, spelled
from engine.pipelines.listening.transcript import split
from engine.weights.view import check
from tests.speech_checkpoints import LABELS, aligner_id, aligner_reference, save_aligner, sound

BACKENDS = ("torch", "mlx")
LAYOUTS = ("transformers", "thinker")
SECONDS = 3.37


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = cache(lambda layout: str(save_aligner(tmp_path_factory.mktemp("aligner"), layout)))
    return cache(
        lambda backend, layout: load_any(
            folder(layout), LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none")
        )
    )


def run(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def prompt() -> tuple[list[int], list[int]]:
    mark, random = aligner_id("<timestamp>"), np.random.default_rng(5)
    words = [random.integers(1, 200, size).tolist() for size in (1, 3, 2, 1, 4, 2, 2, 1, 3, 1)]
    behind = [aligner_id("<|audio_end|>"), *(id for word in words for id in (*word, mark, mark))]
    return [aligner_id("<|audio_start|>")], behind


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_classes_at_the_marks(opened: Any, backend: str, layout: str) -> None:
    own = opened(backend, layout)
    assert isinstance(own, LoadedPart)
    before, behind = prompt()
    samples = sound(SECONDS, 4)
    extracted = transformers.Qwen3ASRFeatureExtractor()(
        samples, sampling_rate=16000, padding="longest", return_attention_mask=True, return_tensors="pt"
    )
    ids = [*before, *[aligner_id("<|audio_pad|>")] * sound_tokens(len(samples), 100), *behind]
    with torch.no_grad():
        logits = aligner_reference()(
            input_ids=torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            input_features=extracted["input_features"],
            input_features_mask=extracted["attention_mask"],
        ).logits[0]
    wanted = logits[torch.tensor(ids) == aligner_id("<timestamp>")].argmax(-1).tolist()
    assert run(own.model.classes(samples, before, behind)).tolist() == wanted
    assert len(set(wanted)) > 3
    assert (own.model.labels, own.model.unit) == (LABELS, 0.08)


def test_times_are_put_in_order_as_the_reference_does() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        raw = np.sort(random.integers(0, 50, random.integers(1, 24)) * 80.0)
        wrong = random.random(len(raw)) < random.uniform(0, 0.7)
        raw[wrong] = random.integers(0, 60, int(wrong.sum())) * 80.0
        made = in_order((raw / 1000).tolist())
        np.testing.assert_allclose(made, np.array(_fix_timestamps(raw)) / 1000, atol=0.00101)  # it cuts milliseconds
        assert made == sorted(made)
    assert in_order([]) == []


TEXTS = (
    "The crane's call -- well-known, isn't it? -- carries 3,000 metres.", "你好，世界 hello世界 42 号", "  Über die Brücke…  ",
    "Qué pasa, ¿no?", "…",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_the_reference(text: str) -> None:
    wanted = Qwen3ASRProcessor.split_words_for_alignment(SimpleNamespace(), text)
    assert [said for word in split(text) if (said := spelled(word))] == wanted


def test_published_sizes() -> None:
    """Names and shapes as the reference makes them, none more and none less."""
    audio = dict(d_model=1024, encoder_layers=24, encoder_attention_heads=16, encoder_ffn_dim=4096, output_dim=1024)
    text = dict(
        model_type="qwen3", hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, vocab_size=152064, tie_word_embeddings=False,
    )  # fmt: skip
    config = transformers.Qwen3ASRConfig(audio_config=audio, text_config=text, num_labels=5000)
    with torch.device("meta"):
        made = transformers.Qwen3ASRForTokenClassification(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items()}
    own = config.to_dict()
    seen = check(lambda w: qwen3_forced_aligner(w, own), shapes)
    assert seen.parameters / 1e6 == pytest.approx(919, rel=0.01)  # 1.84 GB in 16 bits
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: qwen3_forced_aligner(w, own), shapes | {"model.surprise": (3,)})
