"""Every architecture, on both backends, against the reference library: one checkpoint, the same numbers.

Greedy tokens must be identical; where the reference itself is undecided (its two best logits differ by less than
1e-5 of their scale), the sequences may part, and the test says how often that was so: never, at this writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.checkpoints import MODELS, reference_cached, save
from tests.driver import Driver

BACKENDS = ("torch", "mlx")
SPELLINGS = {"torch": "old", "mlx": "new"}  # of config.json: each architecture is held in both
NAMES = [name for name in MODELS if name != "phi3_long"]
PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
GREEDY = 64
WIDE, NARROW = 0.2, 0.05  # standard deviations of the random weights
SAME = 5e-5  # what two orders of summation may differ by in f32, relative to the scale


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Driver]]:
    root = tmp_path_factory.mktemp("checkpoints")

    @cache
    def folder(name: str, spread: float, spelling: str) -> Path:
        return save(name, root / f"{name}-{spread}-{spelling}", spelling, spread=spread)

    @cache
    def driver(name: str, backend: str, dtype: str = "f32", spread: float = WIDE) -> Driver:
        return Driver(folder(name, spread, SPELLINGS[backend]), backend, dtype)

    yield driver
    driver.cache_clear()


@cache
def expected_logits(name: str, spread: float = WIDE) -> np.ndarray:
    import torch

    with torch.no_grad():
        return reference_cached(name, spread)(torch.tensor([PROMPT])).logits[0].numpy()


@cache
def expected_greedy(name: str) -> tuple[list[int], list[float]]:
    """The reference's greedy tokens, and by how much each beat the second best, relative to the logits' scale."""
    import torch

    model = reference_cached(name)
    with torch.no_grad():
        out = model.generate(
            torch.tensor([PROMPT]),
            max_new_tokens=GREEDY,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    margins = ((best[:, 0] - best[:, 1]) / best.abs().max()).tolist()
    return out.sequences[0, len(PROMPT) :].tolist(), margins


def worst(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the scale of `b`."""
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
class TestParity:
    def test_prefill_logits(self, drivers: Callable[..., Driver], name: str, backend: str) -> None:
        assert worst(drivers(name, backend).logits(PROMPT), expected_logits(name)) <= 1e-4

    def test_greedy_tokens(self, drivers: Callable[..., Driver], name: str, backend: str) -> None:
        want, margins = expected_greedy(name)
        assert len(set(want)) > 15, "the reference repeats itself, so this would prove little"
        got = drivers(name, backend).greedy(PROMPT, GREEDY)
        if got != want:
            parted = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
            assert margins[parted] < 1e-5, f"token {parted}: {got[parted]}, expected {want[parted]}"

    def test_chunks_equal_whole(self, drivers: Callable[..., Driver], name: str, backend: str) -> None:
        driver = drivers(name, backend)
        whole = driver.logits(PROMPT)
        for chunks in ([1, len(PROMPT) - 1], [7, 9, 7], [16, 2, 5]):
            assert worst(driver.logits(PROMPT, chunks), whole) <= SAME

    def test_decode_equals_prefill(self, drivers: Callable[..., Driver], name: str, backend: str) -> None:
        driver = drivers(name, backend)
        assert worst(driver.logits(PROMPT, [1] * len(PROMPT)), driver.logits(PROMPT)) <= SAME

    def test_bf16_points_the_same_way(self, drivers: Callable[..., Driver], name: str, backend: str) -> None:
        """With weights as narrow as trained ones: wide ones magnify rounding until the reference's own bf16 fails this."""
        got = drivers(name, backend, "bf16", NARROW).logits(PROMPT)
        want = expected_logits(name, NARROW)
        assert float((got * want).sum() / (np.linalg.norm(got) * np.linalg.norm(want))) >= 0.999


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_tokens_held_on_the_device_are_the_same(drivers: Callable[..., Driver], name: str, backend: str) -> None:
    driver = drivers(name, backend)
    assert driver.greedy(PROMPT, 12, held=True) == driver.greedy(PROMPT, 12)
