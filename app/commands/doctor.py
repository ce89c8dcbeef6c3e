"""`grus doctor`: what is installed, what is missing, how fast the memory is, and what would help."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distributions, version
from typing import Any

from app.bundled import grus_version, has_nvidia_driver, is_bundled
from app.commands.cuda import described
from app.cuda_pack import CudaPack
from engine.errors import GrusError
from engine.loading import LoadOptions, gigabytes
from engine.machine import Machine, look

_EXAMPLE = 1_000_000_000  # bytes that a token reads of a model of 1 GB
DESCRIPTION = """\
Says what is installed, what is missing, how fast this machine's memory is, and what would help. Changes nothing and uses no
network. Exits with 2 when no model can run.

  grus doctor
  grus doctor --json        for a bug report"""


@dataclass
class Findings:
    """What the doctor found: facts by label, and advice as sentences."""

    facts: dict[str, str] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    machine: Machine | None = None


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "doctor",
        help="what is installed, what is missing, and what would help",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--backend", choices=("auto", "mlx", "torch"), default="auto", help="look at this one (default: auto)"
    )
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or metal (default: auto)")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(command=doctor)


def doctor(options: argparse.Namespace) -> int:
    found = Findings()
    for part in (_program, _torch, _window, _sound):
        found.facts.update(part(found.advice))
    try:
        found.machine = look(LoadOptions(backend=options.backend, device=options.device), again=True)
        found.facts.update(_machine(found.machine, found.advice))
    except GrusError as error:
        found.facts["Runs on"] = "nothing"
        found.advice.insert(0, str(error))
    if options.json:
        machine = vars(found.machine) if found.machine else None
        print(json.dumps({"facts": found.facts, "advice": found.advice, "machine": machine}, ensure_ascii=False))
    else:
        _show(found)
    return 0 if found.machine else 2


def _show(found: Findings) -> None:
    width = max(map(len, found.facts))
    for label, value in found.facts.items():
        print(f"{label:<{width}}  {value}")
    print()
    if not found.advice:
        print("Nothing is missing.")
        return
    print("What would help:")
    for sentence in found.advice:
        print(f"- {sentence}")


def _program(advice: list[str]) -> Iterator[tuple[str, str]]:
    kind = "a bundle" if is_bundled() else f"Python {platform.python_version()} in {sys.prefix}"
    yield "Grus", f"{grus_version()}, {kind}"
    yield "System", f"{platform.platform()}, {platform.machine()}"


def _torch(advice: list[str]) -> Iterator[tuple[str, str]]:
    try:
        found = version("torch")
    except PackageNotFoundError:
        return
    cuda = _bytes_of_cuda()
    gpu, pack = has_nvidia_driver(), CudaPack.offered()
    if cuda:
        yield "PyTorch", f"{found}, built for CUDA, whose libraries take {gigabytes(cuda)}"
    else:
        yield "PyTorch", f"{found}, without CUDA's libraries"
    if pack is not None:
        yield "NVIDIA GPU", described(pack)
    if gpu and not cuda and pack is not None:
        if not pack.is_installed:
            advice.append("There is an NVIDIA GPU. `grus cuda install` downloads what computes on it.")
    elif gpu and not cuda:
        advice.append(
            "There is an NVIDIA GPU, and this PyTorch is for CPUs. PyTorch's build for CUDA would use it: docs/install.md."
        )
    elif cuda and not gpu:
        advice.append(
            f"There is no NVIDIA GPU, so {gigabytes(cuda)} of CUDA's libraries do nothing. PyTorch's build for CPUs has none: docs/install.md."
        )


def _bytes_of_cuda() -> int:
    """The size of NVIDIA's packages, as their own lists of files say it."""
    total = 0
    for found in distributions():
        if (found.metadata["Name"] or "").startswith("nvidia-"):
            total += sum(file.size or 0 for file in found.files or [])
    return total


def _window(advice: list[str]) -> Iterator[tuple[str, str]]:
    from app.screen import has_screen, why_no_window
    from app.system_packages import how_to_install, missing

    problem = why_no_window() if has_screen() else "there is no screen here"
    yield "Window", problem or "can open"
    command = how_to_install(missing())
    if command:
        advice.append(f"System libraries are missing. To install them: {command}")


def _sound(advice: list[str]) -> Iterator[tuple[str, str]]:
    try:
        import sounddevice
    except (ImportError, OSError):
        yield "Sound", "PortAudio is missing, so the command line neither plays nor records"
        return
    yield "Sound", sounddevice.get_portaudio_version()[1]


def _machine(machine: Machine, advice: list[str]) -> Iterator[tuple[str, str]]:
    yield "Runs on", f"{machine.backend} on {machine.device}: {machine.name}"
    yield "Memory", f"{gigabytes(machine.memory)}, of which models may use {gigabytes(machine.allowed)}"
    if machine.bandwidth:
        speed = machine.tokens_per_second(_EXAMPLE)
        yield "Reads", f"{machine.bandwidth / 1e9:.1f} GB/s: a model of 1 GB answers with about {speed:.0f} tokens/s"
    yield "Disk", f"{gigabytes(machine.disk_free)} free for models"
    if "no kernels" in machine.name and "GRUS_KERNELS" not in os.environ:
        advice.append(
            "The kernels for CPUs are missing, so replies are slower and models take more memory. A wheel of Grus for this system has them; from "
            "source, install g++ and then Grus again."
        )
    if machine.disk_free < 2 * _EXAMPLE:
        advice.append("The disk is nearly full: a small model takes 1 GB. --cache-dir or HF_HOME names another place.")
