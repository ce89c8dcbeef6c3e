"""The message field: grows with the text, takes files by drop and paste, sends with Enter; and dictation into it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QFocusEvent, QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QTextEdit, QVBoxLayout, QWidget

from app.gui.drop import accept_copy
from app.gui.flow import FlowRow, empty_row
from app.gui.look import Look, restate
from app.gui.pane import AppContext
from app.gui.sound import devices
from app.gui.texts import size, tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.draft import MessageDraft
from app.gui.viewmodels.chat.message_views import tool_title
from app.gui.viewmodels.listen import captioned
from app.gui.widgets import icon_button, label
from engine.errors import BackendUnavailable

if TYPE_CHECKING:
    import numpy as np

_MOST_LINES = 12
_LONGEST_PASTE = 6000  # characters; a longer text that is pasted becomes a file of the message


class Field(QTextEdit):
    """Plain text. Files and pictures that are dropped or pasted go to the draft."""

    send_wanted = Signal()
    files_came = Signal(list)
    picture_came = Signal(bytes)
    long_text_came = Signal(str)
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "bare")
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setPlaceholderText(tr("Write a message"))
        self.setAccessibleName(tr("Message"))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(2)
        self.textChanged.connect(self.fit)
        self.fit()

    def fit(self) -> None:
        """As high as its text, up to a dozen lines."""
        line = self.fontMetrics().lineSpacing()
        wanted = self.document().size().height() + 4
        self.setFixedHeight(round(min(max(wanted, line + 8), line * _MOST_LINES + 8)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        breaks = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not breaks and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.send_wanted.emit()
                return
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                event.ignore()
                return
            self.insertPlainText("\n")
            return
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            event.ignore()  # the conversation scrolls
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def dropEvent(self, event: QDropEvent) -> None:
        if not event.mimeData().hasUrls():
            super().dropEvent(event)
            return
        accept_copy(event)
        self.insertFromMimeData(event.mimeData())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        files = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
        if files:
            self.files_came.emit(files)
        elif source.hasImage():
            self.picture_came.emit(_png(source.imageData()))
        elif source.hasText() and len(source.text()) > _LONGEST_PASTE:
            self.long_text_came.emit(source.text())
        elif source.hasText():
            self.insertPlainText(source.text())


def _png(image: Any) -> bytes:
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImage(image).save(buffer, "PNG")  # type: ignore[call-overload]  # Qt takes text; its stubs say bytes
    return bytes(held.data())


class Composer(QWidget):
    """The field, the files that wait, and the button that sends or stops."""

    send_wanted = Signal(str)
    stop_wanted = Signal()
    edit_ended = Signal()

    def __init__(self, look: Look, draft: MessageDraft, say: Callable[..., Any]) -> None:
        super().__init__()
        self._look, self._draft, self._say = look, draft, say
        self._writing = False
        self._editing = False  # the field holds something else than the draft
        self.box = QWidget()
        self.box.setProperty("kind", "composer")
        self.box.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.field = Field()
        self.files = QWidget()
        self._files_row = QHBoxLayout(self.files)
        self._files_row.setContentsMargins(0, 0, 0, 0)
        self.mode = label(kind="second")  # what is edited, what is read
        self.mode_end = icon_button(look, "close", tr("Cancel editing"), self.edit_ended.emit, size=14)
        self.attach = icon_button(look, "attach", tr("Attach files"), size=20)
        self.libraries = icon_button(look, "libraries", tr("Use a library"), size=20)
        self.tools = icon_button(look, "tool", tr("Use tools"), size=20)
        self._project_row = FlowRow(GRID)
        self._compared_row = FlowRow(GRID)  # the other models that answer the next message
        self._used_row = FlowRow(GRID)  # the libraries that are asked
        self._tools_row = FlowRow(GRID)  # the tools that the model may call
        self.dictate = icon_button(look, "mic", tr("Dictate"), size=20)
        self.talk = icon_button(look, "talk", tr("Talk"), size=20)
        self.go = icon_button(look, "send", tr("Send (Enter)"), self._go, kind="send", size=18, colour="on_accent")
        self.go.setFixedSize(QSize(34, 34))
        self._build()
        self.field.textChanged.connect(self._typed)
        self.field.send_wanted.connect(self._send)
        self.field.files_came.connect(draft.add)
        self.field.picture_came.connect(lambda data: draft.add_bytes(tr("Pasted picture") + ".png", data))
        self.field.long_text_came.connect(
            lambda text: draft.add_bytes(tr("Pasted text") + ".txt", text.encode("utf-8", "replace"))
        )
        self.field.focus_changed.connect(lambda has: restate(self.box, chosen=has))
        draft.loaded.connect(self._load)
        draft.files_changed.connect(self._show_files)
        draft.failed.connect(self.show_error)
        look.on_change(self, self._dress)
        self._show_files()
        self.show_project("")
        self.show_libraries((), lambda folder: None)
        self.show_tools((), lambda name: None)
        self.edit_mode("")

    def _build(self) -> None:
        inner = QVBoxLayout(self.box)
        inner.setContentsMargins(GRID * 2, GRID, GRID, GRID)
        inner.setSpacing(GRID // 2)
        mode = QHBoxLayout()
        mode.addWidget(self.mode, 1)
        mode.addWidget(self.mode_end)
        inner.addLayout(mode)
        inner.addLayout(self._project_row)
        inner.addLayout(self._compared_row)
        inner.addLayout(self._used_row)
        inner.addLayout(self._tools_row)
        inner.addWidget(self.files)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(GRID)
        self._buttons.addStretch(1)  # without effect beside the field, which takes all there is
        for button in (self.attach, self.libraries, self.tools, self.dictate, self.talk, self.go):
            self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        self._row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(GRID)
        row.addWidget(self.field, 1)
        row.addLayout(self._buttons)
        inner.addLayout(row)
        self.outer = QVBoxLayout(self)
        self.outer.setContentsMargins(0, 0, 0, 0)
        self.outer.setSpacing(GRID // 2)
        self.outer.addWidget(self.box)

    # -- what is shown

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """The buttons go below the field where it would have no room for its placeholder beside them."""
        wanted = self.field.fontMetrics().horizontalAdvance(self.field.placeholderText()) + GRID * 2
        beside = self.width() - GRID * 4 - self._buttons.minimumSize().width()
        below = beside < wanted
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def show_writing(self, writing: bool) -> None:
        """While a reply is written the button stops it."""
        self._writing = writing
        title = tr("Stop (Esc)") if writing else tr("Send (Enter)")
        self.go.setToolTip(title)
        self.go.setAccessibleName(title)
        self._dress()
        self._enable()

    def edit_mode(self, sentence: str, text: str = "") -> None:
        """The field holds something else than the draft, until an empty sentence brings the draft back."""
        self._editing = bool(sentence)
        self.mode.setText(sentence)
        self.mode.setVisible(self._editing)
        self.mode_end.setVisible(self._editing)
        self.put(text if sentence else self._draft.text)

    def show_error(self, sentence: str) -> None:
        """Above the content; nothing: what failed works now."""
        self._say(sentence, level="error" if sentence else "ok")

    def put_above(self, bar: QWidget) -> None:
        self.outer.insertWidget(0, bar)

    def put(self, text: str) -> None:
        self.field.setPlainText(text)
        cursor = self.field.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.field.setTextCursor(cursor)

    def _load(self) -> None:
        if not self._editing and self.field.toPlainText() != self._draft.text:
            self.put(self._draft.text)

    def _show_files(self) -> None:
        while (item := self._files_row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for file in self._draft.files:
            icon = {"image": "image", "sound": "sound"}.get(file.kind, "file")
            tip = " · ".join(filter(None, (file.name, size(file.nbytes), file.note)))
            self._files_row.addWidget(Chip(self._look, file.name, icon, tip, partial(self._draft.remove, file)))
        if self._draft.reading:
            self._files_row.addWidget(label(tr("Reading the file."), "second"))
        self._files_row.addStretch(1)
        self.files.setVisible(bool(self._draft.files or self._draft.reading))
        self._enable()

    def show_project(
        self,
        name: str,
        tip: str = "",
        leave: Callable[[], Any] = lambda: None,
        settings: Callable[[], Any] | None = None,
    ) -> None:
        """A chip for the project of the conversation; none: an empty name."""
        empty_row(self._project_row)
        if name:
            self._project_row.addWidget(Chip(self._look, name, "folder", tip, leave, settings))

    def show_compared(self, models: Sequence[str], remove: Callable[[str], Any]) -> None:
        """A chip for each other model that answers the next message."""
        empty_row(self._compared_row)
        tip = tr("Answers the next message, too.")
        for model in models:
            self._compared_row.addWidget(Chip(self._look, model, "compare", tip, partial(remove, model)))

    def show_libraries(self, folders: Sequence[str], remove: Callable[[str], Any]) -> None:
        """A chip for each library of the conversation."""
        empty_row(self._used_row)
        for folder in folders:
            name = Path(folder).name or folder
            self._used_row.addWidget(Chip(self._look, name, "libraries", folder, partial(remove, folder)))

    def show_tools(self, names: Sequence[str], remove: Callable[[str], Any]) -> None:
        """A chip for each server and built-in tool that the model may call."""
        empty_row(self._tools_row)
        tip = tr("The model may call this tool.")
        for name in names:
            self._tools_row.addWidget(Chip(self._look, tool_title(name), "tool", tip, partial(remove, name)))

    def _dress(self) -> None:
        self.go.setIcon(self._look.icon("stop" if self._writing else "send", "on_accent"))
        self.field.fit()
        self._arrange()

    def _enable(self) -> None:
        ready = bool(self.field.toPlainText().strip() or self._draft.files) and not self._draft.reading
        self.go.setEnabled(self._writing or ready)

    # -- what a person does

    def _typed(self) -> None:
        if not self._editing:
            self._draft.type(self.field.toPlainText())
        self._enable()

    def _go(self) -> None:
        (self.stop_wanted.emit if self._writing else self._send)()

    def _send(self) -> None:
        if not (self._writing and self._editing) and not self._draft.reading:
            self.show_error("")
            self.send_wanted.emit(self.field.toPlainText())


class Chip(QWidget):
    """A file that waits to be sent, a library that is asked, or a tool that may be called. `settings` opens those of what it is."""

    def __init__(
        self,
        look: Look,
        name: str,
        icon_name: str,
        tip: str,
        remove: Callable[[], Any],
        settings: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        icon = QLabel()
        icon.setPixmap(look.icon(icon_name).pixmap(QSize(16, 16)))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 2, 2, 2)
        row.setSpacing(GRID // 2)
        row.addWidget(icon)
        text = label(self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, 220))
        row.addWidget(text)
        if settings is not None:
            row.addWidget(icon_button(look, "sliders", tr("Settings of {name}", name=name), settings, size=12))
        row.addWidget(icon_button(look, "close", tr("Remove {name}", name=name), remove, size=12))
        self.setToolTip(tip)


class Dictation(QObject):
    """`toggle` starts and ends it. Speech that was in progress at the end is still transcribed."""

    def __init__(self, context: AppContext, composer: Composer) -> None:
        super().__init__(composer)
        self._context, self._composer = context, composer
        self._microphone: Any = None
        self._sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()

    @property
    def running(self) -> bool:
        return self._microphone is not None

    def toggle(self) -> None:
        if not self.stop():
            self._begin()

    def stop(self) -> bool:
        """False when nothing was dictated."""
        if self._microphone is None:
            return False
        self._microphone.stop()
        self._microphone = None
        self._sound.put(None)
        self._show()
        return True

    def _begin(self) -> None:
        sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        try:
            self._microphone = devices.Microphone(sound.put, self, self._lost)
        except BackendUnavailable as error:
            self._composer.show_error(str(error))
            return
        self._sound = sound
        model = str(self._context.preferences.get("listen.model", ""))
        self._context.core.stream(lambda core: captioned(core, model, sound, None), self._receive, self._ended)
        self._composer.show_error("")
        self._context.say(tr("Dictating. Press again to stop."))
        self._show()

    def _receive(self, captions: list[Any]) -> None:
        field = self._composer.field
        for caption in captions:
            if caption.final:
                before = field.toPlainText()[: field.textCursor().position()]
                space = " " if before and not before[-1].isspace() else ""
                field.insertPlainText(space + caption.segment.text)

    def _lost(self, sentence: str) -> None:
        self.stop()
        self._composer.show_error(sentence)

    def _ended(self, problem: str) -> None:
        if problem:
            self._composer.show_error(problem)
            self.stop()

    def _show(self) -> None:
        title = tr("Stop dictating") if self.running else tr("Dictate")
        button = self._composer.dictate
        button.setAccessibleName(title)
        button.setToolTip(f"{title} (Ctrl+Shift+V)")
        button.setIcon(self._context.look.icon("stop" if self.running else "mic"))
