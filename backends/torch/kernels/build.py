"""Finds the compiled kernels, or compiles them on first use into the user's cache.

The library that was built with the package (a wheel, or an install with a compiler) is tried first, then the cache. Either is
used only if it was built from the sources beside this file, so after an edit, or an update without a reinstall, the next start
compiles again. The name of the cache folder contains the hash of the sources and the name of the compiler; a lock keeps two
processes from compiling at once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from backends.torch.kernels import recipe

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
    found = [p for p in recipe.FOLDER.parent.glob(recipe.STEM + "*") if p.suffix in SUFFIXES]
    return found[0] if found else None


def compiler() -> str | None:
    wanted = os.environ.get("CXX")
    return next(
        (path for name in ([wanted] if wanted else ["c++", "g++", "clang++"]) if (path := shutil.which(name))), None
    )


def compile_into(target: Path, extra: Sequence[str] = ()) -> None:
    """Compile the sources into the library `target`. The file is moved into place when complete."""
    tool = compiler()
    if tool is None:
        raise NoKernels("no C++ compiler was found; install g++ or clang++, or a wheel of Grus with built kernels")
    name, value = recipe.define()
    command = [tool, *recipe.flags(), f"-I{recipe.FOLDER}", f"-D{name}={value}", *extra]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:

        def compile_one(source: Path) -> str:
            made = str(Path(folder) / recipe.object_name(source))
            _run([*command, "-c", str(source), "-o", made])
            return made

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            objects = list(pool.map(compile_one, recipe.sources()))
        whole = Path(folder) / target.name
        _run([*command, "-shared", *objects, *recipe.LINK, "-o", str(whole)])
        whole.replace(target)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise NoKernels(f"the compiler failed: {first}")


def cached() -> Path:
    """The library in the cache, compiled now if it is not there."""
    if sys.platform == "win32":
        raise NoKernels("this install came without built kernels")
    import fcntl

    tool = compiler() or "none"
    target = cache_folder() / f"{recipe.digest()}-{Path(tool).name}" / "libgrus_kernels.so"
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target.parent / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                compile_into(target)
    except OSError as error:
        raise NoKernels(f"the cache {target.parent} cannot be written ({error.strerror})") from error
    return target
