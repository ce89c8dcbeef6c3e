"""Deleting in the real app, and then looking for the words and the sound in every byte of every file that it keeps."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from app.gui.preferences import AppFolders, Preferences, places_under
from app.gui.store import conversations, database, messages, records
from app.gui.store.messages import StoredMessage
from app.gui.store.worker import AppStore
from app.gui.viewmodels.chat.draft import attach_bytes
from tests.app.gui.test_real_app import wait_for

ROOT = Path(__file__).resolve().parents[3]
WORD = "kingfisher"
FORMS = ("utf-8", "utf-16-le", "utf-16-be")


def sound(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, 24_000).astype(np.float32)


def samples(file: Path) -> bytes:
    """A piece from the middle of a sound file, as its bytes are on the disk."""
    raw = file.read_bytes()
    return raw[len(raw) // 2 : len(raw) // 2 + 4096]


@dataclass
class Filled:
    """A folder in which something lies in every list."""

    folder: Path
    places: AppFolders
    pieces: dict[str, bytes]  # what must not be found again

    def left(self) -> list[str]:
        found = []
        for file in sorted(self.folder.rglob("*")):
            raw = file.read_bytes() if file.is_file() else b""
            found += [f"{what} in {file.name}" for what, piece in self.pieces.items() if piece in raw]
        return found

    @property
    def files(self) -> list[str]:
        return sorted(file.name for name in database.OWN_FOLDERS for file in (self.places.data / name).glob("*"))


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    """A talk with an attachment, a page that was pasted and read, a spoken text, a recording that was written down."""
    folder = tmp_path / "grus"
    places = places_under(folder).make()
    store = AppStore(places.database)
    note = attach_bytes("note.txt", f"the {WORD} in a file".encode(), places.attachments)
    picture = tmp_path / "page.png"
    dice = random.Random(3)
    Image.frombytes("L", (64, 64), dice.randbytes(64 * 64)).save(picture)
    page = attach_bytes("page.png", picture.read_bytes(), places.attachments)
    sounds = [database.private_file(places.data / name) for name in ("spoken/line.wav", "recordings/talk.wav")]
    for seed, file in enumerate(sounds):
        soundfile.write(str(file), sound(seed), 24_000, "PCM_16")

    def fill(db: Any) -> int:
        id = conversations.create(db, "tiny", title=f"About the {WORD}")
        asked = messages.add(
            db, id, StoredMessage(0, None, "user", f"Where does the {WORD} live?", attachments=(note,))
        )
        messages.add(
            db, id, StoredMessage(0, asked.id, "assistant", f"A {WORD} lives by rivers. " * 200, f"Hm, {WORD}.")
        )
        records.keep_draft(db, str(id), f"and the {WORD}'s nest")
        records.add_result(db, records.StoredResult(0, "read", f"{WORD}.png", page.path, {"error": WORD}))
        records.add_result(
            db, records.StoredResult(0, "speak", WORD, "", {"text": f"A {WORD}.", "seconds": 1.0}, str(sounds[0]))
        )
        segments = [{"start": 0.0, "end": 1.0, "text": f"I saw a {WORD}."}]
        body = {"segments": segments, "seconds": 1.0}
        records.add_result(db, records.StoredResult(0, "listen", f"The {WORD}", str(sounds[1]), body))
        return id

    Preferences(places.preferences).put("conversation", store.ask(fill).result())
    store.close()
    for each in (note, page):
        database.release(each.path)
    pieces = {f"{WORD} as {form}": WORD.encode(form) for form in FORMS}
    pieces |= {f"the sound of {file.name}": samples(file) for file in sounds}
    pieces["the picture"] = picture.read_bytes()[100:1000]
    made = Filled(folder, places, pieces)
    assert len(made.files) == 4
    assert len({found.partition(" in ")[0] for found in made.left()}) == 4  # no UTF-16
    return made


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(filled: Filled) -> Iterator[Start]:
    """The app, with `tests.app.gui.deleting` in its process or by itself."""
    running: list[subprocess.Popen[str]] = []
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "GRUS_SAY_READY": "1"}

    def start_it(*what: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", *what, "--folder", str(filled.folder)]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        running.append(process)
        return process

    yield start_it
    for process in running:
        process.kill()
        process.wait(10)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
    process.wait(10)


def gone(filled: Filled, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while filled.left() or filled.files:
        assert time.monotonic() < end, (filled.left(), filled.files)
        time.sleep(0.1)


def test_nothing_stays_after_the_undo_time(filled: Filled, start: Start) -> None:
    process = start("tests.app.gui.deleting", "delete", "1.0")
    wait_for(process, "deleted")
    gone(filled)
    assert process.poll() is None, "it is gone while the app runs"


def test_nothing_stays_when_the_app_was_killed_before_that(filled: Filled, start: Start) -> None:
    process = start("tests.app.gui.deleting", "delete", "1000")
    wait_for(process, "deleted")
    kill(process)
    assert filled.left(), "it could still have been brought back"
    assert len(filled.files) == 4
    again = start("app.cli", "app")
    wait_for(again, "ready")
    gone(filled)


def test_everything_can_be_taken_back_and_stays(filled: Filled, start: Start) -> None:
    process = start("tests.app.gui.deleting", "take_back", "4")
    wait_for(process, "taken back")
    time.sleep(5)
    kill(process)
    again = start("tests.app.gui.deleting", "delete", "1000")  # opens every list, and finds all of it
    wait_for(again, "deleted")
    assert len(filled.files) == 4


def test_delete_all_empties_open_panes_and_the_disk(filled: Filled, start: Start) -> None:
    process = start("tests.app.gui.deleting", "wipe", "1000")
    empty: dict[str, list[str]] = {name: [] for name in ("chat", "read", "speak", "listen")}
    assert json.loads(wait_for(process, "shown ").removeprefix("shown ")) == empty, "at once"
    assert json.loads(wait_for(process, "shown ").removeprefix("shown ")) == empty
    gone(filled)
