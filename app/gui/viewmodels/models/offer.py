"""The card at the start of a chat: a real model instead of the Guide, and later models for what Grus can do besides chat.

What is recommended depends on the machine, which is looked at once, in a process of its own: the window is small without a
backend's library, and stays so until a model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import mark, size, tr
from app.gui.viewmodels.models.downloads import Downloads
from app.gui.viewmodels.models.library import TASKS, MachineFacts, fit_mark, speed_words
from app.gui.viewmodels.signal import Signal
from app.runtime.recommended import RecommendedModel, best, ranked

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import WindowEngine
    from engine.machine import Machine

OfferAction = Literal["", "download", "pause", "resume", "use"]  # of the main button
_NEEDS = {"chat": "chat", "listen": "listen", "speak": "speak", "see": "vision", "read": "read"}  # in this order
_ABOUT = {
    "chat": mark("This is the Guide, a tiny helper that answers questions about Grus, in English."),
    "listen": mark("Dictate and talk: a speech recognition model."),
    "speak": mark("Have replies and texts read aloud: a text-to-speech model."),
    "see": mark("Ask about images: a vision model."),
    "read": mark("Read tables, formulas and scans in many languages: a model for documents."),
}
_FIRST = 6_000_000_000  # bytes that a person waits for before the first conversation
_FLUENT = 15.0  # tokens a second
_DISMISSED = "offers.dismissed"


@dataclass(frozen=True)
class OfferCard:
    task: str
    title: str
    sentence: str
    action: OfferAction
    share: float | None = None  # of the download, while there is one
    working: str = ""
    failed: bool = False


class ModelOffer:
    """`changed`: the card did. `ready(task, model)`: what was offered is on this machine and can be used."""

    def __init__(
        self,
        core: WindowEngine,
        preferences: Preferences,
        downloads: Downloads,
        machinery: MachineFacts,
        choices: Callable[[], Sequence[RecommendedModel]],
    ) -> None:
        self._core, self._preferences, self._downloads, self._machinery = core, preferences, downloads, machinery
        self._choices = choices
        self.changed, self.ready = Signal(), Signal()
        self._able: Mapping[str, Sequence[str]] | None = None  # by task; None: not known yet
        self._taken: dict[str, RecommendedModel] = {}  # by task: what a person began to download here
        self._there: tuple[RecommendedModel, str] | None = None  # what has arrived, and its name
        self._asked = False
        for signal in (downloads.changed, machinery.changed):
            signal.connect(self.changed)

    def look(self) -> None:
        """See what the models on this machine can do. Without one that chats the machine is looked at, too."""

        def got(able: Mapping[str, Sequence[str]]) -> None:
            self._able = able
            if not able["chat"] and self._machinery.machine is None and not self._asked:
                self._asked = True
                self._machinery.look()
            for task, choice in list(self._taken.items()):
                name = next((name for name in able[task] if name.partition(":")[0] == choice.repo), None)
                if name is not None:
                    del self._taken[task]
                    self._there = (choice, name)
                    self.ready(task, name)
            self.changed()

        self._core.use(what_models_can, got)

    @property
    def card(self) -> OfferCard | None:
        """None: nothing to offer, or nothing is known yet."""
        if self._there is not None:
            choice, _ = self._there
            sentence = tr("{model} is ready. Write your first message.", model=choice.name)
            if choice.task != "chat":
                sentence = tr("{model} is ready.", model=choice.name)
            return OfferCard(choice.task, tr(_ABOUT[choice.task]) if choice.task != "chat" else "", sentence, "use")
        found, machine = self._offered(), self._machinery.machine
        if found is None:
            waits = self._asked and machine is None and "chat" not in self._preferences.get(_DISMISSED, [])
            sentence = self._machinery.problem or tr("Checking this machine.")
            return OfferCard("chat", tr(_ABOUT["chat"]), sentence, "") if waits else None
        download = self._downloads.find(found.repo)
        share = None
        action: OfferAction = "download"
        if download is not None:
            share = download.done / download.total if download.total else 0.0
            action = "pause" if download.state == "running" else "resume"
        facts = [size(found.size)]
        if speed := found.speed(machine):
            facts.append(tr("{speed} here", speed=speed_words(speed)))
        facts.append(fit_mark(machine, found.size, found.experts_in_file))
        details = ", ".join(filter(None, facts))
        get = tr("Get a real model: {model}, {facts}.", model=found.name, facts=details)
        return OfferCard(
            found.task,
            tr(_ABOUT[found.task]),
            get if found.task == "chat" else f"{found.name}, {details}.",
            action,
            share,
            download.sentence if download is not None else "",
            download is not None and download.state == "broken",
        )

    def act(self) -> None:
        """The card's main button."""
        card, found = self.card, self._offered()
        if card is None:
            return
        if card.action == "use":
            self.dismiss()
        elif found is not None and card.action == "pause":
            self._downloads.pause(found.repo)
        elif found is not None and card.action:
            self._taken[found.task] = found
            self._downloads.start(found.repo)

    def dismiss(self) -> None:
        """Not now, or it was seen."""
        if self._there is not None:
            self._there = None
        elif (card := self.card) is not None:
            self._preferences.put(_DISMISSED, [*self._preferences.get(_DISMISSED, []), card.task])
        self.changed()

    def _offered(self) -> RecommendedModel | None:
        """What is being downloaded, else the best for the first task that no model here can do."""
        machine, able = self._machinery.machine, self._able
        if able is None:
            return None
        for choice in self._taken.values():
            return choice
        dismissed = self._preferences.get(_DISMISSED, [])
        wanted = [task for task, _ in _NEEDS.items() if not able[task] and task not in dismissed]
        if machine is None or not wanted or (not able["chat"] and wanted[0] != "chat"):
            return None
        choices = self._choices()
        repos = best(choices, machine)
        if first := first_chat(choices, machine):
            repos["chat"] = first
        return next((c for task in wanted for c in choices if c.repo == repos.get(task)), None)


def first_chat(choices: Sequence[RecommendedModel], machine: Machine) -> str:
    """The repository to begin with: quick to get, and quicker than a person reads. Empty: the best one is the one."""
    quick = [c for c in ranked(choices, machine) if c.task == "chat" and not c.gated and c.size <= _FIRST
             and machine.fit(c.size) == "fits" and c.speed(machine) >= _FLUENT]  # fmt: skip
    return max(quick, key=lambda choice: choice.size).repo if quick else ""


def what_models_can(service: Any) -> dict[str, list[str]]:
    """By task, the models on this machine that do it, without those that come with Grus. Reads the disk."""
    from app.runtime.catalogue import capabilities_of
    from engine.starter import starters

    own = set(starters().values())
    found: dict[str, list[str]] = {task: [] for task in TASKS}
    for known in service.catalogue.all():
        if known.source in own:
            continue
        abilities = capabilities_of(known.source, service.catalogue.cache_dir)
        for task, ability in _NEEDS.items():
            if ability in abilities:
                found[task].append(known.name)
    return found
