"""Whisper's rules against the reference's own functions: where a window is cut, what is tried again, what may follow what."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import GenerationConfig, WhisperConfig
from transformers.generation.logits_process import WhisperNoSpeechDetection, WhisperTimeStampLogitsProcessor
from transformers.models.whisper.generation_whisper import WhisperGenerationMixin

from backends.base import Sampling
from backends.mlx import sample as mlx_sample
from backends.torch.sample import sample
from engine.pipelines.listening.transcript import TranscriptScores
from engine.pipelines.listening.whisper import (
    LEAST_LOGPROB,
    MOST_COMPRESSION,
    NO_SPEECH,
    believed,
    compression,
    cut,
)
from engine.transcript_rules import TranscriptConstraint
from engine.types import TranscriptRules

ZERO, END, VOCAB = 60, 50, 112  # tokens 0 to 49 are text, 60 to 111 times
TOKENS = st.lists(st.one_of(st.integers(0, 49), st.integers(ZERO, VOCAB - 1)), min_size=1, max_size=14)


def steps(ids: list[int]) -> list[int]:
    """In the order of time: what the rules let through."""
    later = 0
    made = []
    for id in ids:
        later = max(later, id) if id >= ZERO else later
        made.append(later if id >= ZERO else id)
    return made


@settings(max_examples=300, deadline=None)
@given(TOKENS, st.integers(60, 3000))
def test_windows_are_cut_as_the_reference_cuts(ids: list[int], frames: int) -> None:
    ids = steps(ids)
    wanted, offset = WhisperGenerationMixin._retrieve_segment(
        seek_sequence=torch.tensor(ids), seek_outputs=[{}], time_offset=torch.tensor([0.0], dtype=torch.float64),
        timestamp_begin=ZERO, seek_num_frames=torch.tensor([frames]), time_precision=0.02, time_precision_features=0.01,
        input_stride=2, prev_idx=0, idx=0, return_token_timestamps=False, decoder_input_ids=torch.zeros((1, 4)),
    )  # fmt: skip
    made, done = cut(ids, ZERO, frames)
    assert done == int(offset)
    assert [(list(part.ids), part.first) for part in made] == [(s["tokens"].tolist(), s["idxs"][0] - 4) for s in wanted]
    for part, segment in zip(made, wanted):
        assert part.start == pytest.approx(float(segment["start"]))
        # without timestamps the reference halves the number of frames in f32, and cuts off what is missing
        assert part.end == pytest.approx(float(segment["end"]), abs=0.0201 if len(made) == 1 else 1e-6)


class Judge(WhisperGenerationMixin):
    """The reference's decision about one window."""

    def __init__(self, silence: float) -> None:
        self.detector = WhisperNoSpeechDetection(0, 1)
        self.detector._no_speech_prob = [silence]

    def decide(self, ids: list[int], scores: torch.Tensor) -> tuple[bool, bool]:
        config = GenerationConfig()
        config.compression_ratio_threshold, config.logprob_threshold = MOST_COMPRESSION, LEAST_LOGPROB
        config.no_speech_threshold = NO_SPEECH
        outputs = [{"scores": list(scores)}]
        return self._need_fallback(torch.tensor(ids), outputs, 0, [self.detector], config, VOCAB, 0.0)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 1 << 30), st.integers(1, 60), st.integers(1, 9), st.sampled_from([0.0, 1.5, 4.0]), st.floats(0, 1)
)
def test_the_same_windows_are_believed(seed: int, length: int, kinds: int, sure: float, silence: float) -> None:
    """On random logits, sure and unsure ones, and on tokens that repeat themselves and others."""
    random = np.random.default_rng(seed)
    ids = [*random.integers(0, 40, kinds).tolist()] * (length // kinds + 1)
    ids = [*ids[:length], END]
    logits = random.standard_normal((len(ids), VOCAB)).astype(np.float32)
    logits[np.arange(len(ids)), ids] += sure * 2
    scores = torch.from_numpy(logits)
    logprobs = torch.log_softmax(scores, -1)[torch.arange(len(ids)), torch.tensor(ids)]
    made = believed(TranscriptScores(float(logprobs.mean()), 0.0, compression(ids, VOCAB), silence))
    assert made == tuple(Judge(silence).decide(ids, scores))


def processed(ids: list[int], logits: np.ndarray) -> np.ndarray:
    config = GenerationConfig(eos_token_id=END, no_timestamps_token_id=ZERO - 1, max_initial_timestamp_index=20)
    config.no_timestamps_token_id, config.max_initial_timestamp_index = ZERO - 1, 20
    rule = WhisperTimeStampLogitsProcessor(config, begin_index=3)
    given = torch.tensor([[7, 7, 7, *ids]])
    return rule(given, torch.from_numpy(logits)[None])[0].numpy()


@settings(max_examples=200, deadline=None)
@given(TOKENS.map(steps) | st.just([]), st.integers(0, 1 << 30))
def test_what_may_follow_and_what_is_chosen(ids: list[int], seed: int) -> None:
    """The masks, and the rule that times are chosen where together they are likelier than each word: on both backends."""
    import mlx.core as mx

    logits = np.random.default_rng(seed).standard_normal(VOCAB).astype(np.float32) * 3
    wanted = processed(ids, logits)
    if not np.isfinite(wanted).any():
        return
    constraint = TranscriptConstraint(TranscriptRules((), ZERO, END, 20), VOCAB)
    constraint.accept(ids, "")
    params = [Sampling(mask=constraint.mask(), together_from=ZERO), Sampling()]
    rows = np.stack([logits, logits])
    for chosen in (
        sample(torch.from_numpy(rows), params).ids.tolist(),
        mlx_sample.sample(mx.array(rows), params)[0].tolist(),
    ):
        assert chosen == [int(wanted.argmax()), int(logits.argmax())]


def test_a_transcript_ends_with_its_end_and_begins_with_no_space() -> None:
    constraint = TranscriptConstraint(TranscriptRules((3, END), None, END), VOCAB)
    assert (np.flatnonzero(~constraint.mask()) == [3, END]).all()
    constraint.accept([4], "")
    assert constraint.mask() is None
    assert not constraint.complete
    constraint.accept([END], "")
    assert constraint.complete
    assert constraint.copy().mask() is not None


def test_the_reference_s_config_names_what_the_rules_need() -> None:
    assert WhisperConfig().median_filter_width == 7
