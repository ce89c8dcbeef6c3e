"""The lines of the models pane's lists and the card of one model: facts, whether it fits, and its actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import number, size, tr, trn
from app.gui.viewmodels.models.downloads import Download, Downloads, HubSearch
from app.gui.viewmodels.models.library import (
    OF_TASK,
    TASKS,
    InstalledModel,
    MachineFacts,
    ModelLibrary,
    badges,
    fit_mark,
    fit_words,
    speed_words,
)
from app.gui.viewmodels.models.remote import answers_elsewhere
from app.gui.viewmodels.signal import Signal
from app.runtime.recommended import RecommendedModel, best, ranked

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import WindowEngine
    from engine.describe import Description
    from engine.hub.searching import Facts
    from engine.machine import Machine


@dataclass(frozen=True)
class ModelLine:
    """A heading (no `key`), or a model: two lines of words and a mark."""

    title: str
    key: str = ""
    second: str = ""
    mark: str = ""
    level: str = ""  # of the mark
    badges: tuple[str, ...] = ()  # what it can do

    @property
    def heading(self) -> bool:
        return not self.key


def downloaded_lines(library: ModelLibrary, downloads: Downloads, words: str = "") -> list[ModelLine]:
    """On this machine: on their way, in memory, on disk, cut off."""
    lines: list[ModelLine] = []
    coming = [item for item in downloads.items if _fits(words, item.repo)]
    if coming:
        lines.append(ModelLine(tr("Downloading")))
        lines += [ModelLine(item.repo, item.repo, item.sentence) for item in coming]
    paths = {item.repo for item in downloads.items}
    models = [model for model in library.models if model.name not in paths and _fits(words, model.name)]
    for title, group in (
        (tr("In memory"), [model for model in models if model.resident]),
        (tr("On disk"), [one for one in models if not one.resident and one.whole and one.place != "remote"]),
        (tr("Incomplete"), [model for model in models if not model.whole]),
        (tr("On other machines"), [model for model in models if model.place == "remote"]),
    ):
        lines += [ModelLine(title)] if group else []
        for model in group:
            held = model.resident
            second = (
                library.busy.get(model.name)
                or model.address
                or (tr("{size} in memory", size=size(held.weights + held.talk)) if held else size(model.nbytes))
            )
            mark = (tr("loaded"), "ok") if held else ("", "")
            lines.append(ModelLine(model.name, model.name, second, *mark, badges(model.abilities)))
    return lines


def recommended_lines(
    choices: Sequence[RecommendedModel], library: ModelLibrary, machine: Machine | None, words: str = ""
) -> list[ModelLine]:
    """Good first choices by what they do, those that suit this machine first; the best one is marked."""
    there = {model.name for model in library.models if model.whole}
    chosen = set(best(choices, machine).values()) if machine is not None else set()
    lines: list[ModelLine] = []
    for task, title in TASKS.items():
        group = [c for c in ranked(choices, machine) if c.task == task and _fits(words, f"{c.name} {c.repo} {c.does}")]
        lines += [ModelLine(tr(title))] if group else []
        for choice in group:
            mark, level = fit_mark(machine, choice.size, choice.experts_in_file), ""
            if choice.repo in there:
                mark, level = tr("installed"), "ok"
            elif choice.repo in chosen:
                mark, level = tr("recommended"), "ok"
            facts = (size(choice.size), speed_words(choice.speed(machine)), choice.licence)
            can = badges(OF_TASK[choice.task])
            lines.append(ModelLine(choice.name, choice.repo, " · ".join(filter(None, facts)), mark, level, can))
    return lines


def search_lines(finding: HubSearch, library: ModelLibrary) -> list[ModelLine]:
    """What the search found."""
    there = {entry.repo for entry in finding.found if (model := library.find(entry.repo)) is not None and model.whole}
    return [
        ModelLine(
            entry.repo,
            entry.repo,
            " · ".join(filter(None, (entry.task, tr("{n} downloads per month", n=_short(entry.downloads))))),
            tr("installed") if entry.repo in there else tr("gated") if entry.gated else "",
            "ok" if entry.repo in there else "",
            badges(OF_TASK.get(entry.task, ())),
        )
        for entry in finding.found
    ]


def _fits(words: str, text: str) -> bool:
    return all(word in text.casefold() for word in words.casefold().split())


def _short(n: int) -> str:
    if n >= 1_000_000:
        return f"{number(n / 1e6)} M"
    return f"{n / 1e3:.0f} k" if n >= 10_000 else str(n)


ModelAction = Literal[
    "download", "pause", "resume", "drop", "load", "unload", "chat", "check", "delete", "forget", "page", "refresh"
]


@dataclass(frozen=True)
class ModelFact:
    """One fact."""

    title: str
    value: str
    level: str = ""


@dataclass(frozen=True)
class ModelDetails:
    title: str = ""
    about: str = ""
    rows: Sequence[ModelFact] = ()
    actions: Sequence[ModelAction] = ()  # the first is the main one
    download: Download | None = None
    busy: str = ""
    problem: str = ""
    defaults: bool = False  # whether its answers can be tuned
    token: bool = False  # whether a token of Hugging Face is asked for here


class ModelDetailsSource:
    """Makes the card of the chosen model; `changed` when it differs. Only search results are looked up on the network."""

    def __init__(
        self,
        core: WindowEngine,
        preferences: Preferences,
        library: ModelLibrary,
        machinery: MachineFacts,
        finding: HubSearch,
        downloads: Downloads,
        choices: Sequence[RecommendedModel],
    ) -> None:
        self._core, self._preferences = core, preferences
        self._library, self._machinery, self._finding, self._downloads = library, machinery, finding, downloads
        self._choices = {choice.repo: choice for choice in choices}
        self._described: dict[str, Description | str] = {}  # a string: why it cannot be
        self.changed = Signal()
        self.name = ""  # a model on this machine, or a repository
        for signal in (library.changed, machinery.changed, downloads.changed):
            signal.connect(self.changed)
        finding.facts_changed.connect(lambda repo: self.changed())

    def choose(self, name: str) -> None:
        """Show this one, and ask what is not known of it."""
        self.name = name
        self._ask()
        self.changed()

    def card(self) -> ModelDetails:
        if not self.name:
            return ModelDetails()
        model = self._library.find(self.name)
        if model is not None and model.place == "remote":
            return _remote(model)
        if model is not None and model.whole:
            return self._here(model)
        return self._elsewhere(self.name, model)

    # -- a model on this machine

    def _here(self, model: InstalledModel) -> ModelDetails:
        rows = [ModelFact(tr("On disk"), size(model.nbytes)), ModelFact(tr("Location"), _where(model))]
        if model.resident is not None:
            held = tr("{weights} weights, {talk} KV cache", weights=size(model.resident.weights),
                      talk=size(model.resident.talk))  # fmt: skip
            rows.append(ModelFact(tr("In memory"), held, "ok"))
        described = self._described.get(model.name)
        problem = described if isinstance(described, str) else ""
        if described is not None and not isinstance(described, str):
            rows += described_facts(described)
            problem = " ".join(described.why_not)
        actions: list[ModelAction] = ["unload"] if model.resident is not None else ["load"]
        actions.insert(0, "chat")
        if model.place == "cache":
            actions += ["check", "page", "delete"]
        elif model.place == "folder":
            actions.append("forget")
        choice = self._choices.get(model.name)
        return ModelDetails(
            title=choice.name if choice else model.name,
            about=tr(choice.does) if choice else "",
            rows=rows,
            actions=actions,
            busy=self._library.busy.get(model.name, ""),
            problem=problem,
            defaults=True,
        )

    # -- one that is not, or not whole

    def _elsewhere(self, repo: str, left: InstalledModel | None) -> ModelDetails:
        choice, facts, download = self._choices.get(repo), self._finding.facts.get(repo), self._downloads.find(repo)
        nbytes = facts.nbytes if facts else choice.size if choice else 0
        rows: list[ModelFact] = []
        if nbytes:
            mixture = any(about is not None and about.experts_in_file for about in (facts, choice))
            words, level = fit_words(self._machinery.machine, nbytes, mixture)
            rows.append(ModelFact(tr("Download"), size(nbytes) if facts else tr("about {size}", size=size(nbytes))))
            rows.append(ModelFact(tr("Memory"), words or tr("Checking this machine."), level))
            if choice is not None and (speed := choice.speed(self._machinery.machine)):
                rows.append(ModelFact(tr("Speed"), tr("{speed} here", speed=speed_words(speed))))
            rows += self._disk(nbytes)
        if facts is not None:
            rows += _facts(facts)
        elif choice is not None:
            rows += [ModelFact(tr("Format"), choice.format), ModelFact(tr("Licence"), choice.licence)]
        rows.append(ModelFact(tr("Repository"), repo))
        problem = self._finding.problems.get(repo, "")
        gated = (facts is not None and facts.gated) or (choice is not None and choice.gated)
        if gated:
            problem = tr("This model is gated: accept its terms on Hugging Face first. Then enter your token here.")
        if left is not None and download is None:
            problem = tr("This download was interrupted. What was downloaded is kept.")
        return ModelDetails(
            title=choice.name if choice else repo,
            about=tr(choice.does) if choice else "",
            rows=rows,
            actions=_download_deeds(download, left is not None),
            download=download,
            busy="" if facts or choice or problem else tr("Getting sizes from Hugging Face."),
            problem=problem,
            token=gated and (download is None or download.state == "broken"),
        )

    def _disk(self, nbytes: int) -> list[ModelFact]:
        machine = self._machinery.machine
        if machine is None:
            return []
        free = size(machine.disk_free)
        if nbytes > machine.disk_free:
            return [ModelFact(tr("Disk"), tr("Only {free} are free.", free=free), "error")]
        return [ModelFact(tr("Disk"), tr("{free} are free.", free=free))]

    def _ask(self) -> None:
        name, preferences = self.name, self._preferences
        model = self._library.find(name)
        if model is None or not model.whole:
            searched = any(found.repo == name for found in self._finding.found)
            if searched or ("/" in name and name not in self._choices):  # of those enough is known without asking
                self._finding.ask_facts(name)
            return
        if name in self._described or model.place == "remote":
            return

        def ask(service: Any) -> Description:
            from engine.describe import describe
            from engine.loading import LoadOptions

            options = LoadOptions(
                backend=preferences.get("backend", "auto"),
                device=preferences.get("device", "auto"),
                cache_dir=preferences.get("cache_dir"),
                memory_limit=preferences.get("memory_limit"),
                download=False,
            )
            return describe(model.source, options)

        self._core.use(
            ask,
            lambda description: self._set_described(name, description),
            lambda sentence: self._set_described(name, sentence),
        )

    def _set_described(self, name: str, description: Description | str) -> None:
        self._described[name] = description
        self.changed()


def _remote(model: InstalledModel) -> ModelDetails:
    """A model of a server elsewhere."""
    rows = [ModelFact(tr("Server"), model.server), ModelFact(tr("Address"), model.address)]
    actions: list[ModelAction] = ["chat"] if "chat" in model.abilities else []
    return ModelDetails(
        title=model.source,
        about=answers_elsewhere(model.name),
        rows=rows,
        actions=[*actions, "refresh", "forget"],
        defaults="chat" in model.abilities,
    )


def title_of(action: ModelAction) -> str:
    titles: dict[ModelAction, Callable[[], str]] = {
        "download": lambda: tr("Download"),
        "pause": lambda: tr("Pause"),
        "resume": lambda: tr("Resume"),
        "drop": lambda: tr("Discard"),
        "load": lambda: tr("Load"),
        "unload": lambda: tr("Unload"),
        "chat": lambda: tr("Chat with this model"),
        "check": lambda: tr("Verify files"),
        "delete": lambda: tr("Delete"),
        "forget": lambda: tr("Remove from the list"),
        "refresh": lambda: tr("Refresh"),
        "page": lambda: tr("Show on Hugging Face"),
    }
    return titles[action]()


def _download_deeds(download: Download | None, left: bool) -> tuple[ModelAction, ...]:
    if download is None:
        return ("resume", "page", "drop") if left else ("download", "page")
    return ("pause", "page", "drop") if download.state == "running" else ("resume", "page", "drop")


def _where(model: InstalledModel) -> str:
    if model.place == "cache":
        return tr("The Hugging Face cache")
    if model.place == "app":
        return tr("{app}, {path}", app=model.app, path=model.source)
    return tr("Included with Grus") if model.place == "grus" else model.source


def _facts(facts: Facts) -> list[ModelFact]:
    kind = ", ".join(filter(None, (facts.format, facts.quantization)))
    rows = [ModelFact(tr("Format"), kind)]
    if facts.others:
        kinds = ", ".join(name.partition(":")[2] for name in facts.others)
        rows.append(
            ModelFact(
                tr("Also available as"),
                tr("{kinds}. Search for {name} to download one of these.", kinds=kinds, name=facts.others[0]),
            )
        )
    if facts.parameters:
        rows.append(ModelFact(tr("Weights"), _billions(facts.parameters)))
    if facts.architecture:
        rows.append(ModelFact(tr("Architecture"), facts.architecture))
    rows.append(ModelFact(tr("Licence"), facts.licence or tr("Not stated. Check with the publisher before you use it."),
                    "" if facts.licence else "warning"))  # fmt: skip
    return rows


def described_facts(description: Description) -> list[ModelFact]:
    rows = []
    if description.parameters:
        rows.append(ModelFact(tr("Weights"), _billions(description.parameters)))
    rows += [ModelFact(tr("Format"), description.stored_as), ModelFact(tr("Architecture"), description.architecture)]
    if description.context:
        rows.append(ModelFact(tr("Context"), trn("{n} token", "{n} tokens", description.context)))
    if description.memory_needed:
        rows.append(ModelFact(tr("Requires"), tr("{size} of memory", size=size(description.memory_needed))))
    if description.file_bytes:
        words = tr(
            "{size} of experts have no room in memory and stay in the file. Replies are as slow as the disk.",
            size=size(description.file_bytes),
        )
        rows.append(ModelFact(tr("From disk"), words, "warning"))
    if description.sees:
        rows.append(ModelFact(tr("Vision"), description.sees))
    if description.backend:
        rows.append(ModelFact(tr("Runs on"), f"{description.backend}, {description.device}, {description.dtype}"))
    return [row for row in rows if row.value]


def _billions(parameters: int) -> str:
    if parameters >= 1e9:
        return tr("{n} billion", n=number(parameters / 1e9))
    return tr("{n} million", n=f"{parameters / 1e6:.0f}")


def task_title(choice: RecommendedModel) -> str:
    return tr(TASKS[choice.task])
