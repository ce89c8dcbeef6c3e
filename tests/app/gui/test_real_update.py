"""An installed Grus updates itself, in processes of its own: a signed release from a server on this machine, an AppImage that is replaced."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.gui.preferences import places_under
from app.gui.store.database import MIGRATIONS
from tests.app.gui.person import DRAFT
from tests.app.gui.test_real_app import rows, wait_for
from tests.app.gui.test_schemas import FILES
from tests.app.release_site import ReleaseSite, serving_releases

ROOT = Path(__file__).resolve().parents[3]
NOTES = "- Cranes fly higher.\n"
# A bundle's process: what it is, and where the file lies that it came out of.
BUNDLED = "import runpy, sys; sys.frozen = True; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="AppImages are for Linux")


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with serving_releases() as here:
        yield here


def image(version: str, module: str, *words: str) -> str:
    """A program in the place of an AppImage of this version: it starts Grus's code as a bundle does, with `words` first."""
    return f"""#!/bin/sh
# version {version}
export APPIMAGE="$(readlink -f "$0")"
[ "$1" != update ] || shift
exec {shlex.quote(sys.executable)} -c {shlex.quote(BUNDLED)} {module} {shlex.join(words)} "$@"
"""


def install(folder: Path, text: str, update_source: str) -> tuple[Path, dict[str, str]]:
    """An AppImage and the environment of its user, whose home is empty; its resources say where releases are announced."""
    packages, home = folder / "packages", folder / "home"
    (packages / "resources").mkdir(parents=True)
    home.mkdir()
    for path in (ROOT / "resources").iterdir():
        (packages / "resources" / path.name).symlink_to(path)
    (packages / "resources" / "update.json").write_text(update_source)
    file = folder / "Grus.AppImage"
    file.write_text(text)
    file.chmod(0o755)
    kept = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
    search = os.pathsep.join([str(packages), str(ROOT)])
    return file, {**kept, "HOME": str(home), "PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "1"}


def conversations_of_the_first_version(folder: Path) -> None:
    with closing(sqlite3.connect(places_under(folder).make().database)) as db:
        db.executescript(FILES[0].read_text(encoding="utf-8"))


def start(file: Path, screen: str, folder: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    environment = {**environment, "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb"}
    command = [str(file), "--folder", str(folder)]
    return subprocess.Popen(
        command, env=environment, cwd=folder.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


PERSON = "tests.app.gui.person"


def test_the_window_installs_a_new_version_and_everything_is_kept(
    site: ReleaseSite, screen: str, tmp_path: Path
) -> None:
    folder = tmp_path / "stick" / "grus"
    conversations_of_the_first_version(folder)
    before = rows(folder, "SELECT id, text FROM messages ORDER BY id")
    new = image("9.9.9", PERSON, "updated")
    source = site.release("9.9.9", NOTES, {"appimage": ("Grus-9.9.9-x86_64.AppImage", new.encode())})
    file, environment = install(tmp_path, image("0.1.0", PERSON, "update"), source)
    app = start(file, screen, folder, environment)
    try:
        assert wait_for(app, "allowed before") == "allowed before: False\n"
        assert wait_for(app, "offered") == "offered: - Cranes fly higher.\n"
        assert "signature is valid" in wait_for(app, "downloaded")
        seen = wait_for(app, "restarted")  # printed by the second program
        assert seen.startswith("restarted: True ")
        assert "Cranes" in seen
        assert "鶴" in seen
        assert app.wait(30) == 0
    finally:
        app.kill()
        app.wait(10)
    assert file.read_text() == new
    assert os.access(file, os.X_OK)
    assert rows(folder, "SELECT id, text FROM messages ORDER BY id") == before
    assert {DRAFT, "half a question"} <= {text for (text,) in rows(folder, "SELECT text FROM drafts")}
    # a folder that is carried about leaves nothing of Grus's where it was plugged in
    left = [path for path in (tmp_path / "home").rglob("*") if "grus" in path.name.lower()]
    assert left == []


def test_a_release_that_was_changed_after_it_was_signed_is_not_installed(
    site: ReleaseSite, screen: str, tmp_path: Path
) -> None:
    old = image("0.1.0", PERSON, "update")
    source = site.release("9.9.9", NOTES, {"appimage": ("Grus-9.9.9-x86_64.AppImage", b"#!/bin/sh\nexit 0\n")})
    site.files["Grus-9.9.9-x86_64.AppImage"] = b"#!/bin/sh\nexit 1\n"
    file, environment = install(tmp_path, old, source)
    folder = tmp_path / "grus"
    conversations_of_the_first_version(folder)
    app = start(file, screen, folder, environment)
    try:
        assert "is not the file that was announced" in wait_for(app, "downloaded")
        assert app.wait(30) == 0
    finally:
        app.kill()
        app.wait(10)
    assert file.read_text() == old
    assert list((folder / "data" / "updates").iterdir()) == []


def command(file: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(file)], env=environment, cwd=file.parent, capture_output=True, text=True, timeout=120)


def test_the_command_installs_a_new_version(site: ReleaseSite, tmp_path: Path) -> None:
    old = image("0.1.0", "app.cli", "update")
    source = site.release("9.9.9", NOTES, {"appimage": ("Grus-9.9.9-x86_64.AppImage", b"the new one")})
    file, environment = install(tmp_path, old, source)
    done = command(file, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Grus 9.9.9 is out.\n\n- Cranes fly higher.")
    assert f"{file} is the new version. Start it again." in done.stdout
    assert file.read_bytes() == b"the new one"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("latest.json", "is not trusted"), ("Grus-9.9.9-x86_64.AppImage", "is not the file that was announced")],
)
def test_the_command_installs_nothing_that_was_changed(
    site: ReleaseSite, tmp_path: Path, name: str, reason: str
) -> None:
    old = image("0.1.0", "app.cli", "update")
    source = site.release("9.9.9", NOTES, {"appimage": ("Grus-9.9.9-x86_64.AppImage", b"the new one")})
    site.files[name] = site.files[name].replace(b"9.9.9", b"9.9.8").replace(b"the new", b"an evil")
    file, environment = install(tmp_path, old, source)
    done = command(file, environment)
    assert done.returncode == 2
    [*_, sentence] = done.stderr.splitlines()
    assert sentence.startswith("grus: ")
    assert reason in sentence
    assert file.read_text() == old
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["Grus.AppImage"]


def newer_conversations(folder: Path) -> bytes:
    """A file of conversations that a later version wrote; returns its bytes."""
    conversations_of_the_first_version(folder)
    file = places_under(folder).database
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    return file.read_bytes()


NEWER = "Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged."


def test_the_window_leaves_conversations_of_a_newer_version_as_they_are(
    site: ReleaseSite, screen: str, tmp_path: Path
) -> None:
    folder = tmp_path / "grus"
    before = newer_conversations(folder)
    file, environment = install(tmp_path, image("0.1.0", PERSON, "unopened"), site.release("0.0.1", NOTES, {}))
    app = start(file, screen, folder, environment)
    try:
        assert wait_for(app, "sentence: ") == f"sentence: {NEWER}\n"
        assert app.wait(30) == 0
    finally:
        app.kill()
        app.wait(10)
    assert places_under(folder).database.read_bytes() == before


@pytest.mark.parametrize("words", [("memory",), ("memory", "add", "Cranes migrate.")], ids=" ".join)
def test_a_command_leaves_conversations_of_a_newer_version_as_they_are(words: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "grus"
    before = newer_conversations(folder)
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *words, "--folder", str(folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert NEWER in done.stderr
    assert places_under(folder).database.read_bytes() == before
