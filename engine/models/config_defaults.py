"""What a config means where it leaves a field out, by its text model's type, as the reference's config classes say.

Only fields whose meaning is not the same for all types (`text_config` and the families' files say that one), and whose absence would
change numbers without a word: a model with a head of another size does not load.
"""

from __future__ import annotations

from typing import Any

_FIVE = {"rms_norm_eps": 1e-5}
_LIQUID = {"norm_eps": 1e-5}
_GEMMA4_ROPES = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6},
}
_YARN = {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0}

LEFT_OUT: dict[str, dict[str, Any]] = {
    "bitnet": _FIVE,
    "cohere2": {"sliding_window": 4096},
    "deepseek_v3": {"n_group": 8, "topk_group": 4, "first_k_dense_replace": 3, "routed_scaling_factor": 2.5},
    "ernie4_5": _FIVE,
    "ernie4_5_moe": _FIVE,
    "exaone4": _FIVE | {"sliding_window": 4096},
    "gemma3_text": {
        "vocab_size": 262208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "max_position_embeddings": 131072,
        "query_pre_attn_scalar": 256,
        "sliding_window": 4096,
        "tie_word_embeddings": True,
    },
    "gemma3n_text": {"tie_word_embeddings": True, "sliding_window": 512, "num_kv_shared_layers": 15},
    "gemma4_text": {
        "tie_word_embeddings": True,
        "sliding_window": 512,
        "hidden_size_per_layer_input": 256,
        "rope_parameters": _GEMMA4_ROPES,
    },
    "gemma4_unified_text": {"tie_word_embeddings": True, "sliding_window": 1024, "rope_parameters": _GEMMA4_ROPES},
    "glm4": {"rms_norm_eps": 1.5625e-7},
    "glm4_moe": _FIVE,
    "glm4_moe_lite": _FIVE | {"routed_scaling_factor": 1.8},
    "gpt_oss": _FIVE
    | {
        "sliding_window": 128,
        "rope_parameters": _YARN
        | {"factor": 32.0, "truncate": False, "original_max_position_embeddings": 4096, "rope_theta": 150000.0},
    },
    "hunyuan_v1_dense": _FIVE,
    "hunyuan_v1_moe": _FIVE,
    "laguna": {
        "sliding_window": 512,
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
        },
    },
    "lfm2": _LIQUID,
    "lfm2_moe": _LIQUID | {"num_dense_layers": 2},
    "lfm3": _LIQUID
    | {
        "sliding_window": 256,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.5},
        },
    },
    "ministral3": _FIVE
    | {
        "rope_parameters": _YARN
        | {
            "rope_theta": 1000000.0,
            "factor": 16.0,
            "original_max_position_embeddings": 16384,
            "mscale_all_dim": 1.0,
            "mscale": 1.0,
            "llama_4_scaling_beta": 0.1,
        },
    },
    "mistral": {"sliding_window": 4096},
    "muse_glimmer_text": _FIVE | {"sliding_window": 2048, "output_multiplier": 0.19611613513818404},
    "nemotron_h": {"layer_norm_epsilon": 1e-5},
    "olmo2": _FIVE | {"rope_theta": 10000.0},
    "olmo3": _FIVE | {"sliding_window": 4096},
    "phi3": _FIVE,
    "qwen3_next": {"norm_topk_prob": True},
}


def completed(values: dict[str, Any]) -> dict[str, Any]:
    """A config with what it leaves out. A null is an answer: no window, for example."""
    known = LEFT_OUT.get(str(values.get("model_type")), {})
    older = "rope_scaling" in values or "rope_theta" in values
    return {key: value for key, value in known.items() if key != "rope_parameters" or not older} | values
