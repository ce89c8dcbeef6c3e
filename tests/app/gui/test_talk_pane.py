"""Talk as a person uses it: a tiny model really listens, the engine is a script, voice and devices are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt

import grus as sdk
from app.gui.chat.talk_bar import TalkBar
from app.gui.sound import devices
from app.runtime import catalogue, pipelines
from engine.errors import BackendUnavailable
from engine.loading import LoadOptions
from tests.app.gui.conftest import Opened
from tests.app.gui.test_listen_pane import Device
from tests.app.gui.test_speak_models import Spoken
from tests.engine.pipelines.listening.conftest import silence, talk, voice
from tests.speech_checkpoints import save

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton
PIECE = 1600  # samples that a microphone gives at once


class Microphone(Device):
    opened: list[Any] = []  # noqa: RUF012 (one list for each kind of device)


class Loudspeaker(Device):
    opened: list[Any] = []  # noqa: RUF012


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sdk.Ears]:
    folder = save("moonshine", tmp_path_factory.mktemp("ears") / "moonshine-tiny")
    with sdk.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


@pytest.fixture
def hearing(ears: sdk.Ears, monkeypatch: pytest.MonkeyPatch) -> Callable[[Opened], TalkBar]:
    """Gives a window its devices and its models."""
    Microphone.opened, Loudspeaker.opened = [], []
    monkeypatch.setattr(devices, "Microphone", Microphone)
    monkeypatch.setattr(devices, "SoundOutput", Loudspeaker)
    monkeypatch.setattr(catalogue, "able", lambda service, ability: [ability])
    monkeypatch.setattr(pipelines, "listener", lambda core, wanted: ears.listener)
    monkeypatch.setattr(pipelines, "speaker", lambda core, wanted: Spoken())

    def give(grus: Opened) -> TalkBar:
        grus.engine.task = ears.service.task  # type: ignore[attr-defined]
        bar: TalkBar = grus.window.panes["chat"].talk_bar
        return bar

    return give


@pytest.fixture
def bar(grus: Opened, hearing: Callable[[Opened], TalkBar]) -> Iterator[TalkBar]:
    chat, made = grus.window.panes["chat"].talk, hearing(grus)
    grus.until(lambda: chat.head.model)  # models are listed behind the engine's start
    yield made
    made.handsfree.end()
    chat.stop()
    grus.until(lambda: not chat.writing)  # a reply that still streams would find its window gone


def begin(grus: Opened, bar: TalkBar) -> None:
    grus.qtbot.mouseClick(grus.window.panes["chat"].composer.talk, LEFT)
    grus.until(lambda: bar.handsfree.state == "listening", 20)


def say(sound: np.ndarray) -> None:
    for start in range(0, len(sound), PIECE):
        Microphone.opened[-1].call(sound[start : start + PIECE])


def messages(grus: Opened) -> list[Any]:
    return grus.window.panes["chat"].talk.path


def test_what_is_said_is_sent_answered_spoken_and_kept(
    open_grus: Callable[..., Opened], grus: Opened, bar: TalkBar, hearing: Any
) -> None:
    begin(grus, bar)
    assert bar.isVisible()
    assert bar.state.text() == "Listening"
    say(talk(1))
    assert bar.meter.level > 0.3 or max(bar.meter._levels) > 0.3
    # the voice begins with the first sentence, which may be before the reply has ended
    grus.until(lambda: bar.handsfree.state == "speaking" and messages(grus)[-1].state == "done", 20)
    said, reply = messages(grus)
    assert (said.role, bool(said.text)) == ("user", True)
    assert (reply.role, reply.text, reply.state) == ("assistant", "Hello there.", "done")
    assert bar.state.text() == "Speaking"
    assert bar.interrupt.isVisible()
    # piece by piece, with silence where the voice is not made yet: the level is that of the last piece
    grus.until(lambda: np.abs(Loudspeaker.opened[0].call(2400)).max() > 0.3 and bar.handsfree.level > 0.5)
    for _ in range(4):  # the pause after the sentence, and the end
        Loudspeaker.opened[0].call(24_000)
    grus.until(lambda: bar.handsfree.state == "listening")
    grus.qtbot.keyClick(grus.window.panes["chat"].composer.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert Microphone.opened[0].stopped
    assert Loudspeaker.opened[0].stopped
    grus.settle()
    again = open_grus()
    again.until(lambda: len(messages(again)) == 2)
    assert [message.text for message in messages(again)] == [said.text, "Hello there."]


def test_speaking_stops_the_voice_and_the_reply(grus: Opened, bar: TalkBar) -> None:
    grus.engine.reply, grus.engine.pause = "Well. " + "This goes on and on. " * 200, 0.005
    begin(grus, bar)
    say(talk(1))
    grus.until(lambda: bar.handsfree.state == "speaking", 20)
    assert messages(grus)[-1].state == "writing"
    say(voice(1.0, 3))
    grus.until(lambda: bar.handsfree.state == "listening", 20)
    grus.until(lambda: grus.engine.cancelled)
    assert not len(Loudspeaker.opened[0].call(2400))
    grus.until(lambda: messages(grus)[-1].state == "stopped")
    assert messages(grus)[-1].text.startswith("Well.")
    say(silence(1.0))
    grus.until(lambda: len(messages(grus)) == 4 and bar.handsfree.state == "speaking", 20)


def test_it_begins_and_ends_by_its_shortcut_and_a_click_interrupts(grus: Opened, bar: TalkBar) -> None:
    grus.engine.reply, grus.engine.pause = "This goes on and on. " * 200, 0.005
    field = grus.window.panes["chat"].composer.field
    grus.qtbot.keyClick(field, Qt.Key.Key_T, CTRL | SHIFT)
    grus.until(lambda: bar.handsfree.state == "listening", 20)
    say(talk(1))
    grus.until(lambda: bar.handsfree.state == "speaking", 20)
    grus.qtbot.mouseClick(bar.interrupt, LEFT)
    assert bar.handsfree.state == "listening"
    grus.until(lambda: messages(grus)[-1].state == "stopped")
    grus.qtbot.keyClick(field, Qt.Key.Key_T, CTRL | SHIFT)
    assert not bar.handsfree.on


def test_with_a_loudspeaker_it_hears_nothing_while_it_speaks(grus: Opened, bar: TalkBar) -> None:
    grus.engine.reply, grus.engine.pause = "This goes on and on. " * 200, 0.005
    begin(grus, bar)
    bar.headphones.setChecked(False)
    say(talk(1))
    grus.until(lambda: bar.handsfree.state == "speaking", 20)
    say(voice(1.0, 3))
    grus.qtbot.wait(300)
    assert bar.handsfree.state == "speaking"
    assert grus.context.preferences.get("talk.waits")


def test_another_conversation_ends_it(grus: Opened, bar: TalkBar) -> None:
    begin(grus, bar)
    say(talk(1))
    grus.until(lambda: bar.handsfree.state == "speaking", 20)
    assert bar.handsfree.on  # the conversation that began meanwhile is its own
    grus.qtbot.keyClick(grus.window.panes["chat"].composer.field, Qt.Key.Key_N, CTRL)
    assert not bar.handsfree.on


def test_models_that_are_missing_are_named_and_models_opens(grus: Opened, bar: TalkBar, monkeypatch: Any) -> None:
    monkeypatch.setattr(catalogue, "able", lambda service, ability: [])
    grus.qtbot.mouseClick(grus.window.panes["chat"].composer.talk, LEFT)
    grus.until(lambda: grus.window.shown == "models")
    sentence = grus.window.notice.sentence.text()
    assert "UsefulSensors/moonshine-base" in sentence
    assert "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice" in sentence
    assert grus.window.panes["models"].cards.name == "UsefulSensors/moonshine-base"
    monkeypatch.setattr(catalogue, "able", lambda service, ability: ["ears"] if ability == "listen" else [])
    grus.window.open_pane("chat")
    grus.qtbot.mouseClick(grus.window.panes["chat"].composer.talk, LEFT)
    grus.until(lambda: "moonshine" not in grus.window.notice.sentence.text())


@pytest.mark.parametrize("missing", ["Microphone", "SoundOutput"])
def test_devices_that_are_missing_are_told_above_the_field(
    grus: Opened, bar: TalkBar, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def none(*given: Any) -> Any:
        raise BackendUnavailable("Sound needs a system library that is missing. Install libpulse0.")

    monkeypatch.setattr(devices, missing, none)
    composer = grus.window.panes["chat"].composer
    grus.qtbot.mouseClick(composer.talk, LEFT)
    grus.until(lambda: "libpulse0" in grus.window.notice.sentence.text(), 20)
    assert not bar.handsfree.on
    assert [device.stopped for device in Microphone.opened] == ([True] if missing == "SoundOutput" else [])
