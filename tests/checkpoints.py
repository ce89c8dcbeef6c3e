"""Tiny random checkpoints made by the reference library, in both spellings of config.json.

The weights are scaled until greedy output varies: a model that repeats one token would prove little.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
VOCAB = 256 + len(SPECIALS)

BASE: dict[str, Any] = dict(
    vocab_size=VOCAB,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    rms_norm_eps=1e-6,
    bos_token_id=None,
    eos_token_id=VOCAB - 1,
    pad_token_id=None,
)
DELTA: dict[str, Any] = dict(
    num_hidden_layers=4,
    head_dim=32,
    linear_num_value_heads=4,
    linear_num_key_heads=2,
    linear_key_head_dim=16,
    linear_value_head_dim=16,
    linear_conv_kernel_dim=4,
    layer_types=["linear_attention"] * 3 + ["full_attention"],
)
MIXTURE: dict[str, Any] = dict(
    moe_intermediate_size=32, num_experts=8, num_experts_per_tok=2, norm_topk_prob=True, decoder_sparse_step=1
)

# a latent large enough for prompts of ten tokens to be expanded
LATENT: dict[str, Any] = dict(
    kv_lora_rank=64, q_lora_rank=48, qk_rope_head_dim=16, qk_nope_head_dim=8, v_head_dim=8, num_key_value_heads=4
)
# of GLM and DeepSeek: the first layer dense, groups of experts, one expert that all tokens share
ROUTED: dict[str, Any] = dict(
    num_hidden_layers=3,
    first_k_dense_replace=1,
    moe_intermediate_size=32,
    n_routed_experts=8,
    n_shared_experts=1,
    num_experts_per_tok=2,
    n_group=4,
    topk_group=2,
    routed_scaling_factor=1.5,
    norm_topk_prob=True,
)


def _rope(kind: str = "default", theta: float = 1e4, **more: Any) -> dict[str, Any]:
    return dict(rope_type=kind, rope_theta=theta, **more)


WINDOW: dict[str, Any] = dict(sliding_window=9, num_hidden_layers=3)
GEMMA: dict[str, Any] = dict(
    WINDOW,
    head_dim=32,
    hidden_activation="gelu_pytorch_tanh",
    query_pre_attn_scalar=20,
    tie_word_embeddings=False,  # with random weights a tied head would repeat the last token
    layer_types=["sliding_attention", "sliding_attention", "full_attention"],
    sliding_window_pattern=3,
)

SHORT_CONV: dict[str, Any] = dict(num_hidden_layers=3, rms_norm_eps=None, norm_eps=1e-5, tie_word_embeddings=False)
GRANITE: dict[str, Any] = dict(
    num_hidden_layers=3,
    embedding_multiplier=3.0,
    residual_multiplier=0.4,
    attention_multiplier=0.2,
    logits_scaling=2.0,
    tie_word_embeddings=False,
)
GRANITE_MAMBA: dict[str, Any] = dict(
    num_hidden_layers=4,
    layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention"],
    shared_intermediate_size=64,
    mamba_n_heads=8,
    mamba_d_head=16,
    mamba_n_groups=2,
    mamba_d_state=16,
    mamba_d_conv=4,
    mamba_expand=2,
    mamba_chunk_size=8,
)
NEMOTRON: dict[str, Any] = dict(
    num_hidden_layers=None,
    rms_norm_eps=None,
    layer_norm_epsilon=1e-5,
    head_dim=32,
    mamba_num_heads=8,
    mamba_head_dim=16,
    n_groups=2,
    ssm_state_size=16,
    chunk_size=8,
)

GEMMA4: dict[str, Any] = dict(
    WINDOW,
    num_hidden_layers=5,
    head_dim=16,
    global_head_dim=32,
    hidden_activation="gelu_pytorch_tanh",
    tie_word_embeddings=False,
    layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"],
    num_kv_shared_layers=2,
    use_double_wide_mlp=True,
    hidden_size_per_layer_input=8,
    vocab_size_per_layer_input=VOCAB,
    final_logit_softcapping=5.0,
)

TOWER = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, out_hidden_size=16)

LAGUNA: dict[str, Any] = dict(
    WINDOW,
    num_hidden_layers=4,
    head_dim=32,
    layer_types=["full_attention", *["sliding_attention"] * 3],
    num_attention_heads_per_layer=[4, 6, 6, 6],
    moe_intermediate_size=32,
    num_experts=4,
    num_experts_per_tok=2,
    shared_expert_intermediate_size=48,
    moe_routed_scaling_factor=2.5,
    rope_parameters={
        "full_attention": _rope(
            "yarn",
            5e5,
            factor=8.0,
            original_max_position_embeddings=16,
            beta_fast=64.0,
            beta_slow=1.0,
            partial_rotary_factor=0.5,
        ),
        "sliding_attention": _rope(theta=1e4, partial_rotary_factor=1.0),
    },
)

# name -> (class prefix in transformers, config fields)
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": (
        "Llama",
        dict(
            rope_parameters=_rope(
                "llama3",
                5e5,
                factor=32.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=64,
            ),
            tie_word_embeddings=True,
        ),
    ),
    "llama_plain": ("Llama", dict(rope_parameters=_rope(), num_key_value_heads=4, attention_bias=True, mlp_bias=True)),
    "llama_linear": ("Llama", dict(rope_parameters=_rope("linear", factor=4.0))),
    "llama_dynamic": ("Llama", dict(rope_parameters=_rope("dynamic", factor=2.0), max_position_embeddings=48)),
    "llama_yarn": (
        "Llama",
        dict(rope_parameters=_rope("yarn", factor=4.0, original_max_position_embeddings=64), tie_word_embeddings=False),
    ),
    "qwen2": ("Qwen2", dict(rope_parameters=_rope(theta=1e6), tie_word_embeddings=True)),
    "qwen3": ("Qwen3", dict(head_dim=32, rope_parameters=_rope(theta=1e6), tie_word_embeddings=False)),
    "qwen3_moe": ("Qwen3Moe", dict(MIXTURE, head_dim=32, mlp_only_layers=[], rope_parameters=_rope(theta=1e6))),
    "hunyuan": (
        "HunYuanDenseV1",
        dict(
            head_dim=16,
            tie_word_embeddings=True,
            rope_parameters=_rope(
                "dynamic", alpha=1000.0, factor=1.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0
            ),
        ),
    ),
    "qwen3_5": (
        "Qwen3_5",
        dict(
            DELTA,
            rope_parameters=_rope(
                theta=1e7, partial_rotary_factor=0.25, mrope_section=[2, 1, 1], mrope_interleaved=True
            ),
        ),
    ),
    "qwen3_next": (
        "Qwen3Next",
        dict(
            DELTA,
            **MIXTURE,
            shared_expert_intermediate_size=32,
            mlp_only_layers=[],
            rope_parameters=_rope(theta=1e7, partial_rotary_factor=0.25),
        ),
    ),
    "qwen3_5_moe": (
        "Qwen3_5Moe",
        dict(
            DELTA,
            moe_intermediate_size=32,
            num_experts=8,
            num_experts_per_tok=2,
            shared_expert_intermediate_size=32,
            rope_parameters=_rope(
                theta=1e7, partial_rotary_factor=0.25, mrope_section=[2, 1, 1], mrope_interleaved=True
            ),
        ),
    ),
    "glm4": (
        "Glm4",
        dict(head_dim=32, attention_bias=True, rope_parameters=_rope(partial_rotary_factor=0.5), pad_token_id=None),
    ),
    "glm4_moe": (
        "Glm4Moe",
        dict(
            ROUTED,
            head_dim=32,
            attention_bias=True,
            use_qk_norm=True,
            rope_parameters=_rope(theta=1e6, partial_rotary_factor=0.5),
        ),
    ),
    "glm4_moe_lite": (
        "Glm4MoeLite",
        dict({**ROUTED, **LATENT}, n_group=1, topk_group=1, n_routed_experts=4, rope_parameters=_rope(theta=1e6)),
    ),
    "deepseek_v3": (
        "DeepseekV3",
        dict(
            ROUTED,
            **LATENT,
            rope_parameters=_rope(
                "yarn",
                factor=4.0,
                original_max_position_embeddings=64,
                beta_fast=32,
                beta_slow=1,
                mscale=1.0,
                mscale_all_dim=1.0,
            ),
        ),
    ),
    "deepseek_v2": (
        "DeepseekV2",
        dict(
            {**ROUTED, **LATENT, "q_lora_rank": None, "norm_topk_prob": False},
            topk_method="group_limited_greedy",
            rope_parameters=_rope(
                "yarn", factor=4.0, original_max_position_embeddings=64, mscale=0.707, mscale_all_dim=0.707
            ),
        ),
    ),
    "minimax_m2": (
        "MiniMaxM2",
        dict(
            head_dim=32,
            intermediate_size=32,
            num_local_experts=8,
            num_experts_per_tok=2,
            rope_parameters=_rope(theta=5e6, partial_rotary_factor=0.5),
        ),
    ),
    # layers with a sliding window that the prompt crosses
    "mistral_window": ("Mistral", dict(WINDOW, head_dim=32, rope_parameters=_rope())),
    "qwen2_window": (
        "Qwen2",
        dict(WINDOW, use_sliding_window=True, max_window_layers=1, rope_parameters=_rope(theta=1e6)),
    ),
    "qwen3_window": (
        "Qwen3",
        dict(
            WINDOW,
            head_dim=32,
            use_sliding_window=True,
            layer_types=["full_attention", "sliding_attention", "full_attention"],
            rope_parameters=_rope(theta=1e6),
        ),
    ),
    "qwen3_moe_window": (
        "Qwen3Moe",
        dict({**MIXTURE, **WINDOW}, head_dim=32, use_sliding_window=True, mlp_only_layers=[], rope_parameters=_rope()),
    ),
    "gemma3": (
        "Gemma3",
        dict(
            GEMMA,
            rope_parameters={
                "full_attention": _rope("linear", 1e6, factor=8.0),
                "sliding_attention": _rope(theta=1e4),
            },
        ),
    ),
    # keys and values shared by the last layers, inputs of each layer, a softcap
    "gemma4": ("Gemma4", GEMMA4),
    # keys that make values too, and experts beside each MLP
    "gemma4_moe": (
        "Gemma4",
        dict(
            GEMMA4,
            hidden_size_per_layer_input=0,
            num_kv_shared_layers=0,
            attention_k_eq_v=True,
            num_global_key_value_heads=1,
            enable_moe_block=True,
            num_experts=4,
            top_k_experts=2,
            moe_intermediate_size=40,
        ),
    ),
    "gemma4_unified": (
        "Gemma4Unified",
        {
            **{name: value for name, value in GEMMA4.items() if "per_layer_input" not in name},
            "num_kv_shared_layers": 0,
            "use_double_wide_mlp": False,
            "attention_k_eq_v": True,
            "num_global_key_value_heads": 1,
        },
    ),
    # several hidden states a token, of which the second is computed; a table that lacks some tokens
    "gemma3n": (
        "Gemma3n",
        dict(
            WINDOW,
            num_hidden_layers=5,
            head_dim=16,
            hidden_activation="gelu_pytorch_tanh",
            tie_word_embeddings=False,
            num_kv_shared_layers=2,
            layer_types=GEMMA4["layer_types"],
            hidden_size_per_layer_input=8,
            vocab_size_per_layer_input=190,
            final_logit_softcapping=5.0,
            altup_num_inputs=3,
            altup_active_idx=1,
            laurel_rank=8,
            activation_sparsity_pattern=[0.9, 0.0, 0.5, 0.0, 0.0],
            rope_parameters={"full_attention": _rope(theta=1e6), "sliding_attention": _rope(theta=1e4)},
        ),
    ),
    # layers without positions, among them the last; beside an image encoder
    "muse_glimmer": (
        "MuseGlimmer",
        dict(
            WINDOW,
            num_hidden_layers=5,
            head_dim=32,
            layer_types=["full_attention", *["sliding_attention"] * 3, "full_attention"],
            rope_parameters=_rope(theta=5e5),
            qk_scale_factor=1.2,
            output_multiplier=0.4,
            final_logit_softcapping=5.0,
        ),
    ),
    "cohere2": (
        "Cohere2",
        dict(
            WINDOW,
            num_hidden_layers=5,
            layer_types=["sliding_attention"] * 3 + ["full_attention", "sliding_attention"],
            rope_parameters=_rope(theta=5e4),
            logit_scale=0.3,
            tie_word_embeddings=True,
        ),
    ),
    "exaone4": (
        "Exaone4",
        dict(WINDOW, num_hidden_layers=5, head_dim=16, sliding_window_pattern=4, rope_parameters=_rope(theta=1e6)),
    ),
    "olmo3": (
        "Olmo3",
        dict(
            WINDOW,
            num_hidden_layers=4,
            rope_parameters={
                "full_attention": _rope("yarn", 5e5, factor=8.0, original_max_position_embeddings=16),
                "sliding_attention": _rope(theta=5e5),
            },
        ),
    ),
    # heads by layer
    "laguna": ("Laguna", LAGUNA),
    "laguna_wide": ("Laguna", dict(LAGUNA, gating="per-element", moe_router_logit_softcapping=1.5)),
    "ministral3": (
        "Ministral3",
        dict(
            head_dim=32,
            num_hidden_layers=3,
            rope_parameters=_rope(
                "yarn",
                1e6,
                factor=16.0,
                original_max_position_embeddings=16,
                mscale=1.0,
                mscale_all_dim=1.0,
                llama_4_scaling_beta=0.3,
            ),
        ),
    ),
    "phi3": ("Phi3", dict(WINDOW, rope_parameters=_rope(partial_rotary_factor=0.75))),
    # its parity with the reference is tested through the engine, which knows how long a text is (test_longrope.py)
    "phi3_long": (
        "Phi3",
        dict(
            original_max_position_embeddings=32,
            rope_parameters=_rope(
                "longrope",
                short_factor=[1.0 + i / 8 for i in range(8)],
                long_factor=[1.5 + i for i in range(8)],
                original_max_position_embeddings=32,
            ),
        ),
    ),
    "gpt_oss": (
        "GptOss",
        dict(
            WINDOW,
            num_hidden_layers=4,
            head_dim=32,
            num_local_experts=4,
            num_experts_per_tok=2,
            swiglu_limit=2.0,
            layer_types=None,
            rope_parameters=_rope(
                "yarn", 150000.0, factor=32.0, truncate=False, original_max_position_embeddings=16, beta_fast=32.0
            ),
        ),
    ),
}
MODELS["lfm2"] = (
    "Lfm2",
    dict(
        SHORT_CONV,
        layer_types=["conv", "full_attention", "conv"],
        intermediate_size=96,
        block_multiple_of=16,
        rope_parameters=_rope(theta=1e6),
    ),
)
MODELS["lfm2_moe"] = (
    "Lfm2Moe",
    dict(
        SHORT_CONV,
        layer_types=["conv", "full_attention", "conv"],
        num_dense_layers=1,
        num_experts=8,
        num_experts_per_tok=2,
        moe_intermediate_size=32,
        rope_parameters=_rope(theta=1e6),
    ),
)
MODELS["granite"] = ("Granite", dict(GRANITE, rope_parameters=_rope()))
MODELS["granitemoe"] = (
    "GraniteMoe",
    dict(GRANITE, num_local_experts=8, num_experts_per_tok=2, rope_parameters=_rope()),
)
MODELS["granitemoeshared"] = (
    "GraniteMoeShared",
    dict(GRANITE, num_local_experts=8, num_experts_per_tok=2, shared_intermediate_size=48, rope_parameters=_rope()),
)
MODELS["granite_hybrid"] = (
    "GraniteMoeHybrid",
    dict(
        {**GRANITE, **GRANITE_MAMBA},
        num_local_experts=8,
        num_experts_per_tok=2,
        position_embedding_type=None,
        rope_parameters=_rope(),
    ),
)
MODELS["granite_hybrid_dense"] = (
    "GraniteMoeHybrid",
    dict(
        {**GRANITE, **GRANITE_MAMBA},
        shared_intermediate_size=96,
        num_local_experts=0,
        position_embedding_type="rope",
        rope_parameters=_rope(),
    ),
)
MODELS["nemotron_h"] = (
    "NemotronH",
    dict(NEMOTRON, layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"]),
)
MODELS["nemotron_h_moe"] = (
    "NemotronH",
    dict(
        NEMOTRON,
        layers_block_type=["linear_attention", "moe", "full_attention", "linear_attention", "moe"],
        n_routed_experts=8,
        num_experts_per_tok=3,
        moe_intermediate_size=32,
        moe_shared_expert_intermediate_size=48,
        moe_latent_size=32,
        n_group=4,
        topk_group=2,
        routed_scaling_factor=2.5,
    ),
)
MODELS["lfm3"] = (
    "Lfm3",
    dict(
        {**SHORT_CONV, "rms_norm_eps": 1e-5},
        head_dim=32,
        conv_L_cache=7,
        sliding_window=9,
        layer_types=["conv", "sliding_attention", "full_attention"],
        rope_parameters={
            "full_attention": _rope("proportional", 1e6, partial_rotary_factor=0.5),
            "sliding_attention": _rope(theta=1e4),
        },
    ),
)
MODELS["smollm3"] = (
    "SmolLM3",
    dict(num_hidden_layers=3, no_rope_layers=[1, 0, 1], tie_word_embeddings=False, rope_parameters=_rope(theta=2e6)),
)
MODELS["bitnet"] = ("BitNet", dict(tie_word_embeddings=True, rope_parameters=_rope(theta=5e5)))
MODELS["seed_oss"] = ("SeedOss", dict(head_dim=32, rope_parameters=_rope(theta=1e7)))
MODELS["ernie4_5"] = (
    "Ernie4_5",
    dict(head_dim=32, use_bias=True, tie_word_embeddings=False, rope_parameters=_rope(theta=5e5)),
)
MODELS["ernie4_5_moe"] = (
    "Ernie4_5_Moe",
    dict(
        num_hidden_layers=3,
        tie_word_embeddings=False,
        moe_num_experts=8,
        moe_k=2,
        moe_intermediate_size=32,
        moe_num_shared_experts=2,
        rope_parameters=_rope(theta=5e5),
    ),
)
MODELS["hunyuan_moe"] = (
    "HunYuanMoEV1",
    dict(
        head_dim=16,
        num_experts=8,
        moe_topk=4,
        tie_word_embeddings=False,
        rope_parameters=_rope(
            "dynamic", alpha=1000.0, factor=1.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0
        ),
    ),
)
MODELS["olmo2"] = ("Olmo2", dict(rope_parameters=_rope(theta=5e5)))
MODELS["exaone4_full"] = (
    "Exaone4",
    dict(sliding_window=None, layer_types=["full_attention"] * 2, rope_parameters=_rope(theta=1e6)),
)

# not one of ours: MLX runs it through mlx-lm
FOREIGN: dict[str, tuple[str, dict[str, Any]]] = {
    "gemma": ("Gemma", dict(head_dim=16, hidden_act="gelu_pytorch_tanh", rope_parameters=_rope())),
}


def reference(name: str, seed: int = 0, spread: float = 0.2, **changes: Any) -> Any:
    """The reference implementation of a tiny model, in f32, with random weights of this standard deviation."""
    import transformers

    prefix, fields = {**MODELS, **FOREIGN}[name]
    config_class = getattr(transformers, f"{prefix}TextConfig", None) or getattr(transformers, f"{prefix}Config")
    config = config_class(**{**BASE, **fields, **changes})
    kind = getattr(transformers, f"{prefix}ForCausalLM", None)
    if kind is None:  # it is known beside its image encoder only
        kind = getattr(transformers, f"{prefix}ForConditionalGeneration")
        config = getattr(transformers, f"{prefix}Config")(text_config=config.to_dict(), vision_config=TOWER)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    fill(model, seed, spread)
    return model


def fill(model: Any, seed: int = 0, spread: float = 0.2) -> None:
    """Random weights of this standard deviation; norms stay near what they are."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    scaled = any(name in type(model).__name__ for name in ("Gemma3n", "Gemma4"))
    with torch.no_grad():
        for key, p in [*model.named_parameters(), *model.named_buffers()]:
            if key.endswith(("e_score_correction_bias", "expert_bias")):
                p.copy_(0.3 * torch.randn(p.shape, generator=generator))
        for key, p in model.named_parameters():
            if key.endswith(("A_log", "dt_bias")):
                p.copy_(torch.rand(p.shape, generator=generator))
            elif key.endswith(("sinks", "router.bias")):  # begin at random
                p.copy_(torch.randn(p.shape, generator=generator))
            elif p.ndim == 1:
                p.add_(0.1 * torch.randn(p.shape, generator=generator))
                if scaled and key.endswith(("q_norm.weight", "k_norm.weight")):
                    p.mul_(p.shape[0] ** -0.25)  # as trained ones are where attention has no scale
                elif key.endswith("router.scale"):
                    p.mul_(64)  # else all experts are about alike
                elif key.endswith("post_feedforward_layernorm_2.weight"):
                    p.mul_(0.3)  # of experts: in bf16 a router may choose another one
                elif key.endswith("correct_output_scale"):
                    p.add_(1)  # begins at zero
            else:
                p.copy_(spread * torch.randn(p.shape, generator=generator))
        for key, buffer in model.named_buffers():
            if key.endswith("layer_scalar"):
                buffer.copy_(0.7 + 0.4 * torch.rand(buffer.shape, generator=generator))


def save_tokenizer(folder: Path, more: Sequence[str] = (), words: Sequence[str] = ()) -> None:
    """Byte-level BPE: 256 bytes, the special tokens, and `more` of these; merges only for what makes tokens of `words`."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if words:
        tokenizer.train_from_iterator(words, trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in (*SPECIALS, *more)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": SPECIALS[2], "pad_token": SPECIALS[0], "tokenizer_class": "PreTrainedTokenizerFast"})
    )


def publish(config: dict[str, Any]) -> dict[str, Any]:
    """The older spelling that published repositories use: rope_theta, rope_scaling, num_experts, torch_dtype."""
    config, kinds = dict(config), config.get("layer_types")
    if "text_config" in config:
        return config | {"text_config": publish(config["text_config"])}
    if config.get("model_type") == "laguna":  # with two ropes from the beginning
        return config
    layers = config.pop("per_layer_config", None)
    if layers is not None:  # Gemma 4: ropes as they are, and one size of heads for all layers that attend to everything
        full = next(iter(layers.values()))
        config["global_head_dim"] = full["head_dim"]
        config["num_global_key_value_heads"] = full.get("num_key_value_heads")
        return config
    rope = config.pop("rope_parameters", None)
    if rope and config["model_type"] == "olmo3":  # whose scaling is of full layers only
        rope = rope["full_attention"]
    if rope and "full_attention" in rope and not config["model_type"].startswith("gemma3"):
        config["rope_parameters"], rope = rope, None
    elif rope and "full_attention" in rope:  # Gemma 3: no layer_types, and scaling in some layers only
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    if config.get("model_type") == "cohere2":
        config["sliding_window_pattern"] = 4
    if "sliding_window_pattern" in config:
        config.pop("layer_types")
    if rope:
        rope = dict(rope)
        config["rope_theta"] = rope.pop("rope_theta")
        kind = rope.pop("rope_type", "default")
        if "partial_rotary_factor" in rope:
            config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
        config["rope_scaling"] = dict(rope, rope_type=kind, type=kind) if rope or kind != "default" else None
    if config["model_type"] == "lfm2":
        config["block_dim"] = config["hidden_size"]
        config["full_attn_idxs"] = [i for i, kind in enumerate(config.pop("layer_types")) if kind == "full_attention"]
        config["block_ff_dim"], config["tie_embedding"] = (
            config.pop("intermediate_size"),
            config.pop("tie_word_embeddings"),
        )
    if config["model_type"] == "exaone4" and config["sliding_window"]:
        drawn = ["L" if kind == "sliding_attention" else "G" for kind in kinds]
        config["sliding_window_pattern"] = "".join(drawn[: drawn.index("G") + 1])
    if "time_step_limit" in config:
        config["time_step_limit"] = [0.0, float("inf")]  # as Python's JSON writes it
    if config["model_type"] == "granitemoehybrid":
        config["layer_types"] = [{"linear_attention": "mamba"}.get(kind, "attention") for kind in kinds]
        config["position_embedding_type"] = config["position_embedding_type"] or "nope"
    if config["model_type"] == "nemotron_h":
        marks = {"linear_attention": "M", "full_attention": "*", "mlp": "-", "moe": "E"}
        config["hybrid_override_pattern"] = "".join(marks[kind] for kind in config.pop("layers_block_type"))
    for new, old in (("num_local_experts", "num_experts"), ("dtype", "torch_dtype")):
        if new in config and not (config["model_type"].startswith("granite") and new == "num_local_experts"):
            config[old] = config.pop(new)
    return config


@cache
def _first(*asked: str) -> Path:
    """Where this process keeps the first of equal checkpoints: making one takes as long as many a test with it."""
    folder = Path(tempfile.mkdtemp(prefix="grus-checkpoint-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / "made"


def save(name: str, folder: Path, spelling: str = "new", dtype: str = "float32", **changes: Any) -> Path:
    """Save a tiny checkpoint with its tokenizer."""
    made = _first(name, spelling, dtype, repr(sorted(changes.items())))
    if not made.exists():
        _save(name, part := made.with_name("part"), spelling, dtype, changes)
        part.rename(made)
    return Path(shutil.copytree(made, folder, dirs_exist_ok=True))


def _save(name: str, folder: Path, spelling: str, dtype: str, changes: dict[str, Any]) -> None:
    import torch

    model = reference(name, **changes)
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(publish(config) if spelling == "old" else config, indent=1))
    save_tokenizer(folder)


def save_as_qwen_publishes(source: Path, folder: Path) -> Path:
    """A saved mixture of Qwen3.5 anew: beside an image encoder, experts in two tensors a layer, and a layer that guesses ahead."""
    import torch
    from safetensors.torch import load_file, save_file

    tensors = load_file(source / "model.safetensors")
    count = MODELS["qwen3_5_moe"][1]["num_experts"]
    made = {"mtp.norm.weight": torch.ones(4), "model.visual.patch_embed.proj.bias": torch.ones(4)}
    for name in list(tensors):
        stem, found, _ = name.partition(".experts.0.gate_proj.weight")
        if found:
            part = {
                p: [tensors.pop(f"{stem}.experts.{i}.{p}_proj.weight") for i in range(count)]
                for p in ("gate", "up", "down")
            }
            both = torch.stack([torch.cat(pair) for pair in zip(part["gate"], part["up"])])
            tensors[f"{stem}.experts.gate_up_proj"] = both
            tensors[f"{stem}.experts.down_proj"] = torch.stack(part["down"])
    for name, values in tensors.items():
        made[name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name] = values
    folder.mkdir()
    save_file(made, folder / "model.safetensors", {"format": "pt"})
    text = json.loads((source / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen3_5_moe", "text_config": text}))
    return folder


@cache
def reference_cached(name: str, spread: float = 0.2) -> Any:
    return reference(name, spread=spread)
