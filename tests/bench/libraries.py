"""Questions to a library of 100,000 made-up pages: the index is written as the indexer writes it, then asked in this process.

The words are drawn by Zipf's law from 40,000, so that a question has frequent and rare ones, as in a language. The index is made once a
run, without reading documents: it takes minutes.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import psutil

from app.runtime.library.passages import DocumentPassage
from app.runtime.library.search import LibrarySearch
from app.runtime.library.store import IndexedFile, LibraryStore
from tests.bench.table import Row

PAGES, PAGES_OF_A_DOCUMENT = 100_000, 50
WORDS, WORDS_OF_A_PASSAGE = 40_000, 120  # about 900 characters; two passages a page
WIDTH = 384  # numbers of a vector, as MiniLM and bge-small make them
QUESTIONS = 60
_SYLLABLES = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]


def words() -> list[str]:
    """Made-up words of two to four syllables, the frequent ones short."""
    draw = random.Random(7)
    found: dict[str, None] = {}
    while len(found) < WORDS:
        count = 2 + (len(found) > 900) + (len(found) > 9_000)
        found["".join(draw.choices(_SYLLABLES, k=count))] = None
    return list(found)


def passages(known: Sequence[str], count: int) -> Iterator[str]:
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(known))))
    draw = random.Random(8)
    for _ in range(count):
        yield " ".join(draw.choices(known, cum_weights=weights, k=WORDS_OF_A_PASSAGE))


def fill(store: LibraryStore, pages: int = PAGES, vectors: bool = True) -> list[str]:
    """Returns a few of the passages, for questions."""
    known, kept = words(), list[str]()
    texts = passages(known, 2 * pages)
    for number in range(0, pages, PAGES_OF_A_DOCUMENT):
        taken = [
            DocumentPassage(page, "page", "", next(texts))
            for page in range(1, PAGES_OF_A_DOCUMENT + 1)
            for _ in range(2)
        ]
        name = f"{number // PAGES_OF_A_DOCUMENT:05}.pdf"
        store.keep(IndexedFile(0, name, 1, 1, name.encode(), f"Report {number}", PAGES_OF_A_DOCUMENT), taken)
        kept.append(taken[0].text)
    draw, last = np.random.default_rng(9), 0
    while vectors and (batch := store.without_vectors(2_000, last)):
        ids = [id for id, _ in batch]
        store.keep_vectors(ids, draw.normal(size=(len(ids), WIDTH)).astype(np.float32))
        last = ids[-1]
    store.find_frequent()
    return kept


def asked(kept: Sequence[str]) -> list[str]:
    """Six words of a passage each, in the order in which a person might write them."""
    draw = random.Random(10)
    return [f"What is the {' '.join(draw.sample(text.split(), 6))}?" for text in draw.sample(list(kept), QUESTIONS)]


def seconds(search: LibrarySearch, questions: Sequence[str], vectors: bool) -> list[float]:
    """Of each question but the first, which opens the file."""
    draw, took = np.random.default_rng(11), []
    for question in questions:
        vector = draw.normal(size=WIDTH).astype(np.float32) if vectors else None
        began = time.perf_counter()
        search.find(question, 5, vector=vector)
        took.append(time.perf_counter() - began)
    return took[1:]


def measured(file: Path, questions: Sequence[str], vectors: bool) -> dict[str, float]:
    """In a process of its own, whose memory holds nothing else."""
    asked = json.dumps([str(file), list(questions), vectors])
    run = subprocess.run([sys.executable, "-m", __name__], input=asked, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def main() -> None:
    file, questions, vectors = json.load(sys.stdin)
    store = LibraryStore(Path(file))
    search = LibrarySearch(store)
    before = psutil.Process().memory_info().rss
    took = sorted(seconds(search, questions, vectors))
    grown = psutil.Process().memory_info().rss - before
    found = {"median": statistics.median(took), "worst": took[round(0.95 * len(took)) - 1], "grown": grown / PAGES}
    print(json.dumps(found))


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "library.sqlite3"
        store = LibraryStore(file)
        questions = asked(fill(store))
        store.close()
        size = file.stat().st_size / PAGES
        found = [Row(f"index of {PAGES:,} pages on disk, with vectors", "KB a page", size / 1000, more_is_better=False)]
        for vectors in (False, True):
            how, took = "words and vectors" if vectors else "words", measured(file, questions, vectors)
            found += [
                Row(f"a question by {how}, median", "ms", 1000 * took["median"], aim="< 100", more_is_better=False),
                Row(f"a question by {how}, 95 of 100", "ms", 1000 * took["worst"], more_is_better=False),
                Row(f"memory while asked by {how}", "KB a page", took["grown"] / 1000, aim="< 2", more_is_better=False),
            ]
        return found


if __name__ == "__main__":
    main()
