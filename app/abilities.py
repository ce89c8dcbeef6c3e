"""What the models on this machine can do besides chat: read pages, find their regions, listen, speak.

Tells it from a model's config alone. Also makes the engine's readers, listeners and speakers over the one service, so
that everything shares what is loaded. All of it runs beside the UI thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import mark, tr
from engine.errors import BadRequest, GrusError

if TYPE_CHECKING:
    from app.runtime.models import ModelService
    from app.runtime.pipelines import Host
    from engine.pipelines.listening.transcription import Transcriber
    from engine.pipelines.reading.layout import LayoutDetector
    from engine.pipelines.reading.recognizer import Recognizer
    from engine.pipelines.speaking.speech_models import SpeechModel

Capability = Literal["read", "layout", "listen", "speak"]

# English; shown through `tr`. What to get where there is none.
ADVICE: dict[Capability, str] = {
    "read": mark("No model here reads pictures. Add one in Models, for example PaddlePaddle/PaddleOCR-VL."),
    "listen": mark("No model here listens. Add one in Models, for example UsefulSensors/moonshine-base."),
    "speak": mark("No model here speaks. Add one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice."),
}
# what to begin with, in Models
FIRST: dict[Capability, str] = {
    "read": "PaddlePaddle/PaddleOCR-VL",
    "listen": "UsefulSensors/moonshine-base",
    "speak": "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice",
}
_LAYOUTS = frozenset({"pp_doclayout_v2", "pp_doclayout_v3"})


def can(source: str, ability: Capability, cache_dir: str | None = None) -> bool:
    """By what a checkpoint's config.json says."""
    from app.kinds import kind_of
    from engine.vision.registry import VISION_PROCESSORS

    if ability in ("listen", "speak"):
        return kind_of(source, cache_dir) == ability
    config = config_of(source, cache_dir)
    kind = str(config.get("model_type"))
    if ability == "layout":
        return kind in _LAYOUTS
    return kind in VISION_PROCESSORS and isinstance(config.get("vision_config"), Mapping)


def config_of(source: str, cache_dir: str | None = None) -> Mapping[str, Any]:
    """The config.json of a folder or of a repository in the cache; empty where there is none to read."""
    from app.runtime.capabilities import config_in
    from engine.hub.resolve import resolve

    try:
        return config_in(resolve(source, cache_dir, download=False))
    except (GrusError, OSError):
        return {}


def names(service: ModelService, ability: Capability) -> list[str]:
    """Models that can do this. Reads the disk."""
    catalogue = service.catalogue
    return [known.name for known in catalogue.all() if can(known.source, ability, catalogue.cache_dir)]


def needed(core: Host, ability: Capability, wanted: str) -> str:
    """The model that was chosen, else the first that can. Raises BadRequest where there is none."""
    found = names(core.service, ability)
    if wanted in found:
        return wanted
    if not found:
        raise BadRequest(tr(ADVICE[ability]), "model")
    return found[0]


def recognizer(core: Host, wanted: str) -> Recognizer:
    """What reads regions."""
    from engine.pipelines.reading.recognizer import VisionRecognizer

    return VisionRecognizer(core.engine, core.bring(needed(core, "read", wanted)))


def layout(core: Host) -> LayoutDetector | None:
    """What finds regions, where a model for that is here; None: the splitter that needs none."""
    from engine.pipelines.reading.layout import LayoutModel

    found = names(core.service, "layout")
    return LayoutModel(core.engine, found[0]) if found else None


def listener(core: Host, wanted: str) -> Transcriber:
    """What writes down what is said."""
    from engine.pipelines.listening.transcription import Transcriber, asr_model

    name = needed(core, "listen", wanted)
    return Transcriber(core.engine, asr_model(name, core.bring(name)))


def speaker(core: Host, wanted: str) -> SpeechModel:
    """What speaks. It goes by its name, as for the server, so that it is loaded once for both."""
    from engine.pipelines.speaking.speech_models import speaker as made

    return made(core.engine, needed(core, "speak", wanted))
