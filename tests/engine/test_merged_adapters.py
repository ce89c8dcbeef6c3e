"""Adapters that can only be merged while their model loads: of a mixture's experts, and DoRA."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grus
from backends.base import Blocks, Dense
from engine.errors import GrusError, UnsupportedArchitecture, WeightsError
from engine.loading import LoadOptions
from engine.model_files import open_model
from engine.weights.convert import convert
from engine.weights.gguf.blocks import dequantize
from engine.weights.lora import open_lora
from engine.weights.merged import Merged
from tests.checkpoints import reference_cached, save
from tests.engine.test_adapters import BACKENDS, GREEDY, TEXT, greedy_of
from tests.lora_adapters import RandomExperts, RandomLora, random_experts, random_lora
from tests.packed_checkpoints import save_packed

FORMS: dict[str, Callable[[RandomExperts, Path], Path]] = {
    "parameters": lambda lora, folder: lora.save_parameters(folder),
    "parameters of older releases": lambda lora, folder: lora.save_parameters(folder, older=True),
    "each": lambda lora, folder: lora.save_each(folder),
    "mlx": lambda lora, folder: lora.save_mlx(folder),
}


def merged_tokens(place: Path, adapter: Path, backend: str, quant: str = "none") -> tuple[list[int], list[int]]:
    """The prompt's tokens, and the reply's of a model with an adapter in its weights."""
    options = LoadOptions(backend=backend, quant=quant, merged=(str(adapter),))
    with grus.Model(str(place), options) as model:
        answer = model.run(TEXT, **GREEDY)
    return list(answer.prompt.ids), list(answer.result.ids)


@pytest.fixture(scope="module")
def mixtures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Experts one by one, all of them in one tensor with gates and ups in turn, and stacked in a GGUF file."""
    root = tmp_path_factory.mktemp("mixtures")
    made = {name: save(name, root / name) for name in ("qwen3_moe", "gpt_oss")}
    return made | {"gguf": convert(made["qwen3_moe"], root / "qwen3_moe.gguf")}


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("base", ["qwen3_moe", "gpt_oss", "gguf"])
def test_adapters_of_experts_become_part_of_the_weights(
    mixtures: dict[str, Path], tmp_path: Path, base: str, form: str, backend: str
) -> None:
    if base == "gpt_oss" and form == "parameters of older releases":
        pytest.skip("its axes are inputs and outputs, so all releases agree")
    model = reference_cached("gpt_oss" if base == "gpt_oss" else "qwen3_moe")
    lora = random_experts(model, 3)
    ids, tokens = merged_tokens(mixtures[base], FORMS[form](lora, tmp_path), backend)
    assert tokens == greedy_of(lora.merged(model), ids, 24) != greedy_of(model, ids, 24)


def test_experts_of_some_layers_alone(mixtures: dict[str, Path], tmp_path: Path) -> None:
    """As gpt-oss is tuned: the names of parameters begin with a layer."""
    model = reference_cached("gpt_oss")
    lora = random_experts(model, 5, spread=0.4)
    lora.pairs = {name: pair for name, pair in lora.pairs.items() if ".layers.1.mlp.experts.down_proj" in name}
    folder = lora.save_parameters(tmp_path)
    given = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps({**given, "target_parameters": ["1.mlp.experts.down_proj"]}))
    assert list(open_lora(folder).pairs) == ["model.layers.1.mlp.experts.down_proj"]
    ids, tokens = merged_tokens(mixtures["gpt_oss"], folder, "torch")
    assert tokens == greedy_of(lora.merged(model), ids, 24) != greedy_of(model, ids, 24)


@pytest.mark.slow
def test_quantized_experts_that_an_adapter_changes_become_plain(mixtures: dict[str, Path], tmp_path: Path) -> None:
    """Numbers of blocks with the adapter added in f32, rounded to 16 bits; others stay in their blocks."""
    from gguf import GGMLQuantizationType, quants

    model = reference_cached("qwen3_moe")
    lora = random_experts(model, 3)
    lora.pairs = {name: pair for name, pair in lora.pairs.items() if ".layers.1." in name}
    file = convert(mixtures["qwen3_moe"], tmp_path / "q8.gguf", quant="q8_0")
    folder = lora.save_each(tmp_path / "lora")
    opened = open_model(file)
    merged = Merged(opened.source, [open_lora(folder)], opened.config)
    for part, rows in (("gate", slice(32)), ("up", slice(32, None)), ("down", slice(None))):
        name = f"model.layers.1.mlp.experts.{'down' if part == 'down' else 'gate_up'}_proj"
        (a, b), floats = lora.pairs[name], dict(model.named_parameters())[name].detach().numpy()[:, rows]
        blocks = quants.quantize(np.ascontiguousarray(floats), GGMLQuantizationType.Q8_0)
        want = quants.dequantize(blocks, GGMLQuantizationType.Q8_0) + lora.scale * (b @ a)[:, rows]
        found = merged.matrix(f"model.layers.1.mlp.switch_mlp.{part}_proj", floats.shape).weight
        assert isinstance(found, Dense)
        assert found.data.dtype == "BF16"
        assert np.abs(dequantize(found.data) - want).max() <= 2**-8 * np.abs(want).max()
        assert isinstance(merged.matrix(f"model.layers.0.mlp.switch_mlp.{part}_proj", floats.shape).weight, Blocks)
    for backend in BACKENDS:
        with grus.Model(str(file), LoadOptions(backend=backend, merged=(str(folder),))) as engine:
            changed = engine.run(TEXT, **GREEDY).result.ids
        with grus.Model(str(file), LoadOptions(backend=backend)) as engine:
            assert engine.run(TEXT, **GREEDY).result.ids != changed


def test_an_adapter_of_experts_cannot_be_chosen_by_request(mixtures: dict[str, Path], tmp_path: Path) -> None:
    folder = random_experts(reference_cached("qwen3_moe"), 3).save_parameters(tmp_path)
    with (
        pytest.raises(UnsupportedArchitecture, match="can only be merged while its model loads") as error,
        grus.Model(str(mixtures["qwen3_moe"]), LoadOptions(backend="torch"), adapters={"x": folder}),
    ):
        pass
    assert "\n" not in str(error.value)


def change(folder: Path, **config: Any) -> Path:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
    return folder


UNFIT: dict[str, tuple[Callable[[RandomExperts, Path], Path], str]] = {
    "another count": (
        lambda lora, folder: RandomExperts(
            {name: (a[:5], b[:5]) for name, (a, b) in lora.pairs.items()}, lora.scale, False, lora.config
        ).save_parameters(folder),
        "5 experts, the model has 8",
    ),
    "too narrow": (
        lambda lora, folder: RandomExperts(
            {name: (a[:, :, :-1], b) for name, (a, b) in lora.pairs.items()}, lora.scale, False, lora.config
        ).save_mlx(folder),
        "does not fit this model",
    ),
    "a rank that does not divide": (
        lambda lora, folder: change(lora.save_parameters(folder), r=7),
        "are not of rank 7",
    ),
    "no targets": (
        lambda lora, folder: change(lora.save_parameters(folder), target_parameters=None),
        "target_parameters do not name",
    ),
    "biases": (
        lambda lora, folder: change(
            lora.save_parameters(folder), target_parameters=["experts.gate_up_proj", "experts.down_proj_bias"]
        ),
        "target_parameters do not name",
    ),
    "a layer that is not there": (
        lambda lora, folder: RandomExperts(
            {name.replace("layers.1", "layers.7"): pair for name, pair in lora.pairs.items()},
            lora.scale, False, lora.config,
        ).save_each(folder),
        "which this model has not",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNFIT)
def test_experts_that_do_not_fit_end_in_one_sentence(mixtures: dict[str, Path], tmp_path: Path, what: str) -> None:
    make, words = UNFIT[what]
    folder = make(random_experts(reference_cached("qwen3_moe"), 3), tmp_path)
    with pytest.raises((WeightsError, UnsupportedArchitecture), match=words) as error:
        merged_tokens(mixtures["qwen3_moe"], folder, "torch")
    assert "\n" not in str(error.value)


# -- DoRA


@pytest.fixture(scope="module")
def dora() -> RandomLora:
    """With sizes of its own, and in one module those that training starts with."""
    lora = random_lora(reference_cached("qwen3"), 1, spread=0.1)
    draw = np.random.default_rng(9)
    modules = dict(reference_cached("qwen3").named_modules())
    for i, (name, (_, b)) in enumerate(lora.pairs.items()):
        lengths = modules[name].weight.detach().norm(dim=1).numpy()
        lora.sizes[name] = lengths if i == 0 else (lengths * draw.uniform(0.5, 1.5, len(b))).astype(np.float32)
    return lora


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("form", ["peft", "mlx"])
def test_dora_becomes_part_of_the_weights(tmp_path: Path, dora: RandomLora, backend: str, form: str) -> None:
    model = reference_cached("qwen3")
    folder = dora.save_peft(tmp_path / "lora", use_dora=True) if form == "peft" else dora.save_mlx(tmp_path / "lora")
    ids, tokens = merged_tokens(save("qwen3", tmp_path / "base"), folder, backend)
    without = RandomLora(dora.pairs, dora.scales).merged(model)
    assert tokens == greedy_of(dora.merged(model), ids, 24)
    assert tokens != greedy_of(without, ids, 24)


def test_dora_is_refused_where_it_cannot_be_computed(tmp_path: Path, dora: RandomLora) -> None:
    base, folder = save("qwen3", tmp_path / "base"), dora.save_peft(tmp_path / "lora", use_dora=True)
    with (
        pytest.raises(UnsupportedArchitecture, match=r"has DoRA, for .*, and can only be merged"),
        grus.Model(str(base), LoadOptions(backend="torch"), adapters={"x": folder}),
    ):
        pass
    file = convert(base, tmp_path / "q8.gguf", quant="q8_0")
    with pytest.raises(UnsupportedArchitecture, match=r"has DoRA, which changes all of .*stores that quantized"):
        merged_tokens(file, folder, "torch")


@pytest.mark.parametrize("what", ["no sizes", "too few sizes", "sizes without DoRA"])
def test_sizes_that_do_not_fit_end_in_one_sentence(tmp_path: Path, dora: RandomLora, what: str) -> None:
    first = next(iter(dora.pairs))
    sizes = {**dora.sizes, first: dora.sizes[first][:-1]} if what == "too few sizes" else dora.sizes
    if what == "no sizes":
        sizes = {}
    made = RandomLora(dora.pairs, dora.scales, dora.config, sizes)
    with pytest.raises(GrusError, match="DoRA") as error:
        open_lora(made.save_peft(tmp_path, use_dora=what != "sizes without DoRA"))
    assert "\n" not in str(error.value)


# -- matrices whose inputs are in another order


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def test_what_it_changes_of_gptqs_reordered_matrices_is_added_to_them(tmp_path: Path, backend: str) -> None:
    """`desc_act` of GPTQ: they are multiplied from their own bits, so that a merged adapter stays beside them. The same tokens as
    the adapter gives that a request chooses."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "base"
    save_packed("qwen3", folder, "gptq")
    tensors = load_file(folder / "model.safetensors")
    for key in [key for key in tensors if key.endswith("g_idx")]:
        order = torch.randperm(len(tensors[key]), generator=torch.Generator().manual_seed(len(key)))
        tensors[key] = tensors[key][order]
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"]["desc_act"] = True
    (folder / "config.json").write_text(json.dumps(config))
    lora = random_lora(reference_cached("qwen3"), 1, spread=0.1).save_peft(tmp_path / "lora")
    with grus.Model(str(folder), LoadOptions(backend=backend), adapters={"one": lora}) as model:
        plain, chosen = model.run(TEXT, **GREEDY), model.run(TEXT, adapter="one", **GREEDY)
    assert merged_tokens(folder, lora, backend, "auto")[1] == list(chosen.result.ids) != list(plain.result.ids)
