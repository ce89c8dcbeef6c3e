"""Ranking: how relevant documents are to a query, by a cross-encoder or by a model that answers yes or no.

A cross-encoder reads query and document as one text and scores it; the score becomes a number between 0 and 1. Qwen3-Reranker is asked in
its own words whether the document fits, and scored by how much likelier "yes" is than "no": the last hidden state times the
difference of these two tokens' rows in the head, which needs no other logit.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest
from engine.loaded import LoadedEncoder
from engine.loading import LoadedModel
from engine.models.text_encoder import TextInput

INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
_BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def ranks_pairs(config: Mapping[str, Any]) -> bool:
    """Whether an encoder's config is that of a cross-encoder."""
    classes = config.get("architectures")
    return config.get("pooling") == "rank" or (
        isinstance(classes, list) and any(str(name).endswith("ForSequenceClassification") for name in classes)
    )


def is_yes_no_reranker(config: Mapping[str, Any], folder: Path | None) -> bool:
    """Whether a model is a Qwen3-Reranker. Its config is any Qwen3's, so its name says it: the folder's, the repository's or the file's."""
    named = folder is not None and any("rerank" in part.lower() for part in folder.parts[-3:])
    return config.get("model_type") == "qwen3" and named


def pair_input(model: LoadedEncoder, query: str, document: str) -> TextInput:
    """Both as one text of a cross-encoder; what does not fit is cut off the longer one."""
    ids, types = model.tokenizer.pair(query, document, model.context)
    return TextInput(ids, types)


def yes_no_ids(model: LoadedModel, query: str, document: str, instruction: str | None = None) -> list[int]:
    """What a Qwen3-Reranker reads; a document that does not fit is cut."""
    encode = model.tokenizer.encode
    before, after = encode(_BEFORE, False), encode(_AFTER, False)
    asked = f"<Instruct>: {instruction or INSTRUCTION}\n<Query>: {query}\n<Document>: {document}"
    room = model.context - len(before) - len(after)
    if room <= 0:
        raise BadRequest(f"{model.name} has a context of {model.context} tokens, too few to rank.", "model")
    # without a BOS or EOS; a text of somebody else must not close the question
    body = encode(asked, False, parse_special=False)[:room]
    return [*before, *body, *after]


def yes_minus_no(loaded: LoadedModel) -> Generator[None, None, np.ndarray]:
    """The row of "yes" minus that of "no" in the head, `[width]` f32. A task."""
    ids = [loaded.tokenizer.id(word) for word in ("yes", "no")]
    if None in ids or getattr(loaded.model, "head", None) is None:
        raise BadRequest(f"{loaded.name} has no tokens for yes and no, so it does not rank.", "model")
    ops = loaded.backend.ops
    yes, no = ops.numpy(loaded.model.head.rows(ops.array(np.array(ids, np.int32))))
    yield
    return np.asarray(yes - no, np.float32)


def as_share(logits: np.ndarray) -> np.ndarray:
    """Numbers between 0 and 1, in the same order."""
    wide = logits.astype(np.float64)
    return np.where(wide >= 0, 1 / (1 + np.exp(-np.abs(wide))), np.exp(-np.abs(wide)) / (1 + np.exp(-np.abs(wide))))


def best_first(scores: Sequence[float], top: int | None = None) -> list[int]:
    """Indices of the best scores; of equal ones the first comes first."""
    return sorted(range(len(scores)), key=lambda at: -scores[at])[:top]
