"""The dialog with resources or prompts of tool servers: a list, what is chosen of it, its arguments, and one button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.look import restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.server_items import ServerItems
from app.gui.widgets import label, text_button

if TYPE_CHECKING:
    from app.runtime.tools.resources import ServerArgument, ServerPrompt, ServerResource

_WIDTH, _LIST_HEIGHT = 520, 220
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class ServerItemsDialog(QDialog):
    def __init__(self, parent: QWidget, items: ServerItems) -> None:
        super().__init__(parent)
        self._items = items
        resources = items.kind == "resource"
        self.setWindowTitle(tr("Attach a resource") if resources else tr("Use a prompt"))
        self.setModal(True)
        self.setMinimumWidth(_WIDTH)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search"))
        self.search.setAccessibleName(tr("Search"))
        self.results = QListWidget()
        self.results.setAccessibleName(tr("Resources") if resources else tr("Prompts"))
        self.results.setFixedHeight(_LIST_HEIGHT)
        self.about = label(kind="second", wrap=True)
        self.fields: dict[str, QLineEdit] = {}
        self._form = QFormLayout()
        self._form.setSpacing(GRID)
        self.status = label(wrap=True)
        self.go = text_button(tr("Attach") if resources else tr("Use"), self._use, kind="main")
        self.leave = text_button(tr("Cancel"), self.reject)
        self._build(
            tr("What tool servers have to read goes with your message as a file.")
            if resources
            else tr("A prompt goes into the message field, where you can change it before you send it.")
        )
        self._listed: list[ServerResource | ServerPrompt] | None = None
        self.search.textChanged.connect(self._list)
        self.search.installEventFilter(self)
        self.results.currentItemChanged.connect(lambda *_: self._show_chosen())
        self.results.itemActivated.connect(lambda _: self._use())
        items.changed.connect(self._show)
        items.used.connect(self.accept)
        self.finished.connect(self._left)
        self._show()

    def _build(self, sentence: str) -> None:
        end = QHBoxLayout()
        end.addStretch(1)
        end.addWidget(self.leave)
        end.addWidget(self.go)
        self.leave.setAutoDefault(False)
        self.go.setDefault(True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(GRID * 3, GRID * 3, GRID * 3, GRID * 3)
        whole.setSpacing(GRID * 2)
        whole.addWidget(label(sentence, "second", wrap=True))
        whole.addWidget(self.search)
        whole.addWidget(self.results)
        whole.addWidget(self.about)
        whole.addLayout(self._form)
        whole.addWidget(self.status)
        whole.addLayout(end)

    def _left(self) -> None:
        self._items.changed.disconnect(self._show)
        self._items.used.disconnect(self.accept)
        self.deleteLater()

    # -- what is shown

    def _show(self) -> None:
        items = self._items
        if self._listed is not items.items:
            self._listed = items.items
            self._list()
        if items.busy:
            words = tr("Asking the tool servers.")
        elif not items.items and not items.problem:
            words = tr("No tool server that is on has a resource.") if items.kind == "resource" else tr("No tool server that is on has a prompt.")  # fmt: skip
        else:
            words = items.problem
        self.status.setText(words)
        restate(self.status, level="error" if items.problem else "")
        self.status.setVisible(bool(words))
        self._enable()

    def _list(self) -> None:
        self.results.clear()
        for item in self._items.matching(self.search.text()):
            line = QListWidgetItem(f"{item.title} · {item.server}")
            line.setData(Qt.ItemDataRole.UserRole, item)
            self.results.addItem(line)
        self.results.setCurrentRow(0)
        self._show_chosen()

    @property
    def chosen(self) -> ServerResource | ServerPrompt | None:
        line = self.results.currentItem()
        return line.data(Qt.ItemDataRole.UserRole) if line is not None else None

    def _show_chosen(self) -> None:
        item = self.chosen
        about = [item.description, getattr(item, "uri", "")] if item is not None else []
        self.about.setText("\n".join(filter(None, about)))
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        for argument in item.arguments if item is not None else ():
            self._add_field(argument)
        self._enable()

    def _add_field(self, argument: ServerArgument) -> None:
        field = self.fields[argument.name] = QLineEdit()
        title = argument.name if argument.required else tr("{name} (optional)", name=argument.name)
        field.setAccessibleName(title)
        field.setPlaceholderText(argument.description)
        field.setToolTip(argument.description)
        field.textChanged.connect(self._enable)
        name = label(title, wrap=True)
        name.setBuddy(field)
        self._form.addRow(name, field)

    def _enable(self) -> None:
        item = self.chosen
        filled = item is not None and all(
            self.fields[one.name].text().strip() for one in item.arguments if one.required and one.name in self.fields
        )
        self.go.setEnabled(filled and not self._items.busy)

    # -- what a person does

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down walk through the list while the search is typed."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _STEPS:
            row = self.results.currentRow() + _STEPS[Qt.Key(event.key())]
            self.results.setCurrentRow(max(0, min(self.results.count() - 1, row)))
            return True
        return super().eventFilter(watched, event)

    def _use(self) -> None:
        if self.chosen is not None and self.go.isEnabled():
            self._items.use(self.chosen, {name: field.text() for name, field in self.fields.items()})


def open_server_items(parent: QWidget, items: ServerItems) -> ServerItemsDialog:
    dialog = ServerItemsDialog(parent, items)
    items.look()
    dialog.open()
    return dialog
