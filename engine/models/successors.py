"""PP-DocLayoutV4's reading order: which region directly follows which, and which of two comes first.

The first scores make a graph without cycles, whose connected parts are sorted on their own; where it leaves a choice, and between the
parts, the others decide. Steps of successors count for the order of pairs too, ever less (`closure`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backends.base import Array
from engine.models.config import Fields
from engine.models.detr_decoder import sigmoid
from engine.weights.view import View

NEVER = 1e4  # what the scores of pairs lack that may not be


class PairScores:
    """`[n, n]`: how well the column's region goes with the row's."""

    def __init__(self, w: View, kind: str, dim: int, size: int, layer: int) -> None:
        self.ops, self.size = w.backend.ops, size
        self.project = w.linear((f"{kind}_order_head.{layer}", dim), inp=dim, bias=True)
        self.both = w.sub(f"{kind}_global_pointer").linear(("q_proj", size), ("k_proj", size), inp=dim, bias=True)

    def __call__(self, x: Array) -> np.ndarray:
        both = self.ops.numpy(self.both(self.project(x)))
        scores: np.ndarray = both[:, : self.size] @ both[:, self.size :].T * np.float32(self.size**-0.5)
        return scores


class Successors:
    def __init__(self, w: View, f: Fields, dim: int, layer: int) -> None:
        size = f.int("global_pointer_head_size", default=64)
        self.follows = PairScores(w, "decoder_roor", dim, size, layer)
        self.before = PairScores(w, "decoder", dim, size, layer)
        self.ops, self.weight = w.backend.ops, w.tensor("s2r_fusion.a", (1,), "f32")
        # The other layers' scores served training.
        w.ignore(r"^model\.decoder(_roor)?_order_head\.")
        self.steps = f.int("s2r_steps", default=3, most=64)
        self.damping = np.float32(f.float("s2r_damping", default=0.5))

    def __call__(self, x: Array) -> Callable[[np.ndarray], np.ndarray]:
        """Of queries; the ranks of those that are chosen of them, whose numbers may come in any order."""
        before, follows = self.scores(x)

        def ranked(chosen: np.ndarray) -> np.ndarray:
            own = np.sort(chosen)
            places = reading_ranks(before[np.ix_(own, own)], follows[np.ix_(own, own)])
            return places[np.searchsorted(own, chosen)]

        return ranked

    def scores(self, x: Array) -> tuple[np.ndarray, np.ndarray]:
        follows = self.follows(x)
        np.fill_diagonal(follows, follows.diagonal() - np.float32(NEVER))
        before = self.before(x)
        through = closure(follows, self.steps, self.damping)
        weight = np.asarray(self.ops.numpy(self.weight), np.float32)
        return weight * (through - through.T) + (before - before.T), follows


def closure(follows: np.ndarray, steps: int, damping: np.float32) -> np.ndarray:
    """How surely one region is followed by another within so many steps."""
    adjacent = sigmoid(follows)
    np.fill_diagonal(adjacent, 0)
    adjacent = adjacent / np.maximum(adjacent.sum(1, keepdims=True), np.float32(1))
    found = power = adjacent
    for _ in range(steps - 1):
        power = damping * (adjacent @ power)
        found = found + power
    return found


def reading_ranks(before: np.ndarray, follows: np.ndarray) -> np.ndarray:
    """Each region's place, from 0; scores as in `Successors.scores`."""
    n = len(follows)
    if n < 2:
        return np.zeros(n, np.int64)
    edges = _without_cycles(follows)
    chances = sigmoid(before)
    np.fill_diagonal(chances, 0)
    votes = chances.sum(0)
    joined = _reachable(edges | edges.T)
    parts = [np.flatnonzero(joined[i]) for i in range(n) if not joined[i, :i].any()]
    parts = [_sorted(part, edges, chances) for part in parts]
    parts.sort(key=lambda part: float(votes[np.sort(part)].mean()))
    places = np.empty(n, np.int64)
    places[np.concatenate(parts)] = np.arange(n)
    return places


def _without_cycles(follows: np.ndarray) -> np.ndarray:
    """Pairs of which one follows the other, without the weakest of each cycle."""
    edges = follows > 0
    np.fill_diagonal(edges, False)
    while True:
        reached = _reachable(edges)
        circle = reached & reached.T
        cyclic = edges & circle
        if not cyclic.any():
            return edges
        for part in np.unique(circle.argmax(1)[cyclic.any(1)]):  # circles by their first region
            inside = cyclic & circle[part][:, None]
            edges[np.unravel_index(np.where(inside, follows, np.inf).argmin(), edges.shape)] = False


def _reachable(edges: np.ndarray) -> np.ndarray:
    """From each place every one that can be reached, itself too."""
    reached = edges | np.eye(len(edges), dtype=bool)
    while True:
        further = reached.astype(np.float32) @ reached.astype(np.float32) > 0
        if (further == reached).all():
            return reached
        reached = further


def _sorted(part: np.ndarray, edges: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Regions that follow one another; of several that may come next, the one that most likely comes before the rest."""
    left, order = edges[np.ix_(part, part)].sum(0), list[int]()
    free = [i for i in range(len(part)) if not left[i]]
    while free:
        votes = [(-float(sum(chances[part[i], part[j]] for j in free if j != i)), i) for i in free]
        best = min(votes)[1]
        free.remove(best)
        order.append(best)
        for after in np.flatnonzero(edges[part[best], part]):
            left[after] -= 1
            if not left[after]:
                free.append(int(after))
    return part[order]
