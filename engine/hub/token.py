"""The token that opens gated and private repositories: where Grus keeps it, and which one is used.

`HF_TOKEN` comes first, then the one that was given to Grus, then the one that Hugging Face's own tools keep. Grus keeps
it in the system's keyring, else in a file that only this person can read (`engine.secret_store`), for one hub's address.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import BadRequest, ErrorText
from engine.hub import library
from engine.secret_store import SecretStore

Place = Literal["environment", "keyring", "file", "hub", "none"]
_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_TOKEN = re.compile(r"[!-~]{4,400}")


@dataclass(frozen=True)
class StoredToken:
    """Which token is used, without the token."""

    place: Place
    where: str = ""  # the variable's name or the file's path
    readable: bool = True  # False: the keyring holds one and could not be opened


def token(endpoint: str) -> str | None:
    """Of Grus's own keeping; None where huggingface_hub shall look for itself: HF_TOKEN, and what its tools keep."""
    return None if _variable() else _store.get(endpoint)[0]


def status(endpoint: str) -> StoredToken:
    """May take long: the keyring may ask the person."""
    if variable := _variable():
        return StoredToken("environment", variable)
    found, place = _store.get(endpoint)
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
    _store.keep(endpoint, given)
    return status(endpoint)


def forget(endpoint: str) -> bool:
    """Remove what Grus keeps for this hub. False when there was nothing."""
    return _store.forget(endpoint)


def forget_all() -> None:
    for endpoint in _store.addresses():
        forget(endpoint)


def token_file() -> Path:
    from platformdirs import PlatformDirs

    return Path(PlatformDirs("Grus", appauthor=False).user_config_dir) / "hub-tokens.json"


def _variable() -> str | None:
    return next((name for name in _VARIABLES if os.environ.get(name, "").strip()), None)


_store = SecretStore(lambda: token_file())
