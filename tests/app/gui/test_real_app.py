"""The real app on a real (virtual) screen with a real tiny model: it is killed in the middle, and everything is there."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from app.gui.preferences import Preferences, places_under
from engine.starter import GUIDE, READER, starter
from tests.app.gui.person import DRAFT, LINE, QUESTION
from tests.checkpoints import save
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.sheets import font
from tests.needs import no_program
from tests.qwen3_tts_cases import checkpoint, ending

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Xvfb is a screen for Linux")

# Drives the window from inside: a person's keys, then waiting for what must come.
PERSON = """
import sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
import app.main as main

def begin(window):
    pane = window.pane("chat")
    field = pane.composer.field
    def type_it():
        if not pane.talk.head.model:
            return QTimer.singleShot(50, type_it)
        QTest.keyClicks(field, "Hello")
        QTest.keyClick(field, Qt.Key.Key_Return)
        QTest.keyClicks(field, "an unfinished thought")
        look()
    def look():
        path = pane.talk.path
        if path and path[-1].role == "assistant" and len(path[-1].text) > 20:
            print("streaming", flush=True)
            return
        if path and path[-1].error:
            print("failed:", path[-1].error, flush=True)
            return
        QTimer.singleShot(20, look)
    QTimer.singleShot(100, type_it)

announce = main._announce
main._announce = lambda window: (announce(window), begin(window) if "type" in sys.argv else None, window)
from app.cli import main as cli
sys.exit(cli(["app", "--folder", sys.argv[1], "--model", sys.argv[2]]))
"""


def start(screen: str, folder: Path, model: Path, *more: str) -> subprocess.Popen[str]:
    return run(screen, "-c", PERSON, str(folder), str(model), *more)


def run(screen: str, *what: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "GRUS_SAY_READY": "1"}
    return subprocess.Popen(
        [sys.executable, *what],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if word in line:
            return line
    raise AssertionError(f"the app ended before it said {word!r}:\n{printed}")


def until(condition: Callable[[], Any], seconds: float = 20) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return found


def rows(folder: Path, question: str) -> list[tuple[Any, ...]]:
    file = folder / "data" / "grus.sqlite3"
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def test_a_killed_app_has_lost_nothing(screen: str, tmp_path: Path) -> None:
    model = save("qwen3", tmp_path / "tiny-model", max_position_embeddings=8192)
    folder = tmp_path / "grus"
    first = start(screen, folder, model, "type")
    try:
        assert "ready after" in wait_for(first, "ready")
        wait_for(first, "streaming")
        drafts = until(lambda: rows(folder, "SELECT text FROM drafts WHERE text = 'an unfinished thought'"))
        until(lambda: rows(folder, "SELECT 1 FROM messages WHERE role = 'assistant' AND length(text) > 20"))
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    assert drafts
    before = rows(folder, "SELECT role, text, state FROM messages ORDER BY id")
    assert [row[0] for row in before] == ["user", "assistant"]
    assert before[0][1] == "Hello"
    assert before[1][2] == "writing"
    second = start(screen, folder, model)
    try:
        wait_for(second, "ready")
        until(lambda: rows(folder, "SELECT 1 FROM messages WHERE state = 'stopped'"))
        after = rows(folder, "SELECT role, text FROM messages ORDER BY id")
        assert after == [row[:2] for row in before]
        # a third start finds the second, which answers and stays
        third = start(screen, folder, model)
        assert third.wait(20) == 0
        assert second.poll() is None
    finally:
        second.kill()
        second.wait(10)


PRINT = "The crane stands in the marsh"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A line of print on white paper."""
    sheet = Image.new("RGB", (900, 300), "white")
    ImageDraw.Draw(sheet).text((60, 110), PRINT, "black", font(44))
    sheet.save(tmp_path / "page.png")
    return tmp_path / "page.png"


@pytest.mark.skipif(not (starter(GUIDE) and starter(READER)), reason="the models that come with Grus are not here")
def test_what_was_asked_read_and_spoken_is_there_after_a_kill(screen: str, tmp_path: Path, page: Path) -> None:
    folder = tmp_path / "grus"
    voices = ending(checkpoint("custom_voice", tmp_path / "voices"))
    Preferences(places_under(folder).make().preferences).put("models", {"voices": str(voices)})
    first = run(screen, "-m", "tests.app.gui.person", "work", "--folder", str(folder))
    try:
        wait_for(first, "answered")
        second = run(screen, "-m", "app.cli", str(page), "--folder", str(folder))
        assert second.wait(30) == 0  # it has handed its file over
        assert "read: done" in wait_for(first, "read:")
        assert "spoken: done" in wait_for(first, "spoken:")
        wait_for(first, "typed")
        until(lambda: rows(folder, f"SELECT 1 FROM drafts WHERE text = '{DRAFT}'"))
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    again = run(screen, "-m", "tests.app.gui.person", "look", "--folder", str(folder))
    try:
        seen = json.loads(wait_for(again, "seen ").removeprefix("seen "))
    finally:
        again.kill()
        again.wait(10)
    assert seen["chat"][0] == QUESTION
    assert len(seen["chat"][1]) > 20
    assert seen["draft"] == DRAFT
    assert SequenceMatcher(None, " ".join(seen["read"]), PRINT).ratio() > 0.8
    assert seen["page"] == [900, 300]
    title, seconds = seen["spoken"]
    assert title == LINE
    assert seconds > 0.1
    assert seen["heard"] == round(seconds * 24000)


@pytest.mark.slow
@pytest.mark.skipif(not starter(GUIDE), reason="the model that comes with Grus is not here")
def test_a_folder_is_indexed_asked_and_its_page_opened(
    screen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    text = "The fuse is rated at 16 amperes."
    (papers / "pump.pdf").write_bytes(text_pdf("Contents of this manual", "Installation of the pump", text))
    (papers / "birds.md").write_text("# Cranes\n\nCranes migrate in autumn.")
    monkeypatch.setenv("GRUS_TEST_FOLDER", str(papers))
    folder = tmp_path / "grus"
    app = run(screen, "-m", "tests.app.gui.person", "libraries", "--folder", str(folder))
    try:
        assert "2 documents · 4 pages" in wait_for(app, "indexed:")
        assert wait_for(app, "found:").strip() == "found: pump.pdf, page 3"
        assert "pump.pdf, page 3" in wait_for(app, "answered:")
        assert wait_for(app, "marked:").strip() == f"marked: 3 {text}"
    finally:
        app.kill()
        app.wait(10)
    assert rows(folder, "SELECT libraries FROM conversations") == [(json.dumps([str(papers)]),)]
    assert len(list((folder / "data" / "libraries").glob("*.sqlite3"))) == 1
    assert sorted(path.name for path in papers.iterdir()) == ["birds.md", "pump.pdf"]


@pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))
def test_a_first_start_has_a_voice(screen: str, tmp_path: Path) -> None:
    app = run(screen, "-m", "tests.app.gui.person", "first_voice", "--folder", str(tmp_path / "grus"))
    try:
        model, state, seconds = wait_for(app, "spoken:").split()[1:4]
    finally:
        app.kill()
        app.wait(10)
    assert (model, state) == ("system", "done")
    assert 0.5 < float(seconds) < 10
