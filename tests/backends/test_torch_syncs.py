"""The audit of host-device waits: it finds those that are planted, and a decode step issues its work without any."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.bench.syncs import PLACE, ROOT, Audit

DEVICE = torch.arange(6.0)  # there before the audit: it lives on the device
PLANTED: dict[str, Callable[[], object]] = {
    "item": lambda: DEVICE.sum().item(),
    "tolist": lambda: DEVICE.tolist(),
    "cpu": lambda: (DEVICE + 1).cpu(),
    "to": lambda: DEVICE.to("cpu"),
    "__bool__": lambda: bool((DEVICE > 7).any()),
    "nonzero": lambda: DEVICE.nonzero(),
    "__getitem__": lambda: DEVICE[[1, 2]],
    "tensor": lambda: torch.tensor([1.0], device=PLACE),
}
HARMLESS: dict[str, Callable[[], object]] = {
    "computed": lambda: (DEVICE * 2).softmax(-1)[1:3],
    "made there": lambda: torch.zeros(3, device=DEVICE.device) + DEVICE[:3],
    "copied without waiting": lambda: torch.from_numpy(np.arange(3)).to(DEVICE.device, non_blocking=True),
    "on the host": lambda: torch.tensor([1.0, 2.0]).tolist(),
    "repeated": lambda: DEVICE.repeat_interleave(2),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_wait_is_found_with_its_line(what: str) -> None:
    with Audit() as audit:
        PLANTED[what]()
    (wait,) = audit.waits
    assert wait.what.startswith(f"{what}:")
    assert wait.file == "tests/backends/test_torch_syncs.py"
    assert "lambda" in wait.code
    assert f'"{what}"' in wait.code


@pytest.mark.parametrize("index", ["mask", "host"])
def test_indices_that_wait(index: str) -> None:
    with Audit() as audit:
        DEVICE[DEVICE > 2] if index == "mask" else DEVICE[torch.tensor([0, 1])]
    assert len(audit.waits) == 1


def test_arrays_are_on_the_host() -> None:
    with Audit() as audit:
        torch.from_numpy(np.arange(3)).to(DEVICE.device)
    assert [wait.what for wait in audit.waits] == ["to: copies from the host"]


@pytest.mark.parametrize("what", HARMLESS)
def test_what_does_not_wait_is_not_listed(what: str) -> None:
    with Audit() as audit:
        HARMLESS[what]()
    assert not audit.waits


def test_a_decode_step_is_issued_without_a_wait_and_read_with_two() -> None:
    command = [sys.executable, "-m", "tests.bench.syncs"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=True).stdout
    counts = [line.rpartition(": ") for line in output.splitlines() if line.endswith(" waits")]
    assert len(counts) == 16  # two models, greedy and drawn, two ways, two parts
    for step, _, waits in counts:
        assert waits == ("0 waits" if step.endswith("issuing it") else "2 waits"), output
