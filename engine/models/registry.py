"""Which architecture reads which `model_type`. To add one: write its file, add a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.base import Model
from engine.errors import UnsupportedArchitecture
from engine.models.hunyuan import hunyuan_dense
from engine.models.llama import llama
from engine.models.moonshine import moonshine
from engine.models.moonshine_streaming import moonshine_streaming
from engine.models.paddleocr_vl import paddleocr_vl
from engine.models.pp_doclayout import pp_doclayout
from engine.models.qwen2 import qwen2
from engine.models.qwen3 import qwen3, qwen3_moe
from engine.models.qwen3_5 import qwen3_5
from engine.models.qwen3_next import qwen3_next
from engine.models.qwen3_vl import qwen3_vl
from engine.models.silero import silero_vad
from engine.parts import MakePart
from engine.weights.view import View

Maker = Callable[[View, Mapping[str, Any]], Model]

ARCHITECTURES: dict[str, Maker] = {
    "hunyuan_v1_dense": hunyuan_dense,
    "llama": llama,
    "mistral": llama,
    "moonshine": moonshine,
    "moonshine_streaming": moonshine_streaming,
    "paddleocr_vl": paddleocr_vl,
    "qwen2": qwen2,
    "qwen3": qwen3,
    "qwen3_5": qwen3_5,
    "qwen3_5_text": qwen3_5,
    "qwen3_moe": qwen3_moe,
    "qwen3_next": qwen3_next,
    "qwen3_vl": qwen3_vl,
}

# Models that are no token models; see `engine.parts`.
PARTS: dict[str, MakePart] = {
    "pp_doclayout_v2": pp_doclayout,
    "pp_doclayout_v3": pp_doclayout,
    "silero_vad": silero_vad,
}


def find_part(config: Mapping[str, Any]) -> MakePart | None:
    return PARTS.get(str(config.get("model_type")))


def find_architecture(config: Mapping[str, Any], name: str) -> Maker:
    """The maker for a config, or an error that names the type, the model, and what is supported."""
    model_type = config.get("model_type")
    maker = ARCHITECTURES.get(str(model_type))
    if maker is None:
        raise UnsupportedArchitecture(
            f"{name} has the architecture `{model_type}`, which Grus does not know. "
            f"Supported: {', '.join(sorted(ARCHITECTURES))}."
        )
    return maker
