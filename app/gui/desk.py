"""What every pane is given: one object instead of a window that knows everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.viewmodels.hook import Hook

if TYPE_CHECKING:
    from app.bridge import Work
    from app.gui.actions import Actions
    from app.gui.hotkey.hotkey import HotKey
    from app.gui.look import Look
    from app.gui.places import Places
    from app.gui.preferences import Preferences
    from app.gui.store.worker import Store
    from app.window_engine import WindowEngine


@dataclass
class Desk:
    """The window's services.

    `work` runs jobs beside the UI thread, `store` remembers, `core` asks the engine, `say` shows a sentence where the
    work is: `say(sentence)`, or with `level="error"`, and with `undo=("Undo", callback)`.
    """

    places: Places
    preferences: Preferences
    look: Look
    store: Store
    work: Work
    core: WindowEngine
    actions: Actions
    say: Callable[..., Any] = lambda sentence, **more: None
    open_pane: Callable[[str], Any] = lambda name: None  # shows a pane by name and returns it
    hand_over: Callable[[str, Sequence[Path]], Any] = lambda name, files: None  # files to another pane
    found: list[Callable[[str], list[tuple[str, Callable[[], Any]]]]] = field(default_factory=list)  # for the palette
    models_changed: Hook = field(default_factory=Hook)  # a model was added, removed, loaded or unloaded
    hotkey: HotKey | None = None  # the key that brings the window to the front
    wiped: Hook = field(default_factory=Hook)  # everything that is remembered is about to go, or is gone: begin anew
    reread: Hook = field(default_factory=Hook)  # what is stored may be other than what panes show: read it again
