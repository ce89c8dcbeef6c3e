"""What crosses between the app and the engine: requests go in, events come out. Plain data, no arrays of a device.

An app submits a `Request` and reads `Event`s from the `RequestHandle` until a `Done` or a `Failed`; exactly one of these two
ends every request, cancelled ones included (`Done` with finish_reason "cancelled").
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

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
    # end the document before the length limit, this many bytes before the last moment; None: it may be cut off
    reserve: int | None = None


@dataclass(frozen=True)
class ReasoningLimit:
    """Reasoning lies between `open` and `close`. After `tokens` of them the reply continues with the tokens `closing`; where
    the model begins to reason once more, with `closing_again`."""

    tokens: int
    open: str
    close: str
    closing: tuple[int, ...]
    closing_again: tuple[int, ...] = ()  # empty: it does not reason twice
    started: bool = False  # the prompt ends inside the reasoning


@dataclass(frozen=True)
class TranscriptRules:
    """Which tokens of a transcript may follow which: see `engine.transcript_rules`."""

    first_banned: tuple[int, ...] = ()  # a transcript does not begin with them
    timestamps: int | None = None  # the token of time zero, all from it on are times; None: none are asked for
    end: int = 0  # the end of the text; tokens before it are text
    latest_first: int | None = None  # the transcript begins so many steps of time after zero, at most


_BOUNDS: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 100.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "typical_p": (0.0, 1.0),
    "top_k": (0, 1 << 31),
    "max_tokens": (1, 1 << 31),
    "min_tokens": (0, 1 << 31),
    "repetition_penalty": (1e-3, 100.0),
    "repetition_window": (0, 1 << 31),
    "no_repeat_ngram_size": (0, 1 << 31),
    "no_repeat_ngram_window_size": (0, 1 << 31),
    "presence_penalty": (-100.0, 100.0),
    "frequency_penalty": (-100.0, 100.0),
    "n": (1, 128),
    "top_logprobs": (0, 100),
}  # of sampling parameters


@dataclass(frozen=True)
class SamplingParams:
    """Sampling parameters. None: the model's generation_config decides, else the neutral value."""

    max_tokens: int | None = None  # None: as many as the context holds
    min_tokens: int = 0
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repetition_penalty: float | None = None
    repetition_window: int | None = None  # tokens looked back at; 0: all
    no_repeat_ngram_size: int | None = None  # so many tokens in a row never come twice; 0: they may
    no_repeat_ngram_window_size: int | None = None  # within the last so many tokens, those of the prompt too; 0: all
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    banned_tokens: Sequence[int] = ()
    required_tokens: Sequence[int] = ()  # only these may be sampled
    seed: int | None = None  # None: random
    n: int = 1
    logprobs: bool = False
    approximate_logprobs: bool = False  # logprobs may be off by a hundredth, where that is faster: for a confidence
    top_logprobs: int = 0
    stop: Sequence[str] = ()
    stop_token_ids: Sequence[int] = ()
    ignore_eos: bool = False
    grammar: Grammar | None = None
    grammar_after: str | None = None  # constrain only what follows this text (a reasoning model's "</think>")
    reasoning: ReasoningLimit | None = None
    transcript: TranscriptRules | None = None

    def check(self) -> None:
        """Raise BadRequest for the first parameter that is out of range."""
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:  # NaN fails this too
                limits = " and ".join(str(b) if isinstance(b, int) else f"{b:g}" for b in (low, high))
                raise BadRequest(f"{name} must be between {limits}, not {value!r}.", name)
        if self.top_p == 0.0:
            raise BadRequest("top_p must be above 0.", "top_p")
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise BadRequest("min_tokens must not exceed max_tokens.", "min_tokens")
        if any(not s for s in self.stop):
            raise BadRequest("stop strings must not be empty.", "stop")

    def over(self, defaults: Mapping[str, Any]) -> SamplingParams:
        """Fill in `defaults` (a model's generation_config) where a value is None; its stop strings are added."""
        known = self.__dataclass_fields__
        chosen = {k: v for k, v in defaults.items() if k in known and v is not None and getattr(self, k) is None}
        if more := [text for text in defaults.get("stop", ()) if text not in self.stop]:
            chosen["stop"] = (*self.stop, *more)
        return replace(self, **chosen) if chosen else self


def new_id(prefix: str = "req", separator: str = "-") -> str:
    return f"{prefix}{separator}{os.urandom(10).hex()}"


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
    adds_sound: bool = False  # features beyond the sound's positions become the track
    # [3, prompt]: positions for multi-axis rope; the output continues from their maximum
    rope: np.ndarray | None = None
    # [m, D] added to the input embeddings after the prompt, a row a token, the last one repeated (a TTS model's text stream)
    track: np.ndarray | None = None
    adapter: str | None = None
    prompt_logprobs: bool = False
    pooling: Pooling | None = None  # instead of a reply: one vector, made of the prompt's hidden states
    prediction: Sequence[int] = ()  # a predicted output: draft tokens for speculative decoding

    @property
    def computes_all(self) -> bool:
        """Whether the whole prompt must be computed, without the prefix cache."""
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
        """A JSON object of seconds, tokens and rates."""
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
        """Prompt tokens per second, without the time in the queue."""
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
    """Prefill begins (or begins again after a preemption)."""

    request: str
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True)
class Progress:
    """A chunk of a long prompt has been computed."""

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
    """The embedding of the prompt; `Done` follows."""

    request: str
    vector: np.ndarray  # [D] f32, not normalized


@dataclass(frozen=True)
class Text:
    """New output of one of the `n` sequences. `text` may be empty (a token that completes no character)."""

    request: str
    text: str
    ids: Sequence[int]
    index: int = 0
    logprobs: Sequence[TokenLogprob] = ()


@dataclass(frozen=True, eq=False)
class Frames:
    """New output of a model that generates frames of audio codes instead of text."""

    request: str
    codes: np.ndarray  # [frames, groups]
    index: int = 0


@dataclass(frozen=True)
class Finished:
    """One of several sequences has ended; `Done` follows when all have."""

    request: str
    index: int
    reason: FinishReason
    stop: str | int | None = None  # the stop string or token that ended it


@dataclass(frozen=True)
class Done:
    """The request has succeeded, or was cancelled."""

    request: str
    reason: FinishReason
    timings: Timings
    stop: str | int | None = None


@dataclass(frozen=True)
class Failed:
    """The request has failed."""

    request: str
    error: GrusError
    timings: Timings = field(default_factory=Timings)


Event: TypeAlias = Started | Progress | PromptScores | Embedded | Text | Frames | Finished | Done | Failed


@dataclass(frozen=True)
class Result:
    """The whole output of a finished request, for callers that do not stream."""

    request: str
    text: str
    ids: Sequence[int]
    reason: FinishReason
    timings: Timings
    logprobs: Sequence[TokenLogprob] = ()
    choices: Sequence[str] = ()
    vector: np.ndarray | None = None  # of a request with pooling


class RequestHandle:
    """A submitted request. One reader, which iterates over its events (`for` or `async for`); any thread may cancel."""

    def __init__(self, request: str, limit: int | None, cancel: Callable[[], None]) -> None:
        self.id = request
        self._limit = limit
        self._cancel: Callable[[], None] | None = cancel
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()
        self._ended = False  # the last event was put
        self.timings: Timings | None = None  # of the last event
        self._drained = False  # the last event was taken
        self._waker: Callable[[], None] | None = None
        self.on_end: Callable[[], None] | None = None  # set by the engine before anything can end
        self._collected = _Collector(request)

    # -- the engine's side

    def put(self, event: Event) -> bool:
        """Queue an event. False when the queue is full or the request has ended."""
        with self._changed:
            if self._ended or (self._limit is not None and len(self._events) >= self._limit):
                return False
            self._events.append(event)
            self._wake()
            return True

    def end(self, event: Done | Failed) -> bool:
        """Put the last event, which always fits. False when there was one already."""
        with self._changed:
            if self._ended:
                return False
            self._ended, self.timings = True, event.timings
            self._events.append(event)
            self._wake()
            # a handle that is kept after the end must not keep the engine and its models alive
            on_end, self.on_end, self._cancel = self.on_end, None, None
        if on_end is not None:
            on_end()
        return True

    def _wake(self) -> None:
        self._changed.notify_all()
        if self._waker is not None:
            self._waker()

    # -- the consumer's side

    def cancel(self) -> None:
        cancel = self._cancel
        if cancel is not None:
            cancel()

    @property
    def ended(self) -> bool:
        return self._ended

    def wait(self) -> None:
        """Wait until the request has ended, without reading events."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended)

    def _take(self, timeout: float | None) -> Event | None:
        """The next event, or None after the last one."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._events:
                if self._drained:
                    return None
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(f"Request {self.id} has not ended yet.")
                self._changed.wait(left)
            return self._pop()

    def _pop(self) -> Event:
        event = self._events.popleft()
        self._drained = isinstance(event, Done | Failed)
        self._collected.add(event)
        return event

    def __iter__(self) -> Iterator[Event]:
        while (event := self._take(None)) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        import asyncio  # with TLS 6 MB, which a window without a server does not need

        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            # the consumer's loop may be closed; the request then continues until its queue is full
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ready.set)

        with self._changed:
            self._waker = wake
        try:
            while True:
                with self._changed:
                    event = self._pop() if self._events else None
                    if event is None and self._drained:
                        return
                    ready.clear()
                if event is None:
                    await ready.wait()
                else:
                    yield event
        finally:
            with self._changed:
                self._waker = None

    def result(self, timeout: float | None = None) -> Result:
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._take(None if deadline is None else max(0.0, deadline - time.monotonic())) is not None:
            pass
        return self._collected.result()


class _Collector:
    """Folds events into a Result, so that `result` can be called at any time and repeatedly."""

    def __init__(self, request: str) -> None:
        self.request = request
        self._texts: dict[int, list[str]] = {}
        self._ids: list[int] = []
        self._logprobs: list[TokenLogprob] = []
        self._vector: np.ndarray | None = None
        self._reason: FinishReason | None = None  # of sequence 0; `Done` has it when there is only one
        self._last: Done | Failed | None = None

    def add(self, event: Event) -> None:
        if isinstance(event, Text):
            self._texts.setdefault(event.index, []).append(event.text)
            if event.index == 0:
                self._ids.extend(event.ids)
                self._logprobs.extend(event.logprobs)
        elif isinstance(event, Embedded):
            self._vector = event.vector
        elif isinstance(event, Finished) and event.index == 0:
            self._reason = event.reason
        elif isinstance(event, Done | Failed):
            self._last = event

    def result(self) -> Result:
        last = self._last
        if isinstance(last, Failed):
            raise last.error
        assert last is not None
        texts = ["".join(self._texts.get(i, ())) for i in range(max(self._texts, default=0) + 1)]
        reason = self._reason or last.reason
        return Result(self.request, texts[0], self._ids, reason, last.timings, self._logprobs, texts, self._vector)


def outcome(begun: RequestHandle | GrusError, returned: bool) -> Result | GrusError:
    """The result of a request. `returned`: return its error instead of raising it."""
    if isinstance(begun, GrusError):
        return begun
    try:
        return begun.result()
    except GrusError as error:
        if returned:
            return error
        raise


# -- the settings of an engine. `memory_limit` turns a person's "5G" into bytes once the device's size is known

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)


def memory_limit(limit: str | float, total: int) -> int:
    """Bytes of "5G", "5120M", "1073741824", or of a fraction (0.7) of `total`."""
    text = str(limit).strip()
    found = _SIZE.fullmatch(text)
    if not found:
        raise BadRequest(f'A memory limit is a size like "5G" or "5120M", or a fraction like 0.7, not {limit!r}.')
    number, unit = float(found[1]), found[2].upper()
    whole = number * total if not unit and number <= 1.0 else number * _UNITS[unit]
    if whole <= 0:
        raise BadRequest("A memory limit must be above 0.", "gpu_memory_limit")
    return int(whole)


@dataclass(frozen=True)
class Settings:
    """Settings of an engine. Sizes of memory are strings ("5G") or fractions of the device."""

    max_concurrent: int = 16  # sequences in a batch
    decode_tokens_per_seq: int = 16  # reserved at admission; preemption spares a sequence until it has them
    max_seq_len: int = 0  # prompt and reply together; 0: as long as the model allows
    prefill_chunk: int | None = None  # most prompt tokens a step (chunked prefill); None: as suits the device
    gpu_memory_limit: str | float = 0.7  # weights and sequences of all models together
    host_memory_limit: str | float = "2G"  # for preempted sequences; beyond it they are recomputed
    max_gap: float = 2.0  # inter-token gap of a reply during prefill of others, as a multiple of the usual gap
    max_queue: int = 1024  # requests that wait
    max_events: int = 4096  # unread events of one request
    prefix_reuse: bool = True
    state_snapshots: int = 4  # state checkpoints of a sequence whose model has recurrent layers or sliding windows
    async_scheduling: bool | None = None  # issue a step before the previous one is read; None: except on CPU
    speculation: Literal["auto", "off", "ngram", "draft", "mtp"] = "off"  # auto: what the model was loaded with drafts
    draft_model: str | None = None
    max_draft: int = 8
    offload_folder: Path | None = None
    offload_limit: str = "8G"
    idle_ttl: float | None = None  # seconds until an idle model is unloaded
    max_models: int = 0  # loaded at once; 0: as many as fit
    battery_threads: int | None = None  # of the CPU, while the machine runs on its battery; None: as many as otherwise

    def __post_init__(self) -> None:
        least = {"max_concurrent": 1, "decode_tokens_per_seq": 1, "max_seq_len": 0, "prefill_chunk": 1, "max_queue": 1}
        least |= {"max_events": 2, "state_snapshots": 1, "max_draft": 1, "max_models": 0}
        for name, low in least.items():
            if (given := getattr(self, name)) is not None and given < low:
                raise BadRequest(f"{name} must be at least {low}, not {getattr(self, name)!r}.", name)
        if self.idle_ttl is not None and not self.idle_ttl >= 0:
            raise BadRequest(f"idle_ttl must be 0 seconds or more, not {self.idle_ttl!r}.", "idle_ttl")
        if self.battery_threads is not None and self.battery_threads < 1:
            raise BadRequest(f"battery_threads must be at least 1, not {self.battery_threads}.", "battery_threads")
        if not self.max_gap > 1.0:
            raise BadRequest(f"max_gap must be above 1, not {self.max_gap!r}.", "max_gap")
        if (self.speculation == "draft") != (self.draft_model is not None):
            raise BadRequest("speculation 'draft' and draft_model belong together.", "draft_model")
        for size in (self.gpu_memory_limit, self.host_memory_limit, self.offload_limit):
            memory_limit(size, 1 << 30)
