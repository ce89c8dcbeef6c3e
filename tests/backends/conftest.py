"""Both backends, in both dtypes, for whoever tests what they promise alike."""

from __future__ import annotations

from functools import cache

import pytest

from tests.backends.op_cases import Bench


@cache
def bench_of(name: str, dtype: str) -> Bench:
    if name == "torch":
        from backends.torch.backend import TorchBackend

        return Bench(name, dtype, TorchBackend("cpu", dtype).ops)
    import mlx.core as mx

    from backends.mlx.backend import MlxBackend

    return Bench(name, dtype, MlxBackend("metal" if mx.metal.is_available() else "cpu", dtype).ops)


@pytest.fixture(params=["torch-f32", "torch-bf16", "mlx-f32", "mlx-bf16"])
def bench(request: pytest.FixtureRequest) -> Bench:
    return bench_of(*request.param.split("-"))
