"""Mixtures for whose experts memory has no room: these are used where they lie in their file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Segment
from backends.torch.kernels import arena, hot_experts
from backends.torch.kernels.packed import PackedMatrix
from engine.describe import describe
from engine.errors import OutOfMemory
from engine.loading import LoadedModel, LoadOptions, load, weight_bytes
from engine.shares import LEAST_KV
from engine.weights.convert import convert
from tests.checkpoints import save

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]


@pytest.fixture(scope="module", params=["qwen3_moe", "qwen3_5_moe"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixture")
    return convert(save(request.param, folder / "whole"), folder / "m.gguf", quant="q8_0")


def options(limit: int | None = None, backend: str = "torch") -> LoadOptions:
    return LoadOptions(backend=backend, device="cpu", dtype="f32", memory_limit=limit)


def logits(loaded: LoadedModel) -> np.ndarray:
    slot = loaded.kv.open(len(PROMPT))
    return np.asarray(loaded.runner.run([Segment(slot, PROMPT, want=range(len(PROMPT)))]).read()[slot].logits)


def test_a_mixture_that_is_larger_than_memory_gives_the_same_logits(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load(str(file), options())
    want, size = logits(whole), whole.weight_bytes
    assert "stay in the file" not in caplog.text
    whole.close()
    packed_later: list[int] = []
    copied: list[int] = []
    monkeypatch.setattr(arena, "schedule", lambda matrix: packed_later.append(getattr(matrix, "experts", 1)))
    fill = PackedMatrix.fill

    def noted(matrix: PackedMatrix, *given: Any, **more: Any) -> None:
        copied.append(matrix.experts)
        fill(matrix, *given, **more)

    monkeypatch.setattr(PackedMatrix, "fill", noted)
    tight = options(LEAST_KV + size - 1)
    loaded = load(str(file), tight)
    assert loaded.weight_bytes < size
    assert weight_bytes(str(file), tight) == loaded.weight_bytes
    about, all_of_it = describe(str(file), tight), describe(str(file), options())
    copies = (about.file_bytes - 1) // 2  # of what is used most
    assert (about.file_bytes, all_of_it.file_bytes) == (size - loaded.weight_bytes + copies, 0)
    assert about.memory_needed == all_of_it.memory_needed - about.file_bytes
    assert "stay in the file" in caplog.text
    assert packed_later
    assert set(packed_later) == {1}, "experts are not packed"
    assert not any(experts > 1 for experts in copied), "nor copied"
    assert np.array_equal(logits(loaded), want)
    loaded.close()


def staying(file: Path) -> tuple[LoadedModel, np.ndarray]:
    """The model with its experts in the file, and the logits that it must give."""
    whole = load(str(file), options())
    want, size = logits(whole), whole.weight_bytes
    whole.close()
    return load(str(file), options(LEAST_KV + size - 1)), want


def test_experts_that_are_used_most_are_kept_packed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot_experts, "LOOKED", 2)
    loaded, want = staying(file)
    hot = loaded.backend._hot  # type: ignore[attr-defined]
    room = hot.room
    assert room > 0
    kept = []
    for _ in range(80):
        assert np.array_equal(logits(loaded), want), "bit for bit, whatever of it is kept"
        kept.append(hot.kept)
    assert kept[0] == 0
    assert kept == sorted(kept), "one by one"
    least = min(one.each for one in hot._mixtures)
    assert room - least < hot.kept <= room, "as many as have room"
    assert hot.kept == sum(int((one.kept != 0).sum()) * one.each for one in hot._mixtures)
    scores = np.concatenate([one.score for one in hot._mixtures if one.each == least])
    packed = np.concatenate([one.kept != 0 for one in hot._mixtures if one.each == least])
    assert 2 * scores[packed].min() >= scores[~packed].max()
    loaded.close()


def test_what_is_not_used_any_more_makes_room_for_what_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot_experts, "LOOKED", 1)
    loaded, want = staying(file)
    hot = loaded.backend._hot  # type: ignore[attr-defined]
    one = hot._mixtures[0]
    hot.room = one.each  # of one expert
    for expert in (1, 3):
        for _ in range(8):
            one.uses[expert] += 9
            hot.turn()
        assert np.flatnonzero(one.kept).tolist() == [expert]
    one.uses[1] += 9  # not twice as much as the other one had
    hot.turn()
    assert np.flatnonzero(one.kept).tolist() == [3]
    assert np.array_equal(logits(loaded), want)
    loaded.close()


def test_experts_that_are_no_blocks_cannot_stay(tmp_path: Path) -> None:
    """They would be copied, whatever the line before has promised."""
    plain = convert(save("qwen3_moe", tmp_path / "whole", dtype="bfloat16"), tmp_path / "m.gguf")
    whole = weight_bytes(str(plain), options())
    assert whole is not None
    with pytest.raises(OutOfMemory, match="leaves no room for a conversation"):
        load(str(plain), options(LEAST_KV + whole - 1))


def test_what_has_no_room_without_its_experts_is_refused(file: Path) -> None:
    for backend, limit in (("torch", LEAST_KV + 1000), ("mlx", LEAST_KV + file.stat().st_size // 2)):
        with pytest.raises(OutOfMemory, match="leaves no room for a conversation"):
            load(str(file), options(limit, backend))
