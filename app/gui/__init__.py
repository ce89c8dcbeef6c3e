"""The window. Views (this package and its folders) are widgets; `viewmodels` hold behaviour and know no Qt at all."""

from __future__ import annotations

import ctypes
import sys

if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    # Every `Signal.emit` of PySide 6.12 gives back a reference to True that it never took. Newer Pythons never free
    # True; here the process would end when the last reference is gone, which takes minutes of streaming.
    ctypes.c_ssize_t.from_address(id(True)).value += 1 << 40
