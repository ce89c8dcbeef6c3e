"""The colours, in one place: light, dark and high contrast. Everything drawn takes its colours from a `Theme`.

Does not import Qt. `resources` holds no colour: icons are recoloured, and the style sheet is made from these.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

Appearance = Literal["system", "light", "dark", "contrast"]
APPEARANCES: tuple[Appearance, ...] = ("system", "light", "dark", "contrast")

GRID = 8  # pixels; every space is a multiple of its half
CORNER = 8
RAIL = 56


@dataclass(frozen=True)
class Theme:
    name: str
    dark: bool
    window: str
    side: str  # lists and panels beside the content
    line: str
    text: str
    second: str  # less important text
    accent: str  # the one main action, focus, selection, progress; nothing else
    on_accent: str
    hover: str
    pressed: str
    selected: str  # behind a selected row
    bubble: str  # behind the user's messages
    code: str  # behind code
    ok: str
    warning: str
    error: str
    code_word: str  # keywords
    code_text: str  # strings
    code_note: str  # comments
    code_name: str  # functions and classes
    code_number: str


LIGHT = Theme(
    name="light",
    dark=False,
    window="#FFFFFF",
    side="#F4F4F5",
    line="#E4E4E7",
    text="#18181B",
    second="#52525B",
    accent="#C23B22",
    on_accent="#FFFFFF",
    hover="#ECECEE",
    pressed="#E1E1E4",
    selected="#F9E4DF",
    bubble="#F4F4F5",
    code="#F7F7F8",
    ok="#1E6B3C",
    warning="#855300",
    error="#B3261E",
    code_word="#8B2C8F",
    code_text="#2A6A34",
    code_note="#666670",
    code_name="#1F5FA8",
    code_number="#9A4A00",
)
DARK = Theme(
    name="dark",
    dark=True,
    window="#18181B",
    side="#111113",
    line="#2E2E33",
    text="#F4F4F5",
    second="#A1A1AA",
    accent="#FF6B57",
    on_accent="#1B0D0A",
    hover="#26262A",
    pressed="#303036",
    selected="#3A211D",
    bubble="#27272A",
    code="#111113",
    ok="#6FCF97",
    warning="#F2B45A",
    error="#FF8A80",
    code_word="#D19AE8",
    code_text="#8FCF96",
    code_note="#9A9AA5",
    code_name="#7DB6F2",
    code_number="#F0A868",
)
CONTRAST = Theme(
    name="contrast",
    dark=True,
    window="#000000",
    side="#000000",
    line="#FFFFFF",
    text="#FFFFFF",
    second="#FFFFFF",
    accent="#FF8A75",
    on_accent="#000000",
    hover="#333333",
    pressed="#4D4D4D",
    selected="#5C1A0C",
    bubble="#1A1A1A",
    code="#0D0D0D",
    ok="#7CFFB2",
    warning="#FFD37A",
    error="#FFB3AB",
    code_word="#F0B8FF",
    code_text="#A8FFB0",
    code_note="#E0E0E0",
    code_name="#A8D4FF",
    code_number="#FFCB96",
)


def choose(appearance: str, system_is_dark: bool) -> Theme:
    """The theme for an `appearance` preference; `system` follows the system."""
    if appearance == "contrast":
        return CONTRAST
    dark = system_is_dark if appearance not in ("light", "dark") else appearance == "dark"
    return DARK if dark else LIGHT


def colours(theme: Theme) -> dict[str, str]:
    """Every token that is a colour."""
    return {f.name: getattr(theme, f.name) for f in fields(theme) if f.name not in ("name", "dark")}


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21, as WCAG counts it."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
