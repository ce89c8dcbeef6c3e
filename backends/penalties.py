"""Which logits a batch's penalties and biases touch: places in the flat `[N * V]` logits, and numbers. Array-free, shared."""

from __future__ import annotations

from collections.abc import Sequence

from backends.base import Sampling


def repetition_entries(params: Sequence[Sampling], vocab: int) -> tuple[list[int], list[float]]:
    """Where the repetition penalty divides (or, below zero, multiplies), and by what."""
    at: list[int] = []
    by: list[float] = []
    for i, p in enumerate(params):
        if p.repetition != 1.0 and p.repeated:
            tokens = {t for t in p.repeated if 0 <= t < vocab}
            at.extend(i * vocab + t for t in tokens)
            by.extend([p.repetition] * len(tokens))
    return at, by


def additive_entries(params: Sequence[Sampling], vocab: int) -> tuple[list[int], list[float]]:
    """What presence and frequency penalties and the bias add, and where. A place may come twice: both count."""
    at: list[int] = []
    add: list[float] = []
    for i, p in enumerate(params):
        if p.seen and (p.presence or p.frequency):
            counts = {t: c for t, c in p.seen.items() if c > 0 and 0 <= t < vocab}
            at.extend(i * vocab + t for t in counts)
            add.extend(-p.presence - p.frequency * c for c in counts.values())
        if p.bias:
            bias = {t: b for t, b in p.bias.items() if 0 <= t < vocab}
            at.extend(i * vocab + t for t in bias)
            add.extend(float(b) for b in bias.values())
    return at, add
