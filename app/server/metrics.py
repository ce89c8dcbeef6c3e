"""Figures for Prometheus. Every server has a registry of its own, so that two can live in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from engine.errors import GrusError
from engine.types import Done, Event, Failed, Text

_FIRST_TOKEN = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_GAP = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_DURATION = (0.005, 0.02, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)

_GAUGES = {  # name -> (key of the engine's figures, what it is)
    "grus_queue_depth": ("waiting", "Requests that wait for a place"),
    "grus_active_requests": ("active", "Sequences that are computed now"),
    "grus_kv_bytes": ("kv_bytes", "Bytes of keys, values and states in use"),
    "grus_evictions": ("evictions", "Sequences evicted to make room, since the start"),
    "grus_prefix_hits": ("prefix_hits", "Prompts that began with remembered tokens, since the start"),
    "grus_prefix_tokens": ("prefix_tokens", "Prompt tokens that were remembered instead of computed, since the start"),
    "grus_process_memory_bytes": ("process_memory", "Memory of this process"),
}


class Meters:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._observed = False
        self._http = Counter("grus_http_requests", "HTTP requests", ["route", "status"], registry=self.registry)
        self._seconds = Histogram(
            "grus_http_request_seconds",
            "Until a reply was complete",
            ["route"],
            buckets=_DURATION,
            registry=self.registry,
        )
        self.sessions = Gauge("grus_realtime_sessions", "Conversations by voice that are open", registry=self.registry)
        self._ends = Counter("grus_requests", "Engine requests by how they ended", ["end"], registry=self.registry)
        self._prompt = Counter("grus_prompt_tokens", "Prompt tokens", registry=self.registry)
        self._output = Counter("grus_output_tokens", "Tokens made", registry=self.registry)
        self._first = Histogram(
            "grus_time_to_first_token_seconds", "From submit", buckets=_FIRST_TOKEN, registry=self.registry
        )
        self._gap = Histogram(
            "grus_inter_token_seconds", "Between two pieces of a reply", buckets=_GAP, registry=self.registry
        )

    def observe(self, stats: Callable[[], Mapping[str, Any]]) -> None:
        """Show the engine's figures, read when they are asked for. A second server of one service shows the same."""
        if self._observed:
            return
        self._observed = True
        for name, (key, what) in _GAUGES.items():
            gauge = Gauge(name, what, registry=self.registry)
            gauge.set_function(partial(_read, stats, key))

    def http(self, route: str, status: int, seconds: float) -> None:
        self._http.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def refused(self, error: GrusError) -> None:
        self._ends.labels(error.code).inc()

    def ended(self, event: Done | Failed) -> None:
        if isinstance(event, Failed):
            self._ends.labels(event.error.code).inc()
            return
        self._ends.labels(event.reason).inc()
        self._prompt.inc(event.timings.prompt_tokens)
        self._output.inc(event.timings.output_tokens)

    def watch(self) -> Watch:
        return Watch(self)

    def page(self) -> bytes:
        return generate_latest(self.registry)


def _read(stats: Callable[[], Mapping[str, Any]], key: str) -> float:
    return float(stats().get(key) or 0)


class Watch:
    """The clock of one request."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._last = time.monotonic()
        self._spoke = False

    def event(self, event: Event) -> None:
        if isinstance(event, Text):
            now = time.monotonic()
            (self._meters._gap if self._spoke else self._meters._first).observe(now - self._last)
            self._last, self._spoke = now, True
        elif isinstance(event, Done | Failed):
            self._meters.ended(event)
