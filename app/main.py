"""Starting the window: one instance, the engine in the background, ready to type within a second.

Where there is no screen, it says so and serves models to programs instead. Imports Qt inside functions only, so that
the command line does not wait for it.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.gui.preferences import Preferences
    from app.gui.window import Window

BEGAN = time.monotonic()
_PAINTED = 0.03  # seconds after which a window that was shown has been painted


@dataclass(frozen=True)
class Start:
    """What was asked for on the command line."""

    files: Sequence[Path] = ()
    models: Mapping[str, str] = field(default_factory=dict)  # name -> folder or repository
    folder: Path | None = None  # keep everything here instead of in the default places
    offline: bool = False  # whatever the settings say
    dictate: bool = False  # begin dictation in the Grus that is open, or end it


def start(wanted: Start) -> int:
    """Run the window until it is closed. Returns the exit code."""
    from PySide6.QtWidgets import QApplication

    from app.bundled import program
    from app.gui.application import GrusApplication
    from app.gui.desktop import SingleInstance, hand_over, name_for
    from app.gui.preferences import default_folders, places_under
    from app.logfile import keep_log

    app = QApplication.instance() or GrusApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    places = (places_under(wanted.folder) if wanted.folder else default_folders()).make()
    name = name_for(places.data)
    if hand_over(name, wanted.files, wanted.dictate):
        return 0
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s", level=logging.WARNING)
    log = keep_log(places.logs, "app")
    window = open_window(app, wanted, places)
    window.context.wiped.connect(log.reopen_or_release)
    if log.crashed:
        window.show_crash()
    window.offer_updates()
    dictation = window.context.dictation
    assert dictation is not None
    reception = SingleInstance(name, window.take_files, window, dictation.toggle)
    if isinstance(app, GrusApplication):
        app.open_files_with(window.take_files)
    _announce(window)
    code = app.exec()
    reception.close()
    close_context(window)
    log.close()
    if window.restarts:
        subprocess.Popen([*program(), *sys.argv[1:]], start_new_session=True)
    return code


def open_window(app: QApplication, wanted: Start, places: Any, make_service: Any = None) -> Window:
    """The window, shown, with the engine starting behind it. `make_service` gives tests an engine of their own."""
    from PySide6.QtGui import QIcon

    from app.bridge import FrameQueue, Poster, Work
    from app.bundled import DESKTOP_ID
    from app.gui.actions import Actions
    from app.gui.desktop import add_tray, app_icon
    from app.gui.dictation_key import OWN_WORDS, DictationKey
    from app.gui.hotkey import HotKey
    from app.gui.look import Look
    from app.gui.pane import AppContext
    from app.gui.preferences import Preferences
    from app.gui.store.database import repair
    from app.gui.store.worker import AppStore
    from app.gui.window import Window
    from app.window_engine import WindowEngine

    app.setApplicationName("Grus")
    app.setApplicationDisplayName("Grus")
    app.setDesktopFileName(DESKTOP_ID)
    app.setStyle("Fusion")
    QIcon.setThemeSearchPaths([":/"])  # Fusion has all icons that Qt's own file dialog needs: sought in the system's
    QIcon.setFallbackSearchPaths([":/"])  # themes, each takes the UI thread milliseconds
    app.setWindowIcon(app_icon())
    preferences = Preferences(places.preferences)
    follow_offline(preferences, wanted.offline)
    look = Look(app, preferences)
    poster = Poster(app)
    work = Work(poster.post)
    models = dict(wanted.models)

    def service() -> Any:
        from app.window_engine import local_service
        from engine.starter import starters

        return local_service(
            preferences,
            {**models, **starters()},
            lambda sentence: poster.post(lambda: core.update(loading=sentence)),
            places.packed,
        )

    core = WindowEngine(work, make_service or service, lambda deliver: FrameQueue(deliver, app))
    core.read_own_words = lambda: str(preferences.get(OWN_WORDS, ""))
    core.defaults_of = lambda model: preferences.get("model_defaults", {}).get(model, {})
    context = AppContext(places, preferences, look, AppStore(places.database, poster.post), work, core, Actions(look))
    if models:
        preferences.put("model", next(iter(models)))
    window = Window(context)
    context.hotkey = HotKey(preferences, window.raise_up, window)
    context.dictation = DictationKey(preferences, core, lambda sentence, **more: context.say(sentence, **more), window)
    context.wiped.connect(context.dictation.forget)
    window.open_pane(_first_pane(window, preferences.get("pane", "chat")))
    window.show()
    add_tray(window)
    core.start(_PAINTED)
    work.run(lambda: repair((places.data, places.settings)))
    if preferences.get("server.on"):
        window.pane("server")  # it served when the window was closed last
    if preferences.get("read.watches"):
        window.pane("read")  # it watched a folder
    if wanted.files:
        window.take_files(wanted.files)
    return window


def follow_offline(preferences: Preferences, always: bool) -> None:
    """Hold this process off the network while the settings say so; `always`: as it was started."""
    from engine.errors import ErrorText
    from engine.hub import offline

    def apply() -> None:
        if always:
            offline.forbid(ErrorText("Grus was started with --offline"))
        elif preferences.get("offline"):
            offline.forbid(ErrorText("Settings say to work offline"))
        else:
            offline.permit()

    preferences.changed.connect(lambda key: apply() if key == "offline" else None)
    apply()


def close_context(window: Window) -> None:
    """Everything on disk, every thread ended."""
    from PySide6.QtCore import QCoreApplication

    from engine.hub import offline

    context = window.context
    offline.permit()
    if context.hotkey is not None:
        context.hotkey.release()
    if context.dictation is not None:
        context.dictation.close()
    window.gc_policy.stop()
    context.core.close()
    QCoreApplication.processEvents()  # the last words of replies that were stopped
    context.core.silence()
    context.store.close()
    context.work.close()
    context.look.fall_silent()
    window.gc_policy.end()


def _first_pane(window: Window, wanted: str) -> str:
    names = [spec.name for spec in window.specs]
    return wanted if wanted in names else names[0]


def _announce(window: Window) -> None:
    """For the bench and the tests: print when a person can type."""
    if os.environ.get("GRUS_SAY_READY"):
        from PySide6.QtCore import QTimer

        QTimer.singleShot(0, lambda: print(f"ready after {time.monotonic() - BEGAN:.3f} s", flush=True))
