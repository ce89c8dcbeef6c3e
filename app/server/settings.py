"""How a server was told to behave: addresses, keys, limits. Checked once, when it is made.

Knows nothing of models; how requests are computed is in `engine.settings`.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from engine.errors import BadRequest

MIB = 1 << 20


@dataclass(frozen=True)
class ServerSettings:
    host: str = "127.0.0.1"
    port: int = 8080
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    open_without_key: bool = False  # listen beyond this machine without a key, knowingly
    allowed_hosts: tuple[str, ...] = ()  # names under which the server may be reached, besides localhost and addresses
    origins: tuple[str, ...] = ()  # web pages that may call; "*" is all of them
    remote_images: bool = True  # images may be given as URLs, which the server then fetches
    remote_image_ports: tuple[int, ...] = ()  # where from, besides 80 and 443
    max_body: int = 32 * MIB
    max_prompt: int = 4 * MIB  # characters of one prompt
    max_depth: int = 64  # nesting of a JSON body
    body_seconds: float = 30.0  # a body must have arrived after these
    header_seconds: float = 10.0  # a request's head must have arrived after these
    heartbeat_seconds: float = 5.0  # silence in a stream is broken after these
    send_seconds: float = 60.0  # a client that takes nothing for so long is gone
    grace_seconds: float = 10.0  # running replies may go on for so long when the server is told to stop
    responses_file: str = ""  # where responses that may be continued are kept; "": in a file that goes with the server
    voices_dir: str | None = None  # where saved voices are kept; None: where this person's are
    max_sound_seconds: float = 3 * 3600.0  # of a recording; a small file may hold days of silence
    max_sessions: int = 8  # conversations by voice at once
    max_buffer_seconds: float = 300.0  # of sound that was sent to such a conversation and is not part of it yet
    ping_seconds: float = 20.0  # a websocket is asked for a sign of life as often, and has as long to give it
    log_requests: bool = False
    log_prompts: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise BadRequest(f"port must be between 0 and 65535, not {self.port}.", "port")
        if any(not 0 < port < 65536 for port in self.remote_image_ports):
            raise BadRequest("remote_image_port must be between 1 and 65535.", "remote_image_port")
        if self.max_sessions < 0:
            raise BadRequest(f"max_sessions must not be negative, as {self.max_sessions} is.", "max_sessions")
        if any(not key for key in self.api_keys):
            raise BadRequest("An API key must not be empty.", "api_key")
        if not self.local and not self.api_keys and not self.open_without_key:
            raise BadRequest(
                f"Listening on {self.host} lets other machines in. Set an API key with --api-key or --api-key-file, "
                "or say --allow-without-key if this is meant.",
                "host",
            )

    @property
    def local(self) -> bool:
        """Only this machine can connect."""
        return self.host == "localhost" or (is_address(self.host) and ipaddress.ip_address(self.host).is_loopback)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
