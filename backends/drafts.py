"""After a draft was judged: make its slot as long as if only the right guesses had been given. Array-free, shared.

A model that only attends forgets the wrong rows. A recurrent one returns to the mark that was set before the step and
runs the tokens that were right once more, without sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.base import KVCache, Segment, SegmentOutput, Slot


def checkpoint_drafts(kv: KVCache, segments: Sequence[Segment]) -> None:
    """Before the step."""
    for segment in segments:
        if segment.draft:
            kv.checkpoint(segment.slot)


def roll_back_drafts(
    kv: KVCache, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput], run: Callable[[list[Segment]], Any]
) -> None:
    """After it. `run` issues a step."""
    again: list[Segment] = []
    for segment in segments:
        token = tokens[segment.slot]
        if not segment.draft or token.nan or token.accepted == segment.draft:
            continue
        assert segment.ids is not None
        keep = len(segment.ids) - segment.draft + token.accepted
        kept = kv.rollback(segment.slot, keep)
        if kept < keep:
            pos = None if segment.pos is None else segment.pos[..., kept:keep]
            again.append(Segment(segment.slot, segment.ids[kept:keep], pos=pos))
    if again:
        run(again)
