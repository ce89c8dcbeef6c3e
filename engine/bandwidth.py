"""The memory bandwidth of a device: what decides how fast a model answers, for a token reads all weights that work on it.

Measured once for a device and kept in the settings folder, so that only the first look at a machine takes the time.
"""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from backends.base import Backend
from backends.ops import Ops

_ROWS, _COLUMNS = 8192, 8192  # of four bytes each: 268 MB, more than the caches of most processors hold
_BYTES = _ROWS * _COLUMNS * 4
_PATIENCE = 0.15  # seconds, about
_SUMS = 8  # at once on a GPU, beside which the call is nothing
_measuring = threading.Lock()  # two at once would each get half


def bandwidth(backend: Backend, again: bool = False, file: Path | None = None) -> float:
    """Bytes a second that the backend's device reads. `again`: measure even if it is known."""
    file = file or _settings_file()
    device = f"{backend.name}, {backend.describe()}"
    with _measuring:
        known = _read(file)
        if again or device not in known:
            known[device] = of_processor() if backend.device == "cpu" else of_device(backend.ops)
            _write(file, known)
        return known[device]


def of_processor() -> float:
    """What all cores read at once. Each counts its own time on a core, so that other work on the machine, behind which a
    thread waits, does not make the memory look slow. Through numpy: a backend's own sums wait for their slowest thread."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parts = np.array_split(np.ones(_BYTES // 4, np.float32), cores)
    begin = threading.Barrier(cores)

    def read(part: np.ndarray) -> float:
        begin.wait()
        passes, start, end = 0, time.thread_time(), time.perf_counter() + _PATIENCE
        while passes < 3 or time.perf_counter() < end:
            part.max()
            passes += 1
        return passes * part.nbytes / max(time.thread_time() - start, 1e-9)

    with ThreadPoolExecutor(cores) as threads:
        return sum(threads.map(read, parts))


def of_device(ops: Ops) -> float:
    """What a GPU reads, in the quickest of several runs."""
    part = ops.array(np.ones((_ROWS // 8, _COLUMNS), np.float32))
    whole = ops.cat([part] * 8, 0)
    taken: list[float] = []
    while len(taken) < 4 or sum(taken) < _PATIENCE:  # MLX makes `whole` in the first
        start = time.perf_counter()
        ops.numpy(ops.stack([ops.sum(whole, -1) for _ in range(_SUMS)], 0))
        taken.append(time.perf_counter() - start)
    return _SUMS * _BYTES / min(taken)


def _settings_file() -> Path:
    from platformdirs import PlatformDirs

    return Path(PlatformDirs("Grus", appauthor=False).user_config_dir) / "bandwidth.json"


def _read(file: Path) -> dict[str, float]:
    """A file of another form counts as none."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {str(device): float(rate) for device, rate in kept.items() if float(rate) > 0}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(file: Path, known: dict[str, float]) -> None:
    """Where nothing can be written it is measured every time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(json.dumps(known, indent=1), encoding="utf-8")
    except OSError:
        return
