"""The config of a GGUF file in the words of published repositories, so that other programs read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import UnsupportedArchitecture
from engine.models.config import text_config
from engine.models.rope import frequencies, text_rope

_CLASSES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM",
    "qwen3_5_text": "Qwen3_5ForCausalLM",
    "hunyuan_v1_dense": "HunYuanDenseV1ForCausalLM",
}
_OURS = ("linear_value_heads_tiled",)
_LLAMA3_LENGTHS = (8192, 4096, 16384, 32768, 2048, 1024, 512, 256, 128, 64)


def publish(config: Mapping[str, Any], where: str) -> dict[str, Any]:
    if config["model_type"] not in _CLASSES:
        raise UnsupportedArchitecture(
            f"{where} has the architecture `{config['model_type']}`, whose GGUF files Grus reads, but does not convert."
        )
    published = {key: value for key, value in config.items() if key not in _OURS}
    rope = dict(published.pop("rope_parameters"))
    if rope["rope_type"] == "factors":
        rope = _llama3(config, rope, where)
    partial = rope.pop("partial_rotary_factor")
    if partial != 1.0:
        published["partial_rotary_factor"] = rope["partial_rotary_factor"] = partial
    published |= {
        "architectures": [_CLASSES[config["model_type"]]],
        "hidden_act": "silu",
        "rope_theta": rope["rope_theta"],
    }
    if config["model_type"] == "qwen3_5_text":
        return published | {"rope_parameters": rope}
    kind = rope.pop("rope_type")
    del rope["rope_theta"]
    return published | {"rope_scaling": {"rope_type": kind, "type": kind, **rope} if kind != "default" else None}


def _llama3(config: Mapping[str, Any], rope: dict[str, Any], where: str) -> dict[str, Any]:
    """Llama 3's stretching is a formula of four numbers, of which the factors of a file are the result."""
    c = text_config(config)
    wanted = frequencies(rope["rope_theta"], len(rope["factors"]) * 2) / np.array(rope["factors"])
    plain = {key: value for key, value in rope.items() if key != "factors"}
    for original in _LLAMA3_LENGTHS:
        guess = plain | {
            "rope_type": "llama3",
            "factor": float(max(rope["factors"])),
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": original,
        }
        if np.allclose(text_rope(text_config({**config, "rope_parameters": guess})).inv, wanted, rtol=1e-5, atol=0):
            return guess
    raise UnsupportedArchitecture(
        f"{where} bends its {c.context:,} positions in a way that a published config has no words for."
    )
