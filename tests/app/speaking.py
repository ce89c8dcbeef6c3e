"""A speech model through its doors: a new process, and the server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import soundfile

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving


def spoken(text: str, model: Path, target: Path, *more: object, backend: str = "torch") -> np.ndarray:
    """What `grus speak` writes in a new process."""
    command = [sys.executable, "-m", "app.cli", "speak", text, "--model", model, *more, "--seed", "3"]
    done = subprocess.run(
        [*map(str, command), "-o", str(target), "--backend", backend, "--device", "cpu"],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    samples, rate = soundfile.read(target)
    assert rate == 24000
    return np.asarray(samples)


def spoken_by_both(text: str, model: Path, folder: Path, *more: object, within: float, least: int) -> None:
    """Both backends make one sound. `within`: what may differ, as a share of its loudness. `least`: samples."""
    torch, mlx = (spoken(text, model, folder / f"{name}.wav", *more, backend=name) for name in ("torch", "mlx"))
    assert len(torch) == len(mlx) > least
    assert np.sqrt(np.mean((torch - mlx) ** 2)) < within * np.sqrt(np.mean(torch**2))


def opened(model: str) -> LoadedModel | LoadedPart:
    return load_any(model, LoadOptions(backend="auto", device="cpu", download=False))


def speech_engine() -> Iterator[Engine]:
    with Engine(opened, Settings()) as made:
        yield made


@contextmanager
def voice_server(name: str, folder: Path) -> Iterator[Live]:
    catalogue = Catalogue({name: str(folder)}, use_cache=False)
    with serving(lambda of: Engine(of, Settings()), opened, catalogue) as up:
        yield up


def spoken_over_http(live: Live, body: Mapping[str, Any], refused: Sequence[tuple[Mapping[str, str], str]]) -> bytes:
    """A whole WAV. `refused`: changes of the request that are errors, and of which field."""
    whole: dict[str, Any] = {"response_format": "wav", "stream": False, **body}
    for change, param in refused:
        reply = httpx.post(f"{live.url}/v1/audio/speech", json={**whole, **change}, timeout=120)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
    reply = httpx.post(f"{live.url}/v1/audio/speech", json=whole, timeout=120)
    assert reply.status_code == 200, reply.text
    return reply.content


def voices_over_http(live: Live, model: str) -> set[str]:
    cards = httpx.get(f"{live.url}/v1/audio/voices", params={"model": model}, timeout=120).json()
    return {card["id"] for card in cards["data"]}
