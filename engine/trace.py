"""What the engine did when, as a Chrome trace (chrome://tracing, ui.perfetto.dev).

`Tracer` records spans in memory and writes them at the end; `Silent` has the same face and does nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

_MOST = 200_000  # spans that are kept, the last ones: a server runs for weeks


class Silent:
    """No profile was asked for."""

    on = False  # is it worth collecting facts for a span?

    _nothing: AbstractContextManager[None] = nullcontext()

    def span(self, name: str, **facts: Any) -> AbstractContextManager[None]:
        return self._nothing

    def past(self, name: str, seconds: float, **facts: Any) -> None:
        """Something that took `seconds` has just ended."""

    def write(self, path: Path) -> None: ...


class Tracer(Silent):
    on = True

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._events: deque[dict[str, Any]] = deque(maxlen=_MOST)

    @contextmanager
    def _timed(self, name: str, facts: dict[str, Any]) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._add(name, began, time.perf_counter(), facts)

    def span(self, name: str, **facts: Any) -> AbstractContextManager[None]:
        return self._timed(name, facts)

    def past(self, name: str, seconds: float, **facts: Any) -> None:
        now = time.perf_counter()
        self._add(name, now - seconds, now, facts)

    def _add(self, name: str, began: float, ended: float, facts: dict[str, Any]) -> None:
        self._events.append({
            "name": name, "ph": "X", "pid": 1, "tid": threading.get_ident() % 100_000,
            "ts": round((began - self._began) * 1e6, 1), "dur": round((ended - began) * 1e6, 1), "args": facts,
        })  # fmt: skip

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"traceEvents": list(self._events), "displayTimeUnit": "ms"}))
