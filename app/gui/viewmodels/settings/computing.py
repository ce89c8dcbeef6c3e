"""Where models are computed and how much memory they may use: what a person chose, and what that comes to here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.gui.texts import mark, size, tr
from app.gui.viewmodels.hook import Hook
from app.gui.viewmodels.models.choices import Machinery
from engine.errors import GrusError

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import WindowEngine

BACKENDS = (("auto", mark("Whatever is best here")), ("mlx", "MLX"), ("torch", "PyTorch"))
DEVICES = (("auto", mark("Whatever is best here")), ("metal", "Metal"), ("cuda", "CUDA"), ("cpu", "CPU"))
_KEYS = ("backend", "device", "memory_limit")
USUAL_SHARE = 0.7


class Computing:
    """`changed`: a choice, or what it comes to, is another."""

    def __init__(self, core: WindowEngine, preferences: Preferences) -> None:
        self._preferences = preferences
        self._machinery = Machinery(core, preferences)
        self._machinery.changed.connect(self._looked)
        self.changed = Hook()
        self.problem = ""
        self._before = self._chosen()
        self.altered = False  # whether what is loaded was loaded by other choices

    def look(self) -> None:
        self._machinery.look()

    @property
    def outcome(self) -> str:
        """What the choices come to on this machine."""
        machine = self._machinery.machine
        if self._machinery.problem:
            return self._machinery.problem
        if machine is None:
            return tr("Looking at this machine.")
        return tr("Models run on {backend}, {device}, and may use {allowed} of {memory}.", backend=_title(BACKENDS, machine.backend),
                  device=_title(DEVICES, machine.device.partition(":")[0]), allowed=size(machine.allowed), memory=size(machine.memory))  # fmt: skip

    @property
    def failed(self) -> bool:
        return bool(self._machinery.problem)

    @property
    def limit(self) -> str:
        """As a person writes it; empty for the usual share."""
        kept = self._preferences.get("memory_limit")
        if kept is None:
            return ""
        return f"{round(100 * kept)} %" if isinstance(kept, float) else str(kept)

    def choose(self, key: str, value: Any) -> None:
        self._preferences.put(key, value)
        self.altered = self._chosen() != self._before
        self.changed()
        self.look()

    def set_limit(self, text: str) -> None:
        """`70 %`, `12 GB`, or nothing for the usual share."""
        try:
            limit = read_limit(text)
        except GrusError:
            self.problem = tr("Write a share like 70 %, or a size like 12 GB.")
            self.changed()
            return
        self.problem = ""
        self.choose("memory_limit", limit)

    def _looked(self) -> None:
        self.changed()

    def _chosen(self) -> list[Any]:
        return [self._preferences.get(key) for key in _KEYS]


def _title(names: Sequence[tuple[str, str]], wanted: str) -> str:
    return dict(names).get(wanted, wanted)


def read_limit(text: str) -> float | str | None:
    """A share as a number up to 1, a size as a text that the engine reads. Raises BadRequest."""
    from engine.errors import BadRequest
    from engine.settings import memory_limit

    text = text.strip()
    if not text:
        return None
    if text.endswith("%"):
        number = text[:-1].strip().replace(",", ".")
        if not number.replace(".", "", 1).isdigit() or not 0 < float(number) <= 100:
            raise BadRequest("A share is between 1 and 100 %.", "memory_limit")
        return float(number) / 100
    limit = text.replace(" ", "").replace(",", ".").upper()
    if limit.replace(".", "", 1).isdigit() and float(limit) > 1:
        limit += "G"  # nobody means that many bytes
    memory_limit(limit, 1 << 30)
    return limit
