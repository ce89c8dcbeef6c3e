"""The settings of an engine, with defaults and validation.

Independent of models and devices; `memory_limit` turns a person's "5G" into bytes once the device's size is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import BadRequest

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)


def memory_limit(limit: str | float, total: int) -> int:
    """Bytes of "5G", "5120M", "1073741824", or of a fraction (0.7) of `total`."""
    text = str(limit).strip()
    found = _SIZE.fullmatch(text)
    if not found:
        raise BadRequest(f'A memory limit is a size like "5G" or "5120M", or a fraction like 0.7, not {limit!r}.')
    number, unit = float(found[1]), found[2].upper()
    whole = number * total if not unit and number <= 1.0 else number * _UNITS[unit]
    if whole <= 0:
        raise BadRequest("A memory limit must be above 0.", "gpu_memory_limit")
    return int(whole)


@dataclass(frozen=True)
class Settings:
    """Settings of an engine. Sizes of memory are strings ("5G") or fractions of the device."""

    max_concurrent: int = 16  # sequences in a batch
    decode_tokens_per_seq: int = 16  # reserved at admission; preemption spares a sequence until it has them
    max_seq_len: int = 0  # prompt and reply together; 0: as long as the model allows
    prefill_chunk: int = 512  # most prompt tokens a step (chunked prefill)
    gpu_memory_limit: str | float = 0.7  # weights and sequences of all models together
    host_memory_limit: str | float = "2G"  # for preempted sequences; beyond it they are recomputed
    max_gap: float = 2.0  # inter-token gap of a reply during prefill of others, as a multiple of the usual gap
    max_queue: int = 1024  # requests that wait
    max_events: int = 4096  # unread events of one request
    prefix_reuse: bool = True
    state_snapshots: int = 4  # state checkpoints of a sequence whose model has recurrent layers or sliding windows
    async_scheduling: bool | None = None  # issue a step before the previous one is read; None: except on CPU
    speculation: Literal["off", "ngram", "draft"] = "off"
    draft_model: str | None = None
    max_draft: int = 8
    offload_folder: Path | None = None
    offload_limit: str = "8G"
    idle_ttl: float | None = None  # seconds until an idle model is unloaded
    max_models: int = 0  # loaded at once; 0: as many as fit

    def __post_init__(self) -> None:
        least = {"max_concurrent": 1, "decode_tokens_per_seq": 1, "max_seq_len": 0, "prefill_chunk": 1, "max_queue": 1}
        least |= {"max_events": 2, "state_snapshots": 1, "max_draft": 1, "max_models": 0}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise BadRequest(f"{name} must be at least {low}, not {getattr(self, name)!r}.", name)
        if self.idle_ttl is not None and not self.idle_ttl >= 0:
            raise BadRequest(f"idle_ttl must be 0 seconds or more, not {self.idle_ttl!r}.", "idle_ttl")
        if not self.max_gap > 1.0:
            raise BadRequest(f"max_gap must be above 1, not {self.max_gap!r}.", "max_gap")
        if (self.speculation == "draft") != (self.draft_model is not None):
            raise BadRequest("speculation 'draft' and draft_model belong together.", "draft_model")
        for size in (self.gpu_memory_limit, self.host_memory_limit, self.offload_limit):
            memory_limit(size, 1 << 30)
