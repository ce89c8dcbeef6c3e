"""Updates of Grus in the window: whether it may look for them, what it found, the download, and the installation."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.bundled import grus_version
from app.gui.texts import size, tr
from app.gui.viewmodels.signal import Signal
from app.updates import AvailableUpdate, UpdateSource, check, download, how_to_install, installed_kind, replaces_itself
from engine.errors import GrusError
from engine.hub import offline

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import JobRunner

ALLOWED = "updates"  # the preference: whether Grus may look; None: nobody was asked yet
_LOOKED = "updates.looked"  # the preference: when it looked last, in seconds since 1970
DAY = 24 * 60 * 60
Phase = Literal["idle", "looking", "newest", "found", "downloading", "downloaded", "installed"]


class WindowUpdates:
    """`changed`: there is something else to show. `found`: a look at start found a new version.

    Without a `source` (Grus from source) nothing is offered, and nothing is ever fetched.
    """

    def __init__(
        self, work: JobRunner, preferences: Preferences, folder: Path, source: UpdateSource | None, kind: str = ""
    ) -> None:
        self._work, self._preferences, self._folder, self._source = work, preferences, folder, source
        self.kind = kind or installed_kind()
        self.changed, self.found = Signal(), Signal()
        self.phase: Phase = "idle"
        self.update: AvailableUpdate | None = None
        self.problem = ""
        self._file: Path | None = None
        self._progress = (0, 0)
        self._closed = False
        preferences.changed.connect(lambda key: self.changed() if key == ALLOWED else None)

    @property
    def offered(self) -> bool:
        return self._source is not None

    @property
    def allowed(self) -> bool:
        return bool(self._preferences.get(ALLOWED))

    def must_ask(self) -> bool:
        """Whether to ask if Grus may look: once, and not at the very first start. It counts as asked from here on."""
        if self._source is None or self._preferences.get(ALLOWED) is not None or not self._preferences.get("window"):
            return False
        self._preferences.put(ALLOWED, False)
        return True

    def allow(self, on: bool = True) -> None:
        self._preferences.put(ALLOWED, on)
        if on:
            self.look_at_start()

    def look_at_start(self) -> None:
        """Once a day at most, in silence: only a new version is said."""
        looked = float(self._preferences.get(_LOOKED) or 0)
        if self.allowed and not 0 <= time.time() - looked < DAY and offline.forbidden() is None:
            self.look(quiet=True)

    def look(self, quiet: bool = False) -> None:
        """Ask for the newest release."""
        source = self._source
        if source is None or self.phase in ("looking", "downloading"):
            return
        self._put("looking")

        def got(found: AvailableUpdate | None) -> None:
            self._preferences.put(_LOOKED, time.time())
            self.update = found
            self._put("found" if found else "newest")
            if found and quiet:
                self.found()

        self._work.run(lambda: check(source), got, lambda problem: self._put("idle", "" if quiet else problem))

    @property
    def may_download(self) -> bool:
        return self.phase == "found" and self.update is not None and self.kind in self.update.files

    def download(self) -> None:
        """The file of this system, into Grus's folder. What is there of it is continued."""
        if not self.may_download or self.update is None:
            return
        file = self.update.files[self.kind]
        self._progress = (0, file.size)
        self._put("downloading")

        def show(done: int, total: int) -> None:
            if self._closed:
                raise GrusError("The window was closed.")
            self._work.post(lambda: self._show_progress(done, total))

        def job() -> Path:
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in self._folder.iterdir():  # of versions before
                if other.name not in (file.name, f"{file.name}.part"):
                    other.unlink()
            return download(file, self._folder, show)

        def got(path: Path) -> None:
            self._file = path
            self._put("downloaded")

        self._work.run(job, got, lambda problem: self._put("found", problem))

    @property
    def restarts(self) -> bool:
        """Whether installing ends in the new version without anything that a person does."""
        return replaces_itself(self.kind)

    def install(self, open_file: Callable[[Path], object], restart: Callable[[], object]) -> None:
        """An AppImage is replaced and started again. Everything else the system's own installer opens."""
        file = self._file
        if self.phase != "downloaded" or file is None:
            return
        if not self.restarts:
            open_file(file)
            return

        def done(_: str) -> None:
            self._put("installed")
            restart()

        self._work.run(lambda: how_to_install(self.kind, file), done, lambda problem: self._put("downloaded", problem))

    @property
    def status(self) -> str:
        """The state of the search for updates, in one or two sentences."""
        if self.problem:
            return self.problem
        if self.phase == "looking":
            return tr("Checking for a new version.")
        if self.phase == "newest":
            return tr("Grus {version} is the newest version.", version=grus_version())
        if self.phase == "downloading":
            done, total = self._progress
            return tr("Downloading: {done} of {total}", done=size(done), total=size(total))
        if self.phase == "downloaded" and self._file is not None:
            if self.restarts:
                return tr("The new version is downloaded and its signature is valid.")
            command = how_to_install(self.kind, self._file)
            return tr(
                "The new version is downloaded and its signature is valid. In a terminal: {command}", command=command
            )
        if self.update is None:
            return ""
        sentence = tr("Grus {version} is available.", version=self.update.version)
        if self.kind not in self.update.files:
            how = "uv tool upgrade grus" if self.kind == "python" else "grus update"
            sentence += " " + tr("Install it as you installed Grus, for example: {command}", command=how)
        return sentence

    @property
    def notes(self) -> str:
        """What changed, as Markdown."""
        return self.update.notes if self.update else ""

    def close(self) -> None:
        """The window closes: a download stops, and is continued another time."""
        self._closed = True

    def _show_progress(self, done: int, total: int) -> None:
        self._progress = (done, total)
        self.changed()

    def _put(self, phase: Phase, problem: str = "") -> None:
        self.phase, self.problem = phase, problem
        self.changed()
