"""The Read pane's view-model without a window: pages rotated by hand, and what a restart keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.gui.viewmodels.read import ReadDocument, ReadResults, from_result, to_result
from engine.pipelines.reading.results import Page


class Store:
    """Answers at once."""

    folder = Path("/nowhere")

    def ask(self, question: Any, then: Callable[[Any], Any] | None = None) -> None:
        if then is not None:
            then(1)


class Streams:
    """Work that was begun, and what ends it."""

    def __init__(self) -> None:
        self.begun: list[Callable[[Any], Iterator[Any]]] = []
        self.end: Callable[[str], Any] = lambda problem: None

    def stream(self, work: Any, receive: Any, ended: Any) -> Any:
        self.begun.append(work)
        self.end = ended
        return self

    def cancel(self) -> None: ...


def test_a_page_is_rotated_by_hand_and_read_anew() -> None:
    store: Any = Store()
    streams, work = Streams(), Any
    results = ReadResults(store, streams, work, lambda *said, **more: None, Path())  # type: ignore[arg-type]
    pages = {1: Page(1, 10, 20), 2: Page(2, 20, 10, turned=-88.5)}
    item = ReadDocument(Path("a.pdf"), "a.pdf", id=1, state="done", numbers=(1, 2), read=dict(pages), shown=2)
    results.items, results.current = [item], item
    results.rotate(item)
    assert item.rotations == {2: 180}  # it was shown turned by 90 already
    assert (item.read, item.state, len(streams.begun)) == ({1: pages[1]}, "reading", 1)
    assert from_result(to_result(item)).rotations == {2: 180}
    item.read[2] = Page(2, 20, 10, turned=180)
    streams.end("")
    results.rotate(item)
    assert item.rotations == {2: 270}
    results.rotate(item)  # while it is read: there is nothing to rotate yet
    assert (item.rotations, len(streams.begun)) == ({2: 270}, 2)
