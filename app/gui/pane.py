"""What a pane is, and which there are. A pane's module is imported when the pane is first opened."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.gui.desk import Desk
from app.gui.texts import mark


class Pane(QWidget):
    """The base of all panes. `app/gui/<name>/pane.py` holds a `make(desk) -> Pane`."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.setProperty("kind", "window")

    def entered(self) -> None:
        """The pane was opened: put the focus where a person begins."""
        self.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        """Files were dropped on the window, or handed over by a second start."""

    def stop(self) -> bool:
        """Esc: end what runs. False when nothing did."""
        return False

    def leaving(self) -> None:
        """The window closes: write down what is not yet."""


@dataclass(frozen=True)
class Spec:
    """A pane in the rail."""

    name: str
    title: str  # in English; shown through `tr`
    keys: str

    @property
    def module(self) -> str:
        return f"app.gui.{self.name}.pane"

    @property
    def there(self) -> bool:
        """Whether this build has the pane."""
        try:
            return importlib.util.find_spec(self.module) is not None
        except ModuleNotFoundError:
            return False

    def make(self, desk: Desk) -> Pane:
        pane: Pane = importlib.import_module(self.module).make(desk)
        return pane


PANES = (
    Spec("chat", mark("Chat"), "Ctrl+1"),
    Spec("read", mark("Read"), "Ctrl+2"),
    Spec("speak", mark("Speak"), "Ctrl+3"),
    Spec("listen", mark("Listen"), "Ctrl+4"),
    Spec("models", mark("Models"), "Ctrl+5"),
    Spec("server", mark("Server"), "Ctrl+6"),
    Spec("settings", mark("Settings"), "Ctrl+7"),
)
