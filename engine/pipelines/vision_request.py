"""Vision requests: the images and videos of a conversation, prepared for the model.

The content of a message may be a list of parts. `{"type": "image", "image": ...}` has an image: a Pillow image, an array of
bytes `[H, W, 3]`, the bytes of a file, a path, or a prepared `Picture`. `{"type": "video", "video": [...]}` has frames of
these kinds, and optionally their times in `seconds`. Prepared messages keep bare parts, which chat templates turn into
placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from engine.errors import BadRequest
from engine.loading import LoadedModel
from engine.media.image import decode_image
from engine.types import Picture
from engine.vision.processor import ImageLike, VisionProcessor

Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class VisionRequest:
    """A conversation with its images prepared."""

    messages: Sequence[Message]
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()  # messages about scaled-down images


def vision_request(model: LoadedModel, messages: Sequence[Message]) -> VisionRequest:
    """Raises BadRequest for images when the model has no vision, and for an unreadable image."""
    if not any(_is_visual(part) for message in messages for part in _parts(message)):
        return VisionRequest(messages)
    if model.vision is None:
        raise BadRequest(f"{model.name} reads text only and does not see images.", "images")
    if model.vision.line_strips is not None:
        raise BadRequest(
            f"{model.name} reads pages line by line and talks about no images. Read them with grus read.", "images"
        )
    pictures: list[Picture] = []
    notes: list[str] = []
    bare: list[Message] = []
    for message in messages:
        parts = []
        for part in _parts(message):
            if _is_visual(part):
                pictures.append(_picture(model.vision, part, notes))
                part = {"type": part["type"]}
            parts.append(part)
        bare.append({**message, "content": parts} if parts else message)
    return VisionRequest(bare, tuple(pictures), tuple(dict.fromkeys(notes)))


def _parts(message: Message) -> Sequence[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _is_visual(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("image", "video")


def _picture(vision: VisionProcessor, part: Message, notes: list[str]) -> Picture:
    given = part.get(part["type"])
    if isinstance(given, Picture):
        return given
    if part["type"] == "video":
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise BadRequest("A video must be a list of frames.", "images")
        return vision.video([open_image(frame) for frame in given], seconds=part.get("seconds"))
    image = open_image(given)
    note = vision.note(image)
    if note is not None:
        notes.append(note)
    return vision.prepare(image)


def open_image(given: Any) -> ImageLike:
    """The image of a part, in any of its forms."""
    if isinstance(given, Path):
        try:
            given = given.expanduser().read_bytes()
        except OSError as error:
            raise BadRequest(f"{given} could not be read: {error.strerror}.", "images") from None
    if isinstance(given, bytes):
        return decode_image(given)
    if isinstance(given, np.ndarray) or (hasattr(given, "mode") and hasattr(given, "resize")):
        return given  # type: ignore[no-any-return]
    raise BadRequest(
        f"An image must be a Pillow image, an array, the bytes of a file or a path, not {type(given).__name__}.",
        "images",
    )
