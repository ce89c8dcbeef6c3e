"""Images in conversations: found in messages, prepared for the model, and left as bare parts that templates know.

A message's content may be a list of parts. `{"type": "image", "image": ...}` holds an image: Pillow's, an array of
bytes `[H, W, 3]`, the bytes of a file, a path, or a picture that was prepared before. `{"type": "video", "video": [...]}`
holds frames of these kinds, and may say their times in `seconds`.
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
    """A conversation whose images have been looked at."""

    messages: Sequence[Message]
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()


def vision_request(model: LoadedModel, messages: Sequence[Message]) -> VisionRequest:
    """Raises BadRequest where there are images and the model sees none, or one cannot be read."""
    if not any(_seen(part) for message in messages for part in _parts(message)):
        return VisionRequest(messages)
    if model.sight is None:
        raise BadRequest(f"{model.name} reads text only and does not see images.", "images")
    if model.sight.strips is not None:
        raise BadRequest(
            f"{model.name} reads pages line by line and talks about no images. Read them with grus read.", "images"
        )
    pictures: list[Picture] = []
    notes: list[str] = []
    bare: list[Message] = []
    for message in messages:
        parts = []
        for part in _parts(message):
            if _seen(part):
                pictures.append(_picture(model.sight, part, notes))
                part = {"type": part["type"]}
            parts.append(part)
        bare.append({**message, "content": parts} if parts else message)
    return VisionRequest(bare, tuple(pictures), tuple(dict.fromkeys(notes)))


def _parts(message: Message) -> Sequence[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _seen(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("image", "video")


def _picture(sight: VisionProcessor, part: Message, notes: list[str]) -> Picture:
    given = part.get(part["type"])
    if isinstance(given, Picture):
        return given
    if part["type"] == "video":
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise BadRequest("A video must be a list of frames.", "images")
        return sight.video([open_image(frame) for frame in given], seconds=part.get("seconds"))
    image = open_image(given)
    note = sight.note(image)
    if note is not None:
        notes.append(note)
    return sight.prepare(image)


def open_image(given: Any) -> ImageLike:
    """Any of the kinds that a part may hold."""
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
