"""Recurrent states after rejected draft tokens: exactly those after the accepted ones, without another pass of the model"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from backends.base import Sampling, Segment, Slot
from backends.torch.kernels import library
from backends.torch.tensors import copy_memory
from engine.loading import LoadOptions, load
from tests.asserting import every
from tests.checkpoints import save

GREEDY = Sampling()


class Passes:
    """A loaded model, and how many tokens each of its passes had."""

    def __init__(self, folder: Path, backend: str, traced: bool) -> None:
        loaded = load(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none"))
        self.kv, self.runner = loaded.kv, loaded.runner
        self.tokens: list[int] = []
        if backend == "torch" and not traced:
            self.runner._may_trace = False  # type: ignore[attr-defined]
        run = self.runner.run

        def counted(segments: Any) -> Any:
            self.tokens.append(sum(map(len, segments)))
            return run(segments)

        self.runner.run = counted  # type: ignore[method-assign]

    def open(self) -> Slot:
        slot = self.kv.open(60)
        assert slot is not None
        return slot

    def logits(self, slot: Slot, ids: list[int]) -> np.ndarray:
        found = self.runner.run([Segment(slot, ids, want=range(len(ids)))]).read()[slot].logits
        assert found is not None
        return found


@pytest.fixture(scope="module", params=["qwen3_5", "lfm2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(request.param, tmp_path_factory.mktemp("states") / request.param, "old")


@pytest.mark.parametrize(("backend", "traced"), [("torch", True), ("torch", False), ("mlx", True)])
def test_states_are_those_after_the_accepted_tokens(folder: Path, backend: str, traced: bool) -> None:
    model = Passes(folder, backend, traced)
    prompts = [np.random.default_rng(seed).integers(0, 250, 9 + seed).tolist() for seed in range(2)]
    true: list[list[int]] = []
    for prompt in prompts:
        known = list(prompt)
        for _ in range(8):
            known.append(int(model.logits(slot := model.open(), known)[-1].argmax()))
            model.kv.close(slot)
        true.append(known[len(prompt) :])
    slots = [model.open() for _ in prompts]
    for slot, prompt in zip(slots, prompts):
        model.logits(slot, prompt)
    # in one step one of four draft tokens is right in one sequence, and two of three in the other
    segments = []
    for slot, tokens, drafted, right in zip(slots, true, (4, 3), (1, 2)):
        drafts = [*tokens[1 : 1 + right], *((t + 1) % 250 for t in tokens[1 + right : 1 + drafted])]
        ids = [tokens[0], *drafts]
        segments.append(Segment(slot, ids, sample=GREEDY, samples=[GREEDY] * drafted, draft=drafted))
    model.tokens.clear()
    outputs = model.runner.run(segments).read()
    assert model.tokens == [9], "a rejected draft token must not cost another pass"
    assert [outputs[slot].accepted for slot in slots] == [1, 2]
    assert [slot.length for slot in slots] == [len(prompts[0]) + 2, len(prompts[1]) + 3]
    fresh = [model.open() for _ in prompts]
    for slot, other, prompt, tokens, kept in zip(slots, fresh, prompts, true, (2, 3)):
        model.logits(other, prompt)
        for token in tokens[:kept]:
            model.logits(other, [token])
        np.testing.assert_allclose(
            model.logits(slot, [tokens[kept]]), model.logits(other, [tokens[kept]]), atol=2e-5, rtol=1e-5
        )
    # and the sequences go on together, another draft included
    more = [
        Segment(slot, [tokens[k + 1], 3], sample=GREEDY, samples=[GREEDY], draft=1)
        for slot, tokens, k in zip(slots, true, (2, 3))
    ]
    after = model.runner.run(more).read()
    assert every(after[slot].ids[0] == tokens[k + 2] for slot, tokens, k in zip(slots, true, (2, 3)))


def test_a_rejected_draft_moves_no_states_of_other_sequences(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many cached conversations it would take longer than the step."""
    copied: list[int] = []

    def counted(to: Tensor, source: Tensor) -> None:
        copied.append(source.nbytes)
        copy_memory(to, source)

    monkeypatch.setattr("backends.torch.state_tables.copy_memory", counted)
    model = Passes(folder, "torch", True)
    slots = [model.open() for _ in range(4)]
    prompts = [np.random.default_rng(seed).integers(0, 250, 5 + seed).tolist() for seed in range(4)]
    for slot, prompt in zip(slots, prompts):
        model.logits(slot, prompt)
    ids = list(prompts[0])
    for step in range(4):
        segment = Segment(slots[0], [7, 3, 4], sample=GREEDY, samples=[GREEDY] * 2, draft=2)
        accepted = model.runner.run([segment]).read()[slots[0]].accepted
        assert accepted < 2
        ids.extend([7, 3, 4][: 1 + accepted])
        if step == 0:
            # what has been written since a sequence's spares were made is copied once; without kernels there are none
            assert bool(copied) == library.available()
            copied.clear()
    assert not copied
    for slot, tokens in zip(slots, [ids, *prompts[1:]]):
        whole = model.open()
        want = model.logits(whole, [*tokens, 9])[-1]
        np.testing.assert_allclose(model.logits(slot, [9])[-1], want, atol=2e-5, rtol=1e-5)
        model.kv.close(whole)


def test_states_beside_a_step_stay_though_a_slot_has_closed(folder: Path) -> None:
    """Its row of states was equal to its spare, which counts no more."""
    model = Passes(folder, "torch", True)
    slots = [model.open() for _ in range(3)]
    for slot in slots:
        model.logits(slot, [5, 6, 7])
    before = model.kv.snapshot(slots[1])
    model.logits(slots[1], [9])
    model.logits(slots[0], [7])
    model.kv.close(slots[2])
    model.kv.restore(slots[1], before)
    model.logits(slots[0], [8])
    after = model.kv.snapshot(slots[1])
    for own, other in zip(*map(model.kv.export_snapshot, (before, after)), strict=True):
        np.testing.assert_array_equal(own, other)
