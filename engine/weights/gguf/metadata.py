"""A checkpoint's config as GGUF metadata: the way back of `config`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import UnsupportedArchitecture
from engine.models.config import TextConfig, text_config, text_fields
from engine.models.gemma4 import head_shapes
from engine.models.glm_ocr import PARTIAL, glm_rope
from engine.models.granite import MAMBA
from engine.models.internvl import text_kind
from engine.models.lfm2_vl import text_kind as liquid_text_kind
from engine.models.nemotron_h import layer_kinds as block_kinds
from engine.models.rope import fields_of_kind, frequencies, rope_fields, text_rope
from engine.models.windows import FULL, layer_windows, sliding_layers
from engine.weights.gguf.families import KEYS, config_of, granite_kinds, unsaid
from engine.weights.gguf.names import MODEL_TYPES
from engine.weights.gguf.source import LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS

_ARCHITECTURES = {ours: arch for arch, ours in MODEL_TYPES.items()} | {
    "deepseek_v2": "deepseek2",
    "gemma3": "gemma3",
    "gemma3n": "gemma3n",
    "gemma4": "gemma4",
    "gemma4_unified": "gemma4",
    "gemma4_unified_text": "gemma4",
    "glm46v": "glm4",
    "glm4_moe_lite": "deepseek2",
    "glm4v": "glm4",
    "glm_ocr": "glm4",
    "granitemoeshared": "granitemoe",
    "idefics3": "llama",
    "mistral": "llama",
    "mistral3": "mistral3",
    "muse_glimmer": "muse-glimmer",
    "nemotron_h": "nemotron_h",
    "olmo2": "olmo2",
    "qwen2": "qwen2",
    "qwen2_5_vl": "qwen2vl",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
    "qwen3_vl": "qwen3vl",
    "qwen3_vl_moe": "qwen3vlmoe",
    "qwen3_5": "qwen35",
    "qwen3_5_moe": "qwen35moe",
    "smolvlm": "llama",
}
_THETA = {
    **dict.fromkeys(
        ("qwen2", "qwen2vl", "qwen3", "qwen3moe", "gemma3", "gemma3n", "gemma4", "exaone4", "lfm2", "lfm2moe"), 1e6
    ),
    **dict.fromkeys(("bitnet", "ernie4_5", "ernie4_5-moe", "muse-glimmer", "olmo2"), 5e5),
    **dict.fromkeys(("qwen3vl", "qwen3vlmoe"), 5e6),
    "gpt-oss": 150000.0,
    "minimax-m2": 5e6,
    "smollm3": 2e6,
}
_PARTIAL = {"qwen35": 0.25, "qwen35moe": 0.25, "qwen3next": 0.25, "glm4": 0.5, "glm4moe": 0.5}
_WITHOUT_WINDOWS = (
    "llama",
    "qwen2",
    "qwen2vl",
    "qwen3",
    "qwen3moe",
    "qwen3vl",
    "qwen3vlmoe",
    "hunyuan-dense",
    "hunyuan-moe",
    "seed_oss",
)
_FOR_EVER = 1e30  # what divides a frequency that turns by nothing


def architecture_of(config: Mapping[str, Any], where: str) -> str:
    model_type = str(config.get("model_type"))
    if model_type == "internvl":
        model_type = text_kind(config)
    if model_type in ("lfm2-vl", "lfm2_vl"):
        model_type = liquid_text_kind(config)
    if model_type not in _ARCHITECTURES:
        raise UnsupportedArchitecture(
            f"{where} has the architecture `{model_type}`, which Grus does not write as GGUF. "
            f"Supported: {', '.join(sorted(_ARCHITECTURES))}."
        )
    arch = _ARCHITECTURES[model_type]
    if arch == "nemotron_h" and "moe" in block_kinds(text_fields(config).values):
        return "nemotron_h_moe"
    if arch == "granitehybrid":
        c = config_of(config, arch)
        if not set(granite_kinds(c)) & set(MAMBA):
            return "granitemoe" if c.fields.find("num_local_experts", "num_experts", default=0) else "granite"
    if arch == "mistral3" and rope_fields(text_fields(config)).find("rope_type", "type", default="default") != "yarn":
        return "llama"  # Mistral's older models, beside an image encoder
    return arch


def describe(config: Mapping[str, Any], arch: str, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The metadata, and rope's factors, which are tensors."""
    c = config_of(config, arch)
    if arch in _WITHOUT_WINDOWS and any(layer_windows(c, used=arch == "llama")):
        raise UnsupportedArchitecture(f"{name} has sliding windows, which GGUF cannot say of this architecture.")
    values: dict[str, Any] = {
        "context_length": c.context,
        "embedding_length": c.hidden,
        "block_count": c.layers,
        "feed_forward_length": c.ffn,
        "attention.head_count": c.heads,
        "attention.head_count_kv": c.kv_heads,
        "attention.key_length": c.head_dim,
        "attention.value_length": c.head_dim,
        "attention.layer_norm_rms_epsilon": c.eps,
        "vocab_size": c.vocab,
    }
    if arch in ("qwen3vl", "qwen3vlmoe"):
        values["n_deepstack_layers"] = len(config.get("vision_config", {}).get("deepstack_visual_indexes", ()))
    rope, factors = _rope(c, arch, str(config.get("model_type")))
    try:
        own = KEYS[arch](c) if arch in KEYS else {}
    except UnsupportedArchitecture as error:
        raise UnsupportedArchitecture(f"{name} cannot be written: {error}") from None
    metadata = {"general.architecture": arch, "general.name": name, "general.quantization_version": 2}
    return metadata | {f"{arch}.{key}": value for key, value in (values | rope | own).items()}, factors


def _rope(c: TextConfig, arch: str, model_type: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """GGUF knows linear and yarn by name; whatever else bends the frequencies becomes factors."""
    c = replace(c, fields=fields_of_kind(c.fields, FULL) or c.fields)
    f, default = c.fields, _THETA.get(arch, 10000.0)
    if arch == "deepseek2":
        c = replace(c, head_dim=f.int("qk_rope_head_dim"))
    if arch == "gemma4":
        flags = sliding_layers(c, 6)
        dims = [dim for (dim, _), sliding in zip(head_shapes(c, flags), flags) if not sliding]
        c = replace(c, head_dim=dims[0] if dims else c.head_dim)
    partial = f.int("rotary_dim", default=c.head_dim) / c.head_dim if arch == "minimax-m2" else _PARTIAL.get(arch, 1.0)
    on_axes = model_type in PARTIAL
    rope = glm_rope(c, model_type) if on_axes else text_rope(c, default_theta=default, default_partial=partial)
    described = rope_fields(f)
    kind = described.find("rope_type", "type", default="default")
    theta = described.float("rope_theta", default=f.float("rope_theta", default=default))
    values: dict[str, Any] = {"rope.dimension_count": rope.dims}
    if on_axes or arch in ("qwen2vl", "qwen35", "qwen35moe", "qwen3vl", "qwen3vlmoe"):
        values["rope.dimension_sections"] = [*(rope.section or (rope.dims // 2, 0, 0)), 0]
    if kind == "dynamic" and rope.dynamic is None:  # Hunyuan's alpha, which is a larger base
        # The second frequency is theta ** (-2 / dims) whenever nothing but theta shapes them.
        return values | {"rope.freq_base": rope.inv[1] ** (-rope.dims / 2)}, {}
    values["rope.freq_base"] = theta
    if kind == "linear":
        return values | {"rope.scaling.type": "linear", "rope.scaling.factor": described.float("factor")}, {}
    if kind == "yarn":
        return values | _yarn(c, arch, described.values), {}
    if rope.dynamic is not None:
        raise UnsupportedArchitecture("Positions that are scaled by each text's length cannot be said in GGUF.")
    if kind in ("longrope", "su"):
        values["rope.scaling.original_context_length"] = described.int("original_max_position_embeddings")
        values["rope.scaling.attn_factor"] = rope.scale
        names = {LONG_FACTORS: "long_factor", SHORT_FACTORS: "short_factor"}
        return values, {name: np.array(described.find(field), np.float32) for name, field in names.items()}
    plain = np.array(frequencies(theta, rope.dims))
    inv = np.array(rope.inv)
    factors = np.divide(plain, inv, out=np.full_like(inv, _FOR_EVER), where=inv > 0)
    if np.allclose(factors, 1, rtol=1e-6, atol=0):
        return values, {}
    return values, {ROPE_FACTORS: factors.astype(np.float32)}


_YARN_KEYS = {  # fields that some architectures' files have a key for
    "mistral3": {
        "beta_fast": "rope.scaling.yarn_beta_fast",
        "beta_slow": "rope.scaling.yarn_beta_slow",
        "mscale_all_dim": "rope.scaling.yarn_log_multiplier",
        "llama_4_scaling_beta": "attention.temperature_scale",
    },
    "laguna": {"beta_fast": "rope.scaling.yarn_beta_fast", "beta_slow": "rope.scaling.yarn_beta_slow"},
    "deepseek2": {"mscale_all_dim": "rope.scaling.yarn_log_multiplier"},
}


def _yarn(c: TextConfig, arch: str, described: Mapping[str, Any]) -> dict[str, Any]:
    original = int(described.get("original_max_position_embeddings") or c.context)
    factor = float(described.get("factor") or c.context / original)
    keys = _YARN_KEYS.get(arch, {})
    usual = {"beta_fast": 32, "beta_slow": 1, "attention_factor": 0.1 * math.log(factor) + 1 if factor > 1 else 1}
    usual |= {"mistral3": {"mscale": 1.0}, "deepseek2": {"mscale": described.get("mscale_all_dim", 0)}}.get(arch, {})
    for key in ("attention_factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow", "llama_4_scaling_beta"):
        value = described.get(key)
        if value is None or key in keys:
            continue
        if not math.isclose(float(value), usual.get(key, math.nan), rel_tol=1e-4):
            raise UnsupportedArchitecture(f"The rope field `{key}` cannot be said in GGUF.")
    if factor != 1 and described.get("truncate", True) != (arch != "gpt-oss"):
        raise unsaid(f"YaRN's range has `truncate` {described.get('truncate', True)}")
    share = 0.1 if arch == "deepseek2" else 1.0
    return {
        "rope.scaling.type": "yarn",
        "rope.scaling.factor": factor,
        "rope.scaling.original_context_length": original,
        **{
            key: float(described[name]) * (share if name == "mscale_all_dim" else 1.0)
            for name, key in keys.items()
            if described.get(name) is not None
        },
    }


# -- the config of a GGUF file in the words of published repositories, so that other programs read it

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
