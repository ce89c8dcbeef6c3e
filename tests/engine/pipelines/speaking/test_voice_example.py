"""A voice that is only described stays the same one: later passages go on from what it said first."""

from __future__ import annotations

import numpy as np
import pytest

from engine.pipelines.speaking.speech import SpeechOptions, SpeechQueue, VoiceExample, speak_long_form
from engine.pipelines.speaking.text import passages
from engine.pipelines.speaking.voice import VoiceSettings
from tests.engine.pipelines.speaking.test_long_form import LONG, Tones


class Described(Tones):
    """It says what its frames were, 40 a passage, and a title takes ten."""

    def __init__(self, needs_example=True):
        super().__init__()
        self.whether, self.after = needs_example, {}
        self.running, self.most = [], [0]  # shared with the copies that a telling makes

    def needs_example(self, settings):
        return self.whether

    def speak(self, text, settings, *, on_codes=None, **how):
        with self.lock:
            self.after[text] = settings.after.text if settings.after is not None else None
            self.running.append(text)
            self.most[0] = max(self.most[0], len(self.running))
        yield from super().speak(text, settings, **how)
        with self.lock:
            self.running.remove(text)
        if on_codes is not None:
            on_codes(np.zeros((10 if len(text) < 20 else 40, 16), np.int32))


def spoken(voice, text):
    return np.concatenate(
        list(speak_long_form(voice, text, VoiceSettings(instructions="an old sailor"), SpeechOptions(seed=7)))
    )


def test_every_passage_goes_on_from_the_first():
    voice, parts = Described(), [part.text for part in passages(LONG)]
    spoken(voice, LONG)
    assert voice.after == {parts[0]: None} | dict.fromkeys(parts[1:], parts[0])


def test_behind_a_title_they_go_on_from_it_and_what_follows_it():
    voice, text = Described(), f"Chapter one.\n\n{LONG}"
    title, first, *others = [part.text for part in passages(text)]
    spoken(voice, text)
    assert voice.after == {title: None, first: title} | dict.fromkeys(others, f"{title} {first}")


@pytest.mark.parametrize("needs_example", [True, False])
def test_voices_that_are_the_same_by_themselves_do_not_wait(needs_example):
    voice = Described(needs_example)
    voice.pause = 0.01
    spoken(voice, LONG)
    assert voice.most[0] > 1  # several at once, when it is known how the voice is
    assert needs_example or set(voice.after.values()) == {None}


def test_all_sentences_of_a_conversation_go_on_from_the_first():
    voice = Described()
    mouth = SpeechQueue(voice, VoiceSettings(instructions="an old sailor"))
    for sentence in ("The wind was cold that night.", "Nobody came.", "Then there was a light."):
        list(mouth(sentence))
    assert list(voice.after.values()) == [None] + ["The wind was cold that night."] * 2


def test_a_sentence_that_was_stopped_is_no_example():
    voice = Described()
    mouth = SpeechQueue(voice, VoiceSettings(instructions="an old sailor"))
    begun = mouth("The wind was cold that night.")
    next(begun)
    mouth.stop()
    list(begun)
    list(mouth("Nobody came that night."))
    assert list(voice.after.values()) == [None, None]


def test_what_has_no_frames_is_no_example():
    example = VoiceExample(Described(), VoiceSettings())
    example.add("Nothing.", np.zeros((0, 16), np.int32))
    assert example.applied(VoiceSettings()).after is None
    assert not example.enough
