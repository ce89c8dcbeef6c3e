"""Prompts of text models: a chat through its template with its images, plain text, tokens, and fill-in-the-middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from engine.errors import BadRequest, ContextOverflow, ErrorText
from engine.loading import LoadedModel
from engine.media.image import decode_image
from engine.text.tokenizer import TooManyTokens
from engine.types import Picture, Request, SamplingParams
from engine.vision.processor import ImageLike, VisionProcessor, hearing


@dataclass(frozen=True)
class Prompt:
    text: str  # after the template, with one placeholder per image
    ids: list[int]  # with a placeholder token for every image position
    pictures: Sequence[Picture] = field(default=(), repr=False)
    positions: np.ndarray | None = field(default=None, repr=False, compare=False)  # of the image positions
    rope: np.ndarray | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = ()  # user messages, such as about downscaled images

    def request(self, model: str, sampling: SamplingParams | None = None, **more: Any) -> Request:
        seen: dict[str, Any] = {}
        if self.pictures:
            seen = {"pictures": self.pictures, "positions": self.positions, "rope": self.rope}
        return Request(model, self.ids, sampling or SamplingParams(), **seen, **more)


def encoded(
    model: LoadedModel,
    text: str,
    pictures: Sequence[Picture] = (),
    notes: tuple[str, ...] = (),
    *,
    add_special: bool = False,
) -> Prompt:
    """The prompt of a text with a placeholder for each image. Raises ContextOverflow if there is no room for an answer."""
    shown = model.vision.written(text, pictures) if pictures and model.vision is not None else text
    try:
        ids = model.tokenizer.encode(shown, add_special=add_special, most=model.context - 1)
    except TooManyTokens as error:
        raise _overflow(model, error.count, 0, error.exact) from None
    return placed(model, text, ids, pictures, notes)


def placed(
    model: LoadedModel, text: str, ids: Sequence[int], pictures: Sequence[Picture] = (), notes: tuple[str, ...] = ()
) -> Prompt:
    """The same for a text that is tokenized already."""
    ids = list(ids)
    if not ids:
        raise BadRequest(ErrorText("The prompt is empty."), "prompt")
    if not pictures:
        _check_room(model, len(ids), 0)
        return Prompt(text, ids)
    vision = model.vision
    if vision is None:
        raise BadRequest(ErrorText("{model} reads text only and does not see images.", model=model.name), "images")
    ids, positions = vision.expand(ids, pictures)
    _check_room(model, len(ids), len(positions))
    return Prompt(text, ids, tuple(pictures), positions, vision.rope(ids, pictures), notes)


def with_text(model: LoadedModel, prompt: Prompt, text: str) -> Prompt:
    """The prompt with `text` appended."""
    return encoded(model, prompt.text + text, prompt.pictures, prompt.notes)


def _check_room(model: LoadedModel, count: int, seen: int) -> None:
    if count >= model.context:
        raise _overflow(model, count, seen)


def _overflow(model: LoadedModel, count: int, seen: int, exact: bool = True) -> ContextOverflow:
    images = f", {seen} of them for images" if seen else ""
    advice = "Shorten it, or send fewer or smaller images." if seen else "Shorten it."
    return ContextOverflow(
        f"The prompt has {count} tokens{'' if exact else ' or more'}{images}, but {model.name} can hold {model.context}, "
        f"answer included. {advice}",
        "prompt",
        tokens=count,
        limit=model.context,
        exact=exact,
    )


__all__ = ["Message", "Prompt", "chat_prompt", "text_prompt"]


def chat_prompt(
    model: LoadedModel,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]] | None = None,
    **variables: Any,
) -> Prompt:
    """Render messages with the model's chat template. `variables` are passed to it (`enable_thinking`, ...)."""
    prompt = chat_text(model, messages, tools, **variables)
    return encoded(model, prompt.text, prompt.pictures, prompt.notes)


def chat_text(
    model: LoadedModel,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]] | None = None,
    **variables: Any,
) -> Prompt:
    """The same without tokens, however long it is."""
    if not messages:
        raise BadRequest("A conversation needs at least one message.", "messages")
    looked = vision_request(model, messages)
    text = model.template.render(looked.messages, tools, **variables)
    return Prompt(text, [], looked.pictures, notes=looked.notes)


def text_prompt(model: LoadedModel, text: str, images: Sequence[Any] = ()) -> Prompt:
    """A text to continue, without a chat template.

    `images` fill the placeholders in the text. Without placeholders, text and images become a chat message.
    """
    if not images:
        return encoded(model, text, add_special=True)
    parts: list[Any] = [{"type": "image", "image": image} for image in images]
    if model.vision is None or any(
        id in model.vision.placeholder_ids for id in model.tokenizer.encode(text, add_special=False)
    ):
        looked = vision_request(model, [{"role": "user", "content": parts}])
        return encoded(model, text, looked.pictures, looked.notes, add_special=True)
    return chat_prompt(model, [{"role": "user", "content": [*parts, {"type": "text", "text": text}]}])


class _Vocabulary(Protocol):
    bos_id: int | None

    def id(self, token: str) -> int | None: ...
    def encode(
        self, text: str, add_special: bool = True, *, parse_special: bool = True, most: int | None = None
    ) -> list[int]: ...


@dataclass(frozen=True)
class _Markers:
    before: str
    after: str
    middle: str  # token after which the model generates; empty: after the prefix
    suffix_first: bool = False
    stops: tuple[str, ...] = ()
    repository: str = ""  # before a project's name, and
    file: str = ""  # before each of its files


_FAMILIES = (
    _Markers("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>",
             stops=("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"), repository="<|repo_name|>", file="<|file_sep|>"),
    _Markers("<fim_prefix>", "<fim_suffix>", "<fim_middle>", stops=("<|endoftext|>", "<fim_pad>", "<file_sep>"),
             repository="<repo_name>", file="<file_sep>"),
    _Markers("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    _Markers("▁<PRE>", "▁<SUF>", "▁<MID>", stops=("▁<EOT>",)),
    _Markers("[PREFIX]", "[SUFFIX]", "", suffix_first=True),
)  # fmt: skip
_PROJECT, _CURRENT_FILE, _SNIPPET = "myproject\n", "filename\n", "\n\n--- snippet ---\n\n"  # as llama.cpp has them


@dataclass(frozen=True)
class Infill:
    """A fill-in-the-middle prompt."""

    ids: list[int]
    stops: tuple[int, ...]  # tokens that end the generated middle


def infill_prompt(
    model: LoadedModel, prefix: str, suffix: str, files: Sequence[tuple[str, str]] = (), reply: int = 0
) -> Infill:
    """The same for a loaded model. Raises ContextOverflow if there is no room for an answer. Of `files`, as much of the end
    is kept as leaves room for `reply` tokens."""
    try:
        filled = infill(model.tokenizer, prefix, suffix, files, model.context - 1, reply)
    except TooManyTokens as error:
        raise _overflow(model, error.count, 0, error.exact) from None
    _check_room(model, len(filled.ids), 0)
    return filled


def infill(
    vocabulary: _Vocabulary,
    prefix: str,
    suffix: str,
    files: Sequence[tuple[str, str]] = (),
    most: int | None = None,
    reply: int = 0,
) -> Infill:
    """The fill-in-the-middle prompt between two texts, behind further files (their names and texts). Raises BadRequest if the
    vocabulary has no tokens for it, TooManyTokens for more than `most`.

    The texts are encoded without special tokens, so that a file cannot inject one."""
    for markers in _FAMILIES:
        wanted = [name for name in (markers.before, markers.after, markers.middle) if name]
        ids = {name: vocabulary.id(name) for name in wanted}
        if None in ids.values():
            continue
        known: dict[str, int] = {name: id for name, id in ids.items() if id is not None}
        first = [known[markers.before], *_plain(vocabulary, prefix, most)]
        second = [known[markers.after], *_plain(vocabulary, suffix, most)]
        parts = [*second, *first] if markers.suffix_first else [*first, *second]
        if markers.middle:
            parts.append(known[markers.middle])
        begin = [] if vocabulary.bos_id is None else [vocabulary.bos_id]
        before = _project(vocabulary, markers, files)
        if most is not None:
            before = before[len(before) - min(len(before), max(0, most - reply - len(begin) - len(parts))) :]
        stops = tuple(i for s in markers.stops if (i := vocabulary.id(s)) is not None)
        return Infill([*begin, *before, *parts], stops)
    raise BadRequest("This model cannot fill in a middle: its vocabulary has no tokens for that.", "suffix")


def _project(vocabulary: _Vocabulary, markers: _Markers, files: Sequence[tuple[str, str]]) -> list[int]:
    """Further files, by the tokens that the model knows them by."""
    repository, separator = vocabulary.id(markers.repository), vocabulary.id(markers.file)
    ids = [] if repository is None or not files else [repository, *_plain(vocabulary, _PROJECT)]
    for name, text in files:
        head = [*_plain(vocabulary, _SNIPPET)] if separator is None else [separator, *_plain(vocabulary, f"{name}\n")]
        ids += [*head, *_plain(vocabulary, text)]
    return ids if separator is None or not files else [*ids, separator, *_plain(vocabulary, _CURRENT_FILE)]


def _plain(vocabulary: _Vocabulary, text: str, most: int | None = None) -> list[int]:
    return vocabulary.encode(text, add_special=False, parse_special=False, most=most)


# -- vision requests: the images, videos and sounds of a conversation, prepared for the model
#
# The content of a message may be a list of parts. `{"type": "image", "image": ...}` has an image: a Pillow image, an array of
# bytes `[H, W, 3]`, the bytes of a file, a path, or a prepared `Picture`. `{"type": "video", "video": [...]}` has frames of
# these kinds, and optionally their times in `seconds`. `{"type": "audio", "audio": ...}` has a sound: the bytes of a file, a path, or
# mono samples at 16 kHz. Prepared messages keep bare parts, which chat templates turn into placeholders.

Message: TypeAlias = Mapping[str, Any]
_LONGEST_SOUND = 600.0  # seconds that are decoded: a model says itself how many it hears
_BARE: Mapping[str, Message] = {kind: {"type": kind} for kind in ("image", "audio")}


@dataclass(frozen=True)
class VisionRequest:
    """A conversation with its images, videos and sounds prepared."""

    messages: Sequence[Message]
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()  # messages about scaled-down images


def vision_request(model: LoadedModel, messages: Sequence[Message]) -> VisionRequest:
    """Raises BadRequest for images when the model has no vision, for sounds when it has no ears, and for what is unreadable."""
    kinds = {part["type"] for message in messages for part in _parts(message) if _is_visual(part)}
    if not kinds:
        return VisionRequest(messages)
    if "audio" in kinds and hearing(model.vision) is None:
        raise BadRequest(ErrorText("{model} does not hear sound.", model=model.name), "audio")
    if model.vision is None:
        raise BadRequest(ErrorText("{model} reads text only and does not see images.", model=model.name), "images")
    if model.vision.line_strips is not None:
        raise BadRequest(
            ErrorText(
                "{model} reads pages line by line and talks about no images. Read them with grus read.",
                model=model.name,
            ),
            "images",
        )
    pictures: list[Picture] = []
    notes: list[str] = []
    bare: list[Message] = []
    for message in messages:
        parts = []
        for part in _parts(message):
            if _is_visual(part):
                pictures.append(_picture(model.vision, part, notes))
                part = _BARE.get(part["type"]) or getattr(model.vision, "video_part", {"type": "video"})
            parts.append(part)
        bare.append({**message, "content": parts} if parts else message)
    return VisionRequest(bare, tuple(pictures), tuple(dict.fromkeys(notes)))


def _parts(message: Message) -> Sequence[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _is_visual(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("image", "video", "audio")


def _picture(vision: VisionProcessor, part: Message, notes: list[str]) -> Picture:
    given = part.get(part["type"])
    if isinstance(given, Picture):
        return given
    if part["type"] == "audio":
        ears = hearing(vision)
        assert ears is not None
        return ears.sound(open_sound(given))
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
            raise BadRequest(
                ErrorText("{given} could not be read: {reason}.", given=given, reason=error.strerror), "images"
            ) from None
    if isinstance(given, bytes):
        return decode_image(given)
    if isinstance(given, np.ndarray) or (hasattr(given, "mode") and hasattr(given, "resize")):
        return given  # type: ignore[no-any-return]
    raise BadRequest(
        f"An image must be a Pillow image, an array, the bytes of a file or a path, not {type(given).__name__}.",
        "images",
    )


def open_sound(given: Any) -> np.ndarray:
    """The samples of a part, in any of its forms."""
    from engine.media.sound import SAMPLE_RATE, read_sound  # a window that is idle does without libsndfile

    if isinstance(given, np.ndarray):
        return given
    if isinstance(given, bytes | Path):
        return read_sound(
            given.expanduser() if isinstance(given, Path) else given, SAMPLE_RATE, most=_LONGEST_SOUND
        ).samples
    raise BadRequest(f"A sound must be an array, the bytes of a file or a path, not {type(given).__name__}.", "audio")
