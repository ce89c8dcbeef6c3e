"""GGUF files of encoders (`bert`, `nomic-bert`, `gemma-embedding`): their config and their tensors' names.

Positions of RoBERTa's kind are stored from the first one that is used, so all are BERT's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Raw
from engine.errors import ConfigError
from engine.text.sentence_modules import DenseModule
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.keys import Keys

DENSE = ("dense_2.weight", "dense_3.weight")  # behind the pooling


def encoder_config(keys: Keys, tensors: Mapping[str, Raw], vocabulary: int) -> dict[str, Any]:
    """In the words of our models."""
    common: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": keys.int("embedding_length"),
        "num_hidden_layers": keys.int("block_count"),
        "num_attention_heads": keys.int("attention.head_count"),
        "intermediate_size": keys.int("feed_forward_length"),
    }
    if keys.arch == "gemma-embedding":
        dim = keys.int("attention.key_length", 256)
        return common | {
            "model_type": "gemma3_text",
            "use_bidirectional_attention": True,
            "hidden_activation": "gelu_pytorch_tanh",
            "norms_hold_one": True,
            "num_key_value_heads": keys.int("attention.head_count_kv", common["num_attention_heads"]),
            "head_dim": dim,
            "query_pre_attn_scalar": dim,
            "rms_norm_eps": keys.float("attention.layer_norm_rms_epsilon", 1e-6),
            "max_position_embeddings": keys.int("context_length", 2048),
            "sliding_window": keys.int("attention.sliding_window", 512),
            "sliding_window_pattern": 6,
            "rope_theta": keys.float("rope.freq_base", 1e6, above=1.0),
            "rope_local_base_freq": keys.float("rope.freq_base_swa", 1e4, above=1.0),
        }
    types = tensors.get("token_types.weight")
    common |= {
        "layer_norm_eps": keys.float("attention.layer_norm_epsilon", 1e-12),
        "type_vocab_size": 0 if types is None else (types.shape[0] if len(types.shape) > 1 else 1),
    }
    if keys.arch == "nomic-bert":
        return common | {
            "model_type": "nomic_bert",
            "max_position_embeddings": keys.int("context_length", 2048),
            "rotary_emb_base": keys.float("rope.freq_base", 1000.0, above=1.0),
        }
    places = tensors.get("position_embd.weight")
    if places is None:
        raise ConfigError(f"{keys.where} has no position_embd.weight, so it is not a whole model.")
    return common | {"model_type": "bert", "max_position_embeddings": places.shape[0]}


def _both(names: dict[str, str]) -> dict[str, str]:
    return {f"{theirs}.{part}": f"{ours}.{part}" for part in ("weight", "bias") for theirs, ours in names.items()}


BERT_NAMES = _both(
    {
        "token_embd": "embeddings.word_embeddings",
        "position_embd": "embeddings.position_embeddings",
        "token_types": "embeddings.token_type_embeddings",
        "token_embd_norm": "embeddings.LayerNorm",
        "cls": "classifier.dense",
        "cls.output": "classifier.out_proj",
        "blk.{}.attn_q": "encoder.layer.{}.attention.self.query",
        "blk.{}.attn_k": "encoder.layer.{}.attention.self.key",
        "blk.{}.attn_v": "encoder.layer.{}.attention.self.value",
        "blk.{}.attn_output": "encoder.layer.{}.attention.output.dense",
        "blk.{}.attn_output_norm": "encoder.layer.{}.attention.output.LayerNorm",
        "blk.{}.ffn_up": "encoder.layer.{}.intermediate.dense",
        "blk.{}.ffn_down": "encoder.layer.{}.output.dense",
        "blk.{}.layer_output_norm": "encoder.layer.{}.output.LayerNorm",
    }
)
NOMIC_NAMES = _both(
    {
        "token_embd": "embeddings.word_embeddings",
        "token_types": "embeddings.token_type_embeddings",
        "token_embd_norm": "emb_ln",
        "blk.{}.attn_qkv": "encoder.layers.{}.attn.Wqkv",
        "blk.{}.attn_output": "encoder.layers.{}.attn.out_proj",
        "blk.{}.attn_output_norm": "encoder.layers.{}.norm1",
        "blk.{}.ffn_up": "encoder.layers.{}.mlp.fc11",
        "blk.{}.ffn_gate": "encoder.layers.{}.mlp.fc12",
        "blk.{}.ffn_down": "encoder.layers.{}.mlp.fc2",
        "blk.{}.layer_output_norm": "encoder.layers.{}.norm2",
    }
)


def as_matrix(name: str, raw: Raw) -> Raw:
    """Writers drop the axis of a matrix with one row."""
    one_row = name in ("embeddings.token_type_embeddings.weight", "classifier.out_proj.weight")
    return replace(raw, shape=(1, *raw.shape)) if one_row and len(raw.shape) == 1 else raw


def dense_layers(tensors: Mapping[str, Raw]) -> tuple[DenseModule, ...]:
    found = [tensors[name] for name in DENSE if name in tensors]
    return tuple(DenseModule(dequantize(raw).reshape(raw.shape), None, "Identity") for raw in found)
