"""The loader accepts exactly the tensors that each published size has: no name more, no name less, no other shape.

The reference library builds every size on the meta device, so nothing is allocated; both spellings of config.json are
tried. A checkpoint that lacks one tensor or has one too many is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from backends.base import Blocks, Raw, SharedKVSpec
from engine.errors import UnsupportedArchitecture, WeightsError
from engine.models.config import text_fields
from engine.models.registry import find_architecture
from engine.models.windows import FULL, SLIDING
from engine.weights.gguf import config as configs
from engine.weights.gguf import export, metadata
from engine.weights.gguf.reader import Elements
from engine.weights.gguf.source import GgufSource
from engine.weights.source import Tensors
from engine.weights.view import check, survey
from tests.checkpoints import publish

LLAMA3 = dict(
    rope_type="llama3",
    rope_theta=5e5,
    factor=32.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=8192,
)
HUNYUAN = dict(
    rope_type="dynamic", rope_theta=1e4, factor=1.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0
)


def sizes(hidden: int, ffn: int, layers: int, heads: int, kv: int, vocab: int, **more: Any) -> dict[str, Any]:
    return dict(
        hidden_size=hidden,
        intermediate_size=ffn,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv,
        vocab_size=vocab,
        **more,
    )


def qwen3_5(hidden: int, ffn: int, layers: int, heads: int, kv: int, value_heads: int, tied: bool) -> dict[str, Any]:
    rope = dict(
        rope_type="default",
        rope_theta=1e7,
        partial_rotary_factor=0.25,
        mrope_section=[11, 11, 10],
        mrope_interleaved=True,
    )
    return sizes(
        hidden,
        ffn,
        layers,
        heads,
        kv,
        248320,
        linear_num_value_heads=value_heads,
        tie_word_embeddings=tied,
        rope_parameters=rope,
    )


def plain(theta: float) -> dict[str, Any]:
    return dict(rope_type="default", rope_theta=theta)


def gemma3(hidden: int, ffn: int, layers: int, heads: int, kv: int, vocab: int, **more: Any) -> dict[str, Any]:
    scaled = dict(rope_type="linear", rope_theta=1e6, factor=8.0)
    rope = {"full_attention": scaled, "sliding_attention": plain(1e4)}
    return sizes(hidden, ffn, layers, heads, kv, vocab, **{"head_dim": 256, "rope_parameters": rope, **more})


def gemma4(hidden: int, ffn: int, layers: int, heads: int, kv: int, every: int = 6, **more: Any) -> dict[str, Any]:
    kinds = ["sliding_attention" if (i + 1) % every else "full_attention" for i in range(layers)]
    rope = {
        "full_attention": dict(rope_type="proportional", rope_theta=1e6, partial_rotary_factor=0.25),
        "sliding_attention": plain(1e4),
    }
    fields = {"head_dim": 256, "layer_types": kinds, "rope_parameters": rope, "final_logit_softcapping": 30.0}
    small = {"hidden_size_per_layer_input": 0, "sliding_window": 1024, "attention_k_eq_v": True}
    return sizes(hidden, ffn, layers, heads, kv, 262144, **{**fields, **small, **more})


def small_gemma4(hidden: int, layers: int, kv: int, shared: int, **more: Any) -> dict[str, Any]:
    fields = {"hidden_size_per_layer_input": 256, "sliding_window": 512, "attention_k_eq_v": False}
    return gemma4(hidden, 4 * hidden, layers, 8, kv, **{**fields, "num_kv_shared_layers": shared, **more})


def gemma3n(layers: int, ffn: int) -> dict[str, Any]:
    rope = {"full_attention": plain(1e6), "sliding_attention": plain(1e4)}
    cut = [0.95] * 10 + [0.0] * (layers - 10)
    fields = {"head_dim": 256, "num_kv_shared_layers": layers - 20, "activation_sparsity_pattern": cut}
    return sizes(2048, ffn, layers, 8, 2, 262400, rope_parameters=rope, **fields)


def gpt_oss(layers: int, experts: int) -> dict[str, Any]:
    rope = dict(
        rope_type="yarn",
        rope_theta=150000.0,
        factor=32.0,
        beta_fast=32.0,
        beta_slow=1.0,
        truncate=False,
        original_max_position_embeddings=4096,
    )
    size = sizes(2880, 2880, layers, 64, 8, 201088, head_dim=64, rope_parameters=rope)
    return size | dict(num_local_experts=experts, num_experts_per_tok=4, sliding_window=128)


def routed(experts: int, chosen: int, ffn: int, shared: int) -> dict[str, Any]:
    count = dict(n_routed_experts=experts, num_experts_per_tok=chosen, n_shared_experts=shared)
    return count | dict(moe_intermediate_size=ffn)


def latent(queries: int | None, key: int, value: int) -> dict[str, Any]:
    return dict(q_lora_rank=queries, kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=key, v_head_dim=value)


def yarn(mscale: float) -> dict[str, Any]:
    return dict(
        rope_type="yarn",
        rope_theta=1e4,
        factor=40.0,
        original_max_position_embeddings=4096,
        beta_fast=32.0,
        beta_slow=1.0,
        mscale=mscale,
        mscale_all_dim=mscale,
    )


OLMO = {
    "full_attention": dict(rope_type="yarn", rope_theta=5e5, factor=8.0, original_max_position_embeddings=8192),
    "sliding_attention": plain(5e5),
}
MINISTRAL3 = dict(
    rope_type="yarn",
    rope_theta=1e6,
    factor=16.0,
    original_max_position_embeddings=16384,
    beta_fast=32.0,
    beta_slow=1.0,
    mscale=1.0,
    mscale_all_dim=1.0,
    llama_4_scaling_beta=0.1,
)


def laguna(hidden: int, ffn: int, layers: int, heads: int, expert: int, chosen: int) -> dict[str, Any]:
    """Layers with a window have `heads` heads, the others 48."""
    kinds = ["sliding_attention" if i % 4 else "full_attention" for i in range(layers)]
    rope = dict(rope_type="yarn", rope_theta=5e5, factor=32.0, beta_fast=64.0, original_max_position_embeddings=8192)
    ropes = {"full_attention": rope | {"partial_rotary_factor": 0.5}, "sliding_attention": plain(1e4)}
    size = sizes(hidden, ffn, layers, 48, 8, 100352, head_dim=128, layer_types=kinds, rope_parameters=ropes)
    return size | dict(
        num_attention_heads_per_layer=[48 if kind == "full_attention" else heads for kind in kinds],
        moe_intermediate_size=expert,
        shared_expert_intermediate_size=expert,
        num_experts_per_tok=chosen,
        moe_routed_scaling_factor=2.5,
        gating="per-head",
    )


# name -> (class prefix in transformers, config)
SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama-2-7b": ("Llama", sizes(4096, 11008, 32, 32, 32, 32000, rope_parameters=plain(1e4))),
    "llama-3.1-8b": ("Llama", sizes(4096, 14336, 32, 32, 8, 128256, rope_parameters=LLAMA3)),
    "llama-3.2-1b": ("Llama", sizes(2048, 8192, 16, 32, 8, 128256, tie_word_embeddings=True, rope_parameters=LLAMA3)),
    "llama-3.2-3b": ("Llama", sizes(3072, 8192, 28, 24, 8, 128256, tie_word_embeddings=True, rope_parameters=LLAMA3)),
    "llama-3.3-70b": ("Llama", sizes(8192, 28672, 80, 64, 8, 128256, rope_parameters=LLAMA3)),
    "orpheus-3b": ("Llama", sizes(3072, 8192, 28, 24, 8, 156940, tie_word_embeddings=True, rope_parameters=LLAMA3)),
    "mistral-7b": ("Mistral", sizes(4096, 14336, 32, 32, 8, 32768, sliding_window=None, rope_parameters=plain(1e6))),
    "mistral-7b-v0.1": (
        "Mistral",
        sizes(4096, 14336, 32, 32, 8, 32000, sliding_window=4096, rope_parameters=plain(1e4)),
    ),
    "ministral-3-8b": ("Ministral3", sizes(4096, 14336, 34, 32, 8, 131072, head_dim=128, rope_parameters=MINISTRAL3)),
    "gemma-3-1b": ("Gemma3", gemma3(1152, 6912, 26, 4, 1, 262144, sliding_window=512)),
    "gemma-3-4b": ("Gemma3", gemma3(2560, 10240, 34, 8, 4, 262208, sliding_window=1024)),
    "gemma-3-27b": (
        "Gemma3",
        gemma3(5376, 21504, 62, 32, 16, 262208, sliding_window=1024, head_dim=128, query_pre_attn_scalar=168),
    ),
    "gemma-4-e2b": ("Gemma4", small_gemma4(1536, 35, 1, 20, every=5, use_double_wide_mlp=True)),
    "gemma-4-e4b": ("Gemma4", small_gemma4(2560, 42, 2, 18)),
    "gemma-4-12b": ("Gemma4Unified", gemma4(3840, 15360, 48, 16, 8, num_global_key_value_heads=1)),
    "gemma-4-26b-a4b": (
        "Gemma4",
        gemma4(
            2816,
            2112,
            30,
            16,
            8,
            num_global_key_value_heads=2,
            enable_moe_block=True,
            num_experts=128,
            top_k_experts=8,
            moe_intermediate_size=704,
        ),
    ),
    "gemma-4-31b": ("Gemma4", gemma4(5376, 21504, 60, 32, 16, num_global_key_value_heads=4)),
    "gemma-3n-e2b": ("Gemma3n", gemma3n(30, 8192)),
    "gemma-3n-e4b": ("Gemma3n", gemma3n(35, 16384)),
    "muse-glimmer-30b": (
        "MuseGlimmer",
        sizes(6656, 19968, 52, 32, 2, 202048, head_dim=128, rope_parameters=plain(5e5)),
    ),
    "laguna-xs": ("Laguna", laguna(2048, 8192, 40, 64, 512, 8)),
    "laguna-s": ("Laguna", laguna(3072, 12288, 48, 72, 1024, 10)),
    "command-a": ("Cohere2", sizes(12288, 36864, 64, 96, 8, 256000, rope_parameters=plain(5e4))),
    "olmo-3-32b": ("Olmo3", sizes(5120, 27648, 64, 40, 8, 100278, rope_parameters=OLMO)),
    "phi-3-mini-4k": (
        "Phi3",
        sizes(3072, 8192, 32, 32, 32, 32064, sliding_window=2047, rope_parameters=plain(1e4)),
    ),
    "phi-4": ("Phi3", sizes(5120, 17920, 40, 40, 10, 100352, sliding_window=None, rope_parameters=plain(250000.0))),
    "gpt-oss-20b": ("GptOss", gpt_oss(24, 32)),
    "gpt-oss-120b": ("GptOss", gpt_oss(36, 128)),
    "qwen2.5-0.5b": (
        "Qwen2",
        sizes(896, 4864, 24, 14, 2, 151936, tie_word_embeddings=True, rope_parameters=plain(1e6)),
    ),
    "qwen2.5-7b": ("Qwen2", sizes(3584, 18944, 28, 28, 4, 152064, rope_parameters=plain(1e6))),
    "spark-llm": ("Qwen2", sizes(896, 4864, 24, 14, 2, 166000, tie_word_embeddings=True, rope_parameters=plain(1e6))),
    "qwen3-0.6b": (
        "Qwen3",
        sizes(1024, 3072, 28, 16, 8, 151936, head_dim=128, tie_word_embeddings=True, rope_parameters=plain(1e6)),
    ),
    "qwen3-8b": ("Qwen3", sizes(4096, 12288, 36, 32, 8, 151936, head_dim=128, rope_parameters=plain(1e6))),
    "qwen3-30b-a3b": (
        "Qwen3Moe",
        sizes(
            2048,
            6144,
            48,
            32,
            4,
            151936,
            head_dim=128,
            num_experts=128,
            num_experts_per_tok=8,
            moe_intermediate_size=768,
            norm_topk_prob=True,
            rope_parameters=plain(1e6),
        ),
    ),
    "qwen3.5-35b-a3b": (
        "Qwen3_5Moe",
        {key: value for key, value in qwen3_5(2048, 0, 40, 16, 2, 32, False).items() if key != "intermediate_size"}
        | dict(num_experts=256, num_experts_per_tok=8, moe_intermediate_size=512, shared_expert_intermediate_size=512),
    ),
    "glm-4-9b-0414": (
        "Glm4",
        sizes(
            4096, 13696, 40, 32, 2, 151552, head_dim=128, rope_parameters=dict(plain(1e4), partial_rotary_factor=0.5)
        ),
    ),
    "glm-4.5-air": (
        "Glm4Moe",
        sizes(4096, 10944, 46, 96, 8, 151552, head_dim=128, attention_bias=True)
        | routed(128, 8, 1408, 1)
        | dict(rope_parameters=dict(plain(1e6), partial_rotary_factor=0.5), use_qk_norm=False),
    ),
    "glm-4.7-flash": (
        "Glm4MoeLite",
        sizes(2048, 10240, 47, 20, 20, 154880, rope_parameters=plain(1e6))
        | routed(64, 4, 1536, 1)
        | latent(768, 192, 256),
    ),
    "deepseek-v2-lite": (
        "DeepseekV2",
        sizes(2048, 10944, 27, 16, 16, 102400, first_k_dense_replace=1, rope_parameters=yarn(0.707))
        | routed(64, 6, 1408, 2)
        | latent(None, 128, 128),
    ),
    "deepseek-v3": (
        "DeepseekV3",
        sizes(7168, 18432, 61, 128, 128, 129280, first_k_dense_replace=3, rope_parameters=yarn(1.0))
        | routed(256, 8, 2048, 1)
        | latent(1536, 128, 128)
        | dict(n_group=8, topk_group=4),
    ),
    "minimax-m2": (
        "MiniMaxM2",
        sizes(3072, 1536, 62, 48, 8, 200064, head_dim=128, num_local_experts=256, num_experts_per_tok=8)
        | dict(rope_parameters=dict(plain(5e6), partial_rotary_factor=0.5)),
    ),
    "qwen3.5-0.8b": ("Qwen3_5", qwen3_5(1024, 3584, 24, 8, 2, 16, True)),
    "qwen3.5-9b": ("Qwen3_5", qwen3_5(4096, 12288, 32, 16, 4, 32, False)),
    "qwen3.5-27b": ("Qwen3_5", qwen3_5(5120, 17408, 64, 24, 4, 48, False)),
    "hunyuan-7b": (
        "HunYuanDenseV1",
        sizes(
            4096,
            14336,
            32,
            32,
            8,
            128167,
            head_dim=128,
            tie_word_embeddings=True,
            rope_parameters=dict(HUNYUAN, alpha=1e3),
        ),
    ),
    "hunyuan-mt-7b": (
        "HunYuanDenseV1",
        sizes(
            4096,
            14336,
            32,
            32,
            8,
            128256,
            head_dim=128,
            tie_word_embeddings=True,
            rope_parameters=dict(HUNYUAN, alpha=1e5),
        ),
    ),
}

# whose experts are published one by one
SPLIT = (
    *("Laguna", "Qwen3Moe", "MiniMaxM2", "Glm4Moe", "Glm4MoeLite", "DeepseekV2", "DeepseekV3"),
    *("Lfm2Moe", "GraniteMoe", "GraniteMoeShared", "GraniteMoeHybrid", "NemotronH", "Ernie4_5_Moe", "HunYuanMoEV1"),
)


def attending(layers: int, *at: int, other: str = "linear_attention") -> list[str]:
    return ["full_attention" if i in at else other for i in range(layers)]


GRANITE4: dict[str, Any] = dict(
    embedding_multiplier=12.0,
    residual_multiplier=0.22,
    tie_word_embeddings=True,
    rope_parameters=plain(1e4),
)
BLOCKS = {"M": "linear_attention", "*": "full_attention", "-": "mlp", "E": "moe"}


def nemotron(pattern: str, hidden: int, ffn: int, heads: int, kv: int, **more: Any) -> dict[str, Any]:
    kinds = [BLOCKS[mark] for mark in pattern]
    fields = sizes(hidden, ffn, len(kinds), heads, kv, 131072, head_dim=128, layers_block_type=kinds, **more)
    return {name: value for name, value in fields.items() if name != "num_hidden_layers"}


THREE_OF_FOUR = [FULL if (i + 1) % 4 == 0 else SLIDING for i in range(64)]
SIZES |= {
    "bitnet-2b-4t": (
        "BitNet",
        sizes(2560, 6912, 30, 20, 5, 128256, tie_word_embeddings=True, rope_parameters=plain(5e5)),
    ),
    "smollm3-3b": ("SmolLM3", sizes(2048, 11008, 36, 16, 4, 128256, rope_parameters=plain(5e6))),
    "seed-oss-36b": ("SeedOss", sizes(5120, 27648, 64, 80, 8, 155136, head_dim=128, rope_parameters=plain(1e7))),
    "ernie-4.5-0.3b": ("Ernie4_5", sizes(1024, 3072, 18, 16, 2, 103424, head_dim=128, rope_parameters=plain(5e5))),
    "ernie-4.5-21b-a3b": (
        "Ernie4_5_Moe",
        sizes(
            2560,
            12288,
            28,
            20,
            4,
            103424,
            moe_intermediate_size=1536,
            moe_num_experts=64,
            moe_k=6,
            moe_num_shared_experts=2,
            rope_parameters=plain(5e5),
        ),
    ),
    "hunyuan-a13b": (
        "HunYuanMoEV1",
        sizes(
            4096,
            3072,
            32,
            32,
            8,
            128167,
            head_dim=128,
            num_experts=64,
            moe_topk=8,
            tie_word_embeddings=True,
            rope_parameters=dict(HUNYUAN, alpha=1e3),
        ),
    ),
    "olmo-3-7b": (
        "Olmo3",
        sizes(
            4096,
            11008,
            32,
            32,
            32,
            100278,
            sliding_window=4096,
            max_position_embeddings=65536,
            layer_types=THREE_OF_FOUR[:32],
            rope_parameters={
                FULL: dict(plain(5e5), rope_type="yarn", factor=8.0, original_max_position_embeddings=8192),
                SLIDING: plain(5e5),
            },
        ),
    ),
    "exaone-4.0-1.2b": (
        "Exaone4",
        sizes(
            2048,
            4096,
            30,
            32,
            8,
            102400,
            head_dim=64,
            sliding_window=None,
            layer_types=[FULL] * 30,
            tie_word_embeddings=True,
            rope_parameters=dict(LLAMA3, rope_theta=1e6, factor=16.0),
        ),
    ),
    "exaone-4.0-32b": (
        "Exaone4",
        sizes(
            5120,
            27392,
            64,
            40,
            8,
            102400,
            head_dim=128,
            sliding_window=4096,
            layer_types=THREE_OF_FOUR,
            max_position_embeddings=131072,
            rope_parameters=dict(LLAMA3, rope_theta=1e6, factor=16.0),
        ),
    ),
    "command-r7b": (
        "Cohere2",
        sizes(
            4096,
            14336,
            32,
            32,
            8,
            256000,
            logit_scale=0.25,
            layer_types=THREE_OF_FOUR[:32],
            rope_parameters=plain(5e4),
        ),
    ),
}
SIZES |= {
    "lfm2-1.2b": (
        "Lfm2",
        sizes(
            2048,
            12288,
            16,
            32,
            8,
            65536,
            layer_types=attending(16, 2, 5, 8, 10, 12, 14, other="conv"),
            rope_parameters=plain(1e6),
        ),
    ),
    "lfm2-8b-a1b": (
        "Lfm2Moe",
        sizes(
            2048,
            7168,
            24,
            32,
            8,
            65536,
            moe_intermediate_size=1792,
            num_experts=32,
            num_experts_per_tok=4,
            num_dense_layers=2,
            layer_types=attending(24, 2, 6, 10, 14, 18, 21, other="conv"),
            rope_parameters=plain(1e6),
        ),
    ),
    "lfm3-1.7b": ("Lfm3", {}),  # as the class has it
    "granite-3.3-8b": (
        "Granite",
        sizes(
            4096,
            12800,
            40,
            32,
            8,
            49159,
            attention_multiplier=0.0078125,
            logits_scaling=16.0,
            **{**GRANITE4, "rope_parameters": plain(1e7)},
        ),
    ),
    "granite-3.1-1b-a400m": (
        "GraniteMoe",
        sizes(1024, 512, 24, 16, 8, 49155, num_local_experts=32, num_experts_per_tok=8, **GRANITE4),
    ),
    "granite-moe-shared": (  # its experts beside one that every token goes through
        "GraniteMoeShared",
        sizes(
            1536,
            512,
            40,
            24,
            8,
            49160,
            num_local_experts=62,
            num_experts_per_tok=6,
            shared_intermediate_size=1024,
            **GRANITE4,
        ),
    ),
    "qwen3-next-80b-a3b": ("Qwen3Next", {}),  # as the class has it
    "olmo-2-7b": ("Olmo2", sizes(4096, 11008, 32, 32, 32, 100352, rope_parameters=plain(5e5))),
    "granite-4.0-h-tiny": (
        "GraniteMoeHybrid",
        sizes(
            1536,
            512,
            40,
            12,
            4,
            100352,
            shared_intermediate_size=1024,
            num_local_experts=64,
            num_experts_per_tok=6,
            layer_types=attending(40, 5, 15, 25, 35),
            mamba_n_heads=48,
            mamba_d_head=64,
            mamba_n_groups=1,
            mamba_d_state=128,
            **GRANITE4,
        ),
    ),
    "granite-4.0-micro": (
        "GraniteMoeHybrid",
        sizes(
            2560,
            8192,
            40,
            40,
            8,
            100352,
            shared_intermediate_size=8192,
            num_local_experts=0,
            num_experts_per_tok=0,
            layer_types=attending(40, *range(40)),
            position_embedding_type="rope",
            **{**GRANITE4, "rope_parameters": plain(1e7)},
        ),
    ),
    "nemotron-nano-9b-v2": (
        "NemotronH",
        nemotron(
            "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
            4480,
            15680,
            40,
            8,
            mamba_num_heads=128,
            mamba_head_dim=80,
        ),
    ),
    "nemotron-3-nano-30b-a3b": (
        "NemotronH",
        nemotron(
            "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
            2688,
            1856,
            32,
            2,
            mamba_num_heads=64,
            mamba_head_dim=64,
            n_routed_experts=128,
            num_experts_per_tok=6,
            moe_intermediate_size=1856,
            moe_shared_expert_intermediate_size=3712,
            routed_scaling_factor=2.5,
        ),
    ),
}


@cache
def published(name: str) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """The config as it is saved, and the names and shapes of the tensors that are saved with it."""
    import torch
    import transformers
    from transformers.core_model_loading import revert_weight_conversion

    prefix, fields = SIZES[name]
    config_class = getattr(transformers, f"{prefix}TextConfig", None) or getattr(transformers, f"{prefix}Config")
    config = text = config_class(**fields)
    kind = getattr(transformers, f"{prefix}ForCausalLM", None)
    if kind is None:  # it is known beside its image encoder only
        kind = getattr(transformers, f"{prefix}ForConditionalGeneration")
        config = getattr(transformers, f"{prefix}Config")(text_config=text.to_dict())
    with torch.device("meta"):
        model = kind(config)
    state = {name: value for name, value in model.state_dict().items() if "vision" not in name}
    if text.tie_word_embeddings:
        state.pop("lm_head.weight")
    if prefix in SPLIT:  # Qwen3.5's experts are published in one
        state = revert_weight_conversion(model, state)
    return json.loads(config.to_json_string(use_diff=False)), {key: tuple(value.shape) for key, value in state.items()}


@pytest.mark.parametrize("spelling", ["new", "old"])
@pytest.mark.parametrize("name", SIZES)
def test_published_size_is_accepted_exactly(name: str, spelling: str) -> None:
    config, shapes = published(name)
    config = publish(config) if spelling == "old" else config
    make = find_architecture(config, name)
    survey = check(lambda w: make(w, config), shapes)
    expected = sum(_count(shape) for shape in shapes.values())
    assert survey.parameters == expected


class Shapes:
    """A checkpoint of these shapes, without numbers: what a conversion plans from."""

    where, decoded = "here", "BF16"

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self._shapes, self.names = shapes, list(shapes)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._shapes[name]

    def dtype(self, name: str) -> str | None:
        return "BF16"

    def values(self, name: str) -> np.ndarray:
        raise AssertionError("no numbers are needed to plan")

    def rows(self, name: str) -> Iterator[np.ndarray]:
        raise AssertionError("no numbers are needed to plan")

    def blocks(self, name: str) -> Blocks | None:
        return None


def read_again(metadata: dict[str, Any]) -> dict[str, Any]:
    """The values as a reader has them."""

    def array(values: list[Any]) -> Elements:
        kind, dtype = {bool: (7, "u1"), int: (5, "<i4"), float: (6, "<f4")}[type(values[0])]
        return Elements("here", memoryview(np.array(values, dtype).tobytes()), kind, len(values), "")

    return {key: array(value) if isinstance(value, list) else value for key, value in metadata.items()}


UNWRITTEN = ("Lfm3",)  # llama.cpp has no such architecture


@pytest.mark.parametrize("name", [name for name, (prefix, _) in SIZES.items() if prefix not in UNWRITTEN])
def test_a_gguf_file_of_each_size_is_what_the_reader_takes(name: str) -> None:
    """Its keys, names and shapes, with nothing behind them but the factors of a rope."""
    config, shapes = published(name)
    config = publish(config)
    arch = metadata.architecture_of(config, name)
    if name == "mistral-7b-v0.1":  # no other version has windows
        with pytest.raises(UnsupportedArchitecture, match="sliding windows"):
            metadata.describe(config, arch, name)
        return
    values, factors = metadata.describe(config, arch, name)
    raws = {}
    for plan in export.plans(Shapes(shapes), config, arch, None, factors):
        data = b"".join(plan.data()) if plan.name in factors else b""
        raws[plan.name] = Raw(plan.name, name, 0, plan.nbytes, plan.kind, plan.shape, memoryview(data))
    read = configs.read(read_again(values), raws, name)
    found = survey(lambda w: find_architecture(read, name)(w, read), GgufSource(name, arch, raws, read))
    found.check()
    was = check(lambda w: find_architecture(config, name)(w, config), shapes)
    assert found.parameters >= was.parameters  # files of Gemma 3n and Muse have more than they need
    assert found.parameters <= 1.02 * was.parameters


def test_gemma_3_as_it_is_published() -> None:
    """Beside an image encoder, with a config that leaves out most of its fields."""
    _, shapes = published("gemma-3-4b")
    text = dict(model_type="gemma3_text", hidden_size=2560, intermediate_size=10240, num_hidden_layers=34)
    text |= dict(sliding_window=1024, rope_scaling=dict(factor=8.0, rope_type="linear"))
    config = dict(model_type="gemma3", text_config=text, vision_config=dict(model_type="siglip_vision_model"))
    nested = {f"language_model.{name}": shape for name, shape in shapes.items()}
    nested |= {"vision_tower.vision_model.post_layernorm.weight": (8,), "multi_modal_projector.norm.weight": (8,)}
    models: list[Any] = []

    def make(w: Any) -> Any:
        models.append(find_architecture(config, "gemma")(w, config))
        return models[-1]

    check(make, nested)
    assert [spec.window for spec in models[0].memory[:7]] == [1024] * 5 + [None, 1024]
    assert models[0].memory[0].rows_in(1 << 20) < 2048
    assert text_fields(config).int("max_position_embeddings") == 131072


def test_gemma_4_as_it_is_published() -> None:
    """Beside its encoders; layers that share keys and values come with projections that nothing reads."""
    text, shapes = published("gemma-4-e2b")
    config = dict(model_type="gemma4", text_config=publish(text), vision_config=dict(model_type="gemma4_vision"))
    nested = {name.replace("model.", "model.language_model.", 1): shape for name, shape in shapes.items()}
    nested |= {f"model.{tower}.weight": (8,) for tower in ("vision_tower.x", "audio_tower.x", "embed_vision.x")}
    for i in range(15, 35):
        size = 256 if (i + 1) % 5 else 512
        own = f"model.language_model.layers.{i}.self_attn"
        nested |= {f"{own}.{name}.weight": (size, 1536) for name in ("k_proj", "v_proj")}
        nested[f"{own}.k_norm.weight"] = (size,)
    models: list[Any] = []

    def make(w: Any) -> Any:
        models.append(find_architecture(config, "gemma")(w, config))
        return models[-1]

    seen = check(make, nested)
    assert seen.parameters == sum(_count(shape) for shape in shapes.values())
    shared = [spec.layer for spec in models[0].memory if isinstance(spec, SharedKVSpec)]
    assert shared == [13 if (i + 1) % 5 else 14 for i in range(15, 35)]
    assert [spec.dim for spec in models[0].memory[:5]] == [256] * 4 + [512]


def test_gpt_oss_as_it_is_published() -> None:
    """With experts in blocks of four bits."""
    config, shapes = published("gpt-oss-20b")
    packed: dict[str, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        if name.endswith(("gate_up_proj", "down_proj")):
            count, inp, out = shape
            packed |= {f"{name}_blocks": (count, out, inp // 32, 16), f"{name}_scales": (count, out, inp // 32)}
        else:
            packed[name] = shape
    raws = {
        name: Raw(name, "here", 0, 1, "U8" if name.endswith(("_blocks", "_scales")) else "BF16", shape, memoryview(b""))
        for name, shape in packed.items()
    }
    seen = survey(lambda w: find_architecture(config, "gpt-oss")(w, publish(config)), Tensors("here", raws))
    seen.check()
    assert round(seen.parameters / 1e9, 1) == 20.9


@pytest.mark.parametrize("name", ["glm-4.5-air", "deepseek-v2-lite"])
def test_a_layer_that_guesses_ahead_is_left_out(name: str) -> None:
    config, shapes = published(name)
    last = config["num_hidden_layers"]
    more = {f"model.layers.{last}.{part}.weight": (4, 4) for part in ("eh_proj", "mlp.experts.0.up_proj")}
    make = find_architecture(config, name)
    plain, found = (check(lambda w: make(w, config), given) for given in (shapes, shapes | more))
    assert found.parameters == plain.parameters
    with pytest.raises(WeightsError, match=rf"layers.{last + 1}.enorm"):
        check(lambda w: make(w, config), shapes | {f"model.layers.{last + 1}.enorm.weight": (4,)})


@pytest.mark.parametrize("name", ["llama-3.2-1b", "qwen3-30b-a3b", "qwen3.5-0.8b"])
def test_one_tensor_off_is_named(name: str) -> None:
    config, shapes = published(name)
    make = find_architecture(config, name)
    broken = dict(shapes)
    missing = next(key for key in shapes if "layers.1." in key)
    wrong = next(key for key in shapes if "layers.2." in key and key.endswith("norm.weight"))
    del broken[missing]
    broken[wrong] = (3,)
    broken["model.layers.0.surprise.weight"] = (4, 4)
    with pytest.raises(WeightsError) as caught:
        check(lambda w: make(w, config), broken)
    for named in (missing, wrong, "model.layers.0.surprise.weight"):
        assert named in str(caught.value)


def _count(shape: tuple[int, ...]) -> int:
    n = 1
    for x in shape:
        n *= x
    return n
