"""The decode step of fixed shape gives what the usual way gives. What recording adds needs a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from backends.base import Sampling, Segment
from backends.torch.cuda_graphs import DecodeGraphs
from tests.backends.torch_toy import Rig, prompt


class Unrecorded:
    """Runs the step as recording would: once when made, then on each replay."""

    def __init__(self, step, args) -> None:
        self.step = step
        step(*args)

    def replay(self, args):
        return self.step(*args)


def rig_of(*layers, bits=32) -> tuple[Rig, list]:
    rig, made = Rig(*layers, bits=bits), []
    rig.kv.swaps_states = False

    def record(step, args):
        made.append([a.shape[0] for a in args])
        return Unrecorded(step, args)

    rig.runner.graphs = DecodeGraphs(rig.model, rig.kv, record)
    return rig, made


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("layers", [("full", "window", "shared"), ("full", "delta", "delta"), ("full", "scan", "conv")])
def test_steps_of_any_batch_equal_the_usual_way(layers, bits):
    rig, made = rig_of(*layers, bits=bits)
    usual = Rig(*layers, bits=bits)
    pairs = []
    for i in range(5):
        pairs.append((rig.kv.open(30), usual.kv.open(30)))
        for r, slot in zip((rig, usual), pairs[-1]):
            r.runner.run([Segment(slot, prompt(3 + i, i), sample=Sampling())]).read()
        for _ in range(3):
            outs = []
            for side, r in enumerate((rig, usual)):
                segments = [Segment(pair[side], sample=Sampling(), want=range(1)) for pair in reversed(pairs)]
                outs.append(r.runner.run(segments).read())
            for mine, theirs in pairs:
                assert outs[0][mine].ids == outs[1][theirs].ids
                np.testing.assert_allclose(outs[0][mine].logits, outs[1][theirs].logits, atol=1e-3)
        if i == 3:
            for side, r in enumerate((rig, usual)):
                r.kv.close(pairs[1][side])
            del pairs[1]
    inputs = 5 if "window" in layers else 4  # the lengths that a window sees are one more
    assert {tuple(shapes) for shapes in made} == {(n,) * inputs for n in (1, 2, 4)}
    assert len(made) < 12


def test_hidden_states_outlive_the_next_replay():
    class Overwriting(Unrecorded):
        """Hands out the same tensors every time, as a recording does."""

        def replay(self, args):
            now = self.step(*args)
            self.held = getattr(self, "held", now)
            for held, new in zip(self.held, now):
                held.copy_(new)
            return self.held

    rig, usual = Rig("full"), Rig("full")
    rig.runner.graphs = DecodeGraphs(rig.model, rig.kv, Overwriting)
    mine, theirs = rig.kv.open(10), usual.kv.open(10)
    issued = [rig.runner.run([Segment(mine, [token], hidden=True)]) for token in (3, 4)]
    whole = usual.runner.run([Segment(theirs, [3, 4], hidden=True)]).read()[theirs].hidden
    found = np.concatenate([pending.read()[mine].hidden for pending in issued])
    np.testing.assert_allclose(found, whole, atol=2e-4)


@pytest.mark.parametrize("bits", [32, 8])
@pytest.mark.parametrize("layers", [("full", "window"), ("full", "delta", "delta"), ("full", "scan", "conv")])
def test_rows_of_idle_sequences_are_padding_and_stay_what_they_are(layers, bits):
    """Device-free: that a recording of this shape pays on CUDA is not measured."""
    rig, made = rig_of(*layers, bits=bits)
    usual = Rig(*layers, bits=bits)
    pairs = [(rig.kv.open(30), usual.kv.open(30)) for _ in range(5)]
    for number, pair in enumerate(pairs):
        for r, slot in zip((rig, usual), pair):
            r.runner.run([Segment(slot, prompt(3 + number, number), sample=Sampling())]).read()
    assert made == []
    for _ in range(3):
        outs = []
        for side, r in enumerate((rig, usual)):
            segments = [Segment(pairs[number][side], sample=Sampling(), want=range(1)) for number in (4, 1, 3)]
            outs.append(r.runner.run(segments).read())
        for number in (4, 1, 3):
            mine, theirs = (outs[side][pairs[number][side]] for side in (0, 1))
            assert mine.ids == theirs.ids
            np.testing.assert_allclose(mine.logits, theirs.logits, atol=2e-4)
    assert [shapes[0] for shapes in made] == [8]
    for number in (0, 2):  # idle all the while: they go on as if nothing had happened
        outs = [r.runner.run([Segment(slot, sample=Sampling(), want=range(1))]).read()[slot]
                for r, slot in zip((rig, usual), pairs[number])]  # fmt: skip
        assert outs[0].ids == outs[1].ids
        np.testing.assert_allclose(outs[0].logits, outs[1].logits, atol=2e-4)
    assert [shapes[0] for shapes in made] == [8]  # one recording for all of these batches


def test_windows_move_on_in_busy_and_idle_rows(monkeypatch):
    monkeypatch.setattr("backends.kv_cache.WINDOW_MARGIN", 3)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", 4)
    rig, made = rig_of("full", "window")
    usual = Rig("full", "window")
    pairs = [(rig.kv.open(60), usual.kv.open(60)) for _ in range(2)]
    for at in range(40):
        for number, pair in enumerate(pairs):
            if number and at % 3 == 0:  # this one sits idle at every length of its window's rows
                continue
            outs = [r.runner.run([Segment(slot, [at + number], sample=Sampling(), want=range(1))]).read()[slot]
                    for r, slot in zip((rig, usual), pair)]  # fmt: skip
            np.testing.assert_allclose(outs[0].logits, outs[1].logits, atol=2e-4)
    assert made
    assert pairs[0][0].place.firsts[5] > 20


def test_a_full_idle_row_has_no_place_to_pad_in():
    rig, made = rig_of("full")
    full, other = rig.kv.open(256), rig.kv.open(10)
    rig.runner.run([Segment(full, prompt(256, 1))]).read()
    rig.runner.run([Segment(other, [1])]).read()
    assert made == []


def test_what_does_not_fit_goes_the_usual_way():
    rig, made = rig_of("full")
    a, b, long = rig.kv.open(10), rig.kv.open(10), rig.kv.open(300)
    table = rig.model.table
    for segments in (
        [Segment(a, [1, 2])],
        [Segment(a, [1]), Segment(b, [1]), Segment(long, [1])],
        [Segment(a, [1]), Segment(b, embeds=table[:1])],
        [Segment(a, [1], pos=np.zeros((3, 1))), Segment(b, [1])],
    ):
        rig.runner.run(segments).read()
    assert made == []
    rig.runner.run([Segment(a, [1]), Segment(b, [1])]).read()
    rig.runner.run([Segment(long, [1])]).read()
    assert [shapes[0] for shapes in made] == [2, 1]
    cross, made = rig_of("full", "cross")
    cross.runner.warm()
    assert made == []
