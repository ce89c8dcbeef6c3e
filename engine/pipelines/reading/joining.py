"""Lines of a paragraph: words that a line's end has cut are joined again, and list items are told from prose."""

from __future__ import annotations

import re

_BULLET = re.compile(r"^\s*[•◦▪‣●○■□·∙–—*-]\s+(?=\S)")
_NUMBERED = re.compile(r"^\s*(\d{1,3}|[a-zA-Z])[.)]\s+\S")
_CUT = re.compile(r"(\w)[-‐\u00ad]$")


def rejoined(text: str) -> str:
    """One line. `exam-` + `ple` becomes `example`, but `well-` + `Known` and `1990-` + `2000` keep their hyphen."""
    out = ""
    for line in text.splitlines():
        line = line.strip()
        if not line:
            continue
        if out and (cut := _CUT.search(out)):
            hyphenated = cut[1].isalpha() and line[0].islower()
            out = (out[:-1] if hyphenated else out) + line
        else:
            out = f"{out} {line}" if out else line
    return out


def is_list(text: str) -> bool:
    """Whether a text begins with an item, and has a second one or starts with a bullet."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not is_item(lines[0]):
        return False
    return bool(_BULLET.match(lines[0])) or sum(map(is_item, lines)) > 1


def is_item(line: str) -> bool:
    return bool(_BULLET.match(line) or _NUMBERED.match(line))


def items(text: str) -> list[str]:
    """Items of a list, each with the lines that belong to it."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if is_item(line) or not found:
            found.append([line.strip()])
        elif line.strip():
            found[-1].append(line.strip())
    return ["\n".join(item) for item in found]


def without_bullet(item: str) -> str | None:
    """The text of an item that has a bullet; None for a numbered one."""
    found = _BULLET.match(item)
    return item[found.end() :] if found else None
