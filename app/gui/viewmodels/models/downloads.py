"""Hugging Face: search, facts of a repository, and downloads that are paused and resumed, also after a restart.

The network is used only when a person asks for it. Each download runs on a thread of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.explain import explained
from app.gui.texts import seconds, size, tr
from app.gui.viewmodels.signal import Signal
from engine.errors import GrusError

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import JobRunner, WindowEngine
    from engine.hub.searching import Facts, FoundModel


class HubSearch:
    """Search on Hugging Face. `changed`: `found`, `problem` or `searching` changed. `facts_changed(repo)`: the facts of one arrived."""

    def __init__(self, work: JobRunner) -> None:
        self._work = work
        self.changed, self.facts_changed = Signal(), Signal()
        self.words = ""
        self.found: list[FoundModel] = []
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
            return tr("Searching Hugging Face for {words}.", words=self.words)
        if self.problem or self.found:
            return self.problem
        if self.words:
            return tr("No results for {words} on Hugging Face.", words=self.words)
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

        def ask() -> list[FoundModel]:
            from engine.hub.searching import search

            return search(self.words)

        def got(found: list[FoundModel]) -> None:
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
            self.facts_changed(repo)

        def failed(sentence: str) -> None:
            self._asking.discard(repo)
            self.problems[repo] = sentence
            self.facts_changed(repo)

        self._work.run(ask, got, failed)


log = logging.getLogger("grus.window")
State = Literal["running", "paused", "broken"]
Fetch = Callable[[str, "str | None", Callable[[int, int], None]], Path]
_REPORT_EVERY = 0.2  # seconds


class _Paused(BaseException):
    """Ends a transfer; no failure."""


@dataclass
class Download:
    """One that is not finished."""

    repo: str
    state: State = "paused"
    done: int = 0
    total: int = 0
    rate: float = 0.0  # bytes a second
    problem: str = ""
    waits: str = ""  # why nothing arrives, while it runs

    @property
    def sentence(self) -> str:
        how_far = tr("{done} of {total}", done=size(self.done), total=size(self.total)) if self.total else ""
        if self.state == "broken":
            return self.problem
        if self.state == "paused":
            return tr("Paused at {how_far}", how_far=how_far) if how_far else tr("Paused")
        if self.waits:
            return self.waits
        if not how_far:
            return tr("Getting the list of files from Hugging Face")
        if self.done >= self.total:
            return tr("Verifying")
        if self.rate < 1:
            return how_far
        left = seconds((self.total - self.done) / self.rate)
        return tr("{how_far}, {rate}/s, {left} left", how_far=how_far, rate=size(self.rate), left=left)


def fetch(repo: str, cache_dir: str | None, progress: Callable[[int, int], None]) -> Path:
    from engine.hub.download import download

    return download(repo, None, cache_dir, progress)


class Downloads:
    """`changed`: one began, moved or ended. `finished(repo)`: it is on this machine."""

    def __init__(self, core: WindowEngine, preferences: Preferences, post: Callable[[Callable[[], None]], None],
                 say: Callable[..., Any], fetch: Fetch = fetch) -> None:  # fmt: skip
        self._core, self._preferences, self._post, self._say, self._fetch = core, preferences, post, say, fetch
        self.changed, self.finished = Signal(), Signal()
        self.items: list[Download] = [
            Download(kept["repo"], "paused", kept.get("done", 0), kept.get("total", 0))
            for kept in preferences.get("downloads", [])
        ]
        self._stops: dict[str, threading.Event] = {}

    def find(self, repo: str) -> Download | None:
        return next((item for item in self.items if item.repo == repo), None)

    def start(self, repo: str) -> None:
        """Start a download, or resume one that was paused or interrupted."""
        item = self.find(repo)
        if item is None:
            item = Download(repo)
            self.items.append(item)
        if item.state == "running":
            return
        item.state, item.problem, item.rate, item.waits = "running", "", 0.0, ""
        stop = self._stops[repo] = threading.Event()
        cache_dir = self._preferences.get("cache_dir")
        threading.Thread(target=self._run, args=(item, stop, cache_dir), name="grus-download", daemon=True).start()
        self._keep()

    def pause(self, repo: str) -> None:
        item = self.find(repo)
        if item is not None and item.state == "running":
            self._stops.pop(repo).set()
            item.state, item.rate = "paused", 0.0
            self._keep()

    def pause_all(self) -> bool:
        """False when none was running."""
        running = [item.repo for item in self.items if item.state == "running"]
        for repo in running:
            self.pause(repo)
        return bool(running)

    def forget(self) -> None:
        """Everything that is remembered goes; what arrived stays in the cache."""
        self.pause_all()
        self.items = []
        self._keep()

    def drop(self, repo: str) -> None:
        """Not wanted any more: what arrived is thrown away."""
        self.pause(repo)
        self.items = [item for item in self.items if item.repo != repo]
        self._keep()
        cache_dir = self._preferences.get("cache_dir")

        def discard(service: Any) -> None:
            from engine.hub.cache import discard_unfinished

            discard_unfinished(repo, cache_dir)

        self._core.use(discard, lambda _: self.finished(repo), lambda sentence: self._say(sentence, level="error"))

    # -- off the UI thread

    def _run(self, item: Download, stop: threading.Event, cache_dir: str | None) -> None:
        progress = _Progress(
            stop,
            lambda done, total, rate: self._post(lambda: self._moved(item, stop, done, total, rate)),
            lambda sentence: self._post(lambda: self._waits(item, stop, sentence)),
        )
        try:
            self._fetch(item.repo, cache_dir, progress)
        except _Paused:
            return
        except BaseException as error:
            if not isinstance(error, GrusError | OSError):
                log.exception("a download failed")
            sentence = explained(error)
            self._post(lambda: self._broke(item, stop, sentence))
        else:
            self._post(lambda: self._ended(item, stop))

    # -- on the UI thread; what a transfer says after it was paused does not count

    def _moved(self, item: Download, stop: threading.Event, done: int, total: int, rate: float) -> None:
        if not stop.is_set():
            item.done, item.total, item.rate = done, total, rate
            self.changed()

    def _waits(self, item: Download, stop: threading.Event, sentence: str) -> None:
        if not stop.is_set():
            item.waits = sentence
            self.changed()

    def _broke(self, item: Download, stop: threading.Event, sentence: str) -> None:
        if not stop.is_set():
            item.state, item.problem, item.rate = "broken", sentence, 0.0
            self._keep()

    def _ended(self, item: Download, stop: threading.Event) -> None:
        if stop.is_set():
            return
        self.items = [other for other in self.items if other is not item]
        self._keep()
        self._say(tr("{model} is installed. Its checksums are correct.", model=item.repo), level="ok")
        self.finished(item.repo)

    def _keep(self) -> None:
        kept = [{"repo": item.repo, "done": item.done, "total": item.total} for item in self.items]
        self._preferences.put("downloads", kept)
        running = [item.repo for item in self.items if item.state == "running"]
        sentence = tr("Downloading {model} from Hugging Face.", model=", ".join(running)) if running else ""
        self._core.reach("download", sentence)
        self.changed()


class _Progress:
    """Progress of a transfer, called from its own thread. After a stop it ends the transfer."""

    def __init__(
        self, stop: threading.Event, moved: Callable[[int, int, float], None], waiting: Callable[[str], None]
    ) -> None:
        self._stop, self._moved, self.waiting = stop, moved, waiting
        self._meter = _Meter()

    def __call__(self, done: int, total: int) -> None:
        if self._stop.is_set():
            raise _Paused
        if self._meter.due(done) or done >= total:
            self._moved(done, total, self._meter.rate)


class _Meter:
    """Bytes per second over the last few seconds, and when to report."""

    def __init__(self) -> None:
        self.rate = 0.0
        self._last = 0.0
        self._seen: list[tuple[float, int]] = []

    def due(self, done: int) -> bool:
        now = time.monotonic()
        if now - self._last < _REPORT_EVERY:
            return False
        self._last = now
        self._seen = [*(seen for seen in self._seen if now - seen[0] < 5), (now, done)]
        first, there = self._seen[0]
        if now > first:
            self.rate = (done - there) / (now - first)
        return True
