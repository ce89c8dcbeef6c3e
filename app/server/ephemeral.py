"""Ephemeral keys: a program with a key makes one for a page or an app, which can open realtime sessions with it for a while."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

PREFIX = "ek_"
_MOST_KEYS = 10_000


class EphemeralKeys:
    """Held in memory: they end with the server."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._keys: dict[bytes, tuple[float, Mapping[str, Any]]] = {}  # by digest, the oldest first

    def make(self, session: Mapping[str, Any], seconds: int) -> tuple[str, int]:
        """A key and when it expires. `session`: the settings that sessions opened with it begin with."""
        now = self._clock()
        self._keys = {digest: one for digest, one in self._keys.items() if one[0] > now}
        if len(self._keys) >= _MOST_KEYS:
            del self._keys[next(iter(self._keys))]
        key, expires = PREFIX + secrets.token_urlsafe(24), int(now) + seconds
        self._keys[_digest(key)] = expires, session
        return key, expires

    def session(self, key: str) -> Mapping[str, Any] | None:
        """The settings that a key stands for; None: it is no key, or has expired."""
        expires, session = self._keys.get(_digest(key), (0.0, None))
        return session if expires > self._clock() else None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
