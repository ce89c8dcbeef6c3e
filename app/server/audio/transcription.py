"""Transcription of an uploaded recording, whole or streamed segment by segment, and its voice activity."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Generator
from typing import Any

from fastapi import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from app.server.audio.models import choose_model
from app.server.audio.protocol import (
    ActivityForm,
    Duration,
    SegmentTimes,
    Transcription,
    TranscriptionForm,
    VerboseTranscription,
    WordTimes,
)
from app.server.audio.threads import ThreadedGenerator, cancel_scope
from app.server.body import ignore
from app.server.context import Server, with_errors
from app.server.errors import bad_request, error_body
from app.server.requests import COMMENT, StreamingReply, event
from engine.media.sound import read_sound
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, as_srt, as_text, as_vtt
from engine.pipelines.listening.transcription import Transcriber, asr_model
from engine.pipelines.listening.voice_activity import FORMATS, Speech, as_dict, speech_in, speech_rules
from engine.tasks import CancelScope

_PLAIN = {"text": as_text, "srt": as_srt, "vtt": as_vtt}


async def transcribe(server: Server, request: Request, form: TranscriptionForm) -> Response:
    stream_text = form.stream and (form.response_format in ("json", "text") or not ignore("stream"))
    _check(form, stream_text)
    data = await form.file.read()
    name, loaded = await choose_model(server, form.model, "listen")
    scope = cancel_scope(server)
    stream = ThreadedGenerator(
        _segments(scope, name, loaded, data, form, server.settings.max_sound_seconds), scope, server, request
    )
    if not stream_text:
        *segments, end = await stream.whole(request.receive)
        return _answer(
            Transcript([s for s in segments if isinstance(s, TranscriptSegment)], end.seconds, end.language), form
        )
    await stream.begun(request.receive)
    return StreamingReply(
        with_errors(_events(stream), lambda error: event(error_body(error, "openai"))),
        stream.cancel,
        heartbeat=COMMENT,
        every=server.settings.heartbeat_seconds,
        patience=server.settings.send_seconds,
    )


def _check(form: TranscriptionForm, stream: bool) -> None:
    wanted = "timestamp_granularities[]"
    if form.granularities is not None and form.response_format != "verbose_json" and not ignore(wanted):
        raise bad_request("Times come with `response_format` verbose_json only.", wanted)
    if stream and form.response_format not in ("json", "text"):
        raise bad_request("A stream tells text: it goes with `response_format` json or text.", "response_format")


def _segments(scope: CancelScope, name: str, loaded: Any, data: bytes, form: TranscriptionForm,
              most: float) -> Generator[Any, None, None]:  # fmt: skip
    """Runs in a thread: the segments, then a transcript without segments, which has the duration and the language."""
    listener = Transcriber(scope, asr_model(name, loaded))
    audio = read_sound(data, SAMPLE_RATE, most=most)
    words = "word" in (form.granularities or ())
    yield from listener.segments(audio, language=form.language, words=words)
    yield Transcript([], audio.seconds, listener.model.language)


def _answer(transcript: Transcript, form: TranscriptionForm) -> Response:
    if form.response_format in _PLAIN:
        return PlainTextResponse(_PLAIN[form.response_format](transcript))
    usage = Duration(seconds=round(transcript.seconds, 3))
    if form.response_format == "json":
        return JSONResponse(Transcription(text=transcript.text, usage=usage).model_dump())
    wanted = form.granularities or ["segment"]
    whole = VerboseTranscription(
        text=transcript.text,
        usage=usage,
        language=transcript.language,
        duration=round(transcript.seconds, 3),
        segments=[_times(i, one) for i, one in enumerate(transcript.segments)] if "segment" in wanted else None,
        words=[
            WordTimes(word=word.text, start=round(word.start, 3), end=round(word.end, 3))
            for one in transcript.segments
            for word in one.words
        ]
        if "word" in wanted
        else None,
    )
    return JSONResponse(whole.model_dump(exclude_none=True))


def _times(number: int, segment: TranscriptSegment) -> SegmentTimes:
    return SegmentTimes(
        id=number,
        seek=round(100 * segment.start),
        start=round(segment.start, 3),
        end=round(segment.end, 3),
        text=segment.text,
        avg_logprob=round(math.log(max(segment.confidence, 1e-9)), 4),
    )


async def _events(stream: ThreadedGenerator[Any]) -> AsyncIterator[bytes]:
    texts: list[str] = []
    async for piece in stream:
        if isinstance(piece, TranscriptSegment):
            texts.append(piece.text)
            delta = piece.text if len(texts) == 1 else f" {piece.text}"
            yield event({"type": "transcript.text.delta", "delta": delta})
        else:
            usage = Duration(seconds=round(piece.seconds, 3)).model_dump()
            yield event({"type": "transcript.text.done", "text": " ".join(texts), "usage": usage})


async def find_speech(server: Server, request: Request, form: ActivityForm) -> Response:
    rules = speech_rules(form.threshold, form.min_speech_seconds, form.min_silence_seconds, form.pad_seconds)
    data = await form.file.read()
    scope = cancel_scope(server)

    def work() -> Generator[Speech, None, None]:
        yield speech_in(scope, read_sound(data, SAMPLE_RATE, most=server.settings.max_sound_seconds), rules)

    (speech,) = await ThreadedGenerator(work(), scope, server, request).whole(request.receive)
    if form.response_format == "json":
        return JSONResponse(as_dict(speech))
    return PlainTextResponse(FORMATS["txt" if form.response_format == "text" else form.response_format](speech))
