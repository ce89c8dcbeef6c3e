"""Checks what people install, with the programs that stores and distributions check it with: it must be clean for each.

    python packaging/check_packages.py dist            every .deb, .rpm and AppImage in it, and the manifest of the Flatpak

lintian and dpkg-deb read the .deb, rpm and rpmlint the .rpm, unsquashfs the AppImage; desktop-file-validate and appstreamcli read the
files for desktops that are inside, as they are installed. A program that is not installed here is named, and is a failure: what
nothing has read is not clean. What is known and meant to be is in packaging/bundle/lintian-overrides and rpmlint.toml, with its reason.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import bundle

from app.bundled import DESKTOP_ID

DESKTOP = f"usr/share/applications/{DESKTOP_ID}.desktop"
METAINFO = f"usr/share/metainfo/{DESKTOP_ID}.metainfo.xml"
INSTALLED = (
    "usr/bin/grus",
    "usr/lib/grus/grus",
    DESKTOP,
    METAINFO,
    f"usr/share/icons/hicolor/scalable/apps/{DESKTOP_ID}.svg",
    "usr/share/man/man1/grus.1.gz",
)
_SHOWN = 20  # lines of a complaint


class Checks:
    """The lines of the table, and whether all are good."""

    def __init__(self) -> None:
        self.good = True

    def note(self, what: str, complaint: str) -> bool:
        print(f"{what}: {'FAILED' if complaint else 'ok'}", flush=True)
        if complaint:
            self.good = False
            print("    " + "\n    ".join(complaint.strip().splitlines()[-_SHOWN:]), flush=True)
        return not complaint

    def program(self, what: str, *command: str | Path, silent: bool = False) -> str:
        """Run it; what it printed. It must succeed, and print nothing where `silent`."""
        words = [str(word) for word in command]
        if shutil.which(words[0]) is None:
            self.note(what, f"{words[0]} is not installed here")
            return ""
        done = subprocess.run(words, capture_output=True, text=True)
        said = (done.stdout + done.stderr).strip()
        failed = done.returncode != 0 or (silent and said)
        self.note(what, (said or f"it ended with {done.returncode}") if failed else "")
        return done.stdout


def missing_files(listed: str, inside: str = "") -> str:
    """Which of the files that every package has is not among the lines of a list, each with a path at its end."""
    paths = {line.split(" -> ")[0].split()[-1].lstrip("./") for line in listed.splitlines() if line.strip()}
    return "".join(f"{name} is not in it\n" for name in INSTALLED if f"{inside}{name}" not in paths)


def desktop_files(checks: Checks, name: str, root: Path) -> None:
    """The files for desktops below `root`, as they are installed."""
    checks.program(f"{name}: desktop-file-validate", "desktop-file-validate", root / DESKTOP, silent=True)
    checks.program(f"{name}: appstreamcli", "appstreamcli", "validate", "--no-net", "--pedantic", root / METAINFO)


def check_deb(checks: Checks, package: Path) -> None:
    listed = checks.program(f"{package.name}: dpkg-deb", "dpkg-deb", "--contents", package)
    checks.note(f"{package.name}: its files", missing_files(listed))
    checks.program(
        f"{package.name}: lintian", "lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", package
    )
    with tempfile.TemporaryDirectory() as folder:
        checks.program(f"{package.name}: unpacked", "dpkg-deb", "--extract", package, folder)
        desktop_files(checks, package.name, Path(folder))


def check_rpm(checks: Checks, package: Path) -> None:
    listed = checks.program(f"{package.name}: rpm", "rpm", "-qpl", "--nosignature", package)
    checks.note(f"{package.name}: its files", missing_files(listed))
    required = checks.program(f"{package.name}: requires", "rpm", "-qp", "--requires", "--nosignature", package)
    lacking = [name for name in bundle.rpm_packages()[1:] if name not in required.splitlines()]
    checks.note(f"{package.name}: the libraries of the window", ", ".join(lacking))
    checks.program(f"{package.name}: digests", "rpm", "-K", "--nosignature", package)
    checks.program(f"{package.name}: rpmlint", "rpmlint", "--strict", "--config", bundle.HERE / "rpmlint.toml", package)


def check_appimage(checks: Checks, image: Path) -> None:
    try:
        bundle.checked_runtime(image)
        complaint = ""
    except bundle.BundleError as error:
        complaint = str(error)
    checks.note(f"{image.name}: type 2", complaint)
    offset = squashfs_offset(image)
    listed = checks.program(f"{image.name}: unsquashfs", "unsquashfs", "-o", str(offset), "-ll", image)
    checks.note(f"{image.name}: its files", missing_files(listed, "squashfs-root/"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        names = [DESKTOP, METAINFO, "AppRun", f"{DESKTOP_ID}.desktop", ".DirIcon", f"{DESKTOP_ID}.svg"]
        unpack = ["unsquashfs", "-q", "-n", "-o", str(offset), "-d", root, image, *names]
        checks.program(f"{image.name}: unpacked", *unpack)
        lacking = [name for name in names if not (root / name).is_symlink() and not (root / name).exists()]
        checks.note(f"{image.name}: what starts it", ", ".join(lacking))
        desktop_files(checks, image.name, root)


def squashfs_offset(image: Path) -> int:
    """Where the files of an AppImage begin: behind the ELF file that it starts with, whose header says where its sections end."""
    with image.open("rb") as file:
        head = file.read(64)
    sections = int.from_bytes(head[40:48], "little")
    size, count = (int.from_bytes(head[at : at + 2], "little") for at in (58, 60))
    return sections + size * count


def check_flatpak(checks: Checks) -> None:
    manifest = bundle.HERE / "flatpak.yml"
    shown = checks.program("flatpak.yml", "flatpak-builder", "--show-manifest", manifest)
    unread = re.findall(r"(?i)unknown property.*", shown)
    checks.note("flatpak.yml: its fields", "\n".join(unread))


KINDS: dict[str, Callable[[Checks, Path], None]] = {
    ".deb": check_deb,
    ".rpm": check_rpm,
    ".AppImage": check_appimage,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Checks packages with the programs of stores and distributions.")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    checks = Checks()
    for ending, check in KINDS.items():
        found = sorted(given.folder.glob(f"*{ending}"))
        checks.note(f"there is a {ending}", "" if found else f"{given.folder} holds none")
        for package in found:
            check(checks, package)
    check_flatpak(checks)
    return 0 if checks.good else 1


if __name__ == "__main__":
    sys.exit(main())
