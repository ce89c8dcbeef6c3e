"""A config.json that means harm: an error in a sentence, soon, and before anything of a size that it names is made."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest

from engine.errors import ConfigError, GrusError, WeightsError
from engine.models.config import Fields
from engine.models.registry import find_architecture
from engine.weights.source import Tensors
from engine.weights.view import survey

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "vocab_size": 300,
    "max_position_embeddings": 2048,
}
MORE: dict[str, dict[str, Any]] = {
    "llama": {},
    "qwen3": {},
    "qwen3_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
    "qwen3_5_text": {
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
    },
    "gemma3_text": {"hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 16, "sliding_window": 64},
    "gemma3n_text": {"hidden_activation": "gelu_pytorch_tanh", "num_kv_shared_layers": 0, "sliding_window": 64},
    "gemma4_text": {
        "hidden_activation": "gelu_pytorch_tanh",
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"full_attention": {"rope_type": "proportional"}, "sliding_attention": {}},
        "enable_moe_block": True,
        "num_experts": 4,
        "top_k_experts": 2,
        "moe_intermediate_size": 32,
        "sliding_window": 64,
    },
    "laguna": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
    "muse_glimmer_text": {"sliding_window": 64},
    **{kind: {"sliding_window": 64} for kind in ("cohere2", "exaone4", "olmo3")},
    "gpt_oss": {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 64},
    "ministral3": {
        "rope_scaling": {"type": "yarn", "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 256}
    },
    "glm4_moe": {"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    "deepseek_v3": {
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 16,
        "kv_lora_rank": 16,
        "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 8,
        "v_head_dim": 8,
    },
    "lfm2": {"conv_L_cache": 3, "layer_types": ["conv", "full_attention"]},
    "granitemoehybrid": {
        "layer_types": ["mamba", "attention"],
        "shared_intermediate_size": 32,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "mamba_n_heads": 8,
        "mamba_d_head": 16,
        "mamba_d_state": 16,
    },
    "nemotron_h": {
        "hybrid_override_pattern": "M*",
        "mamba_num_heads": 8,
        "mamba_head_dim": 16,
        "n_groups": 2,
        "ssm_state_size": 16,
        "conv_kernel": 4,
    },
    "hunyuan_v1_moe": {"num_experts": 4, "moe_topk": [2, 2]},
    "phi3": {
        "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8},
        "original_max_position_embeddings": 256,
    },
}
HUGE = ((1 << 31) + 1, 1 << 62, 10**300)


def looked_at(kind: str, **changes: Any) -> None:
    """The dry pass over no tensors at all: whatever is made here is made because the config says so."""
    config = {"model_type": kind, **SMALL, **MORE[kind], **changes}
    make = find_architecture(config, "hostile")
    survey(lambda view: make(view, config), Tensors("hostile", {}, None)).check()


def bounded(kind: str, **changes: Any) -> GrusError:
    """The error, made in little memory and time."""
    began = time.monotonic()
    tracemalloc.start()
    try:
        with pytest.raises((ConfigError, WeightsError)) as caught:
            looked_at(kind, **changes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20
    assert time.monotonic() - began < 30
    error: GrusError = caught.value
    assert len(str(error)) < 100_000
    return error


@pytest.mark.parametrize("kind", MORE)
def test_a_sound_config_lacks_only_its_tensors(kind):
    assert isinstance(bounded(kind), WeightsError)


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("field", [*SMALL, "num_experts", "moe_intermediate_size"])
def test_sizes_beyond_all_models(field, value):
    error = bounded("qwen3_moe", **{field: value})
    assert isinstance(error, ConfigError)
    assert field in str(error)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("ministral3", {"max_position_embeddings": 1 << 30}, "max_position_embeddings"),
        ("gemma3_text", {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar"),
        ("gemma3_text", {"rope_parameters": 5}, "rope_parameters"),
        ("gemma3_text", {"rope_parameters": {"full_attention": 5, "sliding_attention": []}}, "rope_parameters"),
        ("gemma3_text", {"layer_types": ["sliding_attention"]}, "layer_types"),
        ("gemma3_text", {"layer_types": [["sliding_attention"]] * 2}, "layer_types"),
        ("gemma3_text", {"use_bidirectional_attention": True}, "use_bidirectional_attention"),
        ("gemma3n_text", {"num_hidden_layers": 1 << 30}, "num_hidden_layers"),
        ("gemma3n_text", {"intermediate_size": [96]}, "intermediate_size"),
        ("gemma3n_text", {"intermediate_size": []}, "intermediate_size"),
        ("gemma3n_text", {"activation_sparsity_pattern": [1.0, 0.0]}, "activation_sparsity_pattern"),
        ("gemma3n_text", {"activation_sparsity_pattern": ["0.5", None]}, "activation_sparsity_pattern"),
        ("gemma3n_text", {"altup_active_idx": 4}, "altup_active_idx"),
        ("gemma3n_text", {"altup_num_inputs": 1 << 20}, "altup_num_inputs"),
        ("gemma4_text", {"num_kv_shared_layers": 1}, "num_kv_shared_layers"),
        ("gemma4_text", {"num_kv_shared_layers": 3}, "num_kv_shared_layers"),
        ("gemma4_text", {"per_layer_config": [5]}, "per_layer_config"),
        ("gemma4_text", {"per_layer_config": {"1": 5}}, "1"),
        ("gemma4_text", {"per_layer_config": {"01": {"num_key_value_heads": 3}}}, "num_key_value_heads"),
        ("gemma4_text", {"per_layer_config": {"1": {"head_dim": 1 << 40}}}, "head_dim"),
        ("gemma4_text", {"top_k_experts": 5}, "top_k_experts"),
        ("gemma4_text", {"use_bidirectional_attention": "all"}, "use_bidirectional_attention"),
        (
            "gemma4_text",
            {"rope_parameters": {"full_attention": {"rope_type": "proportional", "partial_rotary_factor": 2.0}}},
            "partial_rotary_factor",
        ),
        ("muse_glimmer_text", {"layer_rope_theta": [0]}, "layer_rope_theta"),
        ("laguna", {"num_attention_heads_per_layer": [4]}, "num_attention_heads_per_layer"),
        ("laguna", {"num_attention_heads_per_layer": [4, 3]}, "num_attention_heads_per_layer"),
        ("laguna", {"num_attention_heads_per_layer": ["4", 4]}, "num_attention_heads_per_layer"),
        ("laguna", {"mlp_layer_types": "dense"}, "mlp_layer_types"),
        ("laguna", {"gating": "never"}, "gating"),
        ("laguna", {"moe_apply_router_weight_on_input": True}, "moe_apply_router_weight_on_input"),
        ("exaone4", {"sliding_window_pattern": "LGL"}, "sliding_window_pattern"),
        ("gpt_oss", {"sliding_window": -1}, "sliding_window"),
        ("gpt_oss", {"num_experts_per_tok": 5}, "num_experts_per_tok"),
        ("gpt_oss", {"swiglu_limit": 0}, "swiglu_limit"),
        ("glm4_moe", {"n_group": 3}, "n_group"),
        ("glm4_moe", {"n_group": 4, "topk_group": 5}, "topk_group"),
        ("glm4_moe", {"n_group": 1 << 20, "n_routed_experts": 1 << 20}, "n_group"),
        ("glm4_moe", {"num_experts_per_tok": 9}, "num_experts_per_tok"),
        ("glm4_moe", {"mlp_layer_types": ["dense"]}, "mlp_layer_types"),
        ("deepseek_v3", {"kv_lora_rank": 1 << 20}, "kv_lora_rank"),
        ("deepseek_v3", {"qk_rope_head_dim": 7}, "rope would turn"),
        ("deepseek_v3", {"v_head_dim": None}, "v_head_dim"),
        ("deepseek_v3", {"num_nextn_predict_layers": 1 << 20}, "num_nextn_predict_layers"),
        ("lfm2", {"layer_types": ["conv"]}, "layer_types"),
        ("lfm2", {"layer_types": ["conv", ["conv"]]}, "layer_types"),
        ("lfm2", {"conv_L_cache": 0}, "conv_L_cache"),
        ("lfm2", {"block_multiple_of": 0}, "block_multiple_of"),
        ("lfm2", {"full_attn_idxs": 5, "layer_types": None}, "full_attn_idxs"),
        ("granitemoehybrid", {"layer_types": ["mamba"]}, "layer_types"),
        ("granitemoehybrid", {"layer_types": [{}, "mamba"]}, "layer_types"),
        ("granitemoehybrid", {"residual_multiplier": 0}, "residual_multiplier"),
        ("granitemoehybrid", {"mamba_n_groups": 3}, "groups"),
        ("granitemoehybrid", {"mamba_d_head": -1}, "mamba_d_head"),
        ("granitemoehybrid", {"mamba_d_head": "wide"}, "mamba_d_head"),
        ("granitemoehybrid", {"time_step_limit": [1.0, 0.5]}, "time_step_limit"),
        ("granitemoehybrid", {"time_step_limit": 5}, "time_step_limit"),
        ("nemotron_h", {"hybrid_override_pattern": "M?"}, "hybrid_override_pattern"),
        ("nemotron_h", {"hybrid_override_pattern": "M" * (1 << 20)}, "num_hidden_layers"),
        ("nemotron_h", {"layers_block_type": [["mamba"], 5]}, "layers_block_type"),
        ("nemotron_h", {"mamba_num_heads": 1 << 40}, "mamba_num_heads"),
        ("hunyuan_v1_moe", {"moe_topk": [1, 2]}, "num_experts_per_tok"),
        ("hunyuan_v1_moe", {"moe_topk": []}, "num_experts_per_tok"),
        ("phi3", {"rope_scaling": {"type": "longrope", "short_factor": [1.0]}}, "short_factor"),
        ("phi3", {"rope_scaling": {"type": "su", "short_factor": [1.0] * 8, "long_factor": [-1] * 8}}, "long_factor"),
    ],
)
def test_fields_of_windows_and_ropes(kind, changes, message):
    error = bounded(kind, **changes)
    assert isinstance(error, ConfigError)
    assert message in str(error)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("llama", {"num_hidden_layers": 1024}),
        ("qwen3_5_text", {"num_hidden_layers": 1024}),
        ("qwen3_moe", {"num_experts": 1 << 30}),
        ("qwen3_moe", {"num_hidden_layers": 1024, "num_experts": 1 << 20}),
        ("llama", {"hidden_size": 1 << 30, "vocab_size": 1 << 30, "intermediate_size": 1 << 30, "head_dim": 128}),
    ],
)
def test_sizes_that_could_be_but_have_no_tensors(kind, changes):
    assert isinstance(bounded(kind, **changes), WeightsError)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head_dim": 1 << 20}, "head_dim"),
        ({"head_dim": None, "hidden_size": 1 << 30, "num_attention_heads": 2}, "head_dim"),
        ({"partial_rotary_factor": 1e9}, "rope would turn"),
        ({"partial_rotary_factor": float("inf")}, "partial_rotary_factor"),
        ({"partial_rotary_factor": float("nan")}, "partial_rotary_factor"),
        ({"partial_rotary_factor": -0.5}, "rope would turn"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps"),
        ({"rms_norm_eps": 10**400}, "rms_norm_eps"),
        ({"rope_theta": 0}, "rope_theta"),
        ({"rope_theta": 1}, "rope_theta"),
        ({"rope_theta": -1e6}, "rope_theta"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 0}}, "factor"),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": -2.0}}, "factor"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 0.0}}, "factor"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 0}}, "beta_fast"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_slow": -1}}, "beta_slow"),
        (
            {
                "rope_scaling": {
                    "rope_type": "llama3",
                    "factor": 8.0,
                    "low_freq_factor": 2.0,
                    "high_freq_factor": 2.0,
                    "original_max_position_embeddings": 1024,
                }
            },
            "high_freq_factor",
        ),
        ({"rope_scaling": {"rope_type": "dynamic", "alpha": 1000.0}, "head_dim": 2}, "alpha"),
        ({"rope_scaling": {"rope_type": "dynamic", "alpha": 1e300, "factor": 1.0}}, "alpha"),
        ({"rope_scaling": {"rope_type": "default", "mrope_section": [4, "x", 4]}}, "mrope_section"),
        ({"rope_scaling": {"rope_type": "default", "mrope_section": [-4, 8, 4]}}, "mrope_section"),
        ({"rope_scaling": {"rope_type": ["yarn"]}}, "rope type"),
        ({"rope_scaling": {"rope_type": "factors", "factors": [0.0] * 8}}, "factors"),
        ({"rope_scaling": {"rope_type": "factors", "factors": ["x"] * 8}}, "factors"),
    ],
)
def test_ropes_that_cannot_be(changes, message):
    error = bounded("llama", **changes)
    assert isinstance(error, ConfigError)
    assert message in str(error)


@pytest.mark.parametrize("value", [True, "7", 7.5, [7], 0, -1, (1 << 31) + 1])
def test_a_whole_number_within_bounds(value):
    assert Fields({"n": 1 << 31}).int("n") == 1 << 31
    with pytest.raises(ConfigError, match="`n` must be"):
        Fields({"n": value}).int("n")


@pytest.mark.parametrize("value", [True, "0.5", float("inf"), float("-inf"), float("nan"), 10**400])
def test_a_number_that_is_one(value):
    assert Fields({"x": 3}).float("x") == 3.0
    with pytest.raises(ConfigError, match="`x` must be"):
        Fields({"x": value}).float("x")
