"""Where tokens and keys are kept: in the system's keyring, else in a file that only this person can read.

Each belongs to one address, and no other address gets it. The file also says that the keyring holds one, so that nobody's
keyring is opened for nothing.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from engine.errors import ErrorText, GrusError

_T = TypeVar("_T")
SecretPlace = Literal["keyring", "file", "none"]
SERVICE = "Grus"  # under which name the keyring shows it; the account is the address
_RECOMMENDED = 1  # keyring's own priority of backends that keep secrets; below are plain files, and none at all
_READ_SECONDS, _WRITE_SECONDS = 20.0, 120.0  # a keyring that is locked asks the person for its password


class SecretStore:
    """The secrets of one kind. `file` says where they are kept where there is no keyring."""

    def __init__(self, file: Callable[[], Path]) -> None:
        self._file = file
        self._known: dict[tuple[str, int], str | None] = {}  # what the keyring gave, until the file changes

    def get(self, address: str) -> tuple[str | None, SecretPlace]:
        """The secret and where it lies; a place without a secret: it could not be read. May take long: the keyring may ask
        the person."""
        kept = self._read().get(address)
        if kept is None:
            return None, "none"
        if not kept.get("keyring"):
            return str(kept.get("token") or "") or None, "file"
        state = (address, self._file().stat().st_mtime_ns)
        if self._known.get(state) is None:
            self._known[state] = _asked(lambda: _from_keyring(address), _READ_SECONDS, None)
        return self._known[state], "keyring"

    def keep(self, address: str, given: str) -> None:
        """Keep a secret for this address, in place of an older one."""
        self.forget(address)
        in_keyring = _asked(lambda: _put_into_keyring(address, given), _WRITE_SECONDS, False)
        self._write({**self._read(), address: {"keyring": True} if in_keyring else {"token": given}})

    def forget(self, address: str) -> bool:
        """False when there was nothing."""
        kept = self._read()
        ours = kept.pop(address, None)
        if ours is None:
            return False
        if ours.get("keyring"):
            _asked(lambda: _out_of_keyring(address), _WRITE_SECONDS, None)
        self._write(kept)
        return True

    def addresses(self) -> Sequence[str]:
        return tuple(self._read())

    # -- the file

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            content = json.loads(self._file().read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return (
            {key: value for key, value in content.items() if isinstance(value, dict)}
            if isinstance(content, dict)
            else {}
        )

    def _write(self, kept: dict[str, dict[str, Any]]) -> None:
        try:
            write_private(self._file(), json.dumps(kept) if kept else None)
        except OSError as error:
            raise GrusError(
                ErrorText("The token cannot be kept in {file}: {reason}.", file=self._file(), reason=error.strerror)
            ) from error


def write_private(file: Path, text: str | None) -> None:
    """A file that only this person can read, written as a whole; None removes it. Raises OSError."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if text is None:
            file.unlink(missing_ok=True)
            return
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
        fresh.replace(file)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


# -- the keyring; every backend has failures of its own kind, and some wait for the person


def _put_into_keyring(address: str, given: str) -> bool:
    import keyring

    if keyring.get_keyring().priority < _RECOMMENDED:
        return False
    keyring.set_password(SERVICE, address, given)
    return bool(keyring.get_password(SERVICE, address) == given)


def _from_keyring(address: str) -> str | None:
    import keyring

    return keyring.get_password(SERVICE, address)


def _out_of_keyring(address: str) -> None:
    import keyring

    keyring.delete_password(SERVICE, address)


def _asked(ask: Callable[[], _T], seconds: float, otherwise: _T) -> _T:
    """On a thread of its own, so that a keyring that never answers holds nothing up."""
    answer: list[_T] = []

    def run() -> None:
        with suppress(Exception):
            answer.append(ask())

    thread = threading.Thread(target=run, name="grus-keyring", daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else otherwise
