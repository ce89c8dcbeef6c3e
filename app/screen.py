"""The screen: whether a window can be shown here. Asked before Qt starts, because Qt ends the process where it cannot.

What Qt would try is tried here: the platform's plugin is loaded with all that it needs, and the display is called.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from app.system_packages import how_to_install, missing


def has_screen() -> bool:
    """Whether some screen is named, so that a window is wanted."""
    if sys.platform in ("darwin", "win32") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def why_no_window() -> str:
    """Why Qt cannot show a window: a sentence with what to do; nothing when it can."""
    try:
        import PySide6.QtNetwork
        import PySide6.QtSvg
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        return _lacking(str(error))
    return _platform_problem(os.environ) if sys.platform == "linux" else ""


def _lacking(error: str) -> str:
    command = how_to_install(missing())
    advice = f" To install all that is missing: {command}." if command else ""
    return f"The window needs system libraries that are missing ({error}).{advice}"


def _platform_problem(environment: Mapping[str, str]) -> str:
    """Of the platforms that Qt would try in turn, one must load and answer; else, what the first one lacks."""
    problem = ""
    for name in _platforms(environment):
        plugin = _plugins() / f"libq{name}.so"
        if not plugin.exists():
            return ""  # a platform that is not Qt's own: Qt has the say
        try:
            ctypes.CDLL(str(plugin))
        except OSError as error:
            problem = problem or _lacking(str(error))
            continue
        if _answers(name):
            return ""
        display = environment.get("WAYLAND_DISPLAY" if name == "wayland" else "DISPLAY", "")
        problem = problem or f"The display {display!r} does not answer, so the window cannot open."
    return problem


def _platforms(environment: Mapping[str, str]) -> list[str]:
    asked = environment.get("QT_QPA_PLATFORM", "")
    if asked:
        return [name.partition(":")[0] for name in asked.split(";")]
    order = [("WAYLAND_DISPLAY", "wayland"), ("DISPLAY", "xcb")]
    return [name for variable, name in order if environment.get(variable)]


def _plugins() -> Path:
    spec = find_spec("PySide6")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "Qt" / "plugins" / "platforms"


def _answers(platform: str) -> bool:
    """Connects to the display as Qt will, by the library that the plugin has just brought in."""
    if platform == "xcb":
        xcb = ctypes.CDLL("libxcb.so.1")
        xcb.xcb_connect.restype = ctypes.c_void_p
        connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
        failed = bool(xcb.xcb_connection_has_error(connection))
        xcb.xcb_disconnect(connection)
        return not failed
    if platform == "wayland":
        wayland = ctypes.CDLL("libwayland-client.so.0")
        wayland.wl_display_connect.restype = ctypes.c_void_p
        display = wayland.wl_display_connect(None)
        if not display:
            return False
        wayland.wl_display_disconnect(ctypes.c_void_p(display))
    return True
