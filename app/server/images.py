"""Images in requests: from each family's way of sending them to pictures that a model looks at.

An image comes within the request (a data URL, or base64) or from the public web. A path of this machine is never read,
whatever it is written as.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import ipaddress
import logging
import re
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from urllib.parse import quote, urljoin, urlsplit

import h11

from app.runtime.chat import ChatRequest, PreparedChat, ReplyParser
from app.server.body import ignore
from app.server.config import ServerSettings
from app.server.errors import bad_request, unsupported
from app.server.generation import check_tokens
from engine.errors import BadRequest, ContextOverflow, Unsupported
from engine.hub import offline
from engine.loading import LoadedModel
from engine.media.image import SPELLED, decode_image
from engine.pipelines.prompt import Prompt
from engine.types import Picture, Request, SamplingParams
from engine.vision.processor import VisionProcessor

if TYPE_CHECKING:
    from PIL.Image import Image


# -- fetching a file from the public web for a client, and from nowhere else
#
# A URL in a request may come from a client that must not reach what this machine can: its own services, the network
# behind it, a cloud's metadata (server-side request forgery). Therefore every address that a name stands for must be public,
# the connection goes to the address that was checked (a second lookup could answer something else), and each redirect is
# checked like the first URL. Proxies, cookies and credentials of this machine are never used.

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


@dataclass
class Fetcher:
    """One for a server. Its own threads look names up, so that slow name servers hold up nothing else."""

    max_bytes: int = 20 * MIB
    seconds: float = 10.0  # for everything: names, connections, redirects, the file
    redirects: int = 3
    more_ports: Sequence[int] = ()
    kind: str = "image"  # the first half of the media type
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4, "lookup"), repr=False)
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8), repr=False)

    async def fetch(self, url: str) -> bytes:
        """The file. Raises BadRequest for what is forbidden, too large, too slow, or not there."""
        try:
            async with asyncio.timeout(self.seconds), self._turns:
                return await self._follow(url)
        except TimeoutError:
            raise BadRequest(f"The {self.kind} could not be fetched within {self.seconds:g} seconds.") from None
        except (OSError, h11.ProtocolError):
            raise BadRequest(f"The {self.kind} could not be fetched: its server did not answer as it should.") from None

    async def _follow(self, url: str) -> bytes:
        for _ in range(self.redirects + 1):
            target = self.target(url)
            reply = await self._get(target, await self._addresses(target))
            if reply.location is None:
                return reply.body
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
            headers = [("Host", target.host_header), ("Accept", f"{self.kind}/*"), ("Accept-Encoding", "identity"),
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
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK))
            elif isinstance(event, h11.Response):
                if (location := self._location(event)) is not None:
                    return _Reply(location)
            elif isinstance(event, h11.Data):
                body += event.data
                self._check_size(len(body))
            elif isinstance(event, h11.EndOfMessage):
                return _Reply(None, bytes(body))
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionError

    def _location(self, event: h11.Response) -> str | None:
        """Where a redirect leads. Raises for a reply whose body is not worth reading."""
        headers = {name: value.decode("latin-1").strip() for name, value in event.headers}
        if event.status_code in _REDIRECTS and b"location" in headers:
            return headers[b"location"]
        if event.status_code != 200:
            raise BadRequest(f"The {self.kind} could not be fetched: its server answered {event.status_code}.")
        if not headers.get(b"content-type", "").lower().startswith(f"{self.kind}/"):
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


log = logging.getLogger("grus.server")
T = TypeVar("T")
Message: TypeAlias = Mapping[str, Any]

MAX_IMAGE = 20 * MIB
MAX_IMAGES = 16
ALL_SECONDS = 30.0  # for the images of one request together
LOW_DETAIL = 512  # the longest side that is left where a client asks for little detail
MEDIA_TYPES = ("png", "jpeg", "jpg", "webp", "gif", "tiff", "bmp", "x-ms-bmp")

_DATA_URL = re.compile(r"data:image/([\w.+-]{1,40});base64,", re.IGNORECASE)
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)


@dataclass(frozen=True)
class ImagePart:
    """One image as a request holds it. `param` says where."""

    param: str
    text: str
    written: Literal["url", "base64", "either"] = "url"  # a data URL is a URL
    low: bool = False  # little detail is enough

    @property
    def shown(self) -> dict[str, Any]:
        """As a part of a message, until it is looked at."""
        return {"type": "image", "image": self}


class Images:
    """What a server does with the images of a request."""

    def __init__(self, settings: ServerSettings) -> None:
        self._remote = settings.remote_images
        self._fetcher = Fetcher(max_bytes=MAX_IMAGE, more_ports=settings.remote_image_ports)

    async def look(self, parts: Sequence[ImagePart], model: LoadedModel) -> list[Picture]:
        """As a model that sees whole images does."""
        vision = model.vision
        if vision is None:
            raise unsupported(parts[0].param, f"The model {model.name} reads text only and does not see images.")
        if vision.line_strips is not None:
            raise unsupported(parts[0].param, f"The model {model.name} reads pages, in conversations alone.")
        return await self._each(
            parts, lambda data, part: _looked_at(data, part, vision), lambda pictures: _check_room(pictures, model)
        )

    async def pages(self, parts: Sequence[ImagePart]) -> list[Image]:
        """The images themselves, for a model whose lines are cut out of them."""
        return await self._each(parts, _opened)

    async def _each(
        self,
        parts: Sequence[ImagePart],
        make: Callable[[bytes, ImagePart], T],
        check: Callable[[list[T]], None] = lambda made: None,
    ) -> list[T]:
        """One at a time, for they may be large."""
        if len(parts) > MAX_IMAGES:
            raise bad_request(f"The request holds {len(parts)} images; the most is {MAX_IMAGES}.", parts[0].param)
        made: list[T] = []
        at = 0
        try:
            async with asyncio.timeout(ALL_SECONDS):
                for at, part in enumerate(parts):  # noqa: B007 - the handlers below report which one it was
                    data = await self.read(part)
                    made.append(await asyncio.to_thread(make, data, part))
                    check(made)
        except TimeoutError:
            raise bad_request(
                f"The images took longer than {ALL_SECONDS:g} seconds to arrive.", parts[at].param
            ) from None
        except ContextOverflow:
            raise
        except BadRequest as error:
            raise bad_request(str(error), parts[at].param) from error
        return made

    async def read(self, part: ImagePart) -> bytes:
        """The image's bytes, whatever they are."""
        if part.written == "base64":
            return await asyncio.to_thread(_from_base64, part.text)
        scheme = _SCHEME.match(part.text[:100])
        kind = scheme[1].lower() if scheme else ""
        if kind in ("http", "https"):
            if not self._remote:
                raise BadRequest("This server fetches no images from URLs. Send the image itself, as a data URL.")
            if why := offline.forbidden():
                raise BadRequest(f"The image was not fetched, because {why}. Send the image itself, as a data URL.")
            return await self._fetcher.fetch(part.text)
        if kind == "data":
            return await asyncio.to_thread(_from_data_url, part.text)
        if kind or part.written == "url":
            raise BadRequest(
                "An image must be a data URL, or an http or https URL. Files of the server's machine are not read."
            )
        return await asyncio.to_thread(_from_base64, part.text)


def data_url(media_type: str, data: str) -> str:
    """For families that send the two apart."""
    return f"data:{media_type};base64,{data}"


def _from_data_url(url: str) -> bytes:
    head = _DATA_URL.match(url)
    if head is None:
        raise BadRequest("The data URL must begin like data:image/png;base64, and go on with the image as base64.")
    if head[1].lower() not in MEDIA_TYPES:
        raise BadRequest(f"Images of the type image/{head[1]} are not read; {SPELLED} are.")
    return _from_base64(url[head.end() :])


def _from_base64(text: str) -> bytes:
    if len(text) // 4 * 3 > MAX_IMAGE + 2:
        raise BadRequest(f"The image is larger than {MAX_IMAGE} bytes.")
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise BadRequest("The image is not valid base64.") from None


def parts_of(messages: Sequence[Message]) -> list[ImagePart]:
    """The images in messages, in order."""
    contents = [message.get("content") for message in messages]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part["image"] for part in parts if isinstance(part.get("image"), ImagePart)]


def with_pictures(messages: Sequence[Message], pictures: Sequence[Picture]) -> list[Message]:
    """The messages with what was seen in place of each image."""
    left = iter(pictures)

    def part(given: dict[str, Any]) -> dict[str, Any]:
        return {"type": "image", "image": next(left)} if isinstance(given.get("image"), ImagePart) else given

    return [
        {**message, "content": [part(given) for given in content]}
        if isinstance(content := message.get("content"), list)
        else message
        for message in messages
    ]


def text_size(message: Message) -> int:
    """Characters of a message's words; its images are counted elsewhere."""
    content = message.get("content", "")
    parts = content if isinstance(content, list) else [{"text": content}]
    return sum(len(str(part.get("text", ""))) for part in parts)


def written_content(parts: Sequence[str | ImagePart]) -> str | list[dict[str, Any]]:
    """A message's content: one string, or parts where there are images among the words."""
    if not any(isinstance(part, ImagePart) for part in parts):
        return "\n".join(part for part in parts if isinstance(part, str))
    return [part.shown if isinstance(part, ImagePart) else {"type": "text", "text": part} for part in parts]


def little_detail(detail: str | None, param: str) -> bool:
    """OpenAI's `detail`. Raises for a word that it does not have."""
    if detail not in (None, "auto", "low", "high", "original"):
        raise bad_request(f"detail must be auto, low, high or original, not {detail[:40]!r}.", param)
    return detail == "low"


def _opened(data: bytes, part: ImagePart) -> Image:
    image = decode_image(data)
    if part.low:
        image.thumbnail((LOW_DETAIL, LOW_DETAIL))
    return image


def _looked_at(data: bytes, part: ImagePart, vision: VisionProcessor) -> Picture:
    image = _opened(data, part)
    if not part.low and (note := vision.note(image)) is not None:
        log.warning("%s: %s", part.param, note)
    return vision.prepare(image)


def _check_room(pictures: Sequence[Picture], model: LoadedModel) -> None:
    """Before more are read: each may take hundreds of megabytes."""
    tokens = sum(picture.tokens for picture in pictures)
    if tokens >= model.context:
        raise ContextOverflow(
            f"The images take {tokens} tokens or more; {model.name} can hold {model.context}, answer included. "
            "Send fewer or smaller images.",
            "images",
            tokens=tokens,
            limit=model.context,
        )


# -- pages in conversations: a model that reads line by line (its own settings say so) is given them by the page splitter
#
# Such a model has one thing to do and one way to do it. It reads what the last message shows; whatever would have changed how
# another model answers is refused by its name.

# of what a request may wish, what changes nothing where the likeliest character is taken every time, and the length
_HARMLESS = {"max_tokens", "seed", "top_p", "top_k", "min_p", "typical_p", "repetition_window"}
_NEUTRAL = {"temperature": 0.0, "repetition_penalty": 1.0}


def asked_pages(chat: ChatRequest, name: str) -> list[ImagePart]:
    """The pages that are to be read. Raises BadRequest or Unsupported for what cannot be done."""
    for one in fields(SamplingParams):
        value, usual = getattr(chat.sampling, one.name), getattr(SamplingParams(), one.name)
        if one.name not in _HARMLESS and value not in (usual, _NEUTRAL.get(one.name, usual)):
            raise Unsupported(f"The model {name} reads pages, and does so in one way.", one.name)
    refused = {
        "tools": chat.tools and chat.tool_choice.kind != "none",
        "response_format": chat.grammar,
        "prediction": chat.prediction,
        "continue_final_message": chat.continue_last,
        "reasoning_effort": chat.effort not in (None, "none"),
        "thinking": chat.thinking,
        "chat_template_kwargs": chat.variables,
    }
    hints = {"reasoning_effort", "thinking"} if chat.lenient else set()
    for param, given in refused.items():
        if given and not (param in hints and ignore(param)):
            raise Unsupported(f"The model {name} reads pages; {param} means nothing to it.", param)
    found = parts_of([chat.messages[-1]])
    if not found:
        raise BadRequest(f"The model {name} reads pages. Show it one, as an image in the last message.", "messages")
    return found


def prepared_pages(chat: ChatRequest, name: str, model: LoadedModel, pages: Sequence[Image]) -> PreparedChat:
    """How many tokens the pages take is known only when they have been cut into lines."""
    return PreparedChat(Request(name, (), chat.sampling), ReplyParser(), Prompt("", []), model, pages=pages)


def check_counted(prepared: PreparedChat) -> None:
    """For routes that say how many tokens a conversation has."""
    check_tokens(prepared.model, "model")
    if prepared.pages:
        raise BadRequest("How many tokens a page has is known only when it has been read.", "messages")
