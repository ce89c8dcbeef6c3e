"""A box with steps from low to high: of pitch, or of pace."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox

from app.gui.texts import tr
from app.gui.viewmodels.speak import USUAL


class LevelBox(QComboBox):
    """`level` is empty where it is as usual."""

    def __init__(self, name: str, levels: Sequence[str]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setMinimumWidth(80)
        for level in levels:
            self.addItem(tr("{name}: {level}", name=name, level=tr(level)), "" if level == USUAL else level)
        self.setCurrentIndex(self.findData(""))

    @property
    def level(self) -> str:
        return str(self.currentData())
