"""Sits in the real app's process and plays and records with real devices: `python -m tests.app.gui.sounding TASK ...`.

What follows the task is the app's own command line. The devices are those of the PulseAudio daemon that the environment
names (`tests.app.gui.pulse`). What it has seen is printed, a line of JSON at a time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import soundfile
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import app.main
from app.cli import main
from tests.app.gui import pulse
from tests.app.gui.person import CTRL, follow
from tests.engine.pipelines.listening.conftest import silence, talk

Waits = Iterator[Callable[[], Any]]
SHIFT = Qt.KeyboardModifier.ShiftModifier


def report(what: str, **facts: Any) -> None:
    print(json.dumps({"what": what, "at": round(time.monotonic() - app.main.BEGAN, 1), **facts}), flush=True)


def pause(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


class Played:
    """What a loudspeaker plays in a step of a task. A recorder goes on for the next step."""

    recorders: ClassVar[dict[str, pulse.Recorder]] = {}

    def __init__(self, sink: str) -> None:
        if sink not in self.recorders:
            file = Path(os.environ["XDG_RUNTIME_DIR"]) / f"{time.monotonic_ns()}.raw"
            self.recorders[sink] = pulse.Recorder(sink, file)
        self.sink, self.recorder = sink, self.recorders[sink]
        self.recorder.begin()
        self.ready = lambda: self.recorder.running

    def report(self, what: str, **more: Any) -> None:
        seconds, level = pulse.measured(self.recorder.samples, pulse.RATE)
        report(what, sink=self.sink, seconds=seconds, level=level, **more)


def unplug(name: str) -> None:
    pulse.unplug(name)
    if (recorder := Played.recorders.pop(name, None)) is not None:
        recorder.stop()


def play(window: Any, name: str) -> Waits:
    """The player of a pane: to the end, pause, seek, another default device, unplugged, plugged in again."""
    pane = window.open_pane(name)
    player, field = pane.player, pane.list
    playback = player.playback
    press = lambda: QTest.keyClick(field, Qt.Key.Key_Space, CTRL)  # noqa: E731
    notice = lambda: window.notice.sentence.text() if window.notice.isVisible() else ""  # noqa: E731
    yield lambda: playback.seconds and pane.isVisible()

    played = Played("one")
    yield played.ready
    press()
    yield lambda: not playback.playing and played.recorder.quiet()
    played.report("to the end", position=playback.position)

    played = Played("one")
    yield played.ready
    press()
    yield lambda: playback.position > 0.4
    press()
    paused = playback.position
    yield pause(0.3)
    report("paused", before=paused, after=playback.position)
    press()
    yield lambda: not playback.playing and played.recorder.quiet()
    played.report("paused and resumed")

    played = Played("one")
    yield played.ready
    press()
    yield lambda: played.recorder.loud()
    player.seek(playback.seconds - 0.3)  # what a click on the waveform does
    yield lambda: not playback.playing and played.recorder.quiet()
    played.report("sought")

    first, second = Played("one"), Played("two")
    yield lambda: first.ready() and second.ready()
    press()
    yield lambda: first.recorder.loud() and playback.position > 0.4
    pulse.pactl("set-default-sink", "two")
    yield lambda: not playback.playing and second.recorder.quiet()
    first.report("switched from")
    second.report("switched to", playing=playback.ended)

    played = Played("one")
    yield played.ready
    press()
    yield lambda: playback.position > 0.4
    unplug("two")
    yield lambda: not playback.playing and played.recorder.quiet()
    played.report("unplugged, one is left", ended=playback.ended)

    press()
    yield lambda: playback.position > 0.4
    unplug("one")
    yield lambda: not playback.playing and notice()
    report("unplugged, none is left", notice=notice(), position=playback.position, ended=playback.ended)
    window.notice.current.close()
    press()
    yield notice
    report("played with none", notice=notice(), playing=playback.playing)

    pulse.plug("one")
    yield pause(0.3)
    played = Played("one")
    yield played.ready
    press()
    yield lambda: not playback.playing and played.recorder.quiet()
    played.report("plugged in again", ended=playback.ended)


def speak(window: Any) -> Waits:
    yield from play(window, "speak")
    yield from voice(window)
    window.close()


def listen(window: Any) -> Waits:
    yield from play(window, "listen")
    yield from record(window)
    window.close()


def voice(window: Any) -> Waits:
    """A voice is recorded in Speak; the microphone is unplugged meanwhile, and plugged in again."""
    panel = window.panes["speak"].voice_panel
    window.panes["speak"].voice_panel.show()
    recorded = lambda: sum(map(len, panel._recorded)) / 16_000  # noqa: E731
    panel.record.click()
    report("no microphone", note=panel.note.text())
    pulse.plug_microphone()
    yield pause(0.3)
    panel.record.click()
    yield lambda: recorded() > 0.5
    pulse.unplug("microphone")
    yield lambda: panel.microphone is None
    report("microphone unplugged", note=panel.note.text(), seconds=recorded())
    pulse.plug_microphone()
    yield pause(0.3)
    panel.record.click()
    yield lambda: recorded() > 0.5
    panel.record.click()
    report("recorded", seconds=recorded())


def record(window: Any) -> Waits:
    """The microphone in Listen: recorded, stopped; recorded again and unplugged."""
    pane = window.panes["listen"]
    listening = pane.results
    start = lambda: QTest.keyClick(pane.list, Qt.Key.Key_R, CTRL | SHIFT)  # noqa: E731
    pulse.plug_microphone()
    yield pause(0.3)
    start()
    yield lambda: listening.live is not None and listening.live.seconds > 0.5
    item = listening.live
    said = pulse.say(pulse.tone(1.0), pulse.RATE)
    yield lambda: said.poll() is not None
    yield pause(0.3)
    start()
    yield lambda: item.state in ("done", "failed")
    seconds, level = pulse.measured(soundfile.read(item.source, dtype="float32")[0], 16_000)
    report("recorded", state=item.state, error=item.error, seconds=seconds, level=level)
    start()
    yield lambda: listening.live is not None and listening.live.seconds > 0.5
    item = listening.live
    pulse.unplug("microphone")
    yield lambda: item.state in ("done", "failed")
    report(
        "unplugged", state=item.state, notice=window.notice.sentence.text(), kept=soundfile.info(item.source).duration
    )


def converse(window: Any) -> Waits:
    """Talk: what is said is answered aloud; the microphone is unplugged; Talk begins again, and the loudspeaker goes."""
    chat = window.open_pane("chat")
    bar, problem = chat.talk_bar, lambda: window.notice.sentence.text()
    yield lambda: chat.talk.head.model
    pulse.plug_microphone()
    yield pause(0.3)
    played = Played("one")
    yield played.ready
    bar.toggle()
    yield lambda: bar.handsfree.state == "listening" or problem()
    said = pulse.say(talk(1), 16_000)
    yield lambda: (bar.handsfree.state == "speaking" and played.recorder.loud(0.2)) or problem()
    bar.interrupt.click()
    yield played.recorder.quiet
    said.wait(10)
    report("answered", roles=[message.role for message in chat.talk.path], problem=problem())
    played.report("spoken")
    pulse.say(silence(0.5), 16_000).wait(10)
    pulse.unplug("microphone")
    yield lambda: not bar.handsfree.on
    report("microphone unplugged", problem=problem())
    pulse.plug_microphone()
    yield pause(0.3)
    bar.toggle()
    yield lambda: bar.handsfree.state == "listening"
    for sink in ("one", "two", "mouth"):
        pulse.unplug(sink)
    yield lambda: not bar.handsfree.on
    report("loudspeaker unplugged", problem=problem())
    window.close()


def timely(task: Waits, seconds: float = 30) -> Waits:
    """Ends the process where a step does not come."""
    for number, ready in enumerate(task):
        end = time.monotonic() + seconds

        def come(ready: Any = ready, end: float = end, number: int = number) -> bool:
            if ready():
                return True
            if time.monotonic() > end:
                print(f"step {number} did not come", file=sys.stderr, flush=True)
                os._exit(3)
            return False

        yield come


if __name__ == "__main__":
    task = {"speak": speak, "listen": listen, "talk": converse}[sys.argv[1]]
    app.main._announce = lambda window: follow(timely(task(window)))
    code = main(["app", *sys.argv[2:]])
    QApplication.processEvents()
    sys.exit(code)
