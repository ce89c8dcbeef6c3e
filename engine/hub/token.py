"""The token that opens gated and private repositories: where Grus keeps it, and which one is used.

`HF_TOKEN` comes first, then the one that was given to Grus, then the one that Hugging Face's own tools keep. Grus keeps
it in the system's keyring, else in a file that only this person can read. It is kept for one hub's address, and another
address never gets it. The file also says that the keyring holds a token, so that nobody's keyring is opened for nothing.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from engine.errors import BadRequest, ErrorText, GrusError
from engine.hub import library

_T = TypeVar("_T")
Place = Literal["environment", "keyring", "file", "hub", "none"]
SERVICE = "Grus"  # under which name the keyring shows it; the account is the hub's address
_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_TOKEN = re.compile(r"[!-~]{4,400}")
_RECOMMENDED = 1  # keyring's own priority of backends that keep secrets; below are plain files, and none at all
_READ_SECONDS, _WRITE_SECONDS = 20.0, 120.0  # a keyring that is locked asks the person for its password
_known: dict[tuple[str, int], str | None] = {}  # what the keyring gave, until the file changes


@dataclass(frozen=True)
class StoredToken:
    """Which token is used, without the token."""

    place: Place
    where: str = ""  # the variable's name or the file's path
    readable: bool = True  # False: the keyring holds one and could not be opened


def token(endpoint: str) -> str | None:
    """Of Grus's own keeping; None where huggingface_hub shall look for itself: HF_TOKEN, and what its tools keep."""
    return None if _variable() else _ours(endpoint)[0]


def status(endpoint: str) -> StoredToken:
    """May take long: the keyring may ask the person."""
    if variable := _variable():
        return StoredToken("environment", variable)
    found, place = _ours(endpoint)
    if place == "keyring":
        return StoredToken("keyring", readable=found is not None)
    if place == "file":
        return StoredToken("file", str(token_file()))
    package = library.hub()
    with suppress(Exception):
        if package.utils.get_token():
            return StoredToken("hub", str(package.constants.HF_TOKEN_PATH))
    return StoredToken("none")


def keep(given: str, endpoint: str) -> StoredToken:
    """Keep a token for this hub, in place of an older one."""
    given = given.strip()
    if not _TOKEN.fullmatch(given):
        raise BadRequest(
            ErrorText("A token is one word of letters and digits, such as hf_... on your Hugging Face page."), "token"
        )
    forget(endpoint)
    in_keyring = _asked(lambda: _put_into_keyring(endpoint, given), _WRITE_SECONDS, False)
    _write({**_read(), endpoint: {"keyring": True} if in_keyring else {"token": given}})
    return status(endpoint)


def forget(endpoint: str) -> bool:
    """Remove what Grus keeps for this hub. False when there was nothing."""
    kept = _read()
    ours = kept.pop(endpoint, None)
    if ours is None:
        return False
    if ours.get("keyring"):
        _asked(lambda: _out_of_keyring(endpoint), _WRITE_SECONDS, None)
    _write(kept)
    return True


def forget_all() -> None:
    for endpoint in _read():
        forget(endpoint)


def token_file() -> Path:
    from platformdirs import PlatformDirs

    return Path(PlatformDirs("Grus", appauthor=False).user_config_dir) / "hub-tokens.json"


def _variable() -> str | None:
    return next((name for name in _VARIABLES if os.environ.get(name, "").strip()), None)


def _ours(endpoint: str) -> tuple[str | None, Place]:
    """The token and where it lies; a place without a token: it could not be read."""
    kept = _read().get(endpoint)
    if kept is None:
        return None, "none"
    if not kept.get("keyring"):
        return str(kept.get("token") or "") or None, "file"
    state = (endpoint, token_file().stat().st_mtime_ns)
    if _known.get(state) is None:
        _known[state] = _asked(lambda: _from_keyring(endpoint), _READ_SECONDS, None)
    return _known[state], "keyring"


# -- the keyring; every backend has failures of its own kind, and some wait for the person


def _put_into_keyring(endpoint: str, given: str) -> bool:
    import keyring

    if keyring.get_keyring().priority < _RECOMMENDED:
        return False
    keyring.set_password(SERVICE, endpoint, given)
    return bool(keyring.get_password(SERVICE, endpoint) == given)


def _from_keyring(endpoint: str) -> str | None:
    import keyring

    return keyring.get_password(SERVICE, endpoint)


def _out_of_keyring(endpoint: str) -> None:
    import keyring

    keyring.delete_password(SERVICE, endpoint)


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


# -- the file


def _read() -> dict[str, dict[str, Any]]:
    try:
        told = json.loads(token_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in told.items() if isinstance(value, dict)} if isinstance(told, dict) else {}


def _write(kept: dict[str, dict[str, Any]]) -> None:
    file = token_file()
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not kept:
            file.unlink(missing_ok=True)
            return
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(kept, stream)
        fresh.replace(file)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise GrusError(
            ErrorText("The token cannot be kept in {file}: {reason}.", file=file, reason=error.strerror)
        ) from error
