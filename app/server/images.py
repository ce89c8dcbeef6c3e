"""Images in requests: from each family's way of sending them to bytes that are an image of a size we take.

An image comes within the request (a data URL, or base64) or from the public web. A path of this machine is never read,
whatever it is written as. Knows nothing of models.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.server.errors import ApiError, bad_request, unsupported
from app.server.fetching import MIB, Fetcher
from app.server.settings import ServerSettings
from engine.errors import BadRequest
from engine.media.image import SPELLED, read_header

MAX_IMAGE = 20 * MIB
MAX_IMAGES = 16
ALL_SECONDS = 30.0  # for the images of one request together
MEDIA_TYPES = ("png", "jpeg", "jpg", "webp", "gif", "tiff", "bmp", "x-ms-bmp")

_DATA_URL = re.compile(r"data:image/([\w.+-]{1,40});base64,", re.IGNORECASE)
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)


@dataclass(frozen=True)
class ImagePart:
    """One image as a request holds it. `param` says where."""

    param: str
    text: str
    written: Literal["url", "base64", "either"] = "url"  # a data URL is a URL


class Images:
    """What a server does with the images of a request."""

    def __init__(self, settings: ServerSettings) -> None:
        self._remote = settings.remote_images
        self._fetcher = Fetcher(max_bytes=MAX_IMAGE, more_ports=settings.remote_image_ports)

    async def check(self, parts: Iterable[ImagePart]) -> None:
        """Raises for the first that is forbidden, out of reach, or no image. One at a time: they may be large."""
        given = list(parts)
        if len(given) > MAX_IMAGES:
            raise bad_request(f"The request holds {len(given)} images; the most is {MAX_IMAGES}.", given[0].param)
        at = 0
        try:
            async with asyncio.timeout(ALL_SECONDS):
                for at, part in enumerate(given):  # noqa: B007 - the handler below tells which one it was
                    await asyncio.to_thread(read_header, await self.read(part))
        except TimeoutError:
            raise bad_request(
                f"The images took longer than {ALL_SECONDS:g} seconds to arrive.", given[at].param
            ) from None
        except BadRequest as error:
            raise bad_request(str(error), given[at].param) from error

    async def read(self, part: ImagePart) -> bytes:
        """The image's bytes, whatever they are."""
        if part.written == "base64":
            return await asyncio.to_thread(_from_base64, part.text)
        scheme = _SCHEME.match(part.text[:100])
        kind = scheme[1].lower() if scheme else ""
        if kind in ("http", "https"):
            if not self._remote:
                raise BadRequest("This server fetches no images from URLs. Send the image itself, as a data URL.")
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


def blind(param: str) -> ApiError:
    """Told of an image in which nothing is wrong, while no model is there that could look at it."""
    return unsupported(param, "The loaded models read text only and do not see images.")
