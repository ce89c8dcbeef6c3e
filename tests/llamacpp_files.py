"""GGUF files of tiny models as llama.cpp's converter makes them, by the `gguf` package: what reading and writing are held against."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from tokenizers import pre_tokenizers

from tests.checkpoints import SPECIALS, VOCAB, reference

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
_OUTER = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.embedding_norm": "token_embd_norm",  # LFM 2
    "model.embeddings": "token_embd",  # Nemotron-H
    "model.norm_f": "output_norm",
}


def _named(tensors: Tensors, layer: dict[str, str], outer: dict[str, str] | None = None) -> Tensors:
    made, known = {}, _OUTER | (outer or {})
    for name, values in tensors.items():
        stem, _, part = name.rpartition(".")
        inner = re.fullmatch(r"model\.layers\.(\d+)\.(.+)", stem)
        mine = f"blk.{inner[1]}.{layer[inner[2]]}" if inner else known[stem]
        made[f"{mine}.{part}" if part else mine] = values
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


def _llama(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.head_dim)
    return _named({name: _paired(config, name, values) for name, values in tensors.items()}, _LAYER)


def _mistral3(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    rope = config.rope_parameters
    _yarn(rope, writer)
    writer.add_float32("mistral3.rope.scaling.yarn_log_multiplier", rope["mscale_all_dim"])
    writer.add_float32("mistral3.attention.temperature_scale", rope["llama_4_scaling_beta"])

    return _named({name: _paired(config, name, values) for name, values in tensors.items()}, _LAYER)


def _paired(config: Any, name: str, values: np.ndarray) -> np.ndarray:
    """Rows of queries and keys with the two that turn together side by side."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    count = heads.get(name.split(".")[-2])
    if count is None:
        return values
    return values.reshape(count, 2, len(values) // count // 2, -1).swapaxes(1, 2).reshape(values.shape)


def _all_paired(tensors: Tensors, config: Any) -> Tensors:
    return {name: _paired(config, name, values) for name, values in tensors.items()}


def _gemma_names() -> dict[str, str]:
    return _LAYER | {
        "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm",
        "post_attention_layernorm": "post_attention_norm",
        "pre_feedforward_layernorm": "ffn_norm",
        "post_feedforward_layernorm": "post_ffw_norm",
        "per_layer_input_gate": "inp_gate",
        "per_layer_projection": "proj",
        "post_per_layer_input_norm": "post_norm",
    }


_PER_LAYER = {
    "model.embed_tokens_per_layer": "per_layer_token_embd",
    "model.per_layer_model_projection": "per_layer_model_proj",
    "model.per_layer_projection_norm": "per_layer_proj_norm",
}


def _windows(config: Any, writer: Any) -> None:
    if getattr(config, "sliding_window", None) is None:  # the smaller EXAONE, and OLMo 2
        return
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])


def _gemma4(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    said = config.to_dict()  # the config itself gives no numbers that differ between layers
    full = next(iter(said["per_layer_config"].values()))
    shared, dim, wide, kv_heads = (
        config.num_kv_shared_layers,
        said["head_dim"],
        full["head_dim"],
        said["num_key_value_heads"],
    )
    _windows(config, writer)
    writer.add_shared_kv_layers(shared)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_key_length(wide)
    writer.add_value_length(wide)
    writer.add_key_length_swa(dim)
    writer.add_value_length_swa(dim)
    wide_kv_heads = full.get("num_key_value_heads", kv_heads)
    writer.add_head_count_kv([wide_kv_heads if kind == "full_attention" else kv_heads for kind in config.layer_types])
    ffn, layers = config.intermediate_size, config.num_hidden_layers
    double = 2 if config.use_double_wide_mlp else 1
    writer.add_feed_forward_length([ffn * (double if i >= layers - shared else 1) for i in range(layers)])
    writer.add_rope_dimension_count(wide)
    writer.add_rope_dimension_count_swa(dim)
    writer.add_rope_freq_base(config.rope_parameters["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    turned = int(wide * config.rope_parameters["full_attention"]["partial_rotary_factor"] / 2)
    writer.add_tensor("rope_freqs.weight", np.float32([1.0] * turned + [1e30] * (wide // 2 - turned)))
    if config.enable_moe_block:
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.top_k_experts)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    apart = {
        "layer_scalar": "layer_output_scale.weight",
        "router.scale": "ffn_gate_inp.scale",
        "router.per_expert_scale": "ffn_down_exps.scale",
        "experts.gate_up_proj": "ffn_gate_up_exps.weight",
        "experts.down_proj": "ffn_down_exps.weight",
    }
    made, plain = {}, {}
    for name, values in tensors.items():
        inner = re.fullmatch(r"model\.layers\.(\d+)\.(.+)", name)
        if inner and inner[2] in apart:
            made[f"blk.{inner[1]}.{apart[inner[2]]}"] = values
        else:
            plain[name] = values
    layer = _gemma_names() | {
        "router.proj": "ffn_gate_inp",
        "post_feedforward_layernorm_1": "post_ffw_norm_1",
        "pre_feedforward_layernorm_2": "pre_ffw_norm_2",
        "post_feedforward_layernorm_2": "post_ffw_norm_2",
    }
    return made | _named(plain, layer, _PER_LAYER)


def _gemma3n(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    _windows(config, writer)
    writer.add_rope_freq_base(config.rope_parameters["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])
    writer.add_altup_active_idx(config.altup_active_idx)
    writer.add_altup_num_inputs(config.altup_num_inputs)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    quantiles = [NormalDist().inv_cdf(p) if p else float("-inf") for p in config.activation_sparsity_pattern]
    writer.add_activation_sparsity_scale(quantiles)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_feed_forward_length(config.intermediate_size[0])
    layer = _gemma_names() | {
        "altup.correction_coefs": "altup_correct_coef",
        "altup.prediction_coefs": "altup_predict_coef",
        "altup.modality_router": "altup_router",
        "altup.router_norm": "altup_router_norm",
        "laurel.linear_left": "laurel_l",
        "laurel.linear_right": "laurel_r",
        "laurel.post_laurel_norm": "laurel_post_norm",
    }
    made, plain = {}, {}
    for name, values in tensors.items():
        if inner := re.fullmatch(r"model\.layers\.(\d+)\.altup\.correct_output_scale", name):
            made[f"blk.{inner[1]}.altup_correct_scale.weight"] = values
        elif "altup_" not in name:
            plain[name] = values
    for ours, theirs in (("altup_projections", "altup_proj"), ("altup_unembed_projections", "altup_unembd_proj")):
        parts = [tensors[f"model.{ours}.{i}.weight"] for i in range(config.altup_num_inputs - 1)]
        made[f"{theirs}.weight"] = np.stack(parts)
    table = plain["model.embed_tokens_per_layer.weight"]
    plain["model.embed_tokens_per_layer.weight"] = np.pad(table, ((0, config.vocab_size - len(table)), (0, 0)))
    for i in range(config.num_hidden_layers - config.num_kv_shared_layers, config.num_hidden_layers):
        kv = (
            config.num_key_value_heads * config.head_dim
        )  # of layers that read others' keys and values: nothing uses them
        for name in ("attn_k", "attn_v"):
            made[f"blk.{i}.{name}.weight"] = np.ones((kv, config.hidden_size))
        made[f"blk.{i}.attn_k_norm.weight"] = np.ones(config.head_dim)
    return made | _named(plain, layer, _PER_LAYER)


def _muse_glimmer(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    _windows(config, writer)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_logit_scale(config.output_multiplier)
    layer = _gemma_names() | {"self_attn.gate_proj": "attn_gate"}
    plain = {}
    for name, values in tensors.items():
        if "vision" in name:
            continue
        shifted = values + 1 if name.endswith("layernorm.weight") else values
        plain[name.replace("model.language_model.", "model.")] = _paired(config, name, shifted)
    made = _named(plain, layer)
    for i in range(config.num_hidden_layers):
        made[f"blk.{i}.attn_q_norm.weight"] = np.full(config.head_dim, config.qk_scale_factor)
        made[f"blk.{i}.attn_k_norm.weight"] = np.ones(config.head_dim)
    return made


def _mixed(tensors: Tensors, config: Any, writer: Any) -> tuple[Tensors, Tensors]:
    """What is left, and the experts' matrices under their new names."""
    writer.add_expert_count(config.num_local_experts if hasattr(config, "num_local_experts") else config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    ffn = getattr(config, "moe_intermediate_size", config.intermediate_size)
    writer.add_expert_feed_forward_length(ffn)
    plain: Tensors = {}
    made: Tensors = {}
    for name, values in tensors.items():
        inner = re.fullmatch(r"model\.layers\.(\d+)\.mlp\.experts\.(\w+)", name)
        if inner is None:
            plain[name] = values
        elif inner[2] == "down_proj":
            made[f"blk.{inner[1]}.ffn_down_exps.weight"] = values
        else:
            made[f"blk.{inner[1]}.ffn_gate_exps.weight"] = values[:, :ffn]
            made[f"blk.{inner[1]}.ffn_up_exps.weight"] = values[:, ffn:]
    return plain, made


_SHARED = {
    f"mlp.shared_expert{end}.{part}_proj": f"ffn_{part}_shexp" for end in ("", "s") for part in ("gate", "up", "down")
}
_MIXTURE = _LAYER | _SHARED | {"mlp.gate": "ffn_gate_inp"}
_HYBRID = _MIXTURE | {
    "post_attention_layernorm": "post_attention_norm",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "linear_attn.in_proj_qkv": "attn_qkv",
    "linear_attn.in_proj_z": "attn_gate",
    "linear_attn.in_proj_a": "ssm_alpha",
    "linear_attn.in_proj_b": "ssm_beta",
    "linear_attn.in_proj_ba": "ssm_ba",
    "linear_attn.conv1d": "ssm_conv1d",
    "linear_attn.norm": "ssm_norm",
    "linear_attn.out_proj": "ssm_out",
}


def _hybrid(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    """Qwen3.5's mixtures, whose value heads are reordered, and Qwen3-Next."""
    arch = writer.arch
    plain, made = _mixed(tensors, config, writer)
    keys, values, size = config.linear_num_key_heads, config.linear_num_value_heads, config.linear_key_head_dim
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(config.head_dim * rope["partial_rotary_factor"]))
    if "mrope_section" in rope:
        writer.add_rope_dimension_sections([*rope["mrope_section"], 0])
    writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
    writer.add_ssm_state_size(size)
    writer.add_ssm_group_count(keys)
    writer.add_ssm_time_step_rank(values)
    writer.add_ssm_inner_size(values * config.linear_value_head_dim)
    writer.add_array(f"{arch}.attention.recurrent_layers", [kind == "linear_attention" for kind in config.layer_types])

    def tiled(x: np.ndarray, axis: int, dim: int) -> np.ndarray:
        if arch == "qwen3next":
            return x
        heads = x.reshape(*x.shape[:axis], keys, values // keys, dim, *x.shape[axis + 1 :])
        return heads.swapaxes(axis, axis + 1).reshape(x.shape)

    def changed(name: str, x: np.ndarray) -> np.ndarray:
        part = name.rpartition("linear_attn.")[2]
        if name.endswith("norm.weight") and part != "norm.weight":
            return x + 1
        if part in ("in_proj_qkv.weight", "conv1d.weight"):
            x = x.reshape(len(x), -1)
            return np.concatenate([x[: 2 * keys * size], tiled(x[2 * keys * size :], 0, size)])
        if part == "in_proj_z.weight":
            return tiled(x, 0, size)
        if part in ("in_proj_a.weight", "in_proj_b.weight"):
            return tiled(x, 0, 1)
        if part == "out_proj.weight":
            return tiled(x, 1, size)
        return x[0] if name.endswith("shared_expert_gate.weight") else x

    rest: Tensors = {}
    for name, x in plain.items():
        layer, _, part = name.removeprefix("model.layers.").partition(".linear_attn.")
        if part == "A_log":
            made[f"blk.{layer}.ssm_a"] = tiled(-np.exp(x), 0, 1)
        elif part == "dt_bias":
            made[f"blk.{layer}.ssm_dt.bias"] = tiled(x, 0, 1)
        elif part == "in_proj_qkvz.weight":
            wide = values // keys * size
            grouped = x.reshape(keys, 2 * size + 2 * wide, -1)
            q, k, v, z = np.split(grouped, [size, 2 * size, 2 * size + wide], 1)
            flat = [one.reshape(-1, x.shape[1]) for one in (q, k, v, z)]
            made[f"blk.{layer}.attn_qkv.weight"] = np.concatenate(flat[:3])
            made[f"blk.{layer}.attn_gate.weight"] = flat[3]
        else:
            rest[name] = changed(name, x)
    return made | _named(rest, _HYBRID)


def _glm4(tensors: Tensors, config: Any, writer: Any, seeing: bool = False) -> Tensors:
    """`seeing`: as beside an image encoder, with positions on three axes and the halves that turn together apart."""
    rope = config.rope_parameters
    turned = int(config.head_dim * rope["partial_rotary_factor"])
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(turned)
    if seeing:
        writer.add_rope_dimension_sections([turned // 4, turned // 8, turned // 8, 0])
        order = np.r_[0:turned:2, 1:turned:2, turned : config.head_dim]
        for name in [name for name in tensors if ".q_proj." in name or ".k_proj." in name]:
            heads = tensors[name].reshape(-1, config.head_dim, *tensors[name].shape[1:])
            tensors[name] = heads[:, order].reshape(tensors[name].shape)
    layer = _LAYER | {
        "post_self_attn_layernorm": "post_attention_norm",
        "post_mlp_layernorm": "post_ffw_norm",
        "mlp.gate_up_proj": "ffn_up",
    }
    return _named(tensors, layer)


def _routed(tensors: Tensors, config: Any, writer: Any) -> tuple[Tensors, Tensors]:
    """GLM's and DeepSeek's mixtures."""
    dense = getattr(config, "first_k_dense_replace", 1)
    writer.add_leading_dense_block_count(dense)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    writer.add_expert_weights_norm(config.norm_topk_prob)
    writer.add_expert_group_count(config.n_group)
    writer.add_expert_group_used_count(config.topk_group)
    plain, made = _mixed(tensors, config, writer)
    for name in [name for name in plain if name.endswith("correction_bias")]:
        made[f"blk.{name.split('.')[2]}.exp_probs_b.bias"] = plain.pop(name)
    return plain, made


def _glm4_moe(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    import gguf

    plain, made = _routed(tensors, config, writer)
    rope = config.rope_parameters
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(config.head_dim * rope["partial_rotary_factor"]))
    norms = {f"self_attn.{one}_norm": f"attn_{one}_norm" for one in "qk"}
    return made | _named(plain, _MIXTURE | norms | {"post_attention_layernorm": "post_attention_norm"})


def _deepseek2(tensors: Tensors, config: Any, writer: Any, absorbed: bool = True) -> Tensors:
    """`absorbed`: as since 2025; before, keys' and values' projections were one tensor."""
    import gguf

    plain, made = _routed(tensors, config, writer)
    kinds = gguf.ExpertGatingFuncType
    writer.add_expert_gating_func(kinds.SOFTMAX if hasattr(config, "topk_method") else kinds.SIGMOID)
    key, shared = config.qk_nope_head_dim, config.qk_rope_head_dim
    rank, value = config.kv_lora_rank, config.v_head_dim
    writer.add_kv_lora_rank(rank)
    writer.add_q_lora_rank(config.q_lora_rank or 0)  # llama.cpp wants it of all but the published sizes
    writer.add_head_count_kv(1 if absorbed else config.num_attention_heads)
    writer.add_key_length(rank + shared if absorbed else key + shared)
    writer.add_value_length(rank if absorbed else value)
    if absorbed:
        writer.add_key_length_mla(key + shared)
        writer.add_value_length_mla(value)
    writer.add_rope_dimension_count(shared)
    rope = config.rope_parameters
    if rope["rope_type"] == "yarn":
        _yarn(rope, writer)
        writer.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])
    else:
        writer.add_rope_freq_base(rope["rope_theta"])
    for name in [name for name in plain if absorbed and name.endswith("kv_b_proj.weight")]:
        both = plain.pop(name).reshape(config.num_attention_heads, key + value, rank)
        made[f"blk.{name.split('.')[2]}.attn_k_b.weight"] = both[:, :key].swapaxes(1, 2)
        made[f"blk.{name.split('.')[2]}.attn_v_b.weight"] = both[:, key:]
    latent = {"q_a_proj": "q_a", "q_a_layernorm": "q_a_norm", "q_b_proj": "q_b", "kv_b_proj": "kv_b"}
    latent |= {"kv_a_proj_with_mqa": "kv_a_mqa", "kv_a_layernorm": "kv_a_norm"}
    return made | _named(plain, _MIXTURE | {f"self_attn.{ours}": f"attn_{theirs}" for ours, theirs in latent.items()})


def _minimax_m2(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    import gguf

    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(config.head_dim * rope["partial_rotary_factor"]))
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    plain, made = _mixed(tensors, config, writer)
    for name in [name for name in plain if name.endswith("correction_bias")]:
        made[f"blk.{name.split('.')[2]}.exp_probs_b.bias"] = plain.pop(name)
    return made | _named(plain, _MIXTURE | {f"self_attn.{one}_norm": f"attn_{one}_norm" for one in "qk"})


_NORMS_AFTER = _LAYER | {
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "post_attention_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def _cohere2(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    writer.add_sliding_window(config.sliding_window)  # of four layers the last has none, which files do not say
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_scaling_type(_scaling("none"))
    writer.add_logit_scale(config.logit_scale)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    return _named({name: values for name, values in tensors.items() if name != "lm_head.weight"}, _LAYER)


def _exaone4(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    _windows(config, writer)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    return _named(tensors, _NORMS_AFTER)


def _olmo2(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    _windows(config, writer)
    if "full_attention" in config.rope_parameters:
        _yarn(config.rope_parameters["full_attention"], writer)
    else:
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    return _named(tensors, _NORMS_AFTER)


def _laguna(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    import gguf

    _windows(config, writer)
    ropes = config.rope_parameters
    writer.add_head_count(config.num_attention_heads_per_layer)
    writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    writer.add_expert_weights_norm(True)
    writer.add_expert_weights_scale(config.moe_routed_scaling_factor)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    writer.add_leading_dense_block_count(config.mlp_layer_types.count("dense"))
    _yarn(ropes["full_attention"], writer)
    writer.add_rope_scaling_yarn_beta_fast(ropes["full_attention"]["beta_fast"])
    writer.add_rope_scaling_yarn_beta_slow(ropes["full_attention"]["beta_slow"])
    writer.add_rope_dimension_count(int(config.head_dim * ropes["full_attention"]["partial_rotary_factor"]))
    writer.add_rope_freq_base_swa(ropes["sliding_attention"]["rope_theta"])
    writer.add_rope_dimension_count_swa(config.head_dim)
    plain, made = _mixed(tensors, config, writer)
    for name in [name for name in plain if name.endswith("correction_bias")]:
        made[f"blk.{name.split('.')[2]}.exp_probs_b.bias"] = plain.pop(name)
    more = {"self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.g_proj": "attn_gate"}
    return made | _named(plain, _MIXTURE | more)


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


def _lfm2(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    attending = [kind == "full_attention" for kind in config.layer_types]
    writer.add_head_count_kv([config.num_key_value_heads if attends else 0 for attends in attending])
    writer.add_shortconv_l_cache(config.conv_L_cache)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    layer = _LAYER | {
        "operator_norm": "attn_norm",
        "ffn_norm": "ffn_norm",
        "self_attn.out_proj": "attn_output",
        "self_attn.q_layernorm": "attn_q_norm",
        "self_attn.k_layernorm": "attn_k_norm",
        **{f"conv.{part}": f"shortconv.{part}" for part in ("conv", "in_proj", "out_proj")},
        "feed_forward.w1": "ffn_gate",
        "feed_forward.w3": "ffn_up",
        "feed_forward.w2": "ffn_down",
        "feed_forward.gate": "ffn_gate_inp",
        **_STACKED,
    }
    writer.add_feed_forward_length(len(tensors["model.layers.0.feed_forward.w1.weight"]))
    if hasattr(config, "num_experts"):
        _experts(config, writer)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_leading_dense_block_count(config.num_dense_layers)
        writer.add_expert_gating_func(_sigmoid())
    return _named(_split(tensors), layer)


def _granite(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_logit_scale(config.logits_scaling)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    mixture = getattr(config, "num_local_experts", 0)
    if mixture:
        _experts(config, writer)
    shared = "ffn_{}_shexp" if mixture else "ffn_{}"
    if width := getattr(config, "shared_intermediate_size", 0):
        writer.add_expert_shared_feed_forward_length(width)
        if not mixture:
            writer.add_feed_forward_length(width)
    layer = _LAYER | _STACKED | _mamba("mamba") | {"block_sparse_moe.router": "ffn_gate_inp"}
    layer |= {f"shared_mlp.{part}_proj": shared.format(part) for part in ("gate", "up", "down")}
    if hasattr(config, "mamba_n_heads"):
        attending = [kind == "full_attention" for kind in config.layer_types]
        writer.add_head_count_kv([config.num_key_value_heads if attends else 0 for attends in attending])
        writer.add_rope_scaling_finetuned(config.position_embedding_type == "rope")
        heads, groups = config.mamba_n_heads, config.mamba_n_groups
        _mamba_sizes(writer, heads, config.mamba_d_head, groups, config.mamba_d_state, config.mamba_d_conv)
        tensors = _mamba_tensors(tensors, groups)
    return _named(_split(_all_paired(tensors, config)), layer)


def _nemotron_h(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    kinds = config.layers_block_type
    writer.add_head_count_kv([config.num_key_value_heads if kind == "full_attention" else 0 for kind in kinds])
    wide = {"mlp": config.intermediate_size, "moe": config.moe_intermediate_size}
    writer.add_feed_forward_length([wide.get(kind, 0) for kind in kinds])
    writer.add_layer_norm_eps(config.layer_norm_epsilon)  # files have both
    sizes = config.mamba_num_heads, config.mamba_head_dim, config.n_groups, config.ssm_state_size, config.conv_kernel
    _mamba_sizes(writer, *sizes)
    if "moe" in kinds:
        writer.add_expert_count(config.n_routed_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_shared_feed_forward_length(config.moe_shared_expert_intermediate_size)
        writer.add_expert_shared_count(1)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_group_count(config.n_group)
        writer.add_expert_group_used_count(config.topk_group)
        writer.add_expert_gating_func(_sigmoid())
        if config.moe_latent_size:
            writer.add_moe_latent_size(config.moe_latent_size)
    layer = _mamba("mixer") | {
        "norm": "attn_norm",
        **{f"mixer.{part}_proj": f"attn_{part}" for part in ("q", "k", "v")},
        "mixer.o_proj": "attn_output",
        "mixer.up_proj": "ffn_up",
        "mixer.down_proj": "ffn_down",
        "mixer.gate": "ffn_gate_inp",
        "mixer.shared_experts.up_proj": "ffn_up_shexp",
        "mixer.shared_experts.down_proj": "ffn_down_shexp",
        "mixer.fc1_latent_proj": "ffn_latent_down",
        "mixer.fc2_latent_proj": "ffn_latent_up",
        "experts.up_proj": "ffn_up_exps",
        "experts.down_proj": "ffn_down_exps",
        "router": "exp_probs_b",
    }
    return _named(_split(_mamba_tensors(tensors, config.n_groups)), layer)


def _plain(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    """Llama's names; Seed-OSS calls the second norm otherwise."""
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    seed = {"post_attention_layernorm": "post_attention_norm"} if config.model_type == "seed_oss" else {}
    return _named(_all_paired(tensors, config) if config.model_type == "smollm3" else tensors, _LAYER | seed)


def _bitnet(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_string("bitnet.hidden_activation", config.hidden_act)
    return _named(tensors, _LAYER | {"self_attn.attn_sub_norm": "attn_sub_norm", "mlp.ffn_sub_norm": "ffn_sub_norm"})


def _ernie_moe(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_expert_count(config.moe_num_experts)
    writer.add_expert_used_count(config.moe_k)
    writer.add_interleave_moe_layer_step(config.moe_layer_interval)
    writer.add_leading_dense_block_count(config.moe_layer_start_index)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_count(config.moe_num_shared_experts)
    writer.add_expert_shared_feed_forward_length(config.moe_intermediate_size * config.moe_num_shared_experts)
    shared = {f"mlp.shared_experts.{part}_proj": f"ffn_{part}_shexp" for part in ("gate", "up", "down")}
    return _named(_split(tensors), _LAYER | _STACKED | shared | {"mlp.gate": "ffn_gate_inp"})


def _hunyuan_moe(tensors: Tensors, config: Any, writer: Any) -> Tensors:
    rope, dim = config.rope_parameters, config.head_dim
    writer.add_rope_freq_base(rope["rope_theta"] * rope["alpha"] ** (dim / (dim - 2)))
    _experts(config, writer)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_expert_shared_feed_forward_length(config.intermediate_size)
    writer.add_expert_shared_count(1)
    shared = {f"mlp.shared_mlp.{part}_proj": f"ffn_{part}_shexp" for part in ("gate", "up", "down")}
    norms = {"self_attn.query_layernorm": "attn_q_norm", "self_attn.key_layernorm": "attn_k_norm"}
    return _named(_split(tensors), _LAYER | _STACKED | shared | norms | {"mlp.gate.wg": "ffn_gate_inp"})


_STACKED = {f"experts.{part}_proj": f"ffn_{part}_exps" for part in ("gate", "up", "down")} | {"router": "exp_probs_b"}


def _split(tensors: Tensors) -> Tensors:
    """Fused gates and ups apart, with one name for what families name in different ways."""
    made: Tensors = {}
    for name, values in tensors.items():
        stem, inner = re.sub(r"\.[a-z_]+\.experts\.\w+$", ".experts", name), name.removesuffix(".weight")
        half = values.shape[-2] // 2 if values.ndim > 1 else 0
        if name.endswith("experts.gate_up_proj"):
            made |= {f"{stem}.gate_proj.weight": values[:, :half], f"{stem}.up_proj.weight": values[:, half:]}
        elif stem != name:
            made[f"{stem}.{name.rpartition('.')[2]}.weight"] = values
        elif inner.endswith("shared_mlp.input_linear"):
            stem = inner.removesuffix("input_linear")
            made |= {f"{stem}gate_proj.weight": values[:half], f"{stem}up_proj.weight": values[half:]}
        elif inner.endswith("shared_mlp.output_linear"):
            made[f"{inner.removesuffix('output_linear')}down_proj.weight"] = values
        elif name.endswith(("expert_bias", "e_score_correction_bias")):
            made[re.sub(r"(layers\.\d+)\..*", r"\1.router.bias", name)] = values.reshape(-1)
        else:
            made[name] = values.squeeze(1) if inner.endswith(("conv.conv", "conv1d")) and values.ndim == 3 else values
    return made


def _mamba(stem: str) -> dict[str, str]:
    parts = {"in_proj": "in", "out_proj": "out", "conv1d": "conv1d", "norm": "norm", "dt": "dt", "a": "a", "d": "d"}
    return {f"{stem}.{mine}": f"ssm_{theirs}" for mine, theirs in parts.items()}


def _mamba_tensors(tensors: Tensors, groups: int) -> Tensors:
    made: Tensors = {}
    for name, values in tensors.items():
        stem, _, part = name.rpartition(".")
        if part == "dt_bias":
            made[f"{stem}.dt.bias"] = values
        elif part in ("A_log", "D"):
            made[f"{stem}.{part[0].lower()}."] = (-np.exp(values) if part == "A_log" else values)[:, None]
        elif re.search(r"(mamba|mixer)\.norm$", stem):
            made[name] = values.reshape(groups, -1)
        else:
            made[name] = values
    return made


def _mamba_sizes(writer: Any, heads: int, dim: int, groups: int, state: int, kernel: int) -> None:
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_state_size(state)
    writer.add_ssm_group_count(groups)
    writer.add_ssm_inner_size(heads * dim)
    writer.add_ssm_time_step_rank(heads)


def _experts(config: Any, writer: Any) -> None:
    writer.add_expert_count(getattr(config, "num_local_experts", None) or config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)


def _sigmoid() -> Any:
    import gguf

    return gguf.ExpertGatingFuncType.SIGMOID


def _yarn(rope: dict[str, Any], writer: Any) -> None:
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_scaling_type(_scaling("yarn"))
    writer.add_rope_scaling_factor(rope["factor"])
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def _scaling(name: str) -> Any:
    import gguf

    return gguf.RopeScalingType(name)


# What a file cannot say, so that it must be what published models have. And llama.cpp judges a group of experts by its best two,
# whatever the family does.
FIXED: dict[str, dict[str, Any]] = {
    "deepseek_v2": {"topk_method": "greedy", "n_group": 1, "topk_group": 1},
    "gemma3": {"query_pre_attn_scalar": 32},
    "gpt_oss": {"swiglu_limit": 7.0},
    "gemma4": {  # layers share the keys and values of the last two that have some, the second of which has no window
        "layer_types": [*["full_attention", "sliding_attention"] * 2, "full_attention"]
    },
    "mistral_window": {"sliding_window": None},  # llama.cpp knows no window of Mistral's, and files do not name it
    "exaone4": {"num_hidden_layers": 64},  # llama.cpp has no windows for another number of layers
    "gemma3n": {  # llama.cpp knows these sizes alone
        "num_hidden_layers": 22,
        "layer_types": ["full_attention" if (i + 1) % 5 == 0 or i == 21 else "sliding_attention" for i in range(22)],
        "activation_sparsity_pattern": [0.95] * 10 + [0.0] * 12,
        "vocab_size_per_layer_input": VOCAB,
        "hidden_size_per_layer_input": 256,
        "laurel_rank": 64,
        "altup_num_inputs": 4,
        "altup_active_idx": 0,
        "final_logit_softcapping": 30.0,
    },
    "smollm3": {"num_hidden_layers": 4, "no_rope_layers": [1, 1, 1, 0]},
    "bitnet": {"hidden_act": "silu"},  # the other of its gates is newer than the llama.cpp of our tests
    "ernie4_5": {"use_bias": False},
}
FAMILIES: dict[str, tuple[str, Callable[[Tensors, Any, Any], Tensors]]] = {
    "cohere2": ("cohere2", _cohere2),
    "exaone4": ("exaone4", _exaone4),
    "gemma3": ("gemma3", _gemma3),
    "gemma3n": ("gemma3n", _gemma3n),
    "gemma4": ("gemma4", _gemma4),
    "gemma4_moe": ("gemma4", _gemma4),
    "gpt_oss": ("gpt-oss", _gpt_oss),
    "laguna": ("laguna", _laguna),
    "mistral_window": ("llama", _llama),
    "ministral3": ("mistral3", _mistral3),
    "muse_glimmer": ("muse-glimmer", _muse_glimmer),
    "olmo3": ("olmo2", _olmo2),
    "minimax_m2": ("minimax-m2", _minimax_m2),
    "qwen3_5_moe": ("qwen35moe", _hybrid),
    "qwen3_next": ("qwen3next", _hybrid),
    "glm4": ("glm4", _glm4),
    "glm4 beside an encoder": ("glm4", partial(_glm4, seeing=True)),
    "glm4_moe": ("glm4moe", _glm4_moe),
    "glm4_moe_lite": ("deepseek2", _deepseek2),
    "deepseek_v3": ("deepseek2", _deepseek2),
    "deepseek_v2": ("deepseek2", partial(_deepseek2, absorbed=False)),
    "phi3": ("phi3", _phi3),
    "phi3_long": ("phi3", _phi3),
    "lfm2": ("lfm2", _lfm2),
    "lfm2_moe": ("lfm2moe", _lfm2),
    "granite": ("granite", _granite),
    "granitemoe": ("granitemoe", _granite),
    "granitemoeshared": ("granitemoe", _granite),
    "granite_hybrid": ("granitehybrid", _granite),
    "granite_hybrid_dense": ("granitehybrid", _granite),
    "nemotron_h": ("nemotron_h", _nemotron_h),
    "nemotron_h_moe": ("nemotron_h_moe", _nemotron_h),
    "bitnet": ("bitnet", _bitnet),
    "smollm3": ("smollm3", _plain),
    "seed_oss": ("seed_oss", _plain),
    "ernie4_5": ("ernie4_5", _plain),
    "ernie4_5_moe": ("ernie4_5-moe", _ernie_moe),
    "hunyuan_moe": ("hunyuan-moe", _hunyuan_moe),
    "olmo2": ("olmo2", _olmo2),
    "exaone4_full": ("exaone4", _exaone4),
}


BY_LAYER = ("gemma4", "gemma4_moe")  # they write what differs between layers themselves


def _vocabulary(writer: Any) -> None:
    """Bytes and the special tokens. The one merge makes no token, but llama.cpp wants some."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*alphabet, *SPECIALS])
    writer.add_token_types([1] * len(alphabet) + [3] * len(SPECIALS))
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(VOCAB - 1)


def written(name: str, **changes: Any) -> Any:
    """The tiny model that is written."""
    return reference(name.split()[0], **FIXED.get(name, {}), **changes)


def write(
    name: str, path: Path, experts: str | None = None, blocks: tuple[str, ...] = ("_exps.weight",), **changes: Any
) -> Path:
    """The tiny model `name` in f32; `experts`: their matrices in blocks of this type, or other tensors, whose names end so."""
    import gguf

    arch, family = FAMILIES[name]
    model = written(name, **changes)
    config = model.config.get_text_config()
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    if isinstance(config.intermediate_size, int) and name not in BY_LAYER:
        writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    latent = arch == "deepseek2"
    if not latent and name not in BY_LAYER:
        writer.add_head_count_kv(config.num_key_value_heads)
        if head_dim := getattr(config, "head_dim", None):
            writer.add_key_length(head_dim)
            writer.add_value_length(head_dim)
    eps = (getattr(config, key, None) for key in ("norm_eps", "layer_norm_epsilon", "rms_norm_eps"))
    if number := next(filter(None, eps), None):
        writer.add_layer_norm_rms_eps(number)
    _vocabulary(writer)
    tensors = {key: value.float().numpy() for key, value in model.state_dict().items()}
    if config.tie_word_embeddings:
        tensors.pop("lm_head.weight")
    for key, values in family(tensors, config, writer).items():
        rows = np.ascontiguousarray(values, np.float32)
        if experts and key.endswith(blocks):
            kind = gguf.GGMLQuantizationType[experts]
            writer.add_tensor(key, gguf.quants.quantize(rows, kind), raw_dtype=kind)
        else:
            writer.add_tensor(key, rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
