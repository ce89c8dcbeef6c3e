"""Passages that a model made louder or quieter for no reason are heard as loud as the others."""

from __future__ import annotations

import numpy as np
import pytest

from engine.pipelines.speaking.speech import MOST, LoudnessMatcher, SpeechOptions, power, speak_long_form
from engine.pipelines.speaking.voice import VoiceSettings
from tests.engine.pipelines.speaking.test_long_form import LONG, Tones
from tests.engine.pipelines.speaking.test_passage_joiner import RATE, gaps, silence, tone


def speech(size, seconds=1.0):
    """Words and pauses."""
    word = np.concatenate((tone(0.35, size=size), silence(0.15)))
    return np.concatenate([word] * int(seconds / 0.5))


def decibels(sound, other):
    return 10 * np.log10(power(sound, RATE)[0] / power(other, RATE)[0])


def test_power_is_that_of_speech_and_not_of_its_pauses():
    dense, sparse = tone(2.0, size=0.4), np.concatenate((tone(1.0, size=0.4), silence(3.0)))
    assert decibels(dense, sparse) == pytest.approx(0.0, abs=0.1)
    assert power(sparse, RATE)[1] == pytest.approx(1.0, abs=0.06)
    assert power(silence(1.0), RATE) == (0.0, 0.0)
    assert power(silence(0.01), RATE) == (0.0, 0.0)


def test_those_that_follow_are_as_loud_as_the_first():
    level, first = LoudnessMatcher(RATE), speech(0.2, 5.0)
    level.learn(first)
    for size in (0.11, 0.15, 0.2, 0.3, 0.39):
        assert decibels(level.match(speech(size, 4.0)), first) == pytest.approx(0.0, abs=0.1)


def test_what_is_much_louder_or_quieter_is_meant_so():
    level = LoudnessMatcher(RATE)
    level.learn(speech(0.2, 5.0))
    whisper = speech(0.02, 4.0)
    assert decibels(level.match(whisper), whisper) == pytest.approx(20 * np.log10(MOST), abs=0.01)
    assert decibels(level.match(speech(0.8, 4.0)), speech(0.8, 4.0)) == pytest.approx(-20 * np.log10(MOST), abs=0.01)


def test_a_title_alone_does_not_say_how_loud_a_chapter_is():
    level = LoudnessMatcher(RATE)
    level.learn(speech(0.4, 0.5))
    chapter = speech(0.2, 10.0)
    assert abs(decibels(level.match(chapter), chapter)) < 1.5


def test_nothing_is_made_so_loud_that_it_clips():
    level = LoudnessMatcher(RATE)
    level.learn(speech(0.5, 5.0))
    spiked = speech(0.3, 4.0)
    spiked[5000] = 0.9
    made = level.match(spiked)
    assert 0.9 < np.abs(made).max() <= 0.98 + 1e-6
    assert np.array_equal(level.match(silence(1.0)), silence(1.0))


class Uneven(Tones):
    """A voice that speaks every passage with another loudness."""

    SIZES = (0.3, 0.18, 0.5, 0.22, 0.4, 0.35)

    def speak(self, text, settings, **how):
        size = self.SIZES[sum(text.encode()) % len(self.SIZES)]
        for chunk in super().speak(text, settings, **how):
            yield chunk * np.float32(size)


def test_a_long_text_is_heard_at_one_loudness():
    text = LONG * 3
    sound = np.concatenate(list(speak_long_form(Uneven(), text, VoiceSettings(), SpeechOptions(seed=1))))
    loud = np.abs(sound) > 0.004
    borders = np.flatnonzero(np.diff(np.concatenate(([0], np.convolve(loud, np.ones(720), "same") > 0, [0]))))
    passages = [sound[a:b] for a, b in zip(borders[::2], borders[1::2])]
    assert len(passages) == len(gaps(sound)) + 1 > 6
    settled = passages[7:]  # half a second each: after three seconds of speech
    assert max(abs(decibels(one, settled[0])) for one in settled) < 0.6  # blocks lie otherwise in each
    assert max(abs(decibels(one, passages[0])) for one in passages) < 6.0
