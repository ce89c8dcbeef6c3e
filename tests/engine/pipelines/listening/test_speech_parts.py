"""Speech of a sound that comes in blocks: the same spans and samples as of the whole sound, and no more memory than a span needs."""

from __future__ import annotations

import numpy as np
import pytest

import grus
from engine.media.sound import Audio
from engine.pipelines.listening import voice_activity
from engine.pipelines.listening.voice_activity import VadRules, spans, speech_parts
from tests.engine.pipelines.listening.conftest import RATE, silence, talk, voice


@pytest.fixture(scope="module")
def finder():
    with grus.VoiceActivity() as made:
        yield made


@pytest.mark.parametrize("rules", [VadRules(), VadRules(longest=2.5), VadRules(least_silence=0.02, pad=0.2)])
@pytest.mark.parametrize("size", [777, 16_000, 10**9])
def test_blocks_give_the_spans_of_the_whole(finder, rules, size, monkeypatch):
    sound = np.concatenate([voice(1.0, 7), talk(4), voice(6.0, 3), silence(0.3), voice(0.7, 5)])
    monkeypatch.setattr(voice_activity, "_READ", 5 * voice_activity.CHUNK)
    blocks = (sound[at : at + size] for at in range(0, len(sound), size))
    made = list(speech_parts(finder.service, blocks, rules))
    assert [span for span, _ in made] == spans(finder.service, Audio(sound, RATE), rules)
    assert len(made) > 3
    for span, samples in made:
        np.testing.assert_array_equal(samples, sound[span.start : span.stop])


def test_no_sound_no_spans(finder):
    assert list(speech_parts(finder.service, [], VadRules())) == []
    assert list(speech_parts(finder.service, [silence(2.0)], VadRules())) == []
