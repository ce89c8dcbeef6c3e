"""What crosses between the app and the engine: requests go in, events come out. Plain data, no arrays of a device.

An app submits a `Request` and reads `Event`s from the `Handle` until a `Done` or a `Failed`; exactly one of these two
ends every request, cancelled ones included (`Done` with finish_reason "cancelled").
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from engine.errors import BadRequest, GrusError
from engine.media.inputs import Picture, Sound

Pooling = Literal["mean", "last"]
FinishReason = Literal["stop", "length", "cancelled", "tool_calls"]


@dataclass(frozen=True)
class Grammar:
    """What the output must match. Exactly one kind."""

    kind: Literal["json_schema", "json_object", "regex", "ebnf"]
    text: str = ""  # the schema as JSON, the expression, or the grammar


@dataclass(frozen=True)
class SamplingParams:
    """A user's wishes. None means: as the model's generation_config says, else the neutral value."""

    max_tokens: int | None = None  # None: whatever fits into the context
    min_tokens: int = 0
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repetition_penalty: float | None = None
    repetition_window: int | None = None  # tokens looked back at; 0: all
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    banned_tokens: Sequence[int] = ()
    required_tokens: Sequence[int] = ()  # only these may be chosen
    seed: int | None = None  # None: a fresh one
    n: int = 1
    logprobs: bool = False
    approximate_logprobs: bool = False  # logprobs may be off by a hundredth, where that is faster: for a confidence
    top_logprobs: int = 0
    stop: Sequence[str] = ()
    stop_token_ids: Sequence[int] = ()
    ignore_eos: bool = False
    grammar: Grammar | None = None
    grammar_after: str | None = None  # constrain only what follows this text (a reasoning model's "</think>")

    def check(self) -> None:
        """Raise BadRequest naming the first impossible parameter."""
        bounds: dict[str, tuple[float, float]] = {
            "temperature": (0.0, 100.0),
            "top_p": (0.0, 1.0),
            "min_p": (0.0, 1.0),
            "typical_p": (0.0, 1.0),
            "top_k": (0, 1 << 31),
            "max_tokens": (1, 1 << 31),
            "min_tokens": (0, 1 << 31),
            "repetition_penalty": (1e-3, 100.0),
            "repetition_window": (0, 1 << 31),
            "presence_penalty": (-100.0, 100.0),
            "frequency_penalty": (-100.0, 100.0),
            "n": (1, 128),
            "top_logprobs": (0, 100),
        }
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:  # NaN fails this too
                bounds_said = " and ".join(str(b) if isinstance(b, int) else f"{b:g}" for b in (low, high))
                raise BadRequest(f"{name} must be between {bounds_said}, not {value!r}.", name)
        if self.top_p == 0.0:
            raise BadRequest("top_p must be above 0.", "top_p")
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise BadRequest("min_tokens must not exceed max_tokens.", "min_tokens")
        if any(not s for s in self.stop):
            raise BadRequest("stop strings must not be empty.", "stop")

    def over(self, defaults: Mapping[str, Any]) -> SamplingParams:
        """Fill what is None from `defaults` (a model's generation_config); its stop strings count besides these."""
        known = {f.name for f in fields(self)}
        chosen = {k: v for k, v in defaults.items() if k in known and v is not None and getattr(self, k) is None}
        if more := [text for text in defaults.get("stop", ()) if text not in self.stop]:
            chosen["stop"] = (*self.stop, *more)
        return SamplingParams(**{**{f.name: getattr(self, f.name) for f in fields(self)}, **chosen})


def new_id(prefix: str = "req") -> str:
    return f"{prefix}-{uuid.uuid4().hex[:20]}"


@dataclass(frozen=True)
class Request:
    """One prompt for one model."""

    model: str
    prompt_ids: Sequence[int]
    sampling: SamplingParams = field(default_factory=SamplingParams)
    id: str = field(default_factory=new_id)
    # a prompt of embeddings, where a pipeline made them (rows of [n, D] replace the ids at `positions`)
    embeds: Any = None
    positions: Any = None
    pictures: Sequence[Picture] = ()  # the engine encodes them; their features go to `positions`, in order
    sound: Sound | None = None  # the engine encodes it; the reply attends to it
    rope: np.ndarray | None = (
        None  # [3, prompt]: positions for multi-axis rope; what follows goes on from their maximum
    )
    # [m, D] added to what is fed after the prompt, a row a token, the last one repeated (a talker's text)
    track: np.ndarray | None = None
    adapter: str | None = None
    prompt_logprobs: bool = False
    pooling: Pooling | None = None  # instead of a reply: one vector, made of the prompt's hidden states
    prediction: Sequence[int] = ()  # what the reply may turn out to be: guesses, which save time where they are right

    @property
    def computes_all(self) -> bool:
        """Must every token of the prompt be computed, though memory of its beginning may be there?"""
        return self.prompt_logprobs or self.pooling is not None or self.sound is not None


@dataclass(frozen=True)
class Timings:
    """Seconds, by the monotonic clock."""

    queued: float = 0.0
    first_token: float = 0.0  # from submit to the first token
    total: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0  # of the prompt, reused instead of computed
    output_tokens: int = 0
    gap_p50: float = 0.0  # between two tokens
    gap_p95: float = 0.0
    drafted: int = 0
    accepted: int = 0

    def report(self) -> dict[str, float | int]:
        """As programs are told: seconds, tokens and rates by name."""
        return {
            "queued_seconds": round(self.queued, 4),
            "first_token_seconds": round(self.first_token, 4),
            "total_seconds": round(self.total, 4),
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "gap_p50_seconds": round(self.gap_p50, 6),
            "gap_p95_seconds": round(self.gap_p95, 6),
            "drafted_tokens": self.drafted,
            "accepted_tokens": self.accepted,
            "prefill_tokens_per_second": round(self.prefill_rate, 2),
            "decode_tokens_per_second": round(self.decode_rate, 2),
        }

    @property
    def prefill_rate(self) -> float:
        """Prompt tokens per second, the queue left out."""
        span = self.first_token - self.queued
        return (self.prompt_tokens - self.cached_tokens) / span if span > 0 else 0.0

    @property
    def decode_rate(self) -> float:
        """Tokens per second after the first."""
        span = self.total - self.first_token
        return (self.output_tokens - 1) / span if self.output_tokens > 1 and span > 0 else 0.0


@dataclass(frozen=True)
class TokenLogprob:
    id: int
    logprob: float
    top: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True)
class Started:
    """The prompt is being computed (again, after an eviction)."""

    request: str
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True)
class Progress:
    """Part of a long prompt has been computed."""

    request: str
    done: int
    total: int


@dataclass(frozen=True)
class PromptScores:
    """Logprobs of prompt tokens, where they were asked for: `logprobs[i]` is that of the token at `start + i`."""

    request: str
    start: int
    logprobs: Sequence[TokenLogprob]


@dataclass(frozen=True, eq=False)
class Embedded:
    """The prompt's hidden states, pooled as the request said; `Done` follows."""

    request: str
    vector: np.ndarray  # [D] f32, of whatever length the model gave it


@dataclass(frozen=True)
class Text:
    """New output of one of the `n` choices. `text` may be empty (a token that ends no character yet)."""

    request: str
    text: str
    ids: Sequence[int]
    index: int = 0
    logprobs: Sequence[TokenLogprob] = ()


@dataclass(frozen=True, eq=False)
class Frames:
    """New output of a model that speaks in frames of codes instead of text."""

    request: str
    codes: np.ndarray  # [frames, groups]
    index: int = 0


@dataclass(frozen=True)
class Finished:
    """One of several choices has ended; `Done` follows when all have."""

    request: str
    index: int
    reason: FinishReason
    stop: str | int | None = None  # the stop string or token that ended it


@dataclass(frozen=True)
class Done:
    """The request has ended well (or was cancelled)."""

    request: str
    reason: FinishReason
    timings: Timings
    stop: str | int | None = None


@dataclass(frozen=True)
class Failed:
    """The request has ended in an error."""

    request: str
    error: GrusError
    timings: Timings = field(default_factory=Timings)


Event: TypeAlias = Started | Progress | PromptScores | Embedded | Text | Frames | Finished | Done | Failed


@dataclass(frozen=True)
class Result:
    """Everything of one finished request, for those who do not stream."""

    request: str
    text: str
    ids: Sequence[int]
    reason: FinishReason
    timings: Timings
    logprobs: Sequence[TokenLogprob] = ()
    choices: Sequence[str] = ()
    vector: np.ndarray | None = None  # where pooling was asked for


class Handle(Protocol):
    """A submitted request. One reader; any thread may cancel."""

    id: str

    def __iter__(self) -> Iterator[Event]:
        """Events in order, blocking; ends after Done or Failed."""

    def __aiter__(self) -> AsyncIterator[Event]: ...
    def cancel(self) -> None: ...
    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end. Raises the error of a failed request."""
