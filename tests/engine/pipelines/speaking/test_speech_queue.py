"""Sentences of a conversation: all in one voice, without the marks that are not read, and stopped at once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from engine.errors import BadRequest
from engine.pipelines.speaking.speech import SpeechOptions, SpeechQueue
from engine.pipelines.speaking.voice import VoiceSettings
from tests.asserting import every
from tests.engine.pipelines.speaking.test_long_form import Tones


def test_all_sentences_have_one_voice():
    voice = Tones()
    mouth = SpeechQueue(voice, VoiceSettings(preset="tone"))
    made = [np.concatenate(list(mouth(text))) for text in ("One.", "**Two**.")]
    assert [text for text, *_ in voice.said] == ["One.", "Two."]
    assert len({seed for _, seed, *_ in voice.said}) == 1
    assert every(len(sound) >= mouth.rate / 2 for sound in made)
    other = Tones()
    list(SpeechQueue(other, VoiceSettings(), SpeechOptions(seed=7))("One."))
    assert other.said[0][1] == 7


@pytest.mark.parametrize("nothing", ["---", "```", "", " *** "])
def test_marks_alone_are_not_said(nothing):
    voice = Tones()
    assert list(SpeechQueue(voice, VoiceSettings())(nothing)) == []
    assert voice.said == []


def test_a_voice_that_the_model_does_not_have():
    with pytest.raises(BadRequest, match="no such voice"):
        SpeechQueue(Tones(), VoiceSettings(preset="nobody"))


def test_it_is_stopped_from_another_thread_and_speaks_again():
    mouth, begun, made = SpeechQueue(voice := Tones(pause=0.05), VoiceSettings()), threading.Event(), []

    def speak():
        for chunk in mouth("A sentence that takes its time."):
            made.append(chunk)
            begun.set()

    thread = threading.Thread(target=speak)
    thread.start()
    assert begun.wait(5)
    mouth.stop()
    thread.join(5)
    assert not thread.is_alive()
    assert voice.made < 5
    assert len(np.concatenate(list(mouth("Again.")))) >= mouth.rate / 2
