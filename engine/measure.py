"""How fast a model is on this machine, as a person meets it: through the engine, with requests like any other.

Every figure is a median of several runs. Prompts are random tokens, so that nothing is reused unless reuse is measured.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.engine import Engine
from engine.loading import LoadedModel
from engine.types import Request, Result, SamplingParams

Say = Callable[[str], None]


@dataclass(frozen=True)
class Figure:
    what: str
    value: float
    unit: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Measure:
    """Runs requests on an engine whose model is loaded, and times them."""

    def __init__(self, engine: Engine, model: LoadedModel, say: Say = lambda _: None, seed: int = 0) -> None:
        self._engine, self._model, self._say = engine, model, say
        self._random = random.Random(seed)
        special = model.tokenizer.special_ids
        self._plain = [i for i in range(min(model.vocab, model.tokenizer.vocab_size)) if i not in special]

    def all(
        self, prompt: int = 512, reply: int = 32, streams: Sequence[int] = (1, 4, 8, 16), runs: int = 3
    ) -> list[Figure]:
        """Prefill, decode at several numbers of streams, a follow-up turn, and the engine's own cost."""
        room = self._model.context - reply
        prompt = max(1, min(prompt, room // 2))
        history = max(1, min(2000, room - 32))
        found = [Figure(f"prefill of {prompt} tokens", self._prefill(prompt, runs), "tokens/s")]
        for count in streams:
            self._say(f"decoding {count} at once")
            found.append(Figure(f"decode, {count} at once", self.decode(count, reply, runs), "tokens/s"))
        self._say("a follow-up turn")
        cold, warm = self.follow_up(history)
        found.append(Figure(f"first token, {history} tokens new", 1000 * cold, "ms"))
        found.append(Figure(f"first token, {history} tokens remembered", 1000 * warm, "ms"))
        return found

    def tokens(self, n: int) -> list[int]:
        return self._random.choices(self._plain, k=n)

    def run(self, prompt: Sequence[int], reply: int) -> Result:
        return self._engine.submit(self._request(prompt, reply)).result()

    def _request(self, prompt: Sequence[int], reply: int) -> Request:
        return Request(self._model.name, prompt, SamplingParams(max_tokens=reply, temperature=0.0, ignore_eos=True))

    def _prefill(self, prompt: int, runs: int) -> float:
        self._say("prefill")
        return statistics.median(self.run(self.tokens(prompt), 1).timings.prefill_rate for _ in range(runs))

    def decode(self, streams: int, reply: int, runs: int, prompt: int = 16) -> float:
        """Tokens per second of all streams together, while they reply."""

        def once() -> float:
            handles = [self._engine.submit(self._request(self.tokens(prompt), reply)) for _ in range(streams)]
            timings = [handle.result().timings for handle in handles]
            # each stream gives its tokens evenly from its first to its last
            return sum((t.output_tokens - 1) / max(1e-9, t.total - t.first_token) for t in timings)

        return statistics.median(once() for _ in range(runs))

    def follow_up(self, history: int, runs: int = 3) -> tuple[float, float]:
        """Seconds to the first token of a long prompt, and of the same conversation's next turn."""
        cold, warm = [], []
        for _ in range(runs):
            prompt = self.tokens(history)
            first = self.run(prompt, 2)
            cold.append(first.timings.first_token)
            again = self.run([*prompt, *first.ids, *self.tokens(8)], 2)
            warm.append(again.timings.first_token)
        return statistics.median(cold), statistics.median(warm)

    def overhead(self, reply: int = 64) -> float:
        """Seconds a token that the engine adds to what the runner alone needs for the same step."""
        from backends.base import Sampling, Segment

        through = []
        for _ in range(3):
            timings = self.run(self.tokens(8), reply).timings
            through.append((timings.total - timings.first_token) / (timings.output_tokens - 1))
        kv, runner = self._model.kv, self._model.runner
        alone = []
        for _ in range(3):
            slot = kv.open(8 + reply)
            if slot is None:
                break
            runner.run([Segment(slot, self.tokens(8), sample=Sampling())]).read()
            began = time.perf_counter()
            for _ in range(reply):
                runner.run([Segment(slot, sample=Sampling())]).read()
            alone.append((time.perf_counter() - began) / reply)
            kv.close(slot)
        return statistics.median(through) - statistics.median(alone) if alone else 0.0
