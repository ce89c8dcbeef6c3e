"""Config, special ids and templates out of a GGUF file's metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError, TokenizerError, UnsupportedArchitecture
from engine.models.config import text_config
from engine.models.rope import text_rope
from engine.weights.gguf import metadata
from engine.weights.gguf.checkpoint import GgufCheckpoint, open_gguf
from tests.checkpoints import save_tokenizer
from tests.engine.weights.gguf.files import plan, save, zeros

LLAMA: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.context_length": 4096,
    "llama.embedding_length": 64,
    "llama.feed_forward_length": 96,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 500000.0,
}
EMBEDDING = zeros("token_embd.weight", "F32", (300, 64))
LAST_LAYER = zeros("blk.1.ffn_norm.weight", "F32", (64,))


def opened(path: Path, keys: dict[str, Any], *plans: Any) -> GgufCheckpoint:
    return open_gguf(save(path, keys, [EMBEDDING, LAST_LAYER, *plans]))


def qwen35(**more: Any) -> dict[str, Any]:
    keys = {key.replace("llama", "qwen35"): value for key, value in LLAMA.items()} | {
        "general.architecture": "qwen35",
        "qwen35.attention.key_length": 32,
        "qwen35.attention.value_length": 32,
        "qwen35.rope.dimension_count": 8,
        "qwen35.rope.dimension_sections": [2, 1, 1, 0],
        "qwen35.ssm.conv_kernel": 4,
        "qwen35.ssm.state_size": 16,
        "qwen35.ssm.group_count": 2,
        "qwen35.ssm.time_step_rank": 4,
        "qwen35.ssm.inner_size": 64,
    }
    return keys | more


def test_a_plain_llama(tmp_path: Path) -> None:
    config = opened(tmp_path / "m.gguf", LLAMA).config
    c = text_config(config)
    assert (config["model_type"], c.hidden, c.layers, c.heads, c.kv_heads, c.head_dim) == ("llama", 64, 2, 4, 2, 16)
    assert (c.ffn, c.vocab, c.context, c.tied) == (96, 300, 4096, True)
    assert c.eps == 1e-5  # not the f32 nearest to it
    assert config["rope_parameters"]["rope_theta"] == 500000.0
    assert not config["attention_bias"]


def test_what_tensors_tell(tmp_path: Path) -> None:
    head, bias = zeros("output.weight", "F32", (300, 64)), zeros("blk.0.attn_q.bias", "F32", (64,))
    config = opened(tmp_path / "m.gguf", LLAMA, head, bias).config
    assert not config["tie_word_embeddings"]
    assert config["attention_bias"]


def test_how_embeddings_are_pooled(tmp_path: Path) -> None:
    assert "pooling" not in opened(tmp_path / "m.gguf", LLAMA).config
    for number, name in ((0, None), (1, "mean"), (2, "cls"), (3, "last"), (9, "type 9")):
        config = opened(tmp_path / "m.gguf", LLAMA | {"llama.pooling_type": number}).config
        assert config.get("pooling") == name


def test_one_number_a_layer(tmp_path: Path) -> None:
    keys = LLAMA | {"llama.attention.head_count_kv": [2, 2]}
    assert opened(tmp_path / "m.gguf", keys).config["num_key_value_heads"] == 2
    with pytest.raises(UnsupportedArchitecture, match="differs between layers"):
        opened(tmp_path / "m.gguf", LLAMA | {"llama.attention.head_count_kv": [2, 1]})


def test_layers_for_multi_token_prediction_are_no_layers_of_the_model(tmp_path: Path) -> None:
    checkpoint = opened(
        tmp_path / "m.gguf",
        qwen35(**{"qwen35.nextn_predict_layers": 1}),
        zeros("blk.0.attn_norm.weight", "F32", (64,)),
        zeros("blk.1.attn_norm.weight", "F32", (64,)),
        zeros("blk.1.nextn.hnorm.weight", "F32", (64,)),
    )
    assert checkpoint.config["num_hidden_layers"] == 1
    assert list(checkpoint.source.names) == [
        "model.embed_tokens.weight",
        "mtp.layers.0.ffn_norm.weight",
        "model.layers.0.input_layernorm.weight",
        "mtp.layers.0.input_layernorm.weight",
        "mtp.pre_fc_norm_hidden.weight",
    ]


def test_qwen35(tmp_path: Path) -> None:
    config = opened(tmp_path / "m.gguf", qwen35()).config
    assert config["linear_num_key_heads"] == 2
    assert config["linear_value_head_dim"] == 16
    assert config["linear_value_heads_tiled"]
    rope = text_rope(text_config(config))
    assert (rope.dims, rope.section, rope.interleaved) == (8, (2, 1, 1), True)


def test_frequencies_that_were_bent_are_factors(tmp_path: Path) -> None:
    factors = np.linspace(1, 8, 8, dtype=np.float32)
    config = opened(tmp_path / "m.gguf", LLAMA, plan("rope_freqs.weight", "F32", (8,), factors)).config
    rope = text_rope(text_config(config))
    assert np.allclose(np.array(rope.inv) * factors, 500000.0 ** (-np.arange(0, 16, 2) / 16))
    assert "rope_freqs.weight" not in opened(tmp_path / "m.gguf", LLAMA).source.names


@pytest.mark.parametrize(
    ("rope", "expected"),
    [
        ({"type": "linear", "factor": 4.0}, {"rope_type": "linear", "factor": 4.0}),
        (
            {"type": "yarn", "factor": 2.0, "original_context_length": 2048},
            {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 2048},
        ),
        ({"type": "none", "factor": 1.0}, {"rope_type": "default"}),
    ],
)
def test_scaled_positions(tmp_path: Path, rope: dict[str, Any], expected: dict[str, Any]) -> None:
    keys = LLAMA | {f"llama.rope.scaling.{key}": value for key, value in rope.items()}
    config = opened(tmp_path / "m.gguf", keys).config["rope_parameters"]
    assert {key: config[key] for key in expected} == expected


def test_the_base_that_alpha_made(tmp_path: Path) -> None:
    """Hunyuan's alpha is folded into the base when a file is written; the frequencies must not change."""
    config = {
        "model_type": "hunyuan_v1_dense",
        "hidden_size": 64,
        "num_attention_heads": 4,
        "num_hidden_layers": 1,
        "intermediate_size": 96,
        "vocab_size": 300,
        "rope_theta": 10000.0,
        "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0},
    }
    keys, factors = metadata.describe(config, "hunyuan-dense", "test")
    assert factors == {}
    again = opened(tmp_path / "m.gguf", keys).config
    assert np.allclose(text_rope(text_config(again)).inv, text_rope(text_config(config)).inv, rtol=1e-6)


def test_what_ends_a_reply(tmp_path: Path) -> None:
    tokens = ["a", "<|im_end|>", "<|endoftext|>", "<|eot_id|>"]
    checkpoint = opened(
        tmp_path / "m.gguf",
        LLAMA
        | {
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [1, 3, 3, 1],  # the last is a word like any other
            "tokenizer.ggml.eos_token_id": 1,
            "general.sampling.temp": 0.6,
            "general.sampling.top_k": 20,
        },
    )
    generation = checkpoint.generation_config
    assert generation["eos_token_id"] == [1, 2]
    assert (generation["temperature"], generation["top_k"], generation["do_sample"]) == (0.6, 20, True)


@pytest.mark.parametrize(
    ("tokens", "ends"),
    [
        (["a", "<|end|>", "<|endoftext|>"], [2, 1]),  # Phi: a turn's end
        (["<|end|>", "<|return|>", "<|call|>"], [1, 2]),  # gpt-oss: a message's end, after which it continues
        (["<bos>", "<eos>", "<end_of_turn>"], [1, 2]),
    ],
)
def test_tokens_that_end_a_turn_of_some_families(tmp_path: Path, tokens: list[str], ends: list[int]) -> None:
    keys = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": [3] * len(tokens)}
    keys["tokenizer.ggml.eos_token_id"] = ends[0]
    assert opened(tmp_path / "m.gguf", LLAMA | keys).generation_config["eos_token_id"] == ends


def test_templates_by_name(tmp_path: Path) -> None:
    keys = LLAMA | {"tokenizer.chat_template": "plain", "tokenizer.chat_template.tool_use": "tools"}
    checkpoint = opened(tmp_path / "m.gguf", keys)
    assert checkpoint.template_source == "plain"
    assert checkpoint.template_sources == {"default": "plain", "tool_use": "tools"}
    assert opened(tmp_path / "m.gguf", LLAMA).template_source is None
    assert not checkpoint.has_tokenizer


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"general.architecture": None}, ConfigError, "no general.architecture"),
        ({"general.architecture": "mamba"}, UnsupportedArchitecture, "`mamba`"),
        ({"llama.block_count": None}, ConfigError, "lacks llama.block_count"),
        ({"llama.block_count": "two"}, ConfigError, "must be a whole number"),
        ({"llama.block_count": 0}, ConfigError, "from 1 to"),
        ({"llama.attention.head_count": 0}, ConfigError, "from 1 to"),
        ({"llama.block_count": 1 << 30}, ConfigError, "1,073,741,824 layers, but holds tensors of 2"),
        ({"llama.nextn_predict_layers": 2}, ConfigError, "0 layers"),
        ({"llama.embedding_length": 1 << 30}, ConfigError, "embeddings of 64 numbers"),
        ({"llama.attention.key_length": 1 << 30}, ConfigError, "key_length must be"),
        ({"llama.rope.dimension_count": 17}, ConfigError, "from 1 to 16"),
        ({"llama.rope.freq_base": 0.5}, ConfigError, "above 1"),
        ({"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 0.0}, ConfigError, "above 0"),
        ({"llama.rope.freq_base": "x"}, ConfigError, "must be a number"),
        ({"llama.rope.freq_base": float("nan")}, ConfigError, "must be a number"),
        ({"llama.rope.scaling.type": "longrope"}, UnsupportedArchitecture, "longrope"),
        ({"llama.attention.value_length": 32}, UnsupportedArchitecture, "different sizes"),
        ({"llama.expert_count": 8}, UnsupportedArchitecture, "mixture of experts"),
        ({"prism.hadamard.x": 1}, UnsupportedArchitecture, "rotated"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, changes: dict[str, Any], kind: type, message: str) -> None:
    keys = {key: value for key, value in (LLAMA | changes).items() if value is not None}
    with pytest.raises(kind, match=message):
        opened(tmp_path / "m.gguf", keys)


def test_a_router_needs_experts(tmp_path: Path) -> None:
    keys = {key.replace("llama", "qwen3moe"): value for key, value in LLAMA.items()} | {
        "general.architecture": "qwen3moe",
        "qwen3moe.expert_count": 1 << 30,
        "qwen3moe.expert_used_count": 2,
        "qwen3moe.expert_feed_forward_length": 32,
    }
    assert opened(tmp_path / "m.gguf", keys).config["mlp_only_layers"] == [0, 1]
    with pytest.raises(ConfigError, match=r"lacks blk\.1\.ffn_gate_exps"):
        opened(tmp_path / "m.gguf", keys, zeros("blk.1.ffn_gate_inp.weight", "F32", (4, 64)))


def test_a_file_without_an_embedding_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no token_embd"):
        open_gguf(save(tmp_path / "m.gguf", LLAMA, []))


def test_a_tokenizer_from_elsewhere(tmp_path: Path) -> None:
    """A file without one takes it from a folder."""
    checkpoint = opened(tmp_path / "m.gguf", LLAMA)
    assert checkpoint.generation_config == {"eos_token_id": []}
    with pytest.raises(TokenizerError, match="has no tokenizer"):
        checkpoint.tokenizer()
    save_tokenizer(tmp_path)
    tokenizer = checkpoint.tokenizer(tmp_path)
    assert tokenizer.decode(tokenizer.encode("hi")) == "hi"
