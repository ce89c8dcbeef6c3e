"""A tokenizer as GGUF metadata: the way back of `tokenizer`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer as Backend

from engine.errors import TokenizerError
from engine.text.tokenizer import Tokenizer
from engine.weights.gguf.tokenizer import TokenType
from engine.weights.gguf.words import recognized

_BYTE_TOKEN = re.compile(r"<0x[0-9A-Fa-f]{2}>")


def describe(
    tokenizer: Tokenizer, templates: Mapping[str, str], arch: str, rows: int, ends: tuple[int, ...]
) -> dict[str, Any]:
    """`rows` is how many tokens the model knows, `ends` those that end a reply."""
    source = json.loads(tokenizer.to_json())
    model = source["model"]
    if model["type"] != "BPE":
        raise TokenizerError(f"A tokenizer of the kind {model['type']} cannot be written to GGUF.")
    tokens = [f"[PAD{i}]" for i in range(rows)]
    types: list[int] = [TokenType.UNUSED] * rows
    added = {token["id"]: (token["content"], bool(token["special"])) for token in source["added_tokens"]}
    for token, id in {**model["vocab"], **{content: id for id, (content, _) in added.items()}}.items():
        if id < rows:  # tokenizers may know more than the model was trained with
            tokens[id] = token
            types[id] = TokenType.NORMAL if id not in added else TokenType.CONTROL if added[id][1] else TokenType.USER
    metadata: dict[str, Any] = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    if model.get("byte_fallback"):
        metadata |= _sentencepiece(source, tokens, types, merges)
        if arch == "gemma4":
            metadata |= {"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.merges": merges}
    else:
        kind = recognized(Backend.from_str(tokenizer.to_json()), arch, bool(model.get("ignore_merges")))
        if kind is None:
            raise TokenizerError("This tokenizer cuts text into words in a way that GGUF has no name for.")
        metadata |= {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": kind, "tokenizer.ggml.merges": merges}
    return metadata | _special(tokenizer, ends, rows) | _templates(templates)


def _sentencepiece(source: Mapping[str, Any], tokens: list[str], types: list[int], merges: list[str]) -> dict[str, Any]:
    """Scores that put the pairs in the order of the merges."""
    score: dict[str, float] = {}
    for rank, merge in enumerate(merges):
        score.setdefault(merge.replace(" ", "", 1), -float(rank + 1))
    last = -float(len(merges) + 1)
    scores = [
        0.0 if kind in (TokenType.CONTROL, TokenType.UNKNOWN) else score.get(token, last)
        for token, kind in zip(tokens, types)
    ]
    unknown = source["model"].get("unk_token")
    for id, token in enumerate(tokens):
        if token == unknown:
            types[id] = TokenType.UNKNOWN
        elif _BYTE_TOKEN.fullmatch(token):
            types[id] = TokenType.BYTE
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.add_space_prefix": _prefixes(source),
    }


def _prefixes(source: Mapping[str, Any]) -> bool:
    """Whether a space is put before a text: older files say so in the normalizer, newer ones in the pre-tokenizer."""
    described = json.dumps([source["normalizer"], source["pre_tokenizer"]])
    return any(sign in described for sign in ('"Prepend"', '"prepend_scheme": "always"', '"prepend_scheme": "first"'))


def _special(tokenizer: Tokenizer, ends: tuple[int, ...], rows: int) -> dict[str, Any]:
    ids = {
        theirs: tokenizer.id(tokenizer.special_tokens.get(f"{ours}_token", ""))
        for ours, theirs in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"))
    }
    ids["bos"] = tokenizer.bos_id if tokenizer.bos_id is not None else ids["bos"]
    if ids["eos"] is None and ends:
        ids["eos"] = ends[0]
    others = [id for id in ends if id != ids["eos"]]
    ids["eot"] = others[0] if others else None
    found = {f"tokenizer.ggml.{name}_token_id": id for name, id in ids.items() if id is not None and 0 <= id < rows}
    plain, full = tokenizer.encode("a", add_special=False), tokenizer.encode("a")
    surrounds = len(full) > len(plain)
    return found | {
        "tokenizer.ggml.add_bos_token": surrounds and full[0] == ids["bos"],
        "tokenizer.ggml.add_eos_token": surrounds and full[-1] == ids["eos"],
    }


def _templates(templates: Mapping[str, str]) -> dict[str, Any]:
    prefix = "tokenizer.chat_template"
    return {prefix if name == "default" else f"{prefix}.{name}": text for name, text in templates.items()}
