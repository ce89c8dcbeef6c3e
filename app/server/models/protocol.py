"""Models as OpenAI lists them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

Kind = Literal["text", "speech", "transcription", "part"]


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "grus"
    loaded: bool
    kind: Kind  # what it is for
    context_length: int | None = None  # known once it was loaded


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]
