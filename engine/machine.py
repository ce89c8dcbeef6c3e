"""The memory and disk of this machine, and whether a model of some size fits, before anything is downloaded."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backends import pick
from backends.base import BackendMissing
from engine.errors import BackendUnavailable
from engine.hub.cache import cache_folder
from engine.loading import LoadOptions, device_memory
from engine.types import Settings, memory_limit

Fit = Literal["fits", "tight", "too large"]

_BESIDE = 1.08  # of the weights: what a model computes with besides them
_TALK = 400_000_000  # bytes of a conversation of a few thousand tokens


@dataclass(frozen=True)
class Machine:
    backend: str
    device: str
    memory: int  # bytes of the device
    allowed: int  # of these, what models may use
    disk_free: int

    def fit(self, weight_bytes: int) -> Fit:
        """`tight`: it would run if models were allowed more of the memory."""
        needed = needed_bytes(weight_bytes)
        return "fits" if needed <= self.allowed else "tight" if needed <= self.memory else "too large"


def needed_bytes(weight_bytes: int) -> int:
    """Memory for a model of this file size, and for a conversation with it."""
    return round(weight_bytes * _BESIDE) + _TALK


def look(options: LoadOptions | None = None, limit: str | float | None = None) -> Machine:
    """Inspect this machine. Imports the backend's library, which takes a second the first time."""
    options = options or LoadOptions()
    try:
        choice = pick.choose(options.backend, options.device, options.dtype)
        memory = device_memory(choice).total
    except BackendMissing as error:
        raise BackendUnavailable(str(error)) from None
    allowed = memory_limit(Settings.gpu_memory_limit if limit is None else limit, memory)
    return Machine(choice.backend, choice.device, memory, min(memory, allowed), free_space(options.cache_dir))


def free_space(cache_dir: str | Path | None = None) -> int:
    folder = cache_folder(cache_dir).absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(there).free
