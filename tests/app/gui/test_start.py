"""`grus app` opens the window before it imports what only models need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_window_is_shown_before_the_engine_is_imported(tmp_path: Path) -> None:
    if why := no_window():
        pytest.skip(why)
    shown = subprocess.run(
        [sys.executable, "-c", START, str(tmp_path), *LATER],
        cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (shown.returncode, shown.stdout) == (0, "\n"), shown.stderr
