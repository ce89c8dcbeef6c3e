"""What the engine counts, and how it shows it: a plain dataclass for anyone who asks, from any thread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.metrics import RequestMetrics

_HALF_LIFE = 10.0  # seconds after which a rate has forgotten half of what it knew


class Rate:
    """Events a second, smoothed: old seconds weigh less and less."""

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
class Tally:
    """Counters of the whole engine. Only the engine thread writes."""

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
    evictions: int = 0
    prefix_hits: int = 0
    prefix_tokens: int = 0
    requests: RequestMetrics = field(default_factory=RequestMetrics)


@dataclass(frozen=True)
class ModelStats:
    name: str
    active: int
    waiting: int
    evicted: int
    pinned: bool
    in_use: bool
    weight_bytes: int
    kv_bytes: int
    kv_budget: int
    idle_prefixes: int
    max_active: int  # the concurrency cap as it is now
    expires_in: float | None  # seconds until it is unloaded, if nobody uses it; None: only when its room is needed


@dataclass(frozen=True)
class EngineStats:
    active: int = 0
    waiting: int = 0
    evicted: int = 0  # now
    total: int = 0  # requests ever
    completed: int = 0
    cancelled: int = 0
    failed: int = 0
    evictions: int = 0  # ever
    kv_bytes: int = 0
    weight_bytes: int = 0
    memory_limit: int | None = None
    host_bytes: int = 0  # states of evicted sequences
    prefix_hits: int = 0
    prefix_tokens: int = 0
    spilled_bytes: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    steps: int = 0
    leaks: int = 0  # slots that were found without an owner, and closed
    tokens_per_second: float = 0.0
    prompt_tokens_per_second: float = 0.0
    requests_per_second: float = 0.0
    avg_tokens_per_request: float = 0.0
    avg_decode_tokens_per_second: float = 0.0  # of one reply
    last_minute: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # p50 and p95, by what was measured
    process_memory: int = 0
    uptime: float = 0.0
    models: Sequence[ModelStats] = field(default_factory=tuple)
