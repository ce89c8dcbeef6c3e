"""Fewer threads while a machine runs on its battery, which then lasts longer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import psutil

from engine.loaded import ModelDevice

LOOK_EVERY = 10.0  # seconds


def on_battery() -> bool:
    """False where there is no battery, or nobody knows."""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return battery is not None and battery.power_plugged is False


class BatteryThreads:
    """Called between steps, on the thread that computes."""

    def __init__(
        self, threads: int | None, clock: Callable[[], float], battery: Callable[[], bool] = on_battery
    ) -> None:
        """`threads` on battery; None: as many as otherwise, and nothing is ever looked at."""
        self._threads, self._clock, self._battery = threads, clock, battery
        self._next = 0.0
        self._saving = False

    def look(self, devices: Iterable[ModelDevice]) -> None:
        """Every ten seconds at most."""
        if self._threads is None or (now := self._clock()) < self._next:
            return
        self._next, was = now + LOOK_EVERY, self._saving
        self._saving = self._battery()
        if self._saving or was:
            for device in devices:
                device.use_threads(self._threads if self._saving else None)
