"""Fetches a file from the public web for a client or a model, and from nowhere else.

A URL may come from someone who must not reach what this machine can: its own services, the network
behind it, a cloud's metadata (server-side request forgery). Therefore every address that a name stands for must be public,
the connection goes to the address that was checked (a second lookup could answer something else), and each redirect is
checked like the first URL. Proxies, cookies and credentials of this machine are never used.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote, urljoin, urlsplit

import h11

from engine.errors import BadRequest

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MIB = 1 << 20
STANDARD_PORTS = (80, 443)
LONGEST_URL = 8192
CHUNK = 1 << 16
CONNECT_SECONDS = 3.0  # for one of a name's addresses
MOST_ADDRESSES = 4  # of a name, tried in turn
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_REDIRECTS = (301, 302, 303, 307, 308)
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?")


def is_public(address: Address) -> bool:
    """Reachable by everybody. An IPv6 address that carries an IPv4 address is judged by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        carried = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried is not None:
            return is_public(carried)
        if address.is_site_local:
            return False
    closed = address.is_multicast or address.is_reserved or address.is_link_local or address.is_unspecified
    return address.is_global and not closed


def lookup(host: str, port: int) -> Sequence[Address]:
    """All addresses of a name, in the system's order. Blocks."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(place[0]) for *_, place in found]


@dataclass(frozen=True)
class Target:
    """A URL taken apart, and checked as far as that goes without asking anybody."""

    url: str
    secure: bool
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


@dataclass
class _Reply:
    location: str | None  # where to look instead
    body: bytes = b""
    media_type: str = ""


@dataclass(frozen=True)
class FetchedFile:
    """`url`: where it was found at last."""

    url: str
    media_type: str
    body: bytes


@dataclass
class Fetcher:
    """One for a server. Its own threads look names up, so that slow name servers hold up nothing else."""

    max_bytes: int = 20 * MIB
    seconds: float = 10.0  # for everything: names, connections, redirects, the file
    redirects: int = 3
    more_ports: Sequence[int] = ()
    kind: str = "image"  # what is fetched, in messages
    media: Sequence[str] = ()  # how media types that are taken begin; none: the kind
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4, "lookup"), repr=False)
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8), repr=False)

    @property
    def _taken(self) -> tuple[str, ...]:
        return tuple(self.media) or (f"{self.kind}/",)

    async def fetch(self, url: str) -> bytes:
        """The content of the file. Raises BadRequest as `get` does."""
        return (await self.get(url)).body

    async def get(self, url: str) -> FetchedFile:
        """The file. Raises BadRequest for what is forbidden, too large, too slow, or not there."""
        try:
            async with asyncio.timeout(self.seconds), self._turns:
                return await self._follow(url)
        except TimeoutError:
            raise BadRequest(f"The {self.kind} could not be fetched within {self.seconds:g} seconds.") from None
        except (OSError, h11.ProtocolError):
            raise BadRequest(f"The {self.kind} could not be fetched: its server did not answer as it should.") from None

    async def _follow(self, url: str) -> FetchedFile:
        for _ in range(self.redirects + 1):
            target = self.target(url)
            reply = await self._get(target, await self._addresses(target))
            if reply.location is None:
                return FetchedFile(target.url, reply.media_type, reply.body)
            url = urljoin(target.url, reply.location)
        raise BadRequest(f"The URL was redirected more than {self.redirects} times.")

    def target(self, url: str) -> Target:
        if len(url) > LONGEST_URL:
            raise BadRequest(f"The URL is longer than {LONGEST_URL} characters.")
        if any(character <= " " or character == "\x7f" for character in url):
            raise BadRequest("The URL holds spaces or control characters.")
        try:
            parts = urlsplit(url)
            port = parts.port
            host = (parts.hostname or "").lower()
            if ":" not in host:
                host = host.encode("idna").decode()
        except ValueError:
            raise BadRequest("The URL is not valid.") from None
        if parts.scheme not in ("http", "https"):
            raise BadRequest("Only http and https URLs are fetched.")
        if "@" in parts.netloc:
            raise BadRequest("The URL must hold no user name and no password.")
        if not (_NAME.fullmatch(host) or ":" in host):
            raise BadRequest("The URL names no valid host.")
        secure = parts.scheme == "https"
        port = (443 if secure else 80) if port is None else port
        if port not in (*STANDARD_PORTS, *self.more_ports):
            raise BadRequest(f"Files are not fetched from port {port}, only from 80 and 443.")
        path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
        query = "?" + quote(parts.query, safe="/?%:@!$&'()*+,;=~-._") if parts.query else ""
        return Target(parts._replace(fragment="").geturl(), secure, host, port, path + query)

    async def _addresses(self, target: Target) -> Sequence[Address]:
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, lookup, target.host, target.port)
        except (OSError, ValueError):
            found = []
        if not found or not all(is_public(address) for address in found):
            # one sentence for both: whether a name exists within a private network is not revealed
            raise BadRequest(
                f"The URL's host {target.host[:100]!r} was not found, or is not a public address of the Internet."
            )
        return found[:MOST_ADDRESSES]

    async def _get(self, target: Target, addresses: Sequence[Address]) -> _Reply:
        reader, writer = await self._connect(target, addresses)
        try:
            connection = h11.Connection(h11.CLIENT)
            headers = [("Host", target.host_header), ("Accept", ", ".join(one + "*" if one.endswith("/") else one for one in self._taken)), ("Accept-Encoding", "identity"),
                       ("User-Agent", "grus"), ("Connection", "close")]  # fmt: skip
            asked = connection.send(h11.Request(method="GET", target=target.path, headers=headers))
            writer.write((asked or b"") + (connection.send(h11.EndOfMessage()) or b""))
            await writer.drain()
            return await self._receive(connection, reader)
        finally:
            writer.transport.abort()

    async def _connect(
        self, target: Target, addresses: Sequence[Address]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To an address, never to a name. The certificate must still be that of the name."""
        context = await asyncio.to_thread(_certificates) if target.secure else None
        name = target.host if target.secure else None
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(str(address), target.port, ssl=context, server_hostname=name)
            except OSError:
                continue
        raise ConnectionError

    async def _receive(self, connection: h11.Connection, reader: asyncio.StreamReader) -> _Reply:
        body = bytearray()
        media_type = ""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK))
            elif isinstance(event, h11.Response):
                if (location := self._location(event)) is not None:
                    return _Reply(location)
                types = [value for name, value in event.headers if name == b"content-type"]
                media_type = types[-1].decode("latin-1").partition(";")[0].strip().lower() if types else ""
            elif isinstance(event, h11.Data):
                body += event.data
                self._check_size(len(body))
            elif isinstance(event, h11.EndOfMessage):
                return _Reply(None, bytes(body), media_type)
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionError

    def _location(self, event: h11.Response) -> str | None:
        """Where a redirect leads. Raises for a reply whose body is not worth reading."""
        headers = {name: value.decode("latin-1").strip() for name, value in event.headers}
        if event.status_code in _REDIRECTS and b"location" in headers:
            return headers[b"location"]
        if event.status_code != 200:
            raise BadRequest(f"The {self.kind} could not be fetched: its server answered {event.status_code}.")
        if not headers.get(b"content-type", "").lower().startswith(self._taken):
            raise BadRequest(f"The URL leads to something that is no {self.kind}, by its server's own words.")
        if headers.get(b"content-encoding", "identity").lower() != "identity":
            raise BadRequest(f"The {self.kind}'s server sent it compressed, which was not asked for.")
        length = headers.get(b"content-length", "")
        self._check_size(int(length) if length.isdecimal() else 0)
        return None

    def _check_size(self, size: int) -> None:
        if size > self.max_bytes:
            raise BadRequest(f"The {self.kind} is larger than {self.max_bytes} bytes.")


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()
