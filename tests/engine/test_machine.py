"""Whether a model fits, before it is downloaded."""

from __future__ import annotations

import pytest

from engine.errors import BackendUnavailable
from engine.loading import LoadOptions
from engine.machine import Machine, look, needed_bytes

GB = 10**9


def test_a_model_fits_or_would_or_does_not():
    machine = Machine("torch", "cpu", memory=16 * GB, allowed=11 * GB, disk_free=100 * GB)
    assert [machine.fit(n * GB) for n in (4, 12, 20)] == ["fits", "tight", "too large"]
    assert needed_bytes(4 * GB) > 4 * GB


def test_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.machine.bandwidth", lambda *asked: 20e9)
    machine = look(LoadOptions(backend="torch", device="cpu", cache_dir=str(tmp_path / "not" / "yet")), 0.5)
    assert machine.backend == "torch"
    assert machine.allowed == machine.memory // 2
    assert machine.disk_free > 0
    with pytest.raises(BackendUnavailable, match="There is no device"):
        look(LoadOptions(device="abacus"))
