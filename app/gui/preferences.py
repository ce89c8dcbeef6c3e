"""Where Grus keeps its files (`AppFolders`), and what a person chose (`Preferences`), in one small JSON file.

Preferences are read before the window opens, so they are no table of the database. They are written at once at every change,
atomically: a crash leaves the old file or the new one. A file that holds no settings is set aside and reported; one that the
disk cannot read stays where it is.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.gui.store.database import private_file, private_folder
from app.gui.viewmodels.signal import Signal


@dataclass(frozen=True)
class AppFolders:
    data: Path
    settings: Path
    packed: Path  # weights that were packed for this CPU; can be made again

    @property
    def database(self) -> Path:
        return self.data / "grus.sqlite3"

    @property
    def attachments(self) -> Path:
        """Copies of files that were dropped into messages, named by their content."""
        return self.data / "attachments"

    @property
    def logs(self) -> Path:
        """What went wrong, and stacks of crashes: `app.logfile`."""
        return self.data / "logs"

    @property
    def preferences(self) -> Path:
        return self.settings / "preferences.json"

    def make(self) -> AppFolders:
        """Both folders, which only their owner may open."""
        for folder in (self.data, self.settings):
            private_folder(folder)
        return self


def default_folders() -> AppFolders:
    """As the platform has them."""
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("Grus", appauthor=False)
    return AppFolders(Path(dirs.user_data_dir), Path(dirs.user_config_dir), Path(dirs.user_cache_dir) / "packed")


def places_under(folder: Path) -> AppFolders:
    """Everything in one folder: for tests, and for a copy of Grus that is carried about."""
    return AppFolders(folder / "data", folder / "settings", folder / "packed")


log = logging.getLogger("grus.window")


class Preferences:
    """A persistent dictionary. `changed(key)` is emitted when a value changes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._guard = threading.Lock()
        self.changed = Signal()
        self.set_aside: Path | None = None  # where an unreadable file went
        self._unread = False  # the file is there, and could not be read yet
        self._values: dict[str, Any] = self._read()

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(key, default)

    def all(self) -> dict[str, Any]:
        return dict(self._values)

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
