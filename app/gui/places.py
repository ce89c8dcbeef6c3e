"""Where Grus keeps what it keeps: one folder for data, one for settings, as the platform has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.gui.store.files import private_folder


@dataclass(frozen=True)
class Places:
    data: Path
    settings: Path

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

    def make(self) -> Places:
        """Both folders, which only their owner may open."""
        for folder in (self.data, self.settings):
            private_folder(folder)
        return self


def usual_places() -> Places:
    """As the platform has them."""
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("Grus", appauthor=False)
    return Places(Path(dirs.user_data_dir), Path(dirs.user_config_dir))


def places_under(folder: Path) -> Places:
    """Everything in one folder: for tests, and for a copy of Grus that is carried about."""
    return Places(folder / "data", folder / "settings")
