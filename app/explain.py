"""An error as one sentence for a person."""

from __future__ import annotations

from app.gui.texts import tr
from engine.errors import GrusError


def explained(error: BaseException) -> str:
    """What is no known kind is a fault of ours, and in the log."""
    if isinstance(error, GrusError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return tr("{file}: {reason}.", file=error.filename or tr("A file"), reason=error.strerror)
    return tr("Something went wrong inside Grus: {error}. The log has more.", error=f"{type(error).__name__}: {error}")
