"""Parakeet speech recognition: a Fast Conformer encoder, 12.5 frames a second, with a CTC head or a transducer (RNN-T, TDT).

It is no token model: the encoder hears a whole stretch of speech, CTC reads the best token of each frame, and a transducer walks
over the frames with a small LSTM that knows the tokens so far. TDT tells with each token how many frames it takes, so that each token
has its time.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backends.base import Array, Linear
from engine.errors import ConfigError
from engine.media.mel import PARAKEET_HOP, parakeet_mel
from engine.models.config import MOST_LAYERS, Fields
from engine.models.fast_conformer import FastConformer
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_NAME = "Parakeet config.json"
_AHEAD = 4  # frames whose joint network is computed together: until a token comes, the LSTM's state stays


@dataclass
class TimedIds:
    """What is heard: tokens, the frames where each begins and ends, and its log probability."""

    frames: int  # of the sound
    ids: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    def add(self, id: int, start: int, end: int, logprob: float) -> None:
        self.ids.append(id)
        self.starts.append(start)
        self.ends.append(min(end, self.frames))
        self.logprobs.append(logprob)


@dataclass
class HeadMemory:
    """Where a head is in a sound that is heard piece by piece, and what it knows of the tokens so far."""

    at: int = 0  # the next frame, of the whole sound
    here: int = 0  # tokens that this frame has written
    last: int = -1  # CTC: the best token of the frame before
    text: Array = None  # of a transducer, as its joint network takes it
    state: Sequence[tuple[Array, Array]] = ()  # of the LSTM's layers


class _Encoder(FastConformer):
    def run(self, samples: np.ndarray) -> Generator[None, None, Array]:
        """`[L, D]` of mono samples at 16 kHz."""
        return (yield from self.encode(self.embed(parakeet_mel(samples, self.mels))))


class Parakeet:
    """What every head shares. `vocab`: tokens, the blank among them."""

    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, _NAME)
        self.ops, self.vocab = w.backend.ops, f.int("vocab_size")
        self.encoder = _Encoder(w.sub("encoder"), f.sub("encoder_config"))
        self.frame = PARAKEET_HOP * self.encoder.factor  # samples

    def recognize(self, samples: np.ndarray) -> Generator[None, None, TimedIds]:
        if len(samples) < 2 * PARAKEET_HOP:  # too short for a spread over its frames
            return TimedIds(0)
        hidden = yield from self.encoder.run(samples)
        return (yield from self._decode(hidden, self.start(), 0, hidden.shape[0]))

    def continued(
        self, window: np.ndarray, first: int, memory: HeadMemory, hold: int
    ) -> Generator[None, None, tuple[TimedIds, TimedIds]]:
        """Go on with a sound, of which `window` is the end, from its frame `first` on: what is heard until `hold` frames before the end,
        which stays, and what is heard in those, which more sound may change."""
        if len(window) < 2 * PARAKEET_HOP:
            return TimedIds(0), TimedIds(0)
        hidden = yield from self.encoder.run(window)
        total = first + hidden.shape[0]
        stays = yield from self._decode(hidden, memory, first, total - hold)
        return stays, (yield from self._decode(hidden, replace(memory), first, total))

    def start(self) -> HeadMemory:
        return HeadMemory()

    def _decode(self, hidden: Array, memory: HeadMemory, first: int, stop: int) -> Generator[None, None, TimedIds]:
        """`hidden` are the frames from `first` on; read from `memory.at` to `stop`."""
        raise NotImplementedError


class ParakeetCtc(Parakeet):
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config)
        self.blank = Fields(config, _NAME).int("pad_token_id", least=0)
        self.head = w.flattened("ctc_head", (self.vocab, self.encoder.hidden, 1), bias=True, quantized=True)

    def _decode(self, hidden: Array, memory: HeadMemory, first: int, stop: int) -> Generator[None, None, TimedIds]:
        yield
        scores = log_softmax(self.ops.numpy(self.head(hidden)))
        made = TimedIds(first + len(scores))
        for at in range(memory.at, stop):
            row = scores[at - first]
            id = int(row.argmax())
            if id != self.blank and id != memory.last:
                made.add(id, at, at + 1, float(row[id]))
            elif id != self.blank and made.ids:  # else it began before
                made.ends[-1] = at + 1
            memory.last = id
        memory.at = max(memory.at, stop)
        return made


class ParakeetTransducer(Parakeet):
    """RNN-T, and with `durations` TDT."""

    def __init__(self, w: View, config: Mapping[str, Any], durations: Sequence[int] = ()) -> None:
        super().__init__(w, config)
        f, dtype = Fields(config, _NAME), w.backend.dtype
        if f.find("hidden_act", default="relu") != "relu":
            raise ConfigError(f"{f.where}: hidden_act must be `relu`.")
        self.dtype, self.durations, self.blank = dtype, list(durations), f.int("blank_token_id", least=0)
        self.most, self.wide = f.int("max_symbols_per_step", default=10), f.int("decoder_hidden_size")
        self.project = w.linear(("encoder_projector", self.wide), inp=self.encoder.hidden, bias=True)
        own = w.sub("decoder")
        self.embedding = own.embedding("embedding", self.vocab, self.wide)
        gates, count = 4 * self.wide, f.int("num_decoder_layers", most=MOST_LAYERS)
        self.lstm: list[tuple[Linear, Linear, Array]] = []  # one step at a time, so that its products are a linear's
        for i in range(count):
            products = [
                own.matrix(f"lstm.weight_{name}_l{i}", gates, self.wide, quantized=True) for name in ("ih", "hh")
            ]
            biases = [own.tensor(f"lstm.bias_{name}_l{i}", (gates,), "f32") for name in ("ih", "hh")]
            self.lstm.append((products[0], products[1], biases[0] + biases[1]))
        self.narrow = own.linear(("decoder_projector", self.wide), inp=self.wide, bias=True)
        self.joint = w.linear(("joint.head", self.vocab + len(self.durations)), inp=self.wide, bias=True)

    def start(self) -> HeadMemory:
        hidden, cell = (self.ops.array(np.zeros((1, self.wide), np.float32), dtype) for dtype in (self.dtype, "f32"))
        text, state = self._push(self.blank, [(hidden, cell)] * len(self.lstm))
        return HeadMemory(text=text, state=state)

    def _decode(self, hidden: Array, memory: HeadMemory, first: int, stop: int) -> Generator[None, None, TimedIds]:
        sound = self.project(hidden)
        made, budget = TimedIds(first + hidden.shape[0]), YieldBudget(self.ops)
        while memory.at < stop:
            many, low = 1 if memory.here else _AHEAD, memory.at - first
            logits = self.ops.numpy(self.joint(self.ops.relu(sound[low : low + many] + memory.text)))
            begun = memory.at
            while begun <= memory.at < min(stop, begun + len(logits)):
                row = logits[memory.at - begun]
                id, jump = int(row[: self.vocab].argmax()), self._jump(row)
                if id == self.blank:
                    memory.at, memory.here = memory.at + max(1, jump), 0
                    continue
                logprob = float(log_softmax(row[: self.vocab])[id])
                made.add(id, memory.at, memory.at + (jump if self.durations else 1), logprob)
                memory.here = memory.here + 1 if jump == 0 else 0
                if memory.here >= self.most:  # it would stay for ever
                    jump, memory.here = 1, 0
                memory.at += jump
                memory.text, memory.state = self._push(id, memory.state)
                break
            yield from budget.pause(memory.text[None])
        return made

    def _jump(self, row: np.ndarray) -> int:
        """How many frames further, of a token; at least one more of a blank."""
        return self.durations[int(row[self.vocab :].argmax())] if self.durations else 0

    def _push(self, id: int, state: Sequence[tuple[Array, Array]]) -> tuple[Array, list[tuple[Array, Array]]]:
        ops, after = self.ops, []
        x = self.embedding.rows(ops.array(np.asarray([id], np.int32)))
        for (given, kept, bias), (h, c) in zip(self.lstm, state):
            i, f, g, o = ops.split(ops.cast(given(x) + kept(h), "f32") + bias, [self.wide] * 4, 1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)  # in f32: the cell adds up over all of time
            x = ops.cast(ops.sigmoid(o) * ops.tanh(c), self.dtype)
            after.append((x, c))
        return self.narrow(x), after


def log_softmax(x: np.ndarray) -> np.ndarray:
    low = x - x.max(-1, keepdims=True)
    made: np.ndarray = low - np.log(np.exp(low).sum(-1, keepdims=True))
    return made


def parakeet_ctc(w: View, config: Mapping[str, Any]) -> Parakeet:
    return ParakeetCtc(w, config)


def parakeet_rnnt(w: View, config: Mapping[str, Any]) -> Parakeet:
    return ParakeetTransducer(w, config)


def parakeet_tdt(w: View, config: Mapping[str, Any]) -> Parakeet:
    durations = config.get("durations", (0, 1, 2, 3, 4))
    if not durations or not all(isinstance(one, int) and 0 <= one <= 64 for one in durations):
        raise ConfigError(f"{_NAME}: durations must be a list of frames.")
    return ParakeetTransducer(w, config, durations)
