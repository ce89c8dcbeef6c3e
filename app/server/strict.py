"""Strict parsing of request bodies: valid UTF-8, valid JSON, finite numbers, bounded depth, no unknown fields.

Python's parser lets NaN, lone surrogates and numbers beyond every range through; each would become a fault later.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from app.server.errors import ApiError

_LARGEST = 1 << 63


class Strict(BaseModel):
    """A body or a part of one: what is not declared is refused by name."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=False, protected_namespaces=())


class StrictRequest(Request):
    async def json(self) -> Any:
        return parse(await self.body(), self.app.state.server.settings.max_depth)


class StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def parse(raw: bytes, max_depth: int = 64) -> Any:
    """The value, or an ApiError that says what is wrong with the text."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"The body is not UTF-8: byte {error.start} fits nowhere.") from None
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded)
    except json.JSONDecodeError as error:
        raise _invalid(f"The body is not valid JSON: {error.msg} in line {error.lineno}.") from None
    except RecursionError:
        raise _invalid(f"The body nests deeper than {max_depth} levels.") from None
    if raw.count(b"{") + raw.count(b"[") > max_depth and _depth(value) > max_depth:
        raise _invalid(f"The body nests deeper than {max_depth} levels.")
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _invalid("The body holds half a surrogate pair, which is no character.") from None
    return value


def _invalid(message: str) -> ApiError:
    return ApiError(400, message, code="invalid_json")


def _no_constant(name: str) -> NoReturn:
    raise _invalid(f"{name} is not JSON.")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _invalid(f"The number {text[:40]} is out of range.")
    return value


def _bounded(text: str) -> int:
    if len(text) > 20 or abs(value := int(text)) > _LARGEST:
        raise _invalid(f"The number {text[:40]} is out of range.")
    return value


def _depth(value: Any) -> int:
    """Levels of nesting, without recursion."""
    level, deepest = [value], 0
    while level:
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        deepest += 1
    return deepest
