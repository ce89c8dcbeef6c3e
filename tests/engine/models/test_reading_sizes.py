"""The published sizes of the models that read pages: exactly their tensors are accepted, built on no memory at all."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest

from engine.models.pp_doclayout import pp_doclayout
from engine.models.registry import find_architecture, find_part
from engine.weights.view import check
from tests.reading_checkpoints import published

CLASSES = 25


@cache
def made(name: str) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    import torch
    import transformers
    from transformers.core_model_loading import revert_weight_conversion

    if name == "paddleocr_vl":
        config = transformers.PaddleOCRVLConfig(tie_word_embeddings=False)
        config.text_config.tie_word_embeddings = False
        kind: Any = transformers.PaddleOCRVLForConditionalGeneration
    else:
        labels = {i: f"class {i}" for i in range(CLASSES)}
        more: dict[str, Any] = dict(id2label=labels, label2id={label: i for i, label in labels.items()})
        if name.endswith("v2"):
            more |= dict(class_thresholds=[0.5] * CLASSES, class_order=list(range(CLASSES)))
        prefix = f"PPDocLayoutV{name[-1]}"
        config = getattr(transformers, f"{prefix}Config")(**more)
        kind = getattr(transformers, f"{prefix}ForObjectDetection")
    with torch.device("meta"):
        model = kind(config)
    state = revert_weight_conversion(model, dict(model.state_dict()))
    return config.to_dict(), {key: tuple(value.shape) for key, value in state.items()}


@pytest.mark.parametrize("spelling", ["published", "nested"])
def test_paddleocr_vl(spelling: str) -> None:
    config, shapes = made("paddleocr_vl")
    if spelling == "published":
        copied = {key: dict(value) if isinstance(value, dict) else value for key, value in config.items()}
        copied["text_config"]["rope_parameters"] = dict(config["text_config"]["rope_parameters"])
        config = published(copied)
    config["model_type"] = "paddleocr_vl"
    make = find_architecture(config, "paddleocr_vl")
    found = check(lambda w: make(w, config), shapes)
    assert found.parameters == sum(map(math.prod, shapes.values()))
    assert 0.9e9 < found.parameters < 1.0e9


@pytest.mark.parametrize("name", ["pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4"])
def test_pp_doclayout(name: str) -> None:
    config, shapes = made(name)
    assert find_part(config) is pp_doclayout
    found = check(lambda w: pp_doclayout(w, config), shapes)
    assert found.parameters > 3e7
