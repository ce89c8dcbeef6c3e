"""A full disk, an I/O error, a lock or missing rights: the file stays, everything is kept in order, and saved later.

Each in a new process, with a real file system that is full, read-only or locked.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.gui.store import conversations, database, messages
from app.gui.store.messages import StoredMessage
from app.gui.store.worker import AppStore
from tests.app.test_imports import chatgpt

ROOT = Path(__file__).resolve().parents[3]
RESOURCES = pytest.mark.skipif(os.name == "nt", reason="Windows has neither file size limits nor mounts")


def can_mount() -> bool:
    """Whether this user may mount a file system, if only in a namespace of its own."""
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0 if LINUX else False


LINUX = sys.platform == "linux"
MOUNTS = pytest.mark.skipif(not can_mount(), reason="this user may not mount a file system")

BEGIN = """
import json, os, sys, time
from pathlib import Path
from app.gui.store import conversations, messages, worker
from app.gui.store.messages import StoredMessage
from app.gui.store.worker import AppStore
worker._FIRST = worker._LONGEST = 0.2
folder = Path(sys.argv[1])
told = []
def open_store():
    store = AppStore(folder / "grus.sqlite3")
    store.saving.watch(told.append)
    return store
def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, told
        time.sleep(0.02)
def write(store, numbers, size):
    for number in numbers:
        said = StoredMessage(0, None, "user", f"{number} " + "x" * size)
        store.ask(lambda db, said=said: messages.add(db, 1, said)).result(20)
def texts(store):
    return [int(m.text.split()[0]) for m in store.ask(lambda db: messages.all_of(db, 1)).result(20)]
def on_disk():
    import sqlite3
    db = sqlite3.connect(folder / "grus.sqlite3")
    found = [int(row[0].split()[0]) for row in db.execute("SELECT text FROM messages ORDER BY id")]
    db.close()
    return found
def end(**seen):
    print(json.dumps({"told": told, "names": sorted(os.listdir(folder)), **seen}), flush=True)
"""

# The disk is full in the middle of the work, until `room()`.
FULL = """
store = open_store()
store.ask(lambda db: conversations.create(db, title="Years")).result()
write(store, range(5), 1000)
full()
write(store, range(5, 40), 20_000)
while_full = texts(store)
saved_while_full = on_disk()
until(lambda: told)
kept = store.saving.kept
room()
until(lambda: told[-1] == "")
saved = on_disk()
write(store, range(40, 43), 10)
store.close()
end(while_full=while_full, saved_while_full=saved_while_full, kept=kept, saved=saved, after=on_disk())
"""


def run(script: str, folder: Path, *more: str, before: tuple[str, ...] = ()) -> dict[str, Any]:
    done = subprocess.run(
        [*before, sys.executable, "-c", BEGIN + script, str(folder), *more],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found | {"problem": done.stderr}


def check_full(seen: dict[str, Any]) -> None:
    everything = list(range(40))
    assert seen["while_full"] == everything, "what is kept in memory can be read"
    assert seen["saved_while_full"] == everything[: len(seen["saved_while_full"])]
    assert 5 <= len(seen["saved_while_full"]) < 40, "the disk was full"
    assert seen["kept"] >= 40 - len(seen["saved_while_full"])
    assert seen["saved"] == everything
    assert seen["after"] == [*everything, 40, 41, 42]
    assert seen["told"][-1] == ""
    assert [name for name in seen["names"] if "damaged" in name] == []


@MOUNTS
def test_a_full_disk_loses_nothing_and_reorders_nothing(tmp_path: Path) -> None:
    mounted = """
import subprocess
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)
def full():
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096): pass
        except OSError: pass
def room():
    (folder / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
"""
    seen = run(mounted + FULL, tmp_path, before=("unshare", "-rm"))
    check_full(seen)
    assert seen["told"][0].startswith("Grus cannot save: the disk is full.")


@MOUNTS
def test_a_command_on_a_full_disk_says_that_it_saved_nothing(tmp_path: Path) -> None:
    """As `grus memory add` and `grus import` do: they have no time to try again."""
    chats = [chatgpt(f"c{number}", "x" * 3000) for number in range(400)]
    (tmp_path / "conversations.json").write_text(json.dumps(chats))
    (disk := tmp_path / "disk").mkdir()
    script = """
import subprocess
from app.cli import main
from app.gui.preferences import places_under
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)
def saved():
    store = AppStore(places_under(folder).database)
    found = len(store.ask(conversations.listed).result(20))
    store.close()
    return found
codes = [main(["import", str(folder.parent / "conversations.json"), "--folder", str(folder)])]
few = saved()
subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
codes.append(main(["import", str(folder.parent / "conversations.json"), "--folder", str(folder)]))
end(codes=codes, few=few, all=saved())
"""
    done = run(script, disk, before=("unshare", "-rm"))
    assert (done["codes"], done["few"] < 400, done["all"]) == ([2, 0], True, 400)
    assert done["problem"].startswith("grus: Not saved: the disk is full. ")


@RESOURCES
def test_a_file_that_may_not_grow_loses_nothing(tmp_path: Path) -> None:
    """The system refuses every byte beyond a limit: what an I/O error looks like without a broken disk."""
    limited = """
import resource
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
def full():
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(folder / "grus.sqlite3-wal") + 50_000, most))
def room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
"""
    seen = run(limited + FULL, tmp_path)
    check_full(seen)
    assert seen["told"][0].startswith("Grus cannot save: the disk ")


@pytest.fixture
def years(tmp_path: Path) -> Path:
    """A folder with a good database."""
    folder = tmp_path / "years"
    store = AppStore(folder / "grus.sqlite3")
    store.ask(lambda db: conversations.create(db, title="Years")).result()
    store.ask(lambda db: messages.add(db, 1, StoredMessage(0, None, "user", "0 the crane"))).result()
    store.close()
    return folder


# The file cannot be opened, until `room()`.
UNOPENED = """
store = open_store()
asked = store.ask(lambda db: messages.add(db, 1, StoredMessage(0, None, "user", "1 the marsh")))
until(lambda: told)
waits = not asked.done()
room()
store.save_now()
until(lambda: asked.done())
asked.result()
found = texts(store)
store.close()
end(waits=waits, found=found, after=on_disk())
"""


def check_unopened(seen: dict[str, Any], why: str) -> None:
    assert seen["told"] == [
        f"Your conversations cannot be opened: {why}. The file is unchanged, and Grus will retry.",
        "",
    ]
    assert seen["waits"]
    assert seen["found"] == seen["after"] == [0, 1]
    assert [name for name in seen["names"] if "damaged" in name] == []


@MOUNTS
def test_a_disk_that_is_full_at_the_start_sets_nothing_aside(years: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = f"""
import shutil, subprocess
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)
shutil.copy({str(years / "grus.sqlite3")!r}, folder)
with open(folder / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(b"x" * 4096): pass
    except OSError: pass
def room():
    (folder / "filler").unlink()
"""
    seen = run(mounted + UNOPENED, disk, before=("unshare", "-rm"))
    assert re.match("Your conversations cannot be opened: the disk (is full|reports an error). ", seen["told"][0])
    check_unopened(seen, seen["told"][0].partition(": ")[2].partition(". ")[0])


@MOUNTS
def test_a_file_system_that_may_only_be_read_sets_nothing_aside(years: Path) -> None:
    mounted = """
import subprocess
subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
def room():
    subprocess.run(["mount", "-o", "remount,bind,rw", str(folder)], check=True)
"""
    check_unopened(run(mounted + UNOPENED, years, before=("unshare", "-rm")), "the file is read-only")


# Another process has the file for itself, until `room()`.
LOCKED = """
import sqlite3, threading
other = sqlite3.connect(folder / "grus.sqlite3", isolation_level=None, check_same_thread=False)
store = open_store()
store.wait()
other.execute("BEGIN IMMEDIATE")
asked = store.ask(lambda db: messages.add(db, 1, StoredMessage(0, None, "user", "1 the marsh")))
until(lambda: told)
other.execute("ROLLBACK")
until(lambda: told[-1] == "")
asked.result(20)
store.close()
end(after=on_disk())
"""


def test_a_file_that_another_program_locks_is_waited_for(years: Path) -> None:
    seen = run(LOCKED, years)
    assert seen["told"][0].startswith("Grus cannot save: another program is using it.")
    assert seen["told"][-1] == ""
    assert seen["after"] == [0, 1]
    assert [name for name in seen["names"] if "damaged" in name] == []


@pytest.fixture
def watched(years: Path) -> Iterator[tuple[AppStore, list[str]]]:
    sentences: list[str] = []
    store = AppStore(years / "grus.sqlite3")
    store.saving.watch(sentences.append)
    yield store, sentences
    store.close()


def test_a_file_of_a_newer_grus_stays_as_it_is(years: Path) -> None:
    file = years / "grus.sqlite3"
    db = sqlite3.connect(file)
    db.execute(f"PRAGMA user_version = {len(database.MIGRATIONS) + 1}")
    db.close()
    sentences: list[str] = []
    store = AppStore(file)
    store.saving.watch(sentences.append)
    asked = store.ask(conversations.listed)
    end = time.monotonic() + 10
    while not sentences and time.monotonic() < end:
        time.sleep(0.01)
    store.close()
    assert sentences[0].startswith("Your conversations were saved by a newer version of Grus.")
    assert asked.exception() is not None
    assert sqlite3.connect(file).execute("SELECT text FROM messages").fetchall() == [("0 the crane",)]
    assert [path.name for path in years.glob("*damaged*")] == []


def test_a_file_that_sqlite_calls_malformed_is_set_aside_whole(years: Path) -> None:
    file = years / "grus.sqlite3"
    whole = file.read_bytes()
    damaged = whole[:4096] + bytes(len(whole) - 4096)  # all but the first page
    file.write_bytes(damaged)
    found: list[Any] = []
    store = AppStore(file)
    store.opened(found.append)
    store.wait()
    assert found[0].set_aside.parent == years
    assert re.fullmatch(r"grus\.damaged-\d{8}-\d{6}\.sqlite3", found[0].set_aside.name)
    assert found[0].set_aside.read_bytes() == damaged
    assert store.ask(conversations.listed).result() == []
    store.close()


def test_a_question_that_is_wrong_is_not_kept(watched: tuple[AppStore, list[str]]) -> None:
    store, sentences = watched
    failed: list[str] = []
    asked = store.ask(lambda db: db.execute("INSERT INTO nowhere VALUES (1)"), failed=failed.append)
    assert asked.exception(10) is not None
    assert failed == ["Could not save: no such table: nowhere."]
    assert sentences == []
