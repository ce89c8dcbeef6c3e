"""What the engine needs of a loaded model. Loading is someone else's work; the engine only calls `load(name)`.

Knows no architecture and no file format: a model is a runner, its memory, and the few facts that scheduling and
sampling ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from backends.base import DeviceMemory, KVCache, Runner


class TextStream(Protocol):
    """Turns one reply's tokens into text as they come, never a half character."""

    def push(self, token: int) -> str: ...
    def finish(self) -> str:
        """What was held back, at the end."""


class Vocabulary(Protocol):
    """What structured output must know of a tokenizer."""

    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> Sequence[int]: ...
    def is_special(self, id: int, /) -> bool: ...
    def bytes_of(self, id: int, /) -> bytes:
        """The bytes that a token adds to the output; none for an id that the tokenizer does not have."""


class Device(Protocol):
    """The part of a backend that the engine asks questions of."""

    @property
    def device(self) -> str: ...
    def memory(self) -> DeviceMemory: ...
    def release(self) -> None: ...


class Loaded(Protocol):
    """One model, ready to run."""

    name: str
    kv: KVCache
    runner: Runner
    context: int  # tokens, prompt and reply together
    vocab: int
    weight_bytes: int
    fingerprint: str  # changes when the weights change: the key of what is spilled to disk

    @property
    def backend(self) -> Device: ...
    @property
    def tokenizer(self) -> Vocabulary: ...
    @property
    def eos_ids(self) -> Collection[int]: ...
    @property
    def defaults(self) -> Mapping[str, Any]:
        """Sampling, as the checkpoint's generation_config says."""

    def text_stream(self) -> TextStream: ...
    def close(self) -> None: ...


class Loader:
    """Gives the engine its models, and is told when they go. Called on the engine's thread."""

    def __init__(self, load: Callable[[str], Loaded]) -> None:
        self._load = load

    def __call__(self, name: str) -> Loaded:
        return self._load(name)

    def size(self, name: str) -> int | None:
        """Bytes that the model's weights will take, without loading it. None: that is not known."""
        return None

    def unloaded(self, loaded: Loaded) -> None:
        """The model is closed: for whatever reason it went."""
