"""The Read pane's actions: their names, shortcuts and what they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu

from app.gui.read.snip import snip
from app.gui.texts import tr, trn
from app.gui.viewmodels.read import Item
from app.gui.viewmodels.read_export import FORMATS, as_markdown, export, export_all

if TYPE_CHECKING:
    from app.gui.read.pane import ReadPane

_GONE = 250  # milliseconds until the window has left the screen
_NAMES = {
    "md": "Markdown (*.md)", "txt": "Text (*.txt)", "json": "JSON (*.json)", "csv": "CSV (*.csv)",
    "xlsx": "Excel (*.xlsx)", "html": "HTML (*.html)", "pdf": "PDF (*.pdf)",
}  # fmt: skip


class Deeds:
    def __init__(self, pane: ReadPane) -> None:
        self.pane = pane
        self._snips: list[Any] = []
        reading, actions = pane.reading, pane.desk.actions
        group = tr("Read")

        def add(name: str, title: str, run: Callable[[], Any], keys: str, icon: str = "") -> None:
            actions.add(pane, f"read.{name}", title, run, keys, group, icon)

        add("add", tr("Add files"), self.choose, "Ctrl+O", "plus")
        add("paste", tr("Paste a picture"), pane.paste, "Ctrl+V", "image")
        add("snip", tr("Read a part of the screen"), self.snip, "Ctrl+Shift+R", "camera")
        add("again", tr("Read again"), lambda: self._on(self.again), "Ctrl+R", "retry")
        add("go_on", tr("Read on"), self.go_on, "Ctrl+Shift+Return", "continue")
        add("cancel", tr("Cancel reading"), self.cancel, "Ctrl+Shift+X", "stop")
        add("copy", tr("Copy the text"), lambda: self._on(self.copy), "Ctrl+Shift+C", "copy")
        add("copy_region", tr("Copy the region"), self.copy_region, "Ctrl+Shift+K", "copy")
        add("export", tr("Export"), lambda: self._on(self.export), "Ctrl+S", "save")
        add("export_all", tr("Export all"), self.export_all, "Ctrl+Shift+S", "download")
        add("remove", tr("Remove from the list"), lambda: self._on(reading.remove), "Ctrl+Shift+Backspace", "trash")
        add("above", tr("Document above"), lambda: reading.step(-1), "Ctrl+PgUp")
        add("below", tr("Document below"), lambda: reading.step(1), "Ctrl+PgDown")
        add("before", tr("Page before"), lambda: reading.turn(-1), "Alt+Left", "left")
        add("after", tr("Next page"), lambda: reading.turn(1), "Alt+Right", "right")
        add("region_before", tr("Region before"), lambda: pane.blocks.step(-1), "Alt+Up")
        add("region_after", tr("Next region"), lambda: pane.blocks.step(1), "Alt+Down")
        add("zoom_in", tr("Larger page"), lambda: pane.page.scale(1.25), "Ctrl+Alt++ Ctrl+Alt+=")
        add("zoom_out", tr("Smaller page"), lambda: pane.page.scale(0.8), "Ctrl+Alt+-")
        add("zoom_fit", tr("Page as wide as its place"), lambda: pane.page.scale(0), "Ctrl+Alt+0")

    def _on(self, run: Callable[[Item], Any]) -> None:
        if self.pane.reading.current is not None:
            run(self.pane.reading.current)

    # -- what comes in

    def choose(self) -> None:
        dialog = QFileDialog(self.pane.window(), tr("Add files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilter(
            tr("Documents") + " (*.pdf *.png *.jpg *.jpeg *.webp *.gif *.bmp *.tif *.tiff *.heic *.heif)"
        )
        dialog.filesSelected.connect(lambda chosen: self.pane.take([Path(file) for file in chosen]))
        dialog.open()

    def snip(self) -> None:
        """The window steps aside for it."""
        window = self.pane.window()
        was = window.windowState()
        window.showMinimized()

        def look() -> None:
            def over() -> None:
                window.setWindowState(was)
                window.show()
                window.activateWindow()

            name = tr("Part of the screen")
            self._snips = snip(self.pane.desk.look, lambda data: self.pane.reading.add_bytes(name, data), over)
            if not self._snips:
                over()
                sentence = tr(
                    "This desktop does not let programs look at the screen. Take the picture with its own tool, "
                    "then paste it here."
                )
                self.pane.desk.say(sentence, level="warning")

        QTimer.singleShot(_GONE, look)

    # -- on a document

    def again(self, item: Item) -> None:
        self.pane.reading.again(item, self.pane.wish())

    def go_on(self) -> None:
        self._on(self.pane.reading.go_on)

    def cancel(self) -> None:
        self._on(self.pane.reading.cancel)

    def unlock(self) -> None:
        password = self.pane.password.text()
        self.pane.password.clear()
        if password:
            self._on(lambda item: self.pane.reading.go_on(item, password))

    def copy(self, item: Item) -> None:
        QGuiApplication.clipboard().setText(as_markdown(item.pages))
        self.pane.desk.say(tr("Copied."), level="ok")

    def copy_region(self) -> None:
        blocks = self.pane.blocks
        if blocks.current in blocks.blocks:
            QGuiApplication.clipboard().setText(blocks.text_of(blocks.current))
            self.pane.desk.say(tr("Copied."), level="ok")

    # -- what goes out

    def export(self, item: Item) -> None:
        dialog = QFileDialog(self.pane.window(), tr("Export"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([_NAMES[kind] for kind in FORMATS])
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_kind(chosen)))
        dialog.setDefaultSuffix("md")
        dialog.selectFile(Path(item.title).stem + ".md")
        dialog.fileSelected.connect(
            lambda chosen: self.write(
                item, Path(chosen).suffix.lstrip(".") or _kind(dialog.selectedNameFilter()), Path(chosen)
            )
        )
        dialog.open()

    def write(self, item: Item, kind: Any, file: Path) -> None:
        desk = self.pane.desk
        if kind not in FORMATS:
            desk.say(tr("There is no format {kind}. Choose one of the list.", kind=kind), level="error")
            return
        desk.work.run(
            lambda: export(item, kind, file),
            lambda written: desk.say(
                tr("Saved as {file}.", file=written), level="ok",
                undo=(tr("Open"), lambda: _open(written)),
            ),
            lambda sentence: desk.say(sentence, level="error"),
        )  # fmt: skip

    def export_all(self) -> None:
        kinds = [_NAMES[kind] for kind in FORMATS]
        asked = QInputDialog(self.pane.window())
        asked.setWindowTitle(tr("Export all"))
        asked.setLabelText(tr("Format"))
        asked.setComboBoxItems(kinds)

        def folder(kind: str) -> None:
            dialog = QFileDialog(self.pane.window(), tr("Where to"))
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.fileSelected.connect(lambda chosen: self.write_all(_kind(kind), Path(chosen)))
            dialog.open()

        asked.textValueSelected.connect(folder)
        asked.open()

    def write_all(self, kind: Any, folder: Path) -> None:
        desk = self.pane.desk
        items = [item for item in reversed(self.pane.reading.items) if item.read]

        def told(answer: tuple[int, list[str]]) -> None:
            written, problems = answer
            sentence = trn(
                "{n} document saved in {folder}.", "{n} documents saved in {folder}.", written, folder=folder
            )
            desk.say(" ".join([sentence, *problems]), level="warning" if problems else "ok")

        desk.work.run(lambda: export_all(items, kind, folder), told, lambda sentence: desk.say(sentence, level="error"))

    def menu(self, item: Item, where: Any) -> None:
        self.pane.reading.choose(item)
        menu, actions = QMenu(self.pane), self.pane.desk.actions
        for name in ("copy", "again", "go_on", "cancel"):
            menu.addAction(actions[f"read.{name}"])
        out = menu.addMenu(tr("Export as"))
        for kind in FORMATS:
            out.addAction(_NAMES[kind], partial(self._export_as, item, kind))
        menu.addAction(tr("Show the file"), lambda: _open(item.source.parent))
        menu.addSeparator()
        menu.addAction(actions["read.remove"])
        menu.popup(where)

    def _export_as(self, item: Item, kind: str) -> None:
        dialog = QFileDialog(self.pane.window(), tr("Export"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(kind)
        dialog.selectFile(f"{Path(item.title).stem}.{kind}")
        dialog.fileSelected.connect(lambda chosen: self.write(item, kind, Path(chosen)))
        dialog.open()


def _kind(name_filter: str) -> str:
    return next((kind for kind in FORMATS if f"*.{kind})" in name_filter), "md")


def _open(path: Path) -> None:
    from PySide6.QtCore import QUrl

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
