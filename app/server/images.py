"""Images and sounds in requests: from each family's way of sending them to what a model looks at or hears.

An image comes within the request (a data URL, or base64) or from the public web. A path of this machine is never read,
whatever it is written as.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from app.runtime.chat import ChatRequest, PreparedChat, ReplyParser
from app.runtime.public_web import Fetcher
from app.server.body import ignore
from app.server.config import ServerSettings
from app.server.errors import bad_request, unsupported
from app.server.generation import check_tokens
from engine.errors import BadRequest, ContextOverflow, Unsupported
from engine.hub import offline
from engine.loading import LoadedModel
from engine.media.image import SPELLED, decode_image
from engine.pipelines.prompt import Prompt, open_sound
from engine.types import Picture, Request, SamplingParams
from engine.vision.processor import VisionProcessor, hearing

if TYPE_CHECKING:
    from PIL.Image import Image

log = logging.getLogger("grus.server")
T = TypeVar("T")
Message: TypeAlias = Mapping[str, Any]

MAX_IMAGE = 20 << 20
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


@dataclass(frozen=True)
class SoundPart(ImagePart):
    """One sound, as base64."""

    @property
    def shown(self) -> dict[str, Any]:
        return {"type": "audio", "audio": self}


class Images:
    """What a server does with the images and sounds of a request."""

    def __init__(self, settings: ServerSettings) -> None:
        self._remote = settings.remote_images
        self._fetcher = Fetcher(max_bytes=MAX_IMAGE, more_ports=settings.remote_image_ports)

    async def look(self, parts: Sequence[ImagePart], model: LoadedModel) -> list[Picture]:
        """As a model that sees whole images does."""
        vision, sound = model.vision, next((part for part in parts if isinstance(part, SoundPart)), None)
        if sound is not None and hearing(vision) is None:
            raise unsupported(sound.param, f"The model {model.name} does not hear sound.")
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
            return await asyncio.to_thread(_from_base64, part.text, "sound" if isinstance(part, SoundPart) else "image")
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


def _from_base64(text: str, what: str = "image") -> bytes:
    if len(text) // 4 * 3 > MAX_IMAGE + 2:
        raise BadRequest(f"The {what} is larger than {MAX_IMAGE} bytes.")
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise BadRequest(f"The {what} is not valid base64.") from None


def parts_of(messages: Sequence[Message]) -> list[ImagePart]:
    """The images and sounds in messages, in order."""
    contents = [message.get("content") for message in messages]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [found for part in parts if (found := _part(part)) is not None]


def _part(given: Mapping[str, Any]) -> ImagePart | None:
    found = given.get("image", given.get("audio"))
    return found if isinstance(found, ImagePart) else None


def with_pictures(messages: Sequence[Message], pictures: Sequence[Picture]) -> list[Message]:
    """The messages with what was seen in place of each image."""
    left = iter(pictures)

    def part(given: dict[str, Any]) -> dict[str, Any]:
        return given if _part(given) is None else {"type": given["type"], given["type"]: next(left)}

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
    if isinstance(part, SoundPart) and (ears := hearing(vision)) is not None:
        return ears.sound(open_sound(data))
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
_HARMLESS = {
    "max_tokens",
    "seed",
    "top_p",
    "top_k",
    "min_p",
    "typical_p",
    "repetition_window",
    "no_repeat_ngram_window_size",
}
_NEUTRAL = {"temperature": 0.0, "repetition_penalty": 1.0, "no_repeat_ngram_size": 0}


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
