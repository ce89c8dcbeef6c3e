"""The real app on a file system that becomes full: the window says so, keeps what is typed, and saves it later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from app.gui.preferences import Preferences, places_under
from tests.app.gui.test_real_app import ROOT, wait_for
from tests.app.gui.test_store_trouble import MOUNTS

pytestmark = MOUNTS
MOUNT = 'mount -t tmpfs -o size=8m tmpfs "$1" && cp -r "$2"/. "$1" && shift 2 && exec "$@"'


def test_what_is_typed_on_a_full_disk_is_saved_when_there_is_room(tmp_path: Path) -> None:
    first, disk = tmp_path / "first", tmp_path / "disk"
    disk.mkdir()
    Preferences(places_under(first).make().preferences).put("language", "de")
    app = [sys.executable, "-m", "tests.app.gui.deleting", "full", "1000", "--folder", str(disk)]
    process = subprocess.Popen(
        ["unshare", "-rm", "sh", "-ec", MOUNT, "sh", str(disk), str(first), *app],
        cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    try:
        sentence, button = json.loads(wait_for(process, "bar ").removeprefix("bar "))
        visible, warned = json.loads(wait_for(process, "still ").removeprefix("still "))
        after, length, last, names = json.loads(wait_for(process, "saved ").removeprefix("saved "))
    finally:
        process.kill()
        process.wait(10)
    kept = "Ihre Änderungen bleiben bis dahin im Arbeitsspeicher."
    assert sentence == f"Grus kann nicht speichern: das Laufwerk ist voll. {kept}"
    assert button == "Jetzt speichern"
    assert visible, "closing would lose it, and says so first"
    assert warned.startswith("Ihre letzten Änderungen sind noch nicht gespeichert.")
    assert after == "Alles ist wieder gespeichert."
    assert (length, last) == (len("a long kingfisher " * 20_000) + 17, "and the last word")
    assert [name for name in names if "damaged" in name] == []
