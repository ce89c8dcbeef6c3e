"""Long texts as one sound: joined without clicks, in a steady voice, and stopped at once. With a voice of known tones."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest

from engine.errors import BadRequest, SpeechRanAway
from engine.pipelines.speaking.speech import TOGETHER, SpeechOptions, speak_long_form
from engine.pipelines.speaking.text import passages, sentences
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, VoiceSettings
from engine.tasks import CancelScope

RATE = 24000
LONG = " ".join(f"This is sentence number {i}, and it goes on for quite a while before it ends." for i in range(20))


class NoEngine:
    def submit(self, request):
        raise AssertionError

    task = submit


class Tones:
    """Every passage is a loud tone that begins and ends abruptly, half a second in five chunks."""

    rate = RATE
    presets = ("tone",)
    clones = False

    def __init__(self, pause=0.0, fail=None):
        self.engine = NoEngine()
        self.said, self.pause, self.fail = [], pause, fail
        self.made = 0
        self.lock = threading.Lock()

    def check(self, settings):
        if settings.preset not in (None, "tone"):
            raise BadRequest("There is no such voice.", "voice")

    def needs_example(self, settings):
        return False

    def speak(self, text, settings, *, seed=None, sampling=MODEL_DEFAULTS, buffered=False, on_codes=None):
        with self.lock:
            self.said.append((text, seed, sampling.temperature, buffered))
        for i in range(5):
            time.sleep(self.pause)
            if self.engine.is_cancelled:
                raise CancelledError
            if self.fail is not None and self.fail in text:
                raise SpeechRanAway("It ran away.")
            with self.lock:
                self.made += 1
            t = np.arange(i * 2400, (i + 1) * 2400) / RATE
            yield (0.8 * np.cos(2 * np.pi * 440 * t)).astype(np.float32)

    def clone(self, samples, text=None):
        raise AssertionError


SEEDED = SpeechOptions(seed=7)


def spoken(voice, text, options=SEEDED, **more):
    return np.concatenate(list(speak_long_form(voice, text, VoiceSettings(), options, **more)))


def test_joins_have_no_clicks_and_pauses_are_where_they_belong():
    parts = passages(LONG)
    sound = spoken(Tones(), LONG)
    assert len(parts) > 3
    tone_step = 2 * np.pi * 440 / RATE * 0.8
    assert np.abs(np.diff(sound)).max() < 1.5 * tone_step
    assert sound[0] == sound[-1] == 0.0
    assert len(sound) == pytest.approx(
        len(parts) * 12000 + sum(part.pause * RATE for part in parts), abs=2 * len(parts)
    )


class LateTones(Tones):
    """The same behind a moment of silence, as models begin."""

    def speak(self, text, settings, **how):
        yield np.zeros(4800, np.float32)
        yield from super().speak(text, settings, **how)


def test_a_voice_that_sets_in_at_once_behind_its_silence_does_not_click():
    sound = spoken(LateTones(), LONG)
    assert np.abs(np.diff(sound)).max() < 1.5 * 2 * np.pi * 440 / RATE * 0.8
    assert np.count_nonzero(sound) > len(passages(LONG)) * 11_000  # and nothing of it was lost


def test_every_passage_is_spoken_once_with_the_same_seed():
    voice = Tones()
    spoken(voice, LONG)
    assert sorted(text for text, *_ in voice.said) == sorted(part.text for part in passages(LONG))
    assert {seed for _, seed, _, _ in voice.said} == {7}
    assert [buffered for text, _, _, buffered in voice.said if text == passages(LONG)[0].text] == [False]


def test_a_seed_that_was_not_given_is_still_one_for_the_whole_text():
    voice = Tones()
    spoken(voice, LONG, SpeechOptions())
    assert len({seed for _, seed, _, _ in voice.said}) == 1


def test_the_first_sound_comes_before_the_first_passage_is_done():
    voice = Tones(pause=0.02)
    story = speak_long_form(voice, LONG, VoiceSettings(), SpeechOptions())
    assert len(next(story))
    assert voice.made < 5
    story.close()


def test_a_voice_that_is_heard_when_a_passage_is_whole_begins_with_a_part_of_one_sentence():
    class Whole(Tones):
        heard_whole = True

    voice, usual = Whole(), Tones()
    spoken(voice, LONG)
    spoken(usual, LONG)
    assert voice.said[0][0] == "This is sentence number 0,"
    assert usual.said[0][0].startswith(next(sentences(LONG)))
    assert sorted(" ".join(text for text, *_ in voice.said).split()) == sorted(LONG.split())


def test_of_a_voice_whose_passages_only_take_turns_one_is_made_ahead_and_none_beside_the_first():
    class InTurn(Tones):
        batched = False

    for voice, most in ((InTurn(), 1), (Tones(), TOGETHER)):
        ahead = [len(voice.said) for _ in speak_long_form(voice, LONG, VoiceSettings(), SEEDED)]
        assert len(voice.said) == len(passages(LONG))
        assert (ahead[1] == 1) is (most == 1)  # while the first one is heard


def test_closing_stops_what_is_made_ahead():
    voice = Tones(pause=0.02)
    story = speak_long_form(voice, LONG, VoiceSettings(), SpeechOptions())
    next(story)
    next(story)
    began = time.monotonic()
    story.close()
    assert time.monotonic() - began < 0.5
    made = voice.made
    time.sleep(0.1)
    assert voice.made == made
    assert len(voice.said) <= 1 + TOGETHER


def test_another_thread_cancels_its_scope():
    voice = Tones(pause=0.02)
    scope = CancelScope(voice.engine)
    story = speak_long_form(voice, LONG, VoiceSettings(), SpeechOptions(), scope=scope)
    next(story)
    threading.Timer(0.05, scope.cancel).start()
    with pytest.raises(CancelledError):
        list(story)
    assert len(voice.said) <= 1 + TOGETHER


def test_a_cancelled_scope_takes_nothing_more():
    scope = CancelScope(NoEngine())
    scope.cancel()
    with pytest.raises(CancelledError):
        scope.task("m", lambda loaded: iter(()))
    with pytest.raises(CancelledError):
        scope.submit(None)


def test_a_passage_that_fails_ends_the_story_with_its_error():
    voice = Tones(fail="number 9,")
    with pytest.raises(SpeechRanAway):
        spoken(voice, LONG)


def test_progress_ends_at_the_whole():
    seen = []
    spoken(Tones(), LONG, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_speed_changes_the_length_and_not_the_pitch(speed):
    plain, other = spoken(Tones(), "Hello there."), spoken(Tones(), "Hello there.", SpeechOptions(speed=speed))
    assert len(other) == pytest.approx(len(plain) / speed, rel=0.06)
    peak = np.argmax(np.abs(np.fft.rfft(other))) * RATE / len(other)
    assert peak == pytest.approx(440, abs=8)


@pytest.mark.parametrize(("text", "options", "message"), [
    ("", SpeechOptions(), "empty"),
    (" \n\n ", SpeechOptions(), "empty"),
    ("x" * 1_000_001, SpeechOptions(), "1000001 characters"),
    ("Hello.", SpeechOptions(speed=9.0), "speed must be"),
    ("Hello.", SpeechOptions(speed=float("nan")), "speed must be"),
])  # fmt: skip
def test_what_cannot_be_is_said_before_anything_is_made(text, options, message):
    voice = Tones()
    with pytest.raises(BadRequest, match=message):
        speak_long_form(voice, text, VoiceSettings(), options)
    assert voice.said == []


def test_an_unknown_voice_is_said_at_once():
    with pytest.raises(BadRequest):
        speak_long_form(Tones(), "Hello.", VoiceSettings(preset="nobody"))
