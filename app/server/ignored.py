"""Fields of a request that were ignored: collected while it is parsed and prepared, reported in a header, and logged.

A hint, or a field that the server does not know, changes nothing that it could honour, so a request with one is answered. The
client sees its name in `x-grus-ignored`, and the log has it once for each client. Under `--strict` nothing is collected,
and such a field is refused instead.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

log = logging.getLogger("grus.server")

HEADER = b"x-grus-ignored"
_MOST_NAMES = 40
_LONGEST_NAME = 100
_MOST_LOGGED = 10_000  # pairs of a client and a field

ignored_fields: ContextVar[IgnoredFields | None] = ContextVar("grus_ignored_fields", default=None)


class IgnoredFields:
    """Of one request. `body` is its parsed JSON, in which the names of nested fields are found."""

    def __init__(self, body: Any = None) -> None:
        self.body = body
        self._names: dict[str, None] = {}
        self._keys: dict[int, tuple[Mapping[str, Any], set[str]]] = {}

    def add(self, name: str) -> None:
        self._names[name] = None

    def add_key(self, container: Mapping[str, Any], key: str) -> None:
        """A field of this object, which lies anywhere in the body."""
        self._keys.setdefault(id(container), (container, set()))[1].add(key)

    def names(self) -> list[str]:
        """Each field once, with the path to it but without indices: `tools.cache_control`."""
        self._names.update(dict.fromkeys(self._paths(self.body, "")))
        for _, keys in self._keys.values():  # a form's
            self._names.update(dict.fromkeys(sorted(keys)))
        self._keys.clear()
        return list(self._names)

    def _paths(self, value: Any, prefix: str) -> Iterator[str]:
        if not self._keys:
            return
        if isinstance(value, list):
            for item in value:
                yield from self._paths(item, prefix)
        elif isinstance(value, dict):
            _, keys = self._keys.pop(id(value), (value, ()))
            for key, item in value.items():
                if key in keys:
                    yield f"{prefix}{key}"
                else:
                    yield from self._paths(item, f"{prefix}{key}.")


def ignore(name: str) -> bool:
    """Report that a field had no effect. False under `--strict`, where it must be refused."""
    fields = ignored_fields.get()
    if fields is None:
        return False
    fields.add(name)
    return True


def as_header(names: list[str]) -> bytes:
    """The names came from a client: what no field is called is replaced, so that they cannot break the header."""
    shown = [re.sub(r"[^\w.$\[\]-]", "?", name[:_LONGEST_NAME], flags=re.ASCII) or "?" for name in names[:_MOST_NAMES]]
    return ", ".join([*shown, "..."] if len(names) > _MOST_NAMES else shown).encode()


class IgnoredLog:
    """Logs each ignored field once for each client, which its User-Agent names."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logged: set[tuple[str, str]] = set()

    def add(self, client: str, names: list[str]) -> None:
        client = client.split(" ", 1)[0][:_LONGEST_NAME] or "a client without a name"
        with self._lock:
            if len(self._logged) > _MOST_LOGGED:
                self._logged.clear()
            new = [name for name in names if (client, name) not in self._logged]
            self._logged.update((client, name) for name in new)
        if new:
            log.info("%s sends fields that have no effect here: %s", client, as_header(new).decode())
