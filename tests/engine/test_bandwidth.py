"""The bandwidth of a device is measured once, kept, and is the figure of a memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.pick import choose, pick
from engine import bandwidth as measuring
from engine.bandwidth import bandwidth, of_device, of_processor
from engine.loading import LoadOptions
from engine.machine import look


def test_a_processor_reads_as_a_memory_does() -> None:
    assert 0.5e9 < of_processor() < 5e12


def test_a_device_reads_through_the_ops_of_its_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_ROWS", 64)
    monkeypatch.setattr(measuring, "_PATIENCE", 0.0)
    choice = choose()
    assert of_device(pick(choice.backend, choice.device, choice.dtype).ops) > 0


def test_it_is_measured_once_and_again_when_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rates = iter((20e9, 30e9))
    monkeypatch.setattr(measuring, "of_processor", lambda: next(rates))
    file, backend = tmp_path / "settings" / "bandwidth.json", pick("torch", "cpu", "f32")
    assert [bandwidth(backend, file=file) for _ in range(3)] == [20e9] * 3
    assert json.loads(file.read_text()) == {f"torch, {backend.describe()}": 20e9}
    assert bandwidth(backend, again=True, file=file) == 30e9
    assert bandwidth(backend, file=file) == 30e9


@pytest.mark.parametrize("kept", ["", "[1]", "{", '{"a": "b"}', '{"a": null}'])
def test_a_broken_file_is_measured_anew(kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(measuring, "of_processor", lambda: 20e9)
    (file := tmp_path / "bandwidth.json").write_text(kept)
    assert bandwidth(pick("torch", "cpu", "f32"), file=file) == 20e9
    assert list(json.loads(file.read_text()).values()) == [20e9]


def test_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(measuring, "of_processor", lambda: 20e9)
    (tmp_path / "settings").write_text("a file where the folder should be")
    assert bandwidth(pick("torch", "cpu", "f32"), file=tmp_path / "settings" / "bandwidth.json") == 20e9


def test_a_look_at_the_machine_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = tmp_path / "bandwidth.json"
    monkeypatch.setattr(measuring, "_settings_file", lambda: kept)
    monkeypatch.setattr(measuring, "of_processor", lambda: 50e9)
    machine = look(LoadOptions(backend="torch", device="cpu", cache_dir=str(tmp_path)))
    assert machine.bandwidth == 50e9
    assert machine.tokens_per_second(5_000_000_000) == pytest.approx(8.0)
    assert machine.tokens_per_second(0) == 0.0
    assert kept.exists()
