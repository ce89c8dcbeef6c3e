"""What the engine needs of a loaded model. Loading is someone else's work; the engine only calls `load(name)`.

Knows no architecture and no file format: a model is a runner, its memory, and the few facts that scheduling and
sampling ask for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from backends.base import KV, DeviceMemory, Runner


class TextStream(Protocol):
    """Turns one reply's tokens into text as they come, never a half character."""

    def push(self, token: int) -> str: ...
    def flush(self) -> str:
        """What was held back, at the end."""


class Vocabulary(Protocol):
    """What structured output must know of a tokenizer."""

    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> Sequence[int]: ...
    def is_special(self, token: int) -> bool: ...
    def bytes_of(self, token: int) -> bytes:
        """The bytes that a token adds to the output; none for an id that the tokenizer does not have."""


class Device(Protocol):
    """The part of a backend that the engine asks questions of."""

    device: str

    def memory(self) -> DeviceMemory: ...
    def release(self) -> None: ...


class Loaded(Protocol):
    """One model, ready to run."""

    name: str
    backend: Device
    kv: KV
    runner: Runner
    tokenizer: Vocabulary
    eos_ids: Collection[int]
    context: int  # tokens, prompt and reply together
    vocab: int
    defaults: Mapping[str, Any]  # sampling, as the checkpoint's generation_config says
    weight_bytes: int
    fingerprint: str  # changes when the weights change: the key of what is spilled to disk

    def text_stream(self) -> TextStream: ...
    def close(self) -> None: ...
