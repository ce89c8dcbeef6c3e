"""x"""

from app.gui.pane import Pane


def make(desk):
    return Pane(desk)
