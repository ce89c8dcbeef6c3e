"""The window: the rail, the panes (each made when it is first opened), the notice and the status strip.

Knows which pane is shown and passes things on. What a pane does is the pane's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app.explain import leads_to_log
from app.gui.actions import ActionSpec
from app.gui.bars import Notice, Rail, SaveBar, StatusBar
from app.gui.drop import DropLight, accept_copy
from app.gui.gc_policy import GcPolicy
from app.gui.logview import LogView
from app.gui.palette import CommandPalette, ShortcutOverview
from app.gui.pane import PANES, AppContext, Pane
from app.gui.texts import mark, tr
from engine.trim import trim_soon

_NARROWEST, _LOWEST = 720, 480  # pixels, at the usual size of text
_SMALLEST = 640  # which every screen has
_WRITE_PLACE = 400  # milliseconds after the last move


ACTIONS = (
    ActionSpec("find", mark("Command palette"), "Ctrl+K", "search", lambda window: window.find_anything()),
    ActionSpec("shortcuts", mark("Keyboard shortcuts"), "Ctrl+/ F1", "", lambda window: window.show_shortcuts()),
    ActionSpec("log", mark("Show the log"), "F12", "list", lambda window: window.show_log()),
    ActionSpec("stop", mark("Stop"), "Esc", "stop", lambda window: window.stop()),
    ActionSpec("appearance", mark("Switch between light and dark"), "Ctrl+Shift+L", "", lambda window: window.switch_appearance()),
    ActionSpec("larger", mark("Larger text"), "Ctrl++ Ctrl+=", "", lambda window: window.scale_text(0.1)),
    ActionSpec("smaller", mark("Smaller text"), "Ctrl+-", "", lambda window: window.scale_text(-0.1)),
    ActionSpec("default_size", mark("Default text size"), "Ctrl+0", "", lambda window: window.scale_text(0)),
    ActionSpec("full", mark("Full screen"), "F11", "", lambda window: window.switch_full_screen()),
    ActionSpec("close", mark("Close window"), "Ctrl+W", "", lambda window: window.close()),
    ActionSpec("quit", mark("Quit Grus"), "Ctrl+Q", "", lambda window: _quit()),
)  # fmt: skip


class Window(QMainWindow):
    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self.specs = [spec for spec in PANES if spec.there]
        self.panes: dict[str, Pane] = {}
        self.shown = ""
        self._title()
        context.look.language_changed.connect(self._title)
        # how narrow it may be, its panes say: in no language does a button lie on another
        context.look.on_change(self, lambda: self.setMinimumHeight(min(_SMALLEST, context.look.grown(_LOWEST))))
        self.setAcceptDrops(True)
        self.drop_light = DropLight(context.look, self)
        context.say, context.open_pane, context.hand_over = self.say, self.open_pane, self.hand_over
        chooses = self._add_actions()
        self.stack = QStackedWidget()
        self.rail = Rail(context.look, self.specs, chooses, self.open_pane)
        self.status_bar = StatusBar(context.look, context.core)
        self.save_bar = SaveBar(context.look, context.store)
        self._warned = False  # that closing loses what is not saved
        self.notice = Notice(context.look)
        self._build()
        self.palette_card = CommandPalette(self, context)
        self.shortcuts = ShortcutOverview(self, context.look, context.actions)
        self.log = LogView(self, context)
        for part in (
            self.rail,
            self.status_bar,
            self.save_bar,
            self.notice,
            self.palette_card,
            self.shortcuts,
            self.log,
        ):
            context.look.dress(part)
        self._place = QTimer(self)
        self._place.setSingleShot(True)
        self._place.setInterval(_WRITE_PLACE)
        self._place.timeout.connect(self._remember)
        self.gc_policy = GcPolicy(lambda: context.core.busy)
        self._imported = False  # the modules of the panes that were not opened yet
        self._settled = ("", "")  # the engine's phase and model when the collector was last informed
        context.core.changed.connect(self._settle)
        self._return()
        context.look.on_change(self.rail, lambda: self.rail.widen(self.width()))
        self.restarts = False  # whether Grus starts again when the window is closed
        context.restart = self._restart
        context.store.opened(self._show_damage)
        context.store.saving.watch(self._show_saving)
        if context.preferences.set_aside is not None:
            self.say(
                tr("Your settings could not be read. They were saved as {file}, and Grus started with default settings.",
                   file=context.preferences.set_aside), level="warning"
            )  # fmt: skip

    def _build(self) -> None:
        body = QWidget()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        content = QVBoxLayout()
        content.setSpacing(0)
        content.addWidget(self.save_bar)
        content.addWidget(self.notice)
        content.addWidget(self.stack, 1)
        row.addLayout(content, 1)
        column = QVBoxLayout(body)
        column.addStrut(_NARROWEST)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        column.addWidget(self.status_bar)
        self.setCentralWidget(body)

    def _settle(self) -> None:
        """The engine is ready: the modules of all panes are imported beside the UI thread, for their first opening. Then,
        and after each model that was loaded, the collector need not visit what is there."""
        state = self.context.core.state
        if state.phase == "starting" or state.loading or self._settled == (state.phase, state.model):
            return
        self._settled = state.phase, state.model
        if self._imported:
            self.gc_policy.keep()
            return
        self._imported = True
        modules = [spec.module for spec in self.specs]
        self.context.work.think(lambda: [import_module(name) for name in modules], lambda _: self._rest())

    def _rest(self) -> None:
        """Everything is imported. What that needed for a moment only is given back to the system."""
        self.gc_policy.keep()
        trim_soon()

    def _add_actions(self) -> dict[str, QAction]:
        add, group = self.context.actions.add, tr("Window")
        chooses = {
            spec.name: add(
                self, f"pane.{spec.name}", tr(spec.title), _open(self.open_pane, spec.name), spec.keys, group, spec.name
            )
            for spec in self.specs
        }
        self.context.actions.add_table(self, "window", group, ACTIONS)
        return chooses

    # -- panes

    def pane(self, name: str, later: bool = False) -> Pane:
        """The pane, made now if it was not. `later`: it is not shown yet, and gets its style sheet in another turn of the event loop."""
        if name not in self.panes:
            spec = next(spec for spec in self.specs if spec.name == name)
            pane = spec.make(self.context)
            self.panes[name] = pane
            self.stack.addWidget(pane)
            for part in pane.parts:
                self.context.look.dress(part, later)
        return self.panes[name]

    def open_pane(self, name: str) -> Pane:
        pane = self.pane(name)
        self.shown = name
        self.stack.setCurrentWidget(pane)
        self.rail.show_chosen(name)
        self._title()
        self.context.preferences.put("pane", name)
        pane.entered()
        return pane

    def _title(self) -> None:
        titles = {spec.name: spec.title for spec in self.specs}
        self.setWindowTitle(f"{tr(titles[self.shown])} · Grus" if self.shown else "Grus")

    def hand_over(self, name: str, files: Sequence[Path]) -> None:
        if any(spec.name == name for spec in self.specs):
            self.open_pane(name).take(files)

    def take_files(self, files: Sequence[Path]) -> None:
        """Files from a second start, from the command line, or dropped on the icon: Read opens them."""
        self.raise_up()
        if files:
            readable = any(spec.name == "read" for spec in self.specs)
            self.hand_over("read" if readable else "chat", files)

    def raise_up(self) -> None:
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def make_all(self) -> None:
        """Every pane, so that the overview and the palette know every action."""
        for spec in self.specs:
            self.pane(spec.name)

    def _make_others(self, then: Callable[[], Any]) -> None:
        """The same, one pane in a turn of the event loop; `then` at the end, if any was made."""
        missing = [spec.name for spec in self.specs if spec.name not in self.panes]
        if missing and self.isVisible():  # a window that was closed needs no more panes
            self.pane(missing[0], later=True)
            QTimer.singleShot(0, self, (lambda: self._make_others(then)) if missing[1:] else then)

    # -- what the actions do

    def find_anything(self) -> None:
        self.palette_card.open()
        QTimer.singleShot(0, self, lambda: self._make_others(self.palette_card.look_again))

    def show_shortcuts(self) -> None:
        self.shortcuts.toggle()
        QTimer.singleShot(0, self, lambda: self._make_others(self.shortcuts.look_again))

    def show_log(self) -> None:
        self.log.open()

    def show_crash(self) -> None:
        """Show that the previous session crashed."""
        self.say(
            tr("Grus ended unexpectedly last time. Nothing was deleted."),
            level="warning", undo=(tr("Show the log"), lambda: self.log.open(crash=True)),
        )  # fmt: skip

    def stop(self) -> None:
        """Esc closes what lies on top, else ends what runs in the pane."""
        for card in (self.palette_card, self.shortcuts, self.log):
            if card.isVisible():
                card.hide()
                return
        if self.shown and not self.panes[self.shown].stop():
            self.notice.current.close()

    def switch_appearance(self) -> None:
        self.context.preferences.put("appearance", "light" if self.context.look.theme.dark else "dark")

    def scale_text(self, change: float) -> None:
        scale = min(2.0, max(0.7, self.context.look.scale + change)) if change else 1.0
        self.context.preferences.put("text_scale", round(scale, 2))

    def switch_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def say(self, sentence: str, level: Any = "info", undo: tuple[str, Callable[[], Any]] | None = None) -> None:
        """Above the content. No sentence, with level "ok": an error that is shown is resolved."""
        if undo is None and leads_to_log(sentence):
            undo = (tr("Show the log"), self.show_log)
        self.notice.current.say(sentence, level, undo)

    def offer_updates(self) -> None:
        """Look for a new version, if that is allowed; ask once whether it is."""
        updates = self.context.updates
        updates.found.connect(self._show_update)
        if not self.notice.current.sentence and updates.must_ask():
            self.say(tr("Check for new versions of Grus when it starts?"), undo=(tr("Allow"), updates.allow))
        updates.look_at_start()

    def _show_update(self) -> None:
        self.say(self.context.updates.status, undo=(tr("Show"), self._show_updates))

    def _show_updates(self) -> None:
        settings: Any = self.open_pane("settings")
        settings.show_updates()

    def _restart(self) -> None:
        self.restarts = True
        self.close()
        self.restarts = not self.isVisible()  # closing may have been refused

    def _show_damage(self, opened: Any) -> None:
        if opened.set_aside is not None:
            self.say(
                tr(
                    "The file with your conversations was damaged. It was saved as {file}, and Grus started with a new one.",
                    file=opened.set_aside,
                ),
                level="warning",
            )

    def _show_saving(self, sentence: str) -> None:
        was = self.save_bar.sentence.text()
        self.save_bar.show_problem(sentence)
        if was and not sentence:
            self._warned = False
            self.say(tr("Everything is saved again."), level="ok")

    # -- place on the screen

    def _return(self) -> None:
        kept = self.context.preferences.get("window")
        if not (kept and self.restoreGeometry(QByteArray.fromBase64(kept.encode()))):
            self.resize(QSize(1180, 780))

    def _remember(self) -> None:
        self.context.preferences.put("window", bytes(self.saveGeometry().toBase64().data()).decode())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rail.widen(self.width())
        self._place.start()

    def moveEvent(self, event: Any) -> None:
        super().moveEvent(event)
        self._place.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.gc_policy.watch(self.windowHandle())

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.context.store.saving.kept and not self._warned:
            self._warned = True
            self.context.store.save_now()
            self.say(tr("Your last changes are not saved yet. Close the window again to discard them."), level="error")
            event.ignore()
            return
        self._remember()
        for pane in self.panes.values():
            pane.leaving()
        self.context.machinery.end()
        self.context.downloads.pause_all()
        self.context.updates.close()
        self.context.cuda_pack.cancel()
        super().closeEvent(event)

    # -- files dropped where no pane takes them

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            self.drop_light.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        accept_copy(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_light.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop_light.take(event)
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files and self.shown:
            self.panes[self.shown].take(files)


def _open(open_pane: Callable[[str], Any], name: str) -> Callable[[], Any]:
    return lambda: open_pane(name)


def _quit() -> None:
    from PySide6.QtWidgets import QApplication

    QApplication.closeAllWindows()
    QApplication.quit()
