"""The codec SNAC against its own package, on both backends: codes, sound, and sound in pieces."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
import torch
from snac import SNAC

from engine.errors import BadRequest, ConfigError, WeightsError
from engine.loading import LoadOptions, load_any
from engine.models.snac import SnacStream
from tests.snac_checkpoint import TINY, reference, save

BACKENDS = ("torch", "mlx")


def quiet(model: SNAC) -> SNAC:
    """Without the noise that the reference draws anew each time."""
    for module in model.modules():
        if type(module).__name__ == "NoiseBlock":
            module.forward = lambda x: x
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("snac"))


@pytest.fixture(scope="module")
def load(folder):
    return cache(lambda backend: load_any(str(folder), LoadOptions(backend=backend, device="cpu")).model)


@cache
def sound() -> np.ndarray:
    t = np.arange(24000) / 24000
    noise = np.random.default_rng(1).standard_normal(len(t))
    return (0.3 * np.sin(2 * np.pi * 300 * t * (1 + t)) + 0.05 * noise).astype(np.float32)


@cache
def expected() -> tuple[list[np.ndarray], np.ndarray]:
    model = quiet(reference())
    with torch.inference_mode():
        codes = model.encode(torch.from_numpy(sound())[None, None])
        return [level[0].numpy() for level in codes], model.decode(codes)[0, 0].numpy()


def run(work):
    pieces = 0
    while True:
        try:
            next(work)
            pieces += 1
        except StopIteration as end:
            assert pieces > 0
            return end.value


@pytest.mark.parametrize("backend", BACKENDS)
class TestAgainstTheReference:
    def test_codes(self, load, backend):
        for made, wanted in zip(run(load(backend).encode(sound())), expected()[0]):
            np.testing.assert_array_equal(made, wanted)
            assert len(set(wanted.tolist())) > 4

    def test_sound(self, load, backend, monkeypatch):
        codec = load(backend)
        for block in codec.blocks:
            monkeypatch.setattr(block.noise, "table", np.zeros(16, np.float32))
        made = run(codec.decode(expected()[0]))
        assert made.shape == expected()[1].shape
        np.testing.assert_allclose(made, expected()[1], atol=1e-3 * np.abs(expected()[1]).max())

    def test_sound_in_pieces_is_the_whole_sound(self, load, backend):
        codec = load(backend)
        random = np.random.default_rng(3)
        frames = 40
        codes = [random.integers(0, 64, frames * n).astype(np.int32) for n in codec.sizes]
        whole = run(codec.decode(codes))
        stream, parts, at = SnacStream(codec), [], 0
        while at < frames:
            size = int(random.integers(1, 6))
            stop = min(frames, at + size)
            piece = [level[at * n : stop * n] for level, n in zip(codes, codec.sizes)]
            work = stream.push(piece, last=stop == frames)
            parts.append(next_value(work))
            at = stop
        np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-4)
        assert len(stream._codes[0]) <= 2 * codec.reach + 6
        assert sum(len(part) > 0 for part in parts) > 3


def next_value(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_the_noise_is_heard_and_is_always_the_same(load):
    codec = load("torch")
    first, second = run(codec.decode(expected()[0])), run(codec.decode(expected()[0]))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - expected()[1]).max() > 1e-3


@pytest.mark.parametrize("codes", [
    [[0], [0], [0]], [[0], [0, 0], [0, 0, 0, 64]], [[0], [0, 0], [0, 0, 0, -1]], [[], [], []], [[0]],
])  # fmt: skip
def test_codes_that_cannot_be(load, codes):
    with pytest.raises(BadRequest):
        run(load("torch").decode([np.array(level, np.int32) for level in codes]))


def test_a_kind_that_is_not_supported(folder, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY | {"attn_window_size": 32}))
    (tmp_path / "pytorch_model.bin").symlink_to(folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="24 kHz"):
        load_any(str(tmp_path))


class Evil:
    def __reduce__(self):
        return print, ("this must never be seen",)


@pytest.mark.parametrize("state", [{"a": Evil()}, [1, 2], {"a": 1}])
def test_a_pickle_that_is_no_weights(tmp_path, capsys, state):
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    torch.save(state, tmp_path / "pytorch_model.bin")
    with pytest.raises(WeightsError):
        load_any(str(tmp_path))
    assert "never be seen" not in capsys.readouterr().out


def test_damaged_pickles(folder, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    data = (folder / "pytorch_model.bin").read_bytes()
    random = np.random.default_rng(0)
    for cut in (0, 10, 1000, len(data) // 2, len(data) - 30):
        (tmp_path / "pytorch_model.bin").write_bytes(data[:cut])
        with pytest.raises(WeightsError):
            load_any(str(tmp_path))
    for _ in range(40):
        broken = bytearray(data)
        for at in random.integers(0, 6000, 3):
            broken[at] = random.integers(0, 256)
        (tmp_path / "pytorch_model.bin").write_bytes(bytes(broken))
        try:
            load_any(str(tmp_path)).close()
        except WeightsError:
            continue
