"""Searching Hugging Face, and the facts of one repository. The network is asked only when a person asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.gui.texts import tr
from app.gui.viewmodels.hook import Hook

if TYPE_CHECKING:
    from app.window_engine import Runs
    from engine.hub.searching import Facts, Found


class Finding:
    """`changed`: `found`, `problem` or `searching` are others. `told(repo)`: the facts of one are there."""

    def __init__(self, work: Runs) -> None:
        self._work = work
        self.changed, self.told = Hook(), Hook()
        self.words = ""
        self.found: list[Found] = []
        self.problem = ""
        self.searching = False
        self.facts: dict[str, Facts] = {}
        self.problems: dict[str, str] = {}  # of repositories
        self._asking: set[str] = set()
        self._asked = 0

    @property
    def state(self) -> str:
        """One sentence for the list, when it has nothing better to show."""
        if self.searching:
            return tr("Asking Hugging Face for {words}.", words=self.words)
        if self.problem or self.found:
            return self.problem
        if self.words:
            return tr("Hugging Face has nothing for {words}.", words=self.words)
        return tr("Type a name and press Enter. Only these words are sent, to huggingface.co.")

    def search(self, words: str) -> None:
        self.words = words.strip()
        self._asked += 1
        asked = self._asked
        if not self.words:
            self.found, self.problem, self.searching = [], "", False
            self.changed()
            return
        self.found, self.problem, self.searching = [], "", True
        self.changed()

        def ask() -> list[Found]:
            from engine.hub.searching import search

            return search(self.words)

        def got(found: list[Found]) -> None:
            if asked == self._asked:
                self.found, self.searching = found, False
                self.changed()

        def failed(sentence: str) -> None:
            if asked == self._asked:
                self.problem, self.searching = sentence, False
                self.changed()

        self._work.run(ask, got, failed)

    def ask_facts(self, repo: str) -> None:
        if repo in self.facts or repo in self._asking:
            return
        self._asking.add(repo)
        self.problems.pop(repo, None)

        def ask() -> Facts:
            from engine.hub.searching import facts

            return facts(repo)

        def got(found: Facts) -> None:
            self._asking.discard(repo)
            self.facts[repo] = found
            self.told(repo)

        def failed(sentence: str) -> None:
            self._asking.discard(repo)
            self.problems[repo] = sentence
            self.told(repo)

        self._work.run(ask, got, failed)
