"""The servers elsewhere that a person has added: their addresses, their models and their keys.

A model of a server goes by `SERVER::MODEL`, which can be no folder and no repository, so that no name of a model on this machine
ever leads away from it. What was asked of a server when it was added is kept, so that lists need no network. A key lies in
the system's keyring, else in a file that only this person can read, for the server's address alone.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engine.errors import BadRequest, ErrorText, GrusError, ModelNotFound
from engine.secret_store import SecretStore, write_private

BETWEEN = "::"  # a server's name and its model's
REMOTE = "remote"  # the `model_type` of a model elsewhere
SILENCE = 300.0  # seconds without a byte after which a reply is given up: a long prompt takes minutes
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,38}[A-Za-z0-9])?", re.ASCII)
_KEY = re.compile(r"[!-~]{1,4000}")
_LISTENS = re.compile(r"whisper|moonshine|parakeet|transcri|\basr\b|-asr", re.IGNORECASE)
_SPEAKS = re.compile(r"\btts\b|-tts|tts-|kokoro|chatterbox|omnivoice|orpheus|spark-tts", re.IGNORECASE)
_EMBEDS = re.compile(r"embed|\bbge\b|bge-|\be5-|gte-", re.IGNORECASE)


@dataclass(frozen=True)
class OfferedModel:
    """A model as its server describes it."""

    id: str
    abilities: tuple[str, ...]
    context: int | None = None  # tokens


@dataclass(frozen=True)
class RemoteServer:
    """A server elsewhere. `url` goes up to and with `/v1`. `program`: what it runs, as far as its answers tell."""

    name: str
    url: str
    models: tuple[OfferedModel, ...] = ()
    program: str = ""
    silence: float = SILENCE

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def on_this_machine(self) -> bool:
        return is_loopback(self.url)

    def called(self, model: str) -> str:
        """The name that the model goes by here."""
        return f"{self.name}{BETWEEN}{model}"

    def offered(self, model: str) -> OfferedModel:
        """What is known of a model. A name that the server did not list may be typed, for many list less than they have."""
        listed = next((one for one in self.models if one.id == model), None)
        return listed or OfferedModel(model, abilities_of(model))


class RemoteServers:
    """The kept servers. `only`: those that may be used here, by name; None: all."""

    def __init__(self, only: Sequence[str] | None = None, *, allowed: bool = True) -> None:
        """`allowed` False: nothing may leave this machine."""
        self.only, self.allowed = only, allowed

    def all(self) -> list[RemoteServer]:
        return [server for server in kept_servers() if self.only is None or server.name in self.only]

    def get(self, name: str) -> RemoteServer:
        found = next((server for server in self.all() if server.name == name), None)
        if found is None:
            have = ", ".join(server.name for server in self.all()) or "none"
            raise ModelNotFound(
                ErrorText("There is no server {name} here. Added: {have}.", name=repr(name[:100]), have=have)
            )
        return found

    def split(self, name: str) -> tuple[RemoteServer, str] | None:
        """The server and its model; None for the name of a model of this machine. Raises ModelNotFound for a server that is
        not here."""
        server, between, model = name.partition(BETWEEN)
        if not between or not model or not _NAME.fullmatch(server):
            return None
        return self.get(server), model


UNKNOWN = 1 << 31  # tokens of context and numbers of a vector, where a server does not say


def remote_config(offered: OfferedModel) -> Mapping[str, Any]:
    """What stands for the config.json of a model elsewhere; `capabilities` reads from it what the model can do."""
    return {"model_type": REMOTE, "capabilities": offered.abilities, "hidden_size": UNKNOWN, "pooling": "last"}


# -- what is kept


def servers_file() -> Path:
    from platformdirs import PlatformDirs

    return Path(PlatformDirs("Grus", appauthor=False).user_config_dir) / "remote-servers.json"


_keys = SecretStore(lambda: servers_file().with_name("remote-keys.json"))


def kept_servers() -> list[RemoteServer]:
    """In the order of their names. A file that was damaged has none."""
    try:
        entries = json.loads(servers_file().read_text("utf-8"))
        return sorted((_server(name, one) for name, one in entries.items()), key=lambda server: server.name)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, BadRequest):
        return []


def _server(name: str, entry: Mapping[str, Any]) -> RemoteServer:
    models = (OfferedModel(one["id"], tuple(one["abilities"]), one.get("context")) for one in entry["models"])
    return RemoteServer(
        name,
        check_url(entry["url"]),
        tuple(models),
        entry.get("program", ""),
        float(entry.get("silence", SILENCE)),
    )


def keep_server(server: RemoteServer, key: str | None = None) -> None:
    """In place of one of the same name. `key` None: the one that is kept for this address, if any."""
    before = {one.name: one for one in kept_servers()}
    if key is not None:
        _keys.keep(server.url, checked_key(key))
    _write([*(one for name, one in before.items() if name != server.name), server])
    if (old := before.get(server.name)) is not None and old.url != server.url:
        _forget_key(old.url)


def forget_server(name: str) -> None:
    """With its key, unless another server has the same address. Raises ModelNotFound."""
    gone = RemoteServers().get(name)
    _write([one for one in kept_servers() if one.name != name])
    _forget_key(gone.url)


def forget_servers() -> None:
    """All of them, with their keys."""
    for server in kept_servers():
        forget_server(server.name)


def _forget_key(url: str) -> None:
    if all(one.url != url for one in kept_servers()):
        _keys.forget(url)


def _write(servers: Sequence[RemoteServer]) -> None:
    entries = {one.name: {key: value for key, value in asdict(one).items() if key != "name"} for one in servers}
    try:
        write_private(servers_file(), json.dumps(entries, indent=1) if entries else None)
    except OSError as error:
        raise GrusError(
            ErrorText("The servers cannot be kept in {file}: {reason}.", file=servers_file(), reason=error.strerror)
        ) from error


def key_of(server: RemoteServer) -> str | None:
    """The key for a server: of the environment (GRUS_REMOTE_KEY_NAME), else the one that is kept for its address. May take long:
    the keyring may ask the person."""
    variable = "GRUS_REMOTE_KEY_" + re.sub(r"\W", "_", server.name.upper())
    return os.environ.get(variable, "").strip() or _keys.get(server.url)[0]


def has_key(server: RemoteServer) -> bool:
    return server.url in _keys.addresses()


# -- what a person types


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadRequest(
            ErrorText(
                "A server's name has up to 40 letters, digits, dots and dashes: {name} does not fit.",
                name=repr(name[:60]),
            ),
            "name",
        )
    return name


def check_url(url: str) -> str:
    """The address up to and with `/v1`; without a path that is added."""
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, parts.hostname
    except ValueError:
        parts, port, host = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or port == 0 or re.search(r"[\s\\]", url.strip()):
        raise BadRequest(
            ErrorText("A server's address is like http://192.168.1.5:8000 or https://example.org/v1."), "url"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadRequest(
            ErrorText("A server's address holds no password, no question mark and no hash. The key is asked for."),
            "url",
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/') or '/v1'}"


def checked_key(key: str) -> str:
    if not _KEY.fullmatch(key.strip()):
        raise BadRequest(ErrorText("A key is one word of letters, digits and signs."), "key")
    return key.strip()


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_to_read(url: str) -> bool:
    """Whether others on the way can read what is sent, and the key."""
    return urlsplit(url).scheme == "http" and not is_loopback(url)


# -- what a server says


def offered_models(listed: Mapping[str, Any]) -> tuple[tuple[OfferedModel, ...], str]:
    """The models in the reply of `/v1/models`, and the program that it shows."""
    cards = [card for card in listed.get("data") or () if isinstance(card, dict) and isinstance(card.get("id"), str)]
    models = tuple(_offered(card) for card in cards if card.get("kind") != "part" and BETWEEN not in card["id"])
    owners = {str(card.get("owned_by", "")) for card in cards}
    return models, next(iter(owners & {"grus", "vllm", "sglang", "llamacpp"}), "")


def _offered(card: Mapping[str, Any]) -> OfferedModel:
    meta = card.get("meta") if isinstance(card.get("meta"), dict) else {}
    sizes = (card.get("max_model_len"), card.get("context_length"), meta.get("n_ctx_train"))  # type: ignore[union-attr]
    context = next((size for size in sizes if isinstance(size, int) and size > 0), None)
    return OfferedModel(card["id"], abilities_of(card["id"], card.get("kind")), context)


def abilities_of(model: str, kind: str | None = None) -> tuple[str, ...]:
    """What a model can do, by what its server says (another Grus does), else by its name. Whether one that chats sees pictures
    is not known before it is asked."""
    if kind == "transcription" or (kind is None and _LISTENS.search(model)):
        return ("listen",)
    if kind == "speech" or (kind is None and _SPEAKS.search(model)):
        return ("speak",)
    return ("embed",) if kind is None and _EMBEDS.search(model) else ("chat", "vision", "embed")


def with_typed(server: RemoteServer, typed: Sequence[str]) -> RemoteServer:
    """With models that a person named, which the server does not list."""
    known = {one.id for one in server.models}
    more = (OfferedModel(name, abilities_of(name)) for name in dict.fromkeys(typed) if name not in known)
    return replace(server, models=(*server.models, *more))


@dataclass(frozen=True)
class ServerProbe:
    """What a server answered when it was tried. `warnings` are sentences for a person."""

    server: RemoteServer
    seconds: float
    warnings: Sequence[ErrorText] = field(default_factory=tuple)
