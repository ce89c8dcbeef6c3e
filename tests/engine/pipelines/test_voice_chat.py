"""Talking, with captions, a chat and a voice that do as they are told; and once with tiny models of all kinds."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import EngineFault
from engine.loading import LoadOptions, load_any
from engine.pipelines.listening.transcript import TranscriptSegment
from engine.pipelines.listening.transcription import Caption, Captions, Transcriber, asr_model
from engine.pipelines.speaking.speech import SpeechOptions, speak_long_form
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import VoiceSettings
from engine.pipelines.voice_chat import Answered, Heard, Interrupted, Reply, VoiceChat, Voiced
from tests.engine.pipelines.listening.conftest import talk as talking
from tests.qwen3_tts_cases import checkpoint, ending
from tests.speech_checkpoints import save

SOUND = np.zeros(512, np.float32)
NOTHING = np.zeros(0, np.float32)


class Script:
    """Every piece of sound brings what was written for it: a caption, or somebody speaking."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.speaking = False

    def feed(self, samples):
        step = self.steps.pop(0) if self.steps else None
        self.speaking = step == "speaks"
        return [caption(step)] if isinstance(step, str) and step != "speaks" else []

    def finish(self):
        return []


def caption(text, final=True):
    return Caption(TranscriptSegment(0.0, 1.0, text), final)


class Voice:
    """Three chunks a sentence; `gate` holds it before each."""

    def __init__(self, gate=None):
        self.gate, self.said, self.closed = gate, [], 0

    def __call__(self, sentence):
        self.said.append(sentence)
        try:
            for i in range(3):
                if self.gate is not None:
                    self.gate.wait(5)
                yield np.full(10, i, np.float32)
        finally:
            self.closed += 1


def chat(reply="One. Two is longer. Three"):
    asked = []

    def answer(messages):
        asked.append([dict(message) for message in messages])
        yield from reply

    answer.asked = asked
    return answer


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def until(talk, kind, seen=(), seconds=5.0):
    """Events up to the first of a kind, those that were `seen` included."""
    deadline, seen = time.monotonic() + seconds, list(seen)
    while not any(isinstance(event, kind) for event in seen):
        assert time.monotonic() < deadline, seen
        seen += talk.feed(NOTHING)
        time.sleep(0.002)
    return seen


def wait_for(condition):
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_a_question_is_answered_sentence_by_sentence():
    voice, ask, clock = Voice(), chat(), Clock()
    talk = VoiceChat(Script("How are you?"), ask, voice, 10, [{"role": "system", "content": "Be brief."}], clock)
    seen = until(talk, Answered, talk.feed(SOUND))
    assert seen[0] == Heard("How are you?", True)
    assert [e.text for e in seen if isinstance(e, Reply)] == voice.said == ["One.", "Two is longer.", "Three"]
    assert sum(isinstance(e, Voiced) for e in seen) == 9
    assert seen[-1] == Answered("One. Two is longer. Three")
    assert ask.asked == [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How are you?"}]]
    clock.now += 60
    assert talk.messages[-1] == {"role": "assistant", "content": "One. Two is longer. Three"}


def test_the_voice_begins_before_the_reply_is_whole():
    gate = threading.Event()

    def slow(messages):
        yield "First. Sec"
        gate.wait(5)
        yield "ond."

    talk = VoiceChat(Script("Hi"), slow, Voice(), 10)
    seen = until(talk, Voiced, talk.feed(SOUND))
    assert not any(isinstance(event, Answered) for event in seen)
    gate.set()
    assert until(talk, Answered)[-1] == Answered("First. Second.")


def test_speaking_stops_the_voice_that_is_being_made():
    gate = threading.Event()
    voice = Voice(gate)
    talk = VoiceChat(Script("Hi", "speaks"), chat("One. Two. Three."), voice, 10)
    talk.feed(SOUND)
    wait_for(lambda: voice.said)
    assert talk.feed(SOUND)[-1:] == [Interrupted()]
    gate.set()
    wait_for(lambda: voice.closed)
    assert talk.feed(NOTHING) == []
    assert voice.said == ["One."]
    assert talk.messages == [{"role": "user", "content": "Hi"}]


def test_speaking_stops_the_voice_that_is_only_played_still_and_what_was_not_heard_was_not_said():
    clock, ask = Clock(), chat("One. Two. Three.")  # three seconds a sentence
    talk = VoiceChat(Script("Hi", "speaks", "Wait."), ask, Voice(), 10, clock=clock)
    until(talk, Answered, talk.feed(SOUND))
    clock.now += 4
    assert talk.feed(SOUND) == [Interrupted()]
    assert talk.messages[-1] == {"role": "assistant", "content": "One. Two."}
    until(talk, Answered, talk.feed(SOUND))
    assert ask.asked[1][1:] == [{"role": "assistant", "content": "One. Two."}, {"role": "user", "content": "Wait."}]


def test_nothing_is_interrupted_once_all_was_heard():
    clock = Clock()
    talk = VoiceChat(Script("Hi", "speaks"), chat("One."), Voice(), 10, clock=clock)
    until(talk, Answered, talk.feed(SOUND))
    clock.now += 60
    assert talk.feed(SOUND) == []
    assert talk.messages[-1]["content"] == "One."


def test_an_error_ends_the_reply_and_not_the_talk():
    calls = []

    def breaks(messages):
        calls.append(1)
        yield "Well. "
        if len(calls) == 1:
            raise EngineFault("It broke.")

    talk = VoiceChat(Script("Hi", "Again"), breaks, Voice(), 10)
    assert isinstance(until(talk, Answered, talk.feed(SOUND))[-1].error, EngineFault)
    assert until(talk, Answered, talk.feed(SOUND))[-1].error is None


@pytest.mark.parametrize("wait", [True, False])
def test_the_end_of_the_sound(wait):
    gate = threading.Event()
    talk = VoiceChat(Script("Hi"), chat("One. Two."), Voice(None if wait else gate), 10)
    seen = talk.feed(SOUND)
    seen += talk.finish(wait)
    gate.set()
    assert seen[-1] == (Answered("One. Two.") if wait else Interrupted())


def test_with_models_of_all_kinds(tmp_path):
    """What is heard of a tiny model's captions goes to a tiny talker, through one engine."""
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    loaded = {}

    def load(name):
        loaded[name] = load_any(name, where)
        return loaded[name]

    ears = str(save("moonshine", tmp_path / "moonshine-tiny"))
    mouth = str(ending(checkpoint("custom_voice", tmp_path / "mouth")))
    with Engine(load) as engine:
        engine.load(ears)
        captions = Captions(engine, Transcriber(engine, asr_model(ears, loaded[ears])))
        voice = speaker(engine, mouth)
        settings = VoiceSettings(preset=voice.presets[0])
        echo = lambda messages: iter([messages[-1]["content"][:8]])  # noqa: E731
        speak = lambda text: speak_long_form(voice, text, settings, SpeechOptions(seed=3))  # noqa: E731
        talk = VoiceChat(captions, echo, speak, voice.rate)
        sound, seen = talking(1), []
        for start in range(0, len(sound), 8000):
            seen += talk.feed(sound[start : start + 8000])
        seen = until(talk, Answered, seen, 60.0)
    assert any(isinstance(event, Heard) and event.final for event in seen)
    assert sum(len(event.samples) for event in seen if isinstance(event, Voiced)) > 1000


def test_an_interrupted_voice_is_hushed_at_once():
    """Not when its next chunk is there: the chunk may take long."""
    gate, hushed = threading.Event(), []

    def hush():
        hushed.append(1)
        gate.set()

    talk = VoiceChat(Script("Hi", "speaks"), chat("One."), voice := Voice(gate), 10, stop_voice=hush)
    talk.feed(SOUND)
    wait_for(lambda: voice.said)
    assert not hushed
    assert talk.feed(SOUND)[-1:] == [Interrupted()]
    assert hushed
    wait_for(lambda: voice.closed)
