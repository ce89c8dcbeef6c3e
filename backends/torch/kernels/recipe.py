"""How the kernels are compiled: source files, compiler flags, library name. Used by setup.py and by `build`; needs no torch.

Every file is compiled with the same flags. Code that needs a newer CPU is marked in the sources with target regions
(src/common/compiler.hpp), so the library loads on every CPU and selects its tier at run time.
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
    """The files that are compiled, from every folder below `src`."""
    return sorted(FOLDER.rglob("*.cpp"))


def files() -> list[Path]:
    """All source files, headers and templates (`.inl`) included."""
    return sorted(path for suffix in ("cpp", "hpp", "inl") for path in FOLDER.rglob(f"*.{suffix}"))


def object_name(source: Path) -> str:
    """A name for the object file of `source` that is unique among all folders."""
    return "-".join(source.relative_to(FOLDER).with_suffix(".o").parts)


def flags() -> list[str]:
    """Compiler flags. Includes are written relative to `FOLDER`, which the caller adds to the include path."""
    return FLAGS_MSVC if sys.platform == "win32" else FLAGS


def digest() -> str:
    """A hash of everything that decides what the library does. The library carries it, so that a stale build is not used."""
    sha = hashlib.sha256()
    for path in files():
        sha.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    sha.update(" ".join(FLAGS).encode())
    return sha.hexdigest()[:16]


def define() -> tuple[str, str]:
    """The macro that puts the digest into the library."""
    return "GRUS_DIGEST", digest()
