"""Layers that remember for a moment: a pass in one call of the kernels gives what the operations one by one give."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from backends.brief import PlainBrief
from backends.torch.brief import TorchBrief
from backends.torch.kernels import library
from tests.backends.test_torch_recorded import Side
from tests.checkpoints import save

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())
LONGEST = 6


def test_sequences_of_any_number_that_begin_anew(tmp_path: Path) -> None:
    side = Side(save("qwen3", tmp_path / "qwen3"), recorded=False)
    width = side.model.embed(torch.zeros(1, dtype=torch.int32)).shape[1]
    mine = side.backend.brief(side.model, side.model.memory, LONGEST)
    plain = PlainBrief(side.backend.ops, side.model)
    random = torch.Generator().manual_seed(0)
    for n in (1, 3, 1):
        got, want = mine.begin(n), plain.begin(n)
        for each in (2, 1, 1, 2):
            x = torch.randn(n * each, width, generator=random)
            expected = want(x)
            torch.testing.assert_close(got(x.clone()), expected, rtol=0, atol=2e-2 * float(expected.abs().max()))
    assert isinstance(mine, TorchBrief)
    assert mine.recorded


def test_more_tokens_than_it_was_made_for_are_refused(tmp_path: Path) -> None:
    side = Side(save("qwen3", tmp_path / "qwen3"), recorded=False)
    width = side.model.embed(torch.zeros(1, dtype=torch.int32)).shape[1]
    more = side.backend.brief(side.model, side.model.memory, LONGEST).begin(1)
    more(torch.zeros(LONGEST, width))
    with pytest.raises(ValueError, match="6"):
        more(torch.zeros(1, width))
