"""The seams that later features stand on, on an attention-only model and on a hybrid, on both backends.

Drafts and rollback (speculation), logits of chosen rows, embeddings with positions of their own, a hook between sampling
and the next input (a talker's code predictor), and a vocabulary mask from the host (structured output).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Sampling, Segment, Slot, Step
from tests.asserting import every
from tests.checkpoints import VOCAB, save
from tests.driver import Driver

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 150]
NAMES, BACKENDS = ("qwen3", "qwen3_5"), ("torch", "mlx")

pytestmark = [pytest.mark.parametrize("name", NAMES), pytest.mark.parametrize("backend", BACKENDS)]


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Driver]]:
    root = tmp_path_factory.mktemp("seams")

    @cache
    def folder(name: str) -> Path:
        return save(name, root / name)

    @cache
    def driver(name: str, backend: str) -> Driver:
        return Driver(folder(name), backend)

    yield driver
    driver.cache_clear()


def started(driver: Driver, room: int = 64) -> tuple[Slot, int]:
    """A slot that holds the prompt, and the first greedy token."""
    slot = driver.kv.open(len(PROMPT) + room)
    assert slot is not None
    token = driver.runner.run([Segment(slot, PROMPT, sample=Sampling())]).read()[slot]
    return slot, token.ids[0]


def close_to(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-5) -> bool:
    return float(np.abs(a - b).max()) <= tolerance * float(np.abs(b).max())


def next_logits(driver: Driver, slot: Slot, token: int) -> np.ndarray:
    found = driver.runner.run([Segment(slot, [token], want=range(1))]).read()[slot].logits
    assert found is not None
    return found[0]


@pytest.mark.parametrize("right", [0, 1, 3])
def test_a_draft_changes_speed_and_nothing_else(
    drivers: Callable[..., Driver], name: str, backend: str, right: int
) -> None:
    driver = drivers(name, backend)
    plain = driver.greedy(PROMPT, 10)
    slot, first = started(driver)
    guesses = [*plain[1 : 1 + right], *[(t + 1) % VOCAB for t in plain[1 + right : 4]]]
    segment = Segment(slot, [first, *guesses], sample=Sampling(), samples=[Sampling()] * 3, draft=3)
    token = driver.runner.run([segment]).read()[slot]
    assert token.ids == plain[1 : 2 + right]
    assert token.accepted == right
    assert slot.length == len(PROMPT) + 1 + right
    out = [first, *token.ids]
    while len(out) < 10:
        out += driver.runner.run([Segment(slot, [out[-1]], sample=Sampling())]).read()[slot].ids
    assert out == plain
    driver.kv.close(slot)


def test_drafts_of_several_sequences_share_a_step(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    plain = driver.greedy(PROMPT, 8)
    slots = [started(driver)[0] for _ in range(3)]
    guesses = [plain[1:4], [plain[1], (plain[2] + 1) % VOCAB, 7], []]
    segments = [
        Segment(slot, [plain[0], *guess], sample=Sampling(), samples=[Sampling()] * len(guess), draft=len(guess))
        for slot, guess in zip(slots, guesses)
    ]
    tokens = driver.runner.run(segments).read()
    assert [tokens[slot].ids for slot in slots] == [plain[1:5], plain[1:3], plain[1:2]]
    for slot, seen in zip(slots, (5, 3, 2)):
        again = driver.runner.run([Segment(slot, [plain[seen - 1]], sample=Sampling())]).read()[slot]
        assert again.ids == [plain[seen]]
        driver.kv.close(slot)


def test_rollback_undoes_rows_and_recurrent_states(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    slot, first = started(driver)
    driver.kv.checkpoint(slot)
    before = next_logits(driver, slot, first)
    driver.runner.run([Segment(slot, [9, 8, 7, 6])]).read()
    kept = driver.kv.rollback(slot)
    assert kept == 0
    assert slot.length == len(PROMPT)
    assert close_to(next_logits(driver, slot, first), before)
    driver.kv.close(slot)


def test_logits_of_chosen_rows(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    whole = driver.logits(PROMPT)
    slots = [driver.kv.open(32), driver.kv.open(32)]
    assert every(slots)
    a, b = (s for s in slots if s)
    tokens = driver.runner.run([Segment(a, PROMPT, want=range(2, 5)), Segment(b, PROMPT[:6], sample=Sampling())]).read()
    assert tokens[a].ids == []
    assert tokens[a].logits is not None
    assert close_to(tokens[a].logits, whole[2:5])
    assert tokens[b].logits is None
    assert tokens[b].ids == [int(whole[5].argmax())]
    driver.kv.close(a)
    driver.kv.close(b)


def test_embeddings_and_positions_of_their_own(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    ops = driver.backend.ops
    whole = driver.logits(PROMPT)
    embeds = ops.numpy(driver.model.embed(ops.array(np.array(PROMPT[3:8], np.int32))))
    slot = driver.kv.open(32)
    assert slot is not None
    driver.runner.run([Segment(slot, PROMPT[:3])]).read()
    driver.runner.run([Segment(slot, embeds=embeds, pos=np.tile(np.arange(3, 8), (3, 1)))]).read()
    rest = driver.runner.run([Segment(slot, PROMPT[8:], want=range(3))]).read()[slot].logits
    assert rest is not None
    assert close_to(rest, whole[8:])
    driver.kv.close(slot)
    moved = driver.kv.open(32)
    assert moved is not None
    shifted = driver.runner.run(
        [Segment(moved, PROMPT, pos=np.arange(len(PROMPT)) * 3, want=range(len(PROMPT)))]
    ).read()
    assert not close_to(shifted[moved].logits, whole, 1e-2)  # type: ignore[arg-type]
    driver.kv.close(moved)


def test_an_addition_to_the_inputs(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    ops = driver.backend.ops
    table = ops.numpy(driver.model.embed(ops.array(np.arange(2, dtype=np.int32))))
    slot = driver.kv.open(32)
    assert slot is not None
    added = driver.runner.run([Segment(slot, [0], add=(table[1] - table[0])[None], want=range(1))]).read()[slot].logits
    driver.kv.close(slot)
    assert added is not None
    assert close_to(added, driver.logits([1]), 1e-4)


class Talker:
    """A model with a frame hook: each sampled token becomes three codes, whose embeddings are the next input."""

    def __init__(self, driver: Driver) -> None:
        self.inner: Any = driver.model
        self.ops = driver.backend.ops
        self.memory, self.vocab = driver.model.memory, driver.model.vocab

    def embed(self, ids: Any) -> Any:
        return self.inner.embed(ids)

    def __call__(self, step: Step) -> Any:
        return self.inner(step)

    def logits(self, hidden: Any) -> Any:
        return self.inner.logits(hidden)

    def frame(self, hidden: Any, ids: Any, params: Sequence[Sampling]) -> tuple[Any, Any]:
        second = self.ops.topk(self.inner.logits(hidden), 2)[1]
        codes = self.ops.cat([ids.reshape(ids.shape[0], 1), second], 1)
        embeds = self.embed(codes[:, 0]) + self.embed(codes[:, 1]) + self.embed(codes[:, 2])
        return codes, embeds


def test_a_hook_between_sampling_and_the_next_input(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    talker, ops = Talker(driver), driver.backend.ops
    kv = driver.backend.kv(talker.memory, 1 << 28)
    runner = driver.backend.runner(talker, kv)
    a, b = kv.open(32), kv.open(32)
    assert a is not None
    assert b is not None
    segments = [Segment(a, PROMPT, sample=Sampling()), Segment(b, PROMPT[:4], sample=Sampling())]
    frames = []
    for _ in range(4):
        frames += [runner.run(segments).read()]
        segments = [Segment(a, sample=Sampling()), Segment(b, sample=Sampling())]
    for slot, prompt in ((a, PROMPT), (b, PROMPT[:4])):
        other = kv.open(32)
        assert other is not None
        segment = Segment(other, prompt, sample=Sampling())
        for tokens in frames:  # the same by hand: the codes' embeddings, summed and given as embeddings
            alone = runner.run([segment]).read()[other]
            want = tokens[slot]
            assert want.codes is not None
            assert alone.codes is not None
            assert want.codes.tolist() == alone.codes.tolist()
            assert want.codes[0] == want.ids[0]
            summed = ops.numpy(talker.embed(ops.array(want.codes.astype(np.int32)))).sum(0, keepdims=True)
            segment = Segment(other, embeds=summed, sample=Sampling())
        kv.close(other)


def test_a_vocabulary_mask_from_the_host(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    whole = driver.logits(PROMPT)[-1]
    allowed = np.zeros(VOCAB, bool)
    allowed[[3, 50, 77, 120]] = True
    a, b = driver.kv.open(32), driver.kv.open(32)
    assert a is not None
    assert b is not None
    segments = [Segment(a, PROMPT, sample=Sampling(mask=allowed)), Segment(b, PROMPT, sample=Sampling())]
    tokens = driver.runner.run(segments).read()
    assert tokens[a].ids == [max((3, 50, 77, 120), key=lambda t: whole[t])]
    assert tokens[b].ids == [int(whole.argmax())]
    driver.kv.close(a)
    driver.kv.close(b)
