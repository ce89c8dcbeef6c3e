"""A sound file as words, by a model that listens and is on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.gui.texts import tr
from app.kinds import names_of
from engine.errors import ModelNotFound

if TYPE_CHECKING:
    from app.runtime.models import ModelService


def hear(service: ModelService, file: Path) -> str:
    """Blocks until it is written down. Raises ModelNotFound in plain words when no model listens here."""
    names = names_of(service.catalogue, "listen")
    if not names:
        raise ModelNotFound(
            tr("No model on this machine listens. Add one, UsefulSensors/moonshine-base for example, and try again.")
        )
    from app.runtime.models import Direct
    from engine.media.sound import read_sound
    from engine.pipelines.listening.transcription import SAMPLE_RATE, Transcriber, asr_model

    loaded = service.load_now(names[0])
    return Transcriber(Direct(service), asr_model(names[0], loaded)).listen(read_sound(file, SAMPLE_RATE)).text
