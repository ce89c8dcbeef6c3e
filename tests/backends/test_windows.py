"""Sliding windows in the KV cache, on both backends: whatever is done to a slot, attention equals whole attention with a mask.

The model is attention alone. Margins are small here, so that windows move on all the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from backends.base import KVSpec, Segment, Slot, StateSpec
from backends.kv_cache import SlotPlace, can_truncate, copy_can_truncate, may_forget
from tests.backends.attention_alone import BACKENDS, DIM, KV_HEADS, VOCAB, AttentionAlone

LAYERS = (5, None, 17)  # windows
MARGIN, STEP = 3, 6


class WholeSpec(KVSpec):
    """A window that forgets nothing: every key stays, and a mask hides it."""

    def rows_in(self, capacity: int) -> int:
        return capacity


@dataclass
class Conversation:
    slot: Slot
    ids: list[int] = field(default_factory=list)
    checkpoints: list[Any] = field(default_factory=list)


class Walk:
    """A random walk through everything that can be done to slots."""

    def __init__(self, name: str, bits: int = 32, spec: type[KVSpec] = KVSpec) -> None:
        backend = BACKENDS[name]()
        self.model = AttentionAlone(backend, [spec(KV_HEADS, DIM, window=window) for window in LAYERS])
        self.kv = backend.kv(self.model.memory, 1 << 28, bits)
        self.runner = backend.runner(self.model, self.kv)  # type: ignore[arg-type]
        self.random = np.random.default_rng(5)

    def begin(self) -> Conversation:
        slot = self.kv.open(1)
        assert slot is not None
        return Conversation(slot)

    def add(self, chunks: list[tuple[Conversation, list[int]]]) -> list[np.ndarray]:
        """The hidden states of the new tokens of each conversation, in one step."""
        segments = []
        for one, ids in chunks:
            assert self.kv.grow(one.slot, one.slot.length + len(ids))
            one.ids = [*one.ids[: one.slot.length], *ids]
            segments.append(Segment(one.slot, ids, hidden=True))
        read = self.runner.run(segments).read()
        return [read[one.slot].hidden for one, _ in chunks]  # type: ignore[misc]

    def some(self, most: int) -> list[int]:
        return self.random.integers(0, VOCAB, self.random.integers(1, most + 1)).tolist()

    def change(self, one: Conversation) -> Conversation:
        """Truncate, rewind, copy or move a conversation, where its memory allows it."""
        kv, length = self.kv, int(self.random.integers(0, one.slot.length + 1))
        match int(self.random.integers(0, 7)):
            case 0 if kv.can_truncate(one.slot, length):
                kv.truncate(one.slot, length)
                one.checkpoints = [c for c in one.checkpoints if c.length <= length]
            case 1 if kv.can_truncate(one.slot, length):
                other = self.begin()
                assert kv.grow(other.slot, max(1, length))
                kv.copy(one.slot, other.slot, length)
                other.ids = one.ids[:length]
                kv.close(one.slot)
                return other
            case 2:
                one.checkpoints.append(kv.snapshot(one.slot, rows=False))
            case 3 if one.checkpoints:
                chosen = one.checkpoints[int(self.random.integers(len(one.checkpoints)))]
                kv.restore(one.slot, chosen)
                one.checkpoints = [c for c in one.checkpoints if c.length <= chosen.length]
            case 4:
                arrays = kv.export_snapshot(kv.snapshot(one.slot))
                other = self.begin()
                assert kv.grow(other.slot, max(1, one.slot.length))
                kv.restore(other.slot, kv.import_snapshot(one.slot.length, arrays))
                other.ids = one.ids
                kv.close(one.slot)
                return other
            case 5:
                kv.checkpoint(one.slot)
                drafts = self.some(STEP)
                self.add([(one, drafts)])
                kv.rollback(one.slot, int(self.random.integers(0, len(drafts) + 1)))
        one.ids = one.ids[: one.slot.length]
        return one

    def steps(self, count: int) -> Iterator[tuple[Conversation, np.ndarray]]:
        running = [self.begin() for _ in range(3)]
        for _ in range(count):
            chunks = [(one, self.some(1 if self.random.random() < 0.6 else STEP)) for one in running]
            yield from zip([one for one, _ in chunks], self.add(chunks))
            running = [self.change(one) if self.random.random() < 0.3 else one for one in running]


@pytest.fixture(autouse=True)
def small_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.kv_cache.WINDOW_MARGIN", MARGIN)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", STEP)
    monkeypatch.setattr("backends.kv_cache.SMALLEST_CAPACITY", 8)  # so that slots grow, too


@pytest.mark.parametrize("name", BACKENDS)
def test_attention_equals_whole_attention_with_a_mask(name: str) -> None:
    walk, moved, longest = Walk(name), 0, 0
    for one, hidden in walk.steps(80):
        want = walk.model.expected(one.ids, len(hidden))
        assert np.abs(hidden - want).max() <= 1e-4 * np.abs(want).max()
        moved += any(one.slot.place.firsts.values())
        longest = max(longest, len(one.ids))
    assert moved > 60
    assert longest > 60


@pytest.mark.parametrize("bits", [16, 8, 4])
@pytest.mark.parametrize("name", BACKENDS)
def test_quantized_windows_equal_quantized_rows_that_all_stay(name: str, bits: int) -> None:
    walk, whole = Walk(name, bits), Walk(name, bits, WholeSpec)
    for one, hidden in walk.steps(60):
        other = whole.begin()
        want = whole.add([(other, one.ids)])[0][-len(hidden) :]
        whole.kv.close(other.slot)
        assert np.abs(hidden - want).max() <= 1e-3 * np.abs(want).max()


@pytest.mark.parametrize("name", BACKENDS)
def test_memory_does_not_grow_past_the_window(name: str) -> None:
    windows = [KVSpec(KV_HEADS, DIM, window=5)] * 3
    kv = BACKENDS[name]().kv(windows, 1 << 28)
    assert kv.bytes_for(1 << 20) == kv.bytes_for(64) == (5 + MARGIN + STEP) * 3 * 2 * KV_HEADS * DIM * 4
    slot = kv.open(1 << 20)
    assert slot is not None
    assert kv.used == kv.bytes_for(64)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_step_that_the_window_cannot_take_changes_nothing(name: str) -> None:
    walk = Walk(name)
    one = walk.begin()
    for _ in range(6):
        walk.add([(one, walk.some(STEP))])
    before = one.slot.length
    assert walk.kv.grow(one.slot, before + 64)
    with pytest.raises(ValueError, match="takes at most"):
        walk.runner.run([Segment(one.slot, [1] * 40)])
    assert one.slot.length == before
    hidden = walk.add([(one, [1, 2])])[0]
    np.testing.assert_allclose(hidden, walk.model.expected(one.ids, 2), atol=1e-4)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_window_that_has_moved_on_cannot_be_truncated(name: str) -> None:
    walk = Walk(name)
    one = walk.begin()
    for _ in range(40):
        walk.add([(one, [7])])
    assert not walk.kv.can_truncate(one.slot, 3)
    assert walk.kv.can_truncate(one.slot, 39)
    for refused in (lambda: walk.kv.truncate(one.slot, 3), lambda: walk.kv.copy(one.slot, walk.begin().slot, 3)):
        with pytest.raises(ValueError, match="moved on"):
            refused()


def test_what_may_forget() -> None:
    window, full, state = KVSpec(1, 8, window=5), KVSpec(1, 8), StateSpec(1, 2, 1, 1, 1)
    assert [may_forget(specs, 1 << 20) for specs in ([full], [], [full, state], [full, window])] == [False, *[True] * 3]
    assert not may_forget([full, window], 5 + MARGIN + STEP)


@pytest.mark.parametrize(
    ("spec", "length", "shorter", "serves"),
    [
        (KVSpec(1, 8), 40, 7, True),
        (StateSpec(1, 2, 1, 1, 1), 40, 39, False),
        (StateSpec(1, 2, 1, 1, 1), 40, 40, True),
        (KVSpec(1, 8, window=5), 8, 1, True),
        (KVSpec(1, 8, window=5), 40, 38, True),
        (KVSpec(1, 8, window=5), 40, 30, False),
        (None, 9, 9, True),
        (None, 9, 8, False),
    ],
)
def test_what_a_copy_serves_for(spec: KVSpec | StateSpec | None, length: int, shorter: int, serves: bool) -> None:
    specs = [spec] if spec is not None else []
    assert copy_can_truncate(specs, length, shorter) is serves
    if spec is not None:
        firsts = {5: max(0, length - 5 - MARGIN)} if isinstance(spec, KVSpec) and spec.window else {}
        assert can_truncate(specs, Slot(0, length, place=SlotPlace(0, 0, firsts)), shorter) is serves
