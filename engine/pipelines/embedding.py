"""Embeddings: the pooling mode of a model, the tokens of a text, and the normalized vector.

The pooling mode comes from sentence-transformers' files. The default is the last token: with causal attention it alone
attends to the whole text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np

from engine.errors import BadRequest, ContextOverflow
from engine.loading import LoadedModel
from engine.models.config import text_fields
from engine.text.tokenizer import TooManyTokens
from engine.types import Pooling

POOLING_FILE = Path("1_Pooling", "config.json")
_MODE = "pooling_mode_"
_NAMES = {"mean_tokens": "mean", "mean": "mean", "lasttoken": "last", "last": "last"}


def pooling_of(model: LoadedModel) -> Pooling:
    """The pooling mode. Raises BadRequest if the model has no hidden states or its mode is not supported."""
    if model.foreign:
        raise BadRequest(f"{model.name} runs through mlx-lm, which gives out no hidden states. "
                         "Choose a model that Grus has an architecture of its own for.", "model")  # fmt: skip
    said = str(model.config.get("pooling") or _of_folder(model.folder) or "last")
    kind = _NAMES.get(said)
    if kind is None:
        raise BadRequest(f"{model.name} pools its tokens by {said}; mean and last token are supported.", "model")
    return cast(Pooling, kind)


def _of_folder(folder: Path) -> str | None:
    """The modes in sentence-transformers' pooling file, or None without one."""
    path = folder / POOLING_FILE
    if not path.is_file():
        return None
    try:
        found: Any = json.loads(path.read_bytes())
        chosen = [key.removeprefix(_MODE) for key, on in found.items() if key.startswith(_MODE) and on is True]
    except (ValueError, AttributeError):
        raise BadRequest(
            f"{path.name} of the model's {path.parent.name} folder is not a JSON object.", "model"
        ) from None
    named = found.get("pooling_mode")  # newer versions write one name instead of a flag for each
    return " and ".join(chosen) or (str(named) if named else None)


def width_of(model: LoadedModel) -> int:
    """The length of an embedding vector."""
    return text_fields(model.config).int("hidden_size")


def text_ids(model: LoadedModel, text: str, context: int | None = None, *, cut: bool = False) -> list[int]:
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
