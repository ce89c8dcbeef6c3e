"""Tiny random Qwen3-TTS checkpoints, and what the reference package (qwen-tts 0.1.1) made of them.

The reference needs an older transformers than the rest of the tests, so its answers were recorded once, in f32 and
greedily, and lie in `tests/data/qwen3_tts` beside the weights: prompts as they enter the talker (`*_prompt`), the text
track (`*_track`), the first logits of the talker and the predictor, the codes that went to the codec, and sounds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from safetensors.numpy import load_file, save_file

DATA = Path(__file__).parent / "data" / "qwen3_tts"
T = TypeVar("T")
OFTEN = {"base": 13, "custom_voice": 15, "voice_design": 15}
KINDS = ("base", "custom_voice", "voice_design")
TEXT = "Hello, this is a longer line: it has numbers (42) and a second sentence. Here it is."


@cache
def cases() -> Mapping[str, np.ndarray]:
    with np.load(DATA / "cases.npz") as file:
        return dict(file)


def checkpoint(kind: str, folder: Path) -> Path:
    """A folder laid out as published ones are."""
    weights = "base" if kind == "base" else "preset"  # the two variants without cloning share their random weights
    (folder / "speech_tokenizer").mkdir(parents=True)
    for source, target in (
        (f"{kind}.json", "config.json"),
        (f"{weights}.safetensors", "model.safetensors"),
        ("generation_config.json", "generation_config.json"),
        ("tokenizer.json", "tokenizer.json"),
        ("tokenizer_config.json", "tokenizer_config.json"),
        ("codec.json", "speech_tokenizer/config.json"),
        ("codec.safetensors", "speech_tokenizer/model.safetensors"),
    ):
        shutil.copy(DATA / source, folder / target)
    return folder


def ending(folder: Path) -> Path:
    """The same checkpoint, which now comes to an end: its end is as likely as a code that its kind says often."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    config = json.loads((folder / "config.json").read_text())
    end, like = config["talker_config"]["codec_eos_token_id"], OFTEN[config["tts_model_type"]]
    head = tensors["talker.codec_head.weight"]
    head[end] = 1.02 * head[like]
    save_file(tensors, path)
    return folder


def finished(work: Generator[None, None, T]) -> T:
    """The end of a piece of work that would let others in between."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
