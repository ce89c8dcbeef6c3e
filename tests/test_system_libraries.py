"""packaging/system.txt names every shared library that the installed wheels ask the system for, and who brings it."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app import system_packages
from tests.elf import closure, needed

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="on other systems the wheels bring all that they load")

# glibc's and GCC's own, which every Linux has, and which wheels may count on (PEP 600); and the driver of an NVIDIA GPU
EVERYWHERE = re.compile(
    r"lib(c|m|mvec|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|gomp|atomic|cuda|nvidia-ml)\.so\.[0-9]+|ld-linux.*\.so\.[0-9]+"
)
# Qt's plugins that the window loads, or may load. Not among them: platformthemes/libqgtk3.so, which only desktops load
# that bring GTK, and without which Qt has a theme of its own; tls, since the window speaks no TLS.
PLUGINS = [
    "iconengines/*.so",
    "imageformats/*.so",
    "multimedia/*.so",
    "platforminputcontexts/*.so",
    "platforms/libqoffscreen.so",
    "platforms/libqwayland.so",
    "platforms/libqxcb.so",
    "platformthemes/libqxdgdesktopportal.so",
    "wayland-decoration-client/*.so",
    "wayland-graphics-integration-client/*.so",
    "wayland-shell-integration/*.so",
    "xcbglintegrations/*.so",
]


def distributions() -> dict[str, metadata.Distribution]:
    """What Grus and its tests depend on here, dependencies of dependencies included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting = [Requirement(text) for text in [*project["dependencies"], *project["optional-dependencies"]["test"]]]
    found: dict[str, metadata.Distribution] = {}
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in seen or not any(_holds(wanted, extra) for extra in ("", *wanted.extras)):
            continue
        seen.add(str(wanted))
        try:
            found[canonicalize_name(wanted.name)] = here = metadata.distribution(wanted.name)
        except metadata.PackageNotFoundError:
            continue
        for text in here.requires or []:
            more = Requirement(text)
            if any(_holds(more, extra) for extra in ("", *wanted.extras)):
                more.marker = None
                waiting.append(more)
    return found


def _holds(wanted: Requirement, extra: str) -> bool:
    return wanted.marker is None or wanted.marker.evaluate({"extra": extra})


def shared(distribution: metadata.Distribution) -> list[Path]:
    """The shared libraries in a distribution."""
    files = [Path(str(file.locate())) for file in distribution.files or [] if ".so" in file.name]
    return [file for file in files if file.is_file()]


def qt_modules() -> set[str]:
    """The modules of Qt that app/ imports, wherever in it."""
    found: set[str] = set()
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "PySide6":
                found.update(name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("PySide6."):
                found.add(str(node.module).split(".")[1])
            elif isinstance(node, ast.Import):
                found.update(name.name.split(".")[1] for name in node.names if name.name.startswith("PySide6."))
    return found


def qt_files() -> list[Path]:
    """What the window loads of PySide6: its modules, and the plugins above."""
    folder = Path(str(metadata.distribution("PySide6_Essentials").locate_file("PySide6")))
    modules = [folder / f"{name}.abi3.so" for name in sorted(qt_modules() | {"QtTest"})]
    assert [path.name for path in modules if not path.exists()] == []
    plugins = [path for pattern in PLUGINS for path in (folder / "Qt" / "plugins").glob(pattern)]
    return [*modules, *plugins]


@functools.cache
def from_the_system() -> dict[str, set[str]]:
    """Library -> the files that ask for it."""
    every = distributions()
    qt = {name for name in every if name.startswith(("pyside6", "shiboken6"))}
    # CUDA's own libraries, and what they ask for to speak to a cluster's network, are loaded on machines that have that
    plain = [name for name in every if name not in qt and not name.startswith(("nvidia-", "cuda-"))]
    assert {"torch", "soundfile", "llguidance", "pypdfium2"} <= set(plain)
    assert {"pyside6-essentials", "pyside6-addons", "shiboken6"} <= qt
    bundled = {path.name: path for name in sorted(every) for path in shared(every[name])}
    start = [path for name in plain for path in shared(every[name])] + qt_files()
    loaded, outside = closure(start, bundled)
    assert len(loaded) > 150
    return {name: who for name, who in outside.items() if not EVERYWHERE.fullmatch(name)}


def listed(*when: str) -> dict[str, system_packages.Requirement]:
    return {line.library: line for line in system_packages.requirements() if line.library and line.when in when}


def test_every_library_that_the_wheels_load_is_listed() -> None:
    asked = from_the_system()
    assert {"libEGL.so.1", "libglib-2.0.so.0", "libpulse.so.0", "libxcb-cursor.so.0"} <= set(asked)
    forgotten = {name: sorted(who)[:3] for name, who in asked.items() if name not in listed("run", "brought")}
    assert forgotten == {}


def test_nothing_is_listed_that_nobody_loads() -> None:
    """Two are opened by name: PortAudio, which the wheel of sounddevice brings for other systems only, and XTEST by the dictation key."""
    assert set(listed("run", "brought")) - set(from_the_system()) == {"libportaudio.so.2", "libXtst.so.6"}


def test_what_is_brought_is_brought_by_a_package_that_is_installed_by_name() -> None:
    for column in range(3):
        named = {name for line in listed("run").values() for name in line.packages[column].split(",")}
        bringing = {line.packages[column] for line in listed("brought").values()}
        assert bringing
        assert bringing - named - {"base"} == set()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="asks Debian's packages")
def test_debians_packages_bring_what_the_list_says() -> None:
    """Of the libraries that are here: the file belongs to the package that the list names, or to one that it depends on."""
    checked, lines = 0, listed("run", "brought")
    files = subprocess.run(["dpkg-query", "-S", *(f"*/{name}" for name in lines)], capture_output=True, text=True)
    found = [(text.split(":")[0], text.rsplit("/", 1)[-1]) for text in files.stdout.splitlines()]
    for library, line in lines.items():
        owners = {owner for owner, name in found if name == library}
        names = set(line.packages[0].split(","))
        if not owners or names == {"base"}:
            continue
        checked += 1
        assert owners & depended_on(names), f"{library}: {owners}, not {names}"
    assert checked or not shutil.which("Xvfb")


def depended_on(names: set[str]) -> set[str]:
    """These packages, and those that they depend on, two steps deep: names, with and without the suffix of Ubuntu's."""
    found = set(names)
    for _ in range(2):
        form = "${Package},${Depends},${Provides}\n"
        said = subprocess.run(["dpkg-query", "-W", "-f", form, *found], capture_output=True, text=True).stdout
        found |= {re.split(r"[\s(:]", part.strip())[0] for part in re.split(r"[,|\n]", said) if part.strip()}
    return found | {f"{name}t64" for name in found}


def test_the_reader_sees_what_a_library_asks_for() -> None:
    import _ctypes

    assert any(name.startswith("libffi") for name in needed(Path(_ctypes.__file__)))
    assert needed(Path(__file__)) == []


@pytest.mark.parametrize("manager", ["apt-get", "dnf", "pacman"])
def test_all_that_is_missing_is_one_command(manager: str) -> None:
    lines = system_packages.missing(lambda library: library == "libEGL.so.1")
    command = system_packages.how_to_install(lines, manager)
    assert command.startswith(system_packages.INSTALL[manager] + " ")
    words = command.split()
    assert len(words) == len(set(words))
    assert not {"-", "base"} & set(words)
    if manager == "apt-get":
        assert {"libglib2.0-0", "libgl1", "libxcb-cursor0", "libpulse0", "libportaudio2"} <= set(words)
        assert "libegl1" not in words


def test_nothing_missing_is_no_command() -> None:
    assert system_packages.missing(lambda library: True) == []
    assert system_packages.how_to_install([]) == ""


def test_an_installed_grus_has_the_list(tmp_path: Path) -> None:
    """The folder of a wheel, as setuptools makes it."""
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path / "made")]
    clone = tmp_path / "clone"
    ignored = shutil.ignore_patterns(".*", "tests", "docs", "build", "*.egg-info", "*.so")
    shutil.copytree(ROOT, clone, symlinks=True, ignore=ignored)
    made = subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    copied = tmp_path / "made" / "resources" / "system.txt"
    assert not copied.is_symlink()
    assert copied.read_text(encoding="utf-8") == (ROOT / "packaging" / "system.txt").read_text(encoding="utf-8")
