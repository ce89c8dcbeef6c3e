"""Counters, rates, histograms and traces of an engine, and the dataclasses that report them.

Only the engine's thread writes, in constant time; any thread may read. Counters and histograms belong to the engine, not
to a model: unloading a model keeps them.
"""

from __future__ import annotations

import json
import math
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.types import Settings, Timings

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_RATES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

_SPAN = 5.0  # seconds that one slice of the last minute holds
_SLICES = 12
_STEPS = 8  # buckets per factor of two: quantiles are exact within 5 %


class Histogram:
    """Counts of observations by upper bound, as in Prometheus."""

    def __init__(self, bounds: Sequence[float] = _SECONDS) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)  # the last one: above all bounds
        self.sum = 0.0

    def observe(self, value: float, count: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += count
        self.sum += value * count

    @property
    def count(self) -> int:
        return sum(self.counts)


class LastMinute:
    """Quantiles of the last minute's observations: counts by logarithmic bucket, in slices of five seconds."""

    def __init__(self) -> None:
        self._slices: deque[tuple[int, dict[int, int]]] = deque(maxlen=_SLICES + 1)

    def observe(self, value: float, now: float, count: int = 1) -> None:
        number = int(now // _SPAN)
        if not self._slices or self._slices[-1][0] != number:
            self._slices.append((number, {}))
        buckets = self._slices[-1][1]
        bucket = round(_STEPS * math.log2(max(value, 1e-6)))
        buckets[bucket] = buckets.get(bucket, 0) + count

    def quantiles(self, now: float, *shares: float) -> list[float]:
        """The quantiles; 0 where nothing was observed."""
        oldest = int(now // _SPAN) - _SLICES
        merged: dict[int, int] = {}
        for number, buckets in list(self._slices):
            if number > oldest:
                for bucket, count in list(buckets.items()):
                    merged[bucket] = merged.get(bucket, 0) + count
        total, made = sum(merged.values()), []
        for share in shares:
            left = share * total
            for bucket in sorted(merged):
                left -= merged[bucket]
                if left <= 0:
                    made.append(2.0 ** (bucket / _STEPS))
                    break
            else:
                made.append(0.0)
        return made


class Series:
    """A histogram since the start, and the quantiles of the last minute."""

    def __init__(self, bounds: Sequence[float] = _SECONDS) -> None:
        self.histogram, self.last_minute = Histogram(bounds), LastMinute()

    def observe(self, value: float, now: float, count: int = 1) -> None:
        self.histogram.observe(value, count)
        self.last_minute.observe(value, now, count)


class RequestMetrics:
    """Metrics of all requests, whatever they produce: text, speech frames, a transcript, a vector."""

    def __init__(self) -> None:
        self.ends: dict[str, int] = {}  # requests by finish reason or error code
        self.prompt_tokens = 0  # of prompts of requests that succeeded
        self.finished_tokens = 0  # output of requests that succeeded
        self.decoded_tokens = 0  # after the first of each reply
        self.decode_seconds = 0.0  # in which these were generated
        self.queue = Series()
        self.prefill = Series()
        self.first_token = Series()
        self.gap = Series()
        self.request = Series()
        self.rate = Series(_RATES)

    def admitted(self, queued: float, now: float) -> None:
        self.queue.observe(queued, now)

    def started(self, first_token: float, prefill: float, now: float) -> None:
        """Record the first token: seconds since the request was submitted, and since it was admitted."""
        self.first_token.observe(first_token, now)
        self.prefill.observe(prefill, now)

    def tokens(self, gap: float, count: int, now: float) -> None:
        """Record `count` tokens, each `gap` seconds after the one before."""
        self.gap.observe(gap, now, count)

    def failed(self, code: str) -> None:
        self.ends[code] = self.ends.get(code, 0) + 1

    def ended(self, reason: str, timings: Timings, now: float) -> None:
        """Record a request that succeeded or was cancelled."""
        self.ends[reason] = self.ends.get(reason, 0) + 1
        self.prompt_tokens += timings.prompt_tokens
        self.finished_tokens += timings.output_tokens
        self.request.observe(timings.total, now)
        if timings.decode_rate:
            self.rate.observe(timings.decode_rate, now)
            self.decoded_tokens += timings.output_tokens - 1
            self.decode_seconds += timings.total - timings.first_token

    @property
    def tokens_per_request(self) -> float:
        """Average output tokens of a request that succeeded."""
        ended = self.request.histogram.count
        return self.finished_tokens / ended if ended else 0.0

    @property
    def decode_rate(self) -> float:
        """Average decode tokens per second of one reply."""
        return self.decoded_tokens / self.decode_seconds if self.decode_seconds else 0.0

    def last_minute(self, now: float) -> dict[str, dict[str, float]]:
        """The median and the 95th percentile of each series."""
        series = {
            "queue_seconds": self.queue,
            "prefill_seconds": self.prefill,
            "first_token_seconds": self.first_token,
            "inter_token_seconds": self.gap,
            "request_seconds": self.request,
            "tokens_per_second": self.rate,
        }
        return {
            name: dict(zip(("p50", "p95"), one.last_minute.quantiles(now, 0.5, 0.95))) for name, one in series.items()
        }


_HALF_LIFE = 10.0  # seconds in which the weight of an event halves


class Rate:
    """Events per second, with exponential decay."""

    def __init__(self, now: float) -> None:
        self._rate = 0.0
        self._at = now
        self._pending = 0

    def add(self, count: int, now: float) -> None:
        self._pending += count
        if now - self._at >= 0.1:
            self._fold(now)

    def _fold(self, now: float) -> None:
        span = now - self._at
        keep = math.exp(-math.log(2.0) * span / _HALF_LIFE)
        self._rate = self._rate * keep + (1.0 - keep) * self._pending / span
        self._at, self._pending = now, 0

    def read(self, now: float) -> float:
        span = now - self._at
        if span <= 0.0:
            return self._rate
        keep = math.exp(-math.log(2.0) * span / _HALF_LIFE)
        return self._rate * keep + (1.0 - keep) * self._pending / span


@dataclass
class Counters:
    """Counters of the whole engine. Only the engine's thread writes."""

    total: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0
    leaks: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    steps: int = 0
    preemptions: int = 0
    prefix_hits: int = 0
    prefix_tokens: int = 0
    requests: RequestMetrics = field(default_factory=RequestMetrics)


@dataclass(frozen=True)
class ModelStats:
    name: str
    active: int
    waiting: int
    evicted: int  # preempted sequences
    pinned: bool
    in_use: bool
    weight_bytes: int
    kv_bytes: int
    kv_budget: int
    idle_prefixes: int
    max_active: int  # the concurrency cap as it is now
    expires_in: float | None  # seconds until it is unloaded, if nobody uses it; None: only when its room is needed
    replicas: int = 1  # processes that answer with it


@dataclass(frozen=True)
class EngineStats:
    active: int = 0
    waiting: int = 0
    evicted: int = 0  # preempted sequences now
    total: int = 0  # requests ever
    completed: int = 0
    cancelled: int = 0
    failed: int = 0
    evictions: int = 0  # preemptions ever
    kv_bytes: int = 0
    weight_bytes: int = 0
    memory_limit: int | None = None
    host_bytes: int = 0  # KV cache of preempted sequences
    prefix_hits: int = 0
    prefix_tokens: int = 0
    spilled_bytes: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    steps: int = 0
    leaks: int = 0  # slots that were found without an owner and closed
    tokens_per_second: float = 0.0
    prompt_tokens_per_second: float = 0.0
    requests_per_second: float = 0.0
    avg_tokens_per_request: float = 0.0
    avg_decode_tokens_per_second: float = 0.0  # of one reply
    last_minute: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # p50 and p95, by what was measured
    process_memory: int = 0
    uptime: float = 0.0
    models: Sequence[ModelStats] = field(default_factory=tuple)


_MOST = 200_000  # spans that are kept (the last ones): a server runs for weeks


class NullTracer:
    """A tracer that records nothing: tracing is off."""

    on = False  # whether to collect facts for a span

    _nothing: AbstractContextManager[None] = nullcontext()

    def span(self, name: str, **facts: Any) -> AbstractContextManager[None]:
        return self._nothing

    def past(self, name: str, seconds: float, **facts: Any) -> None:
        """Record a span of `seconds` that has just ended."""

    def write(self, path: Path) -> None: ...


class Tracer(NullTracer):
    """Records spans in memory and writes them as a Chrome trace (chrome://tracing, ui.perfetto.dev)."""

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


@dataclass
class EngineContext:
    """What all model executors of one engine share."""

    settings: Settings
    clock: Callable[[], float]
    trace: NullTracer
    counters: Counters
    tokens: Rate
    prompt_tokens: Rate
    finished: Rate
