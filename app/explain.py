"""An error as one sentence for a person."""

from __future__ import annotations

from app.gui.texts import in_language, mark, tr
from engine.errors import (
    CheckpointError,
    ConfigError,
    ContextOverflow,
    ErrorText,
    GrusError,
    MissingCapability,
    ModelNotFound,
    SpeechRanAway,
    TemplateError,
    TokenizerError,
    UnsupportedArchitecture,
    WeightsError,
)

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
    "diarize": mark(
        "No model that tells speakers apart is installed. Download one in Models, for example"
        " mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32."
    ),
    "speak": mark(
        "No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice."
    ),
}

# What is wrong with a model's files, before the engine's own words, which are English and for those who made the files.
FILES: dict[type[CheckpointError], str] = {
    UnsupportedArchitecture: mark("Grus does not support the architecture of this model."),
    WeightsError: mark("The weights of this model are damaged or incomplete."),
    TokenizerError: mark("The tokenizer of this model cannot be used."),
    TemplateError: mark("The chat template of this model cannot be used."),
    ConfigError: mark("The configuration of this model cannot be used."),
    ModelNotFound: mark("This model was not found."),
}


def explained(error: BaseException) -> str:
    """An error that is neither a GrusError nor an OSError is a bug; its stack is in the log."""
    if isinstance(error, MissingCapability) and error.nowhere and error.capability in ADVICE:
        return tr(ADVICE[error.capability])
    if isinstance(error, ContextOverflow):
        exact = mark("This is too long for the model: {tokens} tokens, of which it can process {limit} at once.")
        more = mark("This is too long for the model: over {tokens} tokens, of which it can process {limit} at once.")
        return tr(exact if error.exact else more, tokens=error.tokens, limit=error.limit)
    if isinstance(error, SpeechRanAway):
        return tr("The voice did not come to an end. Try again, or with a shorter text.")
    if isinstance(error, GrusError):
        about = next((tr(FILES[kind]) for kind in FILES if type(error) is kind), "")
        if about and not isinstance(error.text, ErrorText):
            return tr("{about} Details: {error}", about=about, error=error)
        return in_language(error.text)
    if isinstance(error, OSError) and error.strerror:
        return tr("{file}: {reason}.", file=error.filename or tr("A file"), reason=error.strerror)
    sentence = tr("Something went wrong inside Grus: {error}.", error=f"{type(error).__name__}: {error}")
    return f"{sentence} {tr(HAS_MORE)}"


def leads_to_log(sentence: str) -> bool:
    return tr(HAS_MORE) in sentence
