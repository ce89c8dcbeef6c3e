"""A GGUF file's metadata as the config.json that our models read.

What the file leaves out is taken from its tensors: the vocabulary's size, tied embeddings, biases, which layers are
mixtures. Numbers that were rounded to f32 come back as the decimal that was meant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import ConfigError, UnsupportedArchitecture
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.encoders import encoder_config
from engine.weights.gguf.hybrids import HYBRIDS, expert_counts, rows_of
from engine.weights.gguf.keys import Keys
from engine.weights.gguf.names import ENCODER_TYPES, MODEL_TYPES, layer_of
from engine.weights.gguf.reader import Elements
from engine.weights.gguf.source import LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS

_POOLINGS = {1: "mean", 2: "cls", 3: "last", 4: "rank"}  # how embeddings are made of tokens, where a file says so
_LARGEST_HEAD = 1 << 16


def architecture(metadata: Mapping[str, Any], where: str) -> str:
    arch = metadata.get("general.architecture")
    if not isinstance(arch, str):
        raise ConfigError(f"{where} has no general.architecture, so it is not a model's file.")
    if arch not in MODEL_TYPES and arch not in ENCODER_TYPES:
        raise UnsupportedArchitecture(
            f"{where} has the architecture `{arch}`, which Grus does not read from GGUF. "
            f"Supported: {', '.join(sorted({*MODEL_TYPES, *ENCODER_TYPES}))}."
        )
    if any(key.startswith("prism.hadamard") for key in metadata):
        raise UnsupportedArchitecture(f"{where} stores its weights rotated (prism.hadamard), which is not supported.")
    return arch


def read(metadata: Mapping[str, Any], tensors: Mapping[str, Raw], where: str) -> dict[str, Any]:
    arch = architecture(metadata, where)
    keys = Keys(metadata, arch, where)
    embedding = tensors.get("token_embd.weight")
    if embedding is None or len(embedding.shape) != 2:
        raise ConfigError(f"{where} has no token_embd.weight, so it is not a whole model.")
    hidden, heads = keys.int("embedding_length"), keys.int("attention.head_count")
    if hidden != embedding.shape[1]:
        raise ConfigError(f"{where} has embeddings of {embedding.shape[1]:,} numbers, but says {hidden:,}.")
    if arch in ENCODER_TYPES:
        return encoder_config(keys, tensors, embedding.shape[0]) | _pooling(keys) | _special_ids(metadata)
    head_dim = keys.int("attention.key_length", hidden // heads, most=_LARGEST_HEAD)
    layers = keys.int("block_count") - keys.int("nextn_predict_layers", 0, least=0)
    present = 1 + max((layer for name in tensors if (layer := layer_of(name)) is not None), default=-1)
    if not 0 < layers <= max(present, 1):
        raise ConfigError(f"{where} says that it has {layers:,} layers, but holds tensors of {present:,}.")
    if arch != "deepseek2" and keys.int("attention.value_length", head_dim) != head_dim:
        raise UnsupportedArchitecture(f"{where} has keys and values of different sizes, which is not supported.")
    config: dict[str, Any] = {
        "model_type": MODEL_TYPES[arch],
        "vocab_size": embedding.shape[0],
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": keys.int("attention.head_count_kv", heads),
        "head_dim": head_dim,
        "max_position_embeddings": keys.int("context_length", 2048),
        "rms_norm_eps": keys.float("attention.layer_norm_rms_epsilon", 1e-6),
        "tie_word_embeddings": "output.weight" not in tensors,
        "attention_bias": arch not in ("qwen2", "qwen2vl") and "blk.0.attn_q.bias" in tensors,
        "mlp_bias": "blk.0.ffn_down.bias" in tensors,
        "rope_parameters": _rope(keys, tensors, head_dim),
    }
    if keys.find("attention.sliding_window"):
        config["sliding_window"] = keys.int("attention.sliding_window")
    config |= _pooling(keys)
    if arch == "hunyuan-dense":
        config["use_qk_norm"] = "blk.0.attn_q_norm.weight" in tensors
    config |= _mixture(keys, tensors, config["num_hidden_layers"])
    if arch in ("qwen35", "qwen35moe", "qwen3next"):
        config |= _delta(keys, layers)
    if arch == "glm4moe":
        config["use_qk_norm"] = "blk.0.attn_q_norm.weight" in tensors
    if arch == "deepseek2":
        config |= _latent(keys, tensors, config)
    if arch in _FAMILIES:
        config |= _FAMILIES[arch](keys, tensors, config)
    config.setdefault("sliding_window", None)  # a file that says of none has none
    return config | _special_ids(metadata)


def _pooling(keys: Keys) -> dict[str, str]:
    pooling = keys.int("pooling_type", 0, least=0)
    return {"pooling": _POOLINGS.get(pooling, f"type {pooling}")} if pooling else {}


_ANY_WIDTH = (  # their own functions below say all of it
    *("lfm2moe", "granitemoe", "granitehybrid", "nemotron_h", "nemotron_h_moe"),
    *("ernie4_5-moe", "hunyuan-moe"),
)


def _mixture(keys: Keys, tensors: Mapping[str, Raw], layers: int) -> dict[str, Any]:
    if keys.arch in _ANY_WIDTH:
        return {}
    if not keys.find("expert_count"):
        return {"intermediate_size": keys.int("feed_forward_length")}
    if keys.arch in ("gpt-oss", "minimax-m2"):
        return {
            "intermediate_size": keys.int("expert_feed_forward_length"),
            "num_local_experts": keys.int("expert_count"),
            "num_experts_per_tok": keys.int("expert_used_count"),
        }
    if keys.arch == "gemma4":
        return {"intermediate_size": keys.int("feed_forward_length")}
    if keys.arch not in ("qwen3moe", "qwen3vlmoe", "qwen35moe", "qwen3next", "glm4moe", "deepseek2", "laguna"):
        raise UnsupportedArchitecture(f"{keys.where} is a mixture of experts of a kind that is not supported.")
    ffn = keys.int("expert_feed_forward_length")
    mixtures = [i for i in range(layers) if f"blk.{i}.ffn_gate_inp.weight" in tensors]
    for i in mixtures:
        parts = ("gate_up", "down") if f"blk.{i}.ffn_gate_up_exps.weight" in tensors else ("gate", "up", "down")
        if absent := [n for n in parts if f"blk.{i}.ffn_{n}_exps.weight" not in tensors]:
            raise ConfigError(f"{keys.where} lacks blk.{i}.ffn_{absent[0]}_exps.weight: a router without experts.")
    more: dict[str, Any] = {}
    if keys.arch in ("glm4moe", "deepseek2"):
        more = _corrected(keys, mixtures[0] if mixtures else layers)
    shared = tensors.get(f"blk.{mixtures[0]}.ffn_up_shexp.weight") if mixtures else None
    if shared is not None:
        more["shared_expert_intermediate_size"] = shared.shape[0]
    return more | {
        "intermediate_size": keys.int("feed_forward_length", ffn),
        "moe_intermediate_size": ffn,
        "num_experts": keys.int("expert_count"),
        "num_experts_per_tok": keys.int("expert_used_count"),
        "norm_topk_prob": more.get("norm_topk_prob", True),
        "decoder_sparse_step": 1,
        "mlp_only_layers": sorted(set(range(layers)) - set(mixtures)),
    }


def _corrected(keys: Keys, dense: int) -> dict[str, Any]:
    """GLM's and DeepSeek's mixtures. `dense`: how many of the first layers are none."""
    return {
        "first_k_dense_replace": dense,
        "n_shared_experts": keys.int("expert_shared_count", 0, least=0),
        "routed_scaling_factor": keys.float("expert_weights_scale", 1.0),
        "norm_topk_prob": keys.find("expert_weights_norm") is True,
        "n_group": max(1, keys.int("expert_group_count", 1, least=0)),
        "topk_group": max(1, keys.int("expert_group_used_count", 1, least=0)),
    }


_SIGMOID = 2  # of `expert_gating_func`
_FIRST_GLM = (47, 154880)  # layers and vocabulary of GLM 4.7 Flash, whose first files do not name their gating


def _latent(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes of a head are those of the latent where the file has `attn_k_b`, with a head's own beside them; else the head's own."""
    absorbed = "blk.0.attn_k_b.weight" in tensors
    rank, rope = keys.int("attention.kv_lora_rank"), keys.int("rope.dimension_count")
    size = keys.int("attention.key_length_mla" if absorbed else "attention.key_length")
    gating = keys.int("expert_gating_func", 0, least=0)
    glm = (config["num_hidden_layers"], config["vocab_size"]) == _FIRST_GLM
    sigmoid = gating == _SIGMOID or (not gating and glm)
    if gating not in (0, 1, _SIGMOID):
        raise UnsupportedArchitecture(f"{keys.where} weighs its experts in a way that is not supported.")
    if keys.find("attention.temperature_scale"):
        raise UnsupportedArchitecture(f"{keys.where} scales its queries by their position, which is not supported.")
    return {
        "model_type": "deepseek_v3" if sigmoid else "deepseek_v2",
        "topk_method": "group_limited_greedy" if config.get("n_group", 1) > 1 else "greedy",
        "num_key_value_heads": config["num_attention_heads"],
        "kv_lora_rank": rank,
        "q_lora_rank": keys.int("attention.q_lora_rank") if "blk.0.attn_q_a.weight" in tensors else None,
        "qk_rope_head_dim": rope,
        "qk_nope_head_dim": size - rope,
        "v_head_dim": keys.int("attention.value_length_mla" if absorbed else "attention.value_length"),
        "head_dim": rope,
        "rope_parameters": _rope(keys, tensors, rope),
    }


def _delta(keys: Keys, layers: int) -> dict[str, Any]:
    value_heads, key_heads = keys.int("ssm.time_step_rank"), keys.int("ssm.group_count")
    inner = keys.int("ssm.inner_size")
    if inner % value_heads or value_heads % key_heads:
        raise ConfigError(
            f"{keys.where}: ssm.inner_size, ssm.time_step_rank and ssm.group_count do not divide each other."
        )
    return {
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": value_heads,
        "linear_key_head_dim": keys.int("ssm.state_size"),
        "linear_value_head_dim": inner // value_heads,
        "linear_conv_kernel_dim": keys.int("ssm.conv_kernel"),
        "linear_value_heads_tiled": keys.arch != "qwen3next" and key_heads != value_heads,
        "full_attention_interval": keys.int("full_attention_interval", 4),
    } | _named_kinds(keys, layers)


def _named_kinds(keys: Keys, layers: int) -> dict[str, Any]:
    """Newer files say of each layer whether it is recurrent."""
    found = keys.find("attention.recurrent_layers")
    if not isinstance(found, Elements) or found.count < layers:
        return {}
    return {"layer_types": ["linear_attention" if one else "full_attention" for one in found.numbers()[:layers]]}


def _gemma3(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    """The 27B model scales scores by the width of a head that no head has: files say so by their number of layers alone."""
    of_27b = config["num_hidden_layers"] == 62
    size = config["hidden_size"] // config["num_attention_heads"] if of_27b else config["head_dim"]
    return {
        "hidden_activation": "gelu_pytorch_tanh",
        "norms_hold_one": True,
        "query_pre_attn_scalar": size,
        "sliding_window_pattern": keys.int("attention.sliding_window_pattern", 6),
        "rope_parameters": _two_ropes(keys, config, config["head_dim"]),
    }


def _dense(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "intermediate_size": keys.int("feed_forward_length"),
        "attention_out_bias": "blk.0.attn_output.bias" in tensors,
        "use_bias": config["attention_bias"],
    }


def _two_ropes(keys: Keys, config: Mapping[str, Any], dim: int, theta: float = 10000.0) -> dict[str, Any]:
    """Of layers that attend to everything, and of those with a window, whose heads have `dim` numbers."""
    local = {
        "rope_type": "default",
        "rope_theta": keys.float("rope.freq_base_swa", theta, above=1.0),
        "partial_rotary_factor": keys.int("rope.dimension_count_swa", dim, most=dim) / dim,
    }
    return {"full_attention": config["rope_parameters"], "sliding_attention": local}


def _layer_types(keys: Keys, layers: int, every: int, full_first: bool = False) -> list[str]:
    """A file has a flag for each layer, or says that of every so many the last one has no window, or the first one."""
    name = "attention.sliding_window_pattern"
    if isinstance(keys.find(name), Elements):
        sliding = keys.each(name, layers)
    else:
        every = keys.int(name, every)
        sliding = [i % every != (0 if full_first else every - 1) for i in range(layers)]
    return ["sliding_attention" if flag else "full_attention" for flag in sliding]


def _ernie_moe(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    ffn = keys.int("expert_feed_forward_length")
    return {
        "intermediate_size": keys.int("feed_forward_length"),
        "use_bias": config["attention_bias"],
        "moe_num_experts": keys.int("expert_count"),
        "moe_k": keys.int("expert_used_count"),
        "moe_intermediate_size": ffn,
        "moe_num_shared_experts": rows_of(tensors, "ffn_up_shexp") // ffn,
        "moe_layer_start_index": keys.int("leading_dense_block_count", 0, least=0),
        "moe_layer_interval": keys.int("interleave_moe_layer_step", 1),
    }


def _hunyuan_moe(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    return expert_counts(keys) | {
        "intermediate_size": rows_of(tensors, "ffn_up_shexp"),
        "moe_intermediate_size": keys.int("expert_feed_forward_length"),
        "use_qk_norm": "blk.0.attn_q_norm.weight" in tensors,
    }


def _per_layer_inputs(keys: Keys, tensors: Mapping[str, Raw]) -> dict[str, Any]:
    table = tensors.get("per_layer_token_embd.weight")
    found = {"vocab_size_per_layer_input": table.shape[0]} if table is not None else {}
    return found | {
        "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size_per_layer_input": keys.int("embedding_length_per_layer_input", 0, least=0),
        "final_logit_softcapping": keys.float("final_logit_softcapping", 30.0),
    }


def _gemma3n(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    layers, left = config["num_hidden_layers"], tensors.get("blk.0.laurel_l.weight")
    found = _per_layer_inputs(keys, tensors) | {
        "layer_types": _layer_types(keys, layers, 5),
        "num_kv_shared_layers": keys.int("attention.shared_kv_layers", max(0, layers - 20), least=0),
        "rope_parameters": _two_ropes(keys, config, config["head_dim"]),
        "altup_num_inputs": keys.int("altup.num_inputs", 4),
        "altup_active_idx": keys.int("altup.active_idx", 0, least=0),
        "laurel_rank": 64 if left is None else left.shape[0],
    }
    scales = keys.find("activation_sparsity_scale")
    if isinstance(scales, Elements):  # quantiles of the normal distribution, minus infinity where nothing is cut
        from statistics import NormalDist

        shares = [NormalDist().cdf(scale) if math.isfinite(scale) else 0.0 for scale in scales.numbers().tolist()]
        found["activation_sparsity_pattern"] = [round(share, 6) for share in shares]
    return found


def _gemma4(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    layers, wide = config["num_hidden_layers"], config["head_dim"]
    kinds, kv_heads = _layer_types(keys, layers, 6), keys.each("attention.head_count_kv", layers)
    dim, ffn = keys.int("attention.key_length_swa", most=_LARGEST_HEAD), keys.each("feed_forward_length", layers)
    shared = keys.int("attention.shared_kv_layers", 0, least=0, most=layers)
    own = {i: (wide if kind == "full_attention" else dim, kv_heads[i]) for i, kind in enumerate(kinds)}
    values = [f"blk.{i}.attn_v.weight" for i in range(layers - shared) if kinds[i] == "full_attention"]
    found = _per_layer_inputs(keys, tensors) | {
        "head_dim": dim,
        "layer_types": kinds,
        "per_layer_config": {str(i): {"head_dim": d, "num_key_value_heads": n} for i, (d, n) in own.items()},
        "attention_k_eq_v": bool(values) and not any(name in tensors for name in values),
        "num_kv_shared_layers": shared,
        "use_double_wide_mlp": shared > 0 and ffn[-1] == 2 * ffn[0],
        "rope_parameters": _two_ropes(keys, config, dim),
    }
    if not keys.find("expert_count"):
        return found
    return found | {
        "enable_moe_block": True,
        "num_experts": keys.int("expert_count"),
        "top_k_experts": keys.int("expert_used_count"),
        "moe_intermediate_size": keys.int("expert_feed_forward_length"),
    }


def _muse_glimmer(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    kinds, rope = _layer_types(keys, config["num_hidden_layers"], 4), config["rope_parameters"]
    theta = keys.float("rope.freq_base_swa", rope["rope_theta"], above=1.0)
    return {
        "layer_types": kinds,
        "layer_rope_theta": [0.0 if kind == "full_attention" else theta for kind in kinds],
        "rope_parameters": rope | {"rope_theta": theta},
        "output_multiplier": keys.float("logit_scale", 1.0),
        "final_logit_softcapping": keys.float("final_logit_softcapping", 0.0),
        "norms_hold_one": True,
    }


def _laguna(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    layers, dim = config["num_hidden_layers"], config["head_dim"]
    heads, gate = keys.each("attention.head_count", layers), tensors.get("blk.0.attn_gate.weight")
    dense = keys.int("leading_dense_block_count", 0, least=0, most=layers)
    kinds = _layer_types(keys, layers, 4, full_first=True) if keys.find("attention.sliding_window") else None
    if keys.int("expert_gating_func", 2) != 2:
        raise UnsupportedArchitecture(f"{keys.where} chooses experts in a way that is not supported.")
    return {
        "layer_types": kinds or ["full_attention"] * layers,
        "num_attention_heads_per_layer": heads,
        "rope_parameters": _two_ropes(keys, config, dim, config["rope_parameters"]["rope_theta"]),
        "gating": "per-element" if gate is not None and gate.shape[0] != heads[0] else "per-head",
        "mlp_layer_types": ["dense" if i < dense else "sparse" for i in range(layers)],
        "moe_routed_scaling_factor": keys.float("expert_weights_scale", 1.0),
        "shared_expert_intermediate_size": keys.int("expert_shared_feed_forward_length"),
    }


def _windowed(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    """EXAONE 4 and OLMo: some sizes have no windows."""
    layers, rope = config["num_hidden_layers"], config["rope_parameters"]
    kinds = _layer_types(keys, layers, 4) if "sliding_window" in config else ["full_attention"] * layers
    if keys.arch == "exaone4":
        return {"layer_types": kinds}
    return {"layer_types": kinds, "rope_parameters": _two_ropes(keys, config, config["head_dim"], rope["rope_theta"])}


def _cohere2(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "layer_types": _layer_types(keys, config["num_hidden_layers"], 4),
        "logit_scale": keys.float("logit_scale", 0.0625),
        "layer_norm_eps": keys.float("attention.layer_norm_epsilon", 1e-5),
    }


def _bitnet(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    """Files of llama.cpp's first name for it are of older models."""
    return {"hidden_act": str(keys.find("hidden_activation") or ("silu" if keys.arch == "bitnet" else "relu2"))}


_FAMILIES = HYBRIDS | {
    **dict.fromkeys(("bitnet", "bitnet-25", "bitnet-b1.58"), _bitnet),
    "smollm3": _dense,
    "seed_oss": _dense,
    "ernie4_5": _dense,
    "ernie4_5-moe": _ernie_moe,
    "hunyuan-moe": _hunyuan_moe,
    "cohere2": _cohere2,
    "exaone4": _windowed,
    "olmo2": _windowed,
    "gemma3": _gemma3,
    "gemma3n": _gemma3n,
    "gemma4": _gemma4,
    "laguna": _laguna,
    "muse-glimmer": _muse_glimmer,
}


def _rope(keys: Keys, tensors: Mapping[str, Raw], head_dim: int) -> dict[str, Any]:
    dims = keys.int("rope.dimension_count", head_dim, most=head_dim)
    rope: dict[str, Any] = {
        "rope_type": "default",
        "rope_theta": keys.float("rope.freq_base", 10000.0, above=1.0),
        "partial_rotary_factor": dims / head_dim,
    }
    sections = keys.find("rope.dimension_sections")
    if isinstance(sections, Elements):
        rope |= {
            "mrope_section": sections.numbers().tolist()[:3],
            "mrope_interleaved": keys.arch not in ("glm4", "qwen2vl"),
        }
    if LONG_FACTORS in tensors and SHORT_FACTORS in tensors:
        names = {"short_factor": SHORT_FACTORS, "long_factor": LONG_FACTORS}
        rope |= {name: dequantize(tensors[stored]).reshape(-1).tolist() for name, stored in names.items()}
        scale = keys.find("rope.scaling.attn_factor")
        return rope | {
            "rope_type": "longrope",
            "original_max_position_embeddings": keys.int("rope.scaling.original_context_length"),
            "attention_factor": None if scale is None else keys.float("rope.scaling.attn_factor", 1.0),
        }
    kind, factor = keys.find("rope.scaling.type"), keys.float("rope.scaling.factor", 1.0)
    if ROPE_FACTORS in tensors:
        return rope | {"rope_type": "factors", "factors": dequantize(tensors[ROPE_FACTORS]).reshape(-1).tolist()}
    if kind == "linear" and factor != 1.0:
        return rope | {"rope_type": "linear", "factor": factor}
    if kind == "yarn":
        original = keys.int("rope.scaling.original_context_length", keys.find("context_length"))
        yarn = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original}
        return rope | yarn | _yarn_of(keys)
    if kind not in (None, "none", "linear"):
        raise UnsupportedArchitecture(f"{keys.where} scales its positions by `{kind}`, which is not supported.")
    return rope


def _yarn_of(keys: Keys) -> dict[str, Any]:
    """What two families' files leave out, or say beside the usual."""
    if keys.arch == "gpt-oss":
        return {"truncate": False}
    if keys.arch == "deepseek2":  # a tenth of it is written
        mscale = 10 * keys.float("rope.scaling.yarn_log_multiplier", 0.0, above=-1.0)
        return {"mscale": mscale, "mscale_all_dim": mscale}
    if keys.arch not in ("mistral3", "laguna"):
        return {}
    names = {
        "beta_fast": "rope.scaling.yarn_beta_fast",
        "beta_slow": "rope.scaling.yarn_beta_slow",
        "mscale_all_dim": "rope.scaling.yarn_log_multiplier",
        "llama_4_scaling_beta": "attention.temperature_scale",
    }
    found = {ours: keys.float(theirs, 0.0) for ours, theirs in names.items() if keys.find(theirs)}
    return found | ({"mscale": 1.0} if "mscale_all_dim" in found else {})


def _special_ids(metadata: Mapping[str, Any]) -> dict[str, Any]:
    names = {"bos": "bos_token_id", "eos": "eos_token_id", "padding": "pad_token_id"}
    found = {ours: metadata.get(f"tokenizer.ggml.{theirs}_token_id") for theirs, ours in names.items()}
    return {name: id for name, id in found.items() if isinstance(id, int)}


_SAMPLING = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repetition_penalty",
}
_ENDS = (  # of a turn or a text
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>"),
    *("<end_of_turn>", "<turn|>", "<|tool_response>", "<|return|>", "<|call|>"),
)
_END = "<|end|>"  # of Phi's turns; beside `<|return|>` it ends a message, after which gpt-oss continues


def generation(metadata: Mapping[str, Any], ids: Mapping[str, int]) -> dict[str, Any]:
    """What would be in generation_config.json. `ids` are the control tokens of the vocabulary."""
    ends = [metadata.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom")]
    ends += [ids[token] for token in _ENDS if token in ids]
    ends += [ids[_END]] if _END in ids and "<|return|>" not in ids else []
    config: dict[str, Any] = {"eos_token_id": list(dict.fromkeys(id for id in ends if isinstance(id, int)))}
    for theirs, ours in _SAMPLING.items():
        value = metadata.get(f"general.sampling.{theirs}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            config |= {ours: float(str(np.float32(value))) if isinstance(value, float) else value, "do_sample": True}
    return config
