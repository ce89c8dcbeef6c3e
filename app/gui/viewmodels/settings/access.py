"""What Grus may reach beyond this machine: whether it may at all, and with which token it asks Hugging Face."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.gui.texts import tr
from app.gui.viewmodels.hook import Hook
from engine.hub import offline

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import Runs
    from engine.hub.token import Kept


class Access:
    """`changed`: another token, or another state of the switch. The keyring is asked beside the UI thread."""

    def __init__(self, work: Runs, preferences: Preferences) -> None:
        self._work, self._preferences = work, preferences
        self.changed = Hook()
        self.kept: Kept | None = None  # None: not asked yet
        self.busy = False
        self.problem = ""
        preferences.changed.connect(lambda key: self.changed() if key == "offline" else None)

    # -- offline

    @property
    def offline(self) -> bool:
        return offline.reason() is not None

    @property
    def may_switch(self) -> bool:
        """Whether the switch decides: the command line and the environment come before it."""
        return not self.offline or bool(self._preferences.get("offline"))

    @property
    def about_offline(self) -> str:
        if not self.may_switch:
            return tr(
                "{reason}, so Grus stays offline until it is started otherwise.", reason=_capital(offline.reason())
            )
        return tr("No search, no downloads, and the server fetches no pictures. Models on this machine work.")

    def set_offline(self, on: bool) -> None:
        self._preferences.put("offline", on)

    # -- the token

    @property
    def about_token(self) -> str:
        if self.problem:
            return self.problem
        if self.busy or self.kept is None:
            return tr("Asking the keyring.")
        kept = self.kept
        if kept.place == "environment":
            return tr("{variable} is set, and comes before a token that is kept here.", variable=kept.where)
        if kept.place == "keyring" and not kept.readable:
            return tr("A token is in the system's keyring, which cannot be opened now.")
        if kept.place == "keyring":
            return tr("A token is kept in the system's keyring.")
        if kept.place == "file":
            return tr("A token is kept in {file}, which only you can read. No keyring works here.", file=kept.where)
        if kept.place == "hub":
            return tr("The token of Hugging Face's own tools is used, from {file}.", file=kept.where)
        return tr("For models whose makers ask for one. It is sent to Hugging Face alone.")

    @property
    def removable(self) -> bool:
        return self.kept is not None and self.kept.place in ("keyring", "file")

    def look(self) -> None:
        self._run(lambda: None)

    def keep(self, given: str) -> None:
        from engine.hub import library, token

        if given.strip():
            self._run(lambda: token.keep(given, library.endpoint()))

    def remove(self) -> None:
        from engine.hub import library, token

        self._run(lambda: token.forget(library.endpoint()))

    def remove_all(self) -> None:
        """With everything else that is deleted."""
        from engine.hub import token

        self._run(token.forget_all)

    def _run(self, act: Callable[[], object]) -> None:
        self.busy, self.problem = True, ""
        self.changed()

        def job() -> Kept:
            from engine.hub import library, token

            act()
            return token.status(library.endpoint())

        def got(kept: Kept) -> None:
            self.kept, self.busy = kept, False
            self.changed()

        def failed(sentence: str) -> None:
            self.problem, self.busy = sentence, False
            self.changed()

        self._work.run(job, got, failed)


def _capital(text: str | None) -> str:
    return text[:1].upper() + text[1:] if text else ""
