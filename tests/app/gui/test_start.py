"""`grus app` opens the window before it imports what only models need, and closes it without them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.bridge import Work
from app.window_engine import WindowEngine
from engine.errors import EngineStopped
from tests.needs import no_window

ROOT = Path(__file__).resolve().parents[3]
# what has no part in showing the window, and takes long to import
LATER = ("torch", "transformers", "mlx", "fastapi", "starlette", "engine.loading", "engine.engine")
START = """
import os, sys
import app.main
from app.cli import main

def say(window):
    print(*[name for name in sys.argv[2:] if name in sys.modules], flush=True)
    os._exit(0)

app.main._announce = say
sys.exit(main(["app", "--folder", sys.argv[1]]))
"""

CLOSED_AT_ONCE = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
import app.main

app.main._announce = lambda window: window.context.core.use(lambda service: None) and QTimer.singleShot(0, window.close)
code = app.main.start(app.main.Start(folder=Path(sys.argv[1])))
print(*[name for name in sys.argv[2:] if name in sys.modules], flush=True)
sys.exit(code)
"""


def test_a_window_that_is_closed_at_once_does_not_wait_for_an_engine(tmp_path: Path) -> None:
    """Jobs that wait for the engine end; it is not even imported."""
    if why := no_window():
        pytest.skip(why)
    shown = subprocess.run(
        [sys.executable, "-c", CLOSED_AT_ONCE, str(tmp_path), "torch", "mlx"],
        cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (shown.returncode, shown.stdout) == (0, "\n"), shown.stderr


@pytest.mark.parametrize("moment", ["before it is made", "while it is made"])
def test_an_engine_that_is_not_there_yet_is_closed_with_the_window(moment: str) -> None:
    posted: list[Callable[[], None]] = []
    work = Work(posted.append)
    making, goes_on, closed = threading.Event(), threading.Event(), threading.Event()
    service = SimpleNamespace(close=closed.set)

    def make() -> Any:
        making.set()
        assert goes_on.wait(60)
        return service

    core = WindowEngine(work, make, lambda deliver: SimpleNamespace(put=deliver))
    core.start(after=0 if moment == "while it is made" else 60)
    waits = core.use(lambda service: "there")
    if moment == "while it is made":
        assert making.wait(60)
    core.close()
    goes_on.set()
    work.close()
    if moment == "while it is made":
        assert waits.result() == "there"
        assert closed.is_set()
    else:
        assert isinstance(waits.exception(), EngineStopped)
        assert not making.is_set()


def test_the_window_is_shown_before_the_engine_is_imported(tmp_path: Path) -> None:
    if why := no_window():
        pytest.skip(why)
    shown = subprocess.run(
        [sys.executable, "-c", START, str(tmp_path), *LATER],
        cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (shown.returncode, shown.stdout) == (0, "\n"), shown.stderr
