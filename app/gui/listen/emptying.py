"""The Listen pane after everything was deleted: nothing is heard, shown or held any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.gui.viewmodels.listen.listening import RATE

if TYPE_CHECKING:
    from app.gui.listen.pane import ListenPane


def begin_anew(pane: ListenPane) -> None:
    pane.leaving()
    pane.listening.forget()
    pane.player.playback.show(np.zeros(0, np.float32), RATE)
    pane._sounding = None
    pane.table.setRowCount(0)
    pane.caption.clear()
