"""Which vision checkpoints are taken: every published size exactly, MLX's way of saving them, and one without its tower."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import CheckpointError, ConfigError, WeightsError
from engine.loading import LoadOptions, load
from engine.models.registry import find_architecture
from engine.weights.view import check
from tests.engine.models.test_parity import worst
from tests.engine.models.test_published_sizes import SIZES, sizes
from tests.engine.vision.pictures import drawn
from tests.vision_checkpoints import save

ROPE = dict(rope_type="default", rope_theta=5e6, mrope_section=[24, 20, 20], mrope_interleaved=True)
SMALL = dict(hidden_size=1024, intermediate_size=4096, depth=24, deepstack_visual_indexes=[5, 11, 17])
LARGE = dict(hidden_size=1152, intermediate_size=4304, depth=27, deepstack_visual_indexes=[8, 16, 24])

MROPE = dict(rope_type="default", rope_theta=1e6, mrope_section=[16, 24, 24])
WINDOWED = dict(
    hidden_size=1280, intermediate_size=3420, depth=32, fullatt_block_indexes=[7, 15, 23, 31], patch_size=14
)

# name -> (class prefix in transformers, tied, text config, tower config)
VISION: dict[str, tuple[str, bool, dict[str, Any], dict[str, Any]]] = {
    "qwen3-vl-2b": ("Qwen3VL", True, sizes(2048, 6144, 28, 16, 8, 151936, head_dim=128, rope_parameters=ROPE), SMALL),
    "qwen3-vl-4b": ("Qwen3VL", True, sizes(2560, 9728, 36, 32, 8, 151936, head_dim=128, rope_parameters=ROPE), SMALL),
    "qwen3-vl-8b": ("Qwen3VL", False, sizes(4096, 12288, 36, 32, 8, 151936, head_dim=128, rope_parameters=ROPE), LARGE),
    "qwen3-vl-30b-a3b": (
        "Qwen3VLMoe",
        False,
        sizes(
            2048,
            6144,
            48,
            32,
            4,
            151936,
            head_dim=128,
            rope_parameters=ROPE,
            moe_intermediate_size=768,
            num_experts=128,
            num_experts_per_tok=8,
        ),
        LARGE,
    ),
    "qwen2.5-vl-3b": ("Qwen2_5_VL", True, sizes(2048, 11008, 36, 16, 2, 151936, rope_parameters=MROPE), WINDOWED),
    "qwen2.5-vl-7b": ("Qwen2_5_VL", False, sizes(3584, 18944, 28, 28, 4, 152064, rope_parameters=MROPE), WINDOWED),
    "qwen2.5-vl-72b": (
        "Qwen2_5_VL",
        False,
        sizes(8192, 29568, 80, 64, 8, 152064, rope_parameters=MROPE),
        WINDOWED | {"intermediate_size": 3456},
    ),
    "qwen3.5-9b": (
        "Qwen3_5",
        False,
        SIZES["qwen3.5-9b"][1],
        {k: v for k, v in LARGE.items() if k != "deepstack_visual_indexes"},
    ),
}


@cache
def published(name: str) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    import torch
    import transformers

    prefix, tied, text, tower = VISION[name]
    tower = dict(tower, num_heads=16, out_hidden_size=text["hidden_size"])
    text = dict(text, tie_word_embeddings=tied)
    config = getattr(transformers, f"{prefix}Config")(text_config=text, vision_config=tower, tie_word_embeddings=tied)
    with torch.device("meta"):
        model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config)
    state = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    if tied:
        state.pop("lm_head.weight")
    return config.to_dict(), state


@pytest.mark.parametrize("name", VISION)
def test_published_size_is_accepted_exactly(name: str) -> None:
    config, shapes = published(name)
    make = find_architecture(config, name)
    survey = check(lambda w: make(w, config), shapes)
    assert survey.parameters == sum(int(np.prod(shape)) for shape in shapes.values())


@pytest.mark.parametrize("name", ["qwen3-vl-2b", "qwen3.5-9b"])
def test_a_tensor_that_is_missing_or_too_many_is_named(name: str) -> None:
    config, shapes = published(name)
    make = find_architecture(config, name)
    broken = dict(shapes)
    del broken["model.visual.blocks.3.mlp.linear_fc1.bias"]
    broken["model.visual.surprise"] = (4,)
    with pytest.raises(WeightsError) as caught:
        check(lambda w: make(w, config), broken)
    for named in ("model.visual.blocks.3.mlp.linear_fc1.bias", "model.visual.surprise"):
        assert named in str(caught.value)


def loaded_features(folder: Path) -> np.ndarray:
    loaded = load(str(folder), LoadOptions(backend="torch", device="cpu", dtype="f32", memory_limit=1 << 30))
    try:
        assert loaded.vision is not None
        running = loaded.model.encode([loaded.vision.prepare(drawn(50, 30))])
        while True:
            try:
                next(running)
            except StopIteration as end:
                return end.value[0]
    finally:
        loaded.close()


def rewrite(folder: Path, change: Any) -> None:
    """Save the tensors anew, each under the name and with the numbers that `change(name, array)` gives, or not at all."""
    from safetensors.numpy import load_file, save_file

    path = folder / "model.safetensors"
    pairs = (change(name, array) for name, array in load_file(path).items())
    save_file({name: np.ascontiguousarray(array) for name, array in pairs if name}, path)


def test_as_mlx_saves_it(tmp_path: Path) -> None:
    def change(name: str, array: np.ndarray) -> tuple[str, np.ndarray]:
        if name.endswith("patch_embed.proj.weight"):
            array = array.transpose(0, 2, 3, 4, 1)
        for theirs, ours in (
            ("model.visual.", "vision_tower."),
            ("model.language_model.", "language_model.model."),
            ("lm_head.", "language_model.lm_head."),
        ):
            if name.startswith(theirs):
                return ours + name.removeprefix(theirs), array
        raise AssertionError(name)

    folder = save("qwen3_vl", tmp_path)
    want = loaded_features(folder)
    rewrite(folder, change)
    assert worst(loaded_features(folder), want) <= 1e-6


def without_tower(name: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    return ("" if name.startswith("model.visual.") else name), array


def test_qwen3_5_without_its_tower_reads_text(tmp_path: Path) -> None:
    folder = save("qwen3_5", tmp_path)
    rewrite(folder, without_tower)
    loaded = load(str(folder), LoadOptions(backend="torch", device="cpu", memory_limit=1 << 30))
    assert loaded.vision is None
    loaded.close()


def test_qwen3_vl_without_its_tower_is_refused(tmp_path: Path) -> None:
    folder = save("qwen3_vl", tmp_path)
    rewrite(folder, without_tower)
    with pytest.raises(CheckpointError, match="no vision tower"):
        load(str(folder), LoadOptions(backend="torch", device="cpu", memory_limit=1 << 30))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("out_hidden_size", 32, "out_hidden_size"),
        ("num_heads", 5, "heads"),
        ("num_position_embeddings", 15, "square"),
        ("deepstack_visual_indexes", [7], "deepstack_visual_indexes"),
        ("hidden_act", "silu", "hidden_act"),
    ],
)
def test_a_config_that_cannot_be_is_refused(tmp_path: Path, field: str, value: Any, said: str) -> None:
    folder = save("qwen3_vl", tmp_path)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["vision_config"][field] = value
    path.write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=said):
        load(str(folder), LoadOptions(backend="torch", device="cpu", memory_limit=1 << 30))
