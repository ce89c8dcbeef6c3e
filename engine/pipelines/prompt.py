"""What a model will read: text, its tokens, and the pictures among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from engine.errors import BadRequest, ContextOverflow
from engine.loading import LoadedModel
from engine.types import Picture, Request, SamplingParams


@dataclass(frozen=True)
class Prompt:
    text: str  # as the template wrote it, with one placeholder a picture
    ids: list[int]  # with room for every picture
    pictures: Sequence[Picture] = field(default=(), repr=False)
    positions: np.ndarray | None = field(default=None, repr=False, compare=False)  # of the pictures' places
    rope: np.ndarray | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = ()  # for people: what of an image the model cannot see

    def request(self, model: str, sampling: SamplingParams | None = None, **more: Any) -> Request:
        seen: dict[str, Any] = {}
        if self.pictures:
            seen = {"pictures": self.pictures, "positions": self.positions, "rope": self.rope}
        return Request(model, self.ids, sampling or SamplingParams(), **seen, **more)


def encoded(
    model: LoadedModel,
    text: str,
    pictures: Sequence[Picture] = (),
    notes: tuple[str, ...] = (),
    *,
    add_special: bool = False,
) -> Prompt:
    """Tokens of a text that has a placeholder for each picture. Raises where they leave no room for an answer."""
    return placed(model, text, model.tokenizer.encode(text, add_special=add_special), pictures, notes)


def placed(
    model: LoadedModel, text: str, ids: Sequence[int], pictures: Sequence[Picture] = (), notes: tuple[str, ...] = ()
) -> Prompt:
    """The same for tokens that are there already."""
    ids = list(ids)
    if not ids:
        raise BadRequest("The prompt is empty.", "prompt")
    if not pictures:
        _check_room(model, len(ids), 0)
        return Prompt(text, ids)
    vision = model.vision
    if vision is None:
        raise BadRequest(f"{model.name} reads text only and does not see images.", "images")
    ids, positions = vision.expand(ids, pictures)
    _check_room(model, len(ids), len(positions))
    return Prompt(text, ids, tuple(pictures), positions, vision.rope(ids, pictures), notes)


def with_text(model: LoadedModel, prompt: Prompt, text: str) -> Prompt:
    """The same prompt with `text` written behind it."""
    return encoded(model, prompt.text + text, prompt.pictures, prompt.notes)


def continued(request: Request, ids: Sequence[int]) -> Request:
    """The request with more tokens behind its prompt, as if they had been a part of it."""
    rope = request.rope
    if rope is not None:
        behind = rope.max() + 1 + np.arange(len(ids))
        rope = np.concatenate([rope, np.broadcast_to(behind, (3, len(ids)))], axis=1)
    return replace(request, prompt_ids=[*request.prompt_ids, *ids], rope=rope)


def _check_room(model: LoadedModel, count: int, seen: int) -> None:
    if count < model.context:
        return
    images = f", {seen} of them for images" if seen else ""
    advice = "Shorten it, or send fewer or smaller images." if seen else "Shorten it."
    raise ContextOverflow(
        f"The prompt has {count} tokens{images}, but {model.name} can hold {model.context}, answer included. {advice}",
        "prompt",
    )
