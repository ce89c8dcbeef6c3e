"""Weights beside the CPU of a GPU, for which another CPU backend stands in: equal replies, and the bytes that were planned."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from backends.torch.kernels import library
from backends.torch.ops import TorchTextOps
from engine.cpu_offload import CpuOffload, plan
from engine.errors import BadRequest, OutOfMemory, Unsupported
from engine.loading import LoadedModel, LoadOptions, load
from engine.model_files import open_model
from engine.models.registry import find_architecture
from engine.weights.view import Survey, survey
from tests.checkpoints import save
from tests.engine.parallel.test_ranks import assert_alike, prompts, replies


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "available", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("placed")

    @cache
    def saved(name: str) -> Path:
        return save(name, root / name)

    return saved


def opened(folder: Path, **more: Any) -> LoadedModel:
    return load(str(folder), LoadOptions(backend="torch", device="cpu", dtype="f32", quant="none", **more))


def surveyed(folder: Path) -> tuple[Survey, int]:
    files = open_model(folder)
    make = find_architecture(files.config, "m")
    return survey(lambda view: make(view, files.config), files.source), files.nbytes


@pytest.mark.parametrize(
    ("name", "how", "words"),
    [
        ("llama", {"gpu_layers": 1}, "1 of 2 layers"),
        ("qwen3_5_moe", {"cpu_moe": 3}, "the experts of 3 layers"),
        ("gpt_oss", {"gpu_layers": 1, "cpu_moe": 2}, "layers"),
        ("gemma4_moe", {"gpu_layers": 2}, "layers"),
    ],
)
def test_what_the_cpu_multiplies_gives_the_same_tokens(
    name: str,
    how: dict[str, int],
    words: str,
    folder: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    moved: list[Any] = []
    move = TorchTextOps.move
    monkeypatch.setattr(TorchTextOps, "move", lambda self, x: moved.append(self) or move(self, x))
    whole = opened(folder(name))
    asked = prompts(4, whole.vocab)
    expected = replies(whole, asked)
    assert moved == []
    with caplog.at_level(logging.WARNING, "grus.engine"):
        split = opened(folder(name), **how)
    assert words in caplog.text
    assert_alike(expected, replies(split, asked))  # a product's last bits depend on where its matrix lies in memory
    assert len(set(moved)) == 2  # both devices were moved to
    found, nbytes = surveyed(folder(name))
    placement = plan(found, nbytes, None, how.get("gpu_layers"), how.get("cpu_moe"))
    assert placement is not None
    assert (split.weight_bytes, split.host_bytes) == (placement.device_bytes, placement.host_bytes)
    assert split.weight_bytes + split.host_bytes == whole.weight_bytes


def test_the_bytes_of_each_device_are_those_of_its_matrices(folder: Callable[[str], Path]) -> None:
    found, nbytes = surveyed(folder("qwen3_moe"))
    layers, experts = found.layer_bytes, found.layer_expert_bytes
    each = 3 * 8 * 32 * 64 * 4  # three matrices of eight experts, in f32
    assert experts == {0: each, 1: each}
    assert plan(found, nbytes, None, cpu_moe=1) == CpuOffload(0, 1, 2, nbytes - each, each)
    assert plan(found, nbytes, None, gpu_layers=1) == CpuOffload(1, 0, 2, nbytes - layers[0], layers[0])


def test_as_much_as_fits_stays_on_the_gpu(folder: Callable[[str], Path]) -> None:
    found, nbytes = surveyed(folder("qwen3_moe"))
    each, layer = found.layer_expert_bytes[0], found.layer_bytes[0]
    assert plan(found, nbytes, nbytes) is None
    assert plan(found, nbytes, nbytes - 1) == CpuOffload(0, 1, 2, nbytes - each, each)
    assert plan(found, nbytes, nbytes - each - 1) == CpuOffload(0, 2, 2, nbytes - 2 * each, 2 * each)
    beyond = plan(found, nbytes, nbytes - 2 * each - 1)
    assert beyond == CpuOffload(1, 2, 2, nbytes - layer - each, layer + each)


def test_the_sentence_says_what_lies_where() -> None:
    placement = CpuOffload(1, 3, 4, 12_000_000_000, 4_000_000_000)
    said = placement.sentence("m", "cuda:0", lambda n: f"{n / 1e9:.1f} GB")
    assert said == (
        "m: 12.0 GB of weights on cuda:0, 4.0 GB beside the CPU (1 of 4 layers and the experts of 2 layers). "
        "Replies are slower than on the GPU alone."
    )


def test_what_cannot_be_placed_is_said(folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadRequest, match="no experts"):
        opened(folder("llama"), cpu_moe=1)
    with pytest.raises(BadRequest, match="numbers of layers, 0 or more"):
        opened(folder("llama"), gpu_layers=-1)
    monkeypatch.setattr("engine.shares.HOST_SHARE", 0.0)
    with pytest.raises(OutOfMemory, match="beside the CPU, which has"):
        opened(folder("llama"), gpu_layers=1)


def test_mlx_shares_one_memory(folder: Callable[[str], Path]) -> None:
    with pytest.raises(Unsupported, match="share one memory"):
        load(str(folder("llama")), LoadOptions(backend="mlx", device="cpu", dtype="f32", gpu_layers=1))
