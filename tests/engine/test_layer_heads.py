"""Heads for multi-token prediction that are one more layer of the model (`model.layers.N`, `nextn`): GLM 4.5, GLM 4.7 Flash, DeepSeek V3."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.engine.test_prediction_head import Talk, loaded_with_head, prompts, requests
from tests.layer_heads import (
    as_layer_head_gguf,
    layer_head_logits,
    make_layer_head_predictable,
    save_with_layer_head,
)
from tests.prediction_heads import check_logits

NAMES = "glm4_moe", "glm4_moe_lite", "deepseek_v3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("layer-heads")
    return cache(lambda name: save_with_layer_head(name, root / name))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["safetensors", "gguf"])
def test_logits_are_the_references(
    folder: Callable[[str], Path], tmp_path: Path, name: str, backend: str, kind: str
) -> None:
    """In a prompt of which some rows are only stored, in a chunk and token by token."""
    path = folder(name) if kind == "safetensors" else as_layer_head_gguf(folder(name), tmp_path / "m.gguf")
    loaded, head = loaded_with_head(path, backend)
    check_logits(loaded, head, lambda ids, hidden: layer_head_logits(folder(name), ids, hidden))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
def test_drafts_change_no_token(tmp_path: Path, name: str, backend: str) -> None:
    """Greedy and sampled, several sequences at once, preempted; how many drafts are right comes from the weights."""
    path = save_with_layer_head(name, tmp_path / name, tie_word_embeddings=False)
    make_layer_head_predictable(path, 1.5)
    plain, drafting = Talk(path, backend, False), Talk(path, backend, True)
    texts = prompts(3)
    asked = [*requests(texts[:2]), *requests(texts[2:], temperature=0.8, n=2)]
    want = plain.say(*asked)
    assert drafting.say(*asked) == want
    assert drafting.policy.drafted > 30
    assert 0.2 <= drafting.policy.accepted / drafting.policy.drafted <= 0.9
    assert drafting.say(*asked, preempt=6) == want
    assert drafting.engine.check() == 0


@pytest.mark.parametrize("noise", [0.0, 40.0])
def test_acceptance_comes_from_the_weights(tmp_path: Path, noise: float) -> None:
    path = make_layer_head_predictable(save_with_layer_head("glm4_moe", tmp_path / "m"), noise)
    drafting = Talk(path, "torch", True)
    assert drafting.say(*requests(prompts(2))) == Talk(path, "torch", False).say(*requests(prompts(2)))
    share = drafting.policy.accepted / drafting.policy.drafted
    assert share > 0.99 if not noise else share < 0.2
