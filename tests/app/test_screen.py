"""`grus app` where Qt cannot show a window: it says why, with one command to install all that is missing, and serves.

Each test is a new process: left to itself, Qt would end it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from app import screen, system_packages
from tests.needs import no_window
from tests.processes import child_process

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems always have a screen, and Qt's libraries"
)

HIDE = 'for f in $HIDDEN; do mount --bind /dev/null "$f" || exit 99; done; exec "$@"'


def serves(command: list[str], folder: Path, **environment: str) -> str:
    """Start it, ask the server that comes for its models, stop it -> what it said on stderr."""
    clean = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    env = {**clean, "GRUS_PORT": "0", "GRUS_GRACE": "1", "HF_HUB_CACHE": str(folder / "hub"), **environment}
    errors = folder / "errors"
    with (
        errors.open("w") as file,
        child_process(command, env=env, stdout=subprocess.PIPE, stderr=file, text=True) as child,
    ):
        try:
            assert child.stdout is not None
            page = ""
            while "http://" not in page:
                line = child.stdout.readline()
                assert line, f"it ended with {child.wait()}: {page}{errors.read_text()}"
                page += line
            found = re.search(r"http://127\.0\.0\.1:\d+", page)
            assert found is not None
            assert httpx.get(f"{found[0]}/v1/models", timeout=60).status_code == 200
            child.send_signal(signal.SIGTERM)
            child.communicate(timeout=30)
        finally:
            child.kill()
    assert child.returncode == 0
    return errors.read_text()


def app(folder: Path) -> list[str]:
    return [sys.executable, "-m", "app.cli", "app", "--folder", str(folder / "grus")]


def places(library: str) -> list[str]:
    """Where the loader finds a library here."""
    said = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    return re.findall(rf"^\s+{re.escape(library)} .* => (\S+)$", said, re.MULTILINE)


def may_hide() -> bool:
    command = ["unshare", "--map-root-user", "--mount", "mount", "--bind", "/dev/null", os.devnull]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param(["libxcb-cursor.so.0", "libxcb-image.so.0"], id="the plugin's", marks=pytest.mark.slow),
        pytest.param(["libglib-2.0.so.0", "libEGL.so.1", "libGL.so.1", "libpulse.so.0"], id="the modules'"),
    ],
)
def test_every_missing_package_is_named_at_once(tmp_path: Path, hidden: list[str]) -> None:
    """Some of these may be missing here anyway; those that are not are hidden."""
    here = [place for library in hidden for place in places(library)]
    command = app(tmp_path)
    if here:
        if not may_hide():
            pytest.skip("this user may not hide files from a process (unshare --map-root-user --mount)")
        command = ["unshare", "--map-root-user", "--mount", "bash", "-c", HIDE, "hide", *command]
    said = serves(command, tmp_path, HIDDEN=" ".join(here), DISPLAY=":987")
    packages = {line.library: line.packages[0] for line in system_packages.requirements()}
    assert "To install all that is missing: sudo " in said
    if "apt-get" in said:
        assert [name for name in hidden if packages[name] not in said] == []
    assert said.count("that are missing") == 1
    assert "Serving models to programs on this machine instead." in said


@pytest.mark.skipif(bool(no_window()), reason=no_window())
def test_a_screen_that_does_not_answer_is_said(tmp_path: Path) -> None:
    said = serves(app(tmp_path), tmp_path, DISPLAY=":987")
    if system_packages.missing():
        assert "To install all that is missing" in said
    else:
        assert "The display ':987' does not answer, so the window cannot open." in said


@pytest.mark.parametrize(
    ("environment", "platforms"),
    [
        ({"DISPLAY": ":0"}, ["xcb"]),
        ({"WAYLAND_DISPLAY": "wayland-0"}, ["wayland"]),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, ["wayland", "xcb"]),
        ({"QT_QPA_PLATFORM": "offscreen:size=800x600;xcb", "DISPLAY": ":0"}, ["offscreen", "xcb"]),
    ],
)
def test_platforms_are_tried_as_qt_tries_them(environment: dict[str, str], platforms: list[str]) -> None:
    assert screen._platforms(environment) == platforms


@pytest.mark.parametrize(("working", "problem"), [("xcb", ""), ("wayland", ""), ("", "missing")])
def test_one_platform_that_works_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, working: str, problem: str
) -> None:
    """Without Qt and without a device: the plugins are stand-ins, which load where the loader says so."""
    for name in ("xcb", "wayland"):
        (tmp_path / f"libq{name}.so").touch()

    def load(path: str) -> None:
        if not working or working not in path:
            raise OSError(f"{path}: cannot open shared object file")

    monkeypatch.setattr(screen, "_plugins", lambda: tmp_path)
    monkeypatch.setattr(screen, "_answers", lambda name: True)
    monkeypatch.setattr(screen.ctypes, "CDLL", load)
    said = screen._platform_problem({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"})
    assert (problem in said) if problem else said == ""
