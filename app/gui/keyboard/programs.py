"""Runs a small program of the system without waiting for it: what it is given, and what it prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QProcess, QTimer

_LONGEST = 5000  # milliseconds


def run(
    parent: QObject,
    program: str,
    arguments: Sequence[str],
    then: Callable[[bytes | None], Any],
    given: bytes = b"",
    longest: int = _LONGEST,
) -> None:
    """`then(output)`; None: it failed, is missing or took too long."""
    process = QProcess(parent)
    ended: list[bool] = []

    def end(good: bool) -> None:
        if not ended:
            ended.append(good)
            output = bytes(process.readAllStandardOutput().data()) if good else None
            process.deleteLater()
            then(output)

    process.finished.connect(lambda code, status: end(status == QProcess.ExitStatus.NormalExit and code == 0))
    process.errorOccurred.connect(lambda error: end(False) if error == QProcess.ProcessError.FailedToStart else None)
    process.setStandardErrorFile(QProcess.nullDevice())
    process.start(program, list(arguments))
    process.write(given)
    process.closeWriteChannel()
    QTimer.singleShot(longest, process, process.kill)
