"""Fewer threads on battery: looked at between steps, and taken back with mains power."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import backends.torch.backend as backend_module
from backends.torch.backend import TorchBackend
from engine import power
from engine.engine import Engine
from engine.errors import BadRequest
from engine.loading import LoadOptions, load
from engine.power import LOOK_EVERY, BatteryThreads
from engine.types import Request, SamplingParams, Settings
from tests.checkpoints import save


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests compute on one thread, which would hide whether there are fewer."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.setattr(backend_module, "_THREADS", 2)
    yield
    torch.set_num_threads(before)


class Machine:
    def __init__(self) -> None:
        self.now, self.unplugged, self.asked = 0.0, True, 0

    def clock(self) -> float:
        return self.now

    def battery(self) -> bool:
        self.asked += 1
        return self.unplugged


def test_threads_follow_the_plug() -> None:
    machine, backend = Machine(), TorchBackend()
    threads = BatteryThreads(1, machine.clock, machine.battery)
    seen = []
    for unplugged in (False, True, True, False):
        machine.unplugged = unplugged
        threads.look([backend])
        threads.look([backend])  # too soon to ask again
        seen.append(torch.get_num_threads())
        machine.now += LOOK_EVERY
    assert seen == [2, 1, 1, 2]
    assert machine.asked == 4
    backend.use_threads(100)
    assert torch.get_num_threads() == 2


def test_nothing_is_asked_unless_it_is_wanted() -> None:
    machine = Machine()
    BatteryThreads(None, machine.clock, machine.battery).look([])
    assert machine.asked == 0
    with pytest.raises(BadRequest, match="battery_threads must be at least 1, not 0"):
        Settings(battery_threads=0)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_reply_on_battery_is_the_same(tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(save("qwen3", tmp_path / "m"))
    made, threads = [], []
    for unplugged in (False, True):
        monkeypatch.setattr(power, "on_battery", lambda unplugged=unplugged: unplugged)
        loaded = load(path, LoadOptions(backend=backend, device="cpu"))
        engine = Engine(lambda _, loaded=loaded: loaded, Settings(battery_threads=1), start=False)
        engine._battery_threads = BatteryThreads(1, lambda: 0.0, power.on_battery)
        handle = engine.submit(Request("m", [5, 6, 7], SamplingParams(temperature=0.0, max_tokens=8, ignore_eos=True)))
        while not engine.idle:
            engine.turn()
            threads.append(torch.get_num_threads())
        made.append(handle.result(0).ids)
        loaded.backend.use_threads(None)
        engine.close()
    assert made[0] == made[1]
    assert set(threads) == ({1, 2} if backend == "torch" else {2})
