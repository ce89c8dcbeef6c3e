"""Find in the open conversation: where a text occurs, and walking through the places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.gui.store.messages import StoredMessage
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal


@dataclass(frozen=True)
class FoundPlace:
    message: int
    occurrence: int  # within the message, from 0


class ConversationFind:
    """`changed`: another text, other places, or another one of them is looked at."""

    def __init__(self) -> None:
        self.changed = Signal()
        self.text = ""
        self.places: list[FoundPlace] = []
        self._at = 0

    @property
    def place(self) -> FoundPlace | None:
        return self.places[self._at] if self.places else None

    @property
    def position(self) -> str:
        """The current match and the number of matches."""
        if not self.text:
            return ""
        return f"{self._at + 1}/{len(self.places)}" if self.places else tr("No results.")

    def search(self, text: str, path: Sequence[StoredMessage], begin: int | None = None) -> None:
        """`begin`: the message whose first place is looked at; else the last place, for one looks at the end."""
        self.text = text.strip()
        self.places = places_in(self.text, path)
        at = next((i for i, place in enumerate(self.places) if place.message == begin), None)
        self._at = at if at is not None else max(0, len(self.places) - 1)
        self.changed()

    def step(self, by: int) -> None:
        if self.places:
            self._at = (self._at + by) % len(self.places)
            self.changed()

    def close(self) -> None:
        self.text, self.places, self._at = "", [], 0
        self.changed()


def places_in(text: str, path: Sequence[StoredMessage]) -> list[FoundPlace]:
    wanted = text.casefold()
    if not wanted:
        return []
    return [FoundPlace(m.id, i) for m in path for i in range(m.text.casefold().count(wanted))]


def phrase_in(words: str, path: Sequence[StoredMessage]) -> str:
    """What a search in all conversations found in this one: all its words in a row, else the first of them that occurs."""
    for text in (words.strip(), *words.split()):
        if places_in(text, path):
            return text
    return ""
