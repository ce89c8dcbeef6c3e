"""What a model is for, told by its config and what lies beside it: it writes text, speaks, listens, or is a part that others use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from app.runtime.catalogue import KnownModel
from app.server.errors import ApiError
from engine.hub.cache import find
from engine.hub.naming import parse
from engine.models.registry import find_part
from engine.pipelines.listening.transcription import LISTENING
from engine.pipelines.speaking.orpheus import is_orpheus
from engine.pipelines.speaking.spark import is_spark

Kind = Literal["text", "speech", "transcription", "part"]

DOES: dict[Kind, str] = {
    "text": "writes text",
    "speech": "speaks",
    "transcription": "listens",
    "part": "is a part that other models use",
}


def kind_of(config: Mapping[str, Any], folder: Path | None = None) -> Kind:
    """`folder`: where it lies; Spark-TTS is told by the codec beside it."""
    if config.get("model_type") == "qwen3_tts" or is_orpheus(config) or (folder is not None and is_spark(folder)):
        return "speech"
    if config.get("model_type") in LISTENING:
        return "transcription"
    return "part" if find_part(config) is not None else "text"


def folder_of(known: KnownModel, cache_dir: str | None) -> Path:
    path = Path(known.source).expanduser()
    if not path.exists() and (named := parse(known.source)) is not None and named.quant is None:
        snapshot = find(named.repo, named.revision, cache_dir)
        path = snapshot.path if snapshot is not None else path
    return path


def config_at(folder: Path) -> Mapping[str, Any]:
    """A model's config without loading the model; empty where none can be read."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def need(kind: Kind, name: str, loaded: Any) -> None:
    """Raise what a client is told who asks one kind of model for the work of another."""
    found = kind_of(loaded.config, getattr(loaded, "folder", None))
    if found != kind:
        raise ApiError(
            400,
            f"The model {name} {DOES[found]}; here one is needed that {DOES[kind]}.",
            code="missing_capability",
            param="model",
        )
