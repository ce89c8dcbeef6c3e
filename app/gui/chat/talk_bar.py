"""The bar above the message field while a person talks with the model, and the audio devices it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.look import restate
from app.gui.pane import AppContext
from app.gui.sound import devices
from app.gui.sound.player import Meter
from app.gui.texts import mark, tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.hands_free import HandsFree, TalkModels
from app.gui.widgets import label, text_button
from engine.errors import BackendUnavailable

if TYPE_CHECKING:
    from app.runtime.catalogue import Capability

_STATES = {
    "off": "",
    "preparing": mark("Loading models"),
    "listening": mark("Listening"),
    "thinking": mark("Reasoning"),
    "speaking": mark("Speaking"),
}
_HINTS = {
    "preparing": mark("One moment. Press Esc to end."),
    "listening": mark("Say something. Press Esc to end."),
    "thinking": mark("Your message was sent."),
    "speaking": mark("Speak to interrupt the voice."),
}
_HINT_WAITING = mark("Grus listens again when it has finished speaking.")
_WAITS = "talk.waits"
_TAIL = 96  # characters of a long question that are shown while it is asked


class TalkBar(QWidget):
    """Shown while it is on. `show_error(sentence)` shows what is missing, where the work is."""

    def __init__(self, context: AppContext, chat: OpenConversation, show_error: Callable[[str], Any]) -> None:
        super().__init__()
        self._context, self._chat, self._show_error = context, chat, show_error
        self.handsfree = HandsFree(chat, context.core, context.work.post)
        self.handsfree.waits = bool(context.preferences.get(_WAITS, False))
        self.microphone: Any = None
        self.loudspeaker: Any = None
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.meter = Meter(context.look, tr("Level"))
        self.state = label()
        context.look.on_change(self.state, lambda: self.state.setFont(context.look.font(1.0, QFont.Weight.DemiBold)))
        self.words = label(kind="second", wrap=True)
        self.headphones = QCheckBox(tr("Headphones"))
        self.headphones.setAccessibleName(self.headphones.text())
        self.headphones.setToolTip(
            tr("With headphones, you can interrupt the voice by speaking. With loudspeakers, turn this off: Grus then listens "
               "after it has finished speaking.")
        )  # fmt: skip
        self.headphones.setChecked(not self.handsfree.waits)
        self.interrupt = text_button(tr("Interrupt"), self.handsfree.interrupt)
        self.finish = text_button(tr("End"), self.handsfree.end)
        self.finish.setAccessibleName(tr("End Talk"))
        self.finish.setToolTip(tr("End Talk (Esc)"))
        self._build()
        self._connect()
        self.hide()

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID * 2)
        top.addWidget(self.meter)
        top.addWidget(self.state)
        top.addStretch(1)
        top.addWidget(self.interrupt)
        top.addWidget(self.finish)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID, GRID, GRID)
        column.setSpacing(GRID // 2)
        below = QHBoxLayout()
        below.setSpacing(GRID * 2)
        below.addWidget(self.words, 1)
        below.addWidget(self.headphones, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(top)
        column.addLayout(below)

    def _connect(self) -> None:
        talk = self.handsfree
        talk.changed.connect(self._show)
        talk.moved.connect(lambda: self.meter.show_level(talk.level))
        talk.ready.connect(self._open_loudspeaker)
        talk.voice_stopped.connect(lambda: self.loudspeaker is not None and self.loudspeaker.flush())
        talk.ended.connect(self._ended)
        self.headphones.toggled.connect(self._choose)

    # -- what a person does

    def toggle(self) -> None:
        """Begin, or end. Says what is missing, and where to get it."""
        if self.handsfree.end():
            return
        self._show_error("")
        if not self._chat.head.model:
            self._show_error(tr("Choose a model first, in the menu above the conversation."))
            return
        self._context.core.use(_missing, self._begin, self._show_error)

    def end(self) -> bool:
        return self.handsfree.end()

    def _choose(self, worn: bool) -> None:
        self.handsfree.waits = not worn
        self._context.preferences.put(_WAITS, not worn)
        self._show()

    # -- beginning and ending

    def _begin(self, missing: list[Capability]) -> None:
        from app.gui.viewmodels.speak import from_kept

        if missing:
            self._send_to_models(missing)
            return
        if self.handsfree.on:  # pressed twice
            return
        try:
            devices.multimedia()
            self.microphone = devices.Microphone(self.handsfree.feed, self, self.handsfree.fail)
        except BackendUnavailable as error:
            self._show_error(str(error))
            return
        prefs = self._context.preferences
        voice = from_kept(prefs.get("speak.choice", {}))
        ears = str(prefs.get("listen.model", ""))
        self.handsfree.begin(TalkModels(self._chat.head.model, ears, voice, self._context.places.data / "voices"))

    def _send_to_models(self, missing: list[Capability]) -> None:
        """They can be downloaded there; the sentence stays in sight."""
        from app.runtime.catalogue import RECOMMENDED

        names = [RECOMMENDED[ability] for ability in missing]
        pane = self._context.open_pane("models")
        pane.offer(names[0])
        self._context.say(
            tr("Talk needs a speech recognition model and a text-to-speech model. Download {names} here, then try again.",
               names=tr("{one} and {other}", one=names[0], other=names[1]) if len(names) > 1 else names[0]),
            level="warning",
        )  # fmt: skip

    def _open_loudspeaker(self, rate: int) -> None:
        try:
            self.loudspeaker = devices.SoundOutput(self.handsfree.take, rate, self, self.handsfree.fail)
        except BackendUnavailable as error:
            self.handsfree.fail(str(error))

    def _ended(self, problem: str) -> None:
        for device in (self.microphone, self.loudspeaker):
            if device is not None:
                device.stop()
        self.microphone = self.loudspeaker = None
        self.meter.clear()
        self._show_error(problem)

    # -- what is shown

    def _show(self) -> None:
        talk = self.handsfree
        self.setVisible(talk.on)
        self.state.setText(tr(_STATES[talk.state]))
        hint = _HINT_WAITING if talk.waits and talk.state == "speaking" else _HINTS.get(talk.state, "")
        self.words.setText(_tail(talk.saying) or talk.problem or tr(hint))
        restate(self.words, level="error" if talk.problem and not talk.saying else "")
        self.interrupt.setVisible(talk.state in ("thinking", "speaking"))


def _tail(text: str) -> str:
    """The caption of current speech, elided to its width."""
    return text if len(text) <= _TAIL else "…" + text[-_TAIL:].partition(" ")[2]


def _missing(service: Any) -> list[Capability]:
    from app.runtime import catalogue

    wanted: tuple[Capability, ...] = ("listen", "speak")
    return [ability for ability in wanted if not catalogue.able(service.catalogue, ability)]
