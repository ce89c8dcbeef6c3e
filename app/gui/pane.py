"""`AppContext`, the services that every pane gets; `Pane`, the base class; and the list of panes.

A pane's module is imported when the pane is first opened.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.gui.texts import mark, tr
from app.gui.viewmodels.signal import Signal

if TYPE_CHECKING:
    from app.bridge import Work
    from app.gui.actions import Actions
    from app.gui.dictation_key import DictationKey
    from app.gui.hotkey import HotKey
    from app.gui.look import Look
    from app.gui.preferences import AppFolders, Preferences
    from app.gui.store.worker import AppStore
    from app.gui.viewmodels.cuda_pack import WindowCudaPack
    from app.gui.viewmodels.memories import Memories
    from app.gui.viewmodels.models.downloads import Downloads
    from app.gui.viewmodels.models.library import MachineFacts
    from app.gui.viewmodels.updates import WindowUpdates
    from app.runtime.library.together import OpenLibraries
    from app.window_engine import WindowEngine


@dataclass
class AppContext:
    """The window's services.

    `work` runs jobs off the UI thread, `store` remembers, `core` asks the engine, `say` shows a sentence where the
    work is: `say(sentence)`, or with `level="error"`, and with `undo=("Undo", callback)`. `say("", level="ok")`: something
    worked again, so that an error that is shown goes.
    """

    places: AppFolders
    preferences: Preferences
    look: Look
    store: AppStore
    work: Work
    core: WindowEngine
    actions: Actions
    say: Callable[..., Any] = lambda sentence, **more: None
    open_pane: Callable[[str], Any] = lambda name: None  # shows a pane by name and returns it
    hand_over: Callable[[str, Sequence[Path]], Any] = lambda name, files: None  # files to another pane
    # for the palette: titles, what each runs, and the badges behind it
    found: list[Callable[[str], list[tuple[str, Callable[[], Any], tuple[str, ...]]]]] = field(default_factory=list)
    models_changed: Signal = field(default_factory=Signal)  # a model was added, removed, loaded or unloaded
    restart: Callable[[], Any] = lambda: None  # closes the window, and starts Grus again
    hotkey: HotKey | None = None  # the key that brings the window to the front
    dictation: DictationKey | None = None  # the key that is held to dictate into any app
    wiped: Signal = field(default_factory=Signal)  # all stored data is being deleted: panes reset themselves
    reread: Signal = field(default_factory=Signal)  # stored data may differ from what panes show: they reload it

    @cached_property
    def machinery(self) -> MachineFacts:
        """What this machine is: Chat, Models and Settings show the same, and it is looked at once."""
        from app.gui.viewmodels.models.library import MachineFacts

        return MachineFacts(self.core, self.preferences)

    @cached_property
    def downloads(self) -> Downloads:
        """Of models: the card at the start of a chat and Models show the same."""
        from app.gui.viewmodels.models.downloads import Downloads

        made = Downloads(self.core, self.preferences, self.work.post, lambda *what, **more: self.say(*what, **more))
        made.finished.connect(lambda repo: self.models_changed())
        self.wiped.connect(made.forget)
        self.preferences.changed.connect(
            lambda key: made.pause_all() if key == "offline" and self.preferences.get(key) else None
        )
        return made

    @cached_property
    def libraries(self) -> OpenLibraries:
        """Of documents: Libraries indexes them, Chat asks them."""
        from app.runtime.library.together import OpenLibraries

        return OpenLibraries(self.places.data)

    @cached_property
    def memories(self) -> Memories:
        """Facts for all conversations: Chat gives them to models, Settings lists them."""
        from app.gui.viewmodels.memories import Memories

        made = Memories(
            self.store, self.preferences, lambda *what, **more: self.say(*what, **more), self._ask_of_proposals
        )
        self.wiped.connect(made.forget)
        self.reread.connect(made.look)
        return made

    def _ask_of_proposals(self) -> None:
        """A model may propose facts again, where a person once said never."""
        from app.runtime.memories import REMEMBER

        def change() -> None:
            settings = self.core.tools.settings
            if settings.permissions().get(REMEMBER) == "never":
                settings.keep_permission(REMEMBER, "ask", "")

        self.work.run(change, failed=self.show_error)

    @cached_property
    def updates(self) -> WindowUpdates:
        """Of Grus itself: the window says that there is one, Settings has the rest."""
        from app.gui.viewmodels.updates import WindowUpdates
        from app.updates import UpdateSource

        return WindowUpdates(self.work, self.preferences, self.places.data / "updates", UpdateSource.installed())

    @cached_property
    def cuda_pack(self) -> WindowCudaPack:
        """What computes on an NVIDIA GPU, for a bundle: Settings shows it."""
        from app.cuda_pack import CudaPack
        from app.gui.viewmodels.cuda_pack import WindowCudaPack

        return WindowCudaPack(self.work, CudaPack.offered())

    def show_error(self, sentence: str) -> None:
        """Show an error."""
        self.say(sentence, level="error")

    def copy(self, text: str) -> None:
        """To the clipboard."""
        QGuiApplication.clipboard().setText(text)
        self.say(tr("Copied."), level="ok")

    def save(self, write: Callable[[], Path], then: Callable[[Path], Any] | None = None) -> None:
        """Write a file off the UI thread, and say where it is; `then`, where given, has a button to open it."""

        def written(file: Path) -> None:
            undo = (tr("Open"), lambda: then(file)) if then is not None else None
            self.say(tr("Saved as {file}.", file=file), level="ok", undo=undo)

        self.work.run(write, written, self.show_error)


class Pane(QWidget):
    """The base of all panes. `app/gui/<name>/pane.py` holds a `make(context) -> Pane`."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self.setProperty("kind", "window")

    @property
    def parts(self) -> Sequence[QWidget]:
        """What gets the style sheet, each by itself. A long pane has several: those in sight change their look first."""
        return (self,)

    def entered(self) -> None:
        """The pane was opened: put the focus where a person begins."""
        self.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        """Files were dropped on the window, or handed over by a second start."""

    def stop(self) -> bool:
        """Esc: end what runs. False when nothing did."""
        return False

    def leaving(self) -> None:
        """The window closes: write down what is not yet."""


@dataclass(frozen=True)
class PaneSpec:
    """A pane in the rail."""

    name: str
    title: str  # in English; shown through `tr`
    keys: str

    @property
    def module(self) -> str:
        return f"app.gui.{self.name}.pane"

    @property
    def there(self) -> bool:
        """Whether this build has the pane."""
        try:
            return importlib.util.find_spec(self.module) is not None
        except ModuleNotFoundError:
            return False

    def make(self, context: AppContext) -> Pane:
        pane: Pane = importlib.import_module(self.module).make(context)
        return pane


PANES = (
    PaneSpec("chat", mark("Chat"), "Ctrl+1"),
    PaneSpec("read", mark("Read"), "Ctrl+2"),
    PaneSpec("libraries", mark("Libraries"), "Ctrl+8"),
    PaneSpec("speak", mark("Speak"), "Ctrl+3"),
    PaneSpec("listen", mark("Listen"), "Ctrl+4"),
    PaneSpec("models", mark("Models"), "Ctrl+5"),
    PaneSpec("server", mark("Server"), "Ctrl+6"),
    PaneSpec("settings", mark("Settings"), "Ctrl+7"),
)
