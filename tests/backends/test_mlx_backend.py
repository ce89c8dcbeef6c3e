"""MLX as a backend, and the rotation that Metal's kernel does (which MLX composes here, with the same meaning)."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from backends.base import BackendMissing, Rope
from backends.mlx import backend as module
from backends.mlx.backend import MlxBackend
from backends.mlx.rotary import Angles, Frequencies
from tests.backends.mlx_tools import raw


def test_a_device_that_is_not_here_is_one_sentence(monkeypatch):
    monkeypatch.setattr(mx.metal, "is_available", lambda: False)
    with pytest.raises(BackendMissing, match="no Metal device"):
        MlxBackend("metal", "bf16")
    with pytest.raises(BackendMissing, match="`cuda`"):
        MlxBackend("cuda", "bf16")


def test_what_it_says_of_the_machine():
    backend = MlxBackend("cpu", "f32")
    memory = backend.memory()
    assert 0 < memory.free <= memory.total
    assert 0 < memory.used <= memory.peak
    assert "CPU" in backend.describe()
    backend.release()
    assert mx.get_cache_memory() == 0


def test_tensors_take_the_compute_dtype_or_the_one_asked_for():
    backend = MlxBackend("cpu", "bf16")
    weight = raw(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert backend.tensor(weight).dtype == mx.bfloat16
    assert backend.tensor(weight, "f32").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_without_a_compiler_nothing_is_fused_on_the_cpu(monkeypatch):
    disabled = []
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setattr(mx, "disable_compile", lambda: disabled.append(True))
    MlxBackend("cpu", "f32")
    assert disabled


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("dims", [16, 8])
def test_metals_rotation_means_the_same(pairs, dims):
    rope = Rope(dims, tuple(100.0 ** (-i / dims) for i in range(0, dims, 2)), pairs=pairs)
    x = mx.array(np.random.default_rng(0).normal(size=(5, 3, 16)).astype(np.float32))
    pos = mx.array([0, 7, 3, 100, 4])
    by_kernel, written_out = (Angles(pos, rope, Frequencies(rope), kernel).rotate(x) for kernel in (True, False))
    np.testing.assert_allclose(np.array(by_kernel), np.array(written_out), atol=1e-4)


def test_metals_rotation_is_left_where_it_has_no_form():
    plain = Rope(8, (1.0, 0.5, 0.25, 0.1))
    assert Angles(mx.arange(3), plain, Frequencies(plain), kernel=True).kernel
    for pos, rope in (
        (mx.zeros((3, 2)), Rope(8, plain.inv, section=(2, 1, 1))),
        (mx.arange(3), Rope(8, plain.inv, scale=1.5)),
        (mx.arange(3), Rope(8, plain.inv, dynamic=(1e4, 2.0, 64))),
    ):
        assert not Angles(pos, rope, Frequencies(rope), kernel=True).kernel
