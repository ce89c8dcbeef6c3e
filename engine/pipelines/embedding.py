"""Embeddings: the tokens of a text, how a model pools them, and the normalized vector.

An encoder reads many texts at once, packed by their total tokens without padding (`encode_together`). A model that writes text reads each
as a request. The pooling mode comes from sentence-transformers' files; without them it is the last token for causal
attention, where it alone attends to the whole text, and the mean for an encoder.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from engine.errors import BadRequest, ConfigError, ContextOverflow
from engine.loaded import LoadedEncoder
from engine.loading import LoadedModel
from engine.models.config import text_fields
from engine.models.text_encoder import TextInput, TokenPooling
from engine.text.sentence_modules import SentenceModules, read_modules
from engine.text.tokenizer import TooManyTokens
from engine.types import Pooling

Embedder: TypeAlias = LoadedModel | LoadedEncoder
T = TypeVar("T")

_OF_REQUESTS = {"mean_tokens": "mean", "mean": "mean", "lasttoken": "last", "last": "last"}
_OF_ENCODERS = {
    **_OF_REQUESTS,
    "cls_token": "cls",
    "cls": "cls",
    "max_tokens": "max",
    "max": "max",
    "mean_sqrt_len_tokens": "mean_sqrt_len",
    "weightedmean_tokens": "weightedmean",
    "weightedmean": "weightedmean",
}
# tokens that an encoder reads at once: enough for its matrices, and a running reply on a CPU waits for two layers of them
_TOGETHER, _TOGETHER_CPU = 16384, 2048


def modules_of(model: Embedder) -> SentenceModules:
    """Raises BadRequest for files that cannot be used."""
    if isinstance(model, LoadedEncoder):
        return model.modules
    try:
        return read_modules(model.folder)
    except ConfigError as error:
        raise BadRequest(str(error), "model") from None


def pooling_of(model: LoadedModel) -> Pooling:
    """The pooling mode of a model that writes text. Raises BadRequest if it has no hidden states or its mode is not supported."""
    if model.foreign:
        raise BadRequest(f"{model.name} runs through mlx-lm, which gives out no hidden states. "
                         "Choose a model that Grus has an architecture of its own for.", "model")  # fmt: skip
    pooling = str(model.config.get("pooling") or modules_of(model).pooling or "last")
    kind = _OF_REQUESTS.get(pooling)
    if kind is None:
        raise BadRequest(f"{model.name} pools its tokens by {pooling}; mean and last token are supported.", "model")
    return cast(Pooling, kind)


def encoder_pooling(model: LoadedEncoder) -> TokenPooling:
    """The same of an encoder."""
    pooling = str(model.config.get("pooling") or model.modules.pooling or "mean")
    kind = _OF_ENCODERS.get(pooling)
    if kind is None:
        raise BadRequest(
            f"{model.name} pools its tokens by {pooling}; supported are {', '.join(sorted(set(_OF_ENCODERS.values())))}.",
            "model",
        )
    return cast(TokenPooling, kind)


def width_of(model: Embedder) -> int:
    """The length of an embedding vector."""
    return modules_of(model).width(text_fields(model.config).int("hidden_size", "n_embd"))


def text_ids(model: Embedder, text: str, context: int | None = None, *, cut: bool = False) -> list[int]:
    """The tokens of a text, with the tokenizer's special tokens. `cut`: truncate a text that does not fit."""
    limit = min(context or model.context, model.context)
    try:
        ids = model.tokenizer.beginning(text, limit + 1) if cut else model.tokenizer.encode(text, most=limit)
    except TooManyTokens as error:
        raise ContextOverflow(
            f"The text has {error}, but {model.name} can read {limit}. Shorten it.",
            "input",
            tokens=error.count,
            limit=limit,
            exact=error.exact,
        ) from None
    if not ids:
        raise BadRequest("The input is empty.", "input")
    if len(ids) <= limit:
        return ids
    end = model.tokenizer.around[1][-1:]  # the final special token is what last-token pooling was trained on
    return [*ids[: limit - len(end)], *end]


def unit(vector: np.ndarray, dimensions: int | None = None) -> np.ndarray:
    """The first `dimensions` components (default: all), normalized to unit length."""
    part = vector[:dimensions].astype(np.float64)
    norm = float(np.linalg.norm(part))
    return (part / norm if norm > 0 else part).astype(np.float32)


@dataclass(frozen=True)
class EncoderWork:
    """Texts of one caller. `pooling` None: scores of a cross-encoder instead of vectors."""

    texts: Sequence[TextInput]
    pooling: TokenPooling | None


def encode_together(loaded: LoadedEncoder, parts: Sequence[EncoderWork]) -> Generator[None, None, Sequence[np.ndarray]]:
    """Of each part `[texts, width]` f32, or `[texts, labels]`. Texts of all callers go through the encoder together (see `Joint`)."""
    made: list[list[np.ndarray]] = [[np.empty(0)] * len(part.texts) for part in parts]
    for pooling in dict.fromkeys(part.pooling for part in parts):
        # neighbours of one length are one batch for attention
        mine = [
            (at, i, text)
            for at, part in enumerate(parts)
            if part.pooling == pooling
            for i, text in enumerate(part.texts)
        ]
        mine.sort(key=lambda one: len(one[2].ids))
        for run in runs_of(mine, [len(text.ids) for *_, text in mine], together(loaded)):
            texts = [text for *_, text in run]
            work = loaded.model.logits(texts) if pooling is None else loaded.model.pooled(texts, pooling)
            for (at, i, _), row in zip(run, (yield from work)):
                made[at][i] = row
            yield
    return [np.stack(rows) for rows in made]


def together(model: Any) -> int:
    return _TOGETHER_CPU if model.backend.device == "cpu" else _TOGETHER


def runs_of(items: Sequence[T], sizes: Sequence[int], most: int) -> Iterator[Sequence[T]]:
    """Neighbours whose sizes add up to `most` at most; what is larger is alone."""
    begin, total = 0, 0
    for at, size in enumerate(sizes):
        if total and total + size > most:
            yield items[begin:at]
            begin, total = at, 0
        total += size
    if begin < len(items):
        yield items[begin:]
