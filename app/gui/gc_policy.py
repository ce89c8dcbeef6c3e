"""Garbage collection and thread switching while the window is open.

A thread that computes in Python keeps the interpreter for 5 ms by default whenever another thread asks for it; the UI thread
asks many times per frame, because Qt releases it in between. A switch interval of half a millisecond lets it through.

The interpreter collects garbage in whichever thread happens to allocate. Widgets that are destroyed outside of the UI thread end
the process, so while the window is open the UI thread alone collects: the young generations as long as something was allocated,
which takes a millisecond, and what a model leaves when it goes.

A full garbage collection stops every thread; with an engine in memory it takes longer than several frames. The old generation waits
until nobody types, points or waits for a reply. What stays in any case is taken out of it (`keep`): modules, and what a model consists of. Without
that a collection visits 240,000 objects, 120 to 260 ms; with it some thousands.
"""

from __future__ import annotations

import gc
import linecache
import sys
import threading
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QWindow

from engine.garbage import collect_by

_LOOK = 1000  # milliseconds
_SOON = 50  # milliseconds to the next look at the young, while something is allocated
_YOUNG = 2000  # objects that are worth a collection
_WAIT = 0.5  # seconds for the UI thread, which may itself wait for this one
_STILL = 2.0  # seconds without a key, a click or a reply that count as quiet
_LATEST = 300.0  # seconds after which it is done in any case
_ENOUGH = 10  # collections of the young, after which the old are worth a look: what the interpreter itself waits for
_TURN = 0.0005  # seconds
_LONG = 0.02  # seconds of a collection, after which what survived is not visited again
_HANDS = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.MouseMove,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.Wheel,
        QEvent.Type.TouchUpdate,
        QEvent.Type.InputMethod,
        QEvent.Type.DragMove,
        QEvent.Type.Resize,
    }
)


class GcPolicy(QObject):
    """In force from when it is made until `end`, in the thread that makes it. `busy()`: a reply is written, or a page is read."""

    _asked = Signal(object)

    def __init__(self, busy: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._busy, self._clock = busy, clock
        self._stirred = self._collected = clock()
        self._modules = len(sys.modules)
        self._was_enabled, self._default_interval = gc.isenabled(), sys.getswitchinterval()
        gc.disable()
        sys.setswitchinterval(_TURN)
        self._thread = threading.get_ident()
        self._asked.connect(self._collect_for, Qt.ConnectionType.QueuedConnection)
        collect_by(self.collect)
        self._young = QTimer(self)
        self._young.timeout.connect(self.collect_young)
        self._young.start(_SOON)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def watch(self, window: QWindow) -> None:
        """Watch this window for keyboard and mouse events."""
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _HANDS:
            self._stirred = self._clock()
        return False

    def collect(self) -> None:
        """All of it, for whichever thread."""
        if threading.get_ident() == self._thread:
            gc.collect()
            return
        done = threading.Event()
        self._asked.emit(done)
        done.wait(_WAIT)

    def _collect_for(self, done: threading.Event) -> None:
        gc.collect()
        done.set()

    def collect_young(self) -> None:
        """Looks again soon while there is something, and ever later while there is nothing."""
        if gc.get_count()[0] > _YOUNG:
            gc.collect(1)
            self._young.setInterval(_SOON)
        else:
            self._young.setInterval(min(2 * self._young.interval(), _LOOK))

    def look(self) -> bool:
        """Collect, if there may be something to collect and the moment is right. Says whether it did."""
        now = self._clock()
        if self._busy():
            self._stirred = now
        still = now - self._stirred >= _STILL
        if gc.get_count()[2] < _ENOUGH or not (still or now - self._collected >= _LATEST):
            return False
        if len(sys.modules) > self._modules:  # imported since: a server's take 50 ms to visit, and stay
            self.keep()
        began = time.perf_counter()
        gc.collect()
        if time.perf_counter() - began > _LONG:
            gc.freeze()
        self._collected = now
        return True

    def keep(self) -> None:
        """What is there now stays: no collection visits it again. References that end free it all the same, cycles excepted."""
        linecache.clearcache()  # PySide looks for its name in each module's source: 8 MB of text that nobody reads again
        gc.collect(1)  # what was just dropped
        gc.freeze()
        self._modules = len(sys.modules)

    def stop(self) -> None:
        """The window waits for threads that end: none of them collects while there are widgets, nor waits for the window."""
        self._timer.stop()
        self._young.stop()
        collect_by(lambda: None)

    def end(self) -> None:
        """The interpreter decides again."""
        self.stop()
        collect_by()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()
        sys.setswitchinterval(self._default_interval)
