"""Where speech begins and ends: as the detector's own package says, and never longer than allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from silero_vad.utils_vad import get_speech_timestamps_from_probs

from engine.pipelines.listening.voice_activity import VadRules, segment_speech
from tests.asserting import every

RATES = {16000: 512, 8000: 256}


def probabilities(seed: int, n: int) -> list[float]:
    """Long stretches of speech and silence, with doubt at their borders."""
    random = np.random.default_rng(seed)
    level = np.repeat(random.random(n // 5 + 1) > 0.5, 5)[:n]
    return np.clip(level * 0.8 + random.normal(0.1, 0.25, n), 0, 1).tolist()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seed", range(20))
def test_as_the_detectors_own_package(rate, seed):
    chunk = RATES[rate]
    given = probabilities(seed, 300)
    length = 300 * chunk - 37
    wanted = get_speech_timestamps_from_probs(given, sampling_rate=rate, audio_length_samples=length)
    made = segment_speech(given, chunk, rate, length, VadRules(longest=1e9))
    assert [(span.start, span.stop) for span in made] == [(int(w["start"]), int(w["end"])) for w in wanted]
    assert made


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.45, 0.6, 1.0]), max_size=400),
    st.floats(1.0, 5.0),
)
def test_any_probabilities(given, longest):
    length = max(0, len(given) * 512 - 100)
    spans = segment_speech(given, 512, 16000, length, VadRules(longest=longest))
    for before, span in zip([range(0), *spans], spans):  # none where nobody speaks
        assert before.stop <= span.start < span.stop <= length
        assert len(span) <= longest * 16000 + 512
    certain = sum(p >= 0.5 for p in given) * 512
    covered = sum(map(len, spans))
    assert covered <= length
    if given and all(p >= 0.5 for p in given) and certain > 16000:
        assert covered > 0.9 * length - 16000 * 0.25 - 512


def test_a_long_speech_is_cut_at_its_longest_pause():
    given = [0.9] * 60 + [0.4] * 2 + [0.9] * 30 + [0.2] * 2 + [0.9] * 60
    spans = segment_speech(given, 512, 16000, len(given) * 512, VadRules(longest=4.0))
    assert len(spans) == 2
    assert 90 * 512 < spans[0].stop < 96 * 512


@pytest.mark.parametrize("chunks", range(100, 140))
def test_a_speech_that_ends_where_it_is_cut(chunks):
    """The cut falls into the silence behind it, before that is long enough to end it: nothing is left of the speech then."""
    given = [0.9] * chunks + [0.0] * 60
    spans = segment_speech(given, 512, 16000, len(given) * 512, VadRules(longest=4.0))
    assert every(len(span) > 0 for span in spans)
    assert spans[-1].stop <= (chunks + 5) * 512  # of silence as much as does not end it
