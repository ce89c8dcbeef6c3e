"""Config fields of LFM 2, Granite and Nemotron-H: what each of their layers is, its tensors say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Raw
from engine.weights.gguf.keys import Keys


def _lfm2(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    layers = range(config["num_hidden_layers"])
    made: dict[str, Any] = {
        "intermediate_size": keys.int("feed_forward_length"),
        "block_auto_adjust_ff_dim": False,
        "conv_L_cache": keys.int("shortconv.l_cache"),
        "layer_types": ["full_attention" if f"blk.{i}.attn_q.weight" in tensors else "conv" for i in layers],
    }
    if keys.arch == "lfm2moe":
        made |= expert_counts(keys) | {
            "moe_intermediate_size": keys.int("expert_feed_forward_length"),
            "num_dense_layers": keys.int("leading_dense_block_count", 0, least=0),
            "norm_topk_prob": True,
            "use_expert_bias": any(name.endswith(".exp_probs_b.bias") for name in tensors),
            "routed_scaling_factor": keys.float("expert_weights_scale", 1.0),
        }
    return made


def _granite(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    kinds = _kinds(tensors, config)
    made: dict[str, Any] = {
        "intermediate_size": keys.int("feed_forward_length"),
        "attention_multiplier": keys.float("attention.scale", config["head_dim"] ** -0.5),
        "embedding_multiplier": keys.float("embedding_scale", 1.0),
        "residual_multiplier": keys.float("residual_scale", 1.0),
        "logits_scaling": keys.float("logit_scale", 1.0),
    }
    if keys.find("expert_count"):
        made |= expert_counts(keys) | {"shared_intermediate_size": rows_of(tensors, "ffn_gate_shexp")}
    elif keys.arch == "granitehybrid":
        made |= {"num_local_experts": 0, "shared_intermediate_size": rows_of(tensors, "ffn_gate")}
    if keys.arch == "granitehybrid":
        sizes = _mamba_sizes(keys)
        made |= {
            "layer_types": kinds,
            "position_embedding_type": "rope" if keys.find("rope.scaling.finetuned") is not False else "nope",
            **{
                f"mamba_{name}": size
                for name, size in zip(("n_heads", "d_head", "n_groups", "d_state", "d_conv"), sizes)
            },
            "mamba_conv_bias": any(name.endswith(".ssm_conv1d.bias") for name in tensors),
        }
    return made


def _nemotron_h(keys: Keys, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> dict[str, Any]:
    names = ("mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel")
    made: dict[str, Any] = {
        "layers_block_type": _kinds(tensors, config),
        "intermediate_size": rows_of(tensors, "ffn_up") or 1,
        "layer_norm_epsilon": keys.float("attention.layer_norm_epsilon", config["rms_norm_eps"]),
        "use_conv_bias": any(name.endswith(".ssm_conv1d.bias") for name in tensors),
        **dict(zip(names, _mamba_sizes(keys))),
    }
    if keys.find("expert_count"):
        made |= expert_counts(keys) | {
            "moe_intermediate_size": keys.int("expert_feed_forward_length"),
            "moe_shared_expert_intermediate_size": rows_of(tensors, "ffn_up_shexp"),
            "moe_latent_size": rows_of(tensors, "ffn_latent_down"),
            "n_group": max(1, keys.int("expert_group_count", 1, least=0)),
            "topk_group": max(1, keys.int("expert_group_used_count", 1, least=0)),
            "norm_topk_prob": keys.find("expert_weights_norm") is not False,
            "routed_scaling_factor": keys.float("expert_weights_scale", 1.0),
        }
    return made


def _kinds(tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> list[str]:
    """What each layer is, by its tensors."""
    marks = {"ssm_in": "mamba", "attn_q": "attention", "ffn_gate_inp": "moe"}
    return [
        next((kind for mark, kind in marks.items() if f"blk.{i}.{mark}.weight" in tensors), "mlp")
        for i in range(config["num_hidden_layers"])
    ]


def _mamba_sizes(keys: Keys) -> tuple[int, ...]:
    """Heads, the size of one, groups, states, and taps of the convolution."""
    inner, heads = keys.int("ssm.inner_size"), keys.int("ssm.time_step_rank")
    return heads, inner // heads, keys.int("ssm.group_count"), keys.int("ssm.state_size"), keys.int("ssm.conv_kernel")


def expert_counts(keys: Keys) -> dict[str, Any]:
    return {"num_local_experts": keys.int("expert_count"), "num_experts_per_tok": keys.int("expert_used_count")}


def rows_of(tensors: Mapping[str, Raw], part: str) -> int:
    """The rows of a layer's matrix that not every layer has; 0 where none has it."""
    return next((raw.shape[0] for name, raw in tensors.items() if name.endswith(f".{part}.weight")), 0)


HYBRIDS = {
    "lfm2": _lfm2,
    "lfm2moe": _lfm2,
    "granite": _granite,
    "granitemoe": _granite,
    "granitehybrid": _granite,
    "nemotron_h": _nemotron_h,
    "nemotron_h_moe": _nemotron_h,
}
