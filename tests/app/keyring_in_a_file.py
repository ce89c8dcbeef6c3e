"""A backend for `keyring` that other processes see too: what macOS, Windows and a Linux desktop bring by themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class KeyringInAFile(KeyringBackend):
    priority = 5  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self._file = Path(os.environ["TEST_KEYRING"])

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps({**self._all(), f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        self._file.write_text(json.dumps({k: v for k, v in self._all().items() if k != f"{service} {username}"}))

    def _all(self) -> dict[str, str]:
        return dict(json.loads(self._file.read_text())) if self._file.exists() else {}
