"""A checkpoint's config as GGUF metadata: the way back of `config`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import UnsupportedArchitecture
from engine.models.config import TextConfig, text_config
from engine.models.qwen3_5 import layer_kinds
from engine.models.rope import frequencies, text_rope
from engine.models.windows import layer_windows
from engine.weights.gguf.names import MODEL_TYPES, READ_ONLY

_ARCHITECTURES = {ours: arch for arch, ours in MODEL_TYPES.items() if arch not in READ_ONLY}
_ARCHITECTURES |= {"mistral": "llama", "qwen3_5": "qwen35"}
_THETA = {"qwen2": 1e6, "qwen3": 1e6, "qwen3moe": 1e6}
_PARTIAL = {"qwen35": 0.25}


def architecture_of(config: Mapping[str, Any], where: str) -> str:
    model_type = str(config.get("model_type"))
    if model_type not in _ARCHITECTURES:
        raise UnsupportedArchitecture(
            f"{where} has the architecture `{model_type}`, which Grus does not write as GGUF. "
            f"Supported: {', '.join(sorted(_ARCHITECTURES))}."
        )
    return _ARCHITECTURES[model_type]


def describe(config: Mapping[str, Any], arch: str, name: str) -> tuple[dict[str, Any], np.ndarray | None]:
    """The metadata, and rope's factors where they are a tensor's business."""
    c = text_config(config)
    f = c.fields
    if any(layer_windows(c, used=arch == "llama")):
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
    if arch == "qwen3moe":
        values |= {
            "expert_count": f.int("num_experts", "num_local_experts"),
            "expert_used_count": f.int("num_experts_per_tok"),
            "expert_feed_forward_length": f.int("moe_intermediate_size"),
        }
        if not f.flag("norm_topk_prob"):
            raise UnsupportedArchitecture(f"{name} does not normalize its experts' shares, which GGUF cannot say.")
    if arch == "qwen35":
        values |= _delta(c, name)
    rope, factors = _rope(c, arch)
    metadata = {"general.architecture": arch, "general.name": name, "general.quantization_version": 2}
    return metadata | {f"{arch}.{key}": value for key, value in (values | rope).items()}, factors


def _delta(c: TextConfig, name: str) -> dict[str, Any]:
    f, kinds = c.fields, layer_kinds(c)
    every = kinds.index("full_attention") + 1 if "full_attention" in kinds else c.layers + 1
    if any((kind == "full_attention") != ((i + 1) % every == 0) for i, kind in enumerate(kinds)):
        raise UnsupportedArchitecture(f"{name} mixes its kinds of layers in an order that GGUF cannot say.")
    if f.int("linear_key_head_dim") != f.int("linear_value_head_dim"):
        raise UnsupportedArchitecture(f"{name} has linear heads whose keys and values differ, which GGUF cannot say.")
    return {
        "ssm.conv_kernel": f.int("linear_conv_kernel_dim"),
        "ssm.state_size": f.int("linear_key_head_dim"),
        "ssm.group_count": f.int("linear_num_key_heads"),
        "ssm.time_step_rank": f.int("linear_num_value_heads"),
        "ssm.inner_size": f.int("linear_num_value_heads") * f.int("linear_value_head_dim"),
        "full_attention_interval": every,
    }


def _rope(c: TextConfig, arch: str) -> tuple[dict[str, Any], np.ndarray | None]:
    """GGUF knows linear and yarn by name; whatever else bends the frequencies becomes factors."""
    rope = text_rope(c, default_theta=_THETA.get(arch, 10000.0), default_partial=_PARTIAL.get(arch, 1.0))
    described = c.fields.find("rope_parameters", "rope_scaling", default={})
    kind = described.get("rope_type") or described.get("type") or "default"
    # The second frequency is theta ** (-2 / dims) whenever nothing but theta shapes them.
    theta = float(described.get("rope_theta") or c.fields.find("rope_theta", default=_THETA.get(arch, 10000.0)))
    values: dict[str, Any] = {"rope.dimension_count": rope.dims}
    if arch == "qwen35":
        values["rope.dimension_sections"] = [*(rope.section or (rope.dims // 2, 0, 0)), 0]
    if kind == "dynamic" and rope.dynamic is None:  # Hunyuan's alpha, which is a larger base
        values["rope.freq_base"] = rope.inv[1] ** (-rope.dims / 2)
        return values, None
    values["rope.freq_base"] = theta
    if kind == "linear":
        return values | {"rope.scaling.type": "linear", "rope.scaling.factor": float(described["factor"])}, None
    if kind == "yarn":
        return values | _yarn(c, described), None
    if rope.dynamic is not None:
        raise UnsupportedArchitecture("Positions that are scaled by each text's length cannot be said in GGUF.")
    factors = np.array(frequencies(theta, rope.dims)) / np.array(rope.inv)
    if np.allclose(factors, 1, rtol=1e-6, atol=0):
        return values, None
    return values, factors.astype(np.float32)


def _yarn(c: TextConfig, described: Mapping[str, Any]) -> dict[str, Any]:
    original = int(described.get("original_max_position_embeddings") or c.context)
    factor = float(described.get("factor") or c.context / original)
    unusual = [
        key for key in ("attention_factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow") if key in described
    ]
    usual = {"beta_fast": 32, "beta_slow": 1, "attention_factor": 0.1 * math.log(factor) + 1 if factor > 1 else 1}
    for key in unusual:
        if described[key] is not None and not math.isclose(
            float(described[key]), usual.get(key, math.nan), rel_tol=1e-4
        ):
            raise UnsupportedArchitecture(f"The rope field `{key}` cannot be said in GGUF.")
    return {
        "rope.scaling.type": "yarn",
        "rope.scaling.factor": factor,
        "rope.scaling.original_context_length": original,
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
