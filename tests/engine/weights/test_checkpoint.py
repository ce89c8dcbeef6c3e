from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ConfigError, ModelNotFound, UnsupportedArchitecture, WeightsError
from engine.weights.checkpoint import Checkpoint
from engine.weights.quantization import Packing, method_of, parse
from tests.engine.weights.files import write_folder


def test_opens_a_folder(tmp_path):
    write_folder(tmp_path, {"a": np.zeros((2, 3), np.float32), "b": np.zeros(5, np.float16)}, hidden_size=3)
    checkpoint = Checkpoint.open(str(tmp_path))
    assert checkpoint.folder == tmp_path
    assert checkpoint.config["hidden_size"] == 3
    assert checkpoint.generation_config == {}
    assert checkpoint.quantization is None
    assert checkpoint.nbytes == 24 + 10
    assert set(checkpoint.tensors) == {"a", "b"}


def test_the_config_can_be_read_without_weights(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "x"}')
    (tmp_path / "generation_config.json").write_text('{"top_k": 20}')
    checkpoint = Checkpoint.open(tmp_path)
    assert checkpoint.generation_config == {"top_k": 20}
    with pytest.raises(WeightsError, match="no safetensors"):
        checkpoint.tensors  # noqa: B018


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no config.json"),
        ("{", "not valid JSON"),
        ("\xff", "not valid JSON"),
        ("[1]", "JSON object, not list"),
        ("{}", "no model_type"),
        ('{"model_type": 3}', "no model_type"),
        ('{"model_type": ""}', "no model_type"),
    ],
)
def test_a_bad_config(tmp_path, text, words):
    if text is not None:
        (tmp_path / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError, match=words) as error:
        Checkpoint.open(tmp_path)
    assert str(tmp_path) in str(error.value)


def test_a_bad_generation_config(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "x"}')
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(ConfigError, match=r"generation_config\.json is not valid JSON"):
        Checkpoint.open(tmp_path).generation_config  # noqa: B018


def test_no_such_folder(tmp_path):
    with pytest.raises(ModelNotFound, match="does not exist"):
        Checkpoint.open(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelNotFound, match="is a file"):
        Checkpoint.open(tmp_path / "file")


MLX = {
    "group_size": 64,
    "bits": 4,
    "mode": "affine",
    "model.layers.0.mlp.gate": {"group_size": 32, "bits": 8},
    "model.layers.1.mlp.gate": {"bits": 8},
    "lm_head": False,
    "model.embed_tokens": True,
}


@pytest.mark.parametrize("place", ["quantization", "quantization_config", "text_config"])
def test_mlx_quantization_with_overrides(place):
    found = parse({place: {"quantization": MLX} if place == "text_config" else MLX}, "here")
    assert found.of("model.layers.5.self_attn.q_proj") == Packing(4, 64)
    assert found.of("model.layers.0.mlp.gate") == Packing(8, 32)
    assert found.of("model.layers.1.mlp.gate") == Packing(8, 64)
    assert found.of("lm_head") is None
    assert found.of("model.embed_tokens") == Packing(4, 64)


def test_what_is_not_quantized():
    assert parse({}, "here") is None
    assert parse({"quantization_config": None, "text_config": {}}, "here") is None


@pytest.mark.parametrize("method", ["bitsandbytes", "hqq", "eetq"])
def test_unsupported_methods_are_named(method):
    with pytest.raises(UnsupportedArchitecture, match=f"quantized with {method}"):
        parse({"quantization_config": {"quant_method": method, "bits": 4, "group_size": 128}}, "here")


def test_unsupported_modes_are_named():
    with pytest.raises(UnsupportedArchitecture, match="mxfp4 in 4 bits and groups of 64"):
        parse({"quantization": {"group_size": 64, "bits": 4, "mode": "mxfp4"}}, "here")
    with pytest.raises(UnsupportedArchitecture, match=r"fp6 .*\(lm_head\)"):
        parse({"quantization": {"group_size": 32, "bits": 4, "lm_head": {"bits": 6, "mode": "fp6"}}}, "here")


def test_modes_of_mlx_beside_affine_layers():
    found = parse(
        {"quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4", "a": {"bits": 8, "group_size": 64}}}, "here"
    )
    assert found is not None
    assert found.default == Packing(4, 32, "mxfp4")
    assert found.of("a") == Packing(8, 64)


@pytest.mark.parametrize("method", ["awq", "gptq", "fp8", "modelopt", "compressed-tensors"])
def test_methods_of_other_tools(method):
    config = {"quantization_config": {"quant_method": method, "bits": 4, "group_size": 128}}
    assert parse(config, "here") is None
    found = method_of(config, "here")
    assert found is not None
    assert found.awq == (method == "awq")
    assert method_of({"quantization_config": {"quant_method": "mlx"}}, "here") is None


def test_what_a_method_may_not_say():
    with pytest.raises(UnsupportedArchitecture, match="gemv"):
        method_of({"quantization_config": {"quant_method": "awq", "version": "GEMV"}}, "here")
    with pytest.raises(ConfigError, match="weight_block_size"):
        method_of({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 0]}}, "here")


@pytest.mark.parametrize(
    "section", [{"bits": 7, "group_size": 64}, {"bits": 4}, {"bits": 4, "group_size": 63}, {"bits": "4"}, [4]]
)
def test_impossible_numbers(section):
    with pytest.raises(ConfigError, match="here"):
        parse({"quantization": section}, "here")
