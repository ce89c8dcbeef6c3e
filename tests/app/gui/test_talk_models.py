"""Talk without a widget: with a pipeline that a test writes, and once with tiny models of all kinds through one engine."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.gui.preferences import Preferences
from app.gui.store.worker import AppStore
from app.gui.viewmodels.chat import hands_free
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.hands_free import HandsFree, SpokenQuestion, TalkModels, TalkReady
from app.gui.viewmodels.speak import SpeakSettings
from app.window_engine import WindowEngine, local_service
from engine.errors import SpeechRanAway
from engine.pipelines.voice_chat import Answered, Heard, Interrupted, Voiced
from tests import speech_checkpoints
from tests.app.gui.media import AtOnce
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import talk as sound_of_talk
from tests.qwen3_tts_cases import checkpoint, ending

CAST = TalkModels("tiny", "", SpeakSettings(), Path("voices"))
SOUND = np.full(1000, 0.5, np.float32)


class Asks:
    """A chat's model that a test writes for."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.cancelled = 0

    def reply(self, ask: Any, listener: Any) -> Any:
        self.listeners.append(listener)
        return SimpleNamespace(cancel=self._cancel)

    def _cancel(self) -> None:
        self.cancelled += 1

    def write(self, *words: str) -> None:
        self.listeners[-1].parts([SimpleNamespace(kind="answer", text=word) for word in words])

    def end(self, reason: str = "stop") -> None:
        from engine.types import Timings

        self.listeners[-1].ended(reason, Timings())


class Aloud:
    """A hands-free conversation whose pipeline is the test itself."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = AppStore(folder / "grus.sqlite3")
        self.asks, self.streams, self.said = Asks(), AtOnce(hold=True), []
        self.chat = OpenConversation(
            self.store, self.asks, lambda seconds, run: None, lambda *a, **m: self.said.append(a[0])
        )
        self.chat.new("tiny")
        self.talk = HandsFree(self.chat, self.streams, lambda run: run())
        self.states: list[str] = []
        self.talk.changed.connect(lambda: self.states.append(self.talk.state))
        monkeypatch.setattr(hands_free, "conversed", self._pipeline)
        self.begin()

    def begin(self) -> None:
        self.talk.begin(CAST)
        self.put_events(TalkReady(10_000))

    def _pipeline(self, core: Any, cast: TalkModels, sound: Any, ask: Any, drop: Any) -> Iterator[Any]:
        self.sound, self.put, self.drop = sound, ask, drop
        yield None

    def put_events(self, *events: Any) -> None:
        next(self.streams.held[-1].items, None)
        self.streams.held[-1].receive(list(events))

    def ask(self, text: str) -> SpokenQuestion:
        question = SpokenQuestion(text)
        self.put_events(Heard(text, True))
        self.put(question)
        self.store.wait()
        self.store.wait()
        return question


@pytest.fixture
def aloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aloud]:
    made = Aloud(tmp_path, monkeypatch)
    yield made
    made.store.close()


def test_a_turn_is_two_messages_and_five_states(aloud: Aloud) -> None:
    aloud.put_events(Heard("How", False))
    assert aloud.talk.saying == "How"
    question = aloud.ask("How are you?")
    assert [(m.role, m.text, m.state) for m in aloud.chat.path] == [
        ("user", "How are you?", "done"), ("assistant", "", "writing"),
    ]  # fmt: skip
    aloud.asks.write("Fine, **thank", " you**.\n")
    aloud.asks.end()
    assert "".join(question.answer()).strip() == "Fine, thank you."
    aloud.put_events(Voiced(SOUND), Answered("Fine, thank you."))
    assert aloud.talk.state == "speaking"
    assert len(aloud.talk.take(600)) == 600
    assert aloud.talk.level > 0.9
    assert len(aloud.talk.take(600)) == 400
    assert len(aloud.talk.take(600)) == 0
    states = [state for i, state in enumerate(aloud.states) if [state] != aloud.states[i - 1 : i]]
    assert states == ["preparing", "listening", "thinking", "speaking", "listening"]
    assert aloud.talk.end()
    assert not aloud.talk.end()


def test_who_speaks_stops_the_voice_and_the_reply(aloud: Aloud) -> None:
    aloud.ask("How are you?")
    aloud.asks.write("I could tell you. ")
    aloud.put_events(Voiced(SOUND))
    aloud.put_events(Interrupted())
    assert (aloud.talk.state, aloud.asks.cancelled, len(aloud.talk.take(600))) == ("listening", 1, 0)
    again = aloud.ask("Wait.")  # while the reply is still ending
    assert len(aloud.asks.listeners) == 1
    aloud.asks.end("cancelled")
    aloud.store.wait()
    aloud.store.wait()
    assert [(m.text, m.state) for m in aloud.chat.path] == [
        ("How are you?", "done"), ("I could tell you. ", "stopped"), ("Wait.", "done"), ("", "writing"),
    ]  # fmt: skip
    aloud.asks.write("Yes?")
    aloud.asks.end()
    assert "".join(again.answer()).strip() == "Yes?"


def test_a_reply_that_is_stopped_before_it_began_is_stopped_when_it_begins(aloud: Aloud) -> None:
    question = SpokenQuestion("How are you?")
    aloud.put(question)  # the store has not answered yet
    aloud.drop(question)
    aloud.store.wait()
    aloud.store.wait()
    assert aloud.asks.cancelled == 1


def test_what_was_drawn_back_before_it_was_sent_is_never_sent(aloud: Aloud) -> None:
    aloud.ask("One")
    two = SpokenQuestion("Two")
    aloud.put(two)
    aloud.drop(two)
    aloud.asks.end("cancelled")
    aloud.store.wait()
    assert [m.text for m in aloud.chat.path if m.role == "user"] == ["One"]


def test_a_reply_that_failed_says_so_in_the_chat_and_a_voice_that_failed_in_the_bar(aloud: Aloud) -> None:
    question = aloud.ask("How are you?")
    aloud.asks.listeners[-1].failed("There is no memory left.")
    with pytest.raises(hands_free.Unanswered) as failed:
        list(question.answer())
    aloud.put_events(Answered("", failed.value))
    assert (aloud.chat.path[-1].error, aloud.talk.problem) == ("There is no memory left.", "")
    aloud.put_events(Answered("", SpeechRanAway("The voice ran away.")))
    assert (aloud.talk.problem, aloud.talk.state) == (
        "The voice did not come to an end. Try again, or with a shorter text.",
        "listening",
    )


def test_it_hears_nothing_before_it_is_ready_nor_after_its_end_nor_itself(aloud: Aloud) -> None:
    def queued() -> int:
        count = 0
        while not aloud.sound.empty():
            count += aloud.sound.get() is not None
        return count

    aloud.talk.feed(SOUND)
    assert queued() == 1
    aloud.talk.waits = True
    aloud.put_events(Heard("Hello", True), Voiced(SOUND))
    aloud.talk.feed(SOUND)
    assert queued() == 0
    aloud.talk.waits = False
    aloud.talk.feed(SOUND)
    assert queued() == 1
    aloud.talk.end()
    aloud.talk.feed(SOUND)
    assert queued() == 0
    aloud.talk.begin(CAST)
    aloud.talk.feed(SOUND)
    assert aloud.talk.state == "preparing"
    assert queued() == 0


def test_a_model_that_is_missing_ends_it_with_a_sentence(aloud: Aloud) -> None:
    sentences: list[str] = []
    aloud.talk.ended.connect(sentences.append)
    aloud.streams.held[-1].ended("No text-to-speech model is installed.")
    assert sentences == ["No text-to-speech model is installed."]
    assert not aloud.talk.on


class Pumped:
    """The UI thread of a test: what others post runs when the test waits."""

    def __init__(self) -> None:
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def post(self, work: Callable[[], None]) -> None:
        self._posted.put(work)

    def frames(self, deliver: Callable[[list[Any]], None]) -> Any:
        return SimpleNamespace(put=lambda item: self.post(lambda: deliver([item])))

    def until(self, condition: Callable[[], Any], seconds: float = 120.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            with suppress(queue.Empty):
                self._posted.get(timeout=0.05)()


def test_with_models_of_all_kinds(tmp_path: Path) -> None:
    """Sound in, a question, a reply, sound out: all of it by tiny models, in one engine."""
    models = {
        "chat": str(save("qwen3", tmp_path / "chat")),
        "ears": str(speech_checkpoints.save("moonshine", tmp_path / "ears")),
        "voice": str(ending(checkpoint("custom_voice", tmp_path / "voice"))),
    }
    preferences = Preferences(tmp_path / "preferences.json")
    for key, value in (("backend", "auto"), ("device", "cpu"), ("cache_dir", str(tmp_path / "cache"))):
        preferences.put(key, value)
    pumped = Pumped()
    core = WindowEngine(AtOnce(), lambda: local_service(preferences, models), pumped.frames)
    core.start()
    store = AppStore(tmp_path / "grus.sqlite3", pumped.post)
    try:
        chat = OpenConversation(store, core, lambda seconds, run: None, lambda *a, **m: None)
        chat.new("chat")
        chat.configure(sampling={"temperature": 0.0, "max_tokens": 8})
        talk = HandsFree(chat, core, pumped.post)
        problems: list[str] = []
        talk.ended.connect(problems.append)
        talk.begin(
            TalkModels("chat", "", SpeakSettings(instructions="left out where it is not taken"), tmp_path / "voices")
        )
        pumped.until(lambda: talk.state == "listening" or problems)
        sound = sound_of_talk(1)
        for start in range(0, len(sound), 1600):
            talk.feed(sound[start : start + 1600])
        pumped.until(lambda: talk.problem or problems or len(talk.take(240)))
        assert (talk.problem, problems) == ("", [])
        asked, reply = chat.path
        assert (asked.role, reply.role) == ("user", "assistant")
        assert asked.text
        assert reply.text
        talk.end()
        pumped.until(lambda: not core.service.engine.stats().active, 5)
    finally:
        core.close()
        store.close()
