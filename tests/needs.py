"""What tests need from the system beyond Python: why one must be skipped here, in a sentence that says what is missing.

`make test` installs all of it where it may (packaging/system.txt), so a machine that was set up skips nothing for it.
"""

from __future__ import annotations

import functools
import importlib
import shutil

import pytest

MODULES = ("QtCore", "QtGui", "QtNetwork", "QtSvg", "QtTest", "QtWidgets")


@functools.cache
def no_window() -> str:
    """Why Qt's modules cannot be imported; nothing when they can."""
    return _cannot_import("the window", *MODULES)


@functools.cache
def no_window_sound() -> str:
    """Why the window can play and record nothing here."""
    return no_window() or _cannot_import("sound in the window", "QtMultimedia")


def _cannot_import(what: str, *modules: str) -> str:
    for module in modules:
        try:
            importlib.import_module(f"PySide6.{module}")
        except ImportError as error:
            return f"{what} needs system libraries of packaging/system.txt that are missing here ({error})"
    return ""


def no_kernels() -> str:
    """Why the CPU kernels are missing here: they are compiled when Grus is installed."""
    from backends.torch.kernels import library

    return "" if library.available() else f"needs the CPU kernels: {library.why_not()}"


def need_kernels() -> None:
    """Skips the test where the CPU kernels are missing."""
    if reason := no_kernels():
        pytest.skip(reason)


def no_program(*names: str) -> str:
    """Which of these programs are missing here."""
    absent = [name for name in names if shutil.which(name) is None]
    return f"needs {' and '.join(absent)}, which packaging/system.txt names and this machine lacks" if absent else ""


def need_program(*names: str) -> None:
    """Skips the test where one of these programs is missing."""
    if reason := no_program(*names):
        pytest.skip(reason)
