"""What the models on this machine can do besides chat: read pages, find their regions, listen, speak.

Tells it from a model's config alone. Also makes the engine's readers, listeners and speakers over the one service, so
that everything shares what is loaded. All of it runs beside the UI thread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import mark, tr
from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.core import Core
    from app.server.service import Service
    from engine.pipelines.listening.listener import Listener
    from engine.pipelines.reading.layout import Layout
    from engine.pipelines.reading.recognizer import Recognizer

Ability = Literal["read", "layout", "listen", "speak"]
READER = "Grus Reader"  # the small one that comes with Grus

# English; shown through `tr`. What to get where there is none.
ADVICE: dict[Ability, str] = {
    "read": mark("No model here reads pictures. Add one in Models, for example PaddlePaddle/PaddleOCR-VL."),
    "listen": mark("No model here listens. Add one in Models, for example UsefulSensors/moonshine-base."),
    "speak": mark("No model here speaks. Add one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice."),
}
_TYPES: dict[Ability, frozenset[str]] = {
    "layout": frozenset({"pp_doclayout_v2", "pp_doclayout_v3"}),
    "listen": frozenset({"moonshine"}),
    "speak": frozenset({"qwen3_tts"}),
}


def can(config: Mapping[str, Any], ability: Ability) -> bool:
    """By what a checkpoint's config.json says."""
    from engine.vision.registry import SIGHTS

    kind = str(config.get("model_type"))
    if ability == "read":
        return kind in SIGHTS and isinstance(config.get("vision_config"), Mapping)
    return kind in _TYPES[ability]


def config_of(source: str, cache_dir: str | None = None) -> Mapping[str, Any]:
    """The config.json of a folder or of a repository in the cache; empty where there is none to read."""
    from engine.hub.cache import REPO_ID, find

    folder = Path(source).expanduser()
    if not folder.exists() and REPO_ID.fullmatch(source) and (snapshot := find(source, None, cache_dir)) is not None:
        folder = snapshot.path
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def names(service: Service, ability: Ability) -> list[str]:
    """Models that can do this. Reads the disk."""
    catalogue = service.catalogue
    found = [known.name for known in catalogue.all() if can(config_of(known.source, catalogue.cache_dir), ability)]
    if ability == "read" and _built_in() is not None and READER not in found:
        found.append(READER)
    return found


def needed(core: Core, ability: Ability, wanted: str) -> str:
    """The model that was chosen, else the first that can. Raises BadRequest where there is none."""
    found = names(core.service, ability)
    if wanted in found:
        return wanted
    if not found:
        raise BadRequest(tr(ADVICE[ability]), "model")
    return found[0]


def recognizer(core: Core, wanted: str) -> Recognizer:
    """What reads regions."""
    from engine.pipelines.reading.vision_recognizer import VisionRecognizer

    name = needed(core, "read", wanted)
    if name == READER and (folder := _built_in()) is not None:
        loaded = core.service.bring_beside(READER, str(folder))
    else:
        loaded = core.bring(name)
    return VisionRecognizer(core.service.engine, loaded, name)  # type: ignore[arg-type]


def layout(core: Core) -> Layout | None:
    """What finds regions, where a model for that is here; None: the splitter that needs none."""
    from engine.pipelines.reading.model_layout import ModelLayout

    found = names(core.service, "layout")
    return ModelLayout(core.service.engine, found[0]) if found else None  # type: ignore[arg-type]


def listener(core: Core, wanted: str) -> Listener:
    from engine.pipelines.listening.listener import VOICE_ACTIVITY, Listener, ear

    name = needed(core, "listen", wanted)
    loaded = core.bring(name)
    core.service.admit(VOICE_ACTIVITY)
    return Listener(core.service.engine, ear(name, loaded))  # type: ignore[arg-type]


def speaker(core: Core, wanted: str) -> Any:
    """What speaks; `Speaker` of the engine."""
    from engine.pipelines.speaking.synth import Speaker

    name = needed(core, "speak", wanted)
    loaded = core.bring(name)
    service, codec = core.service, f"{loaded.folder}/speech_tokenizer"
    service.admit(codec)
    service.admit(f"{codec}#encoder")
    service.admit(f"{name}#speaker", f"{loaded.folder}#speaker")
    return Speaker(service.engine, name)  # type: ignore[arg-type]


def _built_in() -> Path | None:
    from engine.pipelines.reading import opening

    return opening.starter()
