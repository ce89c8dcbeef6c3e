"""What a model is for, told from its config alone: to chat, to listen, to speak, to read pages. Opens no weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import GrusError
from engine.hub.resolve import resolve
from engine.models.registry import find_part
from engine.pipelines.speaking.orpheus import is_orpheus
from engine.pipelines.speaking.spark import is_spark
from engine.weights.checkpoint import known_by

if TYPE_CHECKING:
    from app.runtime.catalogue import Catalogue

Kind = Literal["chat", "listen", "speak", "read", "part"]

KINDS: dict[str, Kind] = {
    "moonshine": "listen",
    "moonshine_streaming": "listen",
    "qwen3_tts": "speak",
    "paddleocr_vl": "read",
}


def kind_of(source: str, cache_dir: str | None = None) -> Kind:
    """What is not known otherwise writes text."""
    try:
        folder = resolve(source, cache_dir, download=False)
    except (GrusError, OSError):
        return "chat"
    config = config_in(folder)
    if (known := KINDS.get(str(config.get("model_type", "")))) is not None:
        return known
    if find_part({"model_type": known_by(dict(config)), **config}) is not None:
        return "part"
    return "speak" if is_orpheus(config) or is_spark(folder) else "chat"


def config_in(folder: Path) -> Mapping[str, Any]:
    """What its config.json says; nothing where there is none to read."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8")) if folder.is_dir() else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def names_of(catalogue: Catalogue, kind: str) -> list[str]:
    """Reads the disk; call it beside the UI thread."""
    return [known.name for known in catalogue.all() if kind_of(known.source, catalogue.cache_dir) == kind]
