"""Tiny random encoders of texts, made by the reference library as they are published: names, configs, tokenizers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tests.checkpoints  # noqa: F401  # sets the reference library's environment

WORDS = ["a", "the", "sea", "sky", "is", "blue", "bread", "was", "yesterday", "as", "and", "it", "so", "above", "."]
PIECES = ["##s", "##er", "##e", "##a", "##b", "##r", "##d", *"abcdefghijklmnopqrstuvwxyz"]
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCAB = 64

SIZES: dict[str, Any] = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=2, intermediate_size=96)
BERT: dict[str, Any] = dict(vocab_size=VOCAB, max_position_embeddings=80, **SIZES)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("Bert", BERT),
    "xlm-roberta": ("XLMRoberta", {**BERT, "type_vocab_size": 1, "pad_token_id": 1}),
    "modernbert": ("ModernBert", {**BERT, "num_hidden_layers": 4, "local_attention": 8, "classifier_pooling": "mean",
                                  "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2,
                                  "sep_token_id": 3}),
    "nomic_bert": ("NomicBert", {**BERT, "max_position_embeddings": 128}),
    "embedding_gemma": ("Gemma3Text", {**BERT, "num_hidden_layers": 3, "num_key_value_heads": 1, "head_dim": 32,
        "sliding_window": 8, "query_pre_attn_scalar": 20, "use_bidirectional_attention": True,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "pad_token_id": 0}),
}  # fmt: skip


@cache
def reference(kind: str, head: bool = False) -> Any:
    """The reference library's model in f32; `head`: as a cross-encoder with one score."""
    import torch
    import transformers

    name, fields = KINDS[kind]
    config = getattr(transformers, f"{name}Config")(**fields, **({"num_labels": 1} if head else {}))
    torch.manual_seed(len(kind) + head)
    model = getattr(transformers, f"{name}{'ForSequenceClassification' if head else 'Model'}")(config).eval()
    with torch.no_grad():
        for where, parameter in model.named_parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.2)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            if where.endswith("score.weight"):
                parameter.mul_(2)
    return model


def save(kind: str, folder: Path, head: bool = False) -> Path:
    reference(kind, head).save_pretrained(folder)
    save_word_pieces(folder)
    return folder


def save_word_pieces(folder: Path, lower: bool = True) -> None:
    """BERT's tokenizer over a small vocabulary."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    vocabulary = {token: id for id, token in enumerate([*MARKS, *WORDS, *PIECES])}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(MARKS)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"tokenizer_class": "BertTokenizerFast"}))


def save_modules(folder: Path, pooling: str = "mean_tokens", dense: int = 0, **settings: Any) -> None:
    """What sentence-transformers writes beside a model. `dense`: the width of a dense layer behind the pooling."""
    kinds = ["Transformer", "Pooling", *(["Dense"] if dense else []), "Normalize"]
    places = [f"{i}_{kind}" if i else "" for i, kind in enumerate(kinds)]
    listed = [{"idx": i, "name": str(i), "path": place, "type": f"sentence_transformers.models.{kind}"}
              for i, (kind, place) in enumerate(zip(kinds, places))]  # fmt: skip
    (folder / "modules.json").write_text(json.dumps(listed))
    for place in places[1:]:
        (folder / place).mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
    if dense:
        from safetensors.numpy import save_file

        weight = np.random.default_rng(5).normal(0, 0.2, (dense, SIZES["hidden_size"])).astype(np.float32)
        save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
        sizes = {"in_features": SIZES["hidden_size"], "out_features": dense, "bias": False}
        activation = {"activation_function": "torch.nn.modules.linear.Identity"}
        (folder / "2_Dense" / "config.json").write_text(json.dumps(sizes | activation))
    if settings:
        (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
