"""Beginnings and ends of speech, told while the sound comes in."""

from __future__ import annotations

import numpy as np
import pytest

from engine.pipelines.listening.voice_activity import CHUNK, SpeechEnded, SpeechStarted, VadRules, VoiceActivityStream
from tests.engine.pipelines.listening.conftest import RATE, silence, talk, voice

PATIENT = VadRules(least_silence=0.5)


def fed(activity, sound, size):
    return [change for at in range(0, len(sound), size) for change in activity.feed(sound[at : at + size])]


def test_pieces_of_any_size_tell_the_same(ears):
    sound = talk(2)
    changes = [fed(VoiceActivityStream(ears.service, PATIENT), sound, size) for size in (160, 1600, len(sound))]
    assert changes[0] == changes[1] == changes[2]
    assert [type(change) for change in changes[0]] == [SpeechStarted, SpeechEnded, SpeechStarted, SpeechEnded]
    for began, ended in zip(changes[0][::2], changes[0][1::2]):
        assert began.at == ended.span.start
    assert changes[0][0].at / RATE == pytest.approx(0.8, abs=0.3)


def test_a_noise_that_is_shorter_than_any_word_is_nobody(ears):
    """Also while the pause behind it is not yet long enough to end it."""
    click = np.concatenate([silence(0.8), voice(1.2)[int(0.05 * RATE) : int(0.16 * RATE)], silence(1.5)])
    activity, judged = VoiceActivityStream(ears.service, VadRules(least_silence=1.0)), []
    for at in range(0, len(click), CHUNK):
        assert activity.feed(click[at : at + CHUNK]) == []
        assert not activity.speaking
        judged.append(activity.begun)
    assert any(begun is not None for begun in judged)


def test_rules_may_change_while_it_listens(ears):
    activity = VoiceActivityStream(ears.service, PATIENT)
    activity.rules = VadRules(threshold=1.0)
    assert fed(activity, talk(1), 1600) == []
    activity.rules = PATIENT
    assert fed(activity, talk(1), 1600)


def test_speech_that_goes_on_at_the_end(ears):
    activity = VoiceActivityStream(ears.service, PATIENT)
    sound = talk(1)[: int(1.9 * RATE)]
    (began,) = fed(activity, sound, 1000)
    assert activity.speaking
    (ended,) = activity.finish()
    assert (ended.span.start, ended.span.stop) == (began.at, len(sound))
