"""`grus cuda`: PyTorch's build for NVIDIA GPUs, for a Grus with a Python of its own."""

from __future__ import annotations

import argparse
from typing import Any

from app import cuda_pack
from app.bundled import has_nvidia_driver
from app.cuda_pack import CudaPack

DESCRIPTION = """\
Lets a Grus that came as a .deb, .rpm, AppImage or setup program compute on an NVIDIA GPU: it comes with PyTorch's build for CPUs, and
downloads the one for CUDA when it is asked to. An interrupted download continues where it ended.

  grus cuda status
  grus cuda install
  grus cuda remove

GRUS_CUDA_FOLDER names another folder for it."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "cuda",
        help="download what computes on an NVIDIA GPU",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("action", choices=("install", "remove", "status"), help="what to do")
    command.set_defaults(command=cuda)


def cuda(options: argparse.Namespace) -> int:
    if options.action == "remove":
        print("The CUDA pack is removed." if cuda_pack.remove() else "No CUDA pack is installed.")
        return 0
    pack = CudaPack.expected()
    if options.action == "install":
        from engine.hub.download import TerminalBar

        folder = pack.install(TerminalBar("CUDA pack"))
        print(f"The CUDA pack {pack.version} is in {folder}. Grus uses it from its next start on.")
        if not has_nvidia_driver():
            print("There is no NVIDIA driver on this machine: until one is installed, Grus computes on the CPU.")
        return 0
    print(described(pack))
    return 0 if pack.is_installed else 1


def described(pack: CudaPack) -> str:
    """Its state in one sentence."""
    from engine.hub.download import size

    if not pack.is_installed:
        return f"The CUDA pack {pack.version} is not installed. It is a download of {size(pack.size)}."
    driver = "" if has_nvidia_driver() else ", and not used: there is no NVIDIA driver"
    return f"The CUDA pack {pack.version} is installed{driver}."
