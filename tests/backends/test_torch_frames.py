"""Frames of codes: one call of the kernels gives what the operations one by one give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from backends.base import FramePredictorParts, FrameSampling, KVSpec
from backends.frames import EagerFramePredictor
from backends.torch.frames import TorchFrames
from backends.torch.kernels import library
from tests.backends.kernels.weights_made_here import make
from tests.backends.test_torch_recorded import Side
from tests.checkpoints import save

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())
CODES, VOCAB = 5, 96
GREEDY, DRAWN = FrameSampling(0.0, 1, 1.0), FrameSampling(0.9, 20, 0.95)


def parts_of(side: Side, kind: str, narrow: bool) -> FramePredictorParts:
    """The layers of a tiny model between heads and embeddings of one type."""
    inner = side.model.embed(torch.zeros(1, dtype=torch.int32)).shape[1]
    width = 2 * inner if narrow else inner

    def linear(rows: int, columns: int, seed: int) -> object:
        return side.backend.linear([make(kind, rows, columns, seed=seed).weight], [None])

    return FramePredictorParts(
        side.model,
        [spec for spec in side.model.memory if isinstance(spec, KVSpec)],
        [linear(VOCAB, inner, i) for i in range(CODES)],
        [linear(VOCAB, width, 10 + i) for i in range(CODES)],
        linear(inner, width, 20) if narrow else None,
    )


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("kind", ["Q8_0", "F32", "F16", "BF16"])
def test_frames_of_any_number_of_sequences(tmp_path: Path, kind: str, narrow: bool) -> None:
    side = Side(save("qwen3", tmp_path / "qwen3"), recorded=False)
    parts = parts_of(side, kind, narrow)
    mine, plain = side.backend.frame_predictor(parts), EagerFramePredictor(side.backend.ops, parts)
    rng = np.random.default_rng(0)
    width = parts.embeddings[0].shape[1]
    for n in (1, 3, 2, 1):
        hidden = torch.from_numpy(rng.standard_normal((n, width), np.float32))
        first = torch.from_numpy(rng.standard_normal((n, width), np.float32))
        ids = torch.arange(n, dtype=torch.int32)
        noise, random = rng.random((n, CODES), np.float32), np.arange(n, dtype=np.int32) % 2
        for choice in (GREEDY, DRAWN):
            before = first.clone()
            codes, total = mine(hidden, first, ids, noise, random, choice)
            want, sums = plain(hidden, first, ids, noise, random, choice)
            assert codes.tolist() == want.tolist()
            torch.testing.assert_close(total, sums, rtol=0, atol=1e-5 * float(sums.abs().max()))
            assert torch.equal(first, before), "what is given is not written to"
    assert isinstance(mine, TorchFrames)
    assert mine.recorded


def test_frames_of_sixteen_bits(tmp_path: Path) -> None:
    """The first codes' embeddings come in bf16; what is made of them is f32, and whose sums they are."""
    side = Side(save("qwen3", tmp_path / "qwen3"), recorded=False, quant=None, dtype="bf16")
    frames = side.backend.frame_predictor(parts_of(side, "BF16", False))
    width, rng = side.model.embed(torch.zeros(1, dtype=torch.int32)).shape[1], np.random.default_rng(2)
    hidden, first = (torch.from_numpy(rng.standard_normal((3, width), np.float32)) for _ in range(2))
    ids, noise = torch.arange(3, dtype=torch.int32), rng.random((3, CODES), np.float32)
    codes, total = frames(hidden.bfloat16(), first.bfloat16(), ids, noise, np.zeros(3, np.int32), GREEDY)
    assert frames.recorded
    sums = first.bfloat16().float()
    for at, table in enumerate(frames.parts.embeddings, 1):
        sums = sums + table.rows(codes[:, at]).float()
    torch.testing.assert_close(total, sums, rtol=0, atol=1e-5 * float(sums.abs().max()))


def test_a_voice_has_the_same_frame_alone_and_in_company(tmp_path: Path) -> None:
    side = Side(save("qwen3", tmp_path / "qwen3"), recorded=False)
    frames = side.backend.frame_predictor(parts_of(side, "Q8_0", False))
    rng = np.random.default_rng(1)
    width = side.model.embed(torch.zeros(1, dtype=torch.int32)).shape[1]
    hidden, first = (torch.from_numpy(rng.standard_normal((4, width), np.float32)) for _ in range(2))
    ids, noise, random = torch.arange(4, dtype=torch.int32), rng.random((4, CODES), np.float32), np.ones(4, np.int32)
    together = frames(hidden, first, ids, noise, random, DRAWN)[0].tolist()
    for i in range(4):
        one = slice(i, i + 1)
        assert frames(hidden[one], first[one], ids[one], noise[one], random[one], DRAWN)[0].tolist() == together[one]


def test_parts_that_the_kernels_do_not_run_go_operation_by_operation(tmp_path: Path) -> None:
    side = Side(save("qwen3", tmp_path / "qwen3"), recorded=False)
    parts = parts_of(side, "F32", False)
    odd = FramePredictorParts(
        lambda step: torch.relu(side.model(step)), parts.specs, parts.heads, parts.embeddings, None
    )
    frames, width = side.backend.frame_predictor(odd), parts.embeddings[0].shape[1]
    hidden = torch.ones(1, width)
    codes, _ = frames(
        hidden, hidden, torch.zeros(1, dtype=torch.int32), np.zeros((1, CODES), np.float32), np.zeros(1), GREEDY
    )
    assert codes.shape == (1, 1 + CODES)
    assert not frames.recorded
