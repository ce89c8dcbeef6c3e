"""The chat pane after everything was deleted: nothing is written, shown or held any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.gui.chat.pane import ChatPane


def begin_anew(pane: ChatPane) -> None:
    pane.talk_bar.end()
    pane.dictation.stop()
    pane.talk.stop()
    pane.draft.forget()
    pane.shelf_view.field.clear()
    pane.begin()
    pane.transcript.redraw()  # views that wait to be used again still hold their words
    pane.shelf.forget()
