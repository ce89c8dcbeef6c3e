"""Mixtures of experts in the layouts that repositories publish."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from engine.describe import describe
from engine.errors import WeightsError
from engine.loading import LoadOptions
from tests.checkpoints import save, save_as_qwen_publishes
from tests.driver import Driver

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64]
EXPERTS, FFN, HIDDEN = 8, 32, 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("moe")
    return cache(lambda name: save(name, root / name, "new"))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_experts_in_one_tensor(folder: Callable[[str], Path], tmp_path: Path, backend: str) -> None:
    apart = Driver(folder("qwen3_5_moe"), backend).logits(PROMPT)
    together = Driver(save_as_qwen_publishes(folder("qwen3_5_moe"), tmp_path / "m"), backend).logits(PROMPT)
    assert np.abs(together - apart).max() <= 1e-5 * np.abs(apart).max()


def test_experts_of_another_size_are_named(folder: Callable[[str], Path], tmp_path: Path) -> None:
    wrong = save_as_qwen_publishes(folder("qwen3_5_moe"), tmp_path / "m")
    config = json.loads((wrong / "config.json").read_text())
    config["text_config"]["moe_intermediate_size"] = 16
    (wrong / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match=rf"experts.gate_up_proj: has shape \[{EXPERTS}, {2 * FFN}, {HIDDEN}\]"):
        Driver(wrong, "torch")


@pytest.mark.parametrize("name", ["qwen3_moe", "qwen3_5_moe", "granitemoe", "gpt_oss"])
def test_a_token_reads_the_experts_that_it_chooses(folder: Callable[[str], Path], name: str) -> None:
    """And of an embedding that is no head a row alone."""
    path = folder(name)
    config = json.loads((path / "config.json").read_text())
    config = config.get("text_config", config)
    chosen = config["num_experts_per_tok"]
    count = config.get("num_experts") or config["num_local_experts"]
    sizes = {key: tensor.nbytes for key, tensor in load_file(path / "model.safetensors").items()}
    experts = sum(n for key, n in sizes.items() if re.search(r"experts.*proj(\.weight)?$|(in|out)put_linear", key))
    embedding = 0 if config["tie_word_embeddings"] else next(n for key, n in sizes.items() if "embed_tokens" in key)
    read = describe(str(path), LoadOptions(backend="torch", device="cpu")).read_bytes
    assert experts > 0
    assert read == sum(sizes.values()) - embedding - experts * (count - chosen) // count
