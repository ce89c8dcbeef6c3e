"""What a person chose, in one small JSON file: appearance, language, folders, the window's place.

Read before the window opens, so it is no table of the database. Written at once at every change, in one piece: a crash
leaves the old file or the new one. A file that cannot be read is set aside, and said so.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from app.gui.viewmodels.hook import Hook


class Preferences:
    """A dictionary that is kept. `changed(key)` tells that a value changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._guard = threading.Lock()
        self.changed = Hook()
        self.set_aside: Path | None = None  # where an unreadable file went
        self._values: dict[str, Any] = self._read()

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(key, default)

    def put(self, key: str, value: Any) -> None:
        if self._values.get(key) == value:
            return
        self._values[key] = value
        self._write()
        self.changed(key)

    def forget(self) -> None:
        """Everything as on the first day."""
        keys = list(self._values)
        self._values.clear()
        self._write()
        for key in keys:
            self.changed(key)

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._file.read_text(encoding="utf-8"))
            if isinstance(values, dict):
                return values
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            pass
        aside = self._file.with_name(f"{self._file.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{self._file.suffix}")
        os.replace(self._file, aside)
        self.set_aside = aside
        return {}

    def _write(self) -> None:
        with self._guard:
            fresh = self._file.with_name(f"{self._file.name}.new")
            fresh.touch(mode=0o600)  # the server's keys are in it
            fresh.write_text(json.dumps(self._values, ensure_ascii=False, indent=1), encoding="utf-8")
            os.replace(fresh, self._file)
