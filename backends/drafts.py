"""After a draft was judged: make its slot as long as if only the right guesses had been given. Array-free, shared.

A model that only attends forgets the wrong rows. A recurrent one returns to the mark that was set before the step and
runs the tokens that were right once more, without sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.base import KV, Seg, Slot, Token


def mark_drafts(kv: KV, segs: Sequence[Seg]) -> None:
    """Before the step."""
    for seg in segs:
        if seg.draft:
            kv.mark(seg.slot)


def settle_drafts(kv: KV, segs: Sequence[Seg], tokens: Mapping[Slot, Token], run: Callable[[list[Seg]], Any]) -> None:
    """After it. `run` issues a step."""
    again: list[Seg] = []
    for seg in segs:
        token = tokens[seg.slot]
        if not seg.draft or token.nan or token.accepted == seg.draft:
            continue
        assert seg.ids is not None
        keep = len(seg.ids) - seg.draft + token.accepted
        kept = kv.rollback(seg.slot, keep)
        if kept < keep:
            pos = None if seg.pos is None else seg.pos[..., kept:keep]
            again.append(Seg(seg.slot, seg.ids[kept:keep], pos=pos))
    if again:
        run(again)
