"""PP-OCRv6 on both backends against the reference library: maps of text, characters of lines, published shapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import ConfigError
from engine.loading import LoadOptions, load_any
from engine.models.registry import find_part
from engine.weights.view import check
from tests.ppocr_checkpoints import made, reference, save

BACKENDS = ("torch", "mlx")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("ppocr")
    return cache(lambda kind: save(kind, root / kind))


def run(place: Path, backend: str, work: Callable[[Any], Any], dtype: str = "f32") -> Any:
    options = LoadOptions(backend=backend, device="cpu", dtype=dtype)  # type: ignore[arg-type]
    with Engine(lambda name: load_any(name, options)) as engine:
        engine.load(str(place))
        return engine.task(str(place), work).result(60)


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(2).normal(0, 1, shape).astype(np.float32)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [(64, 96), (32, 32)])
def test_maps_of_text_are_the_references(place: Callable[[str], Path], backend: str, size: tuple[int, int]) -> None:
    import torch

    pixels = noise(*size, 3)

    def work(loaded: Any) -> Any:
        return (yield from loaded.model.likely(pixels))

    got = run(place("det"), backend, work)
    with torch.no_grad():
        want = reference("det")(torch.from_numpy(pixels).permute(2, 0, 1)[None]).last_hidden_state[0, 0].numpy()
    assert got.shape == want.shape == size
    assert want.std() > 0.05
    assert np.abs(got - want).max() <= 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("batch", "width"), [(1, 320), (3, 64), (2, 70)])
def test_characters_are_the_references(place: Callable[[str], Path], backend: str, batch: int, width: int) -> None:
    import torch

    pixels = 2 * noise(batch, 3, -(-width // 8), 3).repeat(16, 1).repeat(8, 2)[:, :, :width]

    def work(loaded: Any) -> Any:
        shares = yield from loaded.model.shares(pixels)
        found = yield from loaded.model.likely(pixels)
        return loaded.model.ops.numpy(shares), found

    shares, (ids, chances) = run(place("rec"), backend, work)
    with torch.no_grad():
        want = reference("rec")(torch.from_numpy(pixels).permute(0, 3, 1, 2)).last_hidden_state.numpy()
    assert len(set(want.argmax(-1).ravel())) > 1
    assert np.abs(shares.reshape(want.shape) - want).max() <= 1e-4
    assert np.array_equal(ids, want.argmax(-1))
    assert np.abs(chances - want.max(-1)).max() <= 1e-4


def test_by_default_rounding_changes_little(place: Callable[[str], Path]) -> None:
    """Convolutions may be products of bf16: maps and chances are near those of f32, and a character is another one only where two
    are about as likely."""
    page, lines = noise(64, 96, 3), 2 * noise(6, 3, 40, 3).repeat(16, 1).repeat(8, 2)

    def find(loaded: Any) -> Any:
        return (yield from loaded.model.likely(page))

    def read(loaded: Any) -> Any:
        shares = yield from loaded.model.shares(lines)
        return loaded.model.ops.numpy(shares)

    exact, made = (run(place("det"), "torch", find, dtype) for dtype in ("f32", "auto"))
    assert exact.std() > 0.05
    assert np.abs(made - exact).max() < 0.02
    exact, made = (run(place("rec"), "torch", read, dtype) for dtype in ("f32", "auto"))
    assert np.abs(made - exact).max() < 0.05
    first, second = np.sort(exact, -1)[:, -1], np.sort(exact, -1)[:, -2]
    clear = first > 1.1 * second
    assert clear.sum() > 20
    assert np.array_equal(made.argmax(-1)[clear], exact.argmax(-1)[clear])


@pytest.mark.parametrize("kind", ["det", "rec"])
def test_published_shapes_are_accepted_exactly(kind: str) -> None:
    import torch

    with torch.device("meta"):
        model = made(kind, "published")
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    config = json.loads(json.dumps(model.config.to_dict()))
    make = find_part(config)
    assert make is not None
    found = check(lambda w: make(w, config), shapes)
    used = {key: shape for key, shape in shapes.items() if not key.endswith("num_batches_tracked")}
    assert found.parameters == sum(int(np.prod(shape)) for shape in used.values())


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("det", {"backbone_config": {"block_configs": [[[3, 1, 1]]]}}, "a layer of block_configs must be"),
        ("det", {"backbone_config": {"block_configs": [[[3, 64, 8, 1, True]]]}}, "takes 64 channels, but is given 96"),
        ("det", {"backbone_config": {"stem_type": "odd"}}, "stem_type must be large or small"),
        ("det", {"backbone_config": {}, "kernel_list": [3, 3, 3]}, "`kernel_list` is supported as"),
        ("rec", {"backbone_config": {}, "conv_kernel_size": [2, 7]}, "two odd numbers"),
        ("rec", {"backbone_config": {"use_learnable_affine_block": True}}, "learnable affine"),
    ],
)
def test_configs_that_are_not_known_are_named(kind: str, change: dict[str, Any], said: str) -> None:
    model_type = {"det": "pp_ocrv6_medium_det", "rec": "pp_ocrv6_small_rec"}[kind]
    config = {"model_type": model_type, **change}
    make = find_part(config)
    assert make is not None
    with pytest.raises(ConfigError, match=said):
        check(lambda w: make(w, config), {})
