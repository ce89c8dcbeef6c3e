"""What media panes' tests share: streams that run at once, readers that are made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from app.explain import explained
from app.gui.store.worker import AppStore

ORPHEUS = {"model_type": "llama", "vocab_size": 156_940}


def like_spark(home: Path) -> Path:
    """A Spark-TTS as far as it is told without its weights."""
    (home / "LLM").mkdir(parents=True)
    (home / "BiCodec").mkdir()
    (home / "LLM" / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    (home / "BiCodec" / "config.yaml").write_text("{}")
    return home


class AtOnce:
    """A `Streams` and a `Runs` that has everything done when it returns; or, with `hold`, item by item as a test says."""

    def __init__(self, hold: bool = False) -> None:
        self.hold = hold
        self.held: list[Held] = []

    def stream(self, work: Callable[[Any], Iterator[Any]], receive: Any, ended: Any) -> Held:
        held = Held(work(self), receive, ended)
        self.held.append(held)
        if not self.hold:
            held.finish()
        return held

    def run(self, job: Callable[[], Any], then: Any = None, failed: Any = None) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            answer = job()
        except BaseException as error:
            if failed is not None:
                failed(explained(error))
            return future
        if then is not None:
            then(answer)
        return future

    def post(self, work: Callable[[], None]) -> None:
        work()


class Held:
    def __init__(self, items: Iterator[Any], receive: Any, ended: Any) -> None:
        self.items, self.receive, self.ended = items, receive, ended
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        if (close := getattr(self.items, "close", None)) is not None:
            close()

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            self.receive([next(self.items)])

    def finish(self) -> None:
        problem = ""
        try:
            for item in self.items:
                self.receive([item])
                if self.cancelled:
                    return
        except Exception as error:
            problem = explained(error)
        if not self.cancelled:
            self.ended(problem)


def settled(store: AppStore) -> None:
    store.wait()
