"""The server's switch, and what goes on while it is on: requests, tokens a second, the log.

It runs in this process, over the same engine as the window: a model that is loaded for one is loaded for both.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import tr
from app.gui.viewmodels.hook import Hook
from app.gui.viewmodels.server.wishes import Wishes

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.runtime.models import ModelService
    from app.server.hosted import Hosted
    from app.window_engine import WindowEngine

State = Literal["off", "starting", "on", "stopping"]
SECONDS = 120  # of throughput that are remembered
_LINES = 500
_LOGGER = "grus.server"


@dataclass(frozen=True)
class Live:
    """A request that is being answered."""

    id: str
    model: str
    seconds: float


class Hosting:
    """`changed`: the switch; `moved`: requests, rates or the log."""

    def __init__(self, core: WindowEngine, preferences: Preferences, wishes: Wishes) -> None:
        self._core, self._preferences, self._wishes = core, preferences, wishes
        self.changed, self.moved = Hook(), Hook()
        self.state: State = "off"
        self.problem = ""
        self.address = ""
        self.requests: Sequence[Live] = ()
        self.models: list[str] = []
        self.rates: deque[float] = deque([0.0] * SECONDS, maxlen=SECONDS)
        self.log: deque[str] = deque(maxlen=_LINES)
        self._hosted: Hosted | None = None
        self._listening: _Listening | None = None

    def start(self) -> None:
        if self.state != "off":
            return
        self.problem = self._wishes.problem
        if self.problem:
            self.changed()
            return
        self.state = "starting"
        self.changed()
        self._hear()

        def begin(service: ModelService) -> Hosted:
            from app.server.hosted import Hosted

            return Hosted(service, self._wishes.settings())

        self._core.use(begin, self._started, self._failed)

    def stop(self) -> None:
        hosted = self._hosted
        if self.state != "on" or hosted is None:
            return
        self.state, self._hosted = "stopping", None
        self._preferences.put("server.on", False)
        self.changed()
        self._core.use(lambda service: hosted.stop(), lambda _: self._stopped(), lambda _: self._stopped())

    def close(self) -> None:
        """The window closes; the wish to serve stays. Waits a moment, so that nothing answers over a closed engine."""
        if self._hosted is not None:
            self._hosted.stop(at_once=True)
            self._hosted = None
            self._stopped()

    def abort(self, id: str) -> None:
        hosted = self._hosted
        if hosted is not None:
            self._core.use(lambda service: hosted.requests.abort(id), lambda _: self.poll())

    def poll(self) -> None:
        """Once a second."""

        hosted = self._hosted

        def look(service: ModelService) -> tuple[list[Live], float, list[str]]:
            now = time.monotonic()
            requests = (
                [Live(running.id, running.model, now - running.began) for running in hosted.requests.running]
                if hosted
                else []
            )
            return requests, service.engine.stats().tokens_per_second, [known.name for known in service.catalogue.all()]

        self._core.use(look, self._seen)

    def _seen(self, seen: tuple[list[Live], float, list[str]]) -> None:
        self.requests, rate, self.models = seen
        self.rates.append(rate)
        self.moved()

    def _started(self, hosted: Hosted) -> None:
        self._hosted, self.state, self.address = hosted, "on", hosted.address
        self._preferences.put("server.on", True)
        if not hosted.settings.local:
            told = tr("Other machines can reach the server on port {port}, with a key.", port=hosted.port)
            self._core.reach("server", told)
        self.changed()
        self.poll()

    def _failed(self, sentence: str) -> None:
        self.problem = sentence
        self._stopped()

    def _stopped(self) -> None:
        self.state, self.address, self.requests = "off", "", ()
        self._core.reach("server", "")
        if self._listening is not None:
            logging.getLogger(_LOGGER).removeHandler(self._listening)
            self._listening = None
        self.changed()
        self.moved()

    def _hear(self) -> None:
        self._listening = _Listening(self.log)
        logger = logging.getLogger(_LOGGER)
        logger.addHandler(self._listening)
        logger.setLevel(logging.INFO)


class _Listening(logging.Handler):
    """Lines of the server's log, from any thread; the view reads them once a second."""

    def __init__(self, lines: deque[str]) -> None:
        super().__init__(logging.INFO)
        self._lines = lines
        self.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))

    def emit(self, record: Any) -> None:
        self._lines.append(self.format(record))
