"""Every architecture is held by every kind of test, or this file says why not.

Parity of logits and greedy tokens, chunks, decoding and bf16, in either spelling of the config (`test_parity`, all of `MODELS`);
checkpoints that mlx-lm quantized (`test_quantized`); adapters (`test_lora`, the same); the
published sizes; prefixes reused, drafts rejected, preemption and offloading through the engine, and windows that move on
(`test_window_parity`, `test_recurrent`); llama.cpp's greedy text; calls of tools in its template's words (`text/test_families` and
`app/server/test_families`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from engine.models.registry import ARCHITECTURES
from tests import llamacpp_files
from tests.checkpoints import MODELS
from tests.engine.models import test_published_sizes, test_quantized, test_recurrent, test_window_parity
from tests.engine.text.test_families import FAMILIES
from tests.engine.weights.gguf import test_llamacpp

MODEL_FILES = Path(__file__).parents[3] / "engine" / "models"
NOT_TEXT = {
    "chatterbox",
    "deepseek_ocr2",
    "glm46v",
    "glm4v",
    "glm_ocr",
    "lighton_ocr",
    "moonshine",
    "moonshine_streaming",
    "paddleocr_vl",
    "pocket_tts",
    "qwen2_5_vl",
    "qwen3_asr",
    "qwen3_tts",
    "qwen3_vl",
    "qwen3_vl_moe",
    "unlimited_ocr",
    "voxtral",
    "voxtral_realtime",
    "whisper",
}
SAME = {  # types that are another one beside an encoder, or its text alone
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gemma4_unified": "gemma4_unified_text",
    "idefics3": "llama",
    "internvl": "qwen3",
    "lfm2-vl": "lfm2",
    "lfm2_vl": "lfm2",
    "mistral3": "ministral3",
    "muse_glimmer": "muse_glimmer_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "smolvlm": "llama",
}
TYPES = sorted({SAME.get(kind, kind) for kind in ARCHITECTURES} - NOT_TEXT)

EXCEPTIONS: dict[str, dict[str, str]] = {
    "engine": dict.fromkeys(("llama", "qwen3", "qwen3_5_text"), "tests/engine is made of them"),
    "mlx": {
        "bitnet": "mlx-lm keeps the published packing of its ternary weights (`test_bitnet`)",
        **dict.fromkeys(
            ("gemma4_unified_text", "granitemoeshared", "hunyuan_v1_moe", "lfm3"), "mlx-lm has no such architecture"
        ),
    },
    "gguf": {"lfm3": "llama.cpp has no such architecture"},
    "tools": {
        **dict.fromkeys(
            ("bitnet", "deepseek_v2", "olmo2", "gemma3_text", "gemma3n_text"),
            "its published template writes no calls, or calls of a family that is here",
        ),
        **dict.fromkeys(
            ("ernie4_5", "gemma4_unified_text", "granitemoe", "granitemoeshared", "hunyuan_v1_dense", "lfm2_moe", "lfm3",
             "qwen2", "qwen3_5_moe_text", "qwen3_next"),
            "the template of its larger or smaller one",
        ),
    },
}  # fmt: skip


def type_of(prefix: str) -> str:
    import transformers

    found: Any = getattr(transformers, f"{prefix}TextConfig", None) or getattr(transformers, f"{prefix}Config")
    return SAME.get(found.model_type, found.model_type)


def types_of(names: Iterable[str]) -> set[str]:
    return {type_of(MODELS[name.split()[0]][0]) for name in names}


def held(kind: str) -> set[str]:
    if kind == "parity":
        return types_of(name for name in MODELS if name != "phi3_long")
    if kind == "sizes":
        return {type_of(prefix) for prefix, _ in test_published_sizes.SIZES.values()}
    if kind == "engine":
        return types_of([*test_window_parity.NAMES, *test_window_parity.WHOLE, *test_recurrent.NAMES])
    if kind == "mlx":
        return types_of(architecture for architecture, *_ in test_quantized.KINDS.values())
    if kind == "gguf":
        converted = ("gemma4_unified",)  # of which `test_llama_cpp` converts a folder
        return types_of([*llamacpp_files.FAMILIES, *test_llamacpp.NAMES, *converted])
    return {SAME.get(model_type, model_type) for model_type, _, _ in FAMILIES.values()}


@pytest.mark.parametrize("kind", ["parity", "sizes", "engine", "mlx", "gguf", "tools"])
def test_every_architecture_is_held(kind: str) -> None:
    excused = set(EXCEPTIONS.get(kind, {}))
    missing = set(TYPES) - held(kind) - excused
    assert not missing, f"{kind}: {sorted(missing)}"
    assert not excused & held(kind), "an exception that is none any more"


def test_every_window_moves_on() -> None:
    """Of each type whose tiny model has one."""
    windowed = {
        name
        for name, (_, fields) in MODELS.items()
        if fields.get("sliding_window") and fields.get("use_sliding_window", True)
    }
    assert types_of(windowed) <= types_of([*test_window_parity.NAMES, "qwen3_window"])


def test_an_architecture_is_one_short_file() -> None:
    """Those of text models."""
    files = {make.__module__.rpartition(".")[2] for kind, make in ARCHITECTURES.items() if kind not in NOT_TEXT}
    lengths = {name: len((MODEL_FILES / f"{name}.py").read_text(encoding="utf-8").splitlines()) for name in files}
    assert {name: lines for name, lines in lengths.items() if lines >= 250} == {}
