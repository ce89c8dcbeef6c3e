"""Opening a pane is the window's own affair: no library for models is imported for it on the UI thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.gui.conftest import Opened
from tests.needs import no_window

if not no_window():
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

    class Watch(QObject):
        """Remembers what was shown as a window of its own."""

        def __init__(self) -> None:
            super().__init__()
            self.seen: list[str] = []

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                self.seen.append(f"{type(watched).__name__} {watched.accessibleName()}")
            return False


ROOT = Path(__file__).resolve().parents[3]

# Every pane is opened in a process of its own, with the engine that people have, and with ears for imports.
OPEN_ALL = """
import builtins, json, sys, threading, time
from importlib.abc import MetaPathFinder
from pathlib import Path

HEAVY = {"torch", "mlx", "mlx_lm", "mlx_vlm", "transformers", "triton"}
ui, found = threading.get_ident(), []

class Ears(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if threading.get_ident() == ui and name.partition(".")[0] in HEAVY:
            found.append(name)

sys.meta_path.insert(0, Ears())
from PySide6.QtWidgets import QApplication
from app.gui.preferences import places_under
from app.main import Start, close_context, open_window

app = QApplication([])
window = open_window(app, Start(), places_under(Path(sys.argv[1])).make())

def turn(seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        app.processEvents()
        time.sleep(0.002)

turn(120, lambda: window.context.core.state.phase == "ready")
opened = []
for spec in window.specs:
    pane = window.open_pane(spec.name)
    turn(0.3)
    opened.append(spec.name)
if "sure" in sys.argv:
    try:
        import mlx_vlm
    except ImportError:
        pass
print(json.dumps([opened, found, window.context.core.state.phase]), flush=True)
close_context(window)
"""


def open_all(folder: Path, *more: str) -> tuple[list[str], list[str], str]:
    if no_window():
        pytest.skip(no_window())
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    ran = subprocess.run(
        [sys.executable, "-c", OPEN_ALL, str(folder), *more],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    opened, found, phase = json.loads(ran.stdout.splitlines()[-1])
    return opened, found, phase


def test_no_pane_imports_a_library_for_models_on_the_ui_thread(tmp_path: Path) -> None:
    opened, found, phase = open_all(tmp_path)
    assert opened == ["chat", "read", "libraries", "speak", "listen", "models", "server", "settings"]
    assert phase == "ready"
    assert found == []


def test_the_ears_hear(tmp_path: Path) -> None:
    assert open_all(tmp_path, "sure")[1][0] == "mlx_vlm"


@pytest.mark.skipif(bool(no_window()), reason=no_window())
def test_an_idle_window_does_not_hold_what_it_does_not_need(tmp_path: Path) -> None:
    """Every pane and the engine are imported, and no model: no server's event loop and TLS, no grammars, no numbers in words,
    no library of sounds, no templates, and no architecture."""
    code = (
        "import importlib, sys; import app.main, app.runtime.models; from app.gui.pane import PANES\n"
        "for spec in PANES: importlib.import_module(spec.module)\n"
        "print(*sorted({'asyncio', 'ssl', 'jinja2', 'llguidance', 'num2words', 'soundfile', 'yaml'} & sys.modules.keys()),\n"
        "      *(name for name in sys.modules if name.startswith('engine.models.') and name[14:] not in\n"
        "        {'config', 'config_defaults', 'model_types', 'registry', 'text_encoder'}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stderr


@pytest.mark.skipif(bool(no_window()), reason=no_window())
def test_a_person_can_type_before_the_engine_is_imported() -> None:
    """The window imports it while it is on the screen. A library, a reader of pages and the catalogue took 0.15 seconds of 0.55."""
    code = (
        "import importlib, sys; import app.main; from app.gui.window import Window\n"
        "importlib.import_module('app.gui.chat.pane')\n"
        "print(*sorted({'app.runtime.catalogue', 'app.runtime.library.indexer', 'engine.loading', 'jinja2', 'tokenizers'}"
        " & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stderr


def test_no_part_of_a_pane_is_a_window_for_a_moment(grus: Opened) -> None:
    """Settings showed fifteen of its labels so, one after another, when it was opened."""
    watch, app = Watch(), QApplication.instance()
    assert app is not None
    app.installEventFilter(watch)
    for spec in grus.window.specs:
        grus.window.open_pane(spec.name)
        QApplication.processEvents()
    grus.window.show_log()
    grus.window.find_anything()
    app.removeEventFilter(watch)
    assert watch.seen == []


def test_a_file_dialog_is_gone_when_it_is_closed(grus: Opened) -> None:
    """Those that stayed followed their folders, and sorted them on the UI thread: 30 to 140 ms whenever a file was written."""
    pane = grus.window.open_pane("read")
    for answer in (1, 0):
        pane.choose()
        dialog = grus.window.findChild(QFileDialog)
        assert dialog is not None
        dialog.done(answer)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        assert grus.window.findChild(QFileDialog) is None
