"""The sampler's definition, one row at a time in numpy: slow, plain, and the same for every backend."""

from __future__ import annotations

import numpy as np

from backends.base import Sampling


def processed(logits: np.ndarray, p: Sampling) -> np.ndarray:
    """After penalties, bias and mask."""
    out = logits.astype(np.float64).copy()
    for t in set(p.repeated or ()):
        out[t] = out[t] / p.repetition if out[t] > 0 else out[t] * p.repetition
    for t, count in (p.seen or {}).items():
        out[t] -= p.presence + p.frequency * count
    for t, value in (p.bias or {}).items():
        out[t] += value
    if p.mask is not None:
        out[: len(p.mask)][~p.mask] = -np.inf
        out[len(p.mask) :] = -np.inf
    return out


def kept(logits: np.ndarray, p: Sampling) -> tuple[np.ndarray, np.ndarray]:
    """Tokens by falling logit, and the probability of each after the filters (not renormalized)."""
    order = np.argsort(-logits, kind="stable")
    probs = np.exp((logits[order] - logits[order[0]]) / p.temperature)
    probs /= probs.sum()
    keep = np.ones(len(probs), bool)
    if p.top_k:
        keep[p.top_k :] = False
    if p.top_p < 1:
        share = np.where(keep, probs, 0) / probs[keep].sum()
        keep &= np.cumsum(share) - share < p.top_p
    keep &= probs >= p.min_p * probs[0]
    if p.typical_p < 1:
        share = np.where(keep, probs, 0) / probs[keep].sum()
        keep &= share > 0
        surprise = -np.log(np.where(keep, share, 1))
        distance = np.where(keep, np.abs(surprise - (share * surprise).sum()), np.inf)
        nearest = np.argsort(distance, kind="stable")
        last = min((np.cumsum(share[nearest]) < p.typical_p).sum(), len(probs) - 1)
        keep &= distance <= distance[nearest[last]]
    return order, np.where(keep, probs, 0)


def choose(logits: np.ndarray, p: Sampling) -> int:
    """The token that `p` picks from raw `logits`."""
    logits = processed(logits, p)
    if p.temperature == 0:
        return int(np.argmax(logits))
    order, share = kept(logits, p)
    return int(order[np.argmax(np.cumsum(share) > p.noise * share.sum())])


def random_params(rng: np.random.Generator, vocab: int) -> Sampling:
    """Some of everything."""

    def sometimes(value, default):
        return value if rng.random() < 0.4 else default

    tokens = [int(t) for t in rng.integers(0, vocab, 6)]
    return Sampling(
        temperature=float(rng.choice([0.0, 0.3, 1.0, 1.7])),
        top_k=sometimes(int(rng.integers(1, 20)), 0),
        top_p=sometimes(float(rng.uniform(0.1, 0.95)), 1.0),
        min_p=sometimes(float(rng.uniform(0.01, 0.3)), 0.0),
        typical_p=sometimes(float(rng.uniform(0.2, 0.9)), 1.0),
        noise=float(rng.random()),
        repetition=sometimes(1.4, 1.0),
        presence=sometimes(0.7, 0.0),
        frequency=sometimes(0.3, 0.0),
        seen={t: tokens.count(t) for t in tokens},
        repeated=tokens,
        bias=sometimes({3: 2.0, 5: -np.inf}, None),
        mask=sometimes(rng.random(vocab) < 0.7, None),
        logprobs=sometimes(4, None),
    )
