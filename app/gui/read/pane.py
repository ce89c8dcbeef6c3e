"""The Read pane: documents on the left, the page in the middle, what stands on it on the right.

Puts the views and the view-model together; what the actions do is in `deeds.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import wear
from app.gui.look import restate
from app.gui.model_box import AbilityBox
from app.gui.pane import Desk, Pane
from app.gui.read.deeds import Deeds
from app.gui.read.document import Blocks, PageView
from app.gui.read.queueview import QueueView, as_image
from app.gui.results import from_outside
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.read import TASKS, Item, Reading, Wish
from app.gui.viewmodels.read_export import Pixels, pixels
from app.gui.widgets import Empty, icon_button, label, text_button

_KEPT = 6  # pages whose pixels are held


def make(desk: Desk) -> Pane:
    return ReadPane(desk)


class ReadPane(Pane):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.setAcceptDrops(True)
        said = lambda sentence, **more: self.desk.say(sentence, **more)  # noqa: E731 (the window sets it later)
        self.reading = Reading(desk.store, desk.core, desk.work, said, desk.places.attachments)
        self.queue = QueueView(desk, self.reading)
        self.page = PageView(desk.look)
        self.blocks = Blocks(desk.look)
        self.model_box = AbilityBox(desk, "read")
        self.empty = Empty(desk.look, "read", tr("Read anything"), "")
        self._images: dict[tuple[str, int, float], tuple[QImage, tuple[int, int]]] = {}
        self._asked: set[tuple[str, int, float]] = set()
        self._looked: tuple[Item | None, int] = (None, 0)
        self.deeds = Deeds(self)
        self._build()
        self._connect()
        self.reading.look()
        self._show()

    def _build(self) -> None:
        deeds = self.desk.actions
        self.task = QComboBox()
        self.task.setAccessibleName(tr("What to read"))
        self.task.setToolTip(tr("What to read"))
        for name, title in TASKS:
            self.task.addItem(tr(title), name)
        self.pages = QLineEdit()
        self.pages.setPlaceholderText(tr("All pages"))
        self.pages.setAccessibleName(tr("Pages"))
        self.pages.setToolTip(tr("Which pages, such as 1-3,5 or 7-"))
        self.pages.setFixedWidth(96)
        self.layer = QCheckBox(tr("Use text in PDFs"))
        self.layer.setAccessibleName(tr("Use text in PDFs"))
        self.layer.setToolTip(tr("Take the text that a PDF carries instead of reading its picture."))
        self.layer.setChecked(True)
        head = QHBoxLayout()
        head.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        head.setSpacing(GRID)
        for part in (self.model_box, self.task, self.pages, self.layer):
            head.addWidget(part)
        head.addStretch(1)
        for name in ("again", "copy", "export"):
            wear(button := icon_button(self.desk.look, "more", ""), deeds[f"read.{name}"])
            head.addWidget(button)
        left = QWidget()
        left.setProperty("kind", "side")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        tools = QHBoxLayout()
        tools.setContentsMargins(GRID * 2, GRID, GRID, 0)
        self.add = text_button(tr("Add files"), self.deeds.choose, kind="main")
        self.add.setToolTip(deeds["read.add"].toolTip())
        tools.addWidget(self.add)
        tools.addStretch(1)
        for name in ("paste", "snip", "export_all"):
            wear(button := icon_button(self.desk.look, "more", ""), deeds[f"read.{name}"])
            tools.addWidget(button)
        column = QVBoxLayout(left)
        column.addStrut(200)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.addLayout(tools)
        column.addWidget(self.queue, 1)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        for side in (self.page, self.blocks):
            side.setMinimumWidth(200)
            self.splitter.addWidget(side)
        self.splitter.setSizes([*self.desk.preferences.get("read.widths", [480, 480])])
        document = QWidget()
        inside = QVBoxLayout(document)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(self._bar())
        inside.addWidget(self.splitter, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(document)
        middle = QWidget()
        main = QVBoxLayout(middle)
        main.setContentsMargins(0, 0, 0, 0)
        main.setSpacing(0)
        main.addLayout(head)
        main.addWidget(self.stack, 1)
        self.outer = QSplitter(Qt.Orientation.Horizontal)
        self.outer.setHandleWidth(1)
        self.outer.setChildrenCollapsible(False)
        left.setMaximumWidth(400)
        self.outer.addWidget(left)
        self.outer.addWidget(middle)
        self.outer.setStretchFactor(1, 1)
        self.outer.setSizes([*self.desk.preferences.get("read.list", [264, 900])])
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.outer)

    def _bar(self) -> QWidget:
        """Above the page: where one is, and what is wrong."""
        self.status = label(kind="second", wrap=True)
        self.which = label(kind="second")
        wear(before := icon_button(self.desk.look, "left", "", size=16), self.desk.actions["read.before"])
        wear(after := icon_button(self.desk.look, "right", "", size=16), self.desk.actions["read.after"])
        self.go_on = text_button(tr("Read on"), self.deeds.go_on)
        self.cancel = text_button(tr("Cancel"), self.deeds.cancel)
        self.password = QLineEdit()
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        self.password.setPlaceholderText(tr("Password"))
        self.password.setAccessibleName(tr("Password"))
        self.password.setFixedWidth(160)
        self.password.returnPressed.connect(self.deeds.unlock)
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        row.setSpacing(GRID)
        row.addWidget(before)
        row.addWidget(self.which)
        row.addWidget(after)
        row.addWidget(self.status, 1)
        for part in (self.password, self.go_on, self.cancel):
            row.addWidget(part)
        return bar

    def _connect(self) -> None:
        reading, prefs = self.reading, self.desk.preferences
        reading.listed.connect(self._show)
        reading.shown.connect(self._show)
        reading.changed.connect(lambda item: self._show_status() if item is reading.current else None)
        reading.page_changed.connect(self._page_changed)
        reading.heard.connect(self._heard)
        self.queue.chosen.connect(reading.choose)
        self.queue.menu_wanted.connect(self.deeds.menu)
        self.page.pointed.connect(lambda order: self.blocks.highlight(order, choose=False))
        self.page.chosen.connect(lambda order: self.blocks.highlight(order, choose=True))
        self.blocks.pointed.connect(lambda order: self.page.highlight(order, choose=False))
        self.blocks.chosen.connect(lambda order: self.page.highlight(order, choose=True))
        self.blocks.edited.connect(lambda order, text: self._edit(reading.edit, order, text))
        self.blocks.cell_edited.connect(lambda order, *cell: self._edit(reading.edit_cell, order, *cell))
        self.task.activated.connect(lambda _: self._wish())
        self.layer.toggled.connect(lambda _: self._wish())
        self.pages.textChanged.connect(lambda _: self._wish())
        self.model_box.picked.connect(lambda _: self._wish())
        self.model_box.listed.connect(self._show_empty)
        self.splitter.splitterMoved.connect(lambda *_: prefs.put("read.widths", self.splitter.sizes()))
        self.outer.splitterMoved.connect(lambda *_: prefs.put("read.list", self.outer.sizes()))
        self.desk.wiped.connect(self._begin_anew)
        self.desk.reread.connect(reading.look)

    # -- the pane

    def entered(self) -> None:
        (self.queue if self.reading.items else self.empty.action).setFocus()

    def take(self, files: Sequence[Path]) -> None:
        self.reading.add(files)

    def stop(self) -> bool:
        return self.reading.stop()

    def _begin_anew(self) -> None:
        """Everything was deleted."""
        self._images.clear()
        self.queue.forget()
        self.reading.forget()
        self.blocks.clear()
        self.page.show_image(None, (0, 0))
        for told in (self.status, self.which, self.password):
            told.clear()

    def paste(self) -> None:
        """Files or a picture from the clipboard."""
        self.take_mime(QGuiApplication.clipboard().mimeData())

    def take_mime(self, given: Any) -> None:
        files = [Path(url.toLocalFile()) for url in given.urls() if url.isLocalFile()]
        if files:
            self.reading.add(files)
        elif given.hasImage():
            held = QByteArray()
            buffer = QBuffer(held)
            buffer.open(QIODevice.OpenModeFlag.WriteOnly)
            QImage(given.imageData()).save(buffer, "PNG")  # type: ignore[call-overload]  # Qt takes text; its stubs say bytes
            self.reading.add_bytes(tr("Pasted picture"), bytes(held.data()))
        else:
            self.desk.say(tr("There is no picture and no file to paste."), level="warning")

    def dragEnterEvent(self, event: Any) -> None:
        if from_outside(event) or event.mimeData().hasImage():
            event.acceptProposedAction()

    def dropEvent(self, event: Any) -> None:
        self.take_mime(event.mimeData())
        event.acceptProposedAction()

    def wish(self) -> Wish:
        """What the controls above say."""
        return Wish(self.task.currentData(), self.pages.text(), self.layer.isChecked(), self.model_box.name)

    def _wish(self) -> None:
        self.reading.wish = self.wish()

    # -- what is shown

    def _show(self) -> None:
        item = self.reading.current
        self.stack.setCurrentIndex(1 if item is not None else 0)
        self.queue.show_current()
        self._show_empty()
        self._show_status()
        number = item.page_number if item is not None else 0
        if item is not None:
            self._show_page(item, number, whole=(item, number) != self._looked)
        self._looked = (item, number)

    def _show_empty(self) -> None:
        advice = self.model_box.advice
        self._wish()
        restate(self.add, kind="main" if self.reading.items else "")  # the empty pane has its own
        self.empty.say(
            tr("Drop PDFs, photographs or scans here, paste a picture, or take a part of the screen.")
            + (f"\n\n{advice}" if advice else "")
        )
        self.empty.offer(tr("Add files"), self.deeds.choose, main=True)

    def _show_status(self) -> None:
        item = self.reading.current
        busy = item is not None and item.state in ("reading", "waiting")
        has_text = item is not None and bool(item.read)
        for name, ready in (
            ("again", item is not None), ("copy", has_text), ("export", has_text), ("cancel", busy),
            ("go_on", item is not None and item.state in ("stopped", "failed")), ("remove", item is not None),
            ("export_all", any(each.read for each in self.reading.items)),
        ):  # fmt: skip
            self.desk.actions[f"read.{name}"].setEnabled(ready)
        if item is None:
            return
        page = item.read.get(item.page_number)
        problem = item.error or (page.error if page is not None and page.error else "")
        note = " ".join(page.notes) if page is not None else ""
        self.status.setText(problem or (item.status() if item.state != "done" else note))
        restate(self.status, level="error" if problem else "")
        self.status.setAccessibleName(self.status.text())
        total = len(item.numbers)
        self.which.setText(tr("Page {n} of {total}", n=item.page_number, total=max(item.numbers)) if total else "")
        at = item.numbers.index(item.page_number) if item.page_number in item.numbers else 0
        self.desk.actions["read.before"].setEnabled(at > 0)
        self.desk.actions["read.after"].setEnabled(at + 1 < total)
        self.cancel.setVisible(busy)
        self.go_on.setVisible(item.state in ("stopped", "failed"))
        self.go_on.setText(tr("Read on") if item.state == "stopped" else tr("Try again"))
        self.password.setVisible(item.state == "locked")

    def _page_changed(self, item: Item, number: int) -> None:
        if item is self.reading.current and number == item.page_number:
            self._show_page(item, number, whole=True)
            self._show_status()

    def _show_page(self, item: Item, number: int, *, whole: bool) -> None:
        page = item.read.get(number)
        self._show_image(item, number, page.turned if page is not None else 0.0)
        if not whole:
            return
        live = item.live.get(number)
        if page is not None:
            self.page.show_boxes({element.order: element.box for element in page.elements})
            self.blocks.show_elements(page.elements)
        else:
            self.blocks.clear()
            boxes = live.boxes if live is not None else {}
            self.page.show_boxes(boxes, frozenset(boxes) - (live.done if live is not None else set()))
            for order, text in sorted(live.heard.items()) if live is not None else ():
                self.blocks.show_heard(order, text)

    def _heard(self, item: Item, number: int, order: int) -> None:
        live = item.live.get(number)
        if item is not self.reading.current or number != item.page_number or live is None or number in item.read:
            return
        self.blocks.show_heard(order, live.heard.get(order, ""))
        if order in live.done:
            self.page.show_boxes(live.boxes, frozenset(live.boxes) - live.done)

    def _show_image(self, item: Item, number: int, turned: float) -> None:
        key = (str(item.source), number, turned)
        if key in self._images:
            self.page.show_image(*self._images[key])
            return
        self.page.show_image(None, (0, 0))
        if key in self._asked or item.state == "locked":
            return
        self._asked.add(key)

        def made(found: Pixels) -> None:
            self._asked.discard(key)
            self._images[key] = (as_image(found), found.page)
            while len(self._images) > _KEPT:
                self._images.pop(next(iter(self._images)))
            if item is self.reading.current and number == item.page_number:
                self._show_image(item, number, turned)

        def failed(sentence: str) -> None:
            self._asked.discard(key)

        self.desk.work.run(lambda: pixels(item.source, number, turned, item.password), made, failed)

    def _edit(self, edit: Any, order: int, *what: Any) -> None:
        item = self.reading.current
        if item is not None:
            edit(item, item.page_number, order, *what)
