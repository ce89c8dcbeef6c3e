"""A tool call in the transcript: the question before it is made, what it was given and what came of it, folded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.gui.chat.message_view import Do, MessageWidget, RichText, thumbnail
from app.gui.flow import FlowRow, empty_row
from app.gui.look import Look, restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.message_views import FROM_TOOL, MessageView
from app.gui.widgets import label, text_button

if TYPE_CHECKING:
    from app.gui.chat.drawn import FormulaImages
    from app.window_reply import PermissionQuestion

_SHOWN = 20_000  # characters of a result
_LINES = 3, 12  # of the field with the arguments
_PAD = 6  # what a flat button leaves free around its text


class ToolCallWidget(MessageWidget):
    """`question` asks whether it may be made; `manual` has a place for the result of a call that nobody makes; else it is one line that
    unfolds."""

    above = GRID

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.head = QPushButton(self)
        self.head.setProperty("kind", "fold")
        self.head.setIconSize(QSize(14, 14))
        self.head.clicked.connect(
            lambda checked=False: self.view and self.do("fold_call", self.view.message, self.view.key[2])
        )
        self.box = QWidget(self)
        self.box.setProperty("kind", "codebox")
        self.box.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.name = label(kind="title", wrap=True)
        self.about = label(kind="second", wrap=True)
        self.warning = label(wrap=True)
        restate(self.warning, level="warning")
        self.field = QPlainTextEdit()
        self.field.setAccessibleName(tr("Arguments"))
        self.field.setTabChangesFocus(True)
        self.field.textChanged.connect(self._typed)
        self._question: PermissionQuestion | None = None  # whose arguments the field holds
        self.once = text_button(tr("Allow once"), lambda: self._permit(True, "once"), kind="main")
        self.here = text_button(tr("Allow in this conversation"), lambda: self._permit(True, "conversation"))
        self.here.setToolTip(tr("Until Grus is closed."))
        self.always = text_button(tr("Always allow"), lambda: self._permit(True, "for good"))
        self.no = text_button(tr("Don't allow"), lambda: self._permit(False, "once"))
        self.never = text_button(tr("Never allow"), lambda: self._permit(False, "for good"))
        self.buttons = QWidget()
        row = FlowRow(GRID)
        row.setContentsMargins(0, 0, 0, 0)
        for button in (self.once, self.here, self.always, self.no, self.never):
            row.addWidget(button)
        self.buttons.setLayout(row)
        self.arguments = label(wrap=True)
        self.arguments.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.answer = text_button(tr("Enter tool result"), lambda: self.view and self.do("answer", self.view.message))
        self.source = label(tr(FROM_TOOL), "second", wrap=True)
        self.result = RichText(look, self)
        self.result.setAccessibleName(tr("Result"))
        self.pictures = FlowRow(GRID)
        self.pictures.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self.box)
        column.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        column.setSpacing(GRID)
        for part in (self.name, self.about, self.warning, self.arguments, self.field, self.buttons):
            column.addWidget(part)
        column.addWidget(self.answer, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.source)
        column.addWidget(self.result)
        column.addLayout(self.pictures)

    # -- what is shown

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        call = view.call
        assert call is not None
        question, made = view.question, bool(call.outcome)
        self.head.setVisible(made and question is None)
        self.head.setText(view.title.replace("&", "&&"))
        self.head.setIcon(self.look.icon("down" if view.open else "right"))
        self.head.setToolTip(tr("Hide the call") if view.open else tr("Show the call"))
        self.head.setAccessibleName(f"{view.title} {self.head.toolTip()}")
        self.box.setVisible(question is not None or not made or view.open)
        self.name.setText(view.title if question is not None else tr("Tool call: {tool}", tool=call.name))
        self.name.setVisible(question is not None or not made)
        for part in (self.about, self.warning, self.field, self.buttons):
            part.setVisible(question is not None)
        self.arguments.setVisible(question is None)
        self.arguments.setFont(self.look.mono)
        self.arguments.setText(call.arguments)
        self.answer.setVisible(not made and view.open)
        result = call.result if made and view.open else ""
        files = view.files if made and view.open else ()
        self.result.setVisible(bool(result))
        self.source.setVisible(bool(result or files) and call.outcome in ("made", "failed"))
        empty_row(self.pictures)
        for file in files:
            self.pictures.addWidget(thumbnail(self.box, file.path, file.name))
        self.result.show_plain(result if len(result) <= _SHOWN else f"{result[:_SHOWN]} …")
        self._question = None
        if question is not None:
            self._ask(question)

    def _ask(self, question: PermissionQuestion) -> None:
        asked = question.request
        self.about.setText(asked.description)
        self.about.setVisible(bool(asked.description))
        warnings = [
            tr("What it is asked leaves this machine.") if asked.leaves_machine else "",
            tr("It has changed since you allowed it.") if asked.changed else "",
        ]
        self.warning.setText(" ".join(filter(None, warnings)))
        self.warning.setVisible(any(warnings))
        self.field.setFont(self.look.mono)
        text = question.edited
        if text is None:
            text = json.dumps(asked.arguments, ensure_ascii=False, indent=2)
        if self.field.toPlainText() != text:  # else the cursor stays where it is
            self.field.setPlainText(text)
        self._question = question
        line = self.field.fontMetrics().lineSpacing()
        lines = min(max(self.field.document().blockCount(), _LINES[0]), _LINES[1])
        self.field.setFixedHeight(line * lines + 4 * GRID)

    def measure(self, width: int) -> int:
        y = 0
        if self.head.isVisibleTo(self):
            hint = self.head.sizeHint()
            self.head.setGeometry(-_PAD, 0, min(width + _PAD, hint.width()), hint.height())
            y = hint.height() + (_PAD if self.box.isVisibleTo(self) else 0)
        if self.box.isVisibleTo(self):
            if self.result.isVisibleTo(self.box):
                self.result.setFixedHeight(self.result.height_for(width - 4 * GRID))
            inside = self.box.layout()
            assert inside is not None  # it was given one when it was made
            self.box.setFixedWidth(width)
            inside.invalidate()
            inside.activate()
            height = inside.heightForWidth(width) if inside.hasHeightForWidth() else inside.sizeHint().height()
            self.box.setGeometry(0, y, width, height)
            y += height + GRID
        return y

    # -- what a person does

    def _edited(self) -> dict[str, Any] | None:
        try:
            given = json.loads(self.field.toPlainText())
        except (ValueError, RecursionError):
            return None
        return given if isinstance(given, dict) else None

    def _typed(self) -> None:
        """The question keeps what is typed: a card that is scrolled far away is made anew. A call is made with valid arguments only."""
        if self._question is not None:
            self._question.edited = self.field.toPlainText()
        valid = self._edited() is not None
        for button in (self.once, self.here, self.always):
            button.setEnabled(valid)

    def _permit(self, allowed: bool, remember: Literal["once", "conversation", "for good"]) -> None:
        from app.runtime.tools.permissions import PermissionAnswer

        view, arguments = self.view, self._edited()
        if view is None or view.question is None or (allowed and arguments is None):
            return
        changed = arguments if allowed and arguments != view.question.request.arguments else None
        self.do("permit", view.message, PermissionAnswer(allowed, remember, changed))
