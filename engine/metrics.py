"""What all requests of an engine took: counters, histograms, and quantiles of the last minute.

Only the engine's thread writes, in a time that does not depend on how much was counted; any thread may read. Counters and
histograms belong to the engine, not to a model: unloading one takes nothing away.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

from engine.types import Timings

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_RATES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

_SPAN = 5.0  # seconds that one slice of the last minute holds
_SLICES = 12
_STEPS = 8  # buckets of a factor of two: a quantile is exact within 5 %


class Histogram:
    """Observations by upper bound, as Prometheus counts them."""

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
    """Quantiles of what was observed during the last minute: counts by logarithmic bucket, in slices of five seconds."""

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
        """0 where nothing was observed."""
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
    """A histogram since the start, and the last minute of the same."""

    def __init__(self, bounds: Sequence[float] = _SECONDS) -> None:
        self.histogram, self.last_minute = Histogram(bounds), LastMinute()

    def observe(self, value: float, now: float, count: int = 1) -> None:
        self.histogram.observe(value, count)
        self.last_minute.observe(value, now, count)


class RequestMetrics:
    """Of every request, whatever is made for it: text, the frames of a voice, a transcript, a vector."""

    def __init__(self) -> None:
        self.ends: dict[str, int] = {}  # requests by why they ended: a finish reason, or the code of an error
        self.prompt_tokens = 0  # of prompts of requests that ended well
        self.finished_tokens = 0  # made for requests that ended well
        self.decoded_tokens = 0  # after the first of each reply
        self.decode_seconds = 0.0  # in which these were made
        self.queue = Series()
        self.prefill = Series()
        self.first_token = Series()
        self.gap = Series()
        self.request = Series()
        self.rate = Series(_RATES)

    def admitted(self, queued: float, now: float) -> None:
        self.queue.observe(queued, now)

    def started(self, first_token: float, prefill: float, now: float) -> None:
        """The first token came so many seconds after the request, and after it was admitted."""
        self.first_token.observe(first_token, now)
        self.prefill.observe(prefill, now)

    def tokens(self, gap: float, count: int, now: float) -> None:
        """So many tokens came, each after `gap` seconds."""
        self.gap.observe(gap, now, count)

    def failed(self, code: str) -> None:
        self.ends[code] = self.ends.get(code, 0) + 1

    def ended(self, reason: str, timings: Timings, now: float) -> None:
        """A request ended well, or was cancelled."""
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
        """Made for a request that ended well, on average."""
        ended = self.request.histogram.count
        return self.finished_tokens / ended if ended else 0.0

    @property
    def decode_rate(self) -> float:
        """Tokens a second of one reply, on average."""
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
