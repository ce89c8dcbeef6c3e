"""GGUF files of tiny models as llama.cpp's converter makes them, by the `gguf` package: for architectures that we only read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.checkpoints import reference

Tensors = dict[str, np.ndarray]

_LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "post_attention_layernorm": "ffn_norm",
}
_OUTER = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def _named(tensors: Tensors, layer: dict[str, str]) -> Tensors:
    made = {}
    for name, values in tensors.items():
        stem, _, part = name.rpartition(".")
        inner = re.fullmatch(r"model\.layers\.(\d+)\.(.+)", stem)
        made[f"blk.{inner[1]}.{layer[inner[2]]}.{part}" if inner else f"{_OUTER[stem]}.{part}"] = values
    return made


def _gemma3(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    layer = _LAYER | {
        "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm",
        "post_attention_layernorm": "post_attention_norm",
        "pre_feedforward_layernorm": "ffn_norm",
        "post_feedforward_layernorm": "post_ffw_norm",
    }
    rope = config.rope_parameters["full_attention"]
    writer.add_sliding_window(config.sliding_window)
    writer.add_uint32("gemma3.attention.sliding_window_pattern", 3)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_scaling_type(_scaling("linear"))
    writer.add_rope_scaling_factor(rope["factor"])
    return _named({k: v + 1 if k.endswith("norm.weight") else v for k, v in tensors.items()}, layer)


def _gpt_oss(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    writer.add_sliding_window(config.sliding_window)
    writer.add_expert_count(config.num_local_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    _yarn(config.rope_parameters, writer)
    plain: Tensors = {}
    made: Tensors = {}
    for name, values in tensors.items():
        inner = re.fullmatch(r"model\.layers\.(\d+)\.(?:mlp\.experts\.(\w+?)(_bias)?|(self_attn\.sinks))", name)
        if inner is None:
            plain[name] = values
        elif inner[4]:
            made[f"blk.{inner[1]}.attn_sinks.weight"] = values
        else:
            part = "bias" if inner[3] else "weight"
            rows = values if inner[3] else values.swapaxes(1, 2)
            gates = {"ffn_gate_exps": rows[:, ::2], "ffn_up_exps": rows[:, 1::2]}
            for theirs, mine in (gates if inner[2] == "gate_up_proj" else {"ffn_down_exps": rows}).items():
                made[f"blk.{inner[1]}.{theirs}.{part}"] = mine
    layer = _LAYER | {"post_attention_layernorm": "post_attention_norm", "mlp.router": "ffn_gate_inp"}
    return made | _named(plain, layer)


def _mistral3(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    rope = config.rope_parameters
    _yarn(rope, writer)
    writer.add_float32("mistral3.rope.scaling.yarn_log_multiplier", rope["mscale_all_dim"])
    writer.add_float32("mistral3.attention.temperature_scale", rope["llama_4_scaling_beta"])

    def paired(name: str, values: np.ndarray) -> np.ndarray:
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        count = heads.get(name.split(".")[-2])
        if count is None:
            return values
        return values.reshape(count, 2, len(values) // count // 2, -1).swapaxes(1, 2).reshape(values.shape)

    return _named({name: paired(name, values) for name, values in tensors.items()}, _LAYER)


def _phi3(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(16 * rope["partial_rotary_factor"]))
    if config.sliding_window:
        writer.add_sliding_window(config.sliding_window)
    if rope["rope_type"] == "longrope":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        for kind in ("long", "short"):
            writer.add_tensor(f"rope_factors_{kind}.weight", np.float32(rope[f"{kind}_factor"]))
    return _named(tensors, _LAYER | {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"})


def _yarn(rope: dict[str, Any], writer: Any) -> None:
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_scaling_type(_scaling("yarn"))
    writer.add_rope_scaling_factor(rope["factor"])
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def _scaling(name: str) -> Any:
    import gguf

    return gguf.RopeScalingType(name)


# What a file cannot say, so that it must be what published models have.
FIXED: dict[str, dict[str, Any]] = {"gemma3": {"query_pre_attn_scalar": 32}, "gpt_oss": {"swiglu_limit": 7.0}}
FAMILIES: dict[str, tuple[str, Callable[[Tensors, Any, Any], Tensors]]] = {
    "gemma3": ("gemma3", _gemma3),
    "gpt_oss": ("gpt-oss", _gpt_oss),
    "ministral3": ("mistral3", _mistral3),
    "phi3": ("phi3", _phi3),
    "phi3_long": ("phi3", _phi3),
}


def written(name: str) -> Any:
    """The tiny model that is written."""
    return reference(name, **FIXED.get(name, {}))


def write(name: str, path: Path, experts: str | None = None) -> Path:
    """The tiny model `name` in f32; `experts`: their matrices in blocks of this type."""
    import gguf

    arch, family = FAMILIES[name]
    model = written(name)
    config = model.config
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    if head_dim := getattr(config, "head_dim", None):
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    tensors = {key: value.float().numpy() for key, value in model.state_dict().items()}
    for key, values in family(tensors, config, writer).items():
        rows = np.ascontiguousarray(values, np.float32)
        if experts and "_exps.weight" in key:
            kind = gguf.GGMLQuantizationType[experts]
            writer.add_tensor(key, gguf.quants.quantize(rows, kind), raw_dtype=kind)
        else:
            writer.add_tensor(key, rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
