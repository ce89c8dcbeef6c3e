"""What a loaded model takes from its files: sampling defaults, end tokens, memory; and what is refused before it is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import OutOfMemory
from engine.loading import LoadOptions, load, sampling_defaults
from tests.checkpoints import VOCAB, save
from tests.needs import no_kernels


@pytest.mark.parametrize(
    ("generation", "chosen"),
    [
        ({}, {}),
        (
            {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20},
            {"temperature": 0.6, "top_p": 0.95, "top_k": 20},
        ),
        ({"do_sample": False, "temperature": 0.6}, {"temperature": 0.0}),
        ({"temperature": 0.7}, {"temperature": 0.7}),
        ({"eos_token_id": 2}, {"temperature": 0.0}),
        ({"do_sample": True, "repetition_penalty": 1.05, "top_k": None}, {"repetition_penalty": 1.05}),
    ],
)
def test_sampling_defaults_are_the_checkpoints_own(generation: dict, chosen: dict) -> None:
    assert sampling_defaults(generation) == chosen


def test_end_tokens_are_those_of_all_files(tmp_path: Path) -> None:
    folder = save("qwen3", tmp_path / "m", "old")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 9], "do_sample": True, "top_k": 3}))
    model = load(str(folder), LoadOptions(backend="torch", device="cpu"))
    assert set(model.eos_ids) == {7, 9, VOCAB - 1}
    assert model.defaults == {"top_k": 3}


def test_a_model_that_leaves_no_room_is_refused(tmp_path: Path) -> None:
    folder = save("qwen3", tmp_path / "m", "old")
    with pytest.raises(OutOfMemory, match="leaves no room"):
        load(str(folder), LoadOptions(backend="torch", device="cpu", memory_limit=1 << 20))


@pytest.mark.parametrize(("name", "quant", "asked", "bits"), [
    ("qwen3", "q8_0", None, 16), ("qwen3", "none", None, 32), ("qwen3_5", "q8_0", None, 16), ("qwen3_moe", "q8_0", None, 16),
    ("qwen3", "q8_0", 32, 32),
    ("qwen3", "none", 4, 4)])  # fmt: skip
def test_conversations_are_kept_as_suits_the_weights(
    name: str, quant: str, asked: int | None, bits: int, tmp_path: Path
) -> None:
    """In half precision where weights are quantized, and kernels read it where it lies."""
    if bits == 16 and no_kernels():
        pytest.skip(no_kernels())
    folder = save(name, tmp_path / "m")
    loaded = load(str(folder), LoadOptions(backend="torch", device="cpu", quant=quant, kv_bits=asked))
    assert loaded.kv.bits == bits  # type: ignore[attr-defined]


def test_the_fingerprint_follows_weights_and_form(tmp_path: Path) -> None:
    folder = save("qwen3", tmp_path / "m", "old")
    one = load(str(folder), LoadOptions(backend="torch", device="cpu")).fingerprint
    assert load(str(folder), LoadOptions(backend="torch", device="cpu")).fingerprint == one
    assert load(str(folder), LoadOptions(backend="torch", device="cpu", kv_bits=8)).fingerprint != one
    assert load(str(folder), LoadOptions(backend="torch", device="cpu", quant="q8_0")).fingerprint != one
    other = save("qwen3", tmp_path / "n", "old", seed=1)
    assert load(str(other), LoadOptions(backend="torch", device="cpu")).fingerprint != one
