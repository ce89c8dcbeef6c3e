"""What each model can do: chat, see, make vectors, read pages, find a page's regions, listen, speak.

One table for the window, the server, the command line and Python. It is computed from a model's config.json and the files
beside it; no weights are opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import GrusError, MissingCapability
from engine.hub.cache import find
from engine.hub.naming import parse
from engine.hub.resolve import resolve
from engine.models.registry import find_part
from engine.pipelines.listening.transcription import LISTENING
from engine.pipelines.speaking.orpheus import is_orpheus
from engine.pipelines.speaking.spark import is_spark
from engine.vision.registry import VISION_PROCESSORS
from engine.weights.checkpoint import known_by

if TYPE_CHECKING:
    from app.runtime.catalogue import Catalogue

Capability = Literal["chat", "vision", "embed", "read", "layout", "listen", "speak"]
Use = Literal["chat", "read", "layout", "listen", "speak", "part"]

_PAGES_ONLY = frozenset({"paddleocr_vl"})  # model types that answer nothing but what is on a page
_LAYOUTS = frozenset({"pp_doclayout_v2", "pp_doclayout_v3"})

# a model to begin with, for each thing that Grus can do besides chat
RECOMMENDED: dict[Capability, str] = {
    "read": "PaddlePaddle/PaddleOCR-VL",
    "listen": "UsefulSensors/moonshine-base",
    "speak": "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice",
}
DOES: dict[str, str] = {
    "chat": "writes text",
    "read": "writes text",
    "speak": "speaks",
    "listen": "listens",
    "layout": "is a part that other models use",
    "part": "is a part that other models use",
}


def capabilities(config: Mapping[str, Any], folder: Path | None = None) -> frozenset[Capability]:
    """Of a model with this config. `folder`: where it lies, for Spark-TTS is recognized by the codec beside it. Empty: a
    part that other models use, such as a codec."""
    model_type = str(config.get("model_type", ""))
    if model_type in LISTENING:
        return frozenset({"listen"})
    if model_type == "qwen3_tts" or is_orpheus(config) or (folder is not None and is_spark(folder)):
        return frozenset({"speak"})
    if model_type in _LAYOUTS:
        return frozenset({"layout"})
    if find_part({"model_type": known_by(dict(config)), **config}) is not None:
        return frozenset()
    found: set[Capability] = {"read"} if model_type in _PAGES_ONLY else {"chat", "embed"}
    if model_type in VISION_PROCESSORS and isinstance(config.get("vision_config"), Mapping):
        found |= {"vision", "read"}
    return frozenset(found)


def capabilities_of(source: str, cache_dir: str | None = None) -> frozenset[Capability]:
    """Of a folder, or of a repository in the cache. One of which nothing is known counts as one that chats."""
    folder = folder_of(source, cache_dir)
    return capabilities(config_in(folder), folder)


def main_use(capabilities: frozenset[Capability]) -> Use:
    """What a model is mostly for: a vision model chats, although it can read pages too."""
    uses: tuple[Use, ...] = ("speak", "listen", "chat", "read", "layout")
    return next((use for use in uses if use in capabilities), "part")


def can(source: str, capability: Capability, cache_dir: str | None = None) -> bool:
    return capability in capabilities_of(source, cache_dir)


def able(catalogue: Catalogue, capability: Capability) -> list[str]:
    """The names of the models that can do this. Reads the disk: not for an event loop, nor the window's thread."""
    return [known.name for known in catalogue.all() if can(known.source, capability, catalogue.cache_dir)]


def serves(capability: Capability, found: frozenset[Capability]) -> bool:
    """Whether a model may be asked for this. A model that only reads pages answers a conversation that shows it one."""
    return capability in found or (capability == "chat" and "read" in found)


def require(capability: Capability, name: str, loaded: Any) -> None:
    """Raise MissingCapability where a loaded model cannot do this."""
    found = capabilities(loaded.config, getattr(loaded, "folder", None))
    if not serves(capability, found):
        sentence = f"The model {name} {DOES[main_use(found)]}; here one is needed that {DOES[capability]}."
        raise MissingCapability(sentence, capability)


def folder_of(source: str, cache_dir: str | None = None) -> Path:
    """Where a model lies, or would lie. One that is not whole yet, because it is being downloaded, is found too."""
    try:
        return resolve(source, cache_dir, download=False)
    except (GrusError, OSError):
        named = parse(source)
        snapshot = find(named.repo, named.revision, cache_dir) if named is not None and named.quant is None else None
        return snapshot.path if snapshot is not None else Path(source).expanduser()


def config_in(folder: Path) -> Mapping[str, Any]:
    """What a folder's config.json says; empty where there is none to read."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8")) if folder.is_dir() else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
