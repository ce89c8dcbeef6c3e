"""What an application without a Python of its own needs before anything else: streams, its version, its libraries.

`begin` is called first by the entry point of a bundle (`packaging/bundle/start.py`). It does nothing that an ordinary
start would notice: every step applies only where the system or the bundle has left something out.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

NOT_INSTALLED = "0"
DESKTOP_ID = "org.grus.Grus"  # of the application, for desktops and macOS
# What a loader's search path was before the bundle's own folders were put in front of it.
_SEARCH_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH")


def grus_version() -> str:
    """The version of this Grus, from the package's metadata; `0` where it runs from a folder without them."""
    from importlib.metadata import PackageNotFoundError, version  # takes long, and no idle window needs it

    try:
        return version("grus")
    except PackageNotFoundError:
        return NOT_INSTALLED


def is_bundled() -> bool:
    """Whether this process runs from a bundle, so that `sys.executable` is Grus and not Python."""
    return bool(getattr(sys, "frozen", False))


def has_nvidia_driver() -> bool:
    """Here and not with the CUDA pack: every start of a bundle asks, and imports the pack's code only where a driver is."""
    import shutil

    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def program() -> list[str]:
    """The command that starts this Grus again, from any folder."""
    if is_bundled():
        return [os.environ.get("APPIMAGE") or sys.executable]
    script = Path(sys.executable).with_name("grus.exe" if sys.platform == "win32" else "grus")
    return [str(script)] if script.exists() else [sys.executable, "-m", "app.cli"]


def begin(arguments: list[str]) -> bool:
    """Prepare the process. True when it was a child process of Grus (`-m MODULE ARGUMENTS...`), whose work is done."""
    import multiprocessing

    multiprocessing.freeze_support()
    open_missing_streams()
    if is_bundled():
        restore_search_paths()
        find_bundled_libraries(Path(getattr(sys, "_MEIPASS", "")))
    if arguments[:1] != ["-m"] or len(arguments) < 2:
        return False
    sys.argv = arguments[1:]
    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    return True


def open_missing_streams() -> None:
    """A program without a console has no stdout and no stderr (None): what is printed then goes nowhere, and raises nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def restore_search_paths() -> None:
    """Programs that Grus starts, such as a browser, load their own libraries and not the bundle's.

    The loader of this process has read the variable already, so nothing changes here.
    """
    for name in _SEARCH_PATHS:
        before = os.environ.pop(f"{name}_ORIG", None)
        if before:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)


def find_bundled_libraries(folder: Path) -> None:
    """Libraries that Python packages look for by name, such as PortAudio, are found in the bundle first."""
    import ctypes.util

    search = ctypes.util.find_library

    def find(name: str) -> str | None:
        found = sorted(folder.glob(f"lib{name}.so*")) if name else []
        return str(found[0]) if found else search(name)

    ctypes.util.find_library = find
