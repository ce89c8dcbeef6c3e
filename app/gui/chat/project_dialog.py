"""The dialog with the settings of a project: its name, instructions, model, files, libraries and tools."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.gui.chat.composer import Chip
from app.gui.chat.menus import open_library_menu, open_tool_menu
from app.gui.dialogs import choose_files
from app.gui.drop import accept_copy
from app.gui.flow import FlowRow, empty_row
from app.gui.look import restate
from app.gui.pane import AppContext
from app.gui.texts import size, tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.message_views import tool_title
from app.gui.viewmodels.chat.project_form import ProjectForm
from app.gui.widgets import label, text_button

_WIDTH, _HEIGHT = 520, 120


class ProjectDialog(QDialog):
    """Closing it is all there is to do: every change is stored when it is made."""

    def __init__(self, parent: QWidget, context: AppContext, form: ProjectForm, models: list[str]) -> None:
        super().__init__(parent)
        self._context, self._form = context, form
        self.setWindowTitle(tr("Project settings"))
        self.setModal(True)
        self.setMinimumWidth(_WIDTH)
        self.setAcceptDrops(True)
        self.name = QLineEdit(form.project.name)
        self.system = QPlainTextEdit(form.project.system)
        self.system.setPlaceholderText(tr("What the model should know and how it should answer."))
        self.system.setTabChangesFocus(True)
        self.system.setFixedHeight(_HEIGHT)
        self.model = QComboBox()
        self.model.addItem(tr("The model chosen last"), "")
        for name in dict.fromkeys(filter(None, [form.project.model, *models])):
            self.model.addItem(name, name)
        self.model.setCurrentIndex(max(0, self.model.findData(form.project.model)))
        self.add_files = text_button(tr("Add files…"), self._choose_files)
        self.add_library = text_button(tr("Choose libraries…"), self._choose_libraries)
        self.add_tool = text_button(tr("Choose tools…"), self._choose_tools)
        self.files, self.libraries, self.tools = FlowRow(GRID), FlowRow(GRID), FlowRow(GRID)
        self.problem = label(wrap=True)
        self.done_button = text_button(tr("Done"), self.accept, kind="main")
        self._build()
        self.name.textEdited.connect(lambda text: form.put(name=text) if text.strip() else None)
        self.name.returnPressed.connect(self.accept)
        self.system.textChanged.connect(lambda: form.put(system=self.system.toPlainText()))
        self.model.activated.connect(lambda at: form.put(model=self.model.itemData(at)))
        form.changed.connect(self._show)
        form.failed.connect(self._show_problem)
        self.finished.connect(self._leave)
        self._show_problem("")
        self._show()

    def _build(self) -> None:
        about = label(
            tr("These hold for all conversations in the project, also for those that are there already."),
            "second",
            wrap=True,
        )
        fields = QFormLayout()
        fields.setSpacing(GRID)
        named: tuple[tuple[str, QWidget], ...] = (
            (tr("Name"), self.name), (tr("Instructions"), self.system), (tr("Model"), self.model)
        )  # fmt: skip
        for title, field in named:
            field.setAccessibleName(title)
            fields.addRow(title, field)
        used = ((tr("Files"), self.files, self.add_files), (tr("Libraries"), self.libraries, self.add_library),
                (tr("Tools"), self.tools, self.add_tool))  # fmt: skip
        for title, row, button in used:
            button.setAutoDefault(False)
            column = QVBoxLayout()
            column.setSpacing(GRID // 2)
            column.addLayout(row)
            line = QHBoxLayout()
            line.addWidget(button)
            line.addStretch(1)
            column.addLayout(line)
            fields.addRow(title, column)
        end = QHBoxLayout()
        end.addStretch(1)
        end.addWidget(self.done_button)
        self.done_button.setAutoDefault(False)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(GRID * 3, GRID * 3, GRID * 3, GRID * 3)
        whole.setSpacing(GRID * 2)
        whole.addWidget(about)
        whole.addLayout(fields)
        whole.addWidget(self.problem)
        whole.addLayout(end)

    def _leave(self) -> None:
        """A file that is still being read is stored all the same: the form outlives its dialog."""
        self._form.changed.disconnect(self._show)
        self._form.failed.disconnect(self._show_problem)

    # -- what is used

    def _choose_files(self) -> None:
        choose_files(self, tr("Add files…"), self._form.add_files)

    def _choose_libraries(self) -> None:
        used, use = self._form.project.libraries, partial(self._form.use, "libraries")
        open_library_menu(self._context, self.add_library, used, use, self.accept)

    def _choose_tools(self) -> None:
        used, use = self._form.project.tools, partial(self._form.use, "tools")
        open_tool_menu(self._context, self.add_tool, used, use, self.accept)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            accept_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        accept_copy(event)
        self._form.add_files([Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])

    # -- what is shown

    def _show(self) -> None:
        project, look = self._form.project, self._context.look
        for row in (self.files, self.libraries, self.tools):
            empty_row(row)
        for file in project.files:
            icon = {"image": "image", "sound": "sound"}.get(file.kind, "file")
            tip = " · ".join(filter(None, (file.name, size(file.nbytes), file.note)))
            self.files.addWidget(Chip(look, file.name, icon, tip, partial(self._form.remove_file, file)))
        if self._form.reading:
            self.files.addWidget(label(tr("Reading the file."), "second"))
        for folder in project.libraries:
            remove: Any = partial(self._form.use, "libraries", folder, False)
            self.libraries.addWidget(Chip(look, Path(folder).name or folder, "libraries", folder, remove))
        for name in project.tools:
            remove = partial(self._form.use, "tools", name, False)
            tip = tr("The model may call this tool.")
            self.tools.addWidget(Chip(look, tool_title(name), "tool", tip, remove))

    def event(self, event: QEvent) -> bool:
        """It grows with chips and sentences that come."""
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show) and (layout := self.layout()) is not None:
            wanted = max(layout.totalHeightForWidth(self.width()), layout.totalSizeHint().height())
            self.resize(self.width(), max(self.height(), wanted))
        return handled

    def _show_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        restate(self.problem, level="error")
