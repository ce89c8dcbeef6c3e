"""File dialogs: choose files, a folder, or the file to save to. None of them blocks; the answer comes through a callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QWidget


def choose_files(
    parent: QWidget, title: str, then: Callable[[list[Path]], Any], name_filter: str = "", *, many: bool = True
) -> None:
    dialog = QFileDialog(parent.window(), title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles if many else QFileDialog.FileMode.ExistingFile)
    if name_filter:
        dialog.setNameFilter(name_filter)
    dialog.filesSelected.connect(lambda chosen: then([Path(file) for file in chosen]))
    _open(dialog)


def choose_folder(parent: QWidget, title: str, then: Callable[[Path], Any]) -> None:
    dialog = QFileDialog(parent.window(), title)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.fileSelected.connect(lambda chosen: then(Path(chosen)))
    _open(dialog)


def choose_target(
    parent: QWidget, title: str, then: Callable[[Path], Any], kinds: Mapping[str, str], name: str = "", kind: str = ""
) -> None:
    """`kinds`: ending to name filter ("md": "Markdown (*.md)"); the chosen filter, at first `kind`, gives the ending."""
    kind = kind or next(iter(kinds))
    dialog = QFileDialog(parent.window(), title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([*kinds.values()])
    dialog.selectNameFilter(kinds[kind])
    dialog.setDefaultSuffix(kind)
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen.split("*.")[1].rstrip(")")))
    if name:
        dialog.selectFile(f"{name}.{kind}")
    dialog.fileSelected.connect(lambda chosen: then(Path(chosen)))
    _open(dialog)


def _open(dialog: QFileDialog) -> None:
    """A dialog that stayed would follow its folder for ever, and sort it on the UI thread at every change."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
