"""What the window asks of the interpreter: short turns, and garbage only when nobody notices."""

from __future__ import annotations

import gc
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.bridge import FrameQueue, Work
from app.gui.gc_policy import GcPolicy
from backends import garbage
from tests.app.gui.conftest import Opened


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy(qapp: QApplication, clock: Clock) -> Iterator[GcPolicy]:
    gc.freeze()  # a million objects of the suite, which each collection would visit
    made = GcPolicy(lambda: made.wanted, clock)  # type: ignore[attr-defined]
    made.wanted = False  # type: ignore[attr-defined]
    yield made
    made.end()


def make_old(enough: bool = True) -> None:
    """As many collections of the young as are enough for a look at the old."""
    for _ in range(11 if enough else 3):
        gc.collect(1)


def test_nothing_is_collected_until_it_is_quiet_and_worth_it(policy: GcPolicy, clock: Clock) -> None:
    gc.collect()
    make_old()
    assert not policy.look()  # it has only just begun
    clock.now += 3
    gc.collect()
    make_old(enough=False)
    assert not policy.look()
    make_old()
    assert policy.look()
    assert gc.get_count()[2] == 0


def test_a_reply_that_is_written_is_not_disturbed_for_minutes_but_not_for_ever(policy: GcPolicy, clock: Clock) -> None:
    policy.wanted = True  # type: ignore[attr-defined]
    make_old()
    for _ in range(9):
        clock.now += 30
        assert not policy.look()
    clock.now += 40
    assert policy.look()


def test_typing_is_not_disturbed(policy: GcPolicy, clock: Clock, qtbot: Any) -> None:
    field = QLineEdit()
    qtbot.addWidget(field)
    field.show()
    policy.watch(field.windowHandle())
    clock.now += 10
    QTest.keyClick(field.windowHandle(), Qt.Key.Key_A)
    make_old()
    assert field.text() == "a"
    assert not policy.look()
    clock.now += 10
    assert policy.look()


def test_the_interpreter_is_as_it_was_after_the_end(qapp: QApplication) -> None:
    before = gc.isenabled(), sys.getswitchinterval()
    policy = GcPolicy(lambda: False)
    assert not gc.isenabled()
    assert sys.getswitchinterval() < before[1]
    policy.end()
    assert (gc.isenabled(), pytest.approx(sys.getswitchinterval())) == before


class Cyclic(QWidget):
    """Garbage of which only a collection disposes. A timer that runs can be stopped in its own thread alone."""

    ended: ClassVar[set[int]] = set()

    def __init__(self) -> None:
        super().__init__()
        self.itself = self
        QTimer(self).start(1)

    def __del__(self) -> None:
        self.ended.add(threading.get_ident())


def test_widgets_are_destroyed_in_the_ui_thread_alone(policy: GcPolicy, qtbot: Any) -> None:
    """In another thread it is a crash, sooner or later."""
    policy.keep()  # else each collection visits a million objects of the tests' own: a minute
    Cyclic.ended.clear()
    over = threading.Event()

    def engine() -> None:
        while not over.is_set():
            kept = [[i] for i in range(5_000)]
            assert kept
            garbage.collect()

    thread = threading.Thread(target=engine)
    thread.start()
    for _ in range(50):
        Cyclic()
        qtbot.wait(2)
    over.set()
    qtbot.waitUntil(lambda: not thread.is_alive(), timeout=10_000)
    policy.collect()
    assert Cyclic.ended == {threading.get_ident()}


def test_the_young_are_collected_while_something_is_allocated(policy: GcPolicy, qtbot: Any) -> None:
    before = len(gc.get_objects(0))
    cycles = [[] for _ in range(20_000)]  # type: list[list[Any]]
    for one in cycles:
        one.append(one)
    del cycles, one
    qtbot.waitUntil(lambda: len(gc.get_objects(0)) < before + 10_000, timeout=5_000)


def test_what_stays_is_not_visited_again(policy: GcPolicy, clock: Clock) -> None:
    gc.unfreeze()
    policy.keep()
    assert len(gc.get_objects()) < 1000 < gc.get_freeze_count()
    clock.now += 3
    make_old()
    began = time.thread_time()
    assert policy.look()
    assert time.thread_time() - began < 0.02
    policy.end()
    assert gc.get_freeze_count() == 0


def test_what_was_imported_is_not_visited(policy: GcPolicy, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    policy.keep()
    for name in ("", "app.of_this_test"):
        content, before = [[i] for i in range(3_000)], gc.get_freeze_count()
        if name:
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        clock.now += 3
        make_old()
        assert policy.look()
        assert (gc.get_freeze_count() >= before + len(content)) == bool(name)


def test_a_long_collection_is_the_last_of_what_survived_it(policy: GcPolicy, clock: Clock) -> None:
    gc.unfreeze()
    many = [[i] for i in range(400_000)]
    clock.now += 3
    make_old()
    assert policy.look()
    assert gc.get_freeze_count() > len(many)


def test_the_window_keeps_what_the_engine_and_the_panes_consist_of(grus: Opened) -> None:
    """Also their modules: a pane that is opened first imports nothing."""
    grus.until(lambda: gc.get_freeze_count() > 50_000, 20)
    assert [spec.module for spec in grus.window.specs if spec.module not in sys.modules] == []
    assert list(grus.window.panes) == ["chat"]


def test_a_model_that_was_loaded_is_not_visited_again(grus: Opened) -> None:
    grus.until(lambda: gc.get_freeze_count() > 50_000, 20)
    QApplication.processEvents()
    weights, before = [[i] for i in range(30_000)], gc.get_freeze_count()
    grus.context.core.update(loading="Loading another.")
    assert gc.get_freeze_count() < before + len(weights)  # it is not there yet
    grus.context.core.update(loading="", model="another")
    assert gc.get_freeze_count() >= before + len(weights)


@pytest.mark.parametrize("name", ["read", "speak", "listen", "models", "server", "settings"])
def test_the_first_opening_of_a_pane_does_not_block(grus: Opened, name: str) -> None:
    grus.until(lambda: gc.get_freeze_count() > 50_000, 20)
    QApplication.processEvents()
    began = time.thread_time()
    grus.window.open_pane(name)
    made = time.thread_time() - began
    began = time.thread_time()
    QApplication.processEvents()
    assert max(made, time.thread_time() - began) < 0.1  # of this thread, beside other tests; 0.05 when alone


@pytest.mark.parametrize("key", [Qt.Key.Key_K, Qt.Key.Key_Slash])
def test_the_palette_and_the_overview_do_not_wait_for_panes(grus: Opened, key: Qt.Key) -> None:
    QTest.keyClick(grus.window, key, Qt.KeyboardModifier.ControlModifier)
    assert list(grus.window.panes) == ["chat"]
    grus.until(lambda: len(grus.window.panes) == len(grus.window.specs))
    card = grus.window.palette_card if key == Qt.Key.Key_K else grus.window.shortcuts
    assert card.isVisible()


def test_thoughts_run_one_after_another_and_do_not_wait_for_what_waits(qapp: QApplication) -> None:
    work = Work(lambda run: run())
    gate, together, most, guard = threading.Event(), 0, 0, threading.Lock()

    def think() -> None:
        nonlocal together, most
        with guard:
            together += 1
            most = max(most, together)
        threading.Event().wait(0.01)
        with guard:
            together -= 1

    waiting = [work.run(lambda: gate.wait(10)) for _ in range(6)]
    for thought in [work.think(think) for _ in range(8)]:
        thought.result(10)
    assert most == 1
    assert not any(job.done() for job in waiting)
    gate.set()
    work.close()


def test_what_is_slow_to_show_leaves_time_for_the_rest(qtbot: Any) -> None:
    seen: list[list[int]] = []

    def slow(items: list[int]) -> None:
        seen.append(items)
        threading.Event().wait(0.05)

    frames = FrameQueue(slow)
    for i in range(3):
        frames.put(i)
    qtbot.waitUntil(lambda: bool(seen))
    assert frames._timer.interval() >= 100
    frames.put(3)
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == [[0, 1, 2], [3]]
