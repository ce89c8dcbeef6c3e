"""The models on this machine, and whether others fit its memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import mark, number, size, tr
from app.gui.viewmodels.signal import Signal
from engine.errors import BackendUnavailable

if TYPE_CHECKING:
    from subprocess import Popen

    from app.gui.preferences import Preferences
    from app.runtime.models import ModelService
    from app.window_engine import WindowEngine
    from engine.machine import Machine

# In the order in which they are shown; English, shown through `tr`.
TASKS = {
    "chat": mark("Chat"),
    "see": mark("Vision"),
    "read": mark("Document reading (OCR)"),
    "listen": mark("Listen"),
    "speak": mark("Speak"),
    "embed": mark("Embedding"),
    "rank": mark("Reranking"),
}


_KEPT = "machine"  # in the preferences


_BADGES = {
    "chat": mark("Chat"),
    "vision": mark("Vision"),
    "hear": mark("Audio"),
    "read": mark("Documents"),
    "listen": mark("Transcription"),
    "diarize": mark("Speakers"),
    "verify": mark("Voice recognition"),
    "speak": mark("Speech"),
    "embed": mark("Embedding"),
    "rank": mark("Reranking"),
    "remote": mark("Remote"),
}
# what a recommended model of a task can do, and what Hugging Face's tasks mean
OF_TASK: dict[str, tuple[str, ...]] = {
    "chat": ("chat",),
    "see": ("chat", "vision", "read"),
    "read": ("read",),
    "listen": ("listen",),
    "speak": ("speak",),
    "embed": ("embed",),
    "rank": ("rank",),
    "text-generation": ("chat",),
    "image-text-to-text": ("chat", "vision"),
    "any-to-any": ("chat", "vision"),
    "image-to-text": ("read",),
    "automatic-speech-recognition": ("listen",),
    "text-to-speech": ("speak",),
    "feature-extraction": ("embed",),
    "sentence-similarity": ("embed",),
    "text-ranking": ("rank",),
}


def badges(abilities: Collection[str]) -> tuple[str, ...]:
    """What a model can do, in a word each. Every model that chats makes vectors too, which is said of none."""
    shown = {*abilities} - ({"embed"} if "chat" in abilities else set())
    return tuple(tr(title) for ability, title in _BADGES.items() if ability in shown)


class MachineFacts:
    """What this machine is, asked once for all panes; `changed` when an answer is there."""

    def __init__(self, core: WindowEngine, preferences: Preferences) -> None:
        self._core, self._preferences = core, preferences
        self.changed = Signal()
        self.machine: Machine | None = None
        self.problem = ""
        self._looking: list[Popen[str]] = []
        self._asked: dict[str, Any] = {}  # the settings that an answer is there or awaited for
        self._over = False
        if kept := preferences.get(_KEPT):  # what an earlier look found, until the next one
            from engine.machine import Machine

            with contextlib.suppress(TypeError):  # an older Grus kept other facts
                self.machine = Machine(**kept)

    def look(self, again: bool = False) -> None:
        """In a process of its own, which gives the memory of a backend's library back, unless a model is loaded and with it the
        library. Nothing is done where another pane has asked with the same settings. `again`: look in any case, and measure the
        memory's bandwidth even if it is known."""
        preferences = self._preferences
        options = {name: preferences.get(name, "auto") for name in ("backend", "device")}
        options["cache_dir"] = preferences.get("cache_dir")
        limit = preferences.get("memory_limit")
        asked = {**options, "memory_limit": limit}
        if asked == self._asked and not again:
            return
        self._asked = asked

        def ask(service: ModelService) -> Machine:
            from engine.loading import LoadOptions
            from engine.machine import look, look_in_process

            if self._over:
                raise BackendUnavailable("The window is closed.")
            if service.resident():
                return look(LoadOptions(**options), limit, again)
            return look_in_process(**options, limit=limit, again=again, started=self._looking.append)

        def got(machine: Machine) -> None:
            if self._asked is asked:  # else other settings were chosen meanwhile
                self._got(machine)

        def failed(sentence: str) -> None:
            if self._asked is asked:
                self._failed(sentence)

        self._core.use(ask, got, failed)

    def end(self) -> None:
        """The window closes, and waits for no other process."""
        self._over = True
        for process in self._looking:
            process.kill()

    def _got(self, machine: Machine) -> None:
        self.machine, self.problem = machine, ""
        self._preferences.put(_KEPT, vars(machine))
        self.changed()

    def _failed(self, sentence: str) -> None:
        self.problem, self._asked = sentence, {}  # the next pane tries again
        self.changed()


def fit_words(machine: Machine | None, nbytes: int, experts_in_file: bool = False) -> tuple[str, str]:
    """A sentence and its level. `experts_in_file`: see `Facts`."""
    if machine is None or not nbytes:
        return "", ""
    from engine.machine import needed_bytes

    needed, has = size(needed_bytes(nbytes)), size(machine.allowed)
    fit = machine.fit(nbytes, experts_in_file)
    if fit == "fits":
        return tr("Fits this machine: needs about {needed} of {has}.", needed=needed, has=has), "ok"
    if fit == "tight":
        sentence = tr(
            "Needs about {needed}; models may use {has}. Raise the memory limit in Settings.", needed=needed, has=has
        )
        return sentence, "warning"
    if fit == "from disk":
        sentence = tr(
            "Needs about {needed} of {has}. Its experts can stay in the file: replies are as slow as the disk.",
            needed=needed,
            has=size(machine.memory),
        )
        return sentence, "warning"
    return tr(
        "Too large for this machine: needs about {needed} of {has}.", needed=needed, has=size(machine.memory)
    ), "error"


def speed_words(speed: float) -> str:
    """Of an expected number of tokens a second."""
    return tr("about {n} tokens/s", n=number(speed) if speed < 1 else f"{speed:.0f}") if speed else ""


def fit_mark(machine: Machine | None, nbytes: int, experts_in_file: bool = False) -> str:
    """The same in two words, for a line."""
    if machine is None or not nbytes:
        return ""
    words = {"fits": tr("fits"), "tight": tr("tight"), "from disk": tr("from disk"), "too large": tr("too large")}
    return words[machine.fit(nbytes, experts_in_file)]


Place = Literal["cache", "folder", "grus", "app", "remote"]
UNDO_SECONDS = 30.0  # a deleted model can be put back for so long
_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth")


@dataclass(frozen=True)
class ModelMemory:
    """What a loaded model holds in memory."""

    weights: int
    talk: int  # keys, values and states of conversations
    active: int  # requests


@dataclass(frozen=True)
class InstalledModel:
    """One model on this machine, or of a server elsewhere."""

    name: str
    source: str  # a path, or a repository of the cache
    nbytes: int
    place: Place
    missing: tuple[str, ...] = ()
    resident: ModelMemory | None = None
    quants: tuple[str, ...] = ()  # of a repository of GGUF files: those that are here
    app: str = ""  # whose it is, of those that another application has downloaded
    abilities: frozenset[str] = frozenset()
    server: str = ""  # of a model elsewhere: who answers for it, and where
    address: str = ""

    @property
    def whole(self) -> bool:
        return not self.missing


class ModelLibrary:
    """`changed`: `models` changed. `later(seconds, run)` is a timer; `gone()` notifies others that models changed."""

    def __init__(
        self,
        core: WindowEngine,
        preferences: Preferences,
        say: Callable[..., Any],
        later: Callable[[float, Callable[[], object]], None],
        notify_others: Callable[[], Any],
    ) -> None:
        self._core, self._preferences, self._say, self._later = core, preferences, say, later
        self._notify_others = notify_others
        self.changed = Signal()
        self.models: list[InstalledModel] = []
        self.known = False  # whether the disk was read
        self.busy: dict[str, str] = {}  # name -> what happens to it, in words
        core.use(lambda service: _throw_away_old(service.catalogue.cache_dir))

    @property
    def held(self) -> int:
        """Bytes in memory, of all models."""
        return sum(model.resident.weights + model.resident.talk for model in self.models if model.resident)

    def look(self) -> None:
        """Scan the disk."""

        def got(models: list[InstalledModel]) -> None:
            self.models, self.known = models, True
            self.changed()

        self._core.use(on_disk, got, self._show_error)

    def poll(self) -> None:
        """What is in memory, without reading the disk."""

        def got(now: Mapping[str, ModelMemory]) -> None:
            models = [replace(model, resident=now.get(model.name)) for model in self.models]
            if models != self.models:
                self.models = models
                self.changed()

        self._core.use(residents, got)

    def find(self, name: str) -> InstalledModel | None:
        """By its name; the only quantization of a repository that is here goes by the repository's and by its own."""
        repo, _, quant = name.partition(":")
        return next(
            (
                model
                for model in self.models
                if model.name == name or (model.name == repo and model.quants == (quant.upper(),))
            ),
            None,
        )

    # -- memory

    def load(self, name: str) -> None:
        self._begin(name, tr("Loading {model}.", model=name))
        self._core.load(name, lambda _: self._end(name), lambda sentence: self._end(name, sentence))

    def unload(self, name: str) -> None:
        self._begin(name, tr("Unloading {model}.", model=name))
        self._core.unload(name, lambda _: self._end(name), lambda sentence: self._end(name, sentence))

    # -- disk

    def remove(self, model: InstalledModel) -> None:
        """A model of the cache is deleted, a folder is only forgotten. Both can be taken back."""
        if model.place == "cache":
            self._delete(model)
        elif model.place == "folder":
            self._forget(model)

    def add_folder(self, folder: Path) -> None:
        """A model's own folder, or one that holds several."""

        def added(names: list[str]) -> None:
            self._say(tr("Added from {folder}: {models}.", folder=folder.name, models=", ".join(names)), level="ok")
            self._changed()

        def remember(kind: str) -> None:
            if kind == "one":
                named = dict(self._preferences.get("models", {}))
                self._preferences.put("models", {**named, folder.name: str(folder)})
            else:
                self._preferences.put("model_folders", [*self._preferences.get("model_folders", []), str(folder)])

        def add(service: ModelService) -> tuple[str, list[str]]:
            return take_in(service, folder)

        def taken(answer: tuple[str, list[str]]) -> None:
            remember(answer[0])
            added(answer[1])

        self._core.use(add, taken, self._show_error)

    def check(self, model: InstalledModel) -> None:
        """Read every file of a cached model and compare its checksum."""
        self._begin(model.name, tr("Verifying the files of {model}.", model=model.name))

        def look(service: ModelService) -> list[str]:
            from engine.hub.cache import find, parse
            from engine.hub.download import damaged_files

            named = parse(model.source)
            snapshot = find(named.repo, named.revision, service.catalogue.cache_dir) if named else None
            return damaged_files(snapshot.path) if snapshot is not None else []

        def got(damaged: list[str]) -> None:
            self._end(model.name)
            if damaged:
                sentence = tr("Damaged: {files}. Delete {model} and download it again.", files=", ".join(damaged),
                          model=model.name)  # fmt: skip
                self._say(sentence, level="error")
            else:
                self._say(tr("All files of {model} are intact.", model=model.name), level="ok")

        self._core.use(look, got, lambda sentence: self._end(model.name, sentence))

    # -- a person's defaults for one model

    def defaults(self, name: str) -> dict[str, Any]:
        return dict(self._preferences.get("model_defaults", {}).get(name, {}))

    def set_default(self, name: str, key: str, value: Any) -> None:
        """None: as the model's makers chose."""
        chosen = {**self.defaults(name), key: value}
        kept = {k: v for k, v in chosen.items() if v is not None}
        every = {k: v for k, v in self._preferences.get("model_defaults", {}).items() if k != name}
        self._preferences.put("model_defaults", {**every, name: kept} if kept else every)

    # -- inside

    def _delete(self, model: InstalledModel) -> None:
        def take_out(service: ModelService) -> Any:
            from engine.hub.cache import remove

            if model.name in service.resident():
                service.engine.unload(model.name, cancel=True)
            return remove(model.source, service.catalogue.cache_dir)

        def taken(removed: Any) -> None:
            def restore() -> None:
                self._core.use(lambda service: removed.restore(), lambda _: self._changed(), self._show_error)

            sentence = tr("{model} was deleted. {size} will be freed in 30 seconds.", model=model.name,
                      size=size(model.nbytes))  # fmt: skip
            self._say(sentence, undo=(tr("Undo"), restore))
            self._later(UNDO_SECONDS, lambda: self._core.use(lambda service: removed.purge()))
            self._changed()

        self._core.use(take_out, taken, self._show_error)

    def _forget(self, model: InstalledModel) -> None:
        before = {key: self._preferences.get(key) for key in ("models", "model_folders")}
        named = {name: path for name, path in (before["models"] or {}).items() if name != model.name}
        parent = str(Path(model.source).parent)
        folders = [folder for folder in before["model_folders"] or [] if folder != parent]
        self._put_folders({"models": named, "model_folders": folders})

        def restore() -> None:
            self._put_folders({"models": before["models"] or {}, "model_folders": before["model_folders"] or []})

        sentence = tr("{model} was removed from the list. Its files were not deleted.", model=model.name)
        self._say(sentence, undo=(tr("Undo"), restore))

    def _put_folders(self, kept: Mapping[str, Any]) -> None:
        gone = set(self._preferences.get("models", {})) - set(kept["models"])
        for key, value in kept.items():
            self._preferences.put(key, value)

        def apply(service: ModelService) -> None:
            named = {name: path for name, path in service.catalogue.named.items() if name not in gone}
            service.catalogue.named = {**named, **kept["models"]}
            service.catalogue.more_folders = [Path(folder) for folder in kept["model_folders"]]

        self._core.use(apply, lambda _: self._changed(), self._show_error)

    def _begin(self, name: str, what: str) -> None:
        self.busy[name] = what
        self.changed()

    def _end(self, name: str, problem: str = "") -> None:
        self.busy.pop(name, None)
        self._say(problem, level="error" if problem else "ok")
        self._changed()

    def _changed(self) -> None:
        self.look()
        self._notify_others()

    def _show_error(self, sentence: str) -> None:
        self._say(sentence, level="error")


# -- off the UI thread


def on_disk(service: ModelService) -> list[InstalledModel]:
    """Everything that could be loaded, and what a cut-off download left; in memory first, then by name."""
    from app.runtime.catalogue import capabilities_of, capabilities_of_known
    from engine.hub.cache import cached_models
    from engine.starter import starters

    now, own = residents(service), set(starters().values())
    found: dict[str, InstalledModel] = {}
    for known in service.catalogue.all():
        if known.base is not None:  # a model with an adapter: its files are listed as they lie
            continue
        if known.server is not None and service.catalogue.remotes is not None:
            about = InstalledModel(known.name, known.source, 0, "remote", abilities=capabilities_of_known(known))
            url = service.catalogue.remotes.get(known.server).url
            found[known.name] = replace(about, server=known.server, address=url)
            continue
        path = Path(known.source).expanduser()
        if path.exists():
            place: Place = "grus" if known.source in own else "app" if known.app else "folder"
            about = InstalledModel(known.name, known.source, _size(path), place, (), now.get(known.name))
            abilities = capabilities_of(known.source, service.catalogue.cache_dir)
            found[known.name] = replace(about, app=known.app or "", abilities=frozenset(abilities))
    for cached in cached_models(service.catalogue.cache_dir) if service.catalogue.use_cache else []:
        for name in cached.names:
            missing = () if cached.quants else cached.snapshot.missing
            about = InstalledModel(name, name, cached.nbytes, "cache", missing, now.get(name), cached.quants)
            if name not in found:
                abilities = capabilities_of(name, service.catalogue.cache_dir)
                found[name] = replace(about, abilities=frozenset(abilities))
    return sorted(found.values(), key=lambda model: (model.resident is None, not model.whole, model.name.casefold()))


def residents(service: ModelService) -> dict[str, ModelMemory]:
    return {
        stats.name: ModelMemory(stats.weight_bytes, stats.kv_bytes, stats.active) for stats in service.engine.models()
    }


def take_in(service: ModelService, folder: Path) -> tuple[str, list[str]]:
    """Whether the folder is `one` model or holds `many`, and their names. Raises what is wrong with it."""
    from engine.errors import ModelNotFound
    from engine.model_files import open_model

    if (folder / "config.json").is_file() or any(folder.glob("*.gguf")):
        open_model(folder)
        service.catalogue.named = {**service.catalogue.named, folder.name: str(folder)}
        return "one", [folder.name]
    before = {known.name for known in service.catalogue.all()}
    service.catalogue.more_folders = [*service.catalogue.more_folders, folder]
    names = [known.name for known in service.catalogue.all() if known.name not in before]
    if not names:
        service.catalogue.more_folders = [more for more in service.catalogue.more_folders if more != folder]
        raise ModelNotFound(
            tr("{folder} contains no model: no config.json with weights, and no GGUF file.", folder=folder.name)
        )
    return "many", names


def _throw_away_old(cache_dir: str | None) -> None:
    from engine.hub.cache import purge_all

    purge_all(cache_dir)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in _WEIGHTS]
    return sum(file.stat().st_size for file in files if file.is_file())
