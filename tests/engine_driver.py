"""Drives a model through the engine, one turn after the other in this thread: prefixes, drafts, preemption and offloading."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.executor import ModelExecutor
from engine.loading import LoadOptions, load
from engine.types import Request, SamplingParams, Settings
from tests.checkpoints import reference_cached

Ids = list[int]


@cache
def greedy_reply(name: str, prompt: tuple[int, ...], length: int) -> tuple[tuple[int, ...], float]:
    """The reference's, to one prompt, and by how much of the largest logit its closest choice was decided."""
    import torch

    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0, "max_new_tokens": length}
    outputs = {"return_dict_in_generate": True, "output_logits": True}
    with torch.no_grad():
        ids = torch.tensor([prompt])
        out = reference_cached(name).generate(ids, attention_mask=torch.ones_like(ids), **options, **outputs)
    logits = torch.stack(out.logits)[:, 0]
    best = logits.topk(2).values
    return tuple(out.sequences[0, len(prompt) :].tolist()), float((best[:, 0] - best[:, 1]).min() / logits.abs().max())


def greedy_replies(name: str, prompts: list[Ids], length: int) -> list[Ids]:
    return [list(greedy_reply(name, tuple(prompt), length)[0]) for prompt in prompts]


def decided(name: str, prompts: list[Ids], length: int) -> bool:
    """Whether none of the reference's replies hangs on a tie: another order of the same sums decides those."""
    return min(greedy_reply(name, tuple(prompt), length)[1] for prompt in prompts) > 1e-5


class EngineDriver:
    """Greedy replies of one length, with drafts of n-grams, and offloading below `offload`."""

    def __init__(self, folder: Path, backend: str, offload: Path, prefill_chunk: int, length: int) -> None:
        loaded = load(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32"))
        settings = Settings(
            prefill_chunk=prefill_chunk, speculation="ngram", max_draft=4, offload_folder=offload / "offload"
        )
        self.engine = Engine(lambda _: loaded, settings, start=False)
        self.length = length

    @property
    def executor(self) -> ModelExecutor:
        (executor,) = self.engine._manager.executors.values()
        return executor

    def say(self, prompts: list[Ids], evict: int = 0) -> list[Ids]:
        """Replies to all at once; `evict`: every so many turns a sequence is preempted."""
        params = SamplingParams(temperature=0.0, max_tokens=self.length, ignore_eos=True)
        handles = [self.engine.submit(Request("m", prompt, params)) for prompt in prompts]
        turns = 0
        while not self.engine.idle:
            self.engine.turn()
            turns += 1
            if evict and turns % evict == 0:
                scheduler = self.executor.scheduler
                if (victim := scheduler.victim()) is not None:
                    scheduler.preempt(victim)
                    scheduler.cap = 16
        return [list(handle.result(0).ids) for handle in handles]

    def continues(self, prompts: list[Ids], want: list[Ids], begun: int, compared: int, hits: int) -> None:
        """The same replies at once, with sequences preempted, continued after `begun` tokens of each, and from the disk."""
        assert self.say(prompts) == want
        assert self.say(prompts, evict=5) == want  # every prompt is a prefix now
        longer = [[*prompt, *reply[:begun]] for prompt, reply in zip(prompts, want)]
        assert [ids[:compared] for ids in self.say(longer)] == [reply[begun : begun + compared] for reply in want]
        stats = self.engine.stats()
        assert stats.failed == 0
        assert stats.prefix_hits >= hits
        assert stats.evictions
        assert self.engine.check() == 0
        assert self.executor.prefix_cache.clear(hurry=False) > 0
        assert self.say(prompts) == want  # from the disk, where a stored prefix serves


def on_both(names: Iterable[str], whole: Iterable[str] = ()) -> list[Any]:
    """Each on torch; on MLX, which compiles each model's functions first, one of three, and the rest where time is no matter.
    Of `whole`, which have nothing of their own in what is tested, one of three on torch alone."""
    return [
        pytest.param(name, backend, marks=[pytest.mark.slow] if backend == "mlx" and at % 3 else [])
        for at, name in enumerate(names)
        for backend in ("torch", "mlx")
    ] + [
        pytest.param(name, backend, marks=[pytest.mark.slow] if backend == "mlx" or at % 3 else [])
        for at, name in enumerate(whole)
        for backend in ("torch", "mlx")
    ]
