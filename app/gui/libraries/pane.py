"""The Libraries pane: folders of documents on the left, the chosen one with its state and its search on the right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QProgressBar,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec, wear
from app.gui.dialogs import choose_folder
from app.gui.flow import FlowRow
from app.gui.look import restate
from app.gui.pane import AppContext, Pane
from app.gui.results import ResultsPane
from app.gui.store.messages import GivenPassage
from app.gui.texts import in_language, mark, tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.libraries import IndexedFolder, LibraryList, given
from app.gui.widgets import ElidedLabel, EmptyState, icon_button, label, text_button
from app.runtime.library.together import PassageInFolder

_LOOK_AGAIN = 60_000  # milliseconds between two looks for changed documents
_TYPED = 250  # milliseconds of silence after which a search begins
_SHOWN = 160  # characters of a passage in the list

ACTIONS = (
    ActionSpec("add", mark("Add a folder"), "Ctrl+O", "plus", lambda pane: pane.choose()),
    ActionSpec("update", mark("Update the library"), "Ctrl+R", "retry", lambda pane: pane.on_current(pane.results.update)),
    ActionSpec("pause", mark("Pause or resume"), "Ctrl+Shift+P", "pause", lambda pane: pane.on_current(pane.pause)),
    ActionSpec("search", mark("Search in the library"), "Ctrl+F", "search", lambda pane: pane.field.setFocus()),
    ActionSpec("ask", mark("Ask in Chat"), "Ctrl+Shift+Return", "chat", lambda pane: pane.on_current(pane.ask)),
    ActionSpec("folder", mark("Show the folder"), "Ctrl+Shift+F", "external", lambda pane: pane.on_current(pane.show_folder)),
    ActionSpec("remove", mark("Remove the library"), "Ctrl+Shift+Backspace", "trash",
               lambda pane: pane.on_current(pane.results.remove)),
    ActionSpec("above", mark("Previous library"), "Ctrl+PgUp", "", lambda pane: pane.results.step(-1)),
    ActionSpec("below", mark("Next library"), "Ctrl+PgDown", "", lambda pane: pane.results.step(1)),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return LibrariesPane(context)


class LibrariesPane(ResultsPane[IndexedFolder]):
    results: LibraryList

    def __init__(self, context: AppContext) -> None:
        results = LibraryList(
            context.store, context.core, context.work, context.say, context.libraries, context.places.data
        )
        super().__init__(context, "libraries", results, tr("Libraries"))
        self.model_box.setParent(None)  # type: ignore[call-overload]  # full text needs no model; Qt's stubs know no parent of None
        self.empty = EmptyState(context.look, "libraries", tr("Ask your documents"), "")
        self._looked: IndexedFolder | None = None
        context.actions.add_table(self, "libraries", tr("Libraries"), ACTIONS)
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(_TYPED)
        self._typed.timeout.connect(self._search)
        self._again = QTimer(self)
        self._again.setInterval(_LOOK_AGAIN)
        self._again.timeout.connect(results.update_all)
        self._again.start()
        self._build()
        self.connect_results()
        results.changed.connect(lambda item: self._show_state() if item is results.current else None)
        results.look()
        self._show()

    def _build(self) -> None:
        actions, look = self.context.actions, self.context.look
        tools = FlowRow(GRID // 2)
        tools.setContentsMargins(GRID * 2, GRID, GRID, 0)
        self.add = text_button(tr("Add a folder"), self.choose, kind="main")
        self.add.setToolTip(actions["libraries.add"].toolTip())
        tools.addWidget(self.add)
        self.title = label(kind="heading", wrap=True)
        self.place = ElidedLabel("second")
        self.state = label(wrap=True)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.ask_button = text_button(tr("Ask in Chat"), lambda: self.on_current(self.ask))
        self.ask_button.setToolTip(actions["libraries.ask"].toolTip())
        self.pause_button = text_button(tr("Pause"), lambda: self.on_current(self.pause))
        buttons = FlowRow(GRID)
        buttons.addWidget(self.ask_button)
        buttons.addWidget(self.pause_button)
        buttons.begin_right()
        for name in ("update", "folder", "remove"):
            wear(button := icon_button(look, "", ""), actions[f"libraries.{name}"])
            buttons.addWidget(button)
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Search in the library"))
        self.field.setAccessibleName(tr("Search in the library"))
        self.field.textChanged.connect(lambda _: self._typed.start())
        self.field.returnPressed.connect(self._search)
        self.nothing = label(kind="second", wrap=True)
        self.found = _Lines(tr("Passages"))
        self.found.itemActivated.connect(lambda line: self._open(line.data(Qt.ItemDataRole.UserRole)))
        self.problems_title = label(kind="title", wrap=True)
        self.problems = _Lines(tr("Documents that could not be read"))
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(GRID * 3, GRID * 2, GRID * 3, GRID * 2)
        column.setSpacing(GRID)
        for part in (self.title, self.place, self.state, self.progress):
            column.addWidget(part)
        column.addLayout(buttons)
        column.addSpacing(GRID)
        column.addWidget(self.field)
        column.addWidget(self.nothing)
        column.addWidget(self.found, 3)
        column.addWidget(self.problems_title)
        column.addWidget(self.problems, 1)
        column.addStretch(0)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(inside)
        self.stack.setMinimumWidth(320)
        self.lay_out(tools, self.stack)

    # -- the pane

    def entered(self) -> None:
        (self.list if self.results.items else self.empty.action).setFocus()
        self.results.update_all()

    def take(self, files: Sequence[Path]) -> None:
        self.results.add(files)

    def stop(self) -> bool:
        return self.results.stop()

    def leaving(self) -> None:
        for item in self.results.items:
            item.control.cancel()  # what is complete is kept, and the rest comes next time

    def reset(self) -> None:
        super().reset()
        for part in (self.title, self.place, self.state, self.field, self.nothing, self.found, self.problems):
            part.clear()

    def choose(self) -> None:
        choose_folder(self, tr("Add a folder"), lambda folder: self.results.add([folder]))

    def offer(self, item: IndexedFolder) -> None:
        """Nothing is dragged out: the folder is the person's own."""
        return

    # -- what is shown

    def _show(self) -> None:
        item = self.results.current
        self.stack.setCurrentIndex(1 if item is not None else 0)
        self.list.show_current(item)
        restate(self.add, kind="main" if self.results.items else "")  # the empty pane has its own
        self.empty.say(
            tr(
                "Drop a folder of documents here. It is read and searched on this machine, and Chat answers from it and says where."
            )
        )
        self.empty.offer(tr("Add a folder"), self.choose, main=True)
        if item is not None and item is not self._looked:
            self.title.setText(item.title)
            self.place.setText(str(item.folder))
            self.field.clear()
            self.found.clear()
        self._looked = item
        self._show_state()

    def _show_state(self) -> None:
        item = self.results.current
        chosen = item is not None
        busy = item is not None and item.state in ("waiting", "indexing", "paused") and not item.quiet
        self.enable(
            update=chosen and not busy, pause=busy or (item is not None and item.state == "stopped"),
            ask=chosen, folder=chosen, remove=chosen, search=chosen,
        )  # fmt: skip
        if item is None:
            return
        unread = item.counts.unread
        lines = [
            in_language(item.error) or item.status(),
            trn("{n} page has no text, and no model is here that reads it.",
                "{n} pages have no text, and no model is here that reads them.", unread) if unread else "",
        ]  # fmt: skip
        self.state.setText("\n".join(filter(None, lines)))
        restate(self.state, level="error" if item.error else "")
        share = item.share
        self.progress.setVisible(share is not None)
        self.progress.setRange(0, 0 if share is not None and not item.total else 1000)
        self.progress.setValue(round(1000 * (share or 0)))
        self.progress.setAccessibleName(item.status())
        stopped = item.state in ("paused", "stopped", "failed")
        self.pause_button.setText(tr("Resume") if stopped else tr("Pause"))
        self.pause_button.setAccessibleName(self.pause_button.text())
        self.pause_button.setVisible(busy or stopped)
        self.pause_button.setEnabled(item.state != "waiting")
        problems = item.counts.problems
        self.problems_title.setVisible(bool(problems))
        self.problems.setVisible(bool(problems))
        self.problems_title.setText(
            trn("{n} document could not be read", "{n} documents could not be read", len(problems))
        )
        lines = [f"{name}: {why}" for name, why in problems]
        if lines != self.problems.texts():
            self.problems.show_lines([(line, None) for line in lines])
        self._show_nothing()

    def _show_nothing(self) -> None:
        asked = bool(self.field.text().strip())
        empty = asked and not self.found.count() and not self._typed.isActive()
        self.found.setVisible(bool(self.found.count()))
        self.nothing.setVisible(empty)
        self.nothing.setText(tr("Nothing was found.") if empty else "")

    # -- on a library

    def pause(self, item: IndexedFolder) -> None:
        (self.results.pause if item.state == "indexing" else self.results.resume)(item)

    def ask(self, item: IndexedFolder) -> None:
        """A new conversation that uses it."""
        self.context.open_pane("chat").begin_with(item.folder)

    def show_folder(self, item: IndexedFolder) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(item.folder)))

    def _search(self) -> None:
        self._typed.stop()
        question, item = self.field.text().strip(), self.results.current
        if not question or item is None:
            self.found.clear()
            self._show_nothing()
            return
        self.results.search(item, question, self._show_found)

    def _show_found(self, passages: list[PassageInFolder]) -> None:
        self.found.show_lines(
            [(f"{one.passage.where}\n{' '.join(one.passage.text.split())[:_SHOWN]}", given(one)) for one in passages]
        )
        self._show_nothing()

    def _open(self, passage: GivenPassage | None) -> None:
        if passage is not None:
            self.context.open_pane("read").show_passage(passage)

    def menu(self, item: IndexedFolder, where: QPoint) -> None:
        self.results.choose(item)
        menu, actions = QMenu(self), self.context.actions
        for name in ("ask", "update", "pause", "folder"):
            menu.addAction(actions[f"libraries.{name}"])
        menu.addSeparator()
        menu.addAction(actions["libraries.remove"])
        menu.popup(where)


class _Lines(QListWidget):
    """Lines of text that wrap, each with what it leads to."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "plain")
        self.setAccessibleName(name)
        self.setWordWrap(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setSpacing(2)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.fontMetrics().lineSpacing() * 2)

    def texts(self) -> list[str]:
        return [self.item(at).text() for at in range(self.count())]

    def show_lines(self, lines: Sequence[tuple[str, Any]]) -> None:
        self.clear()
        for text, leads_to in lines:
            line = QListWidgetItem(text)
            line.setData(Qt.ItemDataRole.UserRole, leads_to)
            line.setToolTip(text)
            self.addItem(line)
