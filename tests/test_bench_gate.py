"""The gate of the benches: what counts as a drop, and what is said of it. Measuring itself is replaced by known ratios."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from tests.bench import __main__ as benches
from tests.bench import gate
from tests.bench.gate import Group, dropped, run

GROUP = Group("grus-torch", "transformers", Path, "f32", "f32", {"prefill": ("prefill", {}), "decode": ("decode", {})})
NAMES = PREFILL, DECODE = "f32 prefill, transformers", "f32 decode, transformers"


class Measured:
    """In place of the peers: known ratios, other ones in each round."""

    def __init__(self, *rounds: tuple[float, float]) -> None:
        self.rounds = list(rounds)
        self.asked: list[list[str]] = []

    def __call__(self, group: Group, names: Collection[str]) -> Mapping[str, float]:
        self.asked.append(list(names))
        found = dict(zip(NAMES, self.rounds.pop(0)))
        return {name: found[name] for name in names}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "gate.json"
    path.write_text(json.dumps({"here": {PREFILL: 2.0, DECODE: 1.0}, "there": {PREFILL: 9.0}}))
    return path


def gate_of(measured: Measured, path: Path, keep: bool = False, machine: str = "here") -> int:
    return run(keep, [GROUP], measured, machine, path)


def test_a_drop_is_more_than_five_percent() -> None:
    kept = {"a": 2.0, "b": 2.0, "c": 2.0, "d": 2.0}
    assert dropped({"a": 1.89, "b": 1.91, "c": 3.0, "new": 0.1}, kept) == ["a"]


def test_as_good_as_kept(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured = Measured((1.94, 1.2))
    assert gate_of(measured, kept) == 0
    assert measured.asked == [list(NAMES)]
    printed = capsys.readouterr().out
    assert f"{PREFILL}: 1.94x (kept 2.00x, -3 %)" in printed
    assert f"{DECODE}: 1.20x (kept 1.00x, +20 %)" in printed
    assert "dropped" not in printed.lower()


def test_a_drop_is_named(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured = Measured((2.0, 0.8), (2.0, 0.9))
    assert gate_of(measured, kept) == 1
    assert measured.asked == [list(NAMES), [DECODE]], "only what looks worse is measured again"
    printed = capsys.readouterr().out
    assert f"DROPPED  {DECODE}: 0.90x (kept 1.00x, -10 %)" in printed
    assert printed.splitlines()[-1] == f"1 of 2 dropped by more than 5%: {DECODE}"


def test_a_drop_that_was_noise(kept: Path) -> None:
    assert gate_of(Measured((1.5, 0.8), (2.1, 0.99)), kept) == 0


def test_nothing_is_measured_again_after_the_limit(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LIMIT", 0.0)
    assert gate_of(Measured((1.5, 0.8)), kept) == 1


def test_another_class_of_machine(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate_of(Measured((0.1, 0.1)), kept, machine="elsewhere") == 0
    printed = capsys.readouterr().out
    assert "not kept yet" in printed
    assert "--keep" in printed


def test_keeping(kept: Path) -> None:
    before = json.loads(kept.read_text())
    assert gate_of(Measured((1.0, 3.14159)), kept, keep=True) == 0
    assert json.loads(kept.read_text()) == before | {"here": {PREFILL: 1.0, DECODE: 3.142}}


def test_a_peer_that_is_not_installed_is_named(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(gate.PACKAGES, "transformers", "no_such_package_of_anyones")
    measured = Measured()
    assert gate_of(measured, kept) == 0
    assert measured.asked == []
    assert f"{DECODE}: left out, transformers is not installed" in capsys.readouterr().out


def test_there_are_ten_and_their_names_are_those_that_are_kept() -> None:
    names = [name for group in gate.GROUPS for name in group.names()]
    assert len(set(names)) == len(names) == 10
    kept = json.loads(gate.KEPT.read_text())
    assert kept
    assert {name for ratios in kept.values() for name in ratios} <= set(names)


def test_the_ratio_is_of_pairs() -> None:
    mine, theirs = iter([9.0, 1.0, 2.0, 4.0]), iter([9.0, 2.0, 6.0, 4.0])
    assert gate._ratio(lambda: next(mine), lambda: next(theirs), 3) == 2.0


@pytest.mark.parametrize(("arguments", "keep"), [(["gate"], False), (["gate", "--keep"], True)])
def test_the_command_ends_with_the_gates_code(
    arguments: list[str], keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    monkeypatch.setattr(gate, "run", lambda given: 7 if given is keep else 8)
    with pytest.raises(SystemExit) as ended:
        benches.main()
    assert ended.value.code == 7


def test_machines_of_one_class_are_of_one_family_of_amd(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n\nprocessor\t: 1\n")
    assert gate.machine_class(cpuinfo).endswith(" cores, AMD family 26")
    cpuinfo.write_text("vendor_id\t: GenuineIntel\ncpu family\t: 6\n")
    assert gate.machine_class(cpuinfo).endswith(" cores")
    assert gate.machine_class(tmp_path / "none").endswith(" cores")
