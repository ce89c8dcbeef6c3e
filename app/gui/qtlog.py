"""Qt's own messages go to the log; the terminal has them as well."""

from __future__ import annotations

import logging
import sys
from typing import Any

from PySide6.QtCore import QtMsgType, qInstallMessageHandler

log = logging.getLogger("qt")
_LEVELS = {
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,  # Qt ends the process behind it
}


def install() -> None:
    """Until `uninstall`, which must come before the interpreter ends."""
    qInstallMessageHandler(_hear)


def uninstall() -> None:
    qInstallMessageHandler(None)


def _hear(kind: QtMsgType, context: Any, message: str) -> None:
    if kind in _LEVELS:
        log.log(_LEVELS[kind], "%s: %s", context.category or "default", message)
    elif sys.stderr is not None:
        print(message, file=sys.stderr, flush=True)
