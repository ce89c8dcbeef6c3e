"""Whether a model fits, before it is downloaded."""

from __future__ import annotations

import pytest

from engine.errors import BackendUnavailable
from engine.loading import LoadOptions
from engine.machine import Machine, look, look_in_process, needed_bytes

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


def test_what_a_process_of_its_own_refuses_is_said_in_the_same_words():
    with pytest.raises(BackendUnavailable) as refused:
        look_in_process(device="abacus")
    assert str(refused.value) == "There is no device `abacus`. Choose auto, cpu, cuda, cuda:N or metal."
