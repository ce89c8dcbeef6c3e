"""Figures for Prometheus. Every server has a registry of its own, so that two can live in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from engine.errors import GrusError
from engine.metrics import Histogram as EngineHistogram
from engine.metrics import RequestMetrics

_DURATION = (0.005, 0.02, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)

_GAUGES = {  # name -> (key of the engine's figures, what it is)
    "grus_queue_depth": ("waiting", "Requests that wait for a place"),
    "grus_active_requests": ("active", "Sequences that are computed now"),
    "grus_kv_bytes": ("kv_bytes", "Bytes of keys, values and states in use"),
    "grus_evictions": ("evictions", "Sequences evicted to make room, since the start"),
    "grus_prefix_hits": ("prefix_hits", "Prompts that began with remembered tokens, since the start"),
    "grus_prefix_tokens": ("prefix_tokens", "Prompt tokens that were remembered instead of computed, since the start"),
    "grus_process_memory_bytes": ("process_memory", "Memory of this process"),
    "grus_avg_tokens_per_request": ("avg_tokens_per_request", "Tokens made for a request that ended, on average"),
}
_COUNTERS = {
    "grus_output_tokens": ("output_tokens", "Tokens made: of text, of transcripts, frames of voices"),
    "grus_draft_tokens": ("drafted", "Tokens that were guessed and checked"),
    "grus_accepted_draft_tokens": ("accepted", "Guessed tokens that were right"),
}


class Meters:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.refusals: dict[str, int] = {}  # requests that the engine did not take, by the error's code
        self._http = Counter("grus_http_requests", "HTTP requests", ["route", "status"], registry=self.registry)
        self._seconds = Histogram(
            "grus_http_request_seconds",
            "Until a reply was complete",
            ["route"],
            buckets=_DURATION,
            registry=self.registry,
        )
        self.sessions = Gauge("grus_realtime_sessions", "Conversations by voice that are open", registry=self.registry)

    def observe(self, stats: Callable[[], Mapping[str, Any]], requests: RequestMetrics) -> None:
        """Show the engine's figures, read when they are asked for."""
        self.registry.register(_EngineFigures(stats, requests, self.refusals))

    def http(self, route: str, status: int, seconds: float) -> None:
        self._http.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def refused(self, error: GrusError) -> None:
        self.refusals[error.code] = self.refusals.get(error.code, 0) + 1

    def page(self) -> bytes:
        return generate_latest(self.registry)


class _EngineFigures(Collector):
    """The engine's figures at the moment when they are asked for."""

    def __init__(
        self, stats: Callable[[], Mapping[str, Any]], requests: RequestMetrics, refusals: Mapping[str, int]
    ) -> None:
        self._stats = stats
        self._requests = requests
        self._refusals = refusals

    def describe(self) -> list[Any]:
        return []  # the names are known when they are collected

    def collect(self) -> Iterator[Any]:
        stats, requests = self._stats(), self._requests
        for name, (key, what) in _GAUGES.items():
            yield GaugeMetricFamily(name, what, value=float(stats.get(key) or 0))
        for name, (key, what) in _COUNTERS.items():
            yield CounterMetricFamily(name, what, value=float(stats.get(key) or 0))
        yield CounterMetricFamily("grus_prompt_tokens", "Prompt tokens", value=requests.prompt_tokens)
        ends = CounterMetricFamily("grus_requests", "Engine requests by how they ended", labels=["end"])
        ended, refused = requests.ends.copy(), dict(self._refusals)
        for end in sorted({*ended, *refused}):
            ends.add_metric([end], ended.get(end, 0) + refused.get(end, 0))
        yield ends
        yield from self._histograms()
        recent = GaugeMetricFamily("grus_last_minute", "Quantiles of the last minute", labels=["measure", "quantile"])
        for measure, quantiles in (stats.get("last_minute") or {}).items():
            for name, value in quantiles.items():
                recent.add_metric([measure, f"0.{name.removeprefix('p')}"], value)
        yield recent

    def _histograms(self) -> Iterator[Any]:
        r = self._requests
        yield _family("grus_queue_seconds", "From a request to its beginning", r.queue.histogram)
        yield _family("grus_prefill_seconds", "From a request's beginning to its first token", r.prefill.histogram)
        yield _family("grus_time_to_first_token_seconds", "From a request to its first token", r.first_token.histogram)
        yield _family("grus_inter_token_seconds", "Between two tokens of a reply", r.gap.histogram)
        yield _family("grus_request_seconds", "From a request to its end", r.request.histogram)
        yield _family("grus_tokens_per_second", "Of one reply, after its first token", r.rate.histogram)


def _family(name: str, what: str, histogram: EngineHistogram) -> HistogramMetricFamily:
    bounds = [*(str(bound) for bound in histogram.bounds), "+Inf"]
    counts = accumulate(histogram.counts.copy())
    return HistogramMetricFamily(
        name, what, buckets=[(bound, float(count)) for bound, count in zip(bounds, counts)], sum_value=histogram.sum
    )
