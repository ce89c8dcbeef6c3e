"""The dialog that adds a server elsewhere: its name, its address, its key."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.look import restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.remote import ServerForm
from app.gui.widgets import label, text_button

_WIDTH = 460
_NAME, _ADDRESS = "cluster", "http://192.168.1.5:8000"  # examples, the same in every language


class ServerDialog(QDialog):
    """Stays until the server has answered, so that what was typed can be corrected."""

    def __init__(self, parent: QWidget, form: ServerForm) -> None:
        super().__init__(parent)
        self._form = form
        self.setWindowTitle(tr("Add a server"))
        self.setModal(True)
        self.setMinimumWidth(_WIDTH)
        self.name, self.url, self.key, self.model = (QLineEdit() for _ in range(4))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.name.setPlaceholderText(_NAME)
        self.url.setPlaceholderText(_ADDRESS)
        self.key.setPlaceholderText(tr("Leave empty if the server needs none"))
        self.model.setPlaceholderText(tr("Only if the server does not list it"))
        self.about = label(
            tr(
                "vLLM, SGLang, llama-server, LM Studio, Ollama or another Grus. What you send to its models leaves this machine."
            ),
            "second",
            wrap=True,
        )
        self.problem = label(wrap=True)
        self.add = text_button(tr("Add"), self._add, kind="main")
        self.cancel = text_button(tr("Cancel"), self.reject)
        fields = QFormLayout()
        fields.setSpacing(GRID)
        for title, field in (
            (tr("Name"), self.name), (tr("Address"), self.url), (tr("Key"), self.key), (tr("Model"), self.model)
        ):  # fmt: skip
            field.setAccessibleName(title)
            field.returnPressed.connect(self._add)
            fields.addRow(title, field)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.add)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 3, GRID * 3, GRID * 3, GRID * 3)
        column.setSpacing(GRID * 2)
        column.addWidget(self.about)
        column.addLayout(fields)
        column.addWidget(self.problem)
        column.addLayout(buttons)
        for button in (self.add, self.cancel):  # Enter in a field adds; a default button would do so twice
            button.setAutoDefault(False)
        form.changed.connect(self._show)
        form.added.connect(self._added)
        self.finished.connect(self._leave)
        self._show()

    def _leave(self) -> None:
        """The form outlives its dialog."""
        self._form.changed.disconnect(self._show)
        self._form.added.disconnect(self._added)

    def _added(self, name: str) -> None:
        self.accept()

    def _add(self) -> None:
        if not self._form.busy:
            self._form.add(self.name.text(), self.url.text(), self.key.text(), self.model.text())

    def _show(self) -> None:
        form = self._form
        self.problem.setText(tr("Asking the server for its models.") if form.busy else form.problem)
        self.problem.setVisible(form.busy or bool(form.problem))
        restate(self.problem, level="" if form.busy else "error")
        self.add.setEnabled(not form.busy)
