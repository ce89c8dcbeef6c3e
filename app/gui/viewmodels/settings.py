"""The settings pane's behaviour: backend, device and memory limit; offline mode and the hub token; stored data and its deletion."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.texts import in_language, mark, size, tr
from app.gui.viewmodels.signal import Signal
from engine.errors import GrusError
from engine.hub import offline

if TYPE_CHECKING:
    from app.gui.preferences import AppFolders, Preferences
    from app.gui.store.worker import AppStore
    from app.gui.viewmodels.models.library import MachineFacts
    from app.window_engine import JobRunner
    from engine.hub.token import StoredToken

BACKENDS = (("auto", mark("Automatic")), ("mlx", "MLX"), ("torch", "PyTorch"))
DEVICES = (("auto", mark("Automatic")), ("metal", "Metal"), ("cuda", "CUDA"), ("cpu", "CPU"))
COUNTS = (1, 2, 3, 4, 6, 8)  # of replicas, and of devices that a model is split among
BATTERY_THREADS = (0, 1, 2, 3, 4, 6, 8)  # 0: as many as on mains power
PACKED_LIMIT = "16G"  # as `engine.load_options` has it, which an idle window does not hold
PACKED_LIMITS = (("0", mark("Nothing")), ("8G", "8 GB"), ("16G", "16 GB"), ("32G", "32 GB"), ("64G", "64 GB"))
_KEYS = ("backend", "device", "memory_limit", "replicas", "tensor_parallel")
_EITHER = {"replicas": "tensor_parallel", "tensor_parallel": "replicas"}  # a model is split or has replicas
DEFAULT_SHARE = 0.7


class ComputeSettings:
    """`changed`: a setting, or its effect, changed."""

    def __init__(self, machinery: MachineFacts, preferences: Preferences) -> None:
        self._preferences = preferences
        self._machinery = machinery
        self._machinery.changed.connect(self._looked)
        self.changed = Signal()
        self.problem = ""
        self._before = self._chosen()
        self.altered = False  # whether what is loaded was loaded by other choices

    def look(self) -> None:
        """What the choices come to, unless that is known."""
        self._machinery.look()

    @property
    def outcome(self) -> str:
        """What the choices come to on this machine."""
        machine = self._machinery.machine
        if self._machinery.problem:
            return self._machinery.problem
        if machine is None:
            return tr("Checking this machine.")
        return tr("Models run on {backend}, {device}, and may use {allowed} of {memory}.", backend=_title(BACKENDS, machine.backend),
                  device=_title(DEVICES, machine.device.partition(":")[0]), allowed=size(machine.allowed), memory=size(machine.memory))  # fmt: skip

    @property
    def failed(self) -> bool:
        return bool(self._machinery.problem)

    @property
    def limit(self) -> str:
        """As a person writes it; empty for the default share."""
        kept = self._preferences.get("memory_limit")
        if kept is None:
            return ""
        return f"{round(100 * kept)} %" if isinstance(kept, float) else str(kept)

    def choose(self, key: str, value: Any) -> None:
        self._preferences.put(key, value)
        if key in _EITHER and value > 1:
            self._preferences.put(_EITHER[key], 1)
        self.altered = self._chosen() != self._before
        self.changed()
        self.look()

    def set_limit(self, text: str) -> None:
        """`70 %`, `12 GB`, or nothing for the default share."""
        try:
            limit = read_limit(text)
        except GrusError:
            self.problem = tr("Enter a share like 70 %, or a size like 12 GB.")
            self.changed()
            return
        self.problem = ""
        self.choose("memory_limit", limit)

    def _looked(self) -> None:
        self.changed()

    def _chosen(self) -> list[Any]:
        return [self._preferences.get(key) for key in _KEYS]


def _title(names: Sequence[tuple[str, str]], wanted: str) -> str:
    return dict(names).get(wanted, wanted)


def read_limit(text: str) -> float | str | None:
    """A share as a number up to 1, a size as a text that the engine reads. Raises BadRequest."""
    from engine.errors import BadRequest
    from engine.types import memory_limit

    text = text.strip()
    if not text:
        return None
    if text.endswith("%"):
        number = text[:-1].strip().replace(",", ".")
        if not number.replace(".", "", 1).isdigit() or not 0 < float(number) <= 100:
            raise BadRequest("A share is between 1 and 100 %.", "memory_limit")
        return float(number) / 100
    limit = text.replace(" ", "").replace(",", ".").upper()
    if limit.replace(".", "", 1).isdigit() and float(limit) > 1:
        limit += "G"  # a plain number means GB
    memory_limit(limit, 1 << 30)
    return limit


class NetworkSettings:
    """`changed`: the token or the offline switch changed. The keyring is read off the UI thread."""

    def __init__(self, work: JobRunner, preferences: Preferences) -> None:
        self._work, self._preferences = work, preferences
        self.changed = Signal()
        self.kept: StoredToken | None = None  # None: not asked yet
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
                "{reason}. Grus stays offline until it is restarted without it.",
                reason=_capital(in_language(offline.reason() or "")),
            )
        return tr(
            "No search and no downloads, and the server does not fetch images. Models on this machine keep working."
        )

    def set_offline(self, on: bool) -> None:
        self._preferences.put("offline", on)

    # -- the token

    @property
    def about_token(self) -> str:
        if self.problem:
            return self.problem
        if self.busy or self.kept is None:
            return tr("Checking the keyring.")
        kept = self.kept
        if kept.place == "environment":
            return tr("{variable} is set and takes precedence over a token stored here.", variable=kept.where)
        if kept.place == "keyring" and not kept.readable:
            return tr("A token is stored in the system keyring, but the keyring cannot be opened.")
        if kept.place == "keyring":
            return tr("A token is stored in the system keyring.")
        if kept.place == "file":
            return tr(
                "A token is stored in {file}, which only you can read. No system keyring is available.", file=kept.where
            )
        if kept.place == "hub":
            return tr("Using the token of the Hugging Face command line, from {file}.", file=kept.where)
        return tr("For gated models. It is sent only to Hugging Face.")

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
        from app.runtime.remote.servers import forget_servers
        from engine.hub import token

        def forget() -> None:
            token.forget_all()
            forget_servers()

        self._run(forget)

    def _run(self, act: Callable[[], object]) -> None:
        self.busy, self.problem = True, ""
        self.changed()

        def job() -> StoredToken:
            from engine.hub import library, token

            act()
            return token.status(library.endpoint())

        def got(kept: StoredToken) -> None:
            self.kept, self.busy = kept, False
            self.changed()

        def failed(sentence: str) -> None:
            self.problem, self.busy = sentence, False
            self.changed()

        self._work.run(job, got, failed)


def _capital(text: str | None) -> str:
    return text[:1].upper() + text[1:] if text else ""


@dataclass(frozen=True)
class StoredKind:
    """One kind of things that are kept."""

    title: str  # English; shown through `tr`
    path: Path
    nbytes: int | None = None  # None: not measured yet
    ours: bool = True  # whether Delete all deletes it


class StoredData:
    """`changed`: `stored` was measured. `wiped()`: every pane clears itself. `reread()`: every pane reloads what is left."""

    def __init__(
        self,
        places: AppFolders,
        preferences: Preferences,
        store: AppStore,
        work: JobRunner,
        say: Callable[..., Any],
        wiped: Callable[[], Any],
        reread: Callable[[], Any],
    ) -> None:
        self._places, self._preferences, self._store, self._work = places, preferences, store, work
        self._say, self._wiped, self._reread = say, wiped, reread
        self.changed = Signal()
        self.stored = kinds(places, preferences.get("cache_dir"))
        self.asking = False  # whether a person was asked if all shall be deleted

    def look(self) -> None:
        """Measure sizes on disk."""
        places, cache_dir = self._places, self._preferences.get("cache_dir")

        def got(stored: list[StoredKind]) -> None:
            self.stored = stored
            self.changed()

        self._work.run(lambda: measure(places, cache_dir), got, self._show_error)

    def ask(self, asking: bool = True) -> None:
        """Deleting is two steps: ask, then do."""
        self.asking = asking
        self.changed()

    def delete_all(self) -> None:
        if not self.asking:
            return
        self.asking = False
        self._wiped()  # first, so that no pane shows or writes it any more

        def clear() -> None:
            database = self._places.database.name
            for entry in self._places.data.iterdir():
                if not entry.name.startswith(database):
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
            for entry in self._places.settings.glob("*.damaged-*"):
                entry.unlink(missing_ok=True)
            shutil.rmtree(self._places.packed, ignore_errors=True)

        def done(_: None) -> None:
            self._preferences.forget()
            self._wiped()
            self._reread()
            self._say(tr("Everything was deleted. Models are still on this machine."), level="ok")
            self.look()

        def failed(sentence: str) -> None:
            self._reread()
            self._show_error(sentence)
            self.look()

        self._store.wipe(lambda: self._work.run(clear, done, failed), failed)

    def _show_error(self, sentence: str) -> None:
        self._say(sentence, level="error")


def kinds(places: AppFolders, cache_dir: str | None) -> list[StoredKind]:
    from engine.hub.cache import cache_folder

    return [
        StoredKind(mark("Conversations, results and voices"), places.database),
        StoredKind(mark("Attachments"), places.attachments),
        StoredKind(mark("Other data"), places.data),
        StoredKind(mark("Settings"), places.preferences),
        StoredKind(mark("Packed weights"), places.packed),
        StoredKind(mark("Models, shared with other programs"), cache_folder(cache_dir), ours=False),
    ]


def measure(places: AppFolders, cache_dir: str | None) -> list[StoredKind]:
    """JobRunner off the UI thread: reads folders."""
    database = [file for file in places.data.glob(f"{places.database.name}*") if file.is_file()]
    inside = {file.name for file in database}
    rest = [entry for entry in places.data.iterdir() if entry.name not in inside and entry != places.attachments]
    parts = {places.database: sum(file.stat().st_size for file in database), places.data: sum(map(_size, rest))}
    found = kinds(places, cache_dir)
    return [replace(kept, nbytes=parts[kept.path] if kept.path in parts else _size(kept.path)) for kept in found]


def _size(path: Path) -> int:
    if path.is_file() and not path.is_symlink():
        return path.stat().st_size
    if not path.is_dir():
        return 0
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())
