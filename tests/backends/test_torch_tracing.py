"""Layers run by the kernels in one call give what the operations one by one give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from backends.base import DType, KVCache, Sampling, Segment, Slot
from backends.torch.backend import TorchBackend
from backends.torch.kernels import library
from backends.torch.runner import TorchRunner
from engine.model_files import open_model
from engine.models.registry import find_architecture
from engine.weights.fit import fitted
from engine.weights.view import build
from tests.checkpoints import save
from tests.speech_checkpoints import save as save_listener

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())


class Side:
    def __init__(
        self, folder: Path, recorded: bool, quant: str | None = "q8_0", bits: int = 32, dtype: DType = "f32"
    ) -> None:
        self.backend = TorchBackend("cpu", dtype)
        opened = open_model(folder)
        make = find_architecture(opened.config, str(folder))
        source = fitted(opened.source, self.backend, quant)
        self.model: Any = build(lambda view: make(view, opened.config), source, self.backend)
        self.kv: KVCache = self.backend.kv(self.model.memory, 1 << 30, bits)
        self.runner: TorchRunner = self.backend.runner(self.model, self.kv)  # type: ignore[assignment]
        self.runner._may_trace &= recorded


def encoded_slot(side: Side, length: int, frames: int) -> Slot:
    """A sequence behind an encoder."""
    slot = side.kv.open(length)
    assert slot is not None
    width = side.model.layers[0].key_value.shape[1]
    features = np.random.default_rng(frames).standard_normal((frames, width), np.float32)
    side.model.begin(side.kv, slot, features)
    return slot


def listening(side: Side) -> list[np.ndarray]:
    """Sequences behind sounds of several lengths: alone, together, a prompt beside a token."""
    slots = [encoded_slot(side, 60, frames) for frames in (1, 40, 83)]
    made = []
    for counts in ((5, 0, 0), (1, 3, 0), (1, 1, 18), (1, 1, 1)):
        segments = [
            Segment(slot, tokens(n, n + i), want=range(n)) for i, (slot, n) in enumerate(zip(slots, counts)) if n
        ]
        read = side.runner.run(segments).read()
        made.extend(read[segment.slot].logits for segment in segments)
    return made


def tokens(n: int, seed: int) -> list[int]:
    return [int(i) for i in np.random.default_rng(seed).integers(0, 250, n)]


def steps(side: Side) -> list[np.ndarray]:
    """Prompts of many lengths, whole and in chunks, decoding alone and together, and both in one step."""
    slots = [side.kv.open(60) for _ in range(4)]
    slots.append(side.kv.open(300))
    made = []

    def run(*segments: Segment) -> None:
        read = side.runner.run(segments).read()
        made.extend(read[segment.slot].logits for segment in segments)

    def segment(i: int, n: int) -> Segment:
        slot = slots[i]
        assert slot is not None
        return Segment(slot, tokens(n, 10 * i + n), sample=Sampling(), want=range(n))

    run(segment(0, 1))
    run(segment(0, 40), segment(1, 2))
    run(segment(2, 17), segment(0, 1), segment(1, 1))
    run(segment(0, 1), segment(1, 1), segment(2, 1), segment(3, 16), segment(4, 33))
    run(*(segment(i, 1) for i in range(5)))
    run(segment(4, 200), segment(2, 5))
    return made


@pytest.mark.parametrize("name", ["qwen3", "qwen2", "llama", "llama_plain", "llama_dynamic", "hunyuan", "gemma3"])
def test_every_step_equals_the_usual_way(name: str, tmp_path: Path) -> None:
    folder = save(name, tmp_path / name)
    mine, usual = Side(folder, True), Side(folder, False)
    for got, want in zip(steps(mine), steps(usual)):
        np.testing.assert_allclose(got, want, atol=2e-2 * np.abs(want).max())
    assert mine.runner._traced is not None
    assert usual.runner._traced is None


ATTENDING = [
    "mistral_window",
    "ministral3",
    "gemma3n",
    "gemma4",
    "gemma4_unified",
    "muse_glimmer",
    "cohere2",
    "exaone4",
]
ATTENDING += ["olmo2", "olmo3", "glm4", "granite", "smollm3", "phi3", "bitnet"]
LATENT = ["glm4_moe_lite", "deepseek_v2", "deepseek_v3"]
RECURRENT = ["qwen3_5", "lfm2", "lfm3", "granite_hybrid_dense", "nemotron_h"]
MIXTURES = [
    "qwen3_moe",
    "ernie4_5_moe",
    "granitemoe",
    "minimax_m2",
    "gpt_oss",
    "laguna",
    "gemma4_moe",
    "qwen3_next",
    "qwen3_5_moe",
    "lfm2_moe",
    "granite_hybrid",
    "nemotron_h_moe",
]


@pytest.mark.parametrize("name", [*ATTENDING, *LATENT, *RECURRENT, *MIXTURES])
def test_every_step_of_floats_equals_the_usual_way(name: str, tmp_path: Path) -> None:
    folder = save(name, tmp_path / name)
    mine, usual = Side(folder, True, None), Side(folder, False, None)
    for got, want in zip(steps(mine), steps(usual)):
        near = 1e-4 if name.startswith("qwen3_") else 2e-5  # torch takes 64 tokens of a delta rule at once
        np.testing.assert_allclose(got, want, atol=near * np.abs(want).max())
    assert mine.runner._traced is not None


@pytest.mark.parametrize(("bits", "near"), [(16, 1e-3), (8, 2e-2), (4, 0.3)])
def test_keys_and_values_of_few_bits(bits: int, near: float, tmp_path: Path) -> None:
    """What is written with other rounding behind it takes another code here and there."""
    folder = save("qwen3", tmp_path / "qwen3")
    mine, usual = Side(folder, True, None, bits), Side(folder, False, None, bits)
    for got, want in zip(steps(mine), steps(usual)):
        np.testing.assert_allclose(got, want, atol=near * np.abs(want).max())
    assert mine.runner._traced is not None


def test_values_beyond_half_precision_become_its_greatest(tmp_path: Path) -> None:
    """Infinity would make every answer NaN."""
    folder = save("llama", tmp_path / "llama")
    file = folder / "model.safetensors"
    weights = {name: w * 1e7 if "v_proj" in name else w for name, w in load_file(file).items()}
    save_file(weights, file, {"format": "pt"})
    mine, usual = Side(folder, True, None, 16), Side(folder, False, None, 16)
    for got, want in zip(steps(mine), steps(usual)):
        assert np.isfinite(want).all()
        np.testing.assert_allclose(got, want, atol=1e-3 * np.abs(want).max())
    assert mine.runner._traced is not None
    _, values = next(iter(mine.kv.slabs[256].values()))  # type: ignore[attr-defined]
    assert values.planes[0].abs().max().item() == 65504


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("name", ["qwen3", "llama"])
def test_of_sixteen_bits(name: str, dtype: DType, tmp_path: Path) -> None:
    """As near to f32 as the operations one by one are."""
    folder = save(name, tmp_path / name)
    exact = steps(Side(folder, True, None))
    mine, usual = Side(folder, True, None, dtype=dtype), Side(folder, False, None, dtype=dtype)

    def apart(made: list[np.ndarray]) -> float:
        return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(made, exact, strict=True))

    of_mine, of_usual = apart(steps(mine)), apart(steps(usual))
    assert mine.runner._traced is not None
    assert of_mine < 1.2 * of_usual < (0.1 if dtype == "bf16" else 0.02)


@pytest.mark.parametrize("name", ["moonshine", "moonshine_streaming"])
def test_what_attends_to_a_sound_is_recorded_too(name: str, tmp_path: Path) -> None:
    folder = save_listener(name, tmp_path / name)
    mine, usual = Side(folder, True, None), Side(folder, False, None)
    for got, want in zip(listening(mine), listening(usual), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-5 * np.abs(want).max())
    assert mine.runner._traced is not None
    assert usual.runner._traced is None


def test_a_sequence_without_a_sound_is_said(tmp_path: Path) -> None:
    side = Side(save_listener("moonshine", tmp_path / "ears"), True, None)
    slot = side.kv.open(8)
    assert slot is not None
    with pytest.raises(ValueError, match="put them first"):
        side.runner.run([Segment(slot, [1], sample=Sampling())])


def test_another_sound_in_the_same_slot_is_heard(tmp_path: Path) -> None:
    side = Side(save_listener("moonshine", tmp_path / "ears"), True, None)

    def logits(slot: Slot) -> np.ndarray:
        side.kv.checkpoint(slot)
        found = side.runner.run([Segment(slot, [7], want=range(1))]).read()[slot].logits
        assert found is not None
        side.kv.rollback(slot)
        return found

    slot, fresh = encoded_slot(side, 60, 40), encoded_slot(side, 60, 23)
    logits(slot)
    width = side.model.layers[0].key_value.shape[1]
    side.model.begin(side.kv, slot, np.random.default_rng(23).standard_normal((23, width), np.float32))
    np.testing.assert_array_equal(logits(slot), logits(fresh))


@pytest.mark.parametrize("name", ["qwen3", "gemma4", "qwen3_5", "lfm2"])
def test_slots_change_places_between_steps(name: str, tmp_path: Path) -> None:
    """Where keys, values and states lie is remembered from step to step; others come, go, wait and are turned round."""
    save(name, tmp_path)
    side = Side(tmp_path, True, None)
    slots = [slot for _ in range(4) if (slot := side.kv.open(60)) is not None]
    text = [tokens(9, i) for i in range(4)]

    def step(who: list[int], at: int) -> None:
        read = side.runner.run([Segment(slots[i], text[i][at : at + 1], want=range(1)) for i in who]).read()
        for i in who:
            made[i].append(read[slots[i]].logits)

    made: list[list[Any]] = [[] for _ in slots]
    for at, who in enumerate(([0, 1, 2, 3], [3, 2, 1, 0], [0, 1, 2, 3])):
        step(who, at)
    side.kv.close(slots[1])  # another moves into its place
    for at, who in enumerate(([0, 2, 3], [3], [3], [2, 0]), 3):
        step(who, at if who != [2, 0] else 4)
    for i, past in ((0, [0, 1, 2, 3, 4]), (2, [0, 1, 2, 3, 4]), (3, [0, 1, 2, 3, 4, 5])):
        slot = side.kv.open(60)
        assert slot is not None
        ids = [text[i][at] for at in past]
        whole = side.runner.run([Segment(slot, ids, want=range(len(ids)))]).read()[slot].logits
        assert whole is not None
        np.testing.assert_allclose(np.concatenate(made[i]), whole, atol=1e-4)


def test_a_step_that_fails_changes_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = Side(save("qwen3_5", tmp_path / "m"), True, None)
    made = []
    for fails in (False, True):
        slot = side.kv.open(60)
        assert slot is not None
        side.runner.run([Segment(slot, tokens(9, 0), sample=Sampling())]).read()
        if fails:
            with monkeypatch.context() as patch:
                patch.setattr(side.runner, "_sample", lambda *_, **__: 1 // 0)
                with pytest.raises(ZeroDivisionError):
                    side.runner.run([Segment(slot, tokens(3, 1), sample=Sampling(), want=range(3))])  # in several calls
        made.append(side.runner.run([Segment(slot, tokens(3, 1), want=range(3))]).read()[slot].logits)
    assert side.runner._traced is not None
    np.testing.assert_array_equal(made[1], made[0])


def test_logits_that_are_kept_below_a_bound_outlive_the_next_step(tmp_path: Path) -> None:
    side = Side(save("gemma4", tmp_path / "m"), True, None)
    slot = side.kv.open(60)
    assert slot is not None
    first = side.runner.run([Segment(slot, tokens(5, 0), want=range(5))])
    second = side.runner.run([Segment(slot, tokens(5, 1), want=range(5))])
    fresh = side.kv.open(60)
    assert fresh is not None
    whole = side.runner.run([Segment(fresh, [*tokens(5, 0), *tokens(5, 1)], want=range(10))]).read()[fresh].logits
    assert whole is not None
    assert np.abs(whole).max() < 5
    for got, want in ((first.read()[slot].logits, whole[:5]), (second.read()[slot].logits, whole[5:])):
        np.testing.assert_allclose(got, want, atol=1e-4)


@pytest.mark.parametrize("bits", [0x7FC00001, 0x7FC00000, 0x7F800000])
def test_a_key_that_is_no_number_is_told(bits: int, tmp_path: Path) -> None:
    """Whatever stands in a NaN's low bits, which an exponential by bits takes for an exponent."""
    save("qwen3", tmp_path)
    side = Side(tmp_path, True, None)
    slot = side.kv.open(60)
    assert slot is not None
    side.runner.run([Segment(slot, tokens(5, 0), sample=Sampling())]).read()
    keys, _ = side.kv.slabs[slot.capacity][0]  # type: ignore[attr-defined]
    keys.planes[0][slot.place.row].view(torch.int32)[0, 2, 3] = bits
    assert side.runner.run([Segment(slot, [7], sample=Sampling())]).read()[slot].nan
