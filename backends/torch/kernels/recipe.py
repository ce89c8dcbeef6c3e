"""How the kernels are compiled: which files, with which flags, into what. Used by setup.py and by `build`; needs no torch.

One command line serves every file. What needs a newer CPU is marked in the sources, region by region, so the library runs
everywhere and picks its tier when it is loaded.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "src"
STEM = "_grus_kernels"  # of the file that is built with the package

# No value depends on "-fno-trapping-math"; without it no loop with a comparison of floats becomes vectors.
FLAGS = ["-std=c++20", "-O3", "-ffp-contract=off", "-fno-trapping-math", "-fPIC", "-fvisibility=hidden", "-Wno-psabi"]
LINK = ["-pthread"]
FLAGS_MSVC = ["/std:c++20", "/O2", "/EHsc"]


def sources() -> list[Path]:
    return sorted(FOLDER.glob("*.cpp"))


def flags() -> list[str]:
    return FLAGS_MSVC if sys.platform == "win32" else FLAGS


def digest() -> str:
    """Of all that decides what the library does. The library carries it, so that one from other sources is not used."""
    sha = hashlib.sha256()
    for path in sorted([*FOLDER.glob("*.cpp"), *FOLDER.glob("*.hpp"), *FOLDER.glob("*.inl")]):
        sha.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    sha.update(" ".join(FLAGS).encode())
    return sha.hexdigest()[:16]


def define() -> tuple[str, str]:
    """The macro that puts the digest into the library."""
    return "GRUS_DIGEST", digest()
