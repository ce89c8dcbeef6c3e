"""What a bundle lacks that a checkout has: a Python to start, streams, a search path of its own, sources, arguments.

Each test is a new process, started as a bundle starts: through packaging/bundle/start.py.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app import bundled
from tests.needs import no_window

ROOT = Path(__file__).resolve().parents[2]
START = ROOT / "packaging" / "bundle" / "start.py"


def run(*command: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python with the packages of `folder`."""
    env = {**os.environ, "PYTHONPATH": str(folder), "HF_HUB_OFFLINE": "1", **environment}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=280, env=env, cwd=folder)


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(str(START), *arguments, **environment)


def python(code: str, *arguments: str, folder: Path = ROOT, **environment: str) -> str:
    done = run("-c", code, *arguments, folder=folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_entry_point_is_the_command_line() -> None:
    done = start("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "grus")
    assert done.stdout == f"grus {bundled.grus_version()}\n".replace("grus 0\n", "grus (not installed)\n")


def test_the_version_is_said_before_any_command_is_imported() -> None:
    done = run("-X", "importtime", str(START), "--version")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert (done.returncode, "app.cli" in imported) == (0, True)
    assert sorted(name for name in imported if name.startswith("app.commands")) == []
    assert bundled.has_nvidia_driver() or "app.cuda_pack" not in imported


def test_a_child_process_is_this_program_with_the_name_of_a_module() -> None:
    """In a bundle `sys.executable` is Grus: it is started as Python would be, `-m engine.machine`."""
    asked = {"backend": "torch", "device": "cpu", "cache_dir": None, "limit": None, "again": False}
    done = start("-m", "engine.machine", json.dumps(asked), GRUS_KERNELS="off")
    assert done.returncode == 0, done.stderr
    machine = json.loads(done.stdout)
    assert (machine["backend"], machine["device"]) == ("torch", "cpu")
    assert machine["memory"] > 10**8


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_the_machine_is_looked_at_by_a_bundle(tmp_path: Path) -> None:
    """`look_in_process` with a `sys.executable` that only knows Grus."""
    code = """
import sys
from pathlib import Path
program = Path(sys.argv[1]) / "grus"
program.write_text(f'#!/bin/sh\\nexec "{sys.executable}" "{sys.argv[2]}" "$@"\\n')
program.chmod(0o755)
sys.executable, sys.frozen = str(program), True
from engine.machine import look_in_process
print(look_in_process("torch", "cpu").backend)
"""
    assert python(code, str(tmp_path), str(START), GRUS_KERNELS="off").strip() == "torch"


def test_a_program_without_a_console_prints_into_nothing() -> None:
    code = """
import os, sys
sys.stdout = sys.stderr = None
from app.bundled import begin
assert begin(["--version"]) is False
from engine.hub.download import TerminalBar
bar = TerminalBar("a model")
bar(1, 2)
bar(2, 2)
print("nobody reads this")
os.write(1, b"done")
"""
    assert python(code) == "done"


def test_programs_that_a_bundle_starts_get_the_search_path_of_before() -> None:
    code = """
import os, subprocess, sys
from app.bundled import begin
sys.frozen = True
begin([])
print(subprocess.run([sys.executable, "-c", "import os; print(os.environ.get('LD_LIBRARY_PATH'))"],
                     capture_output=True, text=True).stdout, end="")
"""
    assert python(code, LD_LIBRARY_PATH="/bundle", LD_LIBRARY_PATH_ORIG="/opt/own") == "/opt/own\n"
    assert python(code, LD_LIBRARY_PATH="/bundle") == "None\n"


def test_a_start_from_source_keeps_its_search_path() -> None:
    code = "import os\nfrom app.bundled import begin\nbegin([])\nprint(os.environ['LD_LIBRARY_PATH'])"
    assert python(code, LD_LIBRARY_PATH="/opt/own").strip() == "/opt/own"


def test_a_library_of_the_bundle_is_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "libportaudio.so.2").touch()
    code = """
import ctypes.util, sys
from pathlib import Path
from app.bundled import find_bundled_libraries
before = ctypes.util.find_library("c")
find_bundled_libraries(Path(sys.argv[1]))
print(ctypes.util.find_library("portaudio"), ctypes.util.find_library("c") == before)
"""
    assert python(code, str(tmp_path)).split() == [str(tmp_path / "libportaudio.so.2"), "True"]


@pytest.fixture
def without_sources(tmp_path: Path) -> Path:
    """The kernels' package as a wheel has it: no sources, and a stamp."""
    whole = tmp_path / "installed"
    for package in ("backends", "engine", "resources"):
        shutil.copytree(
            ROOT / package, whole / package, ignore=shutil.ignore_patterns("src", "*.so", "__pycache__", "starter")
        )
    return whole


def test_an_install_without_sources_knows_its_library_by_the_stamp(without_sources: Path) -> None:
    code = "from backends.torch.kernels import build\nprint(build.digest(), build.packaged())"
    assert python(code, folder=without_sources).split() == ["none", "None"]
    (without_sources / "backends" / "torch" / "kernels" / "digest.txt").write_text("0123456789abcdef\n")
    assert python(code, folder=without_sources).split() == ["0123456789abcdef", "None"]


def test_an_install_without_sources_compiles_nothing_and_says_so(without_sources: Path, tmp_path: Path) -> None:
    code = "from backends.torch.kernels import library\nprint(library.available(), library.why_not())"
    cache = tmp_path / "cache"
    said = python(code, folder=without_sources, XDG_CACHE_HOME=str(cache), GRUS_KERNELS="")
    assert said.startswith("False this install came without built kernels")
    assert not cache.exists()


def test_files_are_found_through_one_function() -> None:
    """`__file__` leads to a folder that a bundle may not have: only these two count on it."""
    known = {"engine/child.py", "backends/torch/kernels/build.py"}
    using = set()
    for package in ("app", "engine", "backends"):
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if any(isinstance(node, ast.Name) and node.id == "__file__" for node in ast.walk(tree)):
                using.add(path.relative_to(ROOT).as_posix())
    assert using <= known


def test_every_module_that_is_imported_by_name_is_in_the_bundle() -> None:
    """Panes and commands are imported by name, where no analysis of imports sees them."""
    from app.cli import COMMANDS

    spec = (ROOT / "packaging" / "bundle" / "grus.spec").read_text(encoding="utf-8")
    packages = re.findall(r"\"(\w+)\"", spec.split("OWN = (", 1)[1].split(")", 1)[0])
    assert {"app", "engine", "backends"} <= set(packages)
    assert "window" in COMMANDS.values()


@pytest.mark.skipif(bool(no_window()), reason=no_window() or "needs Qt")
def test_no_arguments_open_the_window_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.cli import with_files

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert with_files([]) == ["app"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_no_arguments_without_a_screen_name_what_is_missing() -> None:
    done = start(QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 2
    assert "COMMAND" in done.stderr


@pytest.mark.skipif(bool(no_window()), reason=no_window() or "needs Qt")
def test_files_that_the_system_opens_reach_the_window_also_those_that_came_before_it() -> None:
    code = """
import sys
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from app.gui.application import GrusApplication
app = GrusApplication([])
send = lambda name: app.sendEvent(app, QFileOpenEvent(QUrl.fromLocalFile(name)))
send("/tmp/early.pdf")
taken = []
app.open_files_with(taken.extend)
send("/tmp/later.pdf")
print(*(file.name for file in taken))
"""
    assert python(code, QT_QPA_PLATFORM="offscreen").split() == ["early.pdf", "later.pdf"]
