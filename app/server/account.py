"""What the engine did for one HTTP request: tokens and seconds of all requests that were made for it.

The middleware opens an account for every request; whatever submits to the engine adds its handles. Threads have no part in
the context of an event loop's task, so that what submits from them is given the account.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

from engine.types import Timings

current: ContextVar[Account | None] = ContextVar("grus_account", default=None)


class Account:
    def __init__(self, told: bool = False) -> None:
        """`told`: the client asked for the timings in the body of its reply."""
        self.told = told
        self.requests = 0
        self._lock = threading.Lock()
        self._running: list[Any] = []
        self._ended: Timings | None = None

    def add(self, handle: Any) -> None:
        """A request of the engine. Those that have ended are summed up, so that a long text keeps no list of them."""
        with self._lock:
            self.requests += 1
            self._fold()
            self._running.append(handle)

    @property
    def timings(self) -> Timings | None:
        """Of all requests that have ended; None where there was none. Tokens are added up; the seconds to the first token
        are the first one's, the others the largest."""
        with self._lock:
            self._fold()
            return self._ended

    def _fold(self) -> None:
        left = []
        for handle in self._running:
            timings: Timings | None = getattr(handle, "timings", None)
            if timings is None:
                left.append(handle)
            else:
                self._ended = timings if self._ended is None else joined(self._ended, timings)
        self._running = left


def joined(first: Timings, second: Timings) -> Timings:
    return Timings(
        queued=max(first.queued, second.queued),
        first_token=first.first_token,
        total=max(first.total, second.total),
        prompt_tokens=first.prompt_tokens + second.prompt_tokens,
        cached_tokens=first.cached_tokens + second.cached_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        gap_p50=max(first.gap_p50, second.gap_p50),
        gap_p95=max(first.gap_p95, second.gap_p95),
        drafted=first.drafted + second.drafted,
        accepted=first.accepted + second.accepted,
    )


def add(handle: Any) -> None:
    """To the account of the request that this task answers, where there is one."""
    account = current.get()
    if account is not None:
        account.add(handle)


def told_timings() -> dict[str, Any]:
    """`timings` for a reply's body, where the client asked for them."""
    account = current.get()
    if account is None or not account.told or account.timings is None:
        return {}
    return {"timings": account.timings.report()}


def as_header(timings: Timings) -> str:
    """Server-Timing, in milliseconds: browsers and clients show it."""
    parts = {
        "queue": timings.queued,
        "first-token": timings.first_token,
        "gap-p50": timings.gap_p50,
        "gap-p95": timings.gap_p95,
        "total": timings.total,
    }
    return ", ".join(f"{name};dur={1000 * seconds:.3f}" for name, seconds in parts.items())


def as_log(account: Account) -> str:
    """Of one line of the log: never a word of a prompt or a reply."""
    timings = account.timings
    if timings is None:
        return ""
    return (
        f" {timings.prompt_tokens} prompt tokens, {timings.output_tokens} output tokens, queued {timings.queued:.3f}s,"
        f" first token {timings.first_token:.3f}s"
    )
