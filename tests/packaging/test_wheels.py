"""Wheels: what is in them, their tags, and that a wheel with kernels serves as an install without a compiler."""

from __future__ import annotations

import hashlib
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

wheels, kernels, compare = script("wheels"), script("zig_kernels"), script("compare_kernels")
LINUX, ARM, MAC, WINDOWS = kernels.TARGETS
KERNELS = kernels.KERNELS


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
    names = b"".join(name.encode() + b"\0" for name in kernels.exported())
    file.write_bytes(target.magic + names + (build.digest() if digest is None else digest).encode())
    return file


def test_every_function_that_grus_calls_is_asked_for() -> None:
    from backends.torch.kernels.library import _SIGNATURES

    assert set(kernels.exported()) == set(_SIGNATURES)


@pytest.mark.parametrize("target", kernels.TARGETS, ids=lambda target: target.name)
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
    with pytest.raises(SystemExit, match="no library of that system"):
        kernels.checked(library(tmp_path), WINDOWS)
    with pytest.raises(SystemExit, match="digest of its sources"):
        kernels.checked(library(tmp_path, digest="0" * 16), LINUX)
    broken = library(tmp_path)
    broken.write_bytes(broken.read_bytes().replace(b"grus_matmul\0", b"grus_nothing\0"))
    with pytest.raises(SystemExit, match="lacks grus_matmul"):
        kernels.checked(broken, LINUX)


def test_a_library_with_paths_of_this_machine_is_refused(tmp_path: Path) -> None:
    made = library(tmp_path)
    made.write_bytes(made.read_bytes() + f"{ROOT}/backends/a.cpp".encode())
    with pytest.raises(SystemExit, match="paths of the machine"):
        kernels.checked(made, LINUX)


def edges(names: list[str]) -> bytes:
    """The tree of exports in which each name is one edge from the root."""
    root = bytes([0, len(names)])
    place = len(root) + sum(len(name) + 3 for name in names)  # a name ends in a zero; two bytes say where its node is
    nodes = b""
    for name in names:
        root += name.encode() + b"\0" + bytes([place & 127 | 128, place >> 7])
        nodes += bytes([2, 0, 0, 0])  # what it is, where it is, no child
        place += 4
    return root + nodes


def signature(covered: bytes) -> bytes:
    """As a linker signs ad hoc: the hash of each page of 4096 bytes."""
    pages = [covered[at : at + 4096] for at in range(0, len(covered), 4096)]
    hashes = b"".join(hashlib.sha256(page).digest() for page in pages)
    begins = 44
    words = (0xFADE0C02, begins + len(hashes), 0x20400, 2, begins, 0, 0, len(pages), len(covered))
    directory = struct.pack(">9I4BI", *words, 32, 2, 0, 12, 0) + hashes
    return struct.pack(">5I", 0xFADE0CC0, 20 + len(directory), 1, 0, 20) + directory


def mac_library(
    folder: Path, name: str = f"@rpath/{MAC.library}", needs: str = "/usr/lib/libSystem.B.dylib", oldest: int = 14,
    signed: bool = True, processor: int = 0x0100000C, lacks: int = 0, trie: bool = True,
) -> Path:  # fmt: skip
    """A Mach-O file without code. `lacks`: so many of the functions."""

    def dylib(kind: int, text: str) -> bytes:
        padded = text.encode().ljust(-(-(len(text) + 1) // 8) * 8, b"\0")
        return struct.pack("<6I", kind, 24 + len(padded), 24, 2, 0, 0) + padded

    tree = edges([f"_{name}" for name in kernels.exported()[lacks:]])
    fixed = [dylib(0xD, name), dylib(0xC, needs), struct.pack("<6I", 0x32, 24, 1, oldest << 16, 0, 0)]
    behind = (16 if trie else 48) + (16 if signed else 0)
    end = 32 + sum(map(len, fixed)) + behind
    if trie:
        fixed.append(struct.pack("<4I", 0x80000033, 16, end, len(tree)))
    else:  # as linkers write it for older systems
        fixed.append(struct.pack("<12I", 0x80000022, 48, *[0] * 8, end, len(tree)))
    if signed:
        fixed.append(struct.pack("<4I", 0x1D, 16, end + len(tree), 0))
    header = MAC.magic + struct.pack("<7I", processor, 0, 6, len(fixed), 0, 0, 0)
    covered = header + b"".join(fixed) + tree
    file = folder / MAC.library
    file.write_bytes(covered + (signature(covered) if signed else b""))
    return file


@pytest.mark.parametrize("trie", [True, False])
def test_what_a_mac_library_promises_is_read(tmp_path: Path, trie: bool) -> None:
    report = kernels.examined(mac_library(tmp_path, trie=trie), MAC)
    assert "arm64, macOS 14.0, @rpath/_grus_kernels.dylib, needs /usr/lib/libSystem.B.dylib" in report
    assert f"exports all {len(kernels.exported())} functions, signed ad hoc" in report


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "/home/me/a.dylib"}, "install name"),
        ({"needs": "@rpath/libomp.dylib"}, "needs @rpath/libomp.dylib"),
        ({"oldest": 15}, r"built for macOS 15\.0"),
        ({"signed": False}, "not signed"),
        ({"processor": 0x01000007}, "another processor"),
        ({"lacks": 1}, "does not export grus_digest"),
    ],
)
def test_a_mac_library_that_no_mac_would_load_is_refused(wrong: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=why):
        kernels.examined(mac_library(tmp_path, **wrong), MAC)


def test_a_mac_library_that_was_changed_after_it_was_signed_is_refused(tmp_path: Path) -> None:
    file = mac_library(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"_grus_argmax\0", b"_grus_ARGMAX\0"))
    with pytest.raises(SystemExit, match="does not export grus_argmax"):
        kernels.examined(file, MAC)
    file = mac_library(tmp_path)
    data = bytearray(file.read_bytes())
    data[24] ^= 1  # a flag of the header
    file.write_bytes(bytes(data))
    with pytest.raises(SystemExit, match="page 0 is not as it was signed"):
        kernels.examined(file, MAC)


COMPARED = "compared neon: 12 comparisons\ncompared i8mm: 11 comparisons\n0 failures\n"


def test_a_comparison_counts_only_where_every_tier_of_the_processor_was_compared() -> None:
    newest, older, oldest = ARM.processors
    assert compare.judged(ARM, newest, COMPARED, 0) == {"neon": 12, "i8mm": 11}
    assert compare.judged(ARM, oldest, "0 failures\n", 1) == {}
    for processor, output, code, why in (
        (older, COMPARED, 0, "Neoverse N1 has neon"),  # one that it lacks
        (newest, "compared neon: 12 comparisons\n0 failures\n", 0, "has neon, i8mm"),
        (newest, COMPARED.replace("0 failures", "10 failures"), 0, "fail on newest ARM"),
        (newest, COMPARED, 139, "fail on newest ARM"),
        (newest, "", 0, "fail on newest ARM"),
    ):
        with pytest.raises(SystemExit, match=why):
            compare.judged(ARM, processor, output, code)


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
        kernels.zig("c++", str(tmp_path / "nowhere.cpp"))


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
