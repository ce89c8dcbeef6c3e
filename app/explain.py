"""An error as one sentence for a person."""

from __future__ import annotations

from app.gui.texts import mark, tr
from engine.errors import GrusError, MissingCapability

# Where a sentence ends so, the window leads to the log (app/gui/widgets.py, app/gui/bars.py). Say it of nothing that
# is not logged.
HAS_MORE = mark("The log has more.")

# what to get where no model here can do it; English, shown through `tr`
ADVICE: dict[str, str] = {
    "read": mark(
        "No model that reads images is installed. Download one in Models, for example PaddlePaddle/PaddleOCR-VL."
    ),
    "listen": mark(
        "No speech recognition model is installed. Download one in Models, for example UsefulSensors/moonshine-base."
    ),
    "speak": mark(
        "No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice."
    ),
}


def explained(error: BaseException) -> str:
    """An error that is neither a GrusError nor an OSError is a bug; its stack is in the log."""
    if isinstance(error, MissingCapability) and error.nowhere and error.capability in ADVICE:
        return tr(ADVICE[error.capability])
    if isinstance(error, GrusError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return tr("{file}: {reason}.", file=error.filename or tr("A file"), reason=error.strerror)
    sentence = tr("Something went wrong inside Grus: {error}.", error=f"{type(error).__name__}: {error}")
    return f"{sentence} {tr(HAS_MORE)}"


def leads_to_log(sentence: str) -> bool:
    return tr(HAS_MORE) in sentence
