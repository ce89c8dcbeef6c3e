"""From an uploaded sound to where somebody speaks in it."""

from __future__ import annotations

from collections.abc import Generator

from fastapi import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from app.server.audio.protocol import ActivityForm
from app.server.audio.pump import Pump, cancel_scope
from app.server.context import Server
from engine.media.sound import read_sound
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.voice_activity import FORMATS, Speech, as_dict, speech_in, speech_rules


async def find(server: Server, request: Request, form: ActivityForm) -> Response:
    rules = speech_rules(form.threshold, form.min_speech_seconds, form.min_silence_seconds, form.pad_seconds)
    data = await form.file.read()
    scope = cancel_scope(server)

    def work() -> Generator[Speech, None, None]:
        yield speech_in(scope, read_sound(data, SAMPLE_RATE, most=server.settings.max_sound_seconds), rules)

    (speech,) = await Pump(work(), scope, server, request).whole(request.receive)
    if form.response_format == "json":
        return JSONResponse(as_dict(speech))
    return PlainTextResponse(FORMATS["txt" if form.response_format == "text" else form.response_format](speech))
