"""The log: a process that crashes leaves its stack, the next start offers it, and nothing of a person's is in it."""

from __future__ import annotations

import logging
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from app.explain import explained
from app.gui.widgets import label
from app.logfile import _Form, export, facts, shown
from tests.app.gui.conftest import Opened
from tests.checkpoints import save

ROOT = Path(__file__).resolve().parents[3]
LEFT = Qt.MouseButton.LeftButton
SECRET = "the crane sings at night"
NOTICE = "Grus ended unexpectedly last time. Nothing was deleted."

# The real app's function; what a test does in it stands behind, in a function `then(window)`.
APP = """
import faulthandler, logging, sys, threading
from pathlib import Path
from PySide6.QtCore import QTimer
import app.main
{then}
app.main._announce = lambda window: QTimer.singleShot(0, lambda: then(window))
sys.exit(app.main.start(app.main.Start(folder=Path(sys.argv[1]))))
"""
CRASH = "def then(window):\n    faulthandler._sigsegv()\n"
LOOK = """
def then(window):
    notice = window.notice
    print("notice", notice.isVisible() and notice.sentence.text())
    if not notice.isVisible():
        return window.close()
    notice.undo.click()
    def look():
        if not window.log.text.toPlainText():
            return QTimer.singleShot(20, look)
        print("button", notice.undo.text())
        print("viewer", window.log.isVisible(), "Segmentation fault" in window.log.text.toPlainText())
        window.close()
    look()
"""
FAULTS = f"""
SECRET = {SECRET!r}
def fail():
    raise ValueError(f"no number: {{SECRET}}")
def then(window):
    QTimer.singleShot(0, fail)
    thread = threading.Thread(target=fail, name="a-thread")
    thread.start()
    thread.join()
    window.context.work.run(fail, failed=lambda sentence: print("told", sentence, flush=True)).exception()
    logging.getLogger("someone.else").error("they say %s", SECRET)
    logging.getLogger("grus.window").warning("it failed: %r, hf_abcdefghijklmnop", ValueError(SECRET))
    logging.getLogger("grus.server").info("a client asks: %s", SECRET)
    QTimer.singleShot(50, window.close)
"""


def run_app(folder: Path, then: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", APP.format(then=then), str(folder)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="signals have numbers in POSIX")
def test_a_crash_leaves_its_stack_and_the_next_start_offers_it(tmp_path: Path) -> None:
    crashed = run_app(tmp_path, CRASH)
    assert crashed.returncode == -11, crashed.stderr
    stack = tmp_path / "data" / "logs" / "app-crash.log"
    left = stack.read_text()
    assert "Segmentation fault" in left
    assert re.search(r'File "<string>", line \d+ in then', left)  # where it happened
    assert mode(stack) == mode(stack.with_name("app.log")) == 0o600
    assert mode(stack.parent) == 0o700
    again = run_app(tmp_path, LOOK)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines() == [f"notice {NOTICE}", "button Show the log", "viewer True True"]
    assert stack.read_text() == left  # nothing is deleted
    assert "The session before crashed" in stack.with_name("app.log").read_text()
    third = run_app(tmp_path, LOOK)
    assert (third.returncode, third.stdout) == (0, "notice False\n"), third.stderr


def test_faults_are_in_the_log_and_what_people_write_is_not(tmp_path: Path) -> None:
    ended = run_app(tmp_path, FAULTS)
    assert ended.returncode == 0, ended.stderr
    assert "The log has more." in ended.stdout
    text = (tmp_path / "data" / "logs" / "app.log").read_text()
    assert "in the thread a-thread" in text
    assert "a job failed" in text
    assert text.count("in fail") >= 3  # the slot, the thread, the job
    assert text.count("\nValueError\n") >= 3
    assert "ERROR someone.else: (<string>, line " in text
    assert "it failed: ValueError, (left out)" in text
    assert SECRET not in text
    assert "hf_" not in text
    assert facts() in text


def test_a_message_of_python_itself_is_kept_and_a_chain_is_told_in_order() -> None:
    def inner() -> None:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise TypeError("f() takes 1 argument") from error

    try:
        inner()
    except TypeError:
        record = logging.LogRecord("grus.x", logging.ERROR, "", 0, "it failed", (), sys.exc_info())
    text = _Form("%(message)s").format(record)
    assert text.index("KeyError") < text.index("then:") < text.index("TypeError: f() takes 1 argument")
    assert SECRET not in text


@pytest.mark.skipif(sys.platform == "win32", reason="signals have numbers in POSIX")
@pytest.mark.slow  # the window, above, is the quick one
def test_a_server_that_crashes_leaves_its_stack_too(tmp_path: Path) -> None:
    model = save("qwen3", tmp_path / "tiny-model")
    serve = "import faulthandler, sys, app.server.listening as l\nl.Listener.run = lambda self: {}\n"
    serve += "from app.cli import main\nsys.exit(main(['serve', '--port', '0', '--model', sys.argv[1]]))"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}

    def run(what: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", serve.format(what), str(model)]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)

    assert run("faulthandler._sigsegv()").returncode == -11
    (stack,) = tmp_path.rglob("serve-crash.log")
    assert "Segmentation fault" in stack.read_text()
    assert mode(stack) == 0o600
    again = run("None")
    assert again.returncode == 0, again.stderr
    assert f"The server ended unexpectedly last time. {stack} has the stack." in again.stderr
    assert "unexpectedly" not in run("None").stderr


# -- in the window


def test_settings_and_a_key_open_the_log(grus: Opened) -> None:
    logs = grus.context.places.logs
    logs.mkdir()
    (logs / "app.log").write_text("a line of the log\n")
    settings = grus.window.open_pane("settings")
    button = next(b for b in settings.findChildren(QPushButton) if b.text() == "Show the log")
    grus.qtbot.mouseClick(button, LEFT)
    view = grus.window.log
    assert view.isVisible()
    grus.until(lambda: "a line of the log" in view.text.toPlainText())
    grus.qtbot.keyClick(view.text, Qt.Key.Key_Escape)
    assert not view.isVisible()
    grus.window.activateWindow()
    grus.until(grus.window.isActiveWindow)
    grus.qtbot.keyClick(settings.appearance, Qt.Key.Key_F12)
    assert view.isVisible()


def test_the_log_is_exported_with_the_machine_and_every_file(grus: Opened, tmp_path: Path) -> None:
    logs = grus.context.places.logs
    logs.mkdir()
    for number, name in enumerate(("app-crash.log", "app.log.1", "app.log")):
        (logs / name).write_text(f"line {number} in {Path.home()}/x\n")
    grus.window.log.write(tmp_path / "out.txt")
    grus.until(lambda: "Saved as" in grus.window.notice.sentence.text())
    text = (tmp_path / "out.txt").read_text()
    assert facts() in text
    assert text.index("line 0") < text.index("line 1") < text.index("line 2 in ~/x")
    assert shown(logs).index("line 0") < shown(logs).index("line 2")
    assert export(logs, tmp_path / "again.txt").exists()


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_sentence_that_the_log_has_more_leads_there(open_grus: Callable[..., Opened], language: str) -> None:
    grus = open_grus(language=language)
    sentence = explained(ZeroDivisionError("<division>"))
    grus.context.say(sentence, level="error")
    notice, view = grus.window.notice, grus.window.log
    assert notice.undo.isVisible()
    grus.qtbot.mouseClick(notice.undo, LEFT)
    assert view.isVisible()
    view.hide()
    place = grus.window.pane("models").view.working
    place.setText(sentence)
    assert place.text() == sentence
    assert "&lt;division&gt;" in QLabel.text(place)
    place.linkActivated.emit("grus:log")
    assert view.isVisible()
    place.setText("Choose a model first.")
    assert "<a" not in QLabel.text(place)


def error_labels(window: Any) -> list[QLabel]:
    """Where panes say what went wrong."""
    return [
        window.notice.sentence, window.pane("speak").status, window.pane("speak").voice_panel.note,
        window.pane("listen").status, window.pane("read").status, window.pane("settings").outcome,
        window.pane("server").problem, window.pane("models").view.working, window.pane("chat").talk_bar.words,
    ]  # fmt: skip


def test_the_places_of_errors_make_the_link(grus: Opened) -> None:
    kinds = {type(place) for place in error_labels(grus.window)}
    assert kinds == {type(label())}


def test_deleting_all_deletes_the_log_and_it_begins_anew(tmp_path: Path) -> None:
    then = """
def then(window):
    window.context.wiped()
    import shutil
    shutil.rmtree(window.context.places.logs)
    window.context.wiped()
    logging.getLogger("grus.window").error("a new line")
    faulthandler._sigsegv()
"""
    assert run_app(tmp_path, then).returncode == -11
    logs = tmp_path / "data" / "logs"
    assert "a new line" in (logs / "app.log").read_text()
    assert "Segmentation fault" in (logs / "app-crash.log").read_text()
