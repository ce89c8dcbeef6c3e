"""The models pane: pages of models on the left (on this machine, good choices, Hugging Face), one model's card beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec, wear
from app.gui.dialogs import choose_folder
from app.gui.models.views import ModelDetailsView, ModelListView
from app.gui.pane import AppContext, Pane
from app.gui.sampling_fields import DefaultsView
from app.gui.texts import mark, size, tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.card import (
    ModelAction,
    ModelDetailsSource,
    downloaded_lines,
    recommended_lines,
    search_lines,
    title_of,
)
from app.gui.viewmodels.models.downloads import Downloads, HubSearch
from app.gui.viewmodels.models.library import MachineFacts, ModelLibrary
from app.gui.widgets import EmptyState, icon_button, label
from app.runtime.recommended import read_catalogue

_POLL = 1500  # milliseconds between two looks at memory, while the pane is shown
_HERE, _GOOD, _HUB = range(3)


ACTIONS = (
    ActionSpec("search", mark("Search Hugging Face"), "Ctrl+F", "search", lambda pane: pane.turn_to(_HUB)),
    ActionSpec("here", mark("Models on this machine"), "Ctrl+H", "", lambda pane: pane.turn_to(_HERE)),
    ActionSpec("good", mark("Recommended"), "Ctrl+G", "", lambda pane: pane.turn_to(_GOOD)),
    ActionSpec("folder", mark("Add a folder"), "Ctrl+O", "folder", lambda pane: pane.choose_folder()),
    ActionSpec("again", mark("Refresh"), "Ctrl+R F5", "retry", lambda pane: pane.look_again()),
    ActionSpec("load", mark("Load or unload"), "Ctrl+L", "", lambda pane: pane.load_or_unload()),
    ActionSpec("chat", mark("Chat with this model"), "Ctrl+Return", "chat", lambda pane: pane.do("chat")),
    ActionSpec("download", mark("Download, pause or resume"), "Ctrl+D", "download", lambda pane: pane.switch_download()),
    ActionSpec("delete", mark("Delete the model"), "Ctrl+Shift+Backspace", "trash", lambda pane: pane.remove()),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return ModelsPane(context)


def _later(seconds: float, run: Callable[[], object]) -> None:
    QTimer.singleShot(round(seconds * 1000), run)


class ModelsPane(Pane):
    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.library = ModelLibrary(context.core, context.preferences, context.say, _later, context.models_changed)
        self.machinery = MachineFacts(context.core, context.preferences)
        self.finding = HubSearch(context.work)
        self.downloads = Downloads(context.core, context.preferences, context.work.post, context.say)
        self.choices = read_catalogue()
        self.cards = ModelDetailsSource(
            context.core, context.preferences, self.library, self.machinery, self.finding, self.downloads, self.choices
        )
        context.actions.add_table(self, "models", tr("Models"), ACTIONS)
        self.pages = QTabBar()
        self.pages.setUsesScrollButtons(False)
        self.field = QLineEdit()
        self.list = ModelListView(context.look, tr("Models"))
        self.state = label(kind="second", wrap=True)
        self.held = label(kind="second")
        self.view = ModelDetailsView(context.look, self.do, DefaultsView(self.library))
        self.empty = EmptyState(context.look, "models", tr("Models on this machine"),
                           tr("See what is installed, or download a recommended model that fits."))  # fmt: skip
        self._build()
        self._connect()
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL)
        self._timer.timeout.connect(self.library.poll)
        self.library.look()
        self.machinery.look()
        self._show()

    def _build(self) -> None:
        for title in (tr("On this machine"), tr("Recommended"), tr("Hugging Face")):
            self.pages.addTab(title)
        self.pages.setAccessibleName(tr("Model lists"))
        self.pages.setDrawBase(False)
        self.pages.setExpanding(False)
        self.field.setClearButtonEnabled(True)
        if (clear := self.field.findChild(QToolButton)) is not None:
            clear.setAccessibleName(tr("Clear the search"))
        wear(folder := icon_button(self.context.look, "folder", ""), self.context.actions["models.folder"])
        top = QHBoxLayout()
        top.setContentsMargins(GRID * 2, GRID, GRID, 0)
        top.addWidget(self.field, 1)
        top.addWidget(folder)
        side = QWidget()
        side.setProperty("kind", "side")
        side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side.setMaximumWidth(520)
        column = QVBoxLayout(side)
        column.addStrut(300)
        column.setContentsMargins(0, GRID // 2, 0, GRID)
        column.addWidget(self.pages)
        column.addLayout(top)
        self.state.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        self.held.setContentsMargins(GRID * 2, 0, GRID * 2, 0)
        column.addWidget(self.state)
        column.addWidget(self.list, 1)
        column.addWidget(self.held)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.view)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(side)
        self.splitter.addWidget(self.stack)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([*self.context.preferences.get("models.widths", [360, 700])])
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.splitter)
        self.empty.offer(tr("Recommended"), lambda: self.turn_to(_GOOD), main=True)

    def _connect(self) -> None:
        for signal in (self.library.changed, self.machinery.changed, self.finding.changed, self.downloads.changed):
            signal.connect(self._show)
        self.cards.changed.connect(self._show_card)
        self.downloads.finished.connect(self._brought)
        self.pages.currentChanged.connect(lambda _: self._turned())
        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self._search)
        self.list.chosen.connect(self.choose)
        self.list.customContextMenuRequested.connect(self._menu)
        self.context.models_changed.connect(self.library.look)
        self.context.wiped.connect(self.downloads.forget)
        self.context.preferences.changed.connect(lambda key: self._offline() if key == "offline" else None)
        self.splitter.splitterMoved.connect(
            lambda *_: self.context.preferences.put("models.widths", self.splitter.sizes())
        )

    # -- the pane

    def entered(self) -> None:
        self.list.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        """Folders that are dropped are added; of a file, the folder it lies in."""
        for file in files:
            self.library.add_folder(file if file.is_dir() else file.parent)

    def stop(self) -> bool:
        return self.downloads.pause_all()

    def leaving(self) -> None:
        self.downloads.pause_all()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _offline(self) -> None:
        """The switch in Settings."""
        if self.context.preferences.get("offline"):
            self.downloads.pause_all()
        self._show()

    # -- what a person does

    def turn_to(self, page: int) -> None:
        self.pages.setCurrentIndex(page)
        (self.field if page == _HUB else self.list).setFocus()

    def choose(self, key: str) -> None:
        if key:
            self.cards.choose(key)
            self.list.mark(key)

    def offer(self, key: str) -> None:
        """A good choice that another pane needs."""
        self.turn_to(_GOOD)
        self.choose(key)

    def choose_folder(self) -> None:
        choose_folder(self, tr("Add a model folder"), self.library.add_folder)

    def look_again(self) -> None:
        self.library.look()
        self.machinery.look(again=True)

    def load_or_unload(self) -> None:
        model = self.library.find(self.cards.name)
        if model is not None and model.whole:
            self.do("unload" if model.resident else "load")

    def switch_download(self) -> None:
        for action in self.cards.card().actions:
            if action in ("download", "pause", "resume"):
                self.do(action)

    def remove(self) -> None:
        for action in self.cards.card().actions:
            if action in ("delete", "forget", "drop"):
                self.do(action)

    def do(self, action: ModelAction) -> None:
        """What the card offers; nothing when it does not."""
        name = self.cards.name
        if action not in self.cards.card().actions:
            return
        model = self.library.find(name)
        if action in ("download", "resume"):
            self.downloads.start(name)
        elif action == "pause":
            self.downloads.pause(name)
        elif action == "drop":
            self.downloads.drop(name)
        elif action == "load":
            self.library.load(name)
        elif action == "unload":
            self.library.unload(name)
        elif action == "chat":
            chat = self.context.open_pane("chat")
            chat.model_box.pick(name)
        elif action == "page":
            QDesktopServices.openUrl(QUrl(f"https://huggingface.co/{name}"))
        elif action == "check" and model is not None:
            self.library.check(model)
        elif model is not None:
            self.library.remove(model)

    # -- drawing

    def _typed(self) -> None:
        if self.pages.currentIndex() == _HUB and not self.field.text():
            self.finding.search("")
        else:
            self._show()

    def _search(self) -> None:
        if self.pages.currentIndex() == _HUB:
            self.finding.search(self.field.text())
        elif self.list.count():
            self.list.setFocus()

    def _turned(self) -> None:
        self.field.clear()
        self._show()

    def _show(self) -> None:
        page, words = self.pages.currentIndex(), self.field.text()
        shown = (
            downloaded_lines(self.library, self.downloads, words) if page == _HERE
            else recommended_lines(self.choices, self.library, self.machinery.machine, words) if page == _GOOD
            else search_lines(self.finding, self.library)
        )  # fmt: skip
        hint = tr("Search Hugging Face, and press Enter") if page == _HUB else tr("Filter this list")
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        self.list.show_lines(shown, self.cards.name)
        state = self.finding.state if page == _HUB else self._state(page, bool(shown))
        self.state.setText(state)
        self.state.setVisible(bool(state))
        held = self.library.held
        self.held.setText(tr("{size} in memory", size=size(held)) if held else tr("Nothing is in memory."))
        self._show_card()

    def _state(self, page: int, shown: bool) -> str:
        if page == _GOOD:
            return self.machinery.problem
        if not self.library.known:
            return tr("Looking for models on this machine.")
        return "" if shown else tr("No model yet. Recommended lists some that fit.")

    def _show_card(self) -> None:
        card = self.cards.card()
        self.view.show_card(card, self.cards.name)
        self.stack.setCurrentWidget(self.view if card.title else self.empty)

    def _brought(self, repo: str) -> None:
        self.library.look()
        self.context.models_changed()

    def _menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        for action in self.cards.card().actions:
            menu.addAction(title_of(action), partial(self.do, action))
        menu.aboutToHide.connect(menu.deleteLater)
        if not menu.isEmpty():
            menu.popup(self.list.viewport().mapToGlobal(place))
