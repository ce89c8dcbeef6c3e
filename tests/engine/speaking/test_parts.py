"""What a speaking checkpoint is loaded as: the talker, and the models beside it by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import UnsupportedArchitecture
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load, load_any
from engine.models.codec12 import CodecDecoder, CodecEncoder
from engine.models.ecapa import SpeakerEncoder
from tests.qwen3_tts_cases import checkpoint

HALF = LoadOptions(backend="auto", device="cpu", dtype="bf16", quant="none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint("base", tmp_path_factory.mktemp("parts") / "base")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("#speaker", SpeakerEncoder),
        ("/speech_tokenizer", CodecDecoder),
        ("/speech_tokenizer#encoder", CodecEncoder),
    ],
)
def test_what_hears_is_exact_whatever_was_chosen(folder: Path, name: str, kind: type) -> None:
    part = load_any(f"{folder}{name}", HALF)
    assert isinstance(part, LoadedPart)
    assert isinstance(part.model, kind)
    assert part.backend.dtype == "f32"
    assert 0 < part.weight_bytes < (folder / "model.safetensors").stat().st_size
    part.close()


def test_a_part_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(UnsupportedArchitecture, match="no part `face`"):
        load_any(f"{folder}#face", HALF)


def test_the_talker_ends_with_a_code_and_chooses_as_its_files_say(folder: Path, tmp_path: Path) -> None:
    talker = load(str(folder), HALF)
    assert talker.eos_ids == (1036,)
    assert talker.context == 512
    assert talker.defaults == {"temperature": 0.9, "top_k": 50, "top_p": 1.0, "repetition_penalty": 1.05}
    other = checkpoint("base", tmp_path / "other")
    settings = {"do_sample": True, "subtalker_temperature": 0.5, "subtalker_top_k": 7, "subtalker_top_p": 0.8}
    (other / "generation_config.json").write_text(json.dumps(settings))
    predictor = load(str(other), HALF).model.predictor
    assert (predictor.temperature, predictor.top_k, predictor.top_p) == (0.5, 7, 0.8)
    (other / "generation_config.json").write_text(json.dumps({"subtalker_dosample": False}))
    assert load(str(other), HALF).model.predictor.temperature == 0.0
