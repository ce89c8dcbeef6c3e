"""A reply whose tokens are scripted, for voices whose other parts are real."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.errors import EngineFault
from engine.types import Done, Event, Failed, Request, Text, Timings


class ScriptedHandle:
    """`owner.closing` is how the reply ends: a reason, or `fault`. `owner.cancelled` counts those that were cancelled."""

    def __init__(self, owner: Any, request: Request, ids: Sequence[int], step: int) -> None:
        """`step`: tokens of an event."""
        self.owner, self.request, self.ids, self.step = owner, request, ids, step

    def __iter__(self) -> Iterator[Event]:
        for i in range(0, len(self.ids), self.step):
            yield Text(self.request.id, "", self.ids[i : i + self.step])
        if self.owner.closing == "fault":
            yield Failed(self.request.id, EngineFault("broken"))
        yield Done(self.request.id, self.owner.closing, Timings())

    def cancel(self) -> None:
        self.owner.cancelled += 1
