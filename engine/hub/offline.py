"""Whether this process may use the network at all: the environment, a command's --offline and the window's switch forbid it.

One place for the whole process, so that every download, search and fetched picture is bound by it. Models that are on
this machine are not concerned.
"""

from __future__ import annotations

import os

from engine.errors import ErrorText

_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")  # as huggingface_hub and transformers know them
_forbidden: list[str] = []


def forbid(reason: str) -> None:
    """Stay off the network from now on. `reason` completes "... is not on this machine and"."""
    _forbidden[:] = [reason]


def permit() -> None:
    """Undo `forbid`. What the environment says stays."""
    _forbidden.clear()


def forbidden() -> str | None:
    """Why nothing at all may be fetched, as a part of a sentence; None where it may."""
    return _forbidden[0] if _forbidden else None


def reason() -> str | None:
    """The same for the hub, which the environment may forbid alone."""
    for name in _VARIABLES:
        if not _forbidden and os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"}:
            return ErrorText("{name} is set", name=name)
    return forbidden()
