"""Steps that ask for each row's largest logit alone get what all logits would have given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backends.base import Sampling, Segment, SegmentOutput
from backends.torch import greedy_head
from backends.torch.greedy_head import GREEDY_TOKENS, Best
from backends.torch.kernels import arena, library
from tests.backends.test_torch_tracing import Side, tokens
from tests.checkpoints import save

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())


@pytest.fixture(params=["f32, by shortlist", "f32", "q8_0"])
def side(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Side:
    if "shortlist" in request.param:  # a small head is taken for a large one
        monkeypatch.setattr(greedy_head, "SHORTLIST_WEIGHTS", 1)
        monkeypatch.setattr(greedy_head, "SHORTLIST_SHARE", 1 / 2)
    save("qwen3", tmp_path)
    made = Side(tmp_path, recorded=True, quant="q8_0" if request.param == "q8_0" else None)
    replies(made, Sampling(), 2)
    greedy = made.runner._greedy
    assert greedy is not None
    assert (greedy.shortlist is not None) == ("shortlist" in request.param)
    arena.wait()
    if greedy.shortlist is not None:
        x = torch.from_numpy(np.random.default_rng(0).standard_normal((1, greedy.head.columns), np.float32))
        where = torch.empty(1), torch.empty(1, dtype=torch.int64)
        assert greedy.shortlist.argmax(x.data_ptr(), 1, x.stride(0), *(t.data_ptr() for t in where), None, 1)
    return made


def replies(side: Side, sampling: Sampling, steps: int = 12, count: int = 3, **asked: Any) -> list[list[SegmentOutput]]:
    slots = [slot for _ in range(count) if (slot := side.kv.open(60)) is not None]
    made = []
    segments = [Segment(slot, tokens(4 + i, i), sample=sampling, **asked) for i, slot in enumerate(slots)]
    for _ in range(steps):
        read = side.runner.run(segments).read()
        made.append([read[slot] for slot in slots])
        segments = [Segment(slot, sample=sampling, **asked) for slot in slots]
    for slot in slots:
        side.kv.close(slot)
    return made


def texts(made: list[list[SegmentOutput]]) -> list[list[list[int]]]:
    return [[token.ids for token in step] for step in made]


@pytest.mark.parametrize("count", [1, 3, GREEDY_TOKENS, GREEDY_TOKENS + 1])
def test_replies_are_those_of_all_logits(side: Side, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = texts(replies(side, Sampling(), count=count))
    monkeypatch.setattr(side.runner, "_greedy", None)
    assert found == texts(replies(side, Sampling(), count=count))


@pytest.mark.parametrize(
    ("sampling", "asked"),
    [
        (Sampling(temperature=1.0), {}),
        (Sampling(logprobs=0), {}),
        (Sampling(logprobs=2, approximate_logprobs=True), {}),
        (Sampling(bias={3: 50.0}), {}),
        (Sampling(mask=np.arange(1000) % 7 == 3), {}),
        (Sampling(repetition=1.5, repeated=[1, 2]), {}),
        (Sampling(presence=1.0, seen={1: 2}), {}),
        (Sampling(), {"want": range(1)}),
    ],
)
def test_what_asks_for_more_gets_all_logits(
    side: Side, sampling: Sampling, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(x: torch.Tensor, likely: bool = False) -> None:
        raise AssertionError("the largest logit cannot tell this")

    monkeypatch.setattr(side.runner._greedy, "best", refused)
    for step in replies(side, sampling, 3, **asked):
        for token in step:
            assert len(token.ids) == 1
            assert (token.logits is not None) == bool(asked)
            assert (token.logprobs is not None) == (sampling.logprobs is not None)


def test_a_confidence_comes_with_it(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    greedy: Any = side.runner._greedy
    asked, best = [], greedy.best

    def watched(x: torch.Tensor, likely: bool = False) -> Best:
        asked.append(likely)
        found: Best = best(x, likely)
        return found

    monkeypatch.setattr(greedy, "best", watched)
    nearly = [token for step in replies(side, Sampling(logprobs=0, approximate_logprobs=True)) for token in step]
    assert asked == [True] * 12
    exactly = [token for step in replies(side, Sampling(logprobs=0)) for token in step]
    assert [token.ids for token in nearly] == [token.ids for token in exactly]
    for one, other in zip(nearly, exactly):
        assert one.logprobs == pytest.approx(other.logprobs, abs=0.01)
        assert one.top == [[]]


def test_one_row_may_ask_for_a_confidence_and_its_neighbour_not(side: Side) -> None:
    slots = [slot for _ in range(2) if (slot := side.kv.open(60)) is not None]
    asked = Sampling(), Sampling(logprobs=0, approximate_logprobs=True)
    read = side.runner.run([Segment(slot, tokens(4, 0), sample=one) for slot, one in zip(slots, asked)]).read()
    assert read[slots[0]].logprobs is None
    sure = read[slots[1]].logprobs
    assert sure is not None
    assert sure[0] < 0


def test_guesses_are_judged_by_it(side: Side) -> None:
    alone = [step[0].ids[0] for step in replies(side, Sampling(), count=1)]
    slot = side.kv.open(60)
    assert slot is not None
    first = side.runner.run([Segment(slot, tokens(4, 0), sample=Sampling())]).read()[slot]
    assert first.ids == alone[:1]
    guesses = [alone[0], alone[1], alone[2], alone[3] + 1]
    token = side.runner.run([Segment(slot, guesses, samples=[Sampling()] * 3, sample=Sampling(), draft=3)]).read()[slot]
    assert token.ids == alone[1:4]
    assert token.accepted == 2


def test_no_number_is_told(side: Side) -> None:
    slot = side.kv.open(60)
    assert slot is not None
    width = side.model.embed(torch.zeros(1, dtype=torch.int64)).shape[1]
    token = side.runner.run([Segment(slot, embeds=np.full((2, width), np.nan, np.float32), sample=Sampling())]).read()[
        slot
    ]
    assert token.nan
    assert token.ids == []
