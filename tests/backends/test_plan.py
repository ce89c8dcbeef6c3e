"""Packing: single tokens first and grouped, chunks after; positions, picked rows, and drafts."""

import numpy as np
import pytest

from backends.base import Sampling, Segment
from backends.kv_cache import RowTable
from backends.plan import accept, make_plan, sampled_tokens


def slots(*lengths: int):
    table = RowTable()
    made = [table.open(max(1, n) + 20) for n in lengths]
    for slot, n in zip(made, lengths):
        slot.length = n
    return made


def test_single_tokens_come_first_grouped_by_class_and_row() -> None:
    a, b, c, d = slots(10, 400, 20, 5)
    plan = make_plan([Segment(b, [7], sample=Sampling()), Segment(d, [1, 2, 3]), Segment(c, [8]), Segment(a, [9])])
    assert [s.slot for s in plan.segments] == [a, c, b, d]
    assert [(g.capacity, g.rows, g.lengths) for g in plan.groups] == [(256, [0, 1], [11, 21]), (512, [0], [401])]
    assert plan.groups[0].first_row_if_dense() == 0
    assert plan.ids.tolist() == [9, 8, 7, 1, 2, 3]
    assert plan.pos.tolist() == [10, 20, 400, 5, 6, 7]
    assert plan.picked.tolist() == [2]


def test_rows_that_are_not_neighbours_are_not_dense() -> None:
    a, b, c = slots(1, 1, 1)
    assert make_plan([Segment(a, [1]), Segment(c, [1])]).groups[0].first_row_if_dense() is None
    assert make_plan([Segment(b, [1]), Segment(c, [1])]).groups[0].first_row_if_dense() == 1


def test_held_tokens_and_multi_axis_positions() -> None:
    a, b = slots(3, 4)
    pos = np.array([[1, 2], [3, 4], [5, 6]])
    plan = make_plan([Segment(a), Segment(b, embeds=np.zeros((2, 8)), pos=pos)])
    assert plan.continued == [0]
    assert plan.pos.tolist() == [[3, 1, 2], [3, 3, 4], [3, 5, 6]]
    assert not plan.tokens_are_plain


def test_wanted_and_sampled_rows_share_one_list() -> None:
    (a,) = slots(0)
    plan = make_plan([Segment(a, [1, 2, 3, 4], sample=Sampling(), want=range(1, 4))])
    assert plan.picked.tolist() == [1, 2, 3]
    assert plan.sampled.tolist() == [2]


def test_a_draft_samples_every_row_it_needs() -> None:
    a, b = slots(5, 5)
    draft = Segment(
        a, [1, 10, 11, 12], sample=Sampling(noise=0.4), samples=[Sampling(noise=i / 10) for i in range(3)], draft=3
    )
    plan = make_plan([draft, Segment(b, [3], sample=Sampling(noise=0.9))])
    assert [s.noise for s in plan.samplings] == [0.9, 0.0, 0.1, 0.2, 0.4]
    tokens = sampled_tokens(plan, [77, 10, 11, 99, 98], [1.0] * 5)
    assert tokens[a].ids == [10, 11, 99]
    assert tokens[a].accepted == 2
    assert tokens[b].ids == [77]


@pytest.mark.parametrize(
    ("sampled", "ids", "right"), [([4, 5, 6], [4, 5, 6], 2), ([9, 5, 6], [9], 0), ([4, 9, 6], [4, 9], 1)]
)
def test_accept_keeps_what_sampling_agrees_with(sampled: list[int], ids: list[int], right: int) -> None:
    (a,) = slots(0)
    segment = Segment(a, [3, 4, 5], sample=Sampling(), samples=[Sampling(), Sampling()], draft=2)
    assert accept(segment, sampled) == (ids, right)


def test_what_cannot_run_is_refused_before_anything_changes() -> None:
    a, b = slots(3, 3)
    with pytest.raises(ValueError, match="two segments"):
        make_plan([Segment(a, [1]), Segment(a, [2])])
    with pytest.raises(ValueError, match="empty"):
        make_plan([Segment(a, [])])
    with pytest.raises(ValueError, match="room"):
        make_plan([Segment(a, list(range(300)))])
    with pytest.raises(ValueError, match="draft"):
        make_plan([Segment(a, [1, 2], draft=1, sample=Sampling())])
    b.open = False
    with pytest.raises(ValueError, match="closed"):
        make_plan([Segment(b, [1])])
    assert a.length == 3
