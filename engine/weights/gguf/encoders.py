"""GGUF files of encoders (`bert`, `nomic-bert`, `gemma-embedding`): their config, their tensors' names and their tokenizers.

Positions of RoBERTa's kind are stored from the first one that is used, so all are BERT's. A vocabulary of words (`bert`) has a mark before
what begins a word and none before what continues one; that of XLM-RoBERTa (`t5`) has scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend

from backends.base import Raw
from engine.errors import ConfigError
from engine.text.sentence_modules import DenseModule
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.keys import Keys
from engine.weights.gguf.reader import Elements

if TYPE_CHECKING:
    from engine.weights.gguf.tokenizer import Vocabulary

_SPACE = "▁"
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


# -- tokenizers


def word_pieces(v: Vocabulary) -> Backend:
    """BERT's. A vocabulary without capitals is one of lower case."""
    vocabulary = {_spelled(token, id in v.control_ids): id for token, id in v.ids.items()}
    unknown = v.special("unknown")
    backend = Backend(
        models.WordPiece(vocab=vocabulary, unk_token=v.tokens[unknown] if unknown is not None else "[UNK]")
    )
    words = [token for token, id in v.ids.items() if id not in v.control_ids]
    backend.normalizer = normalizers.BertNormalizer(lowercase=not any(word != word.lower() for word in words))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return backend


def _spelled(token: str, control: bool) -> str:
    if control:
        return token
    return token.removeprefix(_SPACE) if token.startswith(_SPACE) else f"##{token}"


def unigram(v: Vocabulary) -> Backend:
    """XLM-RoBERTa's."""
    unknown = v.special("unknown")
    backend = Backend(models.Unigram(list(zip(v.tokens, v.scores())), unk_id=3 if unknown is None else unknown))
    charsmap = v.metadata.get("tokenizer.ggml.precompiled_charsmap")
    steps: list[Any] = [normalizers.Precompiled(bytes(charsmap.data))] if isinstance(charsmap, Elements) else []
    backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    backend.decoder = decoders.Metaspace()
    return backend


def surround(backend: Backend, v: Vocabulary, words: bool) -> None:
    """What encoders read around a text, and between two."""
    named = ("[CLS]", "[SEP]") if words else ("<s>", "</s>")
    ids = [v.special(kind) if v.special(kind) is not None else v.ids.get(name)
           for kind, name in zip(("cls", "seperator") if words else ("bos", "eos"), named)]  # fmt: skip
    if None in ids:
        return
    before, after = (v.tokens[id] for id in ids if id is not None)
    between = after if words else f"{after} {after}"
    backend.post_processor = processors.TemplateProcessing(
        single=f"{before} $A {after}",
        pair=f"{before} $A {between} $B:1 {after}:1" if words else f"{before} $A {between} $B {after}",
        special_tokens=[(token, int(id or 0)) for token, id in zip((before, after), ids)],
    )
