"""The Speak pane: what was spoken on the left; the text, the voice, and the player."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import wear
from app.gui.look import restate
from app.gui.model_box import AbilityBox
from app.gui.pane import Desk, Pane
from app.gui.results import DragOut, ResultList, from_outside
from app.gui.sound.player import Player
from app.gui.speak.deeds import Deeds
from app.gui.speak.levelbox import LevelBox
from app.gui.speak.voicepanel import VoicePanel
from app.gui.store import kept
from app.gui.texts import tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.speak import NAMED, PACES, PITCHES, UNKNOWN, Choice, Offer, Studio, offered, to_kept
from app.gui.widgets import icon_button, label, text_button

_PLACE = "speak"  # of the draft
_NARROW = 80  # pixels that a box keeps in a small window


def make(desk: Desk) -> Pane:
    return SpeakPane(desk)


class SpeakPane(Pane):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.setAcceptDrops(True)
        said = lambda sentence, **more: self.desk.say(sentence, **more)  # noqa: E731 (the window sets it later)
        self.studio = Studio(desk.store, desk.core, desk.work, said, desk.places.data)
        self.list = ResultList(desk.look, tr("Spoken before"), lambda: self.studio.items)
        self.list.drag = DragOut(desk, self.list, self.studio.as_file)
        self.model_box = AbilityBox(desk, "speak")
        self.player = Player(desk, self.studio.playback)
        self.voice_panel = VoicePanel(desk, self.studio, lambda: self.model_box.name)
        self.offer = UNKNOWN  # of the chosen model, once its files were looked at
        self._asked = False  # to speak, before they were
        self.markdown = False  # the text is
        self.deeds = Deeds(self)
        self._build()
        self._connect()
        self.studio.look()
        desk.store.ask(lambda db: kept.draft(db, _PLACE), lambda draft: self.text.setPlainText(draft.text))
        self._show()

    def _build(self) -> None:
        actions = self.desk.actions
        self.text = QPlainTextEdit()
        self.text.setPlaceholderText(tr("Write or drop a text: txt, md, pdf or epub"))
        self.text.setAccessibleName(tr("Text to speak"))
        self.text.setTabChangesFocus(True)
        self.text.setAcceptDrops(False)  # the pane takes files
        self.voice = QComboBox()
        self.voice.setAccessibleName(tr("Voice"))
        self.voice.setToolTip(tr("Voice"))
        self.voice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.voice.setMinimumWidth(_NARROW)
        self.voice.setMaximumWidth(240)  # a saved voice may have any name
        self.language = QComboBox()
        self.language.setAccessibleName(tr("Language"))
        self.language.setToolTip(tr("Language"))
        self.language.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.language.setMinimumWidth(_NARROW)
        self.pitch, self.pace = LevelBox(tr("Pitch"), PITCHES), LevelBox(tr("Pace"), PACES)
        self.instructions = QLineEdit()
        self.instructions.setAccessibleName(tr("Instructions"))
        self.note = label(kind="second", wrap=True)
        self.go = text_button(tr("Speak"), self.speak, kind="main")
        self.go.setToolTip(actions["speak.speak"].toolTip())
        self.figures = label(kind="second")
        self.status = label(kind="second", wrap=True)
        head = QHBoxLayout()
        head.setSpacing(GRID // 2)
        for part in (self.model_box, self.voice):
            head.addWidget(part)
        for name in ("sample", "voice", "drop"):
            wear(button := icon_button(self.desk.look, "more", "", size=16), actions[f"speak.{name}"])
            head.addWidget(button)
        head.addWidget(self.language)
        head.addStretch(1)
        for name in ("open", "save"):
            wear(button := icon_button(self.desk.look, "more", ""), actions[f"speak.{name}"])
            head.addWidget(button)
        below = QHBoxLayout()
        below.setSpacing(GRID)
        parts: list[tuple[QWidget, int]] = [(self.pitch, 0), (self.pace, 0), (self.instructions, 1), (self.note, 1),
                                            (self.figures, 0), (self.go, 0)]  # fmt: skip
        for each, room in parts:
            below.addWidget(each, room)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addWidget(self.voice_panel)
        column.addWidget(self.text, 1)
        column.addLayout(below)
        column.addWidget(self.status)
        column.addWidget(self.player)
        self.voice_panel.hide()
        left = QWidget()
        left.setProperty("kind", "side")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side = QVBoxLayout(left)
        side.setContentsMargins(0, GRID, 0, 0)
        title = label(tr("Spoken before"), "heading")
        title.setContentsMargins(GRID * 2, GRID // 2, GRID, 0)
        side.addStrut(200)
        side.addWidget(title)
        side.addWidget(self.list, 1)
        self.outer = QSplitter(Qt.Orientation.Horizontal)
        self.outer.setHandleWidth(1)
        self.outer.setChildrenCollapsible(False)
        left.setMaximumWidth(400)
        self.outer.addWidget(left)
        self.outer.addWidget(middle)
        self.outer.setStretchFactor(1, 1)
        self.outer.setSizes([*self.desk.preferences.get("speak.list", [264, 900])])
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.outer)

    def _connect(self) -> None:
        studio, prefs = self.studio, self.desk.preferences
        studio.listed.connect(self._show)
        studio.shown.connect(self._show)
        studio.changed.connect(lambda take: self._show_state())
        studio.voiced.connect(self._fill_voices)
        self.list.chosen.connect(studio.choose)
        self.list.menu_wanted.connect(self.deeds.menu)
        self.model_box.listed.connect(self._read_model)
        self.model_box.picked.connect(lambda _: self._read_model())
        self.voice.activated.connect(lambda _: prefs.put("speak.voice", self.voice.currentData()))
        self.voice.activated.connect(lambda _: self._chosen())
        self.language.activated.connect(lambda _: prefs.put("speak.language", self.language.currentData()))
        self.language.activated.connect(lambda _: self._chosen())
        self.instructions.textChanged.connect(lambda _: self._show_state())
        self.instructions.editingFinished.connect(self._chosen)
        self.text.textChanged.connect(self._typed)
        for level in (self.pitch, self.pace):
            level.activated.connect(lambda _: self._chosen())
        self.voice_panel.made.connect(self._voice_made)
        self.voice_panel.left.connect(self.voice_panel.hide)
        self.outer.splitterMoved.connect(lambda *_: prefs.put("speak.list", self.outer.sizes()))
        self.desk.wiped.connect(self._begin_anew)
        self.desk.reread.connect(studio.look)

    # -- the pane

    def entered(self) -> None:
        self.text.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        """A text to be spoken; where a voice is being made, its recording."""
        if files and self.voice_panel.isVisible():
            self.voice_panel.take(files[0])
        elif files:
            self.deeds.open(files[0])

    def stop(self) -> bool:
        stopped = self.studio.stop()
        hushed = self.player.hush()
        return stopped or hushed

    def leaving(self) -> None:
        self.studio.stop()
        self.player.hush()

    def _begin_anew(self) -> None:
        """Everything was deleted."""
        self.player.hush()
        self.studio.forget()
        self.voice_panel.leave()
        self.text.clear()
        self.instructions.clear()

    def dragEnterEvent(self, event: Any) -> None:
        if from_outside(event):
            event.acceptProposedAction()

    def dropEvent(self, event: Any) -> None:
        self.take([Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()

    # -- what is spoken

    def choice(self) -> Choice:
        """What is not offered is not chosen, whatever another model was asked for."""
        kind, _, name = str(self.voice.currentData() or "").partition(":")
        saved = name if kind == "saved" else ""
        levels = self.offer.levels and not saved
        return Choice(
            self.model_box.name,
            name if kind == "preset" else "",
            saved,
            self.language.currentData() or "auto",
            self.instructions.text() if self.offer.words != "no" else "",
            self.markdown,
            self.pitch.level if levels else "",
            self.pace.level if levels else "",
        )

    def speak(self) -> None:
        if self.studio.busy:
            self.studio.stop()
        elif self.model_box.advice:
            self.model_box.get_one()
        elif self.model_box.name and self.offer is UNKNOWN:
            self._asked = True
        elif (
            not self.offer.problem(self.choice()) and self.studio.speak(self.text.toPlainText(), self.choice()) is None
        ):
            self.text.setFocus()

    # -- what is shown

    def _typed(self) -> None:
        text = self.text.toPlainText()
        self.markdown = self.markdown and bool(text)
        self.desk.store.ask(lambda db: kept.keep_draft(db, _PLACE, text))
        self._show_state()

    def _voice_made(self, name: str) -> None:
        self.voice_panel.hide()
        self.desk.preferences.put("speak.voice", f"saved:{name}")
        self._fill_voices()
        self.desk.say(tr("The voice {name} is saved.", name=name), level="ok")

    def _read_model(self) -> None:
        """What it lets a person choose."""
        name, self.offer = self.model_box.name, UNKNOWN

        def got(offer: Offer) -> None:
            if name != self.model_box.name:
                return  # another one was chosen meanwhile
            self.offer = offer
            self.language.clear()
            self.language.addItem(tr("Any language"), "auto")
            for language in offer.languages:
                self.language.addItem(language.capitalize(), language)
            self.language.setCurrentIndex(
                max(0, self.language.findData(self.desk.preferences.get("speak.language", "auto")))
            )
            self.instructions.setPlaceholderText(offer.asks)
            self._fill_voices()
            asked, self._asked = self._asked, False
            if asked:
                self.speak()

        def failed(sentence: str) -> None:
            self.offer, self._asked = Offer(), False
            self.desk.say(sentence, level="error")

        self.desk.core.use(lambda service: offered(service.catalogue, name), got, failed)

    def _fill_voices(self) -> None:
        self.voice.clear()
        for name in self.offer.presets:
            self.voice.addItem(tr(NAMED.get(name, name.replace("_", " ").title())), f"preset:{name}")
        for saved in self.studio.saved:
            self.voice.addItem(saved.name, f"saved:{saved.name}")
        if not self.voice.count():
            self.voice.addItem(tr("No voice yet"), "")
        wanted = self.desk.preferences.get("speak.voice", "")
        self.voice.setCurrentIndex(max(0, self.voice.findData(wanted)))
        self._chosen()

    def _chosen(self) -> None:
        """It holds for Talk as well."""
        if self.model_box.name and self.offer is not UNKNOWN:
            self.desk.preferences.put("speak.choice", to_kept(self.choice()))
        self._show_state()

    def _show(self) -> None:
        self.list.reset_items(self.studio.current)
        self._show_state()

    def _show_state(self) -> None:
        studio, actions = self.studio, self.desk.actions
        text, choice = self.text.toPlainText(), self.choice()
        problem = self.offer.problem(choice) if self.model_box.name else ""
        words = len(text.split())
        self.figures.setText(trn("{n} word", "{n} words", words) if words else "")
        nobody = bool(self.model_box.advice)  # is there who could speak
        self.go.setText(tr("Stop") if studio.busy else tr("Get a model") if nobody else tr("Speak"))
        self.go.setAccessibleName(self.go.text())
        self.go.setEnabled(studio.busy or nobody or (bool(text.strip()) and not problem))
        self._show_status(problem)
        self._show_offer(choice)
        take, saved = studio.current, bool(choice.saved)
        for name, ready in (
            ("stop", studio.busy), ("save", take is not None and take.state in ("done", "stopped")),
            ("sample", saved), ("drop", saved), ("remove", take is not None), ("text", take is not None),
        ):  # fmt: skip
            actions[f"speak.{name}"].setEnabled(ready)
        self.list.refresh()

    def _show_status(self, problem: str) -> None:
        """What is wrong with the choice, else with the last take, else how far the voice is."""
        take = self.studio.current
        failed = take is not None and take.failed and not problem
        speaks = take is not None and take.state == "speaking"
        told = take.status() if take is not None and speaks else problem or (take.error if take and failed else "")
        self.status.setText(told or self.model_box.advice)
        self.status.setVisible(bool(self.status.text()))
        restate(self.status, level="" if speaks else "warning" if problem else "error" if failed else "")

    def _show_offer(self, choice: Choice) -> None:
        """Only what the model takes."""
        offer, note = self.offer, self.offer.note(choice)
        for level in (self.pitch, self.pace):
            level.setVisible(offer.levels)
            level.setEnabled(not choice.saved)
        self.instructions.setVisible(offer.words != "no")
        self.note.setVisible(offer.words == "no")
        self.note.setText(note)
