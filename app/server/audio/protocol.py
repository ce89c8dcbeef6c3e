"""The request and reply bodies of `/v1/audio/*`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import UploadFile
from pydantic import BaseModel, Field

from app.server.body import Hint, Preference, RequestFields

Format = Literal["mp3", "opus", "flac", "wav", "pcm", "aac"]
Seed = Annotated[int, Field(ge=0, lt=1 << 31)]


class BaseSpeechRequest(RequestFields):
    """The fields of every request for speech."""

    model: str | None = None
    input: str
    language: str = "auto"
    response_format: Format = "mp3"
    speed: float = Field(1.0, ge=0.25, le=4.0)
    stream: bool = True
    stream_format: Literal["audio", "sse"] = "audio"
    seed: Seed | None = None
    temperature: float | None = Field(None, ge=0.0, le=2.0)
    top_p: float | None = Field(None, gt=0.0, le=1.0)
    repetition_penalty: float | None = Field(None, gt=0.0, le=100.0)
    max_tokens: Annotated[int, Field(ge=1, lt=1 << 31)] | None = None
    spell: bool = False
    markdown: bool = False
    pronunciations: dict[str, str] | None = None


class VoiceId(RequestFields):
    id: str


class SpeechRequest(BaseSpeechRequest):
    voice: str | VoiceId | None = None
    instructions: str | None = None


class DesignRequest(BaseSpeechRequest):
    instructions: str


class CloneRequest(BaseSpeechRequest):
    prompt: str | None = None
    ref_audio: str | None = None
    ref_text: str | None = None


class ReferenceForm(RequestFields):
    """A recording of a voice."""

    ref_audio: UploadFile
    ref_text: str | None = None
    x_vector_only: bool = False
    model: str | None = None


class SaveForm(ReferenceForm):
    name: str


class ClonePrompt(BaseModel):
    object: Literal["voice.prompt"] = "voice.prompt"
    model: str
    prompt: str
    seconds: float


class VoiceCard(BaseModel):
    id: str
    object: Literal["voice"] = "voice"
    name: str
    kind: Literal["preset", "saved"]
    model: str
    text: str | None = None
    seconds: float | None = None
    created: str | None = None


class VoiceName(BaseModel):
    id: str
    name: str


class VoiceList(BaseModel):
    object: Literal["list"] = "list"
    data: list[VoiceCard]
    voices: list[VoiceName]  # as front-ends read them


class SpeechModels(BaseModel):
    models: list[VoiceName]


class VoiceDeleted(BaseModel):
    id: str
    object: Literal["voice"] = "voice"
    deleted: bool = True


class RecordingForm(RequestFields):
    file: UploadFile
    model: str | None = None
    temperature: float | None = Field(None, ge=0.0, le=1.0)
    prompt: str | None = Field(None, max_length=10_000)
    track: int = Field(1, ge=1, le=1000)


class TranslationForm(RecordingForm):
    response_format: Literal["json", "text", "srt", "vtt", "verbose_json"] = "json"


class TranscriptionForm(RecordingForm):
    response_format: Literal["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] = "json"
    language: str | None = None
    speakers: str | None = None  # the model that tells speakers apart
    aligner: str | None = None  # the model that gives the times of words
    known_names: list[str] | None = Field(None, alias="known_speaker_names[]")
    known_references: list[str] | None = Field(None, alias="known_speaker_references[]")  # data URLs of sounds
    voice_prints: str | None = None  # the model that knows their voices again
    granularities: list[Literal["word", "segment"]] | None = Field(None, alias="timestamp_granularities[]")
    stream: bool = False
    include: Preference[list[Literal["logprobs"]]] = Field(None, alias="include[]")
    chunking_strategy: Hint[str] = None


class ActivityForm(RequestFields):
    file: UploadFile
    response_format: Literal["json", "text", "srt", "vtt"] = "json"
    threshold: float | None = None
    min_speech_seconds: float | None = None
    min_silence_seconds: float | None = None
    pad_seconds: float | None = None


class SpeechSpanTimes(BaseModel):
    start: float
    end: float


class SpeechActivity(BaseModel):
    duration: float
    speech_seconds: float
    spans: list[SpeechSpanTimes]


class Duration(BaseModel):
    type: Literal["duration"] = "duration"
    seconds: float


class TokenScore(BaseModel):
    token: str
    logprob: float
    bytes: list[int]


class Transcription(BaseModel):
    text: str
    logprobs: list[TokenScore] | None = None
    usage: Duration


class SegmentTimes(BaseModel):
    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    avg_logprob: float
    temperature: float = 0.0
    compression_ratio: float | None = None
    no_speech_prob: float | None = None
    speaker: str | None = None


class WordTimes(BaseModel):
    word: str
    start: float
    end: float
    speaker: str | None = None


class SpeakerSegment(BaseModel):
    type: Literal["transcript.text.segment"] = "transcript.text.segment"
    id: str
    start: float
    end: float
    text: str
    speaker: str  # A, B, ... in the order in which they are heard


class DiarizedTranscription(BaseModel):
    task: Literal["transcribe"] = "transcribe"
    duration: float
    text: str
    segments: list[SpeakerSegment]
    usage: Duration


class VerboseTranscription(Transcription):
    task: Literal["transcribe", "translate"] = "transcribe"
    language: str
    duration: float
    segments: list[SegmentTimes] | None = None
    words: list[WordTimes] | None = None
