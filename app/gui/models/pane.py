"""The models pane: pages of models on the left (on this machine, good choices, Hugging Face), one model's card beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QFont, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec, wear
from app.gui.dialogs import choose_folder
from app.gui.flow import FlowRow
from app.gui.look import Look, restate
from app.gui.models.list_view import ModelListView
from app.gui.models.remote_form import ServerDialog
from app.gui.pane import AppContext, Pane
from app.gui.sampling_fields import DefaultsView
from app.gui.texts import mark, size, tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.card import (
    ModelAction,
    ModelDetails,
    ModelDetailsSource,
    ModelFact,
    downloaded_lines,
    recommended_lines,
    search_lines,
    title_of,
)
from app.gui.viewmodels.models.downloads import HubSearch
from app.gui.viewmodels.models.library import ModelLibrary
from app.gui.viewmodels.models.remote import ServerForm
from app.gui.viewmodels.settings import NetworkSettings
from app.gui.widgets import EmptyState, icon_button, label, text_button
from app.runtime.recommended import read_catalogue

# -- the card of one model

_WIDTH = 640  # pixels; lines of facts are read, not scanned
_STEPS = 1000


class ModelDetailsView(QScrollArea):
    """`do(action)` is called for a button."""

    def __init__(self, look: Look, do: Callable[[ModelAction], object], defaults: DefaultsView) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._do, self._look, self._shown = do, look, ModelDetails()
        self.title = label(wrap=True)
        self.about = label(wrap=True)
        self.problem = label(wrap=True)
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setAccessibleName(tr("Hugging Face token"))
        self.token.setPlaceholderText(tr("Paste your Hugging Face token, and press Enter"))
        self.working = label(kind="second", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the download"))
        self.buttons: dict[ModelAction, QPushButton] = {}
        self._rows: list[tuple[QLabel, QLabel]] = []
        self.values: dict[str, QLabel] = {}
        self.defaults = defaults
        self._build()
        look.on_change(self, self._dress)

    def _build(self) -> None:
        self._actions = FlowRow(GRID)
        self._facts = QWidget()
        self._grid = QGridLayout(self._facts)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID * 3)
        self._grid.setVerticalSpacing(GRID)
        self._grid.setColumnStretch(1, 1)
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID * 2)
        column.addWidget(self.title)
        column.addWidget(self.about)
        column.addLayout(self._actions)
        for part in (self.bar, self.working, self.problem, self.token, self._facts, self.defaults):
            column.addWidget(part)
        column.addStretch(1)
        body = QWidget()
        body.setProperty("kind", "window")
        row = QHBoxLayout(body)
        row.setContentsMargins(GRID * 3, GRID * 3, GRID * 3, GRID * 3)
        row.addWidget(inner, 1)
        self.setWidget(body)

    def _dress(self) -> None:
        self.title.setFont(self._look.font(1.35, QFont.Weight.DemiBold))

    def show_card(self, card: ModelDetails, name: str) -> None:
        before, self._shown = self._shown, card
        self.title.setText(card.title)
        self._dress()
        _say(self.about, card.about)
        _say(self.problem, card.problem)
        restate(self.problem, level="warning")
        self.token.setVisible(card.token)
        download = card.download
        self.bar.setVisible(download is not None and download.state != "broken")
        if download is not None:
            self.bar.setValue(round(_STEPS * download.done / download.total) if download.total else 0)
            _say(self.working, download.sentence)
            restate(self.working, level="error" if download.state == "broken" else "")
        else:
            _say(self.working, card.busy)
            restate(self.working, level="")
        if card.actions != before.actions:
            self._show_deeds(card.actions)
        if card.rows != before.rows:
            self._show_rows(card.rows)
        self.defaults.setVisible(card.defaults)
        if card.defaults:
            self.defaults.show_of(name)

    def _show_deeds(self, actions: Sequence[ModelAction]) -> None:
        focused = next((action for action, button in self.buttons.items() if button.hasFocus()), None)
        while (item := self._actions.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.buttons = {}
        for i, action in enumerate(actions):
            button = text_button(title_of(action), _does(self._do, action), kind="main" if i == 0 else "")
            self.buttons[action] = button
            self._actions.addWidget(button)
        if focused is not None and actions:
            self.buttons.get(focused, self.buttons[actions[0]]).setFocus()

    def _show_rows(self, rows: Sequence[ModelFact]) -> None:
        """The labels of the card before are used again: to style a new one takes a millisecond."""
        for i in range(len(self._rows), len(rows)):
            title, value = label("", "second", wrap=True), label("", wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._rows.append((title, value))
            self._grid.addWidget(title, i, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, i, 1)
        for (title, value), row in zip(self._rows, rows):
            title.setText(row.title)
            value.setText(row.value)
            restate(value, level=row.level)
        for i, pair in enumerate(self._rows):
            for part in pair:
                part.setVisible(i < len(rows))
        self.values = {row.title: value for (_, value), row in zip(self._rows, rows)}


def _does(do: Callable[[ModelAction], object], action: ModelAction) -> Callable[[], object]:
    return lambda: do(action)


def _say(part: QLabel, text: str) -> None:
    part.setText(text)
    part.setVisible(bool(text))


_POLL = 1500  # milliseconds between two looks at memory, while the pane is shown
_HERE, _GOOD, _HUB = range(3)
_BESIDE_FIELD = 124  # pixels of the buttons beside the field and of all margins


ACTIONS = (
    ActionSpec("search", mark("Search Hugging Face"), "Ctrl+F", "search", lambda pane: pane.turn_to(_HUB)),
    ActionSpec("here", mark("Models on this machine"), "Ctrl+H", "", lambda pane: pane.turn_to(_HERE)),
    ActionSpec("good", mark("Recommended"), "Ctrl+G", "", lambda pane: pane.turn_to(_GOOD)),
    ActionSpec("folder", mark("Add a folder"), "Ctrl+O", "folder", lambda pane: pane.choose_folder()),
    ActionSpec("server", mark("Add a server"), "Ctrl+Shift+O", "server", lambda pane: pane.add_server()),
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
        self.machinery = context.machinery
        self.finding = HubSearch(context.work)
        self.downloads = context.downloads
        self.access = NetworkSettings(context.work, context.preferences)
        self._unlocks = ""  # the model that is downloaded as soon as the token is kept
        self.choices = read_catalogue()
        self.cards = ModelDetailsSource(
            context.core, context.preferences, self.library, self.machinery, self.finding, self.downloads, self.choices
        )
        context.actions.add_table(self, "models", tr("Models"), ACTIONS)
        self.servers = ServerForm(context.work, context.say)
        self.servers.added.connect(lambda name: context.models_changed())
        self.pages = QTabBar()
        self.pages.setUsesScrollButtons(False)
        self.field = QLineEdit()
        self.list = ModelListView(context.look, tr("Models"))
        self.state = label(kind="second", wrap=True)
        self.held = label(kind="second", wrap=True)
        self.view = ModelDetailsView(context.look, self.do, DefaultsView(self.library, context.look))
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
            self.pages.setTabToolTip(self.pages.addTab(title), title)
        self.pages.setAccessibleName(tr("Model lists"))
        self.pages.setDrawBase(False)
        self.pages.setExpanding(False)
        self.pages.setUsesScrollButtons(False)
        self.pages.setElideMode(Qt.TextElideMode.ElideRight)
        self.field.setClearButtonEnabled(True)
        if (clear := self.field.findChild(QToolButton)) is not None:
            clear.setAccessibleName(tr("Clear the search"))
        wear(folder := icon_button(self.context.look, "folder", ""), self.context.actions["models.folder"])
        top = QHBoxLayout()
        top.setContentsMargins(GRID * 2, GRID, GRID, 0)
        top.addWidget(self.field, 1)
        top.addWidget(folder)
        wear(server := icon_button(self.context.look, "server", ""), self.context.actions["models.server"])
        top.addWidget(server)
        side = QWidget()
        side.setProperty("kind", "side")
        side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.context.look.limit_width(side, 520)
        column = QVBoxLayout(side)
        look = self.context.look
        look.on_change(side, lambda: side.setMinimumWidth(max(240, self._filter_width() + _BESIDE_FIELD)))
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
        self.splitter.setSizes(
            [*self.context.preferences.get("models.widths", [round(360 * self.context.look.scale), 700])]
        )
        self.context.look.on_change(self.pages, self._widen)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.splitter)
        self.empty.offer(tr("Recommended"), lambda: self.turn_to(_GOOD), main=True)

    def _widen(self) -> None:
        """The names of the lists have room, where the window has it."""
        wanted, sizes = self.pages.fontMetrics().horizontalAdvance("".join(self._titles())) + 100, self.splitter.sizes()
        if 0 < sizes[0] < wanted:
            self.splitter.setSizes([wanted, max(0, sum(sizes) - wanted)])

    def _filter_width(self) -> int:
        return self.field.fontMetrics().horizontalAdvance(tr("Filter this list"))

    def _titles(self) -> list[str]:
        return [self.pages.tabText(i) for i in range(self.pages.count())]

    def _connect(self) -> None:
        for signal in (self.library.changed, self.machinery.changed, self.finding.changed, self.downloads.changed):
            signal.connect(self._show)
        self.cards.changed.connect(self._show_card)
        self.view.token.returnPressed.connect(self._give_token)
        self.access.changed.connect(self._token_kept)
        self.pages.currentChanged.connect(lambda _: self._turned())
        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self._search)
        self.list.chosen.connect(self.choose)
        self.list.customContextMenuRequested.connect(self._menu)
        self.context.models_changed.connect(self.library.look)
        self.context.preferences.changed.connect(lambda key: self._show() if key == "offline" else None)
        self.context.look.language_changed.connect(self._show)
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

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    # -- what a person does

    def turn_to(self, page: int) -> None:
        self.pages.setCurrentIndex(page)
        (self.field if page == _HUB else self.list).setFocus()

    def turn_to_recommended(self, heading: str = "") -> None:
        """`heading`: the part of the list to begin with."""
        self.turn_to(_GOOD)
        at = next((i for i, line in enumerate(self.list.lines) if line.heading and line.title == heading), None)
        if at is not None:
            self.list.setCurrentRow(at + 1)
            self.list.scrollToItem(self.list.item(at), QAbstractItemView.ScrollHint.PositionAtTop)

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

    def add_server(self) -> None:
        dialog = ServerDialog(self, self.servers)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

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

    def _give_token(self) -> None:
        """Where it is asked for: it is kept as in Settings, and the download begins."""
        given = self.view.token.text().strip()
        self.view.token.clear()  # it is shown nowhere again
        if given:
            self._unlocks = self.cards.name
            self.access.keep(given)

    def _token_kept(self) -> None:
        if not self._unlocks or self.access.busy:
            return
        unlocked, self._unlocks = self._unlocks, ""
        if self.access.problem:
            self.context.show_error(self.access.problem)
        else:
            self.downloads.start(unlocked)

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
        elif action == "refresh" and model is not None:
            self.servers.refresh(model.server)
        elif model is not None and model.place == "remote":
            self.servers.remove(model.server)
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
        if self.pages.currentIndex() == _GOOD:
            self.list.begin()  # else the model of the other list stands beside a list without it

    def _show(self) -> None:
        page, words = self.pages.currentIndex(), self.field.text()
        shown = (
            downloaded_lines(self.library, self.downloads, words) if page == _HERE
            else recommended_lines(self.choices, self.library, self.machinery.machine, words) if page == _GOOD
            else search_lines(self.finding, self.library)
        )  # fmt: skip
        hint = tr("Search Hugging Face, and press Enter") if page == _HUB else tr("Filter this list")
        self.field.setPlaceholderText(hint)
        self.field.setToolTip(hint)  # the longer one has no room in large text
        self.field.setAccessibleName(hint)
        self.list.show_lines(shown, self.cards.name)
        state = self.finding.state if page == _HUB else self._state(page, bool(shown))
        self.state.setText(state)
        self.state.setVisible(bool(state))
        held = self.library.held
        whole = size(self.context.core.state.memory)
        self.held.setText(
            tr("{size} for models, {whole} for Grus in all", size=size(held), whole=whole)
            if held
            else tr("No model is loaded. Grus uses {whole}.", whole=whole)
        )
        self._show_card()

    def _state(self, page: int, shown: bool) -> str:
        if page == _GOOD and self.machinery.problem:
            return self.machinery.problem
        if page == _HERE and not self.library.known:
            return tr("Looking for models on this machine.")
        if not shown and (words := self.field.text().strip()):
            return tr("No results for {words}.", words=words)
        return "" if shown else tr("No model yet. Recommended lists some that fit.")

    def _show_card(self) -> None:
        card = self.cards.card()
        self.view.show_card(card, self.cards.name)
        self.stack.setCurrentWidget(self.view if card.title else self.empty)

    def _menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        for action in self.cards.card().actions:
            menu.addAction(title_of(action), partial(self.do, action))
        menu.aboutToHide.connect(menu.deleteLater)
        if not menu.isEmpty():
            menu.popup(self.list.viewport().mapToGlobal(place))
