"""Finds the compiled kernels, or compiles them on first use into the user's cache.

The library that was built with the package (a wheel, or an install with a compiler) is tried first, then the cache. Either is
used only if it was built from the sources beside this file, so after an edit, or an update without a reinstall, the next start
compiles again. The name of the cache folder contains the hash of the sources and the name of the compiler; a lock keeps two
processes from compiling at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# -- how the kernels are compiled: source files, compiler flags, library name; for setup.py too
#
# Every file is compiled with the same flags. Code that needs a newer CPU is marked in the sources with target regions
# (src/common/compiler.hpp), so the library loads on every CPU and selects its tier at run time.

FOLDER = Path(__file__).resolve().parent / "src"
STEM = "_grus_kernels"  # of the file that is built with the package
STAMP = FOLDER.with_name(
    "digest.txt"
)  # in a wheel and in a bundle, which have no sources: `digest` when they were built

# No value depends on "-fno-trapping-math"; without it no loop with a comparison of floats becomes vectors.
# Python adds -fwrapv to what `setup.py` compiles, which costs a step of decoding 1 to 3 %.
FLAGS = [
    "-std=c++20",
    "-O3",
    "-fno-wrapv",
    "-ffp-contract=off",
    "-fno-trapping-math",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wno-psabi",
]
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
    found = files()
    if not found:
        return STAMP.read_text(encoding="ascii").strip() if STAMP.exists() else "none"
    sha = hashlib.sha256()
    for path in found:
        sha.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    sha.update(" ".join(FLAGS).encode())
    return sha.hexdigest()[:16]


def define() -> tuple[str, str]:
    """The macro that puts the digest into the library."""
    return "GRUS_DIGEST", digest()


SUFFIXES = (".so", ".pyd", ".dylib")


class NoKernels(Exception):
    """The kernels are not available; the message gives the reason."""


def cache_folder() -> Path:
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "grus" / "kernels"


def packaged() -> Path | None:
    """The library that was built with the package."""
    found = [p for p in FOLDER.parent.glob(STEM + "*") if p.suffix in SUFFIXES]
    return found[0] if found else None


def compiler() -> str | None:
    wanted = os.environ.get("CXX")
    return next(
        (path for name in ([wanted] if wanted else ["c++", "g++", "clang++"]) if (path := shutil.which(name))), None
    )


def compile_into(target: Path) -> None:
    """Compile the sources into the library `target`. The file is moved into place when complete."""
    tool = compiler()
    if tool is None:
        raise NoKernels("no C++ compiler was found; install g++ or clang++, or a wheel of Grus with built kernels")
    name, value = define()
    command = [tool, *flags(), f"-I{FOLDER}", f"-D{name}={value}"]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:

        def compile_one(source: Path) -> str:
            made = str(Path(folder) / object_name(source))
            _run([*command, "-c", str(source), "-o", made])
            return made

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            objects = list(pool.map(compile_one, sources()))
        whole = Path(folder) / target.name
        _run([*command, "-shared", *objects, *LINK, "-o", str(whole)])
        whole.replace(target)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise NoKernels(f"the compiler failed: {first}")


def cached() -> Path:
    """The library in the cache, compiled now if it is not there. An install without sources compiles nothing."""
    if sys.platform == "win32" or not sources():
        raise NoKernels("this install came without built kernels; a wheel of Grus for this system brings them")
    import fcntl

    tool = compiler() or "none"
    target = cache_folder() / f"{digest()}-{Path(tool).name}" / "libgrus_kernels.so"
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target.parent / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                if compiler():
                    print("grus: The CPU kernels are compiled, once: about a minute.", file=sys.stderr)
                compile_into(target)
    except OSError as error:
        raise NoKernels(f"the cache {target.parent} cannot be written ({error.strerror})") from error
    return target
