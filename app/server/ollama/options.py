"""Ollama's `options` as sampling parameters. Values beyond a range are its end, as in Ollama's own sampler."""

from __future__ import annotations

from app.server.ollama.protocol import OllamaOptions
from engine.types import SamplingParams

_MOST = (1 << 31) - 1
_LEAST_P = 1e-6  # nothing but the likeliest token


def sampling(options: OllamaOptions) -> SamplingParams:
    length = options.num_predict
    repeat = options.repeat_penalty
    last = options.repeat_last_n
    if last == 0 or (repeat is not None and repeat <= 0):
        repeat = 1.0  # off
    return SamplingParams(
        max_tokens=min(length, _MOST) if length is not None and length > 0 else None,
        temperature=_within(options.temperature, 0.0, 100.0),
        top_k=None if options.top_k is None else min(max(options.top_k, 0), _MOST),
        top_p=_within(options.top_p, _LEAST_P, 1.0),
        min_p=_within(options.min_p, 0.0, 1.0),
        typical_p=_within(options.typical_p, _LEAST_P, 1.0),
        repetition_penalty=_within(repeat, 1e-3, 100.0),
        repetition_window=64 if last is None else min(max(last, 0), _MOST),  # 0 in the engine, and -1 here: all
        presence_penalty=_within(options.presence_penalty, -100.0, 100.0) or 0.0,
        frequency_penalty=_within(options.frequency_penalty, -100.0, 100.0) or 0.0,
        seed=None if options.seed in (None, -1) else options.seed & ((1 << 63) - 1),
        stop=tuple(options.stop or ()),
    )


def _within(value: float | None, low: float, high: float) -> float | None:
    return None if value is None else min(max(value, low), high)
