"""The window without a screen, with a scripted engine behind it and a folder of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

from app.gui.preferences import places_under
from app.main import Start, close_context, open_window
from tests.app.gui.scripted import scripted_service
from tests.app.server.scripted import ScriptedEngine
from tests.needs import need_program, no_window

if not no_window():
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    from app.gui.window import Window


@dataclass
class Opened:
    """A window that a test drives."""

    window: Window
    engine: ScriptedEngine
    qtbot: Any

    @property
    def context(self) -> Any:
        return self.window.context

    def until(self, condition: Callable[[], Any], seconds: float = 5.0) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=round(seconds * 1000))

    def saved(self, file: Path) -> str:
        """The text of a small file that is being saved: there is one before there is something in it."""
        self.until(lambda: file.exists() and file.stat().st_size)
        return file.read_text(encoding="utf-8-sig")

    def settle(self) -> None:
        """What was asked of the store is on disk, and its answers have arrived."""
        self.context.store.wait()
        QApplication.processEvents()


@pytest.fixture
def open_grus(
    qapp: QApplication, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Opened]]:
    """`open_grus()` opens a window on this test's folder; calling it again is a restart."""
    monkeypatch.setattr("engine.hub.token.token_file", lambda: tmp_path / "tokens" / "hub-tokens.json")
    monkeypatch.setattr("app.runtime.remote.servers.servers_file", lambda: tmp_path / "tokens" / "remote-servers.json")
    monkeypatch.setattr("app.runtime.tools.settings.tools_file", lambda: tmp_path / "tools" / "tools.json")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    opened: list[Window] = []

    def shut() -> None:
        for window in opened:
            window.close()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    "gc.unfreeze", lambda: None
                )  # a million objects of the suite, which the next collection would visit
                close_context(window)
            QApplication.processEvents()  # what threads had still posted
            window.deleteLater()
        opened.clear()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def open_it(names: tuple[str, ...] = ("tiny",), service: Any = None, **preferences: Any) -> Opened:
        """`service`: a real one instead of the scripted engine's."""
        shut()
        engine: Any = None
        if service is None:
            service, engine = scripted_service(tmp_path / "models", names)
        places = places_under(tmp_path / "grus").make()
        if preferences:
            from app.gui.preferences import Preferences

            kept = Preferences(places.preferences)
            for key, value in preferences.items():
                kept.put(key, value)
        window = open_window(qapp, Start(), places, lambda: service)
        opened.append(window)
        qtbot.waitUntil(lambda: window.context.core.state.phase == "ready", timeout=5000)
        return Opened(window, engine, qtbot)

    yield open_it
    shut()
    qapp.setStyleSheet("")
    # without a screen the clipboard outlives Python, and what Python put there would be freed too late: a segmentation fault
    qapp.clipboard().clear()


@pytest.fixture
def grus(open_grus: Callable[..., Opened]) -> Opened:
    return open_grus()


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    """A screen for Linux that nobody sees: the display's name."""
    need_program("Xvfb")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as output:
        number = output.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait(10)
