"""The facts that a person lets Grus keep: off at first, listed, edited and deleted in Settings, read by every conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.explain import explained
from app.gui.preferences import Preferences
from app.gui.store import memories
from app.gui.store.memories import KeptFact
from app.gui.store.worker import AppStore
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal
from engine.errors import BadRequest

PREFERENCE = "memory"
_WAIT = 10  # seconds for the store, while a model waits


class Memories:
    """`changed`: a fact was kept, edited or deleted, or they were switched on or off."""

    def __init__(
        self,
        store: AppStore,
        preferences: Preferences,
        say: Callable[..., Any],
        ask_again: Callable[[], Any] = lambda: None,
    ) -> None:
        """`ask_again`: proposals are asked for again, where the person once said never."""
        self._store, self._preferences, self._say, self._ask_again = store, preferences, say, ask_again
        self.changed = Signal()
        self.facts: list[KeptFact] = []
        preferences.changed.connect(lambda key: self.changed() if key == PREFERENCE else None)
        self.look()

    @property
    def on(self) -> bool:
        return bool(self._preferences.get(PREFERENCE, False))

    def turn(self, on: bool) -> None:
        """Off: nothing is read and nothing is proposed; what was kept stays until it is deleted."""
        self._preferences.put(PREFERENCE, on)
        if on:
            self._ask_again()

    def look(self) -> None:
        """Read again what is stored."""
        self._store.ask(memories.listed, self._show)

    def _show(self, facts: list[KeptFact]) -> None:
        self.facts = facts
        self.changed()

    def forget(self) -> None:
        """Everything is being deleted."""
        self._show([])

    @property
    def read(self) -> tuple[str, ...]:
        """What a model is given."""
        return tuple(fact.text for fact in self.facts) if self.on else ()

    def keep(self, text: str, conversation: int | None) -> None:
        """A fact that a model proposed and the person allowed. From any thread but the UI's; it is stored when this returns."""
        self._store.ask(lambda db: memories.add(db, text, conversation), lambda _: self.look()).result(_WAIT)

    def add(self, text: str) -> bool:
        """By the person. False where it is none."""
        if (fact := self._checked(text)) is None:
            return False
        self._store.ask(lambda db: memories.add(db, fact), lambda _: self.look())
        return True

    def edit(self, id: int, text: str) -> bool:
        if (fact := self._checked(text)) is None:
            return False
        self._store.ask(lambda db: memories.change(db, id, fact), lambda _: self.look())
        return True

    def delete(self, id: int) -> None:
        def restore() -> None:
            self._store.ask(lambda db: memories.restore(db, id), lambda _: self.look())

        self._store.delete(lambda db: memories.delete(db, id), lambda _: self.look())
        self._say(tr("The fact was deleted."), undo=(tr("Undo"), restore))

    def _checked(self, text: str) -> str | None:
        from app.runtime.memories import checked_fact

        try:
            return checked_fact(text)
        except BadRequest as error:
            self._say(explained(error), level="error")
            return None
