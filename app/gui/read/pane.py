"""The Read pane: documents on the left, the page in the middle, the text of its regions on the right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QInputDialog,
    QLineEdit,
    QMenu,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec, wear
from app.gui.dialogs import choose_files, choose_folder, choose_target
from app.gui.flow import FlowRow
from app.gui.look import restate
from app.gui.pane import AppContext, Pane
from app.gui.read.document import PageView, RegionList
from app.gui.read.snip import snip
from app.gui.read.watch import WatchStrip
from app.gui.results import ResultsPane
from app.gui.store.messages import GivenPassage
from app.gui.texts import in_language, mark, tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.read import (
    ENDINGS,
    FORMATS,
    TASKS,
    Pixels,
    ReadDocument,
    ReadResults,
    ReadSettings,
    as_markdown,
    export,
    export_all,
    pixels,
    region_with,
)
from app.gui.viewmodels.read_watch import ON, FolderWatch
from app.gui.widgets import EmptyState, icon_button, label, text_button

_KEPT = 6  # pages whose pixels are held
_THUMBNAIL = 78  # pixels of its longer side


_GONE = 250  # milliseconds until the window has left the screen
_FILES = f"({' '.join(f'*{ending}' for ending in ENDINGS)})"
_NAMES = {
    "md": "Markdown (*.md)", "txt": "Text (*.txt)", "json": "JSON (*.json)", "csv": "CSV (*.csv)",
    "xlsx": "Excel (*.xlsx)", "html": "HTML (*.html)", "docx": "Word (*.docx)",
    "pdf": "PDF (*.pdf)",
}  # fmt: skip

ACTIONS = (
    ActionSpec("add", mark("Add files"), "Ctrl+O", "plus", lambda pane: pane.choose()),
    ActionSpec("paste", mark("Paste image"), "Ctrl+V", "image", lambda pane: pane.paste()),
    ActionSpec("watch", mark("Watch a folder"), "Ctrl+Shift+F", "folder", lambda pane: pane.watch.toggle()),
    ActionSpec("snip", mark("Capture part of the screen"), "Ctrl+Shift+R", "camera", lambda pane: pane.snip()),
    ActionSpec("again", mark("Read again"), "Ctrl+R", "retry", lambda pane: pane.on_current(pane.again)),
    ActionSpec("rotate", mark("Rotate the page"), "Ctrl+Alt+R", "rotate", lambda pane: pane.on_current(pane.results.rotate)),
    ActionSpec("go_on", mark("Continue reading"), "Ctrl+Shift+Return", "continue", lambda pane: pane.on_current(pane.results.go_on)),
    ActionSpec("cancel", mark("Cancel reading"), "Ctrl+Shift+X", "stop", lambda pane: pane.on_current(pane.results.cancel)),
    ActionSpec("copy", mark("Copy the text"), "Ctrl+Shift+C", "copy", lambda pane: pane.on_current(pane.copy)),
    ActionSpec("copy_region", mark("Copy the region"), "Ctrl+Shift+K", "copy", lambda pane: pane.copy_region()),
    ActionSpec("export", mark("Export"), "Ctrl+S", "save", lambda pane: pane.on_current(pane.export)),
    ActionSpec("export_all", mark("Export all"), "Ctrl+Shift+S", "download", lambda pane: pane.export_all()),
    ActionSpec("remove", mark("Remove from the list"), "Ctrl+Shift+Backspace", "trash",
               lambda pane: pane.on_current(pane.results.remove)),
    ActionSpec("above", mark("Previous document"), "Ctrl+PgUp", "", lambda pane: pane.results.step(-1)),
    ActionSpec("below", mark("Next document"), "Ctrl+PgDown", "", lambda pane: pane.results.step(1)),
    ActionSpec("before", mark("Previous page"), "Alt+Left", "left", lambda pane: pane.results.turn(-1)),
    ActionSpec("after", mark("Next page"), "Alt+Right", "right", lambda pane: pane.results.turn(1)),
    ActionSpec("region_before", mark("Previous region"), "Alt+Up", "", lambda pane: pane.blocks.step(-1)),
    ActionSpec("region_after", mark("Next region"), "Alt+Down", "", lambda pane: pane.blocks.step(1)),
    ActionSpec("zoom_in", mark("Zoom in"), "Ctrl+Alt++ Ctrl+Alt+=", "", lambda pane: pane.page.scale(1.25)),
    ActionSpec("zoom_out", mark("Zoom out"), "Ctrl+Alt+-", "", lambda pane: pane.page.scale(0.8)),
    ActionSpec("zoom_fit", mark("Fit width"), "Ctrl+Alt+0", "", lambda pane: pane.page.scale(0)),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return ReadPane(context)


def as_image(made: Pixels) -> QImage:
    return QImage(made.data, made.width, made.height, made.width * 3, QImage.Format.Format_RGB888).copy()


class ReadPane(ResultsPane[ReadDocument]):
    results: ReadResults

    def __init__(self, context: AppContext) -> None:
        results = ReadResults(context.store, context.core, context.work, context.say, context.places.attachments)
        results.machine = lambda: context.machinery.machine
        super().__init__(context, "read", results, tr("Documents"))
        self.list.show_thumbnails(self._thumbnail)
        self.page = PageView(context.look)
        self.blocks = RegionList(context.look)
        self.empty = EmptyState(context.look, "read", tr("Read documents"), "")
        self._images: dict[tuple[str, int, float], tuple[QImage, tuple[int, int]]] = {}
        self._asked: set[tuple[str, int, float]] = set()
        self._thumbnails: dict[tuple[str, int], QImage | None] = {}
        self._looked: tuple[ReadDocument | None, int] = (None, 0)
        self._snips: list[Any] = []
        self._passage: GivenPassage | None = None  # is to be marked
        context.actions.add_table(self, "read", tr("Read"), ACTIONS)
        self._build()
        self._connect()
        results.look()
        self._show()
        if context.preferences.get(ON):
            self.watch.watch.resume()

    def _build(self) -> None:
        actions = self.context.actions
        self.task = QComboBox()
        self.task.setAccessibleName(tr("What to read"))
        self.task.setToolTip(tr("What to read"))
        for name, title in TASKS:
            self.task.addItem(tr(title), name)
        self.pages = QLineEdit()
        self.pages.setPlaceholderText(tr("All pages"))
        self.pages.setAccessibleName(tr("Pages"))
        self.pages.setToolTip(tr("Pages, such as 1-3,5 or 7-"))
        self.context.look.hold_width(self.pages, 112)
        self.layer = QCheckBox(tr("Use text in PDFs"))
        self.layer.setAccessibleName(tr("Use text in PDFs"))
        self.layer.setToolTip(tr("Use the text layer of a PDF instead of recognizing its image."))
        self.layer.setChecked(True)
        head = FlowRow(GRID)
        head.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        for part in (self.model_box, self.task, self.pages, self.layer):
            head.addWidget(part)
        head.begin_right()
        for name in ("again", "copy", "export"):
            wear(button := icon_button(self.context.look, "", ""), actions[f"read.{name}"])
            head.addWidget(button)
        tools = FlowRow(GRID // 2)
        tools.setContentsMargins(GRID * 2, GRID, GRID, 0)
        self.add = text_button(tr("Add files"), self.choose, kind="main")
        self.add.setToolTip(actions["read.add"].toolTip())
        tools.addWidget(self.add)
        tools.begin_right()
        for name in ("paste", "snip", "export_all"):
            wear(button := icon_button(self.context.look, "", ""), actions[f"read.{name}"])
            tools.addWidget(button)
        self.watch = WatchStrip(
            self.context, FolderWatch(self.context.preferences, self.context.core, self.context.work), self.settings
        )
        above = QVBoxLayout()
        above.setSpacing(GRID)
        above.addLayout(tools)
        above.addWidget(self.watch)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        for side in (self.page, self.blocks):
            side.setMinimumWidth(200)
            self.splitter.addWidget(side)
        self.splitter.setSizes([*self.context.preferences.get("read.widths", [480, 480])])
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
        self.lay_out(above, middle)

    def _bar(self) -> QWidget:
        """Above the page: where one is, and what is wrong."""
        self.status = label(kind="second", wrap=True)
        self.which = label(kind="second")
        wear(before := icon_button(self.context.look, "", "", size=16), self.context.actions["read.before"])
        wear(after := icon_button(self.context.look, "", "", size=16), self.context.actions["read.after"])
        wear(rotate := icon_button(self.context.look, "", "", size=16), self.context.actions["read.rotate"])
        self.go_on = text_button(tr("Continue reading"), lambda: self.on_current(self.results.go_on))
        self.cancel = text_button(tr("Cancel"), lambda: self.on_current(self.results.cancel))
        self.password = QLineEdit()
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        self.password.setPlaceholderText(tr("Password"))
        self.password.setAccessibleName(tr("Password"))
        self.context.look.hold_width(self.password, 160)
        self.password.returnPressed.connect(self.unlock)
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(GRID * 2, 0, GRID * 2, GRID)
        row.setSpacing(GRID)
        row.addWidget(before)
        row.addWidget(self.which)
        row.addWidget(after)
        row.addWidget(rotate)
        row.addWidget(self.status, 1)
        for part in (self.password, self.go_on, self.cancel):
            row.addWidget(part)
        return bar

    def _connect(self) -> None:
        self.connect_results()
        reading = self.results
        reading.changed.connect(lambda item: self._show_status() if item is reading.current else None)
        reading.page_changed.connect(self._page_changed)
        reading.text_changed.connect(self._text_changed)
        self.page.pointed.connect(lambda order: self.blocks.highlight(order, choose=False))
        self.page.chosen.connect(lambda order: self.blocks.highlight(order, choose=True))
        self.blocks.pointed.connect(lambda order: self.page.highlight(order, choose=False))
        self.blocks.chosen.connect(lambda order: self.page.highlight(order, choose=True))
        self.blocks.edited.connect(lambda order, text: self._edit(reading.edit, order, text))
        self.blocks.cell_edited.connect(lambda order, *cell: self._edit(reading.edit_cell, order, *cell))
        self.task.activated.connect(lambda _: self._apply_settings())
        self.layer.toggled.connect(lambda _: self._apply_settings())
        self.pages.textChanged.connect(lambda _: self._apply_settings())
        self.model_box.picked.connect(lambda _: self._apply_settings())
        self.model_box.listed.connect(self._show_empty)
        self.splitter.splitterMoved.connect(
            lambda *_: self.context.preferences.put("read.widths", self.splitter.sizes())
        )

    # -- the pane

    def entered(self) -> None:
        (self.list if self.results.items else self.empty.action).setFocus()

    def take(self, files: Sequence[Path]) -> None:
        self.results.add(files)

    def show_passage(self, passage: GivenPassage) -> None:
        """The document at its page, with the region marked in which the passage begins."""
        self._passage = passage
        self.results.open_at(Path(passage.file), passage.page)
        self._mark_passage()

    def _mark_passage(self) -> None:
        """As soon as its page is read."""
        item, passage = self.results.current, self._passage
        if passage is None or item is None:
            return
        if str(item.source) != passage.file or item.page_number != passage.page:
            if item.id and item.state == "done":  # the person is elsewhere, or there is no such page
                self._passage = None
            return
        if (page := item.read.get(passage.page)) is None:
            return
        if item.state not in ("reading", "waiting"):  # else the page is shown once more at the end
            self._passage = None
        order = region_with(page, passage.text)
        if order is not None:
            self.page.highlight(order, choose=True)
            QTimer.singleShot(0, self, lambda: self.blocks.highlight(order, choose=True))

    def stop(self) -> bool:
        return self.results.stop()

    def leaving(self) -> None:
        self.watch.watch.close()

    def reset(self) -> None:
        self._images.clear()
        self._thumbnails.clear()
        self.watch.watch.forget()
        super().reset()
        self.blocks.clear()
        self.page.show_image(None, (0, 0))
        for field in (self.status, self.which, self.password):
            field.clear()

    def paste(self) -> None:
        """Files or a picture from the clipboard."""
        self.take_mime(QGuiApplication.clipboard().mimeData())

    def take_mime(self, given: Any) -> None:
        files = [Path(url.toLocalFile()) for url in given.urls() if url.isLocalFile()]
        if files:
            self.results.add(files)
        elif given.hasImage():
            held = QByteArray()
            buffer = QBuffer(held)
            buffer.open(QIODevice.OpenModeFlag.WriteOnly)
            QImage(given.imageData()).save(buffer, "PNG")  # type: ignore[call-overload]  # Qt takes text; its stubs say bytes
            self.results.add_bytes(tr("Pasted picture"), bytes(held.data()))
        else:
            self.context.say(tr("The clipboard contains no image and no file."), level="warning")

    def takes(self, event: QDropEvent) -> bool:
        return super().takes(event) or event.mimeData().hasImage()

    def settings(self) -> ReadSettings:
        """What the controls above say."""
        return ReadSettings(self.task.currentData(), self.pages.text(), self.layer.isChecked(), self.model_box.name)

    def _apply_settings(self) -> None:
        self.results.settings = self.settings()

    # -- what is shown

    def _show(self) -> None:
        item = self.results.current
        self.stack.setCurrentIndex(1 if item is not None else 0)
        self.list.show_current(item)
        self._show_empty()
        self._show_status()
        number = item.page_number if item is not None else 0
        if item is not None:
            self._show_page(item, number, whole=(item, number) != self._looked)
        self._looked = (item, number)
        self._mark_passage()

    def _show_empty(self) -> None:
        advice = self.model_box.advice
        self._apply_settings()
        restate(self.add, kind="main" if self.results.items else "")  # the empty pane has its own
        self.empty.say(
            tr("Drop documents, photos or scans here, paste an image, or capture part of the screen.")
            + (f"\n\n{advice}" if advice else "")
        )
        self.empty.offer(tr("Add files"), self.choose, main=True)

    def _show_status(self) -> None:
        item = self.results.current
        busy = item is not None and item.state in ("reading", "waiting")
        has_text = item is not None and bool(item.read)
        chosen = item is not None
        self.enable(
            again=chosen, copy=has_text, export=has_text, cancel=busy, remove=chosen,
            go_on=item is not None and item.state in ("stopped", "failed"),
            export_all=any(each.read for each in self.results.items),
        )  # fmt: skip
        if item is None:
            return
        page = item.read.get(item.page_number)
        problem = item.error or (in_language(page.error) if page is not None and page.error else "")
        note = " ".join(map(in_language, page.notes)) if page is not None else ""
        self.status.setText(problem or (item.status() if item.state != "done" else note))
        restate(self.status, level="error" if problem else "")
        self.status.setAccessibleName(self.status.text())
        total = len(item.numbers)
        self.which.setText(tr("Page {n} of {total}", n=item.page_number, total=max(item.numbers)) if total else "")
        at = item.numbers.index(item.page_number) if item.page_number in item.numbers else 0
        self.context.actions["read.rotate"].setEnabled(page is not None)
        self.context.actions["read.before"].setEnabled(at > 0)
        self.context.actions["read.after"].setEnabled(at + 1 < total)
        self.cancel.setVisible(busy)
        self.go_on.setVisible(item.state in ("stopped", "failed"))
        self.go_on.setText(tr("Continue reading") if item.state == "stopped" else tr("Retry"))
        self.password.setVisible(item.state == "locked")

    def _page_changed(self, item: ReadDocument, number: int) -> None:
        if item is self.results.current and number == item.page_number:
            self._show_page(item, number, whole=True)
            self._show_status()
            self._mark_passage()

    def _show_page(self, item: ReadDocument, number: int, *, whole: bool) -> None:
        page = item.read.get(number)
        live = item.live.get(number)
        found = page if page is not None else live
        has_picture = page is None or page.width > 0 or page.error is not None
        self.page.setVisible(has_picture)  # a document that carried its text has none
        if has_picture:
            self._show_image(item, number, found.turned if found is not None else 0.0)
        if not whole:
            return
        if page is not None:
            self.page.show_boxes({element.order: element.box for element in page.elements})
            self.blocks.show_elements(page.elements)
        else:
            self.blocks.clear()
            boxes = live.boxes if live is not None else {}
            self.page.show_boxes(boxes, frozenset(boxes) - (live.done if live is not None else set()))
            for order, text in sorted(live.texts.items()) if live is not None else ():
                self.blocks.show_partial(order, text)

    def _text_changed(self, item: ReadDocument, number: int, order: int) -> None:
        live = item.live.get(number)
        if item is not self.results.current or number != item.page_number or live is None or number in item.read:
            return
        self.blocks.show_partial(order, live.texts.get(order, ""))
        if order in live.done:
            self.page.show_boxes(live.boxes, frozenset(live.boxes) - live.done)

    def _thumbnail(self, item: ReadDocument) -> QImage | None:
        """Rendered off the UI thread when it is first in sight."""
        key = (str(item.source), item.numbers[0] if item.numbers else 1)
        if key not in self._thumbnails:
            self._thumbnails[key] = None
            most = round(_THUMBNAIL * self.devicePixelRatioF())

            def made(found: Pixels) -> None:
                self._thumbnails[key] = as_image(found)
                self.list.viewport().update()

            self.context.work.run(
                lambda: pixels(item.source, key[1], 0.0, item.password, most), made, lambda sentence: None
            )
        return self._thumbnails[key]

    def _show_image(self, item: ReadDocument, number: int, turned: float) -> None:
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
            if item is self.results.current and number == item.page_number:
                self._show_image(item, number, turned)

        def failed(sentence: str) -> None:
            self._asked.discard(key)

        self.context.work.run(lambda: pixels(item.source, number, turned, item.password), made, failed)

    def _edit(self, edit: Any, order: int, *what: Any) -> None:
        item = self.results.current
        if item is not None:
            edit(item, item.page_number, order, *what)

    # -- what comes in

    def choose(self) -> None:
        choose_files(self, tr("Add files"), self.take, f"{tr('Documents')} {_FILES}")

    def snip(self) -> None:
        """The window steps aside for it."""
        window = self.window()
        was = window.windowState()
        window.showMinimized()

        def look() -> None:
            def over() -> None:
                window.setWindowState(was)
                window.show()
                window.activateWindow()

            name = tr("Screen capture")
            self._snips = snip(self.context.look, lambda data: self.results.add_bytes(name, data), over)
            if not self._snips:
                over()
                sentence = tr(
                    "This desktop does not let apps capture the screen. Take a screenshot with the desktop's own "
                    "tool, then paste it here."
                )
                self.context.say(sentence, level="warning")

        QTimer.singleShot(_GONE, look)

    # -- on a document

    def again(self, item: ReadDocument) -> None:
        self.results.again(item, self.settings())

    def unlock(self) -> None:
        password = self.password.text()
        self.password.clear()
        if password:
            self.on_current(lambda item: self.results.go_on(item, password))

    def copy(self, item: ReadDocument) -> None:
        self.context.copy(as_markdown(item.pages))

    def copy_region(self) -> None:
        if self.blocks.current in self.blocks.blocks:
            self.context.copy(self.blocks.text_of(self.blocks.current))

    # -- what goes out

    def offer(self, item: ReadDocument) -> tuple[str, Any] | None:
        """What was read so far, as markdown."""
        pages = item.pages
        if not pages:
            return None
        return f"{Path(item.title).stem}.md", lambda file: file.write_text(as_markdown(pages), encoding="utf-8")

    def export(self, item: ReadDocument, kind: str = "") -> None:
        kinds = {kind: _NAMES[kind]} if kind else _NAMES
        then = lambda file: self.write(item, file.suffix.lstrip(".").lower(), file)  # noqa: E731
        choose_target(self, tr("Export"), then, kinds, Path(item.title).stem)

    def write(self, item: ReadDocument, kind: Any, file: Path) -> None:
        if kind in FORMATS:
            self.context.save(lambda: export(item, kind, file), _open)
        else:
            self.context.show_error(tr("The format {kind} is not supported. Choose a format from the list.", kind=kind))

    def export_all(self) -> None:
        kinds = {title: kind for kind, title in _NAMES.items()}
        asked = QInputDialog(self)
        asked.setWindowTitle(tr("Export all"))
        asked.setLabelText(tr("Format"))
        asked.setComboBoxItems([*kinds])

        def ask_folder(title: str) -> None:
            choose_folder(self, tr("Save to"), lambda folder: self.write_all(kinds[title], folder))

        asked.textValueSelected.connect(ask_folder)
        asked.finished.connect(asked.deleteLater)
        asked.open()

    def write_all(self, kind: Any, folder: Path) -> None:
        context = self.context
        items = [item for item in reversed(self.results.items) if item.read]

        def report(answer: tuple[int, list[str]]) -> None:
            written, problems = answer
            sentence = trn(
                "{n} document saved in {folder}.", "{n} documents saved in {folder}.", written, folder=folder
            )
            context.say(" ".join([sentence, *problems]), level="warning" if problems else "ok")

        context.work.run(lambda: export_all(items, kind, folder), report, context.show_error)

    def menu(self, item: ReadDocument, where: Any) -> None:
        self.results.choose(item)
        menu, actions = QMenu(self), self.context.actions
        for name in ("copy", "again", "rotate", "go_on", "cancel"):
            menu.addAction(actions[f"read.{name}"])
        out = menu.addMenu(tr("Export as"))
        for kind in FORMATS:
            out.addAction(_NAMES[kind], partial(self.export, item, kind))
        menu.addAction(tr("Show in folder"), lambda: _open(item.source.parent))
        menu.addSeparator()
        menu.addAction(actions["read.remove"])
        menu.popup(where)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
