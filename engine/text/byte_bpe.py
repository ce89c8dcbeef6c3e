"""Builds a byte-level BPE tokenizer from `vocab.json` and `merges.txt`, as GPT-2 began it and Qwen goes on.

The two files do not say how text is cut into words before merging; that is known per family.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

from engine.errors import TokenizerError

QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# from Qwen3.5 on, combining marks belong to the word
QWEN_MARKS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_level_bpe(folder: Path, tokenizer_class: str, config: Mapping[str, Any]) -> Tokenizer:
    try:
        model = BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    except Exception as error:  # the library raises bare Exception for whatever it cannot read
        raise TokenizerError(
            f"vocab.json and merges.txt in {folder} cannot be read as a tokenizer ({error}). Download them again."
        ) from error
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoders.ByteLevel()
    words = _word_pattern(tokenizer_class.lower(), str(config.get("model_type", "")))
    if words is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(words), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    return tokenizer


def _word_pattern(tokenizer_class: str, model_type: str) -> str | None:
    """None: GPT-2's own rule."""
    if model_type.startswith("qwen3_5") or tokenizer_class.startswith("qwen3_5"):
        return QWEN_MARKS
    if model_type.startswith("qwen") or tokenizer_class.startswith("qwen"):
        return QWEN
    return None
