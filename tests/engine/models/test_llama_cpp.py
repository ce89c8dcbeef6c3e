"""The greedy text of llama.cpp, of each architecture: from files that are made as its own converter makes them, and from those that
`grus convert` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.weights.convert import convert
from tests import llamacpp_files
from tests.checkpoints import MODELS, save
from tests.llamacpp_peer import MARKS, both

pytestmark = MARKS

# How far apart logits may be, as a share of their length: llama.cpp's GELU is a table in half precision.
EXACT, ROUNDED = 1e-4, 2e-3
ROOM = dict.fromkeys(("gemma3", "gemma4", "gemma4_moe", "gemma4_unified"), ROUNDED) | {"gemma3n": 6e-3}
# Where llama.cpp computes something else than the models' makers do, and we follow these.
CHANGES: dict[str, dict[str, Any]] = {
    "gpt_oss": {  # it rounds YaRN's range to whole dimensions, which gpt-oss does not
        "rope_parameters": dict(rope_type="yarn", rope_theta=150000.0, factor=1.0, original_max_position_embeddings=16)
    },
    "phi3": {"sliding_window": None},  # it knows no window of Phi's
    # it cuts gates by the deviation of a sample, which differs less the more gates there are
    "gemma3n": {"intermediate_size": 2048},
}
LEFT_OUT = ("phi3_long",)  # it has a test of its own below


NAMES = [name for name in llamacpp_files.FAMILIES if name not in LEFT_OUT]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_the_same(tmp_path: Path, name: str, backend: str) -> None:
    agree(llamacpp_files.write(name, tmp_path / "m.gguf", **CHANGES.get(name, {})), name, backend)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("trained", [32, 600])
def test_two_ropes(tmp_path: Path, trained: int, backend: str) -> None:
    """llama.cpp chooses one by the size of its context, which is 512 here; we by a text's own length, as the models' makers do."""
    rope = MODELS["phi3_long"][1]["rope_parameters"] | {"original_max_position_embeddings": trained}
    changes = dict(
        original_max_position_embeddings=trained, rope_parameters=rope, max_position_embeddings=2 * trained + 256
    )
    file = convert(save("phi3_long", tmp_path / "folder", **changes), tmp_path / "m.gguf")
    agree(file, "phi3_long", backend, long=trained < 512)


@pytest.mark.parametrize("name", [*(name for name in NAMES if " " not in name), "gemma4_unified"])
def test_what_is_converted_has_the_same_text(tmp_path: Path, name: str) -> None:
    changes = llamacpp_files.FIXED.get(name, {}) | CHANGES.get(name, {})
    agree(convert(save(name, tmp_path / "folder", **changes), tmp_path / "m.gguf"), name, "torch")


def agree(path: Path, name: str, backend: str, long: bool = False) -> None:
    choices, most = [], 0.0
    for got, want in both(path, backend, long):
        most = max(most, float(np.linalg.norm(got - want) / np.linalg.norm(want)))
        choices.append((int(got.argmax()), int(want.argmax())))
    assert [ours for ours, _ in choices] == [theirs for _, theirs in choices]
    assert most <= ROOM.get(name, EXACT)
    assert len({theirs for _, theirs in choices}) >= 8  # a model that repeats itself would prove little
