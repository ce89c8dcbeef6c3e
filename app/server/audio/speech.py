"""From a request for speech to bytes on their way to the client, while the voice still speaks."""

from __future__ import annotations

import base64
import binascii
import io
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Generator
from pathlib import Path

import numpy as np
from fastapi import Request
from starlette.responses import Response

from app.server.audio.choosing import chosen
from app.server.audio.protocol import ClonePrompt, CloneRequest, ReferenceForm, SpokenRequest
from app.server.audio.pump import Pump, cancel_scope
from app.server.context import Server, with_errors
from app.server.errors import ApiError, bad_request, error_body
from app.server.streaming import COMMENT, ClientGone, Stream, event
from engine.cancel import CancelScope
from engine.errors import GrusError, SpeechRanAway
from engine.media.sound import check_format, encoded, media_type, read_sound, written
from engine.pipelines.speaking.long_form import SpeechOptions, speak_long_form
from engine.pipelines.speaking.speech_models import SpeechModel, speaker
from engine.pipelines.speaking.voice import Clone, SavedVoice, SavedVoices, VoiceSettings, read_clone, write_clone

log = logging.getLogger("grus.server")

MOST_PROMPT = 4 << 20  # bytes of a cloned voice
LONGEST_RECORDING = 600.0  # seconds that are read at all; the voice then says what it takes

MakeManner = Callable[[SpeechModel], VoiceSettings]


def voices(server: Server) -> SavedVoices:
    folder = server.settings.voices_dir
    return SavedVoices(Path(folder).expanduser() if folder else None)


def named(server: Server, body: SpokenRequest, voice: str | None, instructions: str | None) -> MakeManner:
    """A voice by name: the model's own, or a saved one."""
    shelf = voices(server)

    return lambda model: shelf.settings(voice, model.presets, body.language, instructions)


def cloned(body: CloneRequest) -> MakeManner:
    """A voice from a recording in the request, or from what was learned of one."""
    if (body.prompt is None) == (body.ref_audio is None):
        raise bad_request("Give `prompt` or `ref_audio`: one of the two.", "prompt")
    if body.prompt is not None and body.ref_text is not None:
        raise bad_request("`ref_text` goes with `ref_audio`; a prompt knows what is said in it.", "ref_text")
    clone = unpacked(body.prompt) if body.prompt is not None else None
    sound = _decoded(body.ref_audio.rpartition(",")[2], "ref_audio") if body.ref_audio is not None else b""

    def make(model: SpeechModel) -> VoiceSettings:
        return VoiceSettings(clone=clone or _learned(model, sound, body.ref_text), language=body.language)

    return make


async def speak(server: Server, request: Request, body: SpokenRequest, make: MakeManner, variant: str) -> Response:
    server.check_prompt(len(body.input))
    check_format(body.response_format)
    if body.stream_format == "sse" and not body.stream:
        raise bad_request("`stream_format` sse sends sound while it is made: it goes without `stream` false.", "stream")
    name, _ = await chosen(server, body.model, "speak", variant)
    scope = cancel_scope(server)
    pump = Pump(_bytes(scope, name, body, make), scope, server, request)
    kind = media_type(body.response_format)
    if not body.stream:
        return Response(b"".join(await pump.whole(request.receive)), media_type=kind)
    await pump.begun(request.receive)
    settings = server.settings
    if body.stream_format == "sse":
        chunks, heartbeat, kind = (
            with_errors(_events(pump), lambda error: event(error_body(error, "openai"))),
            COMMENT,
            "",
        )
    else:
        chunks, heartbeat = _cut_off(pump), None
    return Stream(
        chunks,
        pump.cancel,
        heartbeat=heartbeat,
        every=settings.heartbeat_seconds,
        patience=settings.send_seconds,
        media_type=kind or "text/event-stream",
    )


def _bytes(scope: CancelScope, name: str, body: SpokenRequest, make: MakeManner) -> Generator[bytes, None, None]:
    """Runs in a thread. The first piece comes with the first sound."""
    model = speaker(scope, name)
    wishes = SpeechOptions(
        body.speed,
        body.seed,
        body.temperature,
        body.spell,
        body.markdown,
        top_p=body.top_p,
        repetition_penalty=body.repetition_penalty,
        max_tokens=body.max_tokens,
    )
    sound = speak_long_form(model, body.input, make(model), wishes, scope=scope)
    first = next((chunk for chunk in sound if len(chunk)), None)
    if first is None:
        raise SpeechRanAway("The voice stayed silent. Try another seed, or another text.")
    chunks = itertools.chain([first], sound)
    if body.stream:
        yield from encoded(chunks, model.rate, body.response_format)
    else:
        yield written(chunks, model.rate, body.response_format)


async def _cut_off(pump: Pump[bytes]) -> AsyncIterator[bytes]:
    """Sound has no place for words: what goes wrong half-way ends the connection before the file's end."""
    try:
        async for data in pump:
            yield data
    except (GrusError, ApiError) as error:
        log.warning("A voice ended before its time: %s", error)
        raise ClientGone from None


async def _events(pump: Pump[bytes]) -> AsyncIterator[bytes]:
    async for data in pump:
        if data:
            yield event({"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()})
    yield event({"type": "speech.audio.done"})


# -- voices from recordings


async def learn(server: Server, request: Request, form: ReferenceForm) -> ClonePrompt:
    """What a model needs of a recording, for the client to keep."""
    name, clone, samples, rate = await _heard(server, request, form)
    return ClonePrompt(model=name, prompt=packed(clone), seconds=round(len(samples) / rate, 2))


async def save(server: Server, request: Request, form: ReferenceForm, called: str) -> SavedVoice:
    shelf = voices(server)
    if shelf.has(called):
        raise bad_request(f"There is a voice called {called} already. Choose another name, or delete it first.", "name")
    name, clone, samples, rate = await _heard(server, request, form)
    return shelf.save(called, name, clone, samples, rate)


async def _heard(server: Server, request: Request, form: ReferenceForm) -> tuple[str, Clone, np.ndarray, int]:
    data = await form.ref_audio.read()
    name, _ = await chosen(server, form.model, "speak", "base")
    scope = cancel_scope(server)
    text = None if form.x_vector_only else form.ref_text

    def work() -> Generator[tuple[Clone, np.ndarray, int], None, None]:
        model = speaker(scope, name)
        samples = _samples(model, data)
        yield model.clone(samples, text), samples, model.rate

    ((clone, samples, rate),) = await Pump(work(), scope, server, request).whole(request.receive)
    return name, clone, samples, rate


def _learned(model: SpeechModel, sound: bytes, text: str | None) -> Clone:
    return model.clone(_samples(model, sound), text)


def _samples(model: SpeechModel, sound: bytes) -> np.ndarray:
    return read_sound(sound, model.rate, most=LONGEST_RECORDING).samples


def packed(clone: Clone) -> str:
    """A cloned voice as text. What was said goes with it."""
    out = io.BytesIO()
    said = (clone.text or "").encode()
    out.write(len(said).to_bytes(4, "little") + said)
    arrays = io.BytesIO()
    write_clone(arrays, clone)
    return base64.b64encode(out.getvalue() + arrays.getvalue()).decode()


def unpacked(prompt: str) -> Clone:
    data = _decoded(prompt, "prompt")
    size = int.from_bytes(data[:4], "little")
    try:
        if len(data) > MOST_PROMPT:
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
