"""How the server shall listen, as a person chose it: kept in the preferences, checked before it starts."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.gui.texts import tr
from app.gui.viewmodels.hook import Hook

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.server.config import ServerSettings

HERE, EVERYWHERE = "127.0.0.1", "0.0.0.0"


@dataclass(frozen=True)
class Wish:
    host: str = HERE
    port: int = 8080
    keys: Sequence[str] = ()
    origins: Sequence[str] = ()

    @property
    def local(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class Wishes:
    """`changed`: `wish` or `problem` is another."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        self.changed = Hook()
        kept = {k: v for k, v in dict(preferences.get("server", {})).items() if k in Wish.__dataclass_fields__}
        self.wish = Wish(**kept)

    @property
    def problem(self) -> str:
        """Why the server cannot listen so; nothing when it can."""
        if not self.wish.local and not self.wish.keys:
            return tr("Other machines may only connect with a key. Make one first.")
        return next((wrong for origin in self.wish.origins if (wrong := _wrong_origin(origin))), "")

    def set(self, **changes: Any) -> None:
        self.wish = replace(self.wish, **changes)
        self._preferences.put(
            "server", {**asdict(self.wish), "keys": [*self.wish.keys], "origins": [*self.wish.origins]}
        )
        self.changed()

    def make_key(self) -> str:
        key = f"grus-{secrets.token_urlsafe(24)}"
        self.set(keys=[*self.wish.keys, key])
        return key

    def drop_key(self, key: str) -> None:
        self.set(keys=[other for other in self.wish.keys if other != key])

    def set_origins(self, text: str) -> None:
        """Addresses of web pages, separated by commas or spaces."""
        self.set(origins=text.replace(",", " ").split())

    def settings(self) -> ServerSettings:
        from app.server.config import ServerSettings

        return ServerSettings(
            host=self.wish.host,
            port=self.wish.port,
            api_keys=tuple(self.wish.keys),
            origins=tuple(self.wish.origins),
            grace_seconds=5.0,
            log_requests=True,
        )


def masked(key: str) -> str:
    """Enough of a key to tell it from another."""
    return f"{key[:8]}…{key[-4:]}"


def _wrong_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if origin == "*" or (parts.scheme in ("http", "https") and parts.netloc and parts.path in ("", "/")):
        return ""
    return tr("{origin} is not a web page's origin. Write it like https://app.example, or * for all.", origin=origin)
