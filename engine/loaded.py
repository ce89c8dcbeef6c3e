"""The interface of a loaded model as the engine uses it, and the models that have no sequences.

`Loaded` is a runner, its KV cache, and the few facts that scheduling and sampling need; no architecture and no file
format. `LoadedPart` is a model without tokens (a page layout, voice activity, a codec): resident like others, used
through tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from backends.base import Backend, DeviceMemory, KVCache, MemorySpec, Profiler, Runner, Segment, Slot, unprofiled
from engine.errors import BadRequest
from engine.text.sentence_modules import SentenceModules
from engine.weights.source import Source
from engine.weights.view import View, build


class TextStream(Protocol):
    """Detokenizes one reply incrementally, in whole characters."""

    def push(self, token: int) -> str: ...
    def finish(self) -> str:
        """The remaining text, at the end."""


class TokenVocabulary(Protocol):
    """What structured output needs of a tokenizer."""

    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> Sequence[int]: ...
    def is_special(self, id: int, /) -> bool: ...
    def bytes_of(self, id: int, /) -> bytes:
        """The bytes that a token adds to the output; empty for an unknown id."""


class ModelDevice(Protocol):
    """The part of a backend that the engine queries."""

    @property
    def device(self) -> str: ...
    def memory(self) -> DeviceMemory: ...
    def use_threads(self, count: int | None) -> None: ...
    def release(self) -> None: ...


class Loaded(Protocol):
    """A loaded model."""

    name: str
    kv: KVCache
    runner: Runner
    context: int  # tokens, prompt and reply together
    vocab: int
    weight_bytes: int
    fingerprint: str  # changes with the weights: the key of offloaded prefixes

    @property
    def backend(self) -> ModelDevice: ...
    @property
    def tokenizer(self) -> TokenVocabulary: ...
    @property
    def eos_ids(self) -> Collection[int]: ...
    @property
    def defaults(self) -> Mapping[str, Any]:
        """Sampling defaults of the checkpoint's generation_config."""

    def text_stream(self) -> TextStream: ...
    def close(self) -> None: ...


@dataclass
class DraftHead:
    """What a checkpoint has for multi-token prediction, or an EAGLE-3 head. Both runners write to the same KV cache."""

    kv: KVCache
    runner: Runner
    prefill: Runner  # writes keys and values, and gives nothing
    beside: Callable[
        [np.ndarray], np.ndarray
    ]  # from the model's hidden states to what is added to the embeddings of the next tokens
    own: Callable[[np.ndarray], np.ndarray]  # the same from what the head has given itself
    target_ids: np.ndarray | None = None  # the model's token of each of the head's; None: they are the same


class Loader:
    """Loads models for the engine. Called on the engine's thread."""

    def __init__(self, load: Callable[[str], Loaded]) -> None:
        self._load = load

    def __call__(self, name: str) -> Loaded:
        return self._load(name)

    def size(self, name: str) -> int | None:
        """Bytes of the model's weights, without loading it. None when unknown."""
        return None

    def unloaded(self, loaded: Loaded) -> None:
        """Called after a model was unloaded, for whatever reason."""


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
        """Nothing to compile."""

    def run(self, segments: Sequence[Segment]) -> NoReturn:
        raise BadRequest("This model writes no text.", "model")


@dataclass
class LoadedPart:
    """A loaded model without tokens (see `Loaded`); `model` is its module."""

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


@dataclass
class LoadedEncoder(LoadedPart):
    """A loaded encoder of texts: an embedding model, or a cross-encoder. `model` is a `TextEncoder`."""

    modules: SentenceModules = field(default_factory=SentenceModules)
    quant: str | None = None  # what its layers were quantized to while loading

    @property
    def ranks(self) -> bool:
        """Whether it scores pairs of texts instead of making vectors."""
        return self.model.head is not None


def load_part(make: MakePart, source: Source, config: Mapping[str, Any], backend: Backend) -> Any:
    """Build a part from its checkpoint, which is checked before tensors are read."""
    return build(lambda view: make(view, config), source, backend)
