"""`grus doctor`: what is installed and missing, in words and as JSON, with advice that fits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.commands import doctor
from engine.errors import BackendUnavailable
from engine.machine import Machine
from tests.app.conftest import Outcome
from tests.app.fresh import grus

Command = Callable[..., Outcome]
GB = 10**9
MACHINE = Machine("torch", "cpu", 16 * GB, 11 * GB, 100 * GB, 20e9, "A processor, 4 cores (CPU, avx2 kernels)")


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is missing, and the machine is known."""
    monkeypatch.setattr("app.commands.doctor.look", lambda options, again: MACHINE)
    monkeypatch.setattr("app.system_packages.missing", list)
    monkeypatch.setattr("app.commands.doctor.has_nvidia_driver", lambda: False)
    monkeypatch.setattr("app.commands.doctor._bytes_of_cuda", lambda: 0)
    monkeypatch.delenv("GRUS_KERNELS", raising=False)


def test_a_real_machine_is_described() -> None:
    done = grus("doctor", "--json", "--device", "cpu", "--backend", "auto")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {"Grus", "System", "PyTorch", "Window", "Sound", "Runs on", "Memory", "Reads", "Disk"} <= set(found["facts"])
    assert found["machine"]["bandwidth"] > 1e8
    assert f"{found['machine']['bandwidth'] / 1e9:.1f} GB/s" in found["facts"]["Reads"]


@pytest.mark.usefixtures("healthy")
def test_nothing_missing_is_said(command: Command) -> None:
    done = command("doctor")
    assert done.code == 0
    assert done.out.endswith("\nNothing is missing.\n")
    assert "20.0 GB/s: a model of 1 GB answers with about 16 tokens/s" in done.out


@pytest.mark.usefixtures("healthy")
@pytest.mark.parametrize(
    ("gpu", "cuda", "word"), [(True, 0, "CUDA would use it"), (False, 3 * GB, "3.0 GB of CUDA's libraries do nothing")]
)
def test_the_wrong_build_of_torch_is_noticed(
    command: Command, monkeypatch: pytest.MonkeyPatch, gpu: bool, cuda: int, word: str
) -> None:
    monkeypatch.setattr("app.commands.doctor.has_nvidia_driver", lambda: gpu)
    monkeypatch.setattr("app.commands.doctor._bytes_of_cuda", lambda: cuda)
    assert word in command("doctor").out


@pytest.mark.usefixtures("healthy")
def test_missing_kernels_are_noticed(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = Machine(
        **{**vars(MACHINE), "name": "A processor (CPU, no kernels: this install came without built kernels)"}
    )
    monkeypatch.setattr("app.commands.doctor.look", lambda options, again: lacking)
    assert "A wheel of Grus for this system has them" in command("doctor").out


@pytest.mark.usefixtures("healthy")
def test_no_backend_is_an_exit_code_and_the_first_advice(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(options: object, again: bool) -> Machine:
        raise BackendUnavailable("The backend `torch` is not installed. Install it with: pip install torch")

    monkeypatch.setattr("app.commands.doctor.look", refuse)
    done = command("doctor", "--json")
    assert done.code == 2
    assert "not installed" in json.loads(done.out)["advice"][0]


def test_cuda_is_measured_by_the_lists_of_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def package(name: str, *sizes: int) -> SimpleNamespace:
        return SimpleNamespace(metadata={"Name": name}, files=[SimpleNamespace(size=size) for size in sizes])

    monkeypatch.setattr(doctor, "distributions", lambda: [package("nvidia-cublas", 5, 6), package("numpy", 100)])
    assert doctor._bytes_of_cuda() == 11


def test_the_command_is_on_the_install_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "install.md").read_text(encoding="utf-8")
    assert "grus doctor" in page
    assert "https://download.pytorch.org/whl/cpu" in page
