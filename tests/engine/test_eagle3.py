"""EAGLE-3 heads: what they compute, and replies with and without their drafts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Segment
from engine.draft_head import DraftHeadSpeculation
from engine.engine import Engine
from engine.errors import ConfigError
from engine.loading import LoadedModel, LoadOptions, load
from engine.models.eagle3 import is_eagle3, tapped_layers
from engine.types import Settings
from tests.checkpoints import save
from tests.eagle_heads import DRAFTED, TAPPED, eagle_logits, make_eagle_predictable, save_eagle, save_target, taps_of
from tests.engine.test_prediction_head import AlwaysDrafts, Talk, prompts, requests


def loaded_with(target: Path, head: Path | None, backend: str) -> LoadedModel:
    options = LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none", eagle=head and str(head))
    return load(str(target), options)


class EagleTalk(Talk):
    def __init__(self, target: Path, head: Path, backend: str) -> None:
        loaded = loaded_with(target, head, backend)
        chosen = Settings(prefill_chunk=16, speculation="draft", draft_model=str(head))
        self.engine = Engine(lambda _: loaded, chosen, start=False)
        self.policy, self.drafts = AlwaysDrafts(), True


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize(
    ("embeddings", "changes"),
    [
        (False, {}),
        (True, {"norm_before_residual": True, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 3, 4]}}),
    ],
)
def test_logits_are_the_references(tmp_path: Path, embeddings: bool, changes: dict[str, Any], backend: str) -> None:
    """Of the target's states in a prompt and token by token, and of the head's own behind them."""
    target = save_target(tmp_path / "target")
    folder = save_eagle(target, tmp_path / "head", embeddings=embeddings, **changes)
    loaded = loaded_with(target, folder, backend)
    head = loaded.draft_head
    assert head is not None
    assert head.target_ids is not None
    ids = np.random.default_rng(3).integers(0, 250, 21).tolist()
    slot = loaded.kv.open(40)
    assert slot is not None
    hidden = loaded.runner.run([Segment(slot, ids[:-1], hidden=True)]).read()[slot].hidden
    assert hidden is not None
    taps = taps_of(target, ids[:-1])
    width = taps.shape[1] // 3
    np.testing.assert_allclose(hidden[:, width:], taps.numpy(), atol=1e-4 * float(taps.abs().max()))

    mine = head.kv.open(40)
    assert mine is not None
    head.prefill.run([Segment(mine, ids[1:13], add=head.beside(hidden[:12]))]).read()
    chunk = Segment(mine, ids[13:20], add=head.beside(hidden[12:19]), want=range(7), hidden=True)
    first = head.runner.run([chunk]).read()[mine]
    last = Segment(mine, [ids[20]], add=head.beside(hidden[19:20]), want=range(1), hidden=True)
    second = head.runner.run([last]).read()[mine]
    want, totals = eagle_logits(target, folder, ids[1:], taps)
    close = {"atol": 1e-4 * float(want.abs().max())}
    assert first.logits is not None
    assert second.logits is not None
    assert second.hidden is not None
    np.testing.assert_allclose(first.logits, want[12:19].numpy(), **close)
    np.testing.assert_allclose(second.logits, want[19:].numpy(), **close)
    drafted = Segment(mine, [7], add=head.own(second.hidden), want=range(1))
    third = head.runner.run([drafted]).read()[mine]
    want, _ = eagle_logits(target, folder, [*ids[1:], 7], taps, totals[-1:])
    assert third.logits is not None
    assert third.logits.shape == (1, DRAFTED)
    np.testing.assert_allclose(third.logits, want[20:].numpy(), **close)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_drafts_change_no_token(tmp_path: Path, backend: str) -> None:
    """Greedy and sampled, several sequences at once, preempted, and conversations that go on. Some tokens are none of the head's."""
    target, head = save_target(tmp_path / "target"), tmp_path / "head"
    make_eagle_predictable(target, save_eagle(target, head), 0.5)
    plain, drafting = Talk(target, backend, False), EagleTalk(target, head, backend)
    texts = prompts(3)
    asked = [*requests(texts[:2]), *requests(texts[2:], temperature=0.8, n=2)]
    want = plain.say(*asked)
    assert drafting.say(*asked) == want
    assert drafting.policy.drafted > 30
    assert 0.2 <= drafting.policy.accepted / drafting.policy.drafted <= 0.95
    assert drafting.say(*asked, preempt=6) == want
    longer = [[*text, *ids, 5, 9] for text, (ids, _) in zip(texts, want)]
    assert drafting.say(*requests(longer)) == plain.say(*requests(longer))
    assert drafting.engine.check() == 0


@pytest.mark.parametrize(("noise", "least", "most"), [(0.0, 0.5, 1.0), (40.0, 0.0, 0.2)])
def test_acceptance_comes_from_the_weights(tmp_path: Path, noise: float, least: float, most: float) -> None:
    target, head = save_target(tmp_path / "target"), tmp_path / "head"
    make_eagle_predictable(target, save_eagle(target, head), noise)
    drafting = EagleTalk(target, head, "torch")
    assert drafting.say(*requests(prompts(2))) == Talk(target, "torch", False).say(*requests(prompts(2)))
    assert least <= drafting.policy.accepted / drafting.policy.drafted <= most


def test_the_command_drafts_with_a_folder(tmp_path: Path) -> None:
    target, head = save_target(tmp_path / "target"), tmp_path / "head"
    make_eagle_predictable(target, save_eagle(target, head), 0.0)

    def run(*options: str) -> dict[str, Any]:
        given = ["--raw", "--json", "--max-tokens", "40", "--temperature", "0", "--dtype", "f32", "--backend", "torch"]
        command = [sys.executable, "-m", "app.cli", "run", str(target), "Once upon a time", *given, *options]
        found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return found

    drafted = run("--draft", str(head))
    assert drafted["timings"]["drafted_tokens"] > 0
    assert drafted["output_ids"] == run()["output_ids"]


def test_a_head_of_another_model_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    target = save_target(tmp_path / "target")
    head = save_eagle(target, tmp_path / "head")
    other = save("llama", tmp_path / "narrow", "old", num_hidden_layers=8, hidden_size=32)
    loaded = loaded_with(other, head, "torch")
    assert loaded.draft_head is None
    assert "does not draft for" in caplog.text
    talk = EagleTalk(other, head, "torch")
    talk.drafts = False
    assert talk.say(*requests(prompts(1))) == Talk(other, "torch", False).say(*requests(prompts(1)))
    assert not isinstance(talk.executor.speculation if talk.engine._manager.executors else None, DraftHeadSpeculation)


def test_which_layers_are_read() -> None:
    assert tapped_layers({}, 32) == [2, 16, 29]
    assert tapped_layers({"eagle_aux_hidden_state_layer_ids": [2, 5, 32]}, 32) == [2, 5, 32]
    assert tapped_layers({"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 14, 27]}}, 32) == [2, 15, 28]
    assert tuple(tapped_layers({}, 8)) == TAPPED
    with pytest.raises(ConfigError, match="reads layers"):
        tapped_layers({"eagle_aux_hidden_state_layer_ids": [2, 5, 33]}, 32)
    assert is_eagle3({"architectures": ["LlamaForCausalLMEagle3"]})
    assert is_eagle3({"architectures": ["Eagle3Speculator"]})
    assert not is_eagle3({"architectures": ["LlamaForCausalLM"], "vocab_size": 5})
