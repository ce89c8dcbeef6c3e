"""An error as one sentence for a person."""

from __future__ import annotations

from app.gui.texts import mark, tr
from engine.errors import GrusError

# Where a sentence ends so, the window leads to the log (app/gui/widgets.py, app/gui/bars.py). Say it of nothing that
# is not logged.
HAS_MORE = mark("The log has more.")


def explained(error: BaseException) -> str:
    """What is no known kind is a fault of ours, and in the log."""
    if isinstance(error, GrusError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return tr("{file}: {reason}.", file=error.filename or tr("A file"), reason=error.strerror)
    told = tr("Something went wrong inside Grus: {error}.", error=f"{type(error).__name__}: {error}")
    return f"{told} {tr(HAS_MORE)}"


def leads_to_log(sentence: str) -> bool:
    return tr(HAS_MORE) in sentence
