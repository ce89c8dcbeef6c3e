"""Models that are no token models (a page's layout, voice activity, a codec): resident like others, used through tasks.

A part is a plain class built from a checkpoint view. It has weights, but no sequences: no memory, no runner's steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from backends.base import Backend, MemorySpec, Profiler, Segment, Slot, unprofiled
from engine.errors import BadRequest
from engine.loaded import TextStream
from engine.weights.source import Source
from engine.weights.view import View, build

MakePart = Callable[[View, Mapping[str, Any]], Any]


class NoMemory:
    """The KV cache of a model that has no sequences."""

    specs: Sequence[MemorySpec] = ()
    budget = 0
    used = 0

    def bytes_for(self, n: int) -> int:
        return 0

    def open(self, n: int) -> Slot | None:
        return None


class NoRunner:
    """The runner of a model that takes no steps."""

    span: Profiler = staticmethod(unprofiled)

    def warm(self) -> None:
        """Nothing is recorded or compiled ahead."""

    def run(self, segments: Sequence[Segment]) -> NoReturn:
        raise BadRequest("This model writes no text.", "model")


@dataclass
class LoadedPart:
    """See `engine.loaded.Loaded`; `model` is the part itself."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    backend: Backend
    model: Any
    weight_bytes: int
    fingerprint: str
    kv: Any = field(default_factory=NoMemory)
    runner: Any = field(default_factory=NoRunner)
    context: int = 0
    vocab: int = 0
    eos_ids: tuple[int, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Any = None

    def text_stream(self) -> TextStream:
        raise BadRequest(f"The model {self.name} writes no text.", "model")

    def close(self) -> None:
        self.model = None
        self.backend.release()


def load_part(make: MakePart, source: Source, config: Mapping[str, Any], backend: Backend) -> Any:
    """Build a part; what is wrong with its checkpoint is found before anything big is read."""
    return build(lambda view: make(view, config), source, backend)
