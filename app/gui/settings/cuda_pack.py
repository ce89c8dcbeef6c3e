"""The section of the settings pane about NVIDIA GPUs, for a Grus with a Python of its own."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui.look import Look, restate
from app.gui.settings.section import SettingsSection
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.cuda_pack import WindowCudaPack
from app.gui.widgets import text_button


class CudaPackView(SettingsSection):
    """Hidden where there is no NVIDIA GPU, or no pack for this Grus."""

    def __init__(self, look: Look, pack: WindowCudaPack, restart: Callable[[], object]) -> None:
        super().__init__(look, tr("NVIDIA GPU"))
        self._pack = pack
        self.status = self.say()
        self.get = text_button(tr("Download"), pack.install, kind="main")
        self.cancel = text_button(tr("Cancel"), pack.cancel)
        self.remove = text_button(tr("Remove"), pack.remove)
        self.restart = text_button(tr("Restart Grus"), restart, kind="main")
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        for button in (self.get, self.cancel, self.remove, self.restart):
            row.addWidget(button)
        row.addStretch(1)
        self.put(buttons)
        self.setVisible(pack.offered)
        pack.changed.connect(self.show_pack)
        look.language_changed.connect(self.show_pack)
        self.show_pack()

    def show_pack(self) -> None:
        pack, idle = self._pack, self._pack.phase == "idle"
        self.status.setText(pack.status)
        restate(self.status, level="error" if pack.problem else "")
        self.get.setVisible(idle and not pack.installed)
        self.cancel.setVisible(pack.phase == "downloading")
        self.remove.setVisible(idle and pack.installed)
        self.restart.setVisible(idle and pack.restart_needed)
