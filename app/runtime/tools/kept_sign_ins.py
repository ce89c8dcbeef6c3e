"""The tokens of tool servers that a person has signed in to: in the system's keyring, else in a file that only they can read."""

from __future__ import annotations

import json
from typing import Any

from app.runtime.tools import settings as settings_module
from app.runtime.tools.settings import ToolServer, ToolSettings
from engine.errors import GrusError
from engine.secret_store import SecretStore

_store = SecretStore(lambda: settings_module.tools_file().with_name("tool-sign-ins.json"))


def load(address: str) -> dict[str, Any]:
    """Empty where there is nothing. May take long: the keyring may ask the person."""
    try:
        kept = json.loads(_store.get(address)[0] or "{}")
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def keep(address: str, kept: str) -> None:
    _store.keep(address, kept)


def is_signed_in(server: ToolServer) -> bool:
    """Opens no keyring."""
    return bool(server.url) and _address(server) in _store.addresses()


def sign_out(server: ToolServer) -> bool:
    """Delete the tokens. False when there were none."""
    return bool(server.url) and _store.forget(_address(server))


def forget_unused(settings: ToolSettings) -> None:
    """Of addresses that no server has any more."""
    _forget_but({_address(one) for one in settings.servers() if one.url})


def forget_all() -> None:
    _forget_but(set())


def _forget_but(used: set[str]) -> None:
    for address in set(_store.addresses()) - used:
        _store.forget(address)


def _address(server: ToolServer) -> str:
    try:
        return server.filled(server.url)
    except GrusError:  # it names a variable that is not set now
        return server.url
