"""Transcription of an uploaded recording, whole or streamed segment by segment, and its voice activity."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import AsyncIterator, Callable, Collection, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from fastapi import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from app.server.audio.models import choose_model, default_model
from app.server.audio.protocol import (
    ActivityForm,
    DiarizedTranscription,
    Duration,
    SegmentTimes,
    SpeakerSegment,
    TokenScore,
    Transcription,
    TranscriptionForm,
    TranslationForm,
    VerboseTranscription,
    WordTimes,
)
from app.server.audio.threads import ThreadedGenerator, cancel_scope
from app.server.body import ignore
from app.server.context import Server, with_errors
from app.server.errors import bad_request, error_body
from app.server.requests import COMMENT, StreamingReply, event
from engine.errors import BadRequest, MissingCapability
from engine.media.sound import SAMPLE_RATE, SoundStream, read_sound
from engine.pipelines.listening.asr_models import transcriber
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, as_srt, as_text, as_vtt
from engine.pipelines.listening.transcription import ListenOptions, Transcriber
from engine.pipelines.listening.voice_activity import FORMATS, Speech, as_dict, speech_in, speech_rules
from engine.pipelines.listening.voice_prints import recognized, reference_prints, renamed, speaker_prints

_REFERENCES = "known_speaker_references[]"
_DATA_URL = re.compile(r"data:(audio|video|application)/[\w.+-]{1,40}(;codecs=[\w.]{1,40})?;base64,", re.IGNORECASE)
_LONGEST_REFERENCE = 60.0  # seconds
_MOST_KNOWN = 16
_STREAMED = ("json", "text", "diarized_json")
_PLAIN = {"text": as_text, "srt": as_srt, "vtt": as_vtt}


async def transcribe(server: Server, request: Request, form: TranslationForm | TranscriptionForm) -> Response:
    """A transcription, or a translation where the form is one's."""
    asked = form if isinstance(form, TranscriptionForm) else None
    streams = asked is not None and asked.stream
    stream_text = streams and (form.response_format in _STREAMED or not ignore("stream"))
    if asked is not None:
        _check(asked, stream_text)
    data = await form.file.read()
    name, loaded = await choose_model(server, form.model, "listen")
    speakers = await _speakers(server, asked)
    verifier = await _voice_prints(server, asked)
    scope = cancel_scope(server)
    listener = transcriber(scope, name, loaded)
    options = _options(form, listener, await _aligner(server, asked, listener), speakers)
    sound = SoundStream(data, SAMPLE_RATE, most=server.settings.max_sound_seconds, track=form.track)
    named = None
    if verifier is not None and asked is not None:
        again = SoundStream(data, SAMPLE_RATE, most=server.settings.max_sound_seconds, track=form.track)
        named = partial(_named, scope, verifier, again, asked)
    known = frozenset((asked.known_names or ()) if asked is not None else ())
    stream = ThreadedGenerator(_segments(listener, sound, options, named), scope, server, request)
    scored = asked is not None and "logprobs" in (asked.include or ())
    if not stream_text:
        *segments, end = await stream.whole(request.receive)
        found = [segment for segment in segments if isinstance(segment, TranscriptSegment)]
        transcript = Transcript(found, end.seconds, end.language)
        granularities = (asked.granularities if asked is not None else None) or ["segment"]
        return _answer(transcript, form.response_format, granularities, options.translate, scored, known)
    await stream.begun(request.receive)
    return StreamingReply(
        with_errors(
            _events(stream, scored, known if form.response_format == "diarized_json" else None),
            lambda error: event(error_body(error, "openai")),
        ),
        stream.cancel,
        heartbeat=COMMENT,
        every=server.settings.heartbeat_seconds,
        patience=server.settings.send_seconds,
    )


def _check(form: TranscriptionForm, stream: bool) -> None:
    wanted = "timestamp_granularities[]"
    if form.granularities is not None and form.response_format != "verbose_json" and not ignore(wanted):
        raise bad_request("Times come with `response_format` verbose_json only.", wanted)
    if form.include and form.response_format != "json" and not ignore("include[]"):
        raise bad_request("Log probabilities come with `response_format` json only.", "include[]")
    if stream and form.response_format not in _STREAMED:
        raise bad_request(
            "A stream tells text: it goes with `response_format` json, text or diarized_json.", "response_format"
        )
    if form.known_names or form.known_references:
        if len(form.known_names or ()) != len(form.known_references or ()):
            raise bad_request("Each known speaker has a name and a reference, in the same order.", _REFERENCES)
        if len(set(form.known_names or ())) < len(form.known_names or ()):
            raise bad_request("Each known speaker has a name of its own.", "known_speaker_names[]")
        if len(form.known_names or ()) > _MOST_KNOWN:
            raise bad_request(f"At most {_MOST_KNOWN} speakers can be known.", "known_speaker_names[]")
        if form.speakers is None and form.response_format != "diarized_json":
            raise bad_request(
                "Known speakers go with `response_format` diarized_json, or with `speakers`.", "known_speaker_names[]"
            )
    if form.speakers is not None and form.response_format == "json":
        raise bad_request(
            "Speakers come with `response_format` diarized_json, verbose_json, text, srt or vtt.", "response_format"
        )


async def _speakers(server: Server, form: TranscriptionForm | None) -> str | None:
    """The model that tells speakers apart, loaded; None where nobody asked for speakers."""
    if form is None or (form.speakers is None and form.response_format != "diarized_json"):
        return None
    try:
        return (await choose_model(server, form.speakers, "diarize", param="speakers"))[0]
    except MissingCapability as error:
        raise bad_request(str(error), "speakers" if form.speakers is not None else "response_format") from None


async def _aligner(server: Server, form: TranscriptionForm | None, listener: Transcriber) -> str | None:
    """The model that gives the times of words, loaded: the one that was named, else one that is served where the model gives none."""
    if form is None:
        return None
    if form.aligner is None:
        try:
            listener.check(ListenOptions(words=True))
            return None
        except BadRequest:
            if "word" not in (form.granularities or ()) or await default_model(server, "align") is None:
                return None
    return (await choose_model(server, form.aligner, "align", param="aligner"))[0]


def _options(
    form: TranslationForm | TranscriptionForm, listener: Transcriber, aligner: str | None, speakers: str | None
) -> ListenOptions:
    """A prompt and a temperature have no effect on a model that knows neither; what else it cannot do is an error."""
    words = isinstance(form, TranscriptionForm) and "word" in (form.granularities or ())
    options = ListenOptions(
        language=form.language if isinstance(form, TranscriptionForm) else None,
        words=words,
        speakers=speakers,
        aligner=aligner,
        translate=not isinstance(form, TranscriptionForm),
        prompt=form.prompt or None,
        temperature=form.temperature or None,  # OpenAI's 0 means: raised where the rules ask for it
        scores=form.response_format == "verbose_json",
    )
    for name in ("prompt", "temperature"):
        given: dict[str, Any] = {name: getattr(options, name)}
        try:
            listener.check(replace(ListenOptions(), **given))
        except BadRequest:
            if not ignore(name):
                raise
            without: dict[str, Any] = {name: None}
            options = replace(options, **without)
    listener.check(replace(options, words=False) if aligner else options)
    return options


async def _voice_prints(server: Server, form: TranscriptionForm | None) -> str | None:
    """The model that knows voices again, loaded; None where nobody is known."""
    if form is None or not form.known_names:
        return None
    param = "known_speaker_names[]" if form.voice_prints is None else "voice_prints"
    try:
        return (await choose_model(server, form.voice_prints, "verify", param=param))[0]
    except MissingCapability as error:
        raise bad_request(str(error), param) from None


def _reference(name: str, url: str) -> np.ndarray:
    """The samples of a data URL."""
    found = _DATA_URL.match(url)
    try:
        data = base64.b64decode(url[found.end() :], validate=True) if found else b""
    except ValueError:
        data = b""
    if not data:
        raise BadRequest(
            f"The reference of {name} must be a data URL of a sound, like data:audio/wav;base64,....", _REFERENCES
        )
    return read_sound(data, SAMPLE_RATE, most=_LONGEST_REFERENCE).samples


def _named(
    scope: Any, model: str, sound: SoundStream, form: TranscriptionForm, segments: Sequence[TranscriptSegment]
) -> list[TranscriptSegment]:
    """With the names of those whose references were sent. Runs in a thread. Nothing of them is kept."""
    sounds = {name: _reference(name, url) for name, url in zip(form.known_names or (), form.known_references or ())}
    known = reference_prints(scope, model, sounds)
    names = recognized(speaker_prints(scope, model, sound, segments).prints, known.prints)
    return [renamed(segment, names) for segment in segments]


def _segments(
    listener: Transcriber,
    sound: SoundStream,
    options: ListenOptions,
    named: Callable[[Sequence[TranscriptSegment]], Sequence[TranscriptSegment]] | None = None,
) -> Generator[Any, None, None]:
    """Runs in a thread: the segments, then a transcript without segments, which has the duration and the language. `named`: who speaks
    is known once all was heard."""
    segments = listener.segments(sound, options)
    yield from segments if named is None else named(list(segments))
    yield Transcript([], sound.seconds, listener.model.language)


def _answer(
    transcript: Transcript,
    format: str,
    granularities: Sequence[str],
    translated: bool,
    scored: bool,
    known: Collection[str] = (),
) -> Response:
    if format in _PLAIN:
        return PlainTextResponse(_PLAIN[format](transcript))
    usage = Duration(seconds=round(transcript.seconds, 3))
    if format == "diarized_json":
        letters = SpeakerLetters(known)
        found = [letters.segment(number, one) for number, one in enumerate(transcript.segments)]
        whole = DiarizedTranscription(duration=usage.seconds, text=transcript.text, segments=found, usage=usage)
        return JSONResponse(whole.model_dump())
    if format == "json":
        logprobs = [one for segment in transcript.segments for one in _scores(segment)] if scored else None
        body = Transcription(text=transcript.text, logprobs=logprobs, usage=usage)
        return JSONResponse(body.model_dump(exclude_none=True))
    verbose = VerboseTranscription(
        task="translate" if translated else "transcribe",
        text=transcript.text,
        usage=usage,
        language=transcript.language,
        duration=round(transcript.seconds, 3),
        segments=[_times(i, one) for i, one in enumerate(transcript.segments)] if "segment" in granularities else None,
        words=[
            WordTimes(word=word.text, start=round(word.start, 3), end=round(word.end, 3), speaker=word.speaker or None)
            for one in transcript.segments
            for word in one.words
        ]
        if "word" in granularities
        else None,
    )
    return JSONResponse(verbose.model_dump(exclude_none=True))


class SpeakerLetters:
    """Speakers as OpenAI names them: A, B, ... in the order in which they are heard, and those who are known by their names."""

    def __init__(self, known: Collection[str] = ()) -> None:
        self._known, self._letters = known, dict[str, str]()

    def segment(self, number: int, segment: TranscriptSegment) -> SpeakerSegment:
        letter = segment.speaker
        if letter not in self._known:
            letter = self._letters.setdefault(letter, chr(ord("A") + len(self._letters) % 26))
        return SpeakerSegment(
            id=f"seg_{number}",
            start=round(segment.start, 3),
            end=round(segment.end, 3),
            text=segment.text,
            speaker=letter,
        )


def _times(number: int, segment: TranscriptSegment) -> SegmentTimes:
    scores = segment.scores
    return SegmentTimes(
        id=number,
        seek=round(100 * segment.start),
        start=round(segment.start, 3),
        end=round(segment.end, 3),
        text=segment.text,
        tokens=[token.id for token in segment.tokens],
        avg_logprob=round(math.log(max(segment.confidence, 1e-9)), 4),
        temperature=scores.temperature if scores is not None else 0.0,
        compression_ratio=None if scores is None or scores.compression is None else round(scores.compression, 4),
        no_speech_prob=None if scores is None or scores.no_speech is None else round(scores.no_speech, 6),
        speaker=segment.speaker or None,
    )


def _scores(segment: TranscriptSegment) -> list[TokenScore]:
    return [
        TokenScore(token=token.data.decode(errors="replace"), logprob=token.logprob, bytes=list(token.data))
        for token in segment.tokens
    ]


async def _events(stream: ThreadedGenerator[Any], scored: bool, known: Collection[str] | None) -> AsyncIterator[bytes]:
    texts: list[str] = []
    letters = SpeakerLetters(known or ())
    logprobs: list[dict[str, Any]] = []
    async for piece in stream:
        if isinstance(piece, TranscriptSegment):
            texts.append(piece.text)
            delta = piece.text if len(texts) == 1 else f" {piece.text}"
            new = [score.model_dump() for score in _scores(piece)] if scored else []
            logprobs += new
            of = letters.segment(len(texts) - 1, piece) if known is not None else None
            more: dict[str, Any] = ({"logprobs": new} if scored else {}) | ({"segment_id": of.id} if of else {})
            yield event({"type": "transcript.text.delta", "delta": delta} | more)
            if of is not None:
                yield event(of.model_dump())
        else:
            usage = Duration(seconds=round(piece.seconds, 3)).model_dump()
            done = {"type": "transcript.text.done", "text": " ".join(texts), "usage": usage}
            yield event(done | ({"logprobs": logprobs} if scored else {}))


async def find_speech(server: Server, request: Request, form: ActivityForm) -> Response:
    rules = speech_rules(form.threshold, form.min_speech_seconds, form.min_silence_seconds, form.pad_seconds)
    data = await form.file.read()
    scope = cancel_scope(server)

    def work() -> Generator[Speech, None, None]:
        yield speech_in(scope, SoundStream(data, SAMPLE_RATE, most=server.settings.max_sound_seconds), rules)

    (speech,) = await ThreadedGenerator(work(), scope, server, request).whole(request.receive)
    if form.response_format == "json":
        return JSONResponse(as_dict(speech))
    return PlainTextResponse(FORMATS["txt" if form.response_format == "text" else form.response_format](speech))
