"""The system's packages: which of those that Grus needs are missing here, and how to install them.

The list is `resources/system.txt`, the one that set-up installs from. Only Linux lacks anything: on macOS and Windows the
wheels bring all that they load.
"""

from __future__ import annotations

import ctypes
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import resources

FILE = resources.path("system.txt")
INSTALL = {  # package manager -> how a person calls it, in the order of the list's columns
    "apt-get": "sudo apt-get install",
    "dnf": "sudo dnf install",
    "pacman": "sudo pacman -S",
}


@dataclass(frozen=True)
class Requirement:
    """One line of the list."""

    when: str  # venv, run, test, brought
    probe: str  # python, command:NAME, library:FILE, font:NAME
    packages: tuple[str, ...]  # one cell a package manager: apt, dnf, pacman, brew
    why: str

    @property
    def library(self) -> str:
        """The shared library that the line is about, or nothing."""
        kind, _, name = self.probe.partition(":")
        return name if kind == "library" else ""


def requirements() -> list[Requirement]:
    """All lines of the list."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            when, probe, apt, dnf, pacman, brew, *why = line.split(None, 6)
            found.append(Requirement(when, probe, (apt, dnf, pacman, brew), "".join(why)))
    return found


def loads(library: str) -> bool:
    """Whether the system's loader finds the library and everything that it needs itself."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing(present: Callable[[str], bool] = loads) -> list[Requirement]:
    """The lines whose shared library is missing here: what is to be installed by name, else what should have come with it."""
    if sys.platform != "linux":
        return []
    absent = [line for line in requirements() if line.library and line.when != "test" and not present(line.library)]
    return [line for line in absent if line.when == "run"] or absent


def how_to_install(lines: Iterable[Requirement], manager: str | None = None) -> str:
    """The one command that installs what these lines name. Nothing where there is nothing to install.

    Where no package manager is known, Debian's names are the best hint there is.
    """
    known = list(INSTALL)
    if manager is None:
        manager = next((name for name in known if shutil.which(name)), known[0])
    column = known.index(manager)
    cells = [line.packages[column] for line in lines]
    names = dict.fromkeys(name for cell in cells for name in cell.split(",") if name not in ("-", "base"))
    return f"{INSTALL[manager]} {' '.join(names)}" if names else ""
