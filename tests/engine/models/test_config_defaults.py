"""What configs mean where they leave fields out, against the reference's config classes and its models."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.models.config import text_config, text_fields
from engine.models.config_defaults import LEFT_OUT
from engine.models.registry import ARCHITECTURES
from engine.models.rope import text_rope
from tests.checkpoints import reference_cached, save
from tests.driver import Driver

IDS = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
SIZES = dict(hidden_size=64, num_attention_heads=4, num_hidden_layers=2, intermediate_size=96, vocab_size=99)
OTHERS = {  # not text alone
    *(
        "chatterbox",
        "moonshine",
        "moonshine_streaming",
        "lfm2-vl",
        "paddleocr_vl",
        "qwen2_5_vl",
        "pocket_tts",
        "qwen3_tts",
        "qwen3_vl",
        "qwen3_vl_moe",
        "whisper",
    ),
}
OWN_EPSILON = {"cohere2"}  # of layer norms, read by its own file


def text_types() -> list[str]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return [kind for kind in sorted({*ARCHITECTURES, *LEFT_OUT} - OTHERS) if not nested(CONFIG_MAPPING[kind])]


def nested(config_class: Any) -> bool:
    return bool(getattr(config_class, "sub_configs", None))


def defaults(kind: str) -> Any:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return CONFIG_MAPPING[kind]()


@pytest.mark.parametrize("kind", sorted(LEFT_OUT))
def test_the_table_says_what_the_reference_says(kind: str) -> None:
    config = defaults(kind)
    for name, value in LEFT_OUT[kind].items():
        if name == "rope_theta":
            found = config.rope_parameters["rope_theta"]
        elif name == "head_dim":
            found = config.head_dim
        elif name == "rope_parameters" and "rope_type" in value:
            found = {key: config.rope_parameters[key] for key in value}
        else:
            found = getattr(config, name)
        assert value == found, name


def test_a_bare_config_means_what_the_references_means() -> None:
    """Epsilons, windows, and plain ropes of all types of text models."""
    wrong = []
    for kind in text_types():
        config, c = defaults(kind), text_config({"model_type": kind, **SIZES}, ACTIVATIONS)
        names = ("rms_norm_eps", "norm_eps", "layer_norm_epsilon")
        eps = next((getattr(config, name) for name in names if hasattr(config, name)), None)
        if kind not in OWN_EPSILON and eps != c.eps:
            wrong.append((kind, "eps", eps, c.eps))
        window = getattr(config, "sliding_window", None)
        if window != (ours := text_fields({"model_type": kind}).find("sliding_window", default=None)):
            wrong.append((kind, "window", window, ours))
    assert wrong == []


ACTIVATIONS = ("silu", "relu2", "gelu_pytorch_tanh")

LEFT: list[tuple[str, str]] = [
    ("qwen2", "rope_parameters"),
    ("qwen3", "rope_parameters"),
    ("qwen3_next", "norm_topk_prob"),
    ("exaone4", "rope_parameters"),
    ("glm4_moe_lite", "routed_scaling_factor"),
    ("deepseek_v3", "routed_scaling_factor"),
    ("deepseek_v3", "topk_group"),
    ("gemma4", "rope_parameters"),
    ("gemma4_unified", "rope_parameters"),
    ("gpt_oss", "rope_parameters"),
    ("ministral3", "rope_parameters"),
    ("laguna", "rope_parameters"),
    ("lfm3", "rope_parameters"),
    ("minimax_m2", "rope_parameters"),
    ("muse_glimmer", "output_multiplier"),
    ("muse_glimmer", "rope_parameters"),
]


@pytest.mark.parametrize(("name", "field"), LEFT)
def test_a_field_that_is_left_out_means_what_the_reference_makes_of_it(tmp_path: Path, name: str, field: str) -> None:
    """Logits of the same weights, both read with a config without the field."""
    import torch

    folder, model = save(name, tmp_path / name), reference_cached(name)
    config = json.loads((folder / "config.json").read_text())
    inner = config.get("text_config", config)
    inner.pop(field, None)
    (folder / "config.json").write_text(json.dumps(config))
    bare = type(model.config).from_dict(copy.deepcopy(config))
    bare._attn_implementation = "eager"
    other = type(model)(bare).eval()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        want = other(torch.tensor([IDS])).logits[0].float().numpy()
    got = Driver(folder, "torch").logits(IDS)
    assert float(np.abs(got - want).max() / np.abs(want).max()) <= 1e-4


def test_gemma_4s_last_layer_attends_to_everything_whatever_the_config_says(tmp_path: Path) -> None:
    import torch

    folder = save("gemma4", tmp_path / "gemma4")
    config = json.loads((folder / "config.json").read_text())
    inner = config.get("text_config", config)
    assert inner["layer_types"][-1] == "full_attention"
    inner["layer_types"][-1] = "sliding_attention"
    (folder / "config.json").write_text(json.dumps(config))
    with torch.no_grad():
        want = reference_cached("gemma4")(torch.tensor([IDS])).logits[0].float().numpy()
    got = Driver(folder, "torch").logits(IDS)
    assert float(np.abs(got - want).max() / np.abs(want).max()) <= 1e-4


def test_the_trained_length_beside_the_rope_counts_before_the_one_in_it() -> None:
    """As the reference has it; and where neither is given it is the model's length."""
    scaled = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}
    outer = {**SIZES, "max_position_embeddings": 4096, "original_max_position_embeddings": 1024}
    ropes = [
        text_rope(text_config({**outer, "rope_parameters": {**scaled, "original_max_position_embeddings": n}}))
        for n in (64, 1024)
    ]
    assert ropes[0] == ropes[1]
    llama3 = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    plain = {**SIZES, "max_position_embeddings": 2048}
    assert text_rope(text_config({**plain, "rope_parameters": llama3})) == text_rope(
        text_config({**plain, "rope_parameters": {**llama3, "original_max_position_embeddings": 2048}})
    )
