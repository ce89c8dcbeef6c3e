"""How long the window stands still while its first model is loaded and answers, in a process that has loaded none before.

    python -m tests.bench.first_load MODEL

The longest time between two turns of the event loop, in milliseconds: imports and everything else that holds the interpreter's lock.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def longest_block(model: Path, backend: str = "torch") -> float:
    """Seconds, in a new process."""
    environment = {**os.environ, "GRUS_BACKEND": backend}
    made = subprocess.check_output(
        [sys.executable, "-m", "tests.bench.first_load", model], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL
    )
    return float(made) / 1e3


def measure(model: str) -> float:
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.gui.preferences import places_under
    from app.main import Start, close_context, open_window

    app = QApplication([])
    with tempfile.TemporaryDirectory() as name:
        window = open_window(app, Start(models={"m": model}), places_under(Path(name)).make())
        window.resize(1180, 780)
        while not gc.get_freeze_count():  # until the modules of all panes are there
            _turn(app)
        pane: Any = window.pane("chat")
        longest, last = 0.0, time.perf_counter()

        def beat() -> None:
            nonlocal longest, last
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

        heart = QTimer()
        heart.setInterval(1)
        heart.timeout.connect(beat)
        pane.talk.send("Hello there, crane.")
        last = time.perf_counter()
        heart.start()
        ends = time.perf_counter() + 120.0
        while window.context.core.state.model != "m":  # while it is loaded
            assert time.perf_counter() < ends, window.context.core.state
            _turn(app)
        until = time.perf_counter() + 3.0  # of its reply
        while time.perf_counter() < until:
            _turn(app)
        heart.stop()
        pane.stop()
        close_context(window)
    return longest


def _turn(app: Any) -> None:
    app.processEvents()
    time.sleep(0.0005)


if __name__ == "__main__":
    print(1e3 * measure(sys.argv[1]), flush=True)
    os._exit(0)
