"""Text to speech over HTTP: the audio is sent while it is synthesized. Voices by name, from recordings, and saved ones."""

from __future__ import annotations

import base64
import binascii
import io
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
from fastapi import Request
from starlette.responses import Response

from app.server.audio.models import choose_model
from app.server.audio.protocol import (
    BaseSpeechRequest,
    ClonePrompt,
    CloneRequest,
    DesignRequest,
    ReferenceForm,
    SpeechRequest,
    VoiceId,
)
from app.server.audio.threads import ThreadedGenerator, cancel_scope
from app.server.body import IgnoredFields, ignored_fields
from app.server.context import Server, with_errors
from app.server.errors import ApiError, bad_request, error_body
from app.server.requests import COMMENT, ClientGone, StreamingReply, event
from engine.errors import BadRequest, GrusError, SpeechRanAway
from engine.media.sound import check_format, encoded, media_type, read_sound, written
from engine.pipelines.speaking.pronunciation import NO_PRONUNCIATIONS, Pronunciations
from engine.pipelines.speaking.speech import SpeechModel, SpeechOptions, speak_long_form
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SavedVoice, SavedVoices, VoiceSettings, read_clone, write_clone
from engine.tasks import CancelScope

log = logging.getLogger("grus.server")

MAX_CLONE_PROMPT = 4 << 20  # bytes
MAX_RECORDING = 600.0  # seconds that are decoded; the model's own limit is lower

_OPENAI_VOICES = frozenset(
    ("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse")
)

MakeVoiceSettings = Callable[[SpeechModel], VoiceSettings]


def voices(server: Server) -> SavedVoices:
    folder = server.settings.voices_dir
    return SavedVoices(Path(folder).expanduser() if folder else None)


def named(server: Server, body: SpeechRequest) -> MakeVoiceSettings:
    """A voice by name: one of the model, or a saved one."""
    name = body.voice.id if isinstance(body.voice, VoiceId) else body.voice
    ignored = ignored_fields.get()  # the settings are made in a thread, which has no context

    return lambda model: voice_settings(server, model, name, body.language, body.instructions, ignored)


def described(body: DesignRequest) -> MakeVoiceSettings:
    """A voice by its description."""
    return lambda model: VoiceSettings(instructions=body.instructions, language=body.language)


def voice_settings(
    server: Server,
    model: SpeechModel,
    voice: str | None,
    language: str,
    instructions: str | None,
    ignored: IgnoredFields | None,
    prefix: str = "",
) -> VoiceSettings:
    """OpenAI's voices are the default where the model has none of that name, and so are instructions that it does not
    understand: both are reported, after `prefix`. None in `ignored`: they are an error."""
    saved = voices(server)
    if ignored is not None and voice in _OPENAI_VOICES and voice not in model.presets and not saved.has(voice):
        ignored.add(f"{prefix}voice")
        voice = None
    settings = saved.settings(voice, model.presets, language, instructions)
    try:
        model.check(settings)
    except BadRequest as error:
        if ignored is None or error.param != "instructions" or not instructions:
            raise
        ignored.add(f"{prefix}instructions")
        return replace(settings, instructions=None)
    return settings


def cloned(body: CloneRequest) -> MakeVoiceSettings:
    """A voice from a recording in the request, or from the prompt that was made of one."""
    if (body.prompt is None) == (body.ref_audio is None):
        raise bad_request("Give `prompt` or `ref_audio`: one of the two.", "prompt")
    if body.prompt is not None and body.ref_text is not None:
        raise bad_request("`ref_text` goes with `ref_audio`; a prompt knows what is said in it.", "ref_text")
    clone = unpacked(body.prompt) if body.prompt is not None else None
    sound = _decoded(body.ref_audio.rpartition(",")[2], "ref_audio") if body.ref_audio is not None else b""

    def make(model: SpeechModel) -> VoiceSettings:
        return VoiceSettings(clone=clone or _clone(model, sound, body.ref_text), language=body.language)

    return make


async def speak(
    server: Server, request: Request, body: BaseSpeechRequest, make: MakeVoiceSettings, variant: str
) -> Response:
    server.check_prompt(len(body.input))
    check_format(body.response_format)
    if body.stream_format == "sse" and not body.stream:
        raise bad_request("`stream_format` sse sends sound while it is made: it goes without `stream` false.", "stream")
    name, _ = await choose_model(server, body.model, "speak", variant)
    scope = cancel_scope(server)
    audio = ThreadedGenerator(_bytes(scope, name, body, make), scope, server, request)
    kind = media_type(body.response_format)
    if not body.stream:
        return Response(b"".join(await audio.whole(request.receive)), media_type=kind)
    await audio.begun(request.receive)
    settings = server.settings
    if body.stream_format == "sse":
        chunks, heartbeat, kind = (
            with_errors(_events(audio), lambda error: event(error_body(error, "openai"))),
            COMMENT,
            "",
        )
    else:
        chunks, heartbeat = _cut_off(audio), None
    return StreamingReply(
        chunks,
        audio.cancel,
        heartbeat=heartbeat,
        every=settings.heartbeat_seconds,
        patience=settings.send_seconds,
        media_type=kind or "text/event-stream",
    )


def _bytes(
    scope: CancelScope, name: str, body: BaseSpeechRequest, make: MakeVoiceSettings
) -> Generator[bytes, None, None]:
    """The encoded audio; runs in a thread. The first chunk is not silent."""
    model = speaker(scope, name)
    options = SpeechOptions(
        body.speed,
        body.seed,
        body.temperature,
        body.spell,
        body.markdown,
        top_p=body.top_p,
        repetition_penalty=body.repetition_penalty,
        max_tokens=body.max_tokens,
        pronunciations=Pronunciations.of(body.pronunciations) if body.pronunciations else NO_PRONUNCIATIONS,
    )
    sound = speak_long_form(model, body.input, make(model), options, scope=scope)
    first = next((chunk for chunk in sound if len(chunk)), None)
    if first is None:
        raise SpeechRanAway("The voice stayed silent. Try another seed, or another text.")
    chunks = itertools.chain([first], sound)
    if body.stream:
        yield from encoded(chunks, model.rate, body.response_format)
    else:
        yield written(chunks, model.rate, body.response_format)


async def _cut_off(audio: ThreadedGenerator[bytes]) -> AsyncIterator[bytes]:
    """An error within the audio ends the connection before the end of the file: audio has no place for a message."""
    try:
        async for data in audio:
            yield data
    except (GrusError, ApiError) as error:
        log.warning("Speech was ended by an error: %s", error)
        raise ClientGone from None


async def _events(audio: ThreadedGenerator[bytes]) -> AsyncIterator[bytes]:
    async for data in audio:
        if data:
            yield event({"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()})
    yield event({"type": "speech.audio.done"})


# -- cloned voices


async def learn(server: Server, request: Request, form: ReferenceForm) -> ClonePrompt:
    """A recording's voice as a prompt, which the client stores."""
    name, clone, samples, rate = await _read_reference(server, request, form)
    return ClonePrompt(model=name, prompt=packed(clone), seconds=round(len(samples) / rate, 2))


async def save(server: Server, request: Request, form: ReferenceForm, called: str) -> SavedVoice:
    saved = voices(server)
    if saved.has(called):
        raise bad_request(f"There is a voice called {called} already. Choose another name, or delete it first.", "name")
    name, clone, samples, rate = await _read_reference(server, request, form)
    return saved.save(called, name, clone, samples, rate)


async def _read_reference(server: Server, request: Request, form: ReferenceForm) -> tuple[str, Clone, np.ndarray, int]:
    data = await form.ref_audio.read()
    name, _ = await choose_model(server, form.model, "speak", "base")
    scope = cancel_scope(server)
    text = None if form.x_vector_only else form.ref_text

    def work() -> Generator[tuple[Clone, np.ndarray, int], None, None]:
        model = speaker(scope, name)
        samples = _samples(model, data)
        yield model.clone(samples, text), samples, model.rate

    ((clone, samples, rate),) = await ThreadedGenerator(work(), scope, server, request).whole(request.receive)
    return name, clone, samples, rate


def _clone(model: SpeechModel, sound: bytes, text: str | None) -> Clone:
    return model.clone(_samples(model, sound), text)


def _samples(model: SpeechModel, sound: bytes) -> np.ndarray:
    return read_sound(sound, model.rate, most=MAX_RECORDING).samples


def packed(clone: Clone) -> str:
    """A cloned voice as base64, with the recording's transcript."""
    out = io.BytesIO()
    text = (clone.text or "").encode()
    out.write(len(text).to_bytes(4, "little") + text)
    arrays = io.BytesIO()
    write_clone(arrays, clone)
    return base64.b64encode(out.getvalue() + arrays.getvalue()).decode()


def unpacked(prompt: str) -> Clone:
    data = _decoded(prompt, "prompt")
    size = int.from_bytes(data[:4], "little")
    try:
        if len(data) > MAX_CLONE_PROMPT:
            raise ValueError
        return read_clone(io.BytesIO(data[4 + size :]), data[4 : 4 + size].decode() or None)
    except ValueError:
        raise bad_request("`prompt` is no voice of /v1/audio/voice-clone/prompt. Make it again.", "prompt") from None


def _decoded(text: str, param: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise bad_request(f"`{param}` is not base64.", param) from None


def not_found(name: str) -> ApiError:
    return ApiError(404, f"There is no saved voice called {name[:100]!r}.", code="voice_not_found", param="name")
