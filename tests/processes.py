"""A program that a test starts and talks to."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def child_process(command: list[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """It is killed when the test fails: `Popen` would wait for a server that nobody ends any more."""
    with subprocess.Popen(command, **how) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise
