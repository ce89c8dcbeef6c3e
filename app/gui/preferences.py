"""What a person chose, in one small JSON file: appearance, language, folders, the window's place.

Read before the window opens, so it is no table of the database. Written at once at every change, in one piece: a crash
leaves the old file or the new one. A file that holds no settings is set aside, and said so; one that the disk does not give
stays where it is.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

from app.gui.store.files import private_file
from app.gui.viewmodels.hook import Hook

log = logging.getLogger("grus.window")


class Preferences:
    """A dictionary that is kept. `changed(key)` tells that a value changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._guard = threading.Lock()
        self.changed = Hook()
        self.set_aside: Path | None = None  # where an unreadable file went
        self._unread = False  # the file is there, and could not be read yet
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
        except OSError as error:  # the disk or the rights: the file may be as good as ever
            log.warning("the settings cannot be read: %s", error)
            self._unread = True
            return {}
        except ValueError:
            pass
        aside = self._file.with_name(f"{self._file.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{self._file.suffix}")
        os.replace(self._file, aside)
        self.set_aside = aside
        return {}

    def _write(self) -> None:
        """What cannot be written now, on a full disk, is kept in memory and written with the next change."""
        with self._guard:
            if self._unread:
                self._unread = False
                self._values = {**self._read(), **self._values}
                if self._unread:
                    return
            fresh = self._file.with_name(f"{self._file.name}.new")
            try:
                private_file(fresh)  # the server's keys are in it
                fresh.write_text(json.dumps(self._values, ensure_ascii=False, indent=1), encoding="utf-8")
                os.replace(fresh, self._file)
            except OSError as error:
                log.warning("the settings cannot be saved: %s", error)
                with contextlib.suppress(OSError):
                    fresh.unlink(missing_ok=True)
