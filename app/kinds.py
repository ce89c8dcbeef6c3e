"""What a model is for, told from its config alone: to chat, to listen, to speak, to read pages. Opens no weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from engine.errors import GrusError
from engine.hub.resolve import resolve

if TYPE_CHECKING:
    from app.server.catalogue import Catalogue

Kind = Literal["chat", "listen", "speak", "read", "part"]

KINDS: dict[str, Kind] = {
    "moonshine": "listen",
    "moonshine_streaming": "listen",
    "qwen3_tts": "speak",
    "paddleocr_vl": "read",
    "silero_vad": "part",
    "snac": "part",
    "qwen3_tts_tokenizer_12hz": "part",
    "pp_doclayout_v2": "part",
    "pp_doclayout_v3": "part",
}


def kind_of(source: str, cache_dir: str | None = None) -> Kind:
    """What is not known otherwise writes text."""
    try:
        folder = resolve(source, cache_dir, download=False)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8")) if folder.is_dir() else {}
    except (GrusError, OSError, ValueError):
        return "chat"
    return KINDS.get(str(config.get("model_type", "")), "chat")


def names_of(catalogue: Catalogue, kind: str) -> list[str]:
    """Reads the disk; call it beside the UI thread."""
    return [known.name for known in catalogue.all() if kind_of(known.source, catalogue.cache_dir) == kind]
