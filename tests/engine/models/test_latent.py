"""Multi-head latent attention: what the cache keeps of it, in both ways of computing it, and beside other sequences."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Segment
from backends.torch.cuda_graphs import DecodeGraphs
from backends.torch.program import TracedModel
from engine.loading import LoadedModel, LoadOptions, load
from tests import llamacpp_files
from tests.checkpoints import save
from tests.driver import Driver
from tests.needs import no_kernels

BACKENDS = ("torch", "mlx")
RANDOM = np.random.default_rng(8)
IDS = RANDOM.integers(0, 250, 40).tolist()
ROW = 64 + 16  # the latent, and the key that all heads share


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    root = tmp_path_factory.mktemp("latent")
    return cache(lambda name, **changes: save(name, root / f"{name}-{len(changes)}", "old", **changes))


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_token_keeps_one_latent_and_one_key(folder: Callable[..., Path], backend: str) -> None:
    driver = Driver(folder("deepseek_v3"), backend)
    assert driver.kv.bytes_for(256) == 3 * 256 * ROW * 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_long_chunks_make_keys_and_values_of_latents(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    """And some heads at a time, where all of them would be too much."""
    driver = Driver(folder("deepseek_v3"), backend)
    heads = [layer.mixer.projected for layer in driver.model.layers]  # type: ignore[attr-defined]
    assert {one.expand_from for one in heads} == {10}
    expanded: list[tuple[int, int]] = []
    whole = driver.logits(IDS, [20, 20])
    for one in heads:
        make = one.expand
        monkeypatch.setattr(
            one,
            "expand",
            lambda rows, first, last, make=make: expanded.append((first, last)) or make(rows, first, last),
        )
    monkeypatch.setattr("backends.plan.MOST_EXPANDED", 40 * (48 + 20) * 3)
    assert worst(driver.logits(IDS, [20, 20]), whole) <= 1e-5
    assert expanded == [(0, 4), (0, 4), (0, 4), (0, 3), (3, 4), (0, 3), (3, 4), (0, 3), (3, 4)]
    for one in heads:
        one.expand_from = 1000
    assert worst(driver.logits(IDS, [20, 20]), whole) <= 1e-5
    assert len(expanded) == 9


@pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())
@pytest.mark.parametrize("behind", [0, 20])
def test_a_chunk_that_makes_keys_and_values_is_no_program(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    """However many tokens lie behind it: a program attends to latents as they are, which is more work from there on."""
    programs: list[int] = []
    run = TracedModel.run
    monkeypatch.setattr(
        TracedModel, "run", lambda self, plan, *more: programs.append(plan.total) or run(self, plan, *more)
    )
    driver = Driver(folder("deepseek_v3"), "torch")
    for tokens in (9, 10):
        driver.logits(IDS[: behind + tokens], [*[1] * behind, tokens])
    assert programs == [*[1] * behind, 9, *[1] * behind]


@pytest.mark.parametrize("backend", BACKENDS)
def test_long_prompts_are_attended_to_in_parts(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    driver = Driver(folder("deepseek_v3"), backend)
    whole = driver.logits(IDS, [31, 9])
    monkeypatch.setattr("backends.torch.cache.MOST_SCORES", 400)
    monkeypatch.setattr("backends.plan.MOST_EXPANDED", 400)
    assert worst(driver.logits(IDS, [31, 9]), whole) <= 1e-5


@pytest.mark.parametrize(("bits", "room"), [(16, 2e-3), (8, 0.045), (4, 0.25)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_latents_in_fewer_bits(folder: Callable[..., Path], backend: str, bits: int, room: float) -> None:
    """Without mixtures, whose routers may choose others."""
    chunks, path = [20, 5, *[1] * 15], folder("deepseek_v3", spread=0.1, first_k_dense_replace=3)
    whole = Driver(path, backend).logits(IDS, chunks)
    fewer = Driver(path, backend, kv_bits=bits)
    assert fewer.kv.bytes_for(256) < 3 * 256 * ROW * (bits / 8 + 1)
    got = fewer.logits(IDS, chunks)
    share = np.linalg.norm(got - whole) / np.linalg.norm(whole)
    assert 0 < share <= room, share


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_sequences_in_one_step(folder: Callable[..., Path], backend: str) -> None:
    """Of different lengths, in rows that are not neighbours, beside a chunk of a prompt."""
    driver = Driver(folder("deepseek_v3"), backend)
    prompts = [IDS[: 7 + 6 * i] for i in range(5)]
    want = [driver.logits([*prompt, 3])[-1] for prompt in prompts]
    slots = [driver.kv.open(64) for _ in prompts]
    for slot, prompt in zip(slots, prompts):
        driver.runner.run([Segment(slot, prompt)]).read()
    driver.kv.close(slots[1])
    step = [Segment(slots[i], [3], want=range(1)) for i in (4, 0, 2)]
    more = driver.kv.open(64)
    out = driver.runner.run([*step, Segment(more, prompts[1], want=range(13))]).read()
    for i in (4, 0, 2):
        assert worst(out[slots[i]].logits[0], want[i]) <= 1e-5
    assert worst(out[more].logits[-1], driver.logits(prompts[1])[-1]) <= 1e-5


@pytest.mark.parametrize(
    "backend", [pytest.param("torch", marks=pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())), "mlx"]
)
def test_heads_in_blocks_stay_in_them(tmp_path: Path, backend: str) -> None:
    """The CPU kernels multiply by them as they lie in the file, but in one direction: so they never expand a chunk."""
    changes: dict[str, Any] = dict(qk_nope_head_dim=32, v_head_dim=16, spread=0.05, first_k_dense_replace=3)
    options = LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none")
    ends = ("attn_k_b.weight", "attn_v_b.weight")
    paths = [tmp_path / name for name in ("plain.gguf", "blocks.gguf")]
    llamacpp_files.write("deepseek_v3", paths[0], **changes)
    llamacpp_files.write("deepseek_v3", paths[1], "Q8_0", ends, **changes)
    plain, packed = (load(str(path), options) for path in paths)
    heads = packed.model.layers[0].mixer.projected
    assert heads.keys.transposes == (backend == "mlx")
    assert (heads.expand_from < 100) == (backend == "mlx")
    whole = logits(plain, [20, 20])
    for chunks in ([20, 20], [38, 1, 1], [*[1] * 40]):
        got = logits(packed, chunks)
        assert 0 < np.linalg.norm(got - whole) / np.linalg.norm(whole) < 0.02


def logits(model: LoadedModel, chunks: list[int]) -> np.ndarray:
    """Of every position."""
    slot, rows, at = model.kv.open(len(IDS)), [], 0
    assert slot is not None
    for size in chunks:
        rows.append(model.runner.run([Segment(slot, IDS[at : at + size], want=range(size))]).read()[slot].logits)
        at += size
    return np.concatenate([row for row in rows if row is not None])


def test_a_captured_step_says_the_same(folder: Callable[..., Path]) -> None:
    """As it runs on CUDA, here without capture."""
    import torch

    class Plain:
        def __init__(self, fn: Callable[..., object], _: object) -> None:
            self.fn = fn

        def replay(self, args: tuple[torch.Tensor, ...]) -> object:
            return self.fn(*args)

    driver = Driver(folder("deepseek_v3"), "torch")
    want = driver.greedy(IDS[:9], 12)
    driver.runner.graphs = DecodeGraphs(driver.model, driver.kv, Plain)  # type: ignore[attr-defined]
    assert driver.greedy(IDS[:9], 12) == want
