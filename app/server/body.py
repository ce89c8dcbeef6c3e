"""JSON bodies of requests: how they are parsed, and what becomes of fields that the server does not know.

A body must be valid UTF-8 and valid JSON with finite numbers, bounded depth and not millions of texts and objects: Python's parser
lets NaN, lone surrogates and numbers beyond every range through, each of which would become a fault later, and lets no other thread
run until it has ended. Fields that are not declared are ignored,
and so are `Hint`s; both are reported (app/server/ignored.py), or refused under `--strict`. A field that would change the
reply in a way that Grus cannot is declared as `name: None = None`, so that any value of it is refused by name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, NoReturn, TypeVar, get_args

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError
from starlette.responses import Response
from starlette.types import Scope

from app.runtime.long_prompts import run_beside
from app.server.errors import ApiError, from_validation
from app.server.ignored import ignored_fields

_LARGEST = 1 << 63
_LONG_BODY = 1 << 16
_MOST_VALUES = 200_000  # of texts, lists and objects: a tenth of a second
_VALUE = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]', re.DOTALL)
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")  # or a whole one

T = TypeVar("T")
_HINT, _PREFERENCE = "hint", "preference"


def _refused_hint(value: Any) -> Any:
    """Under --strict: else a hint is taken out of the body before."""
    if value is not None:
        raise PydanticCustomError("extra_forbidden", "it has no effect")
    return value


Hint = Annotated[T | None, _HINT, BeforeValidator(_refused_hint)]  # accepted without effect, whatever its value
Preference = Annotated[T | None, _PREFERENCE]  # honoured where its value is known, else without effect


class RequestFields(BaseModel):
    """A request's body, or an object in it. A null is an absent field, unless the field declares what null means."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=False, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _effective_fields(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        declared, ignored = _declared(cls), ignored_fields.get()
        kept = {}
        for key, value in given.items():
            field = declared.get(key)
            if value is None and (field is None or field.hint or not field.nullable):
                continue
            if ignored is not None and (field is None or not field.has_effect(value)):
                ignored.add_key(given, key)
            else:
                kept[key] = value
        return kept


@dataclass(frozen=True)
class _Field:
    nullable: bool
    hint: bool
    preference: TypeAdapter[Any] | None

    def has_effect(self, value: Any) -> bool:
        if self.preference is not None:
            try:
                self.preference.validate_python(value)
            except ValidationError:
                return False
        return not self.hint


@cache
def _declared(kind: type[RequestFields]) -> Mapping[str, _Field]:
    """The fields of a class by their names in JSON."""
    fields = {}
    for name, info in kind.model_fields.items():
        preference: TypeAdapter[Any] | None = TypeAdapter(info.annotation) if _PREFERENCE in info.metadata else None  # type: ignore[arg-type]
        hint = _HINT in info.metadata
        nullable = not hint and (info.annotation is NoneType or NoneType in get_args(info.annotation))
        fields[info.alias or name] = _Field(nullable, hint, preference)
    return fields


def type_of(value: Any, default: str = "") -> str:
    """Which class of a union an object of a body is read as: that of its `type`, also of types that are not declared."""
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) else default


class JsonRequest(Request):
    """A long body is checked beside the event loop, where its class is known; FastAPI then passes the object on as it is."""

    kind: Any = None
    refusal: Callable[[Sequence[Any]], ApiError] = from_validation  # of what pydantic found

    async def json(self) -> Any:
        raw = await self.body()
        return await run_beside(len(raw) if len(raw) > _LONG_BODY else 0, self._read, raw)

    def _read(self, raw: bytes) -> Any:
        value = parse(raw, self.app.state.server.settings.max_depth)
        if (ignored := ignored_fields.get()) is not None:
            ignored.body = value
        if self.kind is None or len(raw) <= _LONG_BODY:
            return value
        try:
            return _adapter(self.kind).validate_python(value)
        except ValidationError as error:
            raise self.refusal(error.errors(include_url=False, include_input=False)) from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class JsonRoute(APIRoute):
    refusal = staticmethod(from_validation)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            given = JsonRequest(_as_json(request.scope), request.receive)
            if len(self.dependant.body_params) == 1:
                given.kind = self.dependant.body_params[0].field_info.annotation
                given.refusal = self.refusal
            return await handler(given)

        return handle


def _as_json(scope: Scope) -> Scope:
    """A body is JSON whatever its Content-Type says: `curl -d` names a form, and some clients nothing. That a page of another
    site cannot send one is the gate's work."""
    headers = scope["headers"]
    if any(name == b"content-type" and value.startswith(b"multipart/") for name, value in headers):
        return scope
    kept = [(name, value) for name, value in headers if name != b"content-type"]
    return {**scope, "headers": [*kept, (b"content-type", b"application/json")]}


def parse(raw: bytes, max_depth: int = 64) -> Any:
    """The value, or an ApiError that says what is wrong with the text."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"The body is not UTF-8: byte {error.start} fits nowhere.") from None
    _check_count(raw)
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded)
    except json.JSONDecodeError as error:
        raise _invalid(f"The body is not valid JSON: {error.msg} in line {error.lineno}.") from None
    except RecursionError:
        raise _invalid(f"The body nests deeper than {max_depth} levels.") from None
    if raw.count(b"{") + raw.count(b"[") > max_depth and _depth(value) > max_depth:
        raise _invalid(f"The body nests deeper than {max_depth} levels.")
    if _HALF_PAIR.search(text):
        try:
            for one in _texts(value):
                one.encode()
        except UnicodeEncodeError:
            raise _invalid("The body holds half a surrogate pair, which is no character.") from None
    return value


def _check_count(raw: bytes) -> None:
    """Brackets in texts count for nothing; they are looked at only where there are so many. Other threads run meanwhile."""
    if raw.count(b'"') // 2 + raw.count(b"[") + raw.count(b"{") <= _MOST_VALUES:
        return
    if any(at >= _MOST_VALUES for at, _ in enumerate(_VALUE.finditer(raw))):
        raise _invalid(f"The body has more than {_MOST_VALUES} texts, lists and objects.")


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


def _texts(value: Any) -> Iterator[str]:
    """Every key and text, without recursion."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)


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
