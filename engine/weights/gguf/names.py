"""What GGUF calls a tensor, and what our models call it. The same table serves reading and writing.

`{}` stands for a layer's number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.weights.gguf.encoders import BERT_NAMES, NOMIC_NAMES

MODEL_TYPES = {
    "cohere2": "cohere2",
    "exaone4": "exaone4",
    "olmo2": "olmo3",
    "llama": "llama",
    "qwen2": "qwen2",
    "qwen2vl": "qwen2",  # without its mmproj file
    "qwen3": "qwen3",
    "qwen3moe": "qwen3_moe",
    "qwen3vl": "qwen3",
    "qwen3vlmoe": "qwen3_moe",
    "qwen35": "qwen3_5_text",
    "qwen35moe": "qwen3_5_moe_text",
    "qwen3next": "qwen3_next",
    "glm4": "glm4",
    "glm4moe": "glm4_moe",
    "deepseek2": "deepseek_v3",
    "minimax-m2": "minimax_m2",
    "hunyuan-dense": "hunyuan_v1_dense",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gpt-oss": "gpt_oss",
    "laguna": "laguna",
    "mistral3": "ministral3",
    "muse-glimmer": "muse_glimmer_text",
    "phi3": "phi3",
    "lfm2": "lfm2",
    "lfm2moe": "lfm2_moe",
    "granite": "granite",
    "granitemoe": "granitemoe",
    "granitehybrid": "granitemoehybrid",
    "nemotron_h": "nemotron_h",
    "nemotron_h_moe": "nemotron_h",
    "bitnet-b1.58": "bitnet",  # so BitNet's own program calls it
    "bitnet-25": "bitnet",
    "bitnet": "bitnet",
    "smollm3": "smollm3",
    "seed_oss": "seed_oss",
    "ernie4_5": "ernie4_5",
    "ernie4_5-moe": "ernie4_5_moe",
    "hunyuan-moe": "hunyuan_v1_moe",
}
# encoders of texts, which Grus reads and does not write
ENCODER_TYPES = {"bert": "bert", "nomic-bert": "nomic_bert", "gemma-embedding": "gemma3_text"}
_EVERYWHERE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
    "blk.{}.attn_norm.weight": "model.layers.{}.input_layernorm.weight",
    "blk.{}.ffn_norm.weight": "model.layers.{}.post_attention_layernorm.weight",
    **{
        f"blk.{{}}.{theirs}.{part}": f"model.layers.{{}}.{ours}.{part}"
        for part in ("weight", "bias")
        for theirs, ours in {
            "attn_q": "self_attn.q_proj",
            "attn_k": "self_attn.k_proj",
            "attn_v": "self_attn.v_proj",
            "attn_output": "self_attn.o_proj",
            "ffn_gate": "mlp.gate_proj",
            "ffn_up": "mlp.up_proj",
            "ffn_down": "mlp.down_proj",
        }.items()
    },
}
_HEAD_NORMS = {
    "blk.{}.attn_q_norm.weight": "model.layers.{}.self_attn.q_norm.weight",
    "blk.{}.attn_k_norm.weight": "model.layers.{}.self_attn.k_norm.weight",
}
_EXPERTS = {
    "blk.{}.ffn_gate_inp.weight": "model.layers.{}.mlp.gate.weight",
    "blk.{}.ffn_gate_exps.weight": "model.layers.{}.mlp.switch_mlp.gate_proj.weight",
    "blk.{}.ffn_up_exps.weight": "model.layers.{}.mlp.switch_mlp.up_proj.weight",
    "blk.{}.ffn_down_exps.weight": "model.layers.{}.mlp.switch_mlp.down_proj.weight",
    "blk.{}.ffn_gate_up_exps.weight": "model.layers.{}.mlp.experts.gate_up_proj.weight",
}


def _layers(stem: str, names: dict[str, str], *parts: str) -> dict[str, str]:
    """Of every layer: theirs and ours below `stem`, with each of these parts (`weight`, where none is given)."""
    return {
        f"blk.{{}}.{theirs}.{part}": f"{stem}.{ours}.{part}"
        for part in parts or ("weight",)
        for theirs, ours in names.items()
    }


def _in_layers(names: dict[str, str]) -> dict[str, str]:
    return _layers("model.layers.{}", names)


def _shared_expert(name: str) -> dict[str, str]:
    """The expert that all tokens share, as the model calls it."""
    return _in_layers({f"ffn_{part}_shexp": f"mlp.{name}.{part}_proj" for part in ("gate", "up", "down")})


_GATED_SHARED = _shared_expert("shared_expert") | {
    "blk.{}.ffn_gate_inp_shexp.weight": "model.layers.{}.mlp.shared_expert_gate.weight"
}
_CORRECTED = _shared_expert("shared_experts") | {
    "blk.{}.exp_probs_b.bias": "model.layers.{}.mlp.gate.e_score_correction_bias"
}
_DELTA = {
    **_in_layers({"post_attention_norm": "post_attention_layernorm"}),
    "blk.{}.attn_qkv.weight": "model.layers.{}.linear_attn.in_proj_qkv.weight",
    "blk.{}.attn_gate.weight": "model.layers.{}.linear_attn.in_proj_z.weight",
    "blk.{}.ssm_alpha.weight": "model.layers.{}.linear_attn.in_proj_a.weight",
    "blk.{}.ssm_beta.weight": "model.layers.{}.linear_attn.in_proj_b.weight",
    "blk.{}.ssm_conv1d.weight": "model.layers.{}.linear_attn.conv1d.weight",
    "blk.{}.ssm_dt.bias": "model.layers.{}.linear_attn.dt_bias",
    "blk.{}.ssm_a": "model.layers.{}.linear_attn.A_log",
    "blk.{}.ssm_norm.weight": "model.layers.{}.linear_attn.norm.weight",
    "blk.{}.ssm_out.weight": "model.layers.{}.linear_attn.out_proj.weight",
}
_FUSED_DELTA = {
    "blk.{}.ssm_ba.weight": "model.layers.{}.linear_attn.in_proj_ba.weight",
    "blk.{}.ssm_in.weight": "model.layers.{}.linear_attn.in_proj_qkvz.weight",
}
_LATENT = {
    f"blk.{{}}.attn_{theirs}.weight": f"model.layers.{{}}.self_attn.{ours}.weight"
    for theirs, ours in {
        "q_a": "q_a_proj",
        "q_a_norm": "q_a_layernorm",
        "q_b": "q_b_proj",
        "kv_a_mqa": "kv_a_proj_with_mqa",
        "kv_a_norm": "kv_a_layernorm",
        "kv_b": "kv_b_proj",
        "k_b": "embed_q",
        "v_b": "unembed_out",
    }.items()
}
_GLM4 = _in_layers(
    {
        "post_attention_norm": "post_self_attn_layernorm",
        "post_ffw_norm": "post_mlp_layernorm",
        "ffn_up": "mlp.gate_up_proj",
    }
)
_MIXED_NORM = _in_layers(
    {"post_attention_norm": "post_attention_layernorm"}
)  # of what attention gives, not of what it is given
_NORMS_AFTER = _MIXED_NORM | _in_layers({"post_ffw_norm": "post_feedforward_layernorm"})
_GEMMA3 = _NORMS_AFTER | _in_layers({"ffn_norm": "pre_feedforward_layernorm"})
_PER_LAYER = {
    **{
        f"{theirs}.weight": f"model.{ours}.weight"
        for theirs, ours in {
            "per_layer_token_embd": "embed_tokens_per_layer",
            "per_layer_model_proj": "per_layer_model_projection",
            "per_layer_proj_norm": "per_layer_projection_norm",
            "blk.{}.inp_gate": "layers.{}.per_layer_input_gate",
            "blk.{}.proj": "layers.{}.per_layer_projection",
            "blk.{}.post_norm": "layers.{}.post_per_layer_input_norm",
        }.items()
    },
}
_GEMMA3N = {
    "blk.{}.altup_correct_scale.weight": "model.layers.{}.altup.correct_output_scale",
    **_in_layers(
        {
            "altup_correct_coef": "altup.correction_coefs",
            "altup_predict_coef": "altup.prediction_coefs",
            "altup_router": "altup.modality_router",
            "altup_router_norm": "altup.router_norm",
            "laurel_l": "laurel.linear_left",
            "laurel_r": "laurel.linear_right",
            "laurel_post_norm": "laurel.post_laurel_norm",
        }
    ),
}
_GEMMA4 = {
    "blk.{}.layer_output_scale.weight": "model.layers.{}.layer_scalar",
    "blk.{}.ffn_gate_inp.scale": "model.layers.{}.router.scale",
    "blk.{}.ffn_down_exps.scale": "model.layers.{}.router.per_expert_scale",
    **_in_layers(
        {
            "ffn_gate_inp": "router.proj",
            "ffn_gate_up_exps": "experts.gate_up_proj",
            "ffn_gate_exps": "experts.switch_glu.gate_proj",
            "ffn_up_exps": "experts.switch_glu.up_proj",
            "ffn_down_exps": "experts.down_proj",
            "post_ffw_norm_1": "post_feedforward_layernorm_1",
            "pre_ffw_norm_2": "pre_feedforward_layernorm_2",
            "post_ffw_norm_2": "post_feedforward_layernorm_2",
        }
    ),
}
_LAGUNA = {
    "blk.{}.attn_gate.weight": "model.layers.{}.self_attn.g_proj.weight",
    "blk.{}.exp_probs_b.bias": "model.layers.{}.mlp.experts.e_score_correction_bias",
    **_shared_expert("shared_expert"),
}
# tensors that hold several of the model's matrices
STACKED = {
    "altup_proj.weight": "model.altup_projections.{}.weight",
    "altup_unembd_proj.weight": "model.altup_unembed_projections.{}.weight",
}
_GPT_OSS = {
    **_MIXED_NORM,
    "blk.{}.attn_sinks.weight": "model.layers.{}.self_attn.sinks",
    **{
        f"blk.{{}}.{theirs}.{part}": f"model.layers.{{}}.mlp.{ours}.{part}"
        for part in ("weight", "bias")
        for theirs, ours in {
            "ffn_gate_inp": "router",
            "ffn_gate_exps": "switch_mlp.gate_proj",
            "ffn_up_exps": "switch_mlp.up_proj",
            "ffn_down_exps": "switch_mlp.down_proj",
        }.items()
    },
}
_MINIMAX_M2 = {
    theirs: ours.replace(".mlp.", ".block_sparse_moe.").replace(".gate.e_score", ".e_score")
    for theirs, ours in (_EXPERTS | _CORRECTED).items()
    if "_shexp" not in theirs
}
_WITHOUT_FFN_NORM = {k: v for k, v in _EVERYWHERE.items() if "ffn_norm" not in k}


def _mamba(stem: str) -> dict[str, str]:
    return {
        **_layers(stem, {"ssm_in": "in_proj", "ssm_out": "out_proj", "ssm_norm": "norm"}),
        **_layers(stem, {"ssm_conv1d": "conv1d"}, "weight", "bias"),
        "blk.{}.ssm_dt.bias": f"{stem}.dt_bias",
        "blk.{}.ssm_a": f"{stem}.A_log",
        "blk.{}.ssm_d": f"{stem}.D",
    }


_LFM2 = {
    "token_embd.weight": "model.embed_tokens.weight",
    "token_embd_norm.weight": "model.embedding_norm.weight",
    "output.weight": "lm_head.weight",
    **_layers(
        "model.layers.{}",
        {
            "attn_norm": "operator_norm",
            "ffn_norm": "ffn_norm",
            "shortconv.conv": "conv.conv",
            "shortconv.in_proj": "conv.in_proj",
            "shortconv.out_proj": "conv.out_proj",
            "attn_q": "self_attn.q_proj",
            "attn_k": "self_attn.k_proj",
            "attn_v": "self_attn.v_proj",
            "attn_output": "self_attn.out_proj",
            "attn_q_norm": "self_attn.q_layernorm",
            "attn_k_norm": "self_attn.k_layernorm",
            "ffn_gate": "feed_forward.w1",
            "ffn_up": "feed_forward.w3",
            "ffn_down": "feed_forward.w2",
            "ffn_gate_inp": "feed_forward.gate",
            "ffn_gate_exps": "feed_forward.switch_mlp.gate_proj",
            "ffn_up_exps": "feed_forward.switch_mlp.up_proj",
            "ffn_down_exps": "feed_forward.switch_mlp.down_proj",
        },
    ),
    "blk.{}.exp_probs_b.bias": "model.layers.{}.feed_forward.expert_bias",
}
_GRANITE = _EVERYWHERE | _layers(
    "model.layers.{}",
    {
        "ffn_gate_inp": "block_sparse_moe.router.layer",
        "ffn_gate_exps": "block_sparse_moe.switch_mlp.gate_proj",
        "ffn_up_exps": "block_sparse_moe.switch_mlp.up_proj",
        "ffn_down_exps": "block_sparse_moe.switch_mlp.down_proj",
        "ffn_gate_shexp": "shared_mlp.gate_proj",
        "ffn_up_shexp": "shared_mlp.up_proj",
        "ffn_down_shexp": "shared_mlp.down_proj",
    },
)
_NEMOTRON_H = {
    "token_embd.weight": "backbone.embeddings.weight",
    "output_norm.weight": "backbone.norm_f.weight",
    "output.weight": "lm_head.weight",
    "blk.{}.attn_norm.weight": "backbone.layers.{}.norm.weight",
    **_mamba("backbone.layers.{}.mixer"),
    **_layers(
        "backbone.layers.{}.mixer",
        {
            "attn_q": "q_proj",
            "attn_k": "k_proj",
            "attn_v": "v_proj",
            "attn_output": "o_proj",
            "ffn_up": "up_proj",
            "ffn_down": "down_proj",
            "ffn_gate_inp": "gate",
            "ffn_up_exps": "switch_mlp.fc1",
            "ffn_down_exps": "switch_mlp.fc2",
            "ffn_up_shexp": "shared_experts.up_proj",
            "ffn_down_shexp": "shared_experts.down_proj",
            "ffn_latent_down": "fc1_latent_proj",
            "ffn_latent_up": "fc2_latent_proj",
        },
    ),
    "blk.{}.exp_probs_b.bias": "backbone.layers.{}.mixer.gate.e_score_correction_bias",
}
_HUNYUAN = _EVERYWHERE | {
    "blk.{}.attn_q_norm.weight": "model.layers.{}.self_attn.query_layernorm.weight",
    "blk.{}.attn_k_norm.weight": "model.layers.{}.self_attn.key_layernorm.weight",
}
_NAMES: dict[str, dict[str, str]] = {
    "llama": _EVERYWHERE,
    "qwen2": _EVERYWHERE,
    "qwen2vl": _EVERYWHERE,
    "qwen3": _EVERYWHERE | _HEAD_NORMS,
    "qwen3moe": _EVERYWHERE | _HEAD_NORMS | _EXPERTS,
    "qwen3vl": _EVERYWHERE | _HEAD_NORMS,
    "qwen3vlmoe": _EVERYWHERE | _HEAD_NORMS | _EXPERTS,
    "qwen35": _WITHOUT_FFN_NORM | _HEAD_NORMS | _DELTA,
    "qwen35moe": _WITHOUT_FFN_NORM | _HEAD_NORMS | _DELTA | _EXPERTS | _GATED_SHARED,
    "qwen3next": _WITHOUT_FFN_NORM | _HEAD_NORMS | _DELTA | _FUSED_DELTA | _EXPERTS | _GATED_SHARED,
    "glm4": _EVERYWHERE | _GLM4,
    "glm4moe": _WITHOUT_FFN_NORM | _HEAD_NORMS | _EXPERTS | _CORRECTED | _MIXED_NORM,
    "deepseek2": _EVERYWHERE | _LATENT | _EXPERTS | _CORRECTED,
    "minimax-m2": _EVERYWHERE | _HEAD_NORMS | _MINIMAX_M2,
    "hunyuan-dense": _HUNYUAN,
    "hunyuan-moe": _HUNYUAN
    | _EXPERTS
    | _shared_expert("shared_mlp")
    | {"blk.{}.ffn_gate_inp.weight": "model.layers.{}.mlp.gate.wg.weight"},
    "gemma3": _EVERYWHERE | _HEAD_NORMS | _GEMMA3,
    "gemma3n": _EVERYWHERE | _HEAD_NORMS | _GEMMA3 | _PER_LAYER | _GEMMA3N,
    "gemma4": _EVERYWHERE | _HEAD_NORMS | _GEMMA3 | _PER_LAYER | _GEMMA4,
    "gpt-oss": {k: v for k, v in _EVERYWHERE.items() if "ffn" not in k} | _GPT_OSS,
    "cohere2": _EVERYWHERE,
    "exaone4": _EVERYWHERE | _HEAD_NORMS | _NORMS_AFTER,
    "olmo2": _EVERYWHERE | _HEAD_NORMS | _NORMS_AFTER,
    "laguna": _EVERYWHERE | _HEAD_NORMS | _EXPERTS | _LAGUNA,
    "mistral3": _EVERYWHERE,
    "muse-glimmer": _EVERYWHERE
    | _HEAD_NORMS
    | _GEMMA3
    | {"blk.{}.attn_gate.weight": "model.layers.{}.self_attn.gate_proj.weight"},
    "phi3": _EVERYWHERE
    | {
        "blk.{}.attn_qkv.weight": "model.layers.{}.self_attn.qkv_proj.weight",
        "blk.{}.ffn_up.weight": "model.layers.{}.mlp.gate_up_proj.weight",
    },
    "lfm2": _LFM2,
    "lfm2moe": _LFM2,
    "granite": _EVERYWHERE,
    "granitemoe": _GRANITE,
    "granitehybrid": _GRANITE | _mamba("model.layers.{}.mamba"),
    "nemotron_h": _NEMOTRON_H,
    "nemotron_h_moe": _NEMOTRON_H,
    "bitnet": _EVERYWHERE
    | {
        "blk.{}.attn_sub_norm.weight": "model.layers.{}.self_attn.attn_sub_norm.weight",
        "blk.{}.ffn_sub_norm.weight": "model.layers.{}.mlp.ffn_sub_norm.weight",
    },
    "smollm3": _EVERYWHERE,
    "seed_oss": _WITHOUT_FFN_NORM | _MIXED_NORM,
    "ernie4_5": _EVERYWHERE,
    "ernie4_5-moe": _EVERYWHERE
    | _EXPERTS
    | _shared_expert("shared_experts")
    | {"blk.{}.exp_probs_b.bias": "model.layers.{}.mlp.moe_statics.e_score_correction_bias"},
}
_NAMES |= {"bert": BERT_NAMES, "nomic-bert": NOMIC_NAMES, "gemma-embedding": _NAMES["gemma3"]}
_NAMES |= dict.fromkeys(("bitnet-b1.58", "bitnet-25"), _NAMES["bitnet"])
_OURS = {arch: {ours: theirs for theirs, ours in names.items()} for arch, names in _NAMES.items()}
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


def to_model(arch: str, name: str) -> str:
    """The model's name of a GGUF tensor; a name that is not known stays as it is."""
    return translate(_NAMES[arch], name) or name


PREDICTING = frozenset(
    {"qwen35", "qwen35moe", "qwen3next", "glm4moe", "deepseek2"}
)  # whose layers for multi-token prediction are read
_PREDICTION = {
    "nextn.eh_proj": "mtp.fc",
    "nextn.enorm": "mtp.pre_fc_norm_embedding",
    "nextn.hnorm": "mtp.pre_fc_norm_hidden",
    "nextn.shared_head_norm": "mtp.norm",
}


def to_prediction(arch: str, name: str, layers: int) -> str:
    """The name of a tensor of a layer behind the model's `layers`: they predict further tokens (multi-token prediction)."""
    number = layer_of(name)
    own = name.removeprefix(f"blk.{number}.")
    part, _, kind = own.rpartition(".")
    if part in _PREDICTION:
        return f"{_PREDICTION[part]}.{kind}"
    layer = f"mtp.layers.{(number or 0) - layers}."
    found = translate(_NAMES[arch], name)
    return f"{layer}{own}" if found is None else found.replace(f"model.layers.{number}.", layer)


def to_gguf(arch: str, name: str) -> str | None:
    return translate(_OURS[arch], name)


def translate(names: Mapping[str, str], name: str) -> str | None:
    """A name by a table in which `{}` stands for the first number of a name."""
    if name in names:
        return names[name]
    match = _NUMBER.search(name)
    if match is None:
        return None
    found = names.get(f"{name[: match.start()]}{{}}{name[match.end() :]}")
    return found and found.replace("{}", match[0])


def layer_of(name: str) -> int | None:
    """The layer that a GGUF tensor belongs to."""
    match = re.match(r"blk\.(\d+)\.", name)
    return int(match[1]) if match else None
