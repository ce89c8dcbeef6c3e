"""A combination of keys that an app may take from all others: parsing it, and what each system calls its keys."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

MODIFIERS = ("Ctrl", "Alt", "Shift", "Meta")
LETTERS, DIGITS = tuple(string.ascii_uppercase), tuple(string.digits)
FUNCTIONS = tuple(f"F{number}" for number in range(1, 13))
NAMES = frozenset((*LETTERS, *DIGITS, *FUNCTIONS, "Space"))

# what each system calls them
PORTAL_NAMES = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Meta": "LOGO"}
X11_MASKS = {"Shift": 1, "Ctrl": 4, "Alt": 8, "Meta": 64}
WINDOWS_MASKS = {"Alt": 1, "Ctrl": 2, "Shift": 4, "Meta": 8}
MAC_MASKS = {"Ctrl": 0x100, "Shift": 0x200, "Alt": 0x800, "Meta": 0x1000}  # Qt's Ctrl is Command there
_MAC_LETTERS = dict(zip("ASDFHGZXCV", range(10))) | dict(zip("BQWERYT", range(11, 18))) | {
    "O": 31, "U": 32, "I": 34, "P": 35, "L": 37, "J": 38, "K": 40, "N": 45, "M": 46,
}  # fmt: skip
_MAC_DIGITS = dict(zip("123465", range(18, 24))) | {"9": 25, "7": 26, "8": 28, "0": 29}
_MAC_FUNCTIONS = dict(zip(FUNCTIONS, (122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111)))
MAC_CODES = {**_MAC_LETTERS, **_MAC_DIGITS, **_MAC_FUNCTIONS, "Space": 49}


@dataclass(frozen=True)
class Combination:
    modifiers: frozenset[str]
    key: str

    def mask(self, masks: dict[str, int]) -> int:
        return sum(masks[modifier] for modifier in self.modifiers)

    @property
    def keysym(self) -> int:
        """X11's number for the key."""
        if self.key in FUNCTIONS:
            return 0xFFBE + FUNCTIONS.index(self.key)
        return 0x20 if self.key == "Space" else ord(self.key.lower())

    @property
    def virtual(self) -> int:
        """Windows' number for it."""
        if self.key in FUNCTIONS:
            return 0x70 + FUNCTIONS.index(self.key)
        return 0x20 if self.key == "Space" else ord(self.key)

    @property
    def trigger(self) -> str:
        """As the portal of Wayland's desktops writes it, by the XDG specification of shortcuts."""
        modifiers = [PORTAL_NAMES[modifier] for modifier in MODIFIERS if modifier in self.modifiers]
        return "+".join([*modifiers, self.key if self.key in FUNCTIONS else self.key.lower()])


def _nothing(*given: object) -> None:
    """Where nobody waits for an event of the key."""


@dataclass(frozen=True)
class KeyUse:
    """What a key is for. `released`: the key itself was let go. `lost`: it works no longer, for the reason given."""

    name: str  # by which a desktop of Wayland keeps the key
    description: str  # what that desktop shows
    pressed: Callable[[], Any]
    released: Callable[[], Any] = _nothing
    lost: Callable[[str], Any] = _nothing


def combination(written: str) -> Combination | None:
    """None for what no program should take from all others: a key alone, or one that has no name everywhere."""
    *modifiers, key = written.split("+") if written else [""]
    key = key if key in FUNCTIONS or key == "Space" else key.upper()
    if key not in NAMES or not set(modifiers) <= set(MODIFIERS) or not _enough(modifiers, key):
        return None
    return Combination(frozenset(modifiers), key)


def _enough(modifiers: Iterable[str], key: str) -> bool:
    """With Shift alone a letter is only a letter."""
    return key in FUNCTIONS or bool(set(modifiers) - {"Shift"})
