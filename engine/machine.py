"""The memory, bandwidth and disk of this machine: whether a model fits and how fast it would be, before it is downloaded."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backends import pick
from backends.base import BackendMissing
from engine.bandwidth import bandwidth
from engine.child import child_command, child_environment
from engine.errors import BackendUnavailable, ErrorText
from engine.hub.cache import cache_folder
from engine.loading import LoadOptions
from engine.types import Settings, memory_limit

Fit = Literal["fits", "tight", "from disk", "too large"]

_BESIDE = 1.08  # of the weights: what a model computes with besides them
_TALK = 400_000_000  # bytes of a conversation of a few thousand tokens
_LOOK_SECONDS = 180  # a cold disk reads a large library slowly
_REACHED = 0.8  # of the bandwidth, by a single reply: docs/performance.md measures 0.71 to 0.95


@dataclass(frozen=True)
class Machine:
    backend: str
    device: str
    memory: int  # bytes of the device
    allowed: int  # of these, what models may use
    disk_free: int
    bandwidth: float = 0.0  # bytes a second that the device reads; 0: not measured
    name: str = ""  # of the processor, and on a CPU which kernels run, or why none do

    def fit(self, weight_bytes: int, experts_in_file: bool = False) -> Fit:
        """`tight`: it would run if models were allowed more of the memory. `experts_in_file`: it is a mixture in GGUF, whose experts a CPU
        can use where they lie: `from disk`, where memory keeps half of them or more."""
        needed = needed_bytes(weight_bytes)
        if needed <= self.memory:
            return "fits" if needed <= self.allowed else "tight"
        stays = experts_in_file and (self.backend, self.device) == ("torch", "cpu") and needed <= 2 * self.memory
        return "from disk" if stays else "too large"

    def tokens_per_second(self, bytes_per_token: int) -> float:
        """Of one reply, about, by a model of which a token reads so much. 0: unknown."""
        return _REACHED * self.bandwidth / bytes_per_token if bytes_per_token else 0.0


def needed_bytes(weight_bytes: int) -> int:
    """Memory for a model of this file size, and for a conversation with it."""
    return round(weight_bytes * _BESIDE) + _TALK


def look(options: LoadOptions | None = None, limit: str | float | None = None, again: bool = False) -> Machine:
    """Inspect this machine. Imports the backend's library and measures the bandwidth, which takes a second the first time.
    `again`: measure it even if it is known."""
    options = options or LoadOptions()
    try:
        choice = pick.choose(options.backend, options.device, options.dtype)
        backend = pick.pick(choice.backend, choice.device, choice.dtype)
    except BackendMissing as error:
        raise BackendUnavailable(str(error)) from None
    memory = backend.memory().total
    allowed = min(memory, memory_limit(Settings.gpu_memory_limit if limit is None else limit, memory))
    free = free_space(options.cache_dir)
    rate = bandwidth(backend, again)
    return Machine(choice.backend, choice.device, memory, allowed, free, rate, backend.describe())


def look_in_process(
    backend: str = "auto",
    device: str = "auto",
    cache_dir: str | None = None,
    limit: str | float | None = None,
    again: bool = False,
    started: Callable[[subprocess.Popen[str]], object] = lambda process: None,
) -> Machine:
    """The same in a process of its own, for one that shall stay small: a backend's library is not loaded here. `started` gets
    the process, which may be killed: BackendUnavailable then."""
    asked = json.dumps({"backend": backend, "device": device, "cache_dir": cache_dir, "limit": limit, "again": again})
    command, pipe = child_command("engine.machine", asked), subprocess.PIPE
    with subprocess.Popen(command, env=child_environment(), stdout=pipe, stderr=pipe, text=True) as process:
        started(process)
        try:
            output, problem = process.communicate(timeout=_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise BackendUnavailable(
                ErrorText("This machine could not be checked in time. Refresh in Models tries again.")
            ) from None
    if process.returncode:
        lines = problem.strip().splitlines()
        raise BackendUnavailable(lines[-1] if lines else "This machine could not be checked.")
    return Machine(**json.loads(output))


def free_space(cache_dir: str | Path | None = None) -> int:
    folder = cache_folder(cache_dir).absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(there).free


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    share, anew = wanted.pop("limit"), wanted.pop("again")
    try:
        print(json.dumps(vars(look(LoadOptions(**wanted), share, anew))))
    except BackendUnavailable as error:
        sys.exit(str(error))
