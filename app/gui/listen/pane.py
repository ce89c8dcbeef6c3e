"""The Listen pane: recordings on the left; the waveform and the transcript, segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QMenu,
    QStackedWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec, wear
from app.gui.dialogs import choose_files, choose_target
from app.gui.flow import FlowRow
from app.gui.listen.replace_bar import ReplaceBar
from app.gui.listen.segment_table import SPEAKER, TEXT, TIME, SegmentTable
from app.gui.listen.speakers import SpeakerBox, SpeakerMenu, remember, speaker_colors
from app.gui.look import restate
from app.gui.pane import AppContext, Pane
from app.gui.results import ResultsPane
from app.gui.sound import devices
from app.gui.sound.player import Player, clock
from app.gui.texts import mark, tr
from app.gui.theme import GRID
from app.gui.viewmodels.listen import FORMATS, RATE, SOUNDS, ListenRecording, ListenResults
from app.gui.viewmodels.transcript_edits import word_at
from app.gui.widgets import EmptyState, icon_button, label, text_button
from engine.errors import BackendUnavailable
from engine.pipelines.listening.transcript import write

_NOTHING = np.zeros(0, np.float32)
_NAMES = {
    "txt": "Text (*.txt)",
    "srt": "SubRip (*.srt)",
    "vtt": "WebVTT (*.vtt)",
    "json": "JSON (*.json)",
    "md": "Markdown (*.md)",
}

ACTIONS = (
    ActionSpec("add", mark("Add audio files"), "Ctrl+O", "plus", lambda pane: pane.choose()),
    ActionSpec("live", mark("Record from the microphone"), "Ctrl+Shift+R", "mic", lambda pane: pane.toggle_live()),
    ActionSpec("again", mark("Transcribe again"), "Ctrl+R", "retry", lambda pane: pane.on_current(pane.results.again)),
    ActionSpec("cancel", mark("Stop transcribing"), "Ctrl+Shift+X", "stop", lambda pane: pane.on_current(pane.results.cancel)),
    ActionSpec("copy", mark("Copy the text"), "Ctrl+Shift+C", "copy", lambda pane: pane.copy()),
    ActionSpec("export", mark("Export"), "Ctrl+S", "save", lambda pane: pane.on_current(pane.export)),
    ActionSpec("play", mark("Play or pause"), "Ctrl+Space", "play", lambda pane: pane.player.toggle()),
    ActionSpec("segment", mark("Play segment"), "Ctrl+Return", "", lambda pane: pane.play_segment()),
    ActionSpec("merge", mark("Merge with the next segment"), "Ctrl+J", "", lambda pane: pane.merge()),
    ActionSpec("find", mark("Find and replace"), "Ctrl+F", "search", lambda pane: pane.bar.open()),
    ActionSpec("undo", mark("Undo"), "Ctrl+Z", "", lambda pane: pane.moved(pane.results.undo)),
    ActionSpec("redo", mark("Redo"), "Ctrl+Shift+Z", "", lambda pane: pane.moved(pane.results.redo)),
    ActionSpec("remove", mark("Remove from the list"), "Ctrl+Shift+Backspace", "trash",
               lambda pane: pane.on_current(pane.results.remove)),
    ActionSpec("above", mark("Previous recording"), "Ctrl+PgUp", "", lambda pane: pane.results.step(-1)),
    ActionSpec("below", mark("Next recording"), "Ctrl+PgDown", "", lambda pane: pane.results.step(1)),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return ListenPane(context)


class ListenPane(ResultsPane[ListenRecording]):
    results: ListenResults

    def __init__(self, context: AppContext) -> None:
        results = ListenResults(context.store, context.core, context.say, context.places.data / "recordings")
        super().__init__(context, "listen", results, tr("Recordings"))
        self.player = Player(context)
        self.empty = EmptyState(context.look, "listen", tr("Transcribe speech"), "")
        self.microphone: Any = None
        self._sounding: ListenRecording | None = None  # whose sound the player has
        self._showing = False
        context.actions.add_table(self, "listen", tr("Listen"), ACTIONS)
        self._build()
        self._connect()
        results.look()
        self._show()

    def _build(self) -> None:
        actions = self.context.actions
        self.speaker_box = SpeakerBox(self.context, self.model_box)
        self.results.speakers = self.speaker_box.isChecked()
        self.add = text_button(tr("Add files"), self.choose)
        self.add.setToolTip(actions["listen.add"].toolTip())
        self.record = icon_button(self.context.look, "mic", "")
        wear(self.record, actions["listen.live"])
        tools = FlowRow(GRID)
        tools.setContentsMargins(GRID * 2, GRID, GRID, 0)
        tools.addWidget(self.add)
        tools.begin_right()
        tools.addWidget(self.record)
        head = FlowRow(GRID)
        head.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        head.addWidget(self.model_box)
        head.addWidget(self.speaker_box)
        head.begin_right()
        self.status = label(kind="second", wrap=True)
        self.status.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        self.status.hide()
        self.end = text_button(tr("Stop"), lambda: self.on_current(self._end), kind="main")
        head.addWidget(self.end)
        for name in ("again", "find", "copy", "export"):
            wear(button := icon_button(self.context.look, "", ""), actions[f"listen.{name}"])
            head.addWidget(button)
        self.table = SegmentTable()
        self.bar = ReplaceBar(self.context.look, self.results, lambda row: self.table.setCurrentCell(row, TEXT))
        self.caption = label(wrap=True)  # the caption of current speech
        self.caption.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        document = QWidget()
        inside = QVBoxLayout(document)
        inside.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        inside.setSpacing(GRID)
        inside.addWidget(self.player)
        inside.addWidget(self.bar)
        inside.addWidget(self.table, 1)
        inside.addWidget(self.caption)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(document)
        middle = QWidget()
        main = QVBoxLayout(middle)
        main.setContentsMargins(0, 0, 0, 0)
        main.setSpacing(0)
        main.addLayout(head)
        main.addWidget(self.status)
        main.addWidget(self.stack, 1)
        self.lay_out(tools, middle)

    def _connect(self) -> None:
        self.connect_results()
        listening = self.results
        listening.changed.connect(self._changed)
        listening.segments_changed.connect(self._segments_changed)
        listening.sounded.connect(self._sounded)
        self.model_box.picked.connect(lambda name: setattr(listening, "model", name))
        self.model_box.listed.connect(self._show_empty)
        self.table.word_clicked.connect(self.play_from)
        self.table.doubleClicked.connect(lambda index: self.player.silence() if index.column() == TEXT else None)
        self.table.split_asked.connect(self.part)
        self.table.speaker_clicked.connect(self.correct_speaker)
        self.speaker_box.chosen.connect(lambda on: setattr(listening, "speakers", on))
        self.context.look.on_change(self.table, self._colour)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._row_menu)
        self.table.currentCellChanged.connect(lambda row, *_: self._mark(row))
        self.table.itemChanged.connect(self._edited)
        self.player.wave.sought.connect(self._sought)

    # -- the pane

    def entered(self) -> None:
        self.list.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        sounds = [file for file in files if file.suffix.lower() in SOUNDS]
        if others := [file.name for file in files if file not in sounds]:
            self.context.say(
                tr("{names}: unsupported format. Supported: WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF.",
                   names=", ".join(others)), level="warning"
            )  # fmt: skip
        self.results.add(sounds)

    def stop(self) -> bool:
        if self.bar.shut():
            return True
        self._end_microphone()
        return any([self.player.silence(), self.results.stop()])

    def leaving(self) -> None:
        self._end_microphone()
        self.player.silence()

    def reset(self) -> None:
        self.leaving()
        super().reset()
        self.player.playback.show(_NOTHING, RATE)
        self._sounding = None
        self.table.setRowCount(0)
        self.caption.clear()

    # -- what the actions do

    def choose(self) -> None:
        endings = " ".join("*" + ending for ending in SOUNDS)
        choose_files(self, tr("Add audio files"), self.take, f"{tr('Audio')} ({endings})")

    def toggle_live(self) -> None:
        """Begin to listen to the microphone, or end it."""
        if self.results.live is not None:
            self._end(self.results.live)
            return
        try:
            self.microphone = devices.Microphone(self.results.feed_live, self, self._lost)
        except BackendUnavailable as error:
            self.context.say(str(error), level="error")
            return
        self.results.begin_live()

    def _end(self, item: ListenRecording) -> None:
        if item.state == "live":
            self._end_microphone()
        self.results.cancel(item)

    def _end_microphone(self) -> None:
        if self.microphone is not None:
            self.microphone.stop()
            self.microphone = None
            self.results.end_live()

    def _lost(self, sentence: str) -> None:
        """The microphone was disconnected: what was recorded is transcribed to its end."""
        self._end_microphone()
        self.context.say(sentence, level="error")

    def copy(self) -> None:
        item = self.results.current
        if item is not None and item.segments:
            self.context.copy(write(item.transcript, "txt").rstrip("\n"))

    def menu(self, item: ListenRecording, where: Any) -> None:
        self.results.choose(item)
        menu, actions = QMenu(self), self.context.actions
        for name in ("copy", "again", "cancel"):
            menu.addAction(actions[f"listen.{name}"])
        out = menu.addMenu(tr("Export as"))
        for kind in FORMATS:
            out.addAction(_NAMES[kind], partial(self.export, item, kind))
        menu.addSeparator()
        menu.addAction(actions["listen.remove"])
        menu.popup(where)

    def offer(self, item: ListenRecording) -> tuple[str, Any] | None:
        """As the format that was exported last."""
        return self.results.as_file(item, str(self.context.preferences.get("listen.format", "txt")))

    def export(self, item: ListenRecording, format: str = "") -> None:
        kinds = {format: _NAMES[format]} if format else {kind: _NAMES[kind] for kind in FORMATS}
        choose_target(
            self, tr("Export"), lambda file: self.write(item, file), kinds, Path(item.title).stem, format or "txt"
        )

    def write(self, item: ListenRecording, file: Path) -> None:
        format = file.suffix.lstrip(".").lower()
        if format in FORMATS:
            self.context.preferences.put("listen.format", format)
        self.context.save(lambda: self.results.export(item, format, file))

    def play_segment(self, row: int = -1) -> None:
        item, row = self.results.current, row if row >= 0 else self.table.currentRow()
        if item is not None and 0 <= row < len(item.segments) and self._sounding is item:
            self.player.playback.play(item.segments[row].start, item.segments[row].end)

    def play_from(self, row: int, position: int) -> None:
        """From the word at a position of the segment's text to the segment's end."""
        item = self.results.current
        if item is not None and 0 <= row < len(item.segments) and self._sounding is item:
            segment = item.segments[row]
            word = word_at(segment, position)
            if word is not None or position == 0:
                self.player.playback.play(segment.start if position == 0 or word is None else word.start, segment.end)

    def merge(self, row: int = -1) -> None:
        item, row = self.results.current, row if row >= 0 else self.table.currentRow()
        if item is not None and self.results.merge(item, row):
            self.table.setCurrentCell(row, TEXT)

    def part(self, row: int, position: int) -> None:
        item = self.results.current
        if item is not None and self.results.part(item, row, position):
            self.table.setCurrentCell(row + 1, TEXT)

    def correct_speaker(self, row: int) -> None:
        """A menu below the name: another speaker, or another name of this one."""
        item = self.results.current
        if item is None or not 0 <= row < len(item.segments):
            return
        menu = SpeakerMenu(self, self.context, item.segments, row)
        menu.assigned.connect(lambda name: self.results.assign(item, row, name))
        menu.renamed.connect(lambda name: self.rename_speaker(item, row, name))
        menu.name_asked.connect(lambda: self.table.edit_speaker(row))
        box = self.table.visualRect(self.table.model().index(row, SPEAKER))
        menu.popup(self.table.viewport().mapToGlobal(box.bottomLeft()))

    def rename_speaker(self, item: ListenRecording, row: int, name: str) -> None:
        name = " ".join(name.split())
        if self.results.rename(item, item.segments[row].speaker, name):
            remember(self.context, name)
        else:
            self._fill(item)  # the name as it was

    def moved(self, move: Callable[[ListenRecording], int | None]) -> None:
        """Undo or redo, and show where."""
        item = self.results.current
        if item is not None and (row := move(item)) is not None:
            self.table.setCurrentCell(min(row, len(item.segments) - 1), TEXT)

    def _row_menu(self, where: QPoint) -> None:
        row = self.table.rowAt(where.y())
        if row < 0:
            return
        self.table.setCurrentCell(row, TEXT)
        position = self.table.character_at(row, where)
        menu, actions = QMenu(self), self.context.actions
        menu.addAction(actions["listen.segment"])
        menu.addAction(tr("Split here"), partial(self.part, row, position)).setEnabled(position > 0)
        menu.addAction(actions["listen.merge"])
        if not self.table.isColumnHidden(SPEAKER):
            menu.addAction(tr("Rename in the whole recording"), partial(self.table.edit_speaker, row))
        menu.addSeparator()
        for name in ("undo", "redo", "find"):
            menu.addAction(actions[f"listen.{name}"])
        menu.popup(self.table.viewport().mapToGlobal(where))

    def _sought(self, seconds: float) -> None:
        item = self.results.current
        if item is not None and (row := self.results.at(item, seconds)) >= 0:
            self.table.setCurrentCell(row, TEXT)

    # -- what is shown

    def _show(self) -> None:
        item = self.results.current
        self.list.show_current(item)
        self.stack.setCurrentIndex(1 if item is not None else 0)
        self._show_empty()
        self._show_state()
        if item is not None:
            self._load_sound(item)
            self._fill(item)

    def _show_empty(self) -> None:
        self.results.model = self.model_box.name
        advice = self.model_box.advice
        self.empty.say(
            tr("Drop a recording here, or record from the microphone and read along.")
            + (f"\n\n{advice}" if advice else "")
        )
        restate(self.add, kind="main" if self.results.items else "")
        if advice:
            self.empty.offer(tr("Get a model"), self.model_box.get_one, main=True)
        else:
            self.empty.offer(tr("Add files"), self.choose, main=True)

    def _changed(self, item: ListenRecording) -> None:
        if self.microphone is not None and self.results.live is None:  # what listened to it has failed
            self._end_microphone()
        if item is self.results.current:
            self._show_state()

    def _show_state(self) -> None:
        item = self.results.current
        busy = item is not None and item.state in ("waiting", "listening", "live")
        self.end.setVisible(busy)
        text = item is not None and bool(item.segments)
        self.enable(
            again=item is not None and not busy,
            copy=text,
            export=text,
            cancel=busy,
            remove=item is not None,
            segment=text,
            merge=item is not None and len(item.segments) > 1,
            find=text,
            undo=item is not None and item.history.can_undo,
            redo=item is not None and item.history.can_redo,
        )
        self.status.setText(item.status() if item is not None and item.state != "done" else "")
        self.status.setVisible(bool(self.status.text()))
        restate(self.status, level="error" if item is not None and item.failed else "")
        self.record.setProperty("checked", self.results.live is not None)

    def _load_sound(self, item: ListenRecording) -> None:
        """Load the samples, off the UI thread."""
        playback = self.player.playback
        if self._sounding is item:
            if item.state != "live" and not playback.complete:  # the recording has ended
                playback.finish()
            return
        self._sounding = item
        if item.state == "live":
            playback.begin(RATE)
            for samples in self.results.live_sound:
                playback.put(samples)
            return
        playback.show(_NOTHING, RATE)

        def read() -> Any:
            from engine.media.sound import read_sound

            return read_sound(item.source, RATE).samples

        def here(samples: Any) -> None:
            if self._sounding is item:
                self.player.playback.show(samples, RATE)
                self._mark(self.table.currentRow())

        self.context.work.run(read, here, lambda sentence: None)  # the recording's own state shows the error

    def _sounded(self, item: ListenRecording, samples: Any) -> None:
        """While it is recorded, its own waveform grows."""
        if self._sounding is item:
            self.player.playback.put(samples)

    def _segments_changed(self, item: ListenRecording) -> None:
        if item is self.results.current:
            self._fill(item)
            self._show_state()

    def _fill(self, item: ListenRecording) -> None:
        """Rows are added and changed, never recreated: an editor that is open stays open."""
        self._showing = True
        end = self.table.verticalScrollBar()
        at_end = end.value() >= end.maximum() - 8
        self.table.setRowCount(len(item.segments))
        colors = speaker_colors(self.context.look.theme, item.segments)
        self.table.setColumnHidden(SPEAKER, not colors)
        for row, segment in enumerate(item.segments):
            when, text, who = (self.table.item(row, column) for column in (TIME, TEXT, SPEAKER))
            if when is None or text is None or who is None:
                when, text, who = QTableWidgetItem(), QTableWidgetItem(), QTableWidgetItem()
                when.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                when.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
                text.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
                self.table.setItem(row, TIME, when)
                self.table.setItem(row, TEXT, text)
                who.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
                self.table.setItem(row, SPEAKER, who)
            who.setToolTip(tr("Click to name the speaker."))
            who.setText(segment.speaker)
            who.setForeground(colors.get(segment.speaker, QColor(self.context.look.theme.text)))
            when.setText(clock(segment.start) + (" ?" if segment.doubtful else ""))
            when.setToolTip(tr("Low confidence. Click to play.") if segment.doubtful else tr("Click to play."))
            if text.text() != segment.text:
                text.setText(segment.text)
        self._showing = False
        self.caption.setText(item.partial)
        self.caption.setVisible(bool(item.partial))
        if at_end and item.state == "live":
            self.table.scrollToBottom()
        self._mark(self.table.currentRow())

    def _colour(self) -> None:
        if self.results.current is not None:
            self._fill(self.results.current)

    def _mark(self, row: int) -> None:
        item = self.results.current
        if item is not None:
            colors = speaker_colors(self.context.look.theme, item.segments)
            spans = [(segment.start, segment.end) for segment in item.segments]
            self.player.wave.show_spans(spans, row, [colors.get(segment.speaker) for segment in item.segments])

    def _edited(self, cell: QTableWidgetItem) -> None:
        item = self.results.current
        if self._showing or item is None or cell.row() >= len(item.segments):
            return
        if cell.column() == TEXT:
            self.results.edit(item, cell.row(), cell.text())
        elif cell.column() == SPEAKER:
            self.rename_speaker(item, cell.row(), cell.text())
