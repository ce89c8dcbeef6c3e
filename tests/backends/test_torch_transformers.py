"""Architectures that run through transformers' own classes: the same tokens as the library alone, behind our seam."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from backends.base import BackendMissing, Sampling, Segment
from backends.torch.backend import TorchBackend
from backends.torch.through_transformers import PackedModel, SequentialModel
from engine.describe import describe
from engine.loading import LoadOptions
from engine.loading import load as load_model
from engine.weights.checkpoint import Checkpoint
from engine.weights.convert import convert
from tests.checkpoints import save
from tests.packed_checkpoints import METHODS, save_packed

GREEDY = Sampling()
PROMPT = [5, 17, 33, 41, 8, 9, 60, 3]
SMALL: dict[str, Any] = {
    "vocab_size": 61,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id")),
}
WIDE: dict[str, Any] = dict(hidden_size=128, intermediate_size=192, num_attention_heads=4, num_key_value_heads=2)
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}
# how each runs, and what is special about it
CASES: dict[str, tuple[type, dict[str, Any]]] = {
    "cohere": (PackedModel, {}),  # logits are scaled behind the head
    "gpt2": (PackedModel, GPT2),  # positions are embeddings
    "olmoe": (PackedModel, {}),  # a mixture
    "opt": (PackedModel, {"ffn_dim": 48, "word_embed_proj_dim": 32}),  # its layers lie one module deeper
    "starcoder2": (PackedModel, {"sliding_window": 6}),
    "gemma2": (SequentialModel, {"head_dim": 8, "sliding_window": 6}),  # attention scores are bounded
    "bloom": (SequentialModel, {"n_layer": 2, "n_head": 4}),  # attention of its own
    "mamba": (SequentialModel, {"state_size": 8, "time_step_rank": 2}),  # its memory cannot be cut
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def make(kind: str) -> Path:
        if kind not in made:
            from transformers import CONFIG_MAPPING, AutoModelForCausalLM

            torch.manual_seed(3)
            net = AutoModelForCausalLM.from_config(CONFIG_MAPPING[kind](**SMALL | CASES[kind][1]))
            with torch.no_grad():
                for weight in net.parameters():
                    weight += torch.randn_like(weight) * 0.1
            made[kind] = tmp_path_factory.mktemp(kind)
            net.save_pretrained(made[kind])
        return made[kind]

    return make


def load(folder: Path, budget: int = 1 << 28, dtype: Any = "f32") -> Any:
    return TorchBackend("cpu", dtype).foreign(folder, budget)


def alone(folder: Path, ids: list[int], count: int) -> list[int]:
    from transformers import AutoModelForCausalLM

    net, out = AutoModelForCausalLM.from_pretrained(folder).eval(), list(ids)
    with torch.inference_mode():
        while len(out) < len(ids) + count:
            out.append(int(net(torch.tensor([out]), use_cache=False).logits[0, -1].argmax()))
    return out[len(ids) :]


@pytest.mark.parametrize("kind", CASES)
def test_a_batch_gives_what_transformers_gives(folder: Callable[[str], Path], kind: str) -> None:
    loaded = load(folder(kind))
    assert isinstance(loaded.model, CASES[kind][0])
    assert loaded.model.vocab == 61
    prompts = [[1, 2, 3], [9, 8, 7, 6, 5], [4]]
    slots = [loaded.kv.open(30) for _ in prompts]
    out = loaded.runner.run([Segment(s, ids=ids, sample=GREEDY) for s, ids in zip(slots, prompts)]).read()
    found = [out[slot].ids for slot in slots]
    for _ in range(9):
        step = loaded.runner.run([Segment(slot, sample=GREEDY) for slot in slots]).read()
        found = [ids + step[slot].ids for ids, slot in zip(found, slots)]
    assert found == [alone(folder(kind), ids, 10) for ids in prompts]


@pytest.mark.parametrize("kind", ["cohere", "gemma2", "mamba"])
def test_chunks_snapshots_and_drafts(folder: Callable[[str], Path], kind: str) -> None:
    loaded = load(folder(kind))
    runner, kv = loaded.runner, loaded.kv
    whole, slot = kv.open(30), kv.open(30)
    logits = runner.run([Segment(whole, ids=[1, 2, 3, 4, 5], want=range(5))]).read()[whole].logits
    runner.run([Segment(slot, ids=[1, 2])]).read()
    taken = kv.snapshot(slot)
    rest = runner.run([Segment(slot, ids=[3, 4, 5], want=range(3))]).read()[slot].logits
    np.testing.assert_allclose(rest, logits[2:], atol=1e-4)
    kv.restore(slot, taken)
    again = runner.run([Segment(slot, ids=[3, 4, 5], want=range(3))]).read()[slot].logits
    np.testing.assert_allclose(again, logits[2:], atol=1e-4)

    want, drafted = alone(folder(kind), [1, 2, 3], 5), kv.open(30)
    first = runner.run([Segment(drafted, ids=[1, 2, 3], sample=GREEDY)]).read()[drafted].ids
    draft = Segment(
        drafted, [*first, want[1], (want[2] + 1) % 61], draft=2, samples=[GREEDY] * 2, sample=GREEDY
    )  # fmt: skip
    output = runner.run([draft]).read()[drafted]
    assert (output.accepted, output.ids, drafted.length) == (1, want[1:3], 5)
    assert runner.run([Segment(drafted, sample=GREEDY)]).read()[drafted].ids == want[3:4]


@pytest.mark.parametrize("kind", ["gemma2", "mamba"])
def test_the_budget_counts_what_the_library_keeps(folder: Callable[[str], Path], kind: str) -> None:
    loaded = load(folder(kind))
    slot = loaded.kv.open(128)
    loaded.runner.run([Segment(slot, ids=[1] * 128)]).read()
    assert loaded.kv.used >= loaded.kv.nbytes(loaded.kv.caches(slot)) * 0.9
    loaded.kv.budget = loaded.kv.used
    assert loaded.kv.open(1) is None
    loaded.kv.close(slot)
    assert loaded.kv.used == 0


def test_half_precision(folder: Callable[[str], Path]) -> None:
    loaded = load(folder("cohere"), dtype="bf16")
    assert isinstance(loaded.model, PackedModel)


def test_code_of_a_checkpoint_never_runs(folder: Callable[[str], Path], tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "modeling.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Net: pass\n")
    config = {
        "model_type": "mystery",
        "auto_map": {"AutoConfig": "modeling.Net", "AutoModelForCausalLM": "modeling.Net"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(BackendMissing, match="custom code"):
        load(tmp_path)
    assert not ran.exists()


@pytest.mark.parametrize("method", [*METHODS, "mlx"])
def test_a_packed_folder_runs_as_its_floats_do(tmp_path: Path, method: str) -> None:
    """Without the package that transformers would need to read it."""
    if method == "mlx":
        save("gemma", tmp_path / "plain", "old", **WIDE)
        convert(tmp_path / "plain", tmp_path / "m", "mlx", "q8_0")
    else:
        save_packed("gemma", tmp_path / "m", method, **WIDE)
    said = describe(str(tmp_path / "m"), LoadOptions(backend="torch", device="cpu"))
    assert said.through.startswith("transformers")
    assert said.kept_as == ["every matrix as plain floats: transformers is given no others"]
    loaded = load_model(str(tmp_path / "m"), LoadOptions(backend="torch", device="cpu", dtype="f32"))
    assert loaded.foreign
    plain = convert(tmp_path / "m", tmp_path / "floats", "safetensors")
    assert (
        loaded.weight_bytes
        == said.memory_needed
        == 4 * sum(int(np.prod(raw.shape)) for raw in Checkpoint.open(plain).tensors.values())
    )
    slot = loaded.kv.open(32)
    assert slot is not None
    (got,) = [loaded.runner.run([Segment(slot, PROMPT, want=range(7, 8))]).read()[slot].logits]
    reference = AutoModelForCausalLM.from_pretrained(plain, dtype=torch.float32).eval()
    with torch.inference_mode():
        want = reference(torch.tensor([PROMPT])).logits[0, -1].numpy()
    # converted folders hold 16 bits
    assert np.linalg.norm(got[-1] - want) <= 0.01 * np.linalg.norm(want)
    loaded.close()
