"""Requests, events and errors as plain data for another process, and back. What is read can only become one of these types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from backends.base import Sampling, SegmentOutput
from engine import errors
from engine.errors import ErrorText, GrusError
from engine.media.inputs import Picture, Sound
from engine.types import (
    Done,
    Embedded,
    Failed,
    Finished,
    Frames,
    Grammar,
    Progress,
    PromptScores,
    ReasoningLimit,
    Request,
    SamplingParams,
    Started,
    Text,
    Timings,
    TokenLogprob,
    TranscriptRules,
)

_RECORDS: dict[str, Any] = {
    record.__name__: record
    for record in (Request, SamplingParams, Grammar, ReasoningLimit, TranscriptRules, Picture, Sound, Started, Progress, PromptScores,
                   TokenLogprob, Embedded, Text, Frames, Finished, Done, Failed, Timings, Sampling, SegmentOutput)
}  # fmt: skip
_ERRORS: dict[str, Any] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, GrusError)
}


def packed(value: Any) -> Any:
    """Numbers, strings, bytes, lists and dicts as they are; all else as a tuple whose first item says what it is."""
    if value is None or isinstance(value, bool | int | float | bytes) or type(value) is str:
        return value
    if type(value) is list and set(map(type, value)) <= {int}:  # a prompt may have a hundred thousand of them
        return value
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, ErrorText):
        return "text", value.template, {name: _shown(one) for name, one in value.values.items()}
    if isinstance(value, GrusError):
        return "error", _error_name(type(value)), packed(value.text), packed(vars(value))
    if type(value).__name__ in _RECORDS:
        return type(value).__name__, [packed(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return {key: packed(one) for key, one in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple):
        return "tuple", [packed(one) for one in value]
    if isinstance(value, Sequence):
        return [packed(one) for one in value]
    raise TypeError(f"{type(value).__name__} is not sent to another process")


def unpacked(data: Any) -> Any:
    if isinstance(data, list):
        return data if set(map(type, data)) <= {int} else [unpacked(one) for one in data]
    if isinstance(data, dict):
        return {key: unpacked(one) for key, one in data.items()}
    if not isinstance(data, tuple):
        return data
    what, *given = data
    if what == "tuple":
        return tuple(unpacked(given[0]))
    if what == "array":
        dtype, shape, content = given
        return np.frombuffer(content, dtype).reshape(shape).copy()
    if what == "text":
        return ErrorText(given[0], **unpacked(given[1]))
    if what == "error":
        name, message, values = given
        error = _ERRORS[name].__new__(_ERRORS[name], unpacked(message))
        vars(error).update(unpacked(values))
        return error
    return _RECORDS[what](*unpacked(given[0]))


def _shown(value: object) -> Any:
    return packed(value) if isinstance(value, str | int | float) else str(value)


def _error_name(kind: type[GrusError]) -> str:
    """The type's name, or that of the nearest one that all processes know."""
    return next(base.__name__ for base in kind.__mro__ if base.__name__ in _ERRORS)
