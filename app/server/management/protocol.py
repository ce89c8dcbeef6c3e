"""What operators and supervisors ask for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from app.server.strict import Strict


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class LoadRequest(Strict):
    model: str


class Loaded(BaseModel):
    model: str
    loaded: bool
    context_length: int | None = None


class Stats(BaseModel):
    models: list[str]
    engine: dict[str, Any]
