"""Searches a library: full text and vectors side by side, joined by their ranks, sorted by a reranker where there is one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from app.runtime.library.store import FoundPassage, LibraryStore
from app.runtime.library.words import query_of, words_in

_CANDIDATES = 50  # of each way of searching
_NEAREST = 1_000  # vectors whose exact distance is computed
_RANK = 60  # of reciprocal rank fusion: the larger, the less the first places count
_RERANKED = 30
_BYTE_BITS = np.array([number.bit_count() for number in range(256)], np.uint8)
_BITS = np.add.outer(_BYTE_BITS, _BYTE_BITS).ravel()  # of each number of 16 bits

Rank = Callable[[str, list[str]], Sequence[tuple[int, float]]]  # (question, texts) -> (index, score), best first


class LibrarySearch:
    """`embed`: makes the vector of a question, where the library has vectors of that model. `rank`: a reranker."""

    def __init__(
        self, store: LibraryStore, embed: Callable[[str], np.ndarray] | None = None, rank: Rank | None = None
    ) -> None:
        self._store, self._embed, self._rank = store, embed, rank
        self._lock = threading.Lock()
        self._version, self._width = "", 0
        self._words_stamp = ""
        self._frequent: tuple[int, dict[str, float]] | None = None
        self._ids, self._columns = np.zeros(0, np.int64), np.zeros((0, 0), np.uint64)

    def find(
        self, question: str, top: int = 5, *, vector: np.ndarray | None = None, files: Sequence[str] | None = None
    ) -> list[FoundPassage]:
        """The passages that answer best, best first; `score` orders them and means nothing else. `vector`: the question's, where it is
        known already. `files`: in these documents alone, by path."""
        wanted = max(_CANDIDATES, top)
        ways = [self._with_words(question, wanted, files)]
        if vector is None and self._embed is not None:
            vector = self._embed(question)
        if vector is not None:
            ways.append(self._nearest(vector, wanted, files))
        scores = fused(ways)
        best = sorted(scores, key=lambda id: (-scores[id], id))[: max(2 * top, _RERANKED)]
        passages = self._store.passages(best)
        found = _copies_last([replace(passages[id], score=scores[id]) for id in best if id in passages])
        if self._rank is not None and found:
            found = found[: max(top, _RERANKED)]
            ranked = self._rank(question, [f"{one.title}\n{one.place}\n{one.text}" for one in found])
            found = [replace(found[at], score=score) for at, score in ranked]
        return found[:top]

    def _with_words(self, question: str, most: int, files: Sequence[str] | None) -> list[int]:
        with self._lock:
            stamp = self._store.value("words")
            if stamp != self._words_stamp or self._frequent is None:
                self._words_stamp, self._frequent = stamp, self._store.frequent()
            passages, shares = self._frequent
        query = query_of(question, shares, passages, self._store.has_word)
        if not query.match:
            return []
        found = self._store.match(query.match, most * 4 if query.rest else most, files)
        if query.rest:
            texts = self._store.passages([id for id, _ in found])
            has = {id: words_in(f"{one.title} {one.place} {one.text}") for id, one in texts.items()}
            more = {id: sum(worth for word, worth in query.rest if word in has[id]) for id in has}
            found.sort(key=lambda one: -one[1] - more.get(one[0], 0.0))
        return [id for id, _ in found[:most]]

    def _nearest(self, vector: np.ndarray, most: int, files: Sequence[str] | None) -> list[int]:
        with self._lock:
            version = self._store.vector_version()
            if self._version != version:
                self._ids, signs = self._store.signs()
                self._width, self._columns, self._version = signs.shape[1], columns_of(signs), version
            ids, columns, width = self._ids, self._columns, self._width
        if files is not None:
            chosen = np.isin(ids, np.array(self._store.passages_in(files), np.int64))
            ids, columns = ids[chosen], columns[:, chosen]
        asked = np.packbits(vector > 0)
        if not len(ids) or width != len(asked):
            return []
        distance = np.zeros(len(ids), np.uint16)
        for column, bits in zip(columns, columns_of(asked[None])[:, 0]):
            distance += bit_counts(column ^ bits)
        count = min(_NEAREST, len(ids))
        near = np.argpartition(distance, count - 1)[:count]
        known, codes = self._store.codes([int(id) for id in ids[near]])
        if not known:
            return []
        rows = codes.astype(np.float32)
        cosines = rows @ vector / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
        order = np.argsort(-cosines, kind="stable")[:most]
        return [known[at] for at in order]


def _copies_last(found: list[FoundPassage]) -> list[FoundPassage]:
    """A document that is there twice takes no second place of the first ones."""
    known: set[str] = set()
    first, copies = list[FoundPassage](), list[FoundPassage]()
    for one in found:
        (copies if one.text in known else first).append(one)
        known.add(one.text)
    return first + copies


def highest_score(ways: int) -> float:
    """Of a passage that is the first in each of so many ways of searching."""
    return ways / (_RANK + 1)


def columns_of(signs: np.ndarray) -> np.ndarray:
    """Rows of bits as columns of 64 of them, so that each step of a comparison reads memory in order."""
    padded = np.pad(signs, ((0, 0), (0, -signs.shape[1] % 8)))
    return np.ascontiguousarray(np.ascontiguousarray(padded).view(np.uint64).T)


def bit_counts(words: np.ndarray) -> np.ndarray:
    """The bits that are set in each word."""
    if hasattr(np, "bitwise_count"):  # from NumPy 2 on
        counts: np.ndarray = np.bitwise_count(words)
        return counts
    return _BITS[words.view(np.uint16).reshape(len(words), 4)].sum(1, dtype=np.uint8)


def fused(ways: Iterable[Sequence[int]]) -> dict[int, float]:
    """Reciprocal rank fusion of several lists, each best first."""
    scores: dict[int, float] = {}
    for way in ways:
        for place, id in enumerate(way):
            scores[id] = scores.get(id, 0.0) + 1 / (_RANK + place + 1)
    return scores
