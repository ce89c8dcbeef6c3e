"""A backend without arrays, so that the engine can be tested on its own.

The "model" is a hash: the next token depends on every token in the slot's memory, in order. So any mistake in lengths,
prefix reuse, eviction, rollback or noise changes the output, and `oracle` (which shares nothing with the engine but the
hash) tells what a request must say. Misuse of the protocol is written down in `FakeKV.violations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backends.base import (
    DeviceMemory,
    KVSnapshot,
    KVSpec,
    Profiler,
    Sampling,
    Segment,
    SegmentOutput,
    Slot,
    StateSpec,
    unprofiled,
)
from backends.plan import checkpoint_drafts, roll_back_drafts
from engine.sequence import uniform
from engine.text.detokenizer import Detokenizer
from engine.types import SamplingParams

VOCAB = 128
EOS, BOOM, NAN = 0, 1, 2  # end of text; a token whose step raises; a token whose logits are NaN
_NEVER = (BOOM, NAN)
_WORD = (1 << 64) - 1
_BLOCK = 16
WIDTH = 8  # of a hidden state


def mix(a: int, b: int) -> int:
    x = (a * 0x9E3779B97F4A7C15 + b + 0x632BE59BD9B4E019) & _WORD
    x = ((x ^ (x >> 29)) * 0xBF58476D1CE4E5B9) & _WORD
    return x ^ (x >> 32)


@dataclass
class Nature:
    """What kind of model the hash pretends to be."""

    recurrent: bool = False
    loopy: bool = False  # mostly repeats itself, so that guessing pays
    eos_every: int = 40  # 0: never by itself

    def token(self, digest: int, length: int, how: Sampling) -> int:
        if how.temperature > 0:
            digest = mix(digest, int(how.noise * (1 << 24)))
        if how.presence or how.frequency:
            digest = mix(digest, hash(tuple(sorted((how.seen or {}).items()))))
        if how.repetition != 1.0:
            digest = mix(digest, hash(tuple(sorted(how.repeated or ()))))
        bias = how.bias or {}

        def allowed(token: int) -> bool:
            masked = how.mask is not None and not how.mask[token]
            return not masked and bias.get(token, 0.0) != -math.inf and token not in _NEVER

        wanted = [token for token, value in bias.items() if value > 50.0 and allowed(token)]
        if wanted:
            return wanted[0]
        if self.eos_every and digest % self.eos_every == 0 and allowed(EOS):
            return EOS
        start = 97 + length % 7 if self.loopy and digest % 11 else 32 + (digest >> 8) % 95
        for i in range(VOCAB):
            token = (start + i) % VOCAB
            if token != EOS and allowed(token):
                return token
        return EOS if allowed(EOS) else -1


@dataclass
class _Place:
    """A slot's memory."""

    rows: list[int] = field(default_factory=list)
    state: int = 1
    last: int | None = None  # sampled last
    marked: tuple[int, int] | None = None


class FakeKV:
    def __init__(self, nature: Nature, budget: int, row_bytes: int = 100, state_bytes: int = 1000) -> None:
        self.nature = nature
        self.specs = [KVSpec(1, 1), *([StateSpec(1, 2, 1, 1, 1)] if nature.recurrent else [])]
        self.budget = budget
        self.used = 0
        self.row_bytes = row_bytes
        self.state_bytes = state_bytes if nature.recurrent else 0
        self.open_slots: set[Slot] = set()
        self.violations: list[str] = []
        self._next = 0

    def bytes_for(self, n: int) -> int:
        return self.row_bytes * -(-n // _BLOCK) * _BLOCK + self.state_bytes

    def open(self, n: int) -> Slot | None:
        need = self.bytes_for(n)
        if self.used + need > self.budget:
            return None
        self._next += 1
        slot = Slot(self._next, 0, -(-n // _BLOCK) * _BLOCK, _Place())
        self.used += need
        self.open_slots.add(slot)
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        self._must(slot.open, f"grow of closed slot {slot.id}")
        extra = self.bytes_for(n) - self.bytes_for(slot.capacity)
        if extra > 0:
            if self.used + extra > self.budget:
                return False
            self.used += extra
            slot.capacity = -(-n // _BLOCK) * _BLOCK
        return True

    def close(self, slot: Slot) -> None:
        self._must(slot.open, f"slot {slot.id} closed twice")
        self.used -= self.bytes_for(slot.capacity)
        slot.open = False
        slot.place = None
        self.open_slots.discard(slot)

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        self._must(slot.open, f"snapshot of closed slot {slot.id}")
        kept = list(slot.place.rows[: slot.length]) if rows else None
        nbytes = self.state_bytes + (self.row_bytes * slot.length if rows else 0)
        return KVSnapshot(slot.length, nbytes, kept, (slot.place.state, slot.id))

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        state, source = snapshot.states
        if snapshot.rows is not None:
            self._must(slot.capacity >= snapshot.length, f"restore beyond slot {slot.id}'s room")
            slot.place.rows = list(snapshot.rows)
        else:
            self._must(source == slot.id, f"states of slot {source} put into slot {slot.id}")
            self._must(slot.length >= snapshot.length, f"rows of slot {slot.id} are gone")
        slot.place.state, slot.length, slot.place.last = state, snapshot.length, None

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._must(not self.nature.recurrent, "copy with recurrent memory")
        self._must(source.open and source.length >= length and target.capacity >= length, "impossible copy")
        target.place.rows = source.place.rows[:length]
        target.length = length

    def can_truncate(self, slot: Slot, length: int) -> bool:
        return length == slot.length or not self.nature.recurrent

    def truncate(self, slot: Slot, length: int) -> None:
        self._must(not self.nature.recurrent, "truncate with recurrent memory")
        self._must(length <= slot.length, f"slot {slot.id} truncated to more than it has")
        slot.length, slot.place.last = length, None

    def checkpoint(self, slot: Slot) -> None:
        slot.place.marked = (slot.length, slot.place.state)

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        length, state = slot.place.marked
        slot.place.marked = None
        self._must(length + keep <= slot.length, f"rollback of slot {slot.id} keeps more than there is")
        if self.nature.recurrent:
            slot.length, slot.place.state, slot.place.last = length, state, None
            return 0
        slot.length = length + keep
        return keep

    def write_cross(self, slot: Slot, layer: int, k: Any, v: Any) -> None:
        raise NotImplementedError("The fake model has no cross attention.")

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        rows = [] if snapshot.rows is None else [np.array(snapshot.rows, dtype=np.uint64)[:, None]]
        return [*rows, np.array([snapshot.states[0]], dtype=np.uint64)]

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        rows = [int(x) for x in arrays[0][:, 0]]
        self._must(len(rows) == length, "adopted rows do not match their length")
        return KVSnapshot(length, self.row_bytes * length + self.state_bytes, rows, (int(arrays[1][0]), -1))

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            self.violations.append(what)
            raise AssertionError(what)


@dataclass
class Ready:
    """A step's outcome; `error` comes out when it is read."""

    tokens: dict[Slot, SegmentOutput]
    error: Exception | None = None

    def read(self) -> dict[Slot, SegmentOutput]:
        if self.error is not None:
            raise self.error
        return self.tokens


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeRunner:
    """`before` sees every step and may raise: that is how a step fails. `reading` likewise, when it is read."""

    def __init__(
        self, kv: FakeKV, clock: FakeClock | None = None, costs: tuple[float, float, float] = (1.0, 0.0, 0.02)
    ):
        self.span: Profiler = unprofiled
        self.kv = kv
        self.clock = clock
        self.costs = costs  # a step, a row, a token
        self.before: Callable[[Sequence[Segment]], None] | None = None
        self.reading: Callable[[Sequence[Segment]], Exception | None] | None = None
        self.steps: list[list[tuple[int, int]]] = []  # per step: (slot, tokens)
        self.log_steps = False
        self.warmed = 0

    def warm(self) -> None:
        self.warmed += 1

    def run(self, segments: Sequence[Segment]) -> Ready:
        kv = self.kv
        kv._must(len({id(segment.slot) for segment in segments}) == len(segments), "a slot twice in one step")
        for segment in segments:
            kv._must(segment.slot.open, f"a step with closed slot {segment.slot.id}")
            kv._must(segment.slot.length + len(segment) <= segment.slot.capacity, f"slot {segment.slot.id} has no room")
            kv._must(len(segment) > 0, f"nothing to do for slot {segment.slot.id}")
        if self.before is not None:
            self.before(segments)
        if any(segment.ids is not None and BOOM in segment.ids for segment in segments):
            raise RuntimeError("the model met a token that it cannot stand")
        if self.log_steps:
            self.steps.append([(segment.slot.id, len(segment)) for segment in segments])
        if self.clock is not None:
            step, row, token = self.costs
            self.clock.now += step + row * len(segments) + token * sum(len(segment) for segment in segments)
        checkpoint_drafts(kv, segments)
        tokens = {segment.slot: self._one(segment) for segment in segments}
        roll_back_drafts(kv, segments, tokens, lambda again: [self._one(segment) for segment in again])
        error = self.reading(segments) if self.reading is not None else None
        if error is not None:
            for segment in segments:
                segment.slot.place.rows = [7] * len(
                    segment.slot.place.rows
                )  # a failed device leaves nothing to rely on
        return Ready(tokens, error)

    def _one(self, segment: Segment) -> SegmentOutput:
        slot, place, nature = segment.slot, segment.slot.place, self.kv.nature
        if segment.embeds is not None:
            fed = [int.from_bytes(row.tobytes()[:8], "little") for row in segment.embeds]
        else:
            fed = list(segment.ids) if segment.ids is not None else [place.last]
            self.kv._must(None not in fed, f"slot {slot.id} holds no sampled token")
        del place.rows[slot.length :]
        digests = []
        for token in fed:
            place.rows.append(mix(place.rows[-1] if place.rows else 0, token))
            place.state = mix(place.state, token)
            digests.append(place.rows[-1] ^ (place.state if nature.recurrent else 0))
        first = slot.length
        slot.length += len(fed)
        logits = None
        if segment.want is not None:
            logits = np.stack([fake_logits(digests[i]) for i in segment.want])
        hidden = np.stack([fake_hidden(digest) for digest in digests]) if segment.hidden else None
        if segment.sample is None:
            return SegmentOutput([], logits=logits, hidden=hidden, nan=segment.hidden and NAN in fed)
        if NAN in fed:
            place.last = NAN
            return SegmentOutput([], nan=True)
        return self._sample(segment, digests, first, logits)

    def _sample(self, segment: Segment, digests: list[int], first: int, logits: np.ndarray | None) -> SegmentOutput:
        chosen: list[int] = []
        accepted = 0
        hows = [*(segment.samples or ()), segment.sample]
        base = len(digests) - len(hows)
        for i, how in enumerate(hows):
            token = self.kv.nature.token(digests[base + i], first + base + i, how)
            if token < 0:
                return SegmentOutput([], nan=True)
            chosen.append(token)
            if i < segment.draft:
                if segment.ids[base + 1 + i] != token:
                    break
                accepted += 1
        segment.slot.place.last = chosen[-1]
        logprobs = top = None
        if segment.sample.logprobs is not None:
            logprobs = [-(digests[base + i] % 97) / 97 for i in range(len(chosen))]
            top = [[(t, -0.1 * t) for t in range(segment.sample.logprobs)] for _ in chosen]
        return SegmentOutput(chosen, logprobs, top, logits, accepted=accepted)


def fake_logits(digest: int) -> np.ndarray:
    return np.random.default_rng(digest).standard_normal(VOCAB, dtype=np.float32)


def fake_hidden(digest: int) -> np.ndarray:
    return np.random.default_rng(digest).standard_normal(WIDTH, dtype=np.float32)


class FakeTokenizer:
    """One byte a token; the first few are control tokens."""

    strip = 0

    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> list[int]:
        return [b for b in text.encode() if b < VOCAB]

    def bytes_of(self, id: int) -> bytes:
        return bytes([id]) if id < VOCAB else b""

    def is_special(self, id: int) -> bool:
        return id < 8


class FakeStream:
    def __init__(self, tokenizer: FakeTokenizer) -> None:
        self._detokenizer = Detokenizer(tokenizer)

    def push(self, token: int) -> str:
        return self._detokenizer.push(token)

    def finish(self) -> str:
        return self._detokenizer.flush()


class FakeDevice:
    def __init__(self, total: int = 1 << 30, device: str = "cpu") -> None:
        self.device = device
        self.total = total
        self.released = 0

    def memory(self) -> DeviceMemory:
        return DeviceMemory(self.total, self.total, 0, 0)

    def use_threads(self, count: int | None) -> None:
        pass

    def release(self) -> None:
        self.released += 1


class FakeLoaded:
    def __init__(self, name: str = "fake", nature: Nature | None = None, budget: int = 1 << 26, context: int = 8192,
                 clock: FakeClock | None = None, device: FakeDevice | None = None, weight_bytes: int = 0,
                 defaults: Mapping[str, Any] | None = None, **kv: int) -> None:  # fmt: skip
        self.name = name
        self.nature = nature or Nature()
        self.backend = device or FakeDevice()
        self.kv = FakeKV(self.nature, budget, **kv)
        self.runner = FakeRunner(self.kv, clock)
        self.tokenizer = FakeTokenizer()
        self.eos_ids = {EOS}
        self.context = context
        self.vocab = VOCAB
        self.defaults = dict(defaults or {})
        self.weight_bytes = weight_bytes
        self.fingerprint = f"{name}-1"
        self.closed = False

    def text_stream(self) -> FakeStream:
        return FakeStream(self.tokenizer)

    def close(self) -> None:
        self.closed = True


@dataclass
class Said:
    """What a request must say."""

    text: str
    ids: list[int]
    reason: str
    stop: str | int | None = None


def oracle(nature: Nature, prompt: Sequence[int], params: SamplingParams, context: int = 8192, index: int = 0) -> Said:
    """The reply of a request that is alone in the world, computed with nothing but the hash."""
    row, state = 0, 1
    for token in prompt:
        row, state = mix(row, token), mix(state, token)
    limit = min(params.max_tokens or context, context - len(prompt))
    ids: list[int] = []
    text, seen = "", {}
    ends = set(params.stop_token_ids) | (set() if params.ignore_eos else {EOS})
    while True:
        early = ends if len(ids) < params.min_tokens else set()
        bias = {
            **params.logit_bias,
            **dict.fromkeys(params.banned_tokens, -math.inf),
            **dict.fromkeys(early, -math.inf),
        }
        mask = None
        if params.required_tokens:
            mask = np.isin(np.arange(VOCAB), list(params.required_tokens))
        history = [*prompt, *ids]
        how = Sampling(
            temperature=1.0 if params.temperature is None else params.temperature,
            noise=uniform(params.seed or 0, index, len(ids)),
            presence=params.presence_penalty,
            frequency=params.frequency_penalty,
            seen=seen,
            repetition=params.repetition_penalty or 1.0,
            repeated=sorted(set(history[-(params.repetition_window or 0) :])),
            bias=bias,
            mask=mask,
        )
        token = nature.token(row ^ (state if nature.recurrent else 0), len(prompt) + len(ids) - 1, how)
        if token in ends:
            named = token in params.stop_token_ids and (token != EOS or params.ignore_eos)
            return Said(text, ids, "stop", token if named else None)
        ids.append(token)
        seen[token] = seen.get(token, 0) + 1
        text += chr(token) if token >= 8 else ""
        hits = [stop for stop in params.stop if text.endswith(stop)]
        if hits:
            longest = max(hits, key=len)
            return Said(text[: -len(longest)], ids, "stop", longest)
        if len(ids) >= limit:
            return Said(text, ids, "length")
        row, state = mix(row, token), mix(state, token)
