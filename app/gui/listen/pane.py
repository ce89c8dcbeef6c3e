"""The Listen pane: recordings on the left; the waveform and the transcript, segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QSplitter,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import wear
from app.gui.look import restate
from app.gui.model_box import AbilityBox
from app.gui.pane import Desk, Pane
from app.gui.results import DragOut, ResultList, from_outside
from app.gui.sound import devices
from app.gui.sound.player import Player, clock
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.listen import FORMATS, RATE, SOUNDS, Listening, Recording
from app.gui.widgets import Empty, icon_button, label, text_button
from engine.errors import BackendUnavailable


def begin_anew(pane: ListenPane) -> None:
    pane.leaving()
    pane.listening.forget()
    pane.player.playback.show(np.zeros(0, np.float32), RATE)
    pane._sounding = None
    pane.table.setRowCount(0)
    pane.caption.clear()


NAMES = {"txt": "Text (*.txt)", "srt": "SubRip (*.srt)", "vtt": "WebVTT (*.vtt)", "json": "JSON (*.json)"}


def show_menu(pane: ListenPane, item: Recording, where: Any) -> None:
    pane.listening.choose(item)
    menu, actions = QMenu(pane), pane.desk.actions
    for name in ("copy", "again", "cancel"):
        menu.addAction(actions[f"listen.{name}"])
    out = menu.addMenu(tr("Export as"))
    for kind in FORMATS:
        out.addAction(NAMES[kind], partial(pane.export, item, kind))
    menu.addSeparator()
    menu.addAction(actions["listen.remove"])
    menu.popup(where)


_NOTHING = np.zeros(0, np.float32)


def make(desk: Desk) -> Pane:
    return ListenPane(desk)


class ListenPane(Pane):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.setAcceptDrops(True)
        said = lambda sentence, **more: self.desk.say(sentence, **more)  # noqa: E731 (the window sets it later)
        self.listening = Listening(desk.store, desk.core, said, desk.places.data / "recordings")
        self.list = ResultList(desk.look, tr("Recordings"), lambda: self.listening.items)
        format = lambda: str(desk.preferences.get("listen.format", "txt"))  # noqa: E731
        self.list.drag = DragOut(desk, self.list, lambda item: self.listening.as_file(item, format()))
        self.model_box = AbilityBox(desk, "listen")
        self.player = Player(desk)
        self.empty = Empty(desk.look, "listen", tr("Write down what is said"), "")
        self.microphone: Any = None
        self._sounding: Recording | None = None  # whose sound the player has
        self._showing = False
        self._add_actions()
        self._build()
        self._connect()
        self.listening.look()
        self._show()

    def _add_actions(self) -> None:
        group = tr("Listen")

        def add(name: str, title: str, run: Callable[[], Any], keys: str, icon: str = "") -> None:
            self.desk.actions.add(self, f"listen.{name}", title, run, keys, group, icon)

        listening = self.listening
        add("add", tr("Add sound files"), self.choose, "Ctrl+O", "plus")
        add("live", tr("Listen to the microphone"), self.toggle_live, "Ctrl+Shift+R", "mic")
        add("again", tr("Write down again"), lambda: self._on(listening.again), "Ctrl+R", "retry")
        add("cancel", tr("Stop listening"), lambda: self._on(listening.cancel), "Ctrl+Shift+X", "stop")
        add("copy", tr("Copy the text"), self.copy, "Ctrl+Shift+C", "copy")
        add("export", tr("Export"), lambda: self._on(self.export), "Ctrl+S", "save")
        add("play", tr("Play or pause"), self.player.toggle, "Ctrl+Space", "play")
        add("segment", tr("Hear the segment"), self.hear_segment, "Ctrl+Return")
        add("remove", tr("Remove from the list"), lambda: self._on(listening.remove), "Ctrl+Shift+Backspace", "trash")
        add("above", tr("Recording above"), lambda: listening.step(-1), "Ctrl+PgUp")
        add("below", tr("Recording below"), lambda: listening.step(1), "Ctrl+PgDown")

    def _build(self) -> None:
        actions = self.desk.actions
        left = QWidget()
        left.setProperty("kind", "side")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.add = text_button(tr("Add files"), self.choose)
        self.add.setToolTip(actions["listen.add"].toolTip())
        self.record = icon_button(self.desk.look, "mic", "")
        wear(self.record, actions["listen.live"])
        tools = QHBoxLayout()
        tools.setContentsMargins(GRID * 2, GRID, GRID, 0)
        tools.addWidget(self.add)
        tools.addStretch(1)
        tools.addWidget(self.record)
        column = QVBoxLayout(left)
        column.addStrut(200)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.addLayout(tools)
        column.addWidget(self.list, 1)
        head = QHBoxLayout()
        head.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        head.addWidget(self.model_box)
        self.status = label(kind="second", wrap=True)
        head.addWidget(self.status, 1)
        self.end = text_button(tr("Stop"), lambda: self._on(self._end), kind="main")
        head.addWidget(self.end)
        for name in ("again", "copy", "export"):
            wear(button := icon_button(self.desk.look, "more", ""), actions[f"listen.{name}"])
            head.addWidget(button)
        self.table = QTableWidget(0, 2)
        self.table.setAccessibleName(tr("What is said"))
        self.table.setProperty("kind", "plain")
        self.table.setShowGrid(False)
        self.table.setWordWrap(True)
        self.table.horizontalHeader().hide()
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.caption = label(wrap=True)  # what is being said now
        self.caption.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        document = QWidget()
        inside = QVBoxLayout(document)
        inside.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        inside.setSpacing(GRID)
        inside.addWidget(self.player)
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
        main.addWidget(self.stack, 1)
        self.outer = QSplitter(Qt.Orientation.Horizontal)
        self.outer.setHandleWidth(1)
        self.outer.setChildrenCollapsible(False)
        left.setMaximumWidth(400)
        self.outer.addWidget(left)
        self.outer.addWidget(middle)
        self.outer.setStretchFactor(1, 1)
        self.outer.setSizes([*self.desk.preferences.get("listen.list", [264, 900])])
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.outer)

    def _connect(self) -> None:
        listening = self.listening
        listening.listed.connect(self._show)
        listening.shown.connect(self._show)
        listening.changed.connect(self._changed)
        listening.heard.connect(self._heard)
        self.list.chosen.connect(listening.choose)
        self.list.menu_wanted.connect(lambda item, where: show_menu(self, item, where))
        self.model_box.picked.connect(lambda name: setattr(listening, "model", name))
        self.model_box.listed.connect(self._show_empty)
        self.table.cellClicked.connect(lambda row, column: self.hear_segment(row) if column == 0 else None)
        self.table.currentCellChanged.connect(lambda row, *_: self._mark(row))
        self.table.itemChanged.connect(self._edited)
        self.player.wave.sought.connect(self._sought)
        self.outer.splitterMoved.connect(lambda *_: self.desk.preferences.put("listen.list", self.outer.sizes()))
        self.desk.wiped.connect(lambda: begin_anew(self))
        self.desk.reread.connect(listening.look)

    # -- the pane

    def entered(self) -> None:
        self.list.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        sounds = [file for file in files if file.suffix.lower() in SOUNDS]
        if others := [file.name for file in files if file not in sounds]:
            self.desk.say(
                tr("{names}: no sound that can be read. WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF are.",
                   names=", ".join(others)), level="warning"
            )  # fmt: skip
        self.listening.add(sounds)

    def stop(self) -> bool:
        self._end_microphone()
        return any([self.player.hush(), self.listening.stop()])

    def leaving(self) -> None:
        self._end_microphone()
        self.player.hush()

    def dragEnterEvent(self, event: Any) -> None:
        if from_outside(event):
            event.acceptProposedAction()

    def dropEvent(self, event: Any) -> None:
        self.take([Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()

    # -- what the actions do

    def _on(self, run: Callable[[Recording], Any]) -> None:
        if self.listening.current is not None:
            run(self.listening.current)

    def choose(self) -> None:
        dialog = QFileDialog(self.window(), tr("Add sound files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilter(tr("Sound") + f" ({' '.join('*' + ending for ending in SOUNDS)})")
        dialog.filesSelected.connect(lambda chosen: self.take([Path(file) for file in chosen]))
        dialog.open()

    def toggle_live(self) -> None:
        """Begin to listen to the microphone, or end it."""
        if self.listening.live is not None:
            self._end(self.listening.live)
            return
        try:
            self.microphone = devices.Microphone(self.listening.hear_live, self, self._lost)
        except BackendUnavailable as error:
            self.desk.say(str(error), level="error")
            return
        self.listening.begin_live()

    def _end(self, item: Recording) -> None:
        if item.state == "live":
            self._end_microphone()
        self.listening.cancel(item)

    def _end_microphone(self) -> None:
        if self.microphone is not None:
            self.microphone.stop()
            self.microphone = None
            self.listening.end_live()

    def _lost(self, sentence: str) -> None:
        """The microphone was disconnected: what was heard is written down to its end."""
        self._end_microphone()
        self.desk.say(sentence, level="error")

    def copy(self) -> None:
        item = self.listening.current
        if item is not None and item.segments:
            QGuiApplication.clipboard().setText("\n".join(segment.text for segment in item.segments))
            self.desk.say(tr("Copied."), level="ok")

    def export(self, item: Recording, format: str = "") -> None:
        dialog = QFileDialog(self.window(), tr("Export"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([NAMES[kind] for kind in ([format] if format else FORMATS)])
        dialog.setDefaultSuffix(format or "txt")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen.split("*.")[1].rstrip(")")))
        dialog.selectFile(f"{Path(item.title).stem}.{format or 'txt'}")
        dialog.fileSelected.connect(lambda chosen: self.write(item, Path(chosen)))
        dialog.open()

    def write(self, item: Recording, file: Path) -> None:
        format = file.suffix.lstrip(".").lower()
        if format in FORMATS:
            self.desk.preferences.put("listen.format", format)
        self.desk.work.run(
            lambda: self.listening.export(item, format, file),
            lambda written: self.desk.say(tr("Saved as {file}.", file=written), level="ok"),
            lambda sentence: self.desk.say(sentence, level="error"),
        )

    def hear_segment(self, row: int = -1) -> None:
        item, row = self.listening.current, row if row >= 0 else self.table.currentRow()
        if item is not None and 0 <= row < len(item.segments) and self._sounding is item:
            self.player.playback.play(item.segments[row].start, item.segments[row].end)

    def _sought(self, seconds: float) -> None:
        item = self.listening.current
        if item is not None and (row := self.listening.at(item, seconds)) >= 0:
            self.table.setCurrentCell(row, 1)

    # -- what is shown

    def _show(self) -> None:
        item = self.listening.current
        self.list.reset_items(item)
        self.stack.setCurrentIndex(1 if item is not None else 0)
        self._show_empty()
        self._show_state()
        if item is not None:
            self._load_sound(item)
            self._fill(item)

    def _show_empty(self) -> None:
        self.listening.model = self.model_box.name
        advice = self.model_box.advice
        self.empty.say(
            tr("Drop a recording here, or listen to the microphone and read along.")
            + (f"\n\n{advice}" if advice else "")
        )
        restate(self.add, kind="main" if self.listening.items else "")
        if advice:
            self.empty.offer(tr("Get a model"), self.model_box.get_one, main=True)
        else:
            self.empty.offer(tr("Add files"), self.choose, main=True)

    def _changed(self, item: Recording) -> None:
        if self.microphone is not None and self.listening.live is None:  # what listened to it has failed
            self._end_microphone()
        self.list.refresh()
        if item is self.listening.current:
            self._show_state()

    def _show_state(self) -> None:
        item = self.listening.current
        busy = item is not None and item.state in ("waiting", "listening", "live")
        self.end.setVisible(busy)
        text = item is not None and bool(item.segments)
        for name, ready in (
            ("again", item is not None and not busy), ("copy", text), ("export", text), ("cancel", busy),
            ("remove", item is not None), ("segment", text),
        ):  # fmt: skip
            self.desk.actions[f"listen.{name}"].setEnabled(ready)
        self.status.setText(item.status() if item is not None and item.state != "done" else "")
        restate(self.status, level="error" if item is not None and item.failed else "")
        self.record.setProperty("checked", self.listening.live is not None)

    def _load_sound(self, item: Recording) -> None:
        """The sound itself, beside the UI thread."""
        if self._sounding is item or item.state == "live":
            return
        self._sounding = item
        self.player.playback.show(_NOTHING, RATE)

        def read() -> Any:
            from engine.media.sound import read_sound

            return read_sound(item.source, RATE).samples

        def here(samples: Any) -> None:
            if self._sounding is item:
                self.player.playback.show(samples, RATE)
                self._mark(self.table.currentRow())

        self.desk.work.run(read, here, lambda sentence: None)  # the recording's own state tells what is wrong

    def _heard(self, item: Recording) -> None:
        if item is self.listening.current:
            self._fill(item)
            self._show_state()

    def _fill(self, item: Recording) -> None:
        """Rows are added and changed, never made anew: an editor that is open stays open."""
        self._showing = True
        end = self.table.verticalScrollBar()
        at_end = end.value() >= end.maximum() - 8
        self.table.setRowCount(len(item.segments))
        for row, segment in enumerate(item.segments):
            when, text = self.table.item(row, 0), self.table.item(row, 1)
            if when is None or text is None:
                when, text = QTableWidgetItem(), QTableWidgetItem()
                when.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                when.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
                text.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
                self.table.setItem(row, 0, when)
                self.table.setItem(row, 1, text)
            when.setText(clock(segment.start) + (" ?" if segment.doubtful else ""))
            when.setToolTip(tr("Doubtful. Click to hear it.") if segment.doubtful else tr("Click to hear it."))
            if text.text() != segment.text:
                text.setText(segment.text)
        self._showing = False
        self.caption.setText(item.partial)
        self.caption.setVisible(bool(item.partial))
        if at_end and item.state == "live":
            self.table.scrollToBottom()
        self._mark(self.table.currentRow())

    def _mark(self, row: int) -> None:
        item = self.listening.current
        if item is not None:
            self.player.wave.show_spans([(segment.start, segment.end) for segment in item.segments], row)

    def _edited(self, cell: QTableWidgetItem) -> None:
        item = self.listening.current
        if not self._showing and cell.column() == 1 and item is not None and cell.row() < len(item.segments):
            self.listening.edit(item, cell.row(), cell.text())
            self._fill(item)
