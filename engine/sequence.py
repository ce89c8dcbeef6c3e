"""The state of a request inside the engine (`RequestState`), of each of its `n` replies (`Sequence`), and of their sampling.

A sequence is its tokens and, while it runs, a slot of the KV cache. One invariant covers prefill, decoding, resumption
after preemption and the repair after rejected draft tokens: the next step computes `tokens[slot.length:]`.
`OutputProcessor` detokenizes what was sampled and finds stop tokens, stop strings and the length limit;
`EmbeddingPool` and `prompt_scores` make embeddings and prompt logprobs.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections import abc
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np

from backends.base import KVSnapshot, Sampling, SegmentOutput, Slot
from backends.ops import LONG_TEXT
from engine.errors import BadRequest, GrusError
from engine.loaded import TextStream
from engine.metrics import Counters, RequestMetrics
from engine.ngram import DraftProposer
from engine.no_repeat_ngrams import RepeatedNgrams
from engine.reasoning_limit import ReplyConstraint
from engine.text.detokenizer import StopMatcher
from engine.types import (
    Done,
    Failed,
    FinishReason,
    Pooling,
    PromptScores,
    Request,
    RequestHandle,
    SamplingParams,
    Timings,
    TokenLogprob,
)

# -- sampling parameters of a step: noise, penalties, and which tokens are allowed
#
# The noise of a token is a hash of (seed, index of the reply, position) and of nothing else. So a seed gives the same
# tokens whatever else is in the batch, after a preemption, and with speculative decoding. The backend does the arithmetic
# on logits.

_WORD = (1 << 64) - 1
_BAN = -math.inf


def _mix(x: int) -> int:
    """splitmix64: every bit of the input moves half of the bits of the output."""
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def uniform(seed: int, choice: int, position: int) -> float:
    """A random number in [0, 1) that f32 represents exactly, so that every backend compares against the same value."""
    return (_mix(_mix(_mix(seed & _WORD) ^ choice) ^ position) >> 40) * 2.0**-24


def check_tokens(params: SamplingParams, vocab: int) -> None:
    """Raise BadRequest for token ids that the model does not have, and for rules that leave no token at all."""
    for name in ("logit_bias", "banned_tokens", "required_tokens", "stop_token_ids"):
        for token in getattr(params, name):
            if not 0 <= token < vocab:
                raise BadRequest(f"{name} names token {token}; the model has tokens 0 to {vocab - 1}.", name)
    if params.required_tokens and not set(params.required_tokens) - set(params.banned_tokens):
        raise BadRequest("All required_tokens are banned.", "required_tokens")
    if len(set(params.banned_tokens)) >= vocab:
        raise BadRequest("All tokens are banned.", "banned_tokens")


class Sampler:
    """The sampling state of one sequence: `at` returns the parameters for a position, `add` records a sampled token."""

    def __init__(self, params: SamplingParams, seed: int, choice: int, prompt: abc.Sequence[int], stops: Collection[int],
                 vocab: int) -> None:  # fmt: skip
        self.params = params
        self._stream = _mix(_mix(seed & _WORD) ^ choice)
        self._seen: dict[int, int] = {}
        self._history = list(prompt) if self.repeats else []
        self._repeated: list[int] = list(dict.fromkeys(prompt)) if self.repeats and not params.repetition_window else []
        self._known = set(self._repeated)
        size, window = params.no_repeat_ngram_size or 0, params.no_repeat_ngram_window_size or 0
        self._ngrams = RepeatedNgrams(size, window, prompt) if size else None
        bias = {int(k): float(v) for k, v in params.logit_bias.items()} | dict.fromkeys(params.banned_tokens, _BAN)
        self._bias: Mapping[int, float] | None = bias or None
        self._early: Mapping[int, float] | None = bias | dict.fromkeys(stops, _BAN) if params.min_tokens else None
        self._mask: np.ndarray | None = None
        if params.required_tokens:
            self._mask = np.zeros(vocab, dtype=bool)
            self._mask[list(params.required_tokens)] = True

    @property
    def repeats(self) -> bool:
        return self.params.repetition_penalty not in (None, 1.0)

    @property
    def counts(self) -> bool:
        return bool(self.params.presence_penalty or self.params.frequency_penalty)

    @property
    def looks_back(self) -> bool:
        """Whether the last token must be on the host before the next can be sampled."""
        return self.repeats or self.counts or self._ngrams is not None

    def add(self, token: int) -> None:
        if self.counts:
            self._seen[token] = self._seen.get(token, 0) + 1
        if self.repeats:
            self._history.append(token)
            if not self.params.repetition_window and token not in self._known:
                self._known.add(token)
                self._repeated.append(token)
        if self._ngrams is not None:
            self._ngrams.add(token)

    def at(self, output: int, ahead: abc.Sequence[int] = (), mask: np.ndarray | None = None) -> Sampling:
        """The parameters for output token number `output` (from 0); `ahead`: draft tokens between the last added and it."""
        p = self.params
        if self._mask is not None:
            mask = self._mask if mask is None else self._mask & mask
        return Sampling(
            temperature=1.0 if p.temperature is None else p.temperature,
            top_k=p.top_k or 0,
            top_p=1.0 if p.top_p is None else p.top_p,
            min_p=p.min_p or 0.0,
            typical_p=1.0 if p.typical_p is None else p.typical_p,
            noise=(_mix(self._stream ^ output) >> 40) * 2.0**-24,
            repetition=p.repetition_penalty or 1.0,
            presence=p.presence_penalty,
            frequency=p.frequency_penalty,
            seen=self._seen_with(ahead) if self.counts else None,
            repeated=self._repeated_with(ahead) if self.repeats else None,
            bias=self._bias_behind(output, ahead),
            mask=mask,
            together_from=None if p.transcript is None else p.transcript.timestamps,
            logprobs=p.top_logprobs if p.logprobs or p.top_logprobs else None,
            approximate_logprobs=p.approximate_logprobs,
        )

    def _bias_behind(self, output: int, ahead: abc.Sequence[int]) -> Mapping[int, float] | None:
        bias = self._early if output < self.params.min_tokens else self._bias
        banned = self._ngrams.banned(ahead) if self._ngrams is not None else ()
        return {**(bias or {}), **dict.fromkeys(banned, _BAN)} if banned else bias

    def _seen_with(self, ahead: abc.Sequence[int]) -> Mapping[int, int]:
        if not ahead:
            return self._seen
        seen = dict(self._seen)
        for token in ahead:
            seen[token] = seen.get(token, 0) + 1
        return seen

    def _repeated_with(self, ahead: abc.Sequence[int]) -> abc.Sequence[int]:
        window = self.params.repetition_window
        if window:
            return list(dict.fromkeys([*self._history[-window:], *ahead][-window:]))
        return [*self._repeated, *dict.fromkeys(t for t in ahead if t not in self._known)] if ahead else self._repeated


log = logging.getLogger("grus.engine")

_GAPS_KEPT = 4096


class RequestState:
    """A request inside the engine: its handle, its sampling parameters, its timings and its sequences."""

    def __init__(self, request: Request, handle: RequestHandle, seed: int, now: float) -> None:
        self.request = request
        self.handle = handle
        self.seed = seed
        self.params: SamplingParams = request.sampling  # the model's defaults are filled in at admission
        self.sequences: list[Sequence] = []
        self.cancelled = False
        self.over = False
        self.sound: np.ndarray | None = None  # features of the request's sound, once encoded
        self.prompt_snapshot: KVSnapshot | None = None  # for further sequences, where memory may forget
        self.submitted = now
        self.admitted: float | None = None
        self.first_token: float | None = None
        self.cached = 0
        self.drafted = 0
        self.accepted = 0
        self.elsewhere: Done | Failed | None = None  # how another replica of the model ended it
        self._gaps: list[float] = []

    @property
    def id(self) -> str:
        return self.request.id

    def record_tokens(self, sequence: Sequence, count: int, now: float, metrics: RequestMetrics) -> None:
        """Record that `count` tokens of `sequence` arrived at `now`."""
        if self.first_token is None:
            self.first_token = now
            metrics.started(now - self.submitted, now - (self.admitted or self.submitted), now)
        elif sequence.last_token is not None and count:
            gap = (now - sequence.last_token) / count
            metrics.tokens(gap, count, now)
            if len(self._gaps) < _GAPS_KEPT:
                self._gaps.extend([gap] * count)
        sequence.last_token = now

    def timings(self, now: float) -> Timings:
        if self.elsewhere is not None:
            return self.elsewhere.timings
        gaps = sorted(self._gaps)
        admitted = now if self.admitted is None else self.admitted
        return Timings(
            queued=admitted - self.submitted,
            first_token=(self.first_token or now) - self.submitted,
            total=now - self.submitted,
            prompt_tokens=len(self.request.prompt_ids),
            cached_tokens=self.cached,
            output_tokens=sum(c.output.count for c in self.sequences),
            gap_p50=gaps[len(gaps) // 2] if gaps else 0.0,
            gap_p95=gaps[len(gaps) * 95 // 100] if gaps else 0.0,
            drafted=self.drafted,
            accepted=self.accepted,
        )

    def end(self, counters: Counters, now: float, error: GrusError | None = None) -> None:
        """End the request: count it, and put its last event, `Failed` or `Done`."""
        self.over = True
        timings = self.timings(now)
        if error is not None:
            counters.failed += 1
            counters.requests.failed(error.code)
            log.info("%s: failed: %s", self.id, error)
            self.handle.end(Failed(self.id, error, timings))
            return
        first = self.sequences[0] if self.sequences else None  # None when it was cancelled before admission
        reason, stop = (first.ended, first.stop) if first else (None, None)
        if isinstance(self.elsewhere, Done):
            reason, stop = self.elsewhere.reason, self.elsewhere.stop
        if self.cancelled:
            counters.cancelled += 1
            reason = "cancelled"
        else:
            counters.completed += 1
        reason = reason or "cancelled"
        counters.requests.ended(reason, timings, now)
        self.handle.end(Done(self.id, reason, timings, stop))
        log.debug("%s: %s, %d tokens in %.3f s", self.id, reason, timings.output_tokens, timings.total)


@dataclass
class PreparedSequence:
    """What a helper thread prepares before a sequence is admitted."""

    constraint: ReplyConstraint | None = None
    stored: HostState | None = None  # an offloaded prefix


@dataclass
class HostState:
    """The KV cache of a sequence in host arrays: preempted, or read from disk."""

    length: int
    arrays: list[np.ndarray]
    nbytes: int
    shared: int = 0  # from disk: tokens in common with the sequence's prompt


@dataclass(eq=False)
class Sequence:
    """One reply of a request while it is generated: its tokens, its slot, its sampling state."""

    parent: RequestState
    index: int
    tokens: list[int]  # prompt and output; never shrinks
    prompt_length: int
    key: list[int]  # as `tokens`, with unique negative numbers for embeddings: what the prefix cache compares
    sampler: Sampler
    output: OutputProcessor
    embedded: dict[int, int] = field(default_factory=dict)  # position -> row of the request's embeddings
    frames: list[np.ndarray] | None = None  # of a model that generates frames: the codes of each output token
    framed_slot: int | None = None  # the slot whose last sampled frame the device still holds
    constraint: ReplyConstraint | None = None
    speculates: bool = False
    proposer: DraftProposer | None = None  # None while it speculates: only a draft model proposes
    prepared: Future[PreparedSequence] | None = None  # must be done before the sequence can be admitted
    slot: Slot | None = None
    checkpoints: list[KVSnapshot] = field(default_factory=list)  # states and windows that the slot can return to
    host_state: HostState | None = None
    unread: int = 0  # tokens sampled by a step that has not been read
    tokens_since_admission: int = 0
    isolated: bool = False  # a step failed with it and others: it runs alone until a step succeeds
    ended: FinishReason | None = None
    stop: str | int | None = None  # the stop string or token that ended it
    pool: EmbeddingPool | None = None  # instead of a reply
    cacheable: bool = True  # whether its slot may enter the prefix cache at the end
    last_token: float | None = None  # when it arrived
    long_from: int = 0  # the length beyond which the model has another rope; 0: it has one
    mutual_pictures: bool = False  # see `TokenModel`
    long: bool = False  # whether its memory is made with that rope

    def __post_init__(self) -> None:
        self.long = is_long(self.prompt_length, self.long_from)

    @property
    def outgrown(self) -> bool:
        """Whether its memory must be made anew, with the rope of longer texts."""
        return not self.long and is_long(len(self.tokens) + self.unread, self.long_from)

    @property
    def sampled(self) -> int:
        """The number of sampled tokens, including those not yet read."""
        return len(self.tokens) - self.prompt_length + self.unread

    @property
    def own_slot(self) -> Slot:
        """The slot of a running sequence (which always has one)."""
        assert self.slot is not None
        return self.slot

    @property
    def uncomputed(self) -> int:
        """The number of known tokens that are not in the KV cache yet."""
        return len(self.tokens) - self.own_slot.length

    @property
    def tokens_left(self) -> int:
        """How many tokens the reply may still have."""
        return self.output.limit - self.output.count

    @property
    def decoding(self) -> bool:
        return self.sampled > 0

    @property
    def variant(self) -> str | None:
        """What must be equal, besides the tokens, for the memory of another sequence to be reusable."""
        return memory_variant(self.parent.request.adapter, self.long)

    @property
    def needs_host(self) -> bool:
        """Whether the last token must be read before the next step can be issued."""
        return self.sampler.looks_back or self.constraint is not None or self.speculates

    def same_kind(self, start: int, stop: int) -> tuple[int, int | None]:
        """The end of a chunk from `start` that holds only tokens, or only consecutive rows of embeddings; in that case
        also the first row."""
        row = self.embedded.get(start)
        if self.frames is not None and start < self.prompt_length:
            stop = min(stop, self.prompt_length)
        at = start + 1
        while at < stop and self.embedded.get(at) == (None if row is None else row + at - start):
            at += 1
        return at, row

    def positions(self, start: int, stop: int) -> np.ndarray | None:
        """Multi-axis rope positions of tokens `start` to `stop`, `[3, n]`, or those of a long text, `[n]`; None for plain ones."""
        rope = self.parent.request.rope
        if rope is None:
            return np.arange(LONG_TEXT + start, LONG_TEXT + stop, dtype=np.int32) if self.long else None
        beyond = (
            np.arange(max(start, self.prompt_length), max(stop, self.prompt_length))
            - self.prompt_length
            + rope.max()
            + 1
        )
        return np.concatenate((rope[:, start:stop], np.broadcast_to(beyond, (3, len(beyond)))), axis=1)

    def track(self, start: int, stop: int) -> np.ndarray | None:
        """Rows that are added to the input embeddings `start` to `stop`; the prompt contains its own part."""
        track = self.parent.request.track
        if track is None or stop <= self.prompt_length:
            return None
        rows = np.minimum(np.arange(start, stop) - self.prompt_length, len(track) - 1)
        added: np.ndarray = track[np.maximum(rows, 0)]
        if start < self.prompt_length:
            added[: self.prompt_length - start] = 0.0
        return added

    def codes(self, start: int, stop: int) -> np.ndarray | None:
        """The frames to recompute from `start` to `stop`, all of them after the prompt."""
        if self.frames is None or start < self.prompt_length:
            return None
        return np.stack(self.frames[start - self.prompt_length : stop - self.prompt_length])

    def accept(self, token: SegmentOutput) -> OutputDelta:
        """Append what a step sampled."""
        if self.frames is not None and token.codes is not None:
            self.frames.append(token.codes)
            self.framed_slot = self.own_slot.id
        self.tokens.extend(token.ids)
        self.key.extend(token.ids)
        self.tokens_since_admission += len(token.ids)
        piece = self.output.accept(token)
        for id in token.ids:
            self.sampler.add(id)
        if self.constraint is not None and piece.reason is None:
            self.constraint.accept(token.ids, piece.text)
            if self.constraint.complete:
                self.output.finish(piece)
            elif self.constraint.over:
                self.constraint = None
        return piece


def is_long(length: int, long_from: int) -> bool:
    return 0 < long_from < length


def memory_variant(adapter: str | None, long: bool) -> str | None:
    """See `Sequence.variant`."""
    return f"{adapter or ''} in a long text" if long else adapter


def embedding_keys(request: Request, mark: str) -> tuple[list[int], dict[int, int]]:
    """The prompt's key and, per position that an embedding replaces, its row in `request.embeds`.

    Two prompts with different images have the same placeholder tokens, so each row is known by a number of its own:
    a hash of its bytes where they are on the host, else one made from `mark`, which no other request has.
    """
    key = list(request.prompt_ids)
    if request.embeds is None:
        return key, {}
    positions = [int(p) for p in request.positions]
    on_host = isinstance(request.embeds, np.ndarray)
    for row, position in enumerate(positions):
        content = request.embeds[row].tobytes() if on_host else f"{mark}:{row}".encode()
        key[position] = -1 - (int.from_bytes(hashlib.blake2b(content, digest_size=8).digest()) >> 2)
    return key, {position: row for row, position in enumerate(positions)}


@dataclass
class OutputDelta:
    """What one step adds to a reply: text, tokens, logprobs, and why it ended."""

    text: str = ""
    ids: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    reason: FinishReason | None = None
    stop: str | int | None = None


class OutputProcessor:
    """Detokenizes one reply and finds its end: stop tokens, stop strings, the length limit."""

    def __init__(self, stream: TextStream, stops: abc.Sequence[str], silent: Collection[int], named: Collection[int],
                 limit: int) -> None:  # fmt: skip
        """`silent` tokens (end of text) end the reply unreported, `named` ones are reported; neither appears in the text."""
        self._stream = stream
        self._stops = StopMatcher(stops) if stops else None
        self._silent = silent
        self._named = named
        self._ends = frozenset(silent) | frozenset(named)
        self.limit = limit
        self.count = 0

    def accept(self, token: SegmentOutput) -> OutputDelta:
        piece = OutputDelta()
        for i, id in enumerate(token.ids):
            if id in self._ends:
                self._end(piece, "stop", id if id in self._named else None)
                break
            self.count += 1
            piece.ids.append(id)
            if token.logprobs is not None:
                top = tuple(token.top[i]) if token.top else ()
                piece.logprobs.append(TokenLogprob(id, token.logprobs[i], top))
            text = self._stream.push(id)
            if self._stops is not None:
                text, hit = self._stops.push(text)
                if hit is not None:
                    piece.text += text
                    piece.reason, piece.stop = "stop", hit
                    break
            piece.text += text
            if self.count >= self.limit:
                self._end(piece, "length", None)
                break
        return piece

    def finish(self, piece: OutputDelta) -> OutputDelta:
        """End the reply for a reason other than a token (the grammar is complete, a cancel)."""
        if piece.reason is None:
            self._end(piece, "stop", None)
        return piece

    def _end(self, piece: OutputDelta, reason: FinishReason, stop: int | None) -> None:
        piece.reason, piece.stop = reason, stop
        text = self._stream.finish()
        if self._stops is not None:
            text, hit = self._stops.push(text)
            if hit is not None:
                piece.reason, piece.stop = "stop", hit
            else:
                text += self._stops.flush()
        piece.text += text


class EmbeddingPool:
    """Pools a prompt's hidden states into one vector, chunk by chunk: keeps only the sum or the last row.

    After a preemption chunks come again; rows that were counted are not counted twice.
    """

    def __init__(self, kind: Pooling, length: int) -> None:
        self.kind = kind
        self.length = length
        self._seen = 0
        self._sum: np.ndarray | None = None

    def wants(self, stop: int) -> bool:
        """Whether a chunk that ends at `stop` needs its hidden states."""
        return self.kind == "mean" or stop >= self.length

    def add(self, start: int, hidden: np.ndarray) -> None:
        """Add the hidden states of the tokens from `start`."""
        stop = start + len(hidden)
        if self.kind == "last":
            self._sum = hidden[-1]
        elif stop > self._seen:
            new = hidden[max(0, self._seen - start) :].sum(axis=0, dtype=np.float64)
            self._sum = new if self._sum is None else self._sum + new
        self._seen = max(self._seen, stop)

    @property
    def vector(self) -> np.ndarray | None:
        """`[D]` f32; None until the last token was added."""
        if self._sum is None or self._seen < self.length:
            return None
        return np.asarray(self._sum if self.kind == "last" else self._sum / self.length, np.float32)


def prompt_scores(sequence: Sequence, start: int, logits: np.ndarray) -> PromptScores:
    """Logprobs of prompt tokens. `logits[i]` were computed at `start + i`, so they score the token after it."""
    wide = logits.astype(np.float64)
    wide -= wide.max(axis=-1, keepdims=True)
    norm = np.log(np.exp(wide).sum(axis=-1))
    most = sequence.parent.params.top_logprobs
    scores = []
    for i in range(len(wide)):
        id, line = sequence.tokens[start + i + 1], wide[i] - norm[i]
        best = np.argsort(-line, kind="stable")[:most]
        scores.append(TokenLogprob(id, float(line[id]), [(int(t), float(line[t])) for t in best]))
    return PromptScores(sequence.parent.id, start + 1, scores)
