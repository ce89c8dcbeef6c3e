"""The largest logit of each row, for steps that ask for nothing else: one call, and for large heads of f32 not all logits."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from backends.base import Model
from backends.torch.kernels.library import library
from backends.torch.kernels.linear import AnyMatrix
from backends.torch.kernels.program import Do
from backends.torch.recorder import IN_FLOATS, NotRecorded, Recorder, Symbol
from backends.torch.shortlist import shortlist_for

TOKENS = 16  # at most: all their logits are kept as scratch memory


class Best(NamedTuple):
    logits: Tensor  # [N]
    places: Tensor  # [N]
    logprobs: Tensor | None  # [N]


class Greedy:
    def __init__(self, head: AnyMatrix) -> None:
        self.head = head
        self.library = library()
        self.shortlist = shortlist_for(head)

    def best(self, x: Tensor, likely: bool = False) -> Best:
        """Of rows `x [N, D]` (f32). Equals by the lower place; NaN where a row has one. With `likely` the logarithms of their
        probabilities, which a shortlist knows nearly."""
        x = x.contiguous()
        values, places = torch.empty(len(x)), torch.empty(len(x), dtype=torch.int64)
        mass = torch.empty(len(x)) if likely else None
        asked = (
            *(x.data_ptr(), len(x), x.stride(0), values.data_ptr(), places.data_ptr()),
            *(None if mass is None else mass.data_ptr(), torch.get_num_threads()),
        )
        if self.shortlist is None or not self.shortlist.tell(*asked):
            self.library.grus_best_of_product(self.head.handle, *asked)
        return Best(values, places, None if mass is None else -mass.log_())


def greedy_of(model: Model, width: int) -> Greedy | None:
    """None where the logits are not simply the product with one matrix."""
    recorder = Recorder(width, [], IN_FLOATS)
    try:
        logits = model.logits(recorder.x)
    except NotRecorded:
        return None
    if len(recorder.lines) != 1 or recorder.lines[0].what is not Do.MULTIPLY:
        return None
    head = recorder.lines[0].fields["matrix"]
    if not isinstance(logits, Symbol) or logits.shape != (recorder.TOKENS, head.rows_each):
        return None
    return Greedy(head)
