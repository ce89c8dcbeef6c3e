"""Sampling: chooses the next token of every row in one vectorized pass. Pure: the noise is among the parameters.

A row's logits go through penalties, bias and mask; then they are sorted, best first and ties to the lower index, of rows with
a top-k the k best alone, and the token is where the cumulative probability of what the filters keep first exceeds the noise. A batch pays only for
what one of its rows asks for: when all are greedy that is one argmax and one max, which finds NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from backends.base import Sampling
from backends.ops import additive_entries, repetition_entries


@dataclass
class MlxSamples:
    """What a sampling pass returns besides the ids."""

    best: mx.array  # [N] the largest logit of each row; not finite: nothing could be sampled
    logprob_rows: list[int]  # rows that asked for logprobs; the arrays below have one entry each
    chosen: mx.array | None = None  # [R]
    top_ids: mx.array | None = None  # [R, n], n the most that a row asked for
    top: mx.array | None = None  # [R, n]

    def arrays(self) -> list[mx.array]:
        return [a for a in (self.best, self.chosen, self.top_ids, self.top) if a is not None]


def sample(logits: mx.array, params: Sequence[Sampling]) -> tuple[mx.array, MlxSamples]:
    """`logits [N, V]` -> ids `[N]` int32, and the rest."""
    logits = _penalized(logits, params)
    best = logits.max(axis=-1)
    random = [i for i, p in enumerate(params) if p.temperature > 0]
    if len(random) == len(params) and random:
        ids = _draw(logits, best, params)
    else:
        ids = mx.argmax(logits, axis=-1).astype(mx.int32)
        if random:
            rows = mx.array(random)
            ids[rows] = _draw(logits[rows], best[rows], [params[i] for i in random])
    drawn = MlxSamples(best, [i for i, p in enumerate(params) if p.logprobs is not None])
    if drawn.logprob_rows:
        _add_logprobs(drawn, logits, ids, max(params[i].logprobs or 0 for i in drawn.logprob_rows))
    return ids, drawn


# -- penalties, bias, mask


def _penalized(logits: mx.array, params: Sequence[Sampling]) -> mx.array:
    n, vocab = logits.shape
    divide_at, divisors = repetition_entries(params, vocab)
    add_at, addends = additive_entries(params, vocab)
    if divide_at or add_at:
        flat = logits.astype(mx.float32).reshape(-1)
        if divide_at:
            at, by = mx.array(divide_at), mx.array(divisors)
            old = flat[at]
            flat[at] = mx.where(old > 0, old / by, old * by)
        if add_at:
            flat = flat.at[mx.array(add_at)].add(mx.array(addends))
        logits = flat.reshape(n, vocab)
    if any(p.mask is not None for p in params):
        allowed = np.ones((n, vocab), bool)
        for i, p in enumerate(params):
            if p.mask is not None:
                width = min(vocab, len(p.mask))
                allowed[i, :width] = p.mask[:width]
                allowed[i, width:] = False  # a padded vocabulary's tail is no token
        logits = mx.where(mx.array(allowed), logits, -mx.inf)
    if any(p.together_from is not None for p in params):
        firsts = np.array([vocab if p.together_from is None else p.together_from for p in params])
        later = mx.array(np.arange(vocab) >= firsts[:, None])
        wide = logits.astype(mx.float32)
        together = mx.logsumexp(mx.where(later, wide, -mx.inf), axis=-1, keepdims=True)
        each = mx.where(later, -mx.inf, wide).max(axis=-1, keepdims=True)
        logits = mx.where((together > each) & ~later, -mx.inf, wide)
    return logits


# -- the draw

WIDE = 4096  # numbers from which the largest are picked by a partition, in place of sorting all of them


def largest(x: mx.array, k: int) -> mx.array:
    """Ids of the `k` largest numbers of each row, the largest first and ties to the lower index."""
    width = x.shape[-1]
    if width < WIDE or k > width // 8:
        return mx.argsort(-x, axis=-1)[..., :k]  # stable
    # A partition knows no order among equals. So each number and its index are one whole number, of which no two are equal: above, the bits of
    # a float as a whole number of the same order, downwards; below, the index.
    bits = (x.astype(mx.float32) + 0.0).view(mx.int32)  # -0.0 as 0.0
    ordered = mx.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    keys = ((~ordered).astype(mx.int64) << 32) | mx.arange(width, dtype=mx.int64)
    found = mx.sort(mx.partition(keys, k - 1, axis=-1)[..., :k], axis=-1)
    return (found & 0xFFFFFFFF).astype(mx.uint32)


def _draw(logits: mx.array, best: mx.array, params: Sequence[Sampling]) -> mx.array:
    logits = logits.astype(mx.float32)
    vocab = logits.shape[-1]
    order = largest(logits, min(vocab, max(p.top_k or vocab for p in params)))
    # Measured from the best logit, so that a tiny temperature underflows to zero instead of overflowing.
    scores = mx.take_along_axis(logits, order, axis=-1) - best.astype(mx.float32)[:, None]
    scores = scores / _column([p.temperature for p in params])
    kept = _filtered(mx.softmax(scores, axis=-1), params)
    mass = mx.cumsum(kept, axis=-1)
    noise = _column([p.noise for p in params])
    index = (mass <= noise * mass[:, -1:]).sum(axis=-1, keepdims=True)
    # Rounding at the end of a long sum must not reach what was filtered out.
    last = mx.where(kept > 0, mx.arange(kept.shape[-1]), 0).max(axis=-1, keepdims=True)
    return mx.take_along_axis(order, mx.minimum(index, last), axis=-1)[:, 0].astype(mx.int32)


def _filtered(p: mx.array, params: Sequence[Sampling]) -> mx.array:
    """Probabilities sorted downwards, zero where a filter drops them (not renormalized)."""
    vocab = p.shape[-1]
    if any(s.top_k for s in params):
        p = mx.where(mx.arange(vocab) < _column([s.top_k or vocab for s in params]), p, 0.0)
    if any(s.top_p < 1 for s in params):
        mass = mx.cumsum(p, axis=-1)
        # A row that does not ask gets a bound that rounding cannot reach.
        bound = _column([s.top_p if s.top_p < 1 else 2.0 for s in params]) * mass[:, -1:]
        p = mx.where(mass - p < bound, p, 0.0)
    if any(s.min_p > 0 for s in params):
        p = mx.where(p >= _column([s.min_p for s in params]) * p[:, :1], p, 0.0)
    if any(s.typical_p < 1 for s in params):
        p = _typical(p, params)
    return p


def _typical(p: mx.array, params: Sequence[Sampling]) -> mx.array:
    """Keep the tokens whose surprise is nearest to the expected one, until they hold `typical_p` of the mass."""
    share = p / p.sum(axis=-1, keepdims=True)
    alive = share > 0
    surprise = mx.where(alive, -mx.log(mx.where(alive, share, 1.0)), 0.0)
    entropy = (share * surprise).sum(axis=-1, keepdims=True)
    distance = mx.where(alive, mx.abs(surprise - entropy), mx.inf)
    order = mx.argsort(distance, axis=-1)
    mass = mx.cumsum(mx.take_along_axis(share, order, axis=-1), axis=-1)
    last = (mass < _column([s.typical_p if s.typical_p < 1 else 2.0 for s in params])).sum(axis=-1, keepdims=True)
    farthest = mx.take_along_axis(distance, mx.take_along_axis(order, mx.minimum(last, p.shape[-1] - 1), -1), -1)
    return mx.where(distance <= farthest, p, 0.0)


def _add_logprobs(drawn: MlxSamples, logits: mx.array, ids: mx.array, most: int) -> None:
    if len(drawn.logprob_rows) < len(ids):
        rows = mx.array(drawn.logprob_rows)
        logits, ids = logits[rows], ids[rows]
    logits = logits.astype(mx.float32)
    logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    drawn.chosen = mx.take_along_axis(logprobs, ids[:, None], axis=-1)[:, 0]
    if most:
        drawn.top_ids = largest(logits, most).astype(mx.int32)
        drawn.top = mx.take_along_axis(logprobs, drawn.top_ids, axis=-1)


def _column(values: Sequence[float]) -> mx.array:
    return mx.array(np.asarray(values, np.float32)[:, None])
