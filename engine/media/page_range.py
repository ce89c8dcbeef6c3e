"""Which pages of a document are meant: `1-3,5` and `7-`, as people write them. Pages count from 1."""

from __future__ import annotations

import re

from engine.errors import BadRequest

_PART = re.compile(r"\s*(\d{0,9})\s*(-?)\s*(\d{0,9})\s*")


def page_numbers(text: str | None, count: int) -> list[int]:
    """In the order in which they were named, each once; pages beyond `count` are left out.

    Raises BadRequest for what is no range, and when no page is left."""
    if text is None:
        return list(range(1, count + 1))
    chosen: dict[int, None] = {}
    for part in text.split(","):
        first, last = _bounds(part, text, count)
        chosen.update(dict.fromkeys(range(first, min(last, count) + 1)))
    if not chosen:
        raise BadRequest(
            f"There {'is 1 page' if count == 1 else f'are {count} pages'}; {text} names none of them.", "pages"
        )
    return list(chosen)


def check_pages(text: str | None) -> None:
    """Raise BadRequest for what is no range, before any document is opened."""
    if text is not None:
        for part in text.split(","):
            _bounds(part, text, 1)


def _bounds(part: str, text: str, count: int) -> tuple[int, int]:
    found = _PART.fullmatch(part)
    if found and (found[1] or found[3]):
        first = int(found[1] or 1)
        last = int(found[3] or count) if found[2] else first
        if first >= 1 and not (found[3] and (last < first or not found[2])):
            return first, last
    raise BadRequest(f"Pages are named like 1-3,5 or 7-, not {text!r}.", "pages")
