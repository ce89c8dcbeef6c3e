"""The Speak pane: what was spoken on the left; the text, the voice, and the player."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec, wear
from app.gui.dialogs import choose_files, choose_target
from app.gui.flow import FlowRow
from app.gui.look import restate
from app.gui.pane import AppContext, Pane
from app.gui.results import ResultsPane
from app.gui.sound import devices
from app.gui.sound.player import Player
from app.gui.speak.book_panel import BOOKS, BookPanel
from app.gui.speak.pronunciation_panel import PREFERENCE, PronunciationPanel
from app.gui.store import records
from app.gui.texts import mark, seconds, tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.speak import (
    DEFAULT_LEVEL,
    ENDINGS,
    NAMED,
    PACES,
    PITCHES,
    SpeakResults,
    SpeakSettings,
    SpeechTake,
    text_of,
    to_kept,
)
from app.gui.viewmodels.speak_book import BookWork
from app.gui.viewmodels.speak_options import UNKNOWN, SpeakOptions, offered
from app.gui.widgets import ElidedBox, icon_button, label, text_button
from engine.errors import BackendUnavailable

_PLACE = "speak"  # of the draft
_NARROW = 80  # pixels that a box keeps in a small window


ACTIONS = (
    ActionSpec("speak", mark("Speak the text"), "Ctrl+Return", "speak", lambda pane: pane.speak()),
    ActionSpec("stop", mark("Stop speaking"), "Ctrl+Shift+X", "stop", lambda pane: pane.results.stop()),
    ActionSpec("open", mark("Open text"), "Ctrl+O", "file", lambda pane: pane.choose()),
    ActionSpec("book", mark("Make an audiobook"), "Ctrl+Shift+O", "libraries", lambda pane: pane.choose_book()),
    ActionSpec("resume", mark("Resume the audiobook"), "Ctrl+R", "continue", lambda pane: pane.on_current(pane.resume)),
    ActionSpec("show", mark("Show in folder"), "Ctrl+Shift+F", "folder", lambda pane: pane.on_current(pane.show_folder)),
    ActionSpec("play", mark("Play or pause"), "Ctrl+Space", "play", lambda pane: pane.player.toggle()),
    ActionSpec("save", mark("Save audio"), "Ctrl+S", "save", lambda pane: pane.on_current(pane.save)),
    ActionSpec("words", mark("Pronunciations"), "Ctrl+L", "list", lambda pane: pane.words_panel.toggle()),
    ActionSpec("voice", mark("New voice"), "Ctrl+N", "plus", lambda pane: pane.new_voice()),
    ActionSpec("sample", mark("Play the voice sample"), "Ctrl+Shift+P", "sound", lambda pane: pane.play_sample()),
    ActionSpec("drop", mark("Delete the voice"), "Ctrl+Shift+D", "trash", lambda pane: pane.drop_voice()),
    ActionSpec("text", mark("Reuse the text"), "Ctrl+E", "edit", lambda pane: pane.on_current(pane.take_text)),
    ActionSpec("remove", mark("Remove from the list"), "Ctrl+Shift+Backspace", "trash",
               lambda pane: pane.on_current(pane.results.remove)),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return SpeakPane(context)


class LevelBox(QComboBox):
    """`level` is empty for the default."""

    def __init__(self, name: str, levels: Sequence[str]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setMinimumWidth(80)
        for level in levels:
            self.addItem(tr("{name}: {level}", name=name, level=tr(level)), "" if level == DEFAULT_LEVEL else level)
        self.setCurrentIndex(self.findData(""))

    @property
    def level(self) -> str:
        return str(self.currentData())


class SpeakPane(ResultsPane[SpeechTake]):
    results: SpeakResults

    def __init__(self, context: AppContext) -> None:
        results = SpeakResults(context.store, context.core, context.work, context.say, context.places.data)
        super().__init__(context, "speak", results, tr("History"))
        self.player = Player(context, results.playback)
        self.voice_panel = VoicePanel(context, results, lambda: self.model_box.name)
        self.book_panel = BookPanel(context)
        self.words_panel = PronunciationPanel(context.preferences)
        self.options = UNKNOWN  # of the chosen model, once its files were looked at
        self._asked = False  # to speak, before they were
        self.markdown = False  # the text is
        context.actions.add_table(self, "speak", tr("Speak"), ACTIONS)
        self._build()
        self._connect()
        results.look()
        context.store.ask(lambda db: records.draft(db, _PLACE), lambda draft: self.text.setPlainText(draft.text))
        self._show()

    def _build(self) -> None:
        actions = self.context.actions
        self.text = QPlainTextEdit()
        self.text.setPlaceholderText(tr("Write, or drop a document"))
        self.text.setAccessibleName(tr("Text to speak"))
        self.text.setTabChangesFocus(True)
        self.text.setAcceptDrops(False)  # the pane takes files
        self.voice = ElidedBox()
        self.voice.setAccessibleName(tr("Voice"))
        self.voice.setToolTip(tr("Voice"))
        self.voice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.voice.setMinimumWidth(_NARROW)
        self.context.look.limit_width(self.voice, 240)  # a saved voice may have any name
        self.language = QComboBox()
        self.language.setAccessibleName(tr("Language"))
        self.language.setToolTip(tr("Language"))
        self.language.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.language.setMinimumWidth(_NARROW)
        self.language.addItem(tr("Detect language"), "auto")
        self.pitch, self.pace = LevelBox(tr("Pitch"), PITCHES), LevelBox(tr("Pace"), PACES)
        self.instructions = QLineEdit()
        self.instructions.setAccessibleName(tr("Instructions"))
        self.note = label(kind="second", wrap=True)
        self.go = text_button(tr("Speak"), self.speak, kind="main")
        self.go.setToolTip(actions["speak.speak"].toolTip())
        self.figures = label(kind="second")
        self.status = label(kind="second", wrap=True)
        self.resume_button = text_button(tr("Resume"), lambda: self.on_current(self.resume))
        head = FlowRow(GRID // 2)
        for part in (self.model_box, self.voice):
            head.addWidget(part)
        for name in ("sample", "voice", "drop"):
            wear(button := icon_button(self.context.look, "", "", size=16), actions[f"speak.{name}"])
            head.addWidget(button)
        head.addWidget(self.language)
        head.begin_right()
        for name in ("open", "words", "book", "save"):
            wear(button := icon_button(self.context.look, "", ""), actions[f"speak.{name}"])
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
        column.addWidget(self.words_panel)
        column.addWidget(self.book_panel, 1)
        column.addWidget(self.text, 1)
        column.addLayout(below)
        progress = QHBoxLayout()
        progress.addWidget(self.status, 1)
        progress.addWidget(self.resume_button)
        column.addLayout(progress)
        column.addWidget(self.player)
        self.voice_panel.hide()
        self.book_panel.hide()
        self.words_panel.hide()
        tools = QHBoxLayout()
        tools.setContentsMargins(GRID * 2, GRID, GRID, 0)
        tools.addWidget(label(tr("History"), "heading"))
        self.lay_out(tools, middle)

    def _connect(self) -> None:
        self.connect_results()
        studio, prefs = self.results, self.context.preferences
        studio.changed.connect(lambda take: self._show_state())
        studio.voiced.connect(self._fill_voices)
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
        self.book_panel.left.connect(lambda: self._show_book(False))
        self.book_panel.chosen.connect(self.make_book)

    # -- the pane

    def entered(self) -> None:
        self.text.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        """A text to be spoken; where a voice is being made, its recording."""
        if files and self.voice_panel.isVisible():
            self.voice_panel.take(files[0])
        elif files and files[0].suffix.lower() == ".epub":
            self.open_book(files[0])
        elif files:
            self.open(files[0])

    def stop(self) -> bool:
        stopped = self.results.stop()
        silenced = self.player.silence()
        return stopped or silenced

    def leaving(self) -> None:
        self.results.stop()
        self.player.silence()

    def reset(self) -> None:
        self.player.silence()
        super().reset()
        self.voice_panel.leave()
        self._show_book(False)
        self.text.clear()
        self.instructions.clear()

    def offer(self, take: SpeechTake) -> tuple[str, Any] | None:
        return self.results.as_file(take)

    # -- what is spoken

    def choice(self) -> SpeakSettings:
        """What is not offered is not chosen, whatever another model was asked for."""
        kind, _, name = str(self.voice.currentData() or "").partition(":")
        saved = name if kind == "saved" else ""
        levels = self.options.levels and not saved
        return SpeakSettings(
            self.model_box.name,
            name if kind == "preset" else "",
            saved,
            self.language.currentData() or "auto",
            self.instructions.text() if self.options.words != "no" else "",
            self.markdown,
            self.pitch.level if levels else "",
            self.pace.level if levels else "",
            str(self.context.preferences.get(PREFERENCE, "")),
        )

    def speak(self) -> None:
        if self.results.busy:
            self.results.stop()
        elif self.model_box.advice:
            self.model_box.get_one()
        elif self.model_box.name and self.options is UNKNOWN:
            self._asked = True
        elif (
            not self.options.problem(self.choice())
            and self.results.speak(self.text.toPlainText(), self.choice()) is None
        ):
            self.text.setFocus()

    # -- what is shown

    def _typed(self) -> None:
        text = self.text.toPlainText()
        self.markdown = self.markdown and bool(text)
        self.context.store.ask(lambda db: records.keep_draft(db, _PLACE, text))
        self._show_state()

    def _voice_made(self, name: str) -> None:
        self.voice_panel.hide()
        self.context.preferences.put("speak.voice", f"saved:{name}")
        self._fill_voices()
        self.context.say(tr("The voice {name} is saved.", name=name), level="ok")

    def _read_model(self) -> None:
        """What it lets a person choose."""
        name, self.options = self.model_box.name, UNKNOWN

        def got(offer: SpeakOptions) -> None:
            if name != self.model_box.name:
                return  # another one was chosen meanwhile
            self.options = offer
            self.language.clear()
            self.language.addItem(tr("Detect language"), "auto")
            for language in offer.languages:
                self.language.addItem(language.capitalize(), language)
            self.language.setCurrentIndex(
                max(0, self.language.findData(self.context.preferences.get("speak.language", "auto")))
            )
            self.instructions.setPlaceholderText(offer.asks)
            self._fill_voices()
            asked, self._asked = self._asked, False
            if asked:
                self.speak()

        def failed(sentence: str) -> None:
            self.options, self._asked = SpeakOptions(), False
            self.context.say(sentence, level="error")

        self.context.core.use(lambda service: offered(service.catalogue, name), got, failed)

    def _fill_voices(self) -> None:
        self.voice.clear()
        if self.options.own_voice:
            self.voice.addItem(tr("Default"), "")
        for name in self.options.presets:
            self.voice.addItem(tr(NAMED.get(name, name.replace("_", " ").title())), f"preset:{name}")
        for saved in self.results.saved:
            self.voice.addItem(saved.name, f"saved:{saved.name}")
        if not self.voice.count():
            self.voice.addItem(tr("No voice yet"), "")
        wanted = self.context.preferences.get("speak.voice", "")
        self.voice.setCurrentIndex(max(0, self.voice.findData(wanted)))
        self._chosen()

    def _chosen(self) -> None:
        """It holds for Talk as well."""
        if self.model_box.name and self.options is not UNKNOWN:
            self.context.preferences.put("speak.choice", to_kept(self.choice()))
        self._show_state()

    def _show(self) -> None:
        self.list.show_current(self.results.current)
        self._show_state()

    def _show_state(self) -> None:
        studio = self.results
        text, choice = self.text.toPlainText(), self.choice()
        problem = self.options.problem(choice) if self.model_box.name else ""
        words = len(text.split())
        self.figures.setText(trn("{n} word", "{n} words", words) if words else "")
        nobody = bool(self.model_box.advice)  # no speech model
        self.go.setText(tr("Stop") if studio.busy else tr("Get a model") if nobody else tr("Speak"))
        self.go.setAccessibleName(self.go.text())
        self.go.setEnabled(studio.busy or nobody or (bool(text.strip()) and not problem))
        self._show_status(problem)
        self._show_offer(choice)
        take, saved = studio.current, bool(choice.saved)
        spoken = take is not None and take.book is None
        resumable = take is not None and take.resumable and not studio.busy
        self.enable(
            stop=studio.busy, save=take is not None and spoken and take.state in ("done", "stopped"), sample=saved,
            drop=saved, remove=take is not None, text=spoken, play=spoken or take is None, resume=resumable,
            show=take is not None and take.book is not None and take.state == "done",
        )  # fmt: skip
        self.resume_button.setVisible(resumable)

    def _show_status(self, problem: str) -> None:
        """What is wrong with the choice, else with the last take, else how far the voice is."""
        take = self.results.current
        failed = take is not None and take.failed and not problem
        speaks = take is not None and take.state == "speaking"
        sentence = take.status() if take is not None and speaks else problem or (take.error if take and failed else "")
        self.status.setText(sentence or self.model_box.advice)
        self.status.setVisible(bool(self.status.text()))
        restate(self.status, level="" if speaks else "warning" if problem else "error" if failed else "")

    def _show_offer(self, choice: SpeakSettings) -> None:
        """Only what the model takes."""
        offer, note = self.options, self.options.note(choice)
        for level in (self.pitch, self.pace):
            level.setVisible(offer.levels)
            level.setEnabled(not choice.saved)
        self.instructions.setVisible(offer.words != "no")
        self.note.setVisible(offer.words == "no")
        self.note.setText(note)

    # -- the actions

    def menu(self, take: SpeechTake, where: Any) -> None:
        self.results.choose(take)
        menu = QMenu(self)
        for name in ("play", "text", "save", "remove") if take.book is None else ("resume", "show", "remove"):
            menu.addAction(self.context.actions[f"speak.{name}"])
        menu.popup(where)

    # -- texts

    def choose(self) -> None:
        endings = " ".join("*" + ending for ending in ENDINGS)
        choose_files(self, tr("Open text"), lambda files: self.open(files[0]), f"{tr('Texts')} ({endings})", many=False)

    def open(self, file: Path) -> None:
        def here(text: str) -> None:
            self.text.setPlainText(text)
            self.markdown = file.suffix.lower() == ".md"

        self.context.work.run(lambda: text_of(file), here, self.context.show_error)

    # -- audiobooks

    def choose_book(self) -> None:
        endings = " ".join("*" + ending for ending in BOOKS)
        choose_files(
            self,
            tr("Make an audiobook"),
            lambda files: self.open_book(files[0]),
            f"{tr('Texts')} ({endings})",
            many=False,
        )

    def open_book(self, file: Path) -> None:
        """Its chapters are listed, to be chosen."""
        self.book_panel.open(file, lambda: self._show_book(True))

    def make_book(self, title: str, work: BookWork) -> None:
        if self.model_box.advice:
            self.model_box.get_one()
        elif problem := self.options.problem(self.choice()):
            self.context.say(problem, level="warning")
        elif self.results.make_book(title, work, self.choice()) is None:
            self.context.say(tr("Something is being spoken. Wait for it, or stop it."), level="warning")
        else:
            self._show_book(False)

    def resume(self, take: SpeechTake) -> None:
        self.results.resume(take)

    def show_folder(self, take: SpeechTake) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(take.file.parent)))

    def _show_book(self, shown: bool) -> None:
        """The panel takes the place of the text."""
        self.book_panel.setVisible(shown)
        for part in (self.text, self.go, self.figures):
            part.setVisible(not shown)
        (self.book_panel.chapters if shown else self.text).setFocus()

    def take_text(self, take: SpeechTake) -> None:
        """To be spoken again, differently."""
        self.text.setPlainText(take.text)
        self.instructions.setText(take.choice.instructions)
        self.text.setFocus()

    # -- sounds

    def save(self, take: SpeechTake) -> None:
        from engine.media.sound import FORMATS

        kinds = {kind: f"{'Opus' if kind == 'opus' else kind.upper()} (*.{kind})" for kind in FORMATS}
        choose_target(self, tr("Save audio"), lambda file: self.write(take, file), kinds, kind="wav")

    def write(self, take: SpeechTake, file: Path) -> None:
        self.context.save(lambda: self.results.save(take, file))

    # -- voices

    def new_voice(self) -> None:
        if self.model_box.name and not self.options.clones:
            self.context.say(
                tr(
                    "This model does not support voice cloning. Choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS."
                ),
                level="warning",
            )
            return
        self.voice_panel.show()
        self.voice_panel.name.setFocus()

    def play_sample(self) -> None:
        if saved := self.choice().saved:
            self.results.play_sample(saved)

    def drop_voice(self) -> None:
        if saved := self.choice().saved:
            self.results.drop_voice(saved)


# -- the form for a new voice: a name, a recording from a file or the microphone, and its transcript


class VoicePanel(QWidget):
    """`made(name)`: a voice was saved. `left`: the person changed their mind."""

    made = Signal(str)
    left = Signal()

    def __init__(self, context: AppContext, studio: SpeakResults, model: Any) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._studio, self._model = context, studio, model
        self.microphone: Any = None
        self._recorded: list[np.ndarray] = []
        self._file: Path | None = None
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Name of the voice"))
        self.name.setAccessibleName(tr("Name of the voice"))
        self.transcript = QLineEdit()
        self.transcript.setPlaceholderText(tr("Transcript of the recording, for a closer voice"))
        self.transcript.setAccessibleName(tr("Transcript of the recording"))
        self.file = text_button(tr("Choose a file"), self.choose)
        self.record = text_button(tr("Record"), self.toggle)
        self.note = label(tr("3 to 15 seconds of one voice are best."), "second", wrap=True)
        self.save = text_button(tr("Save the voice"), self.keep, kind="main")
        cancel = text_button(tr("Cancel"), self.leave)
        source = QHBoxLayout()
        source.addWidget(self.file)
        source.addWidget(self.record)
        source.addWidget(self.note, 1)
        ends = QHBoxLayout()
        ends.addStretch(1)
        ends.addWidget(cancel)
        ends.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        column.setSpacing(GRID)
        for row in (self.name, source, self.transcript, ends):
            column.addWidget(row) if isinstance(row, QWidget) else column.addLayout(row)
        self._show()

    def choose(self) -> None:
        choose_files(self, tr("Choose a file"), lambda files: self.take(files[0]), many=False)

    def take(self, file: Path) -> None:
        """A recording that was chosen or dropped."""
        self._file, self._recorded = file, []
        self._show_note(file.name)

    def toggle(self) -> None:
        if self.microphone is not None:
            self._end()
            return
        try:
            self.microphone = devices.Microphone(self._receive, self, self._lost)
        except BackendUnavailable as error:
            self._show_note(str(error), "error")
            return
        self._file, self._recorded = None, []
        self.record.setText(tr("Stop recording"))

    def keep(self) -> None:
        self._end()
        sound: Any = (
            self._file if self._file is not None else np.concatenate(self._recorded) if self._recorded else None
        )
        if sound is None or not self.name.text().strip():
            self._show_note(tr("A voice needs a name and a recording."), "error")
            return
        self.save.setEnabled(False)
        self._show_note(tr("Analyzing the recording."))
        self._studio.clone(self.name.text(), sound, self.transcript.text(), self._model(), self._saved, self._failed)

    def leave(self) -> None:
        self._end()
        self._clear()
        self.left.emit()

    def _saved(self, name: str) -> None:
        self._clear()
        self.made.emit(name)

    def _failed(self, sentence: str) -> None:
        self._show()
        self._show_note(sentence, "error")

    def _clear(self) -> None:
        self._file, self._recorded = None, []
        self.name.clear()
        self.transcript.clear()
        self._show_note(tr("3 to 15 seconds of one voice are best."))
        self._show()

    def _receive(self, samples: np.ndarray) -> None:
        self._recorded.append(samples)
        self._show_note(tr("Recording: {time}", time=seconds(sum(map(len, self._recorded)) / devices.ASR_RATE)))

    def _end(self) -> None:
        if self.microphone is not None:
            self.microphone.stop()
            self.microphone = None
            self.record.setText(tr("Record"))

    def _lost(self, sentence: str) -> None:
        self._end()
        self._show_note(sentence, "error")

    def _show_note(self, sentence: str, level: str = "") -> None:
        self.note.setText(sentence)
        restate(self.note, level=level)

    def _show(self) -> None:
        self.save.setEnabled(True)
