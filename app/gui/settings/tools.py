"""The section of the settings pane about tools: built-in tools, servers, what is allowed of each, and adding a server."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.gui.dialogs import choose_folder
from app.gui.flow import FlowRow
from app.gui.look import Look, restate
from app.gui.settings.section import SettingsSection
from app.gui.texts import mark, tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.chat.message_views import tool_title
from app.gui.viewmodels.tools import ABOUT, AddedTools, BuiltinEntry, ListedTool, ServerEntry
from app.gui.widgets import ElidedLabel, icon_button, label, text_button

_PERMISSIONS = {"ask": mark("Ask"), "always": mark("Always"), "never": mark("Never")}
_SEARCH = "web_search"
_ABOUT = 160  # characters of a description
_BELOW = 29  # pixels to the text of a check box
_EXAMPLE = '{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}'


class ToolsView(SettingsSection):
    def __init__(self, look: Look, tools: AddedTools) -> None:
        super().__init__(look, tr("Tools"))
        self._look, self.tools = look, tools
        self._unfolded: set[str] = set()
        self._asks_search = False  # for the address of a search
        self._shown: Any = None
        self.say().setText(
            tr("A model may call these in conversations where you switch them on. You are asked before each call.")
        )
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GRID)
        rows = QWidget()
        rows.setLayout(self._rows)
        self.put(rows)
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setAccessibleName(tr("Log"))
        self.log.setFixedHeight(180)
        self.log.hide()
        self.put(self.log)
        self.put(self._form())
        self.status = label(wrap=True)
        self.put(self.status)
        tools.changed.connect(self.show_tools)
        look.language_changed.connect(self._again)
        self.show_tools()

    def _form(self) -> QWidget:
        self.name, self.where = QLineEdit(), QLineEdit()
        self.variables, self.json = QPlainTextEdit(), QPlainTextEdit()
        for field, title in (
            (self.name, tr("Name")),
            (self.where, tr("Command or address")),
            (self.variables, tr("Variables or headers: NAME=VALUE, one in each line")),
            (self.json, tr("Or paste the JSON of Claude Desktop, Cursor, LM Studio or VS Code")),
        ):
            field.setAccessibleName(title)
            field.setPlaceholderText(title)
        for area in (self.variables, self.json):
            area.setTabChangesFocus(True)
            area.setFixedHeight(64)
        self.json.setToolTip(_EXAMPLE)
        self.add_server = text_button(tr("Add server"), self._add)
        self.add_json = text_button(tr("Add from JSON"), self._add_json)
        form = QWidget()
        column = QVBoxLayout(form)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Add an MCP server"), "title"))
        for part in (self.name, self.where, self.variables):
            column.addWidget(part)
        column.addWidget(self.add_server, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.json)
        column.addWidget(self.add_json, 0, Qt.AlignmentFlag.AlignLeft)
        return form

    # -- what a person does

    def _add(self) -> None:
        fields = (self.name, self.where, self.variables)
        then = lambda: [field.clear() for field in fields]  # noqa: E731
        self.tools.add_server(self.name.text(), self.where.text(), self.variables.toPlainText(), then)

    def _add_json(self) -> None:
        self.tools.add_json(self.json.toPlainText(), self.json.clear)

    def _turn(self, entry: BuiltinEntry, on: bool) -> None:
        if entry.name == _SEARCH:
            self._asks_search = on
            if on:  # without an address it stays off
                self._again()
                self.search_address.setFocus()
                return
        if on and entry.takes_folders:
            self._shown = None  # without a folder it stays off
            self.show_tools()
            self._choose(entry)
        else:
            self.tools.turn(entry.name, on)

    def _choose(self, entry: BuiltinEntry) -> None:
        choose_folder(
            self,
            tr("Choose a folder"),
            lambda folder: self.tools.turn(entry.name, True, [*map(Path, entry.folders), folder]),
        )

    def _drop(self, entry: BuiltinEntry, folder: str) -> None:
        left = [Path(other) for other in entry.folders if other != folder]
        self.tools.turn(entry.name, bool(left), left)

    def _unfold(self, name: str) -> None:
        self._unfolded ^= {name}
        entry = next((one for one in self.tools.servers if one.server.name == name), None)
        if name in self._unfolded and entry is not None and entry.tools is None:
            self.tools.ask(name)
        self._again()

    def _show_log(self, name: str) -> None:
        def show(text: str) -> None:
            self.log.setPlainText(text or tr("{name} has written nothing.", name=name))
            self.log.show()

        self.tools.log(name, show)

    # -- what is shown

    def _again(self) -> None:
        self._shown = None
        self.show_tools()

    def show_tools(self) -> None:
        tools = self.tools
        self.status.setText(tools.problem or tools.done)
        restate(self.status, level="error" if tools.problem else "")
        self.status.setVisible(bool(tools.problem or tools.done))
        state = [*tools.builtin, *tools.servers]
        if state == self._shown:
            return
        self._shown = state
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for builtin in tools.builtin:
            self._rows.addWidget(self._builtin(builtin))
        for server in tools.servers:
            self._rows.addWidget(self._server(server))

    def _builtin(self, entry: BuiltinEntry) -> QWidget:
        on = QCheckBox(tool_title(entry.name))
        on.setObjectName(f"tool.{entry.name}")
        on.setChecked(entry.on)
        on.setEnabled(not entry.missing or entry.on)
        on.toggled.connect(partial(self._turn, entry))
        row, whole, column = _row(on)
        if entry.tool is not None:
            row.addWidget(self._permission(entry.tool))
        column.addWidget(label(entry.missing or tr(ABOUT[entry.name]), "second", wrap=True))
        if entry.name == _SEARCH:
            if entry.on or self._asks_search:
                self._add_search(column, entry)
            return _whole(whole)
        for folder in entry.folders:
            line = QHBoxLayout()
            line.addWidget(_elided(folder), 1)
            remove = partial(self._drop, entry, folder)
            line.addWidget(icon_button(self._look, "close", tr("Remove {folder}", folder=folder), remove, size=14))
            column.addLayout(line)
        if entry.on and entry.takes_folders:
            add = text_button(tr("Add a folder"), partial(self._choose, entry))
            column.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)
        return _whole(whole)

    def _add_search(self, column: QVBoxLayout, entry: BuiltinEntry) -> None:
        self.search_address, self.search_key = QLineEdit(next(iter(entry.folders), "")), QLineEdit()
        self.search_key.setEchoMode(QLineEdit.EchoMode.Password)
        fields = ((self.search_address, tr("Address of the search")), (self.search_key, tr("Key, if it needs one")))
        save = lambda: self.tools.set_search(self.search_address.text(), self.search_key.text(), self._saved)  # noqa: E731
        for field, title in fields:
            field.setAccessibleName(title)
            field.setPlaceholderText(title)
            field.returnPressed.connect(save)
            column.addWidget(field)
        self.save_search = text_button(tr("Save"), save)
        column.addWidget(self.save_search, 0, Qt.AlignmentFlag.AlignLeft)

    def _saved(self) -> None:
        self._asks_search = False
        self._again()

    def _server(self, entry: ServerEntry) -> QWidget:
        name = entry.server.name
        on = QCheckBox(name)
        on.setChecked(entry.server.enabled)
        on.toggled.connect(partial(self.tools.switch, name))
        row, whole, column = _row(on)
        unfolded = name in self._unfolded
        fold = text_button(tr("Hide tools") if unfolded else tr("Show tools"), partial(self._unfold, name), kind="fold")
        fold.setEnabled(entry.server.enabled)
        row.addWidget(fold)
        row.addWidget(
            icon_button(self._look, "list", tr("Show the log of {name}", name=name), partial(self._show_log, name))
        )
        row.addWidget(
            icon_button(self._look, "trash", tr("Remove {name}", name=name), partial(self.tools.remove, name))
        )
        column.addWidget(_elided(entry.server.where))
        if not entry.server.on_this_machine:
            column.addWidget(label(tr("What its tools are asked leaves this machine."), "second", wrap=True))
        if entry.problem:
            problem = label(entry.problem, wrap=True)
            restate(problem, level="error")
            column.addWidget(problem)
        if entry.sign_in:
            column.addWidget(SignInView(self.tools, entry))
        if entry.asking:
            column.addWidget(label(tr("Starting {name}.", name=name), "second"))
        elif unfolded and not entry.problem and entry.tools is not None:
            column.addWidget(label(trn("{n} tool", "{n} tools", len(entry.tools)), "second"))
            for tool in entry.tools:
                column.addWidget(self._tool(tool))
        return _whole(whole)

    def _tool(self, tool: ListedTool) -> QWidget:
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(label(tool.label.partition("/")[2], wrap=True))
        words.addWidget(label(" ".join(tool.description.split())[:_ABOUT], "second", wrap=True))
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(GRID * 2, 0, 0, 0)
        row.addLayout(words, 1)
        row.addWidget(self._permission(tool), 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _permission(self, tool: ListedTool) -> QComboBox:
        box = QComboBox()
        box.setObjectName(f"permission.{tool.label}")
        box.setAccessibleName(tr("Permission of {tool}", tool=tool_title(tool.label)))
        for value, title in _PERMISSIONS.items():
            box.addItem(tr(title), value)
        box.setCurrentIndex(box.findData(tool.permission))
        box.activated.connect(lambda at: self.tools.permit(tool, box.itemData(at)))
        return box


class SignInView(QWidget):
    """How far the sign-in to a server is, and what the person does next."""

    def __init__(self, tools: AddedTools, entry: ServerEntry) -> None:
        super().__init__()
        name, address = entry.server.name, entry.address
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        sentences = {
            "wanted": tr("{name} asks you to sign in.", name=name),
            "preparing": tr("Asking {name} where to sign in.", name=name),
            "open": tr("Sign in at {host} in your browser. Grus waits for the answer.", host=urlsplit(address).netloc),
            "done": tr("You are signed in."),
        }
        column.addWidget(label(sentences[entry.sign_in], "second", wrap=True))
        buttons = FlowRow(GRID)
        buttons.setContentsMargins(0, 0, 0, 0)
        self.go = text_button(tr("Sign in"), lambda: tools.sign_in(name))
        self.open = text_button(tr("Open the browser"), lambda: open_address(address), kind="main")
        self.copy = text_button(tr("Copy the address"), lambda: QGuiApplication.clipboard().setText(address))
        self.cancel = text_button(tr("Cancel"), lambda: tools.cancel_sign_in(name))
        self.out = text_button(tr("Sign out"), lambda: tools.sign_out(name))
        shown = {"wanted": [self.go], "open": [self.open, self.copy, self.cancel], "done": [self.out]}
        for button in (self.go, self.open, self.copy, self.cancel, self.out):
            buttons.addWidget(button)
            button.setVisible(button in shown.get(entry.sign_in, [self.cancel]))
        column.addLayout(buttons)
        self.ended = QLineEdit()
        title = tr("Where the browser shows an error: the address at which it ended")
        self.ended.setAccessibleName(title)
        self.ended.setPlaceholderText(title)
        self.ended.returnPressed.connect(lambda: tools.take_address(name, self.ended.text()))
        self.ended.setVisible(entry.sign_in == "open")
        column.addWidget(self.ended)


def open_address(address: str) -> None:
    QDesktopServices.openUrl(QUrl(address))


def _row(first: QWidget) -> tuple[QHBoxLayout, QVBoxLayout, QVBoxLayout]:
    """A row, the whole that begins with it, and what stands below it, in line with the text of its check box."""
    row = QHBoxLayout()
    row.setSpacing(GRID)
    row.addWidget(first, 1)
    below = QVBoxLayout()
    below.setContentsMargins(_BELOW, 0, 0, 0)
    below.setSpacing(GRID // 2)
    whole = QVBoxLayout()
    whole.setContentsMargins(0, 0, 0, 0)
    whole.setSpacing(0)
    whole.addLayout(row)
    whole.addLayout(below)
    return row, whole, below


def _elided(text: str) -> ElidedLabel:
    made = ElidedLabel("second")
    made.setText(text)
    made.setToolTip(text)
    return made


def _whole(column: QVBoxLayout) -> QWidget:
    made = QWidget()
    made.setLayout(column)
    return made
