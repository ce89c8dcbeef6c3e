"""What people call architectures, and which `model_type` they mean by it."""

from __future__ import annotations

from engine.errors import BadRequest
from engine.models.registry import ARCHITECTURES, ENCODERS, PARTS

AUTO = "auto"

# Names of other programs, and of people.
ALIASES = {
    "hunyuan": "hunyuan_v1_dense",
    "hunyuan_dense": "hunyuan_v1_dense",
    "hunyuan_moe": "hunyuan_v1_moe",
    "granitehybrid": "granitemoehybrid",
    "lfm2moe": "lfm2_moe",
    "nemotron_h_moe": "nemotron_h",
    "phi4": "phi3",
    "qwen25": "qwen2",
    "qwen2_5": "qwen2",
    "qwen35": "qwen3_5",
    "qwen35moe": "qwen3_5_moe",
    "qwen3moe": "qwen3_moe",
    "qwen3next": "qwen3_next",
    "qwen3vl": "qwen3_vl",
    "xlm_roberta": "xlm-roberta",
}


def model_type_named(text: str) -> str | None:
    """The `model_type` that a person means, who may write an alias, hyphens or capitals; None for "auto"."""
    if text == AUTO:
        return None
    plain = text.lower().replace("-", "_").replace(".", "_")
    kind = ALIASES.get(plain, plain)
    if kind not in ARCHITECTURES and kind not in ENCODERS and kind not in PARTS:
        known = ", ".join(sorted({*ARCHITECTURES, *ENCODERS, "qwen25", "hunyuan"}))
        raise BadRequest(f"There is no model type {text!r}. Choose one of: auto, {known}.", "model_type")
    return kind
