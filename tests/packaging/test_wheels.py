"""Wheels: what is in them, their tags, and that a wheel with kernels serves as an install without a compiler."""

from __future__ import annotations

import os
import platform
import re
import struct
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from backends.torch.kernels import build
from tests.packaging.tools import ROOT, need_tool, script

wheels = script("wheels")
LINUX = next(target for target in wheels.TARGETS if target.name == "linux-x86_64")
KERNELS = wheels.KERNELS


def base(folder: Path) -> Path:
    """A wheel as setuptools makes it, with a few files."""
    wheel = folder / "grus-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("grus.py", "answer = 42\n")
        archive.writestr(f"{KERNELS}/__init__.py", "")
        archive.writestr(f"{KERNELS}/src/module.cpp", "int main() {}\n")
        archive.writestr("grus-1.2.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: grus\nVersion: 1.2.3\n")
        archive.writestr("grus-1.2.3.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("grus-1.2.3.dist-info/RECORD", "")
    return wheel


def library(folder: Path, target: Any = LINUX, digest: str | None = None) -> Path:
    """Bytes that look like the library."""
    file = folder / target.library
    names = b"".join(name.encode() + b"\0" for name in wheels.exported())
    file.write_bytes(target.magic + names + (build.digest() if digest is None else digest).encode())
    return file


def test_every_function_that_grus_calls_is_asked_for() -> None:
    from backends.torch.kernels.library import _SIGNATURES

    assert set(wheels.exported()) == set(_SIGNATURES)


@pytest.mark.parametrize("target", wheels.TARGETS, ids=lambda target: target.name)
def test_a_wheel_has_kernels_and_their_stamp_in_place_of_sources(target: Any, tmp_path: Path) -> None:
    made = wheels.assemble(base(tmp_path), tmp_path / "out", target, library(tmp_path, target))
    assert made.name == f"grus-1.2.3-py3-none-{target.tag}.whl"
    with zipfile.ZipFile(made) as archive:
        names = set(archive.namelist())
        assert archive.read(f"{KERNELS}/digest.txt").decode().strip() == build.digest()
        about = archive.read("grus-1.2.3.dist-info/WHEEL").decode()
    assert f"{KERNELS}/{target.library}" in names
    assert [name for name in names if "/src/" in name] == []
    assert about.endswith(f"Root-Is-Purelib: false\nTag: py3-none-{target.tag}\n")


def test_the_pure_wheel_has_neither(tmp_path: Path) -> None:
    made = wheels.assemble(base(tmp_path), tmp_path / "out", None, None)
    with zipfile.ZipFile(made) as archive:
        assert [name for name in archive.namelist() if "digest" in name or "/src/" in name or ".so" in name] == []


def test_the_same_files_make_the_same_wheel(tmp_path: Path) -> None:
    first, second = (
        wheels.assemble(base(tmp_path), tmp_path / name, LINUX, library(tmp_path)).read_bytes() for name in ("a", "b")
    )
    assert first == second


def test_the_record_holds(tmp_path: Path) -> None:
    """pip checks it, so pip installs the wheel."""
    made = wheels.assemble(base(tmp_path), tmp_path / "out", None, None)
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(tmp_path / "site"),
        str(made),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "grus.py").read_text() == "answer = 42\n"


def test_a_library_that_is_wrong_is_refused(tmp_path: Path) -> None:
    windows = next(target for target in wheels.TARGETS if target.name == "windows-x64")
    with pytest.raises(SystemExit, match="no library of that system"):
        wheels.checked(library(tmp_path), windows)
    with pytest.raises(SystemExit, match="digest of its sources"):
        wheels.checked(library(tmp_path, digest="0" * 16), LINUX)
    broken = library(tmp_path)
    broken.write_bytes(broken.read_bytes().replace(b"grus_matmul\0", b"grus_nothing\0"))
    with pytest.raises(SystemExit, match="lacks grus_matmul"):
        wheels.checked(broken, LINUX)


def test_a_library_with_paths_of_this_machine_is_refused(tmp_path: Path) -> None:
    made = library(tmp_path)
    made.write_bytes(made.read_bytes() + f"{ROOT}/backends/a.cpp".encode())
    with pytest.raises(SystemExit, match="paths of the machine"):
        wheels.checked(made, LINUX)


MAC = next(target for target in wheels.TARGETS if target.name == "macos-arm64")


def mac_library(folder: Path, name: str = f"@rpath/{MAC.library}", needs: str = "/usr/lib/libSystem.B.dylib", oldest: int = 14, signed: bool = True) -> Path:  # fmt: skip
    """A Mach-O file of load commands alone."""

    def dylib(kind: int, text: str) -> bytes:
        padded = text.encode().ljust(-(-(len(text) + 1) // 8) * 8, b"\0")
        return struct.pack("<6I", kind, 24 + len(padded), 24, 2, 0, 0) + padded

    commands = [dylib(0xD, name), dylib(0xC, needs), struct.pack("<6I", 0x32, 24, 1, oldest << 16, 0, 0)]
    commands += [struct.pack("<4I", 0x1D, 16, 0, 0)] if signed else []
    file = folder / MAC.library
    file.write_bytes(MAC.magic + struct.pack("<7I", 0, 0, 6, len(commands), 0, 0, 0) + b"".join(commands))
    return file


def test_the_load_commands_of_a_mac_library_are_read(tmp_path: Path) -> None:
    said = wheels.examined(mac_library(tmp_path), MAC)
    assert "macOS 14.0, @rpath/_grus_kernels.dylib, needs /usr/lib/libSystem.B.dylib, signed" in said


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "/home/me/a.dylib"}, "install name"),
        ({"needs": "@rpath/libomp.dylib"}, "needs @rpath/libomp.dylib"),
        ({"oldest": 15}, "built for macOS 15_0"),
        ({"signed": False}, "not signed"),
    ],
)
def test_a_mac_library_that_no_mac_would_load_is_refused(wrong: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=why):
        wheels.examined(mac_library(tmp_path, **wrong), MAC)


AUDIT = """grus-1.2.3-py3-none-manylinux_2_34_x86_64.whl is consistent with the
following platform tag: "{tag}"."""


def test_auditwheel_finds_the_processor_and_no_newer_system_than_the_tag() -> None:
    for tag in ("manylinux_2_17_x86_64", LINUX.tag):
        wheels.audited(AUDIT.format(tag=tag), LINUX)
    for tag, why in (
        ("manylinux_2_99_x86_64", "needs glibc 2.99"),
        ("linux_x86_64", "finds no library"),
        ("manylinux_2_17_aarch64", "finds no library"),
    ):
        with pytest.raises(SystemExit, match=why):
            wheels.audited(AUDIT.format(tag=tag), LINUX)


@pytest.mark.skipif(
    not (sys.platform == "linux" and platform.machine() == "x86_64"), reason="asks the wheels of Linux x86-64"
)
def test_the_tag_says_the_oldest_system_of_what_grus_depends_on() -> None:
    def oldest(text: str) -> tuple[int, int]:
        found = re.findall(r"manylinux_(\d+)_(\d+)_x86_64", text)
        return min((int(major), int(minor)) for major, minor in found)

    names = ("torch", "pyside6-essentials", "numpy", "tokenizers", "llguidance")
    needed = {name: oldest(str(metadata.distribution(name).read_text("WHEEL"))) for name in names}
    assert oldest(LINUX.tag) == max(needed.values())


def test_a_compiler_that_fails_ends_everything(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="wheels: zig"):
        wheels.zig("c++", str(tmp_path / "nowhere.cpp"))


@pytest.mark.slow
def test_the_pure_wheel_says_that_its_kernels_are_missing(tmp_path: Path) -> None:
    need_tool("pyproject-build")
    python = str(Path(need_tool("pyproject-build")).with_name("python"))
    out = tmp_path / "dist"
    made = subprocess.run(
        [python, str(ROOT / "packaging" / "wheels.py"), "--only", "pure", "--out", str(out), "--version", "1.2.3"],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(next(out.glob("*.whl"))) as archive:
        assert [name for name in archive.namelist() if name.endswith(".ts")] == []
        archive.extractall(tmp_path / "site")
    env = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "site"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GRUS_KERNELS": "",
    }
    code = "from backends.torch.kernels import library; print(library.why_not()); from app.cli import main; main(['--version'])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
    )
    assert "came without built kernels" in done.stdout, done.stderr
    assert "grus 1.2.3" in done.stdout
