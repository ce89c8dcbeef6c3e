"""LoRA adapters on every architecture and both backends, against the reference's weights with the adapter merged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Adapters, Sampling, Segment
from engine.adapters import put_adapter
from engine.models.registry import find_architecture
from engine.weights.lora import fitted, open_lora, tail
from engine.weights.view import build
from tests.asserting import every
from tests.checkpoints import MODELS, reference_cached, save
from tests.driver import Driver
from tests.lora_adapters import RandomLora, random_lora

BACKENDS = ("torch", "mlx")
NAMES = [name for name in MODELS if name != "phi3_long"]
PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
OTHER = [9, 3, 77, 41, 200, 11, 5]


class AdaptedDriver(Driver):
    """A model that takes adapters."""

    def __init__(self, folder: Path, backend: str, dtype: str = "f32") -> None:
        super().__init__(folder, backend, dtype)
        self.adapters = Adapters()
        make = find_architecture(self.checkpoint.config, folder.name)
        config = self.checkpoint.config
        self.model: Any = build(lambda view: make(view, config), self.checkpoint, self.backend, adapters=self.adapters)
        self.model.adapters = self.adapters
        self.kv = self.backend.kv(self.model.memory, 1 << 30, 32)
        self.runner = self.backend.runner(self.model, self.kv)

    def put(self, key: str, folder: Path) -> None:
        put_adapter(self.adapters, self.backend, self.checkpoint.config, key, open_lora(folder))

    def together(self, prompts: Sequence[tuple[Sequence[int], str | None]]) -> list[np.ndarray]:
        """Logits of every position of several sequences in one step."""
        slots = [self.kv.open(len(ids)) for ids, _ in prompts]
        segments = [
            Segment(slot, ids, want=range(len(ids)), adapter=adapter)
            for slot, (ids, adapter) in zip(slots, prompts)
            if slot is not None
        ]
        made = self.runner.run(segments).read()
        logits = [made[segment.slot].logits for segment in segments]
        for segment in segments:
            self.kv.close(segment.slot)
        return [rows for rows in logits if rows is not None]

    def greedily(self, prompts: Sequence[tuple[Sequence[int], str | None]], n: int) -> list[list[int]]:
        """Greedy tokens of several sequences, all in every step."""
        slots = {}
        for i, (ids, _) in enumerate(prompts):
            slots[i] = self.kv.open(len(ids) + n)
        given = [list(ids) for ids, _ in prompts]
        out: list[list[int]] = [[] for _ in prompts]
        for _ in range(n):
            segments = [
                Segment(slots[i], given[i], sample=Sampling(), adapter=adapter)
                for i, (_, adapter) in enumerate(prompts)
            ]
            made = self.runner.run(segments).read()
            for i in range(len(prompts)):
                given[i] = made[slots[i]].ids
                out[i] += given[i]
        for slot in slots.values():
            self.kv.close(slot)
        return out


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    root = tmp_path_factory.mktemp("bases")

    @cache
    def folder(name: str) -> Path:
        return save(name, root / name)

    return folder


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def logits_of(model: Any, ids: Sequence[int]) -> np.ndarray:
    import torch

    with torch.no_grad():
        found: np.ndarray = model(torch.tensor([list(ids)])).logits[0].numpy()
    return found


def greedy_of(model: Any, ids: Sequence[int], n: int) -> list[int]:
    import torch

    with torch.no_grad():
        out = model.generate(
            torch.tensor([list(ids)]), max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0
        )
    tokens: list[int] = out[0, len(ids) :].tolist()
    return tokens


def adaptable(driver: AdaptedDriver) -> Callable[[str], bool]:
    """Whether one of a reference's linears is a matrix of the model that takes adapters."""
    tails = {tail(name) for name in driver.adapters.parts}
    return lambda name: tail(name) in tails


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_every_linear_of_every_architecture_takes_an_adapter(
    folders: Callable[[str], Path], tmp_path: Path, name: str, backend: str
) -> None:
    """In one step with a sequence of the base model, which does not change."""
    driver, model = AdaptedDriver(folders(name), backend), reference_cached(name)
    lora = random_lora(model, 1, adaptable(driver), spread=0.1)
    assert (
        {"q_proj", "o_proj"} & {module.rpartition(".")[2] for module in lora.pairs} or "phi3" in name or "lfm2" in name
    )
    driver.put("one", lora.save_peft(tmp_path))
    with_it, without = driver.together([(PROMPT, "one"), (PROMPT, None)])
    want = logits_of(lora.merged(model), PROMPT)
    assert worst(without, logits_of(model, PROMPT)) <= 1e-4
    assert worst(with_it, want) <= 1e-4
    assert worst(without, want) > 1e-2, "the adapter changes next to nothing, so this would prove little"


@pytest.fixture(scope="module")
def three() -> list[RandomLora]:
    model = reference_cached("qwen3")
    return [
        random_lora(model, 1, spread=0.1),
        random_lora(model, 2, r"(q|v)_proj$", rank=7, alpha=14),
        random_lora(model, 3, r"(down_proj|lm_head|k_proj)$", rank=3, rslora=True, spread=0.15),
    ]


class TestBatches:
    @pytest.mark.parametrize("backend", BACKENDS)
    def test_three_adapters_and_the_base_in_one_batch_are_each_as_alone(
        self, folders: Callable[[str], Path], tmp_path: Path, three: list[RandomLora], backend: str
    ) -> None:
        driver, model = AdaptedDriver(folders("qwen3"), backend), reference_cached("qwen3")
        for i, lora in enumerate(three):
            driver.put(f"{i}", lora.save_peft(tmp_path / f"{i}"))
        wanted = [greedy_of(lora.merged(model), PROMPT, 32) for lora in three] + [greedy_of(model, PROMPT, 32)]
        assert len({tuple(tokens) for tokens in wanted}) == 4
        chosen: list[str | None] = ["0", "1", "2", None]
        alone = [driver.greedily([(PROMPT, adapter)], 32)[0] for adapter in chosen]
        assert alone == wanted
        # of other lengths beside them, in another order, and one twice: rows of one adapter lie apart
        mixed: list[tuple[Sequence[int], str | None]] = [
            (PROMPT, "2"), (OTHER, "0"), (PROMPT, None), (PROMPT, "0"), (OTHER, None), (PROMPT, "1"), (OTHER, "2"),
        ]  # fmt: skip
        got = driver.greedily(mixed, 32)
        assert [got[3], got[5], got[0], got[2]] == wanted

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_an_adapter_that_was_removed_leaves_nothing(
        self, folders: Callable[[str], Path], tmp_path: Path, three: list[RandomLora], backend: str
    ) -> None:
        driver = AdaptedDriver(folders("qwen3"), backend)
        before = driver.logits(PROMPT)
        for key, lora in zip("ab", three):
            driver.put(key, lora.save_peft(tmp_path / key))
        (first,) = driver.together([(PROMPT, "b")])
        driver.adapters.remove("a")
        (second,) = driver.together([(PROMPT, "b")])
        driver.adapters.remove("b")
        assert np.array_equal(first, second)
        assert np.array_equal(driver.logits(PROMPT), before)
        assert not driver.adapters.names
        assert every(not part.linear.sides for part in driver.adapters.parts.values())

    def test_the_program_of_the_cpu_kernels_runs_adapters(
        self, folders: Callable[[str], Path], tmp_path: Path, three: list[RandomLora]
    ) -> None:
        """And steps without one run the program that they ran before."""
        driver = AdaptedDriver(folders("qwen3"), "torch")
        driver.put("0", three[0].save_peft(tmp_path))
        runner: Any = driver.runner
        driver.together([(PROMPT, None)])
        plain = runner._traced
        driver.together([(PROMPT, "0"), (OTHER, None)])
        adapted = runner._traced_adapted[1]
        if plain is None:
            pytest.skip("no kernels on this machine")
        assert adapted is not None
        assert adapted is not plain
        assert runner._traced is plain
        assert len(adapted.program._code) > len(plain.program._code)


class TestForms:
    @pytest.mark.parametrize("backend", BACKENDS)
    def test_patterns_of_ranks_and_alphas_and_rslora(
        self, folders: Callable[[str], Path], tmp_path: Path, backend: str
    ) -> None:
        model = reference_cached("qwen3")
        lora = random_lora(
            model,
            5,
            spread=0.1,
            rslora=True,
            ranks={"layers.1.mlp.up_proj": 9, "o_proj": 2},
            alphas={"layers.0.mlp.up_proj": 3},
        )
        assert len(set(lora.scales.values())) == 4
        driver = AdaptedDriver(folders("qwen3"), backend)
        driver.put("a", lora.save_peft(tmp_path))
        assert worst(driver.together([(PROMPT, "a")])[0], logits_of(lora.merged(model), PROMPT)) <= 1e-4

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_a_folder_of_mlx_lm_is_the_same_adapter(
        self, folders: Callable[[str], Path], tmp_path: Path, backend: str
    ) -> None:
        lora = random_lora(reference_cached("qwen3"), 6, spread=0.1)
        driver = AdaptedDriver(folders("qwen3"), backend)
        driver.put("peft", lora.save_peft(tmp_path / "peft"))
        driver.put("mlx", lora.save_mlx(tmp_path / "mlx"))
        one, other = (driver.together([(PROMPT, key)])[0] for key in ("peft", "mlx"))
        assert np.array_equal(one, other)

    def test_names_before_the_layers_do_not_matter(self, tmp_path: Path) -> None:
        """transformers, MLX and GGUF put other words there."""
        lora = random_lora(reference_cached("qwen3"), 6)
        files = open_lora(lora.save_peft(tmp_path))
        shapes = {f"model.language_model.{tail(name)}": (b.shape[0], a.shape[1]) for name, (a, b) in lora.pairs.items()}
        assert set(fitted(files, shapes, {})) == set(shapes)
