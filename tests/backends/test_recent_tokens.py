"""Layers that keep the prompt and the last tokens behind it, on both backends: attention equals whole attention with a mask, and what is
done to a slot changes nothing that is seen. The model is attention alone.
"""

from __future__ import annotations

import numpy as np
import pytest

from backends.base import KVSpec, Segment, Slot
from backends.kv_cache import SMALLEST_CAPACITY, can_truncate, drops_tokens, may_forget, rows_for
from tests.backends.attention_alone import BACKENDS, DIM, KV_HEADS, VOCAB, AttentionAlone

ALONE, MIXED = (4, 4), (5, None, 3)  # recent tokens of each layer


class Talk:
    """One KV cache, and sequences that go on in it; every step is compared with what is expected."""

    def __init__(self, backend: str, layers: tuple[int | None, ...] = ALONE, bits: int = 32) -> None:
        made = BACKENDS[backend]()
        self.model = AttentionAlone(made, [KVSpec(KV_HEADS, DIM, recent=recent) for recent in layers])
        self.kv = made.kv(self.model.memory, 1 << 30, bits)
        self.runner = made.runner(self.model, self.kv)  # type: ignore[arg-type]
        self.random, self.exact = np.random.default_rng(5), bits == 32
        self.ids: dict[int, list[int]] = {}
        self.prompts: dict[int, int] = {}

    def begin(self, prompt: int, room: int = 0) -> Slot:
        slot = self.kv.open(room or rows_for(self.model.memory, 1 << 10, prompt))
        assert slot is not None
        self.ids[slot.id], self.prompts[slot.id] = [], prompt
        return slot

    def step(self, added: dict[Slot, int]) -> None:
        """So many tokens are added to each of these slots."""
        segments = []
        for slot, n in added.items():
            ids = self.random.integers(0, VOCAB, n).tolist()
            self.ids[slot.id] += ids
            segments.append(Segment(slot, ids, hidden=True, prompt=self.prompts[slot.id]))
        outputs = self.runner.run(segments).read()
        for slot, n in added.items():
            want = self.model.expected(self.ids[slot.id], n, self.prompts[slot.id])
            apart = np.abs(outputs[slot].hidden - want)
            assert apart.max() <= (2e-5 if self.exact else 0.8), (slot.length, n)
            assert np.median(apart) <= 0.02  # where codes are kept, a few scores are decided otherwise


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("layers", [ALONE, MIXED])
@pytest.mark.parametrize("backend", BACKENDS)
def test_sequences_side_by_side(backend: str, layers: tuple[int | None, ...], bits: int) -> None:
    talk = Talk(backend, layers, bits)
    first, second, third = talk.begin(9), talk.begin(2), talk.begin(30)
    talk.step({first: 6})  # a prompt in chunks
    talk.step({first: 3, second: 2})
    for i in range(14):
        talk.step({first: 1, second: 1, **({third: 3} if i < 10 else {third: 1})})
    assert first.length == 23
    assert first.dropped == (10 if layers == ALONE else 0)
    talk.kv.close(second)  # rows move
    for _ in range(5):
        talk.step({third: 1, first: 1})


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_does_not_grow(backend: str) -> None:
    talk = Talk(backend)
    slot, used = talk.begin(6), talk.kv.used
    talk.step({slot: 6})
    for _ in range(SMALLEST_CAPACITY + 20):
        talk.step({slot: 1})
    assert (slot.capacity, talk.kv.used) == (SMALLEST_CAPACITY, used)
    assert slot.length > slot.capacity
    mixed = Talk(backend, MIXED)
    assert rows_for(mixed.model.memory, 900, 6) == 900  # one of its layers keeps every token
    assert rows_for(talk.model.memory, 900, 6) == 11


@pytest.mark.parametrize("dropped", [0, 2, 7])
@pytest.mark.parametrize("backend", BACKENDS)
def test_copies_go_on_where_the_slot_was(backend: str, dropped: int) -> None:
    """Through the host, as a preempted sequence does."""
    talk = Talk(backend)
    slot = talk.begin(9)
    talk.step({slot: 9})
    for _ in range(4 + dropped):
        talk.step({slot: 1})
    snapshot = talk.kv.snapshot(slot)
    arrays = talk.kv.export_snapshot(snapshot)
    back = talk.begin(9)
    talk.kv.restore(back, talk.kv.import_snapshot(snapshot.length, arrays))
    talk.ids[back.id] = list(talk.ids[slot.id])
    assert (back.length, back.dropped) == (slot.length, dropped)
    for _ in range(6):
        talk.step({back: 1, slot: 1})


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_left_of_a_prompt(backend: str) -> None:
    talk = Talk(backend)
    specs, slot = talk.model.memory, talk.begin(9)
    talk.step({slot: 9})
    talk.step({slot: 4})  # as many as are recent
    assert can_truncate(specs, slot, 11)
    with pytest.raises(ValueError, match="one token in a step"):
        talk.step({slot: 2})
    talk.ids[slot.id] = talk.ids[slot.id][:-2]
    talk.step({slot: 1})
    assert slot.dropped == 1
    assert not can_truncate(specs, slot, 11)
    assert can_truncate(specs, slot, 9)
    with pytest.raises(ValueError, match="a sliding window has moved on"):
        talk.kv.truncate(slot, 10)
    other = talk.begin(15)
    talk.kv.copy(slot, other, 8)
    talk.ids[other.id] = talk.ids[slot.id][:8]
    talk.step({other: 7, slot: 1})
    talk.kv.truncate(slot, 9)
    assert slot.dropped == 0
    talk.ids[slot.id], talk.prompts[slot.id] = talk.ids[slot.id][:9], 20  # what comes behind is part of a prompt
    talk.step({slot: 11})
    for _ in range(6):
        talk.step({slot: 1, other: 1})
    assert (drops_tokens(specs), may_forget(specs, 1 << 20)) == (True, False)


@pytest.mark.parametrize("recent", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_few_recent_tokens(backend: str, recent: int) -> None:
    talk = Talk(backend, (recent,))
    slot = talk.begin(3)
    talk.step({slot: 3})
    for _ in range(5):
        talk.step({slot: 1})


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_prompt_without_an_end_keeps_everything(backend: str) -> None:
    talk = Talk(backend)
    slot = talk.begin(64, room=64)
    for _ in range(20):
        talk.step({slot: 1})
    assert slot.dropped == 0
