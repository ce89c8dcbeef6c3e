"""The settings of a realtime session and of one response, and how a client's changes are merged into them.

The flat fields of the beta protocol are translated first (app/server/realtime/beta.py). A null is an absent field, except
for `turn_detection` and `transcription`, which it switches off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from app.server.audio.protocol import VoiceId
from app.server.body import Hint, Preference, RequestFields, ignore, ignored_fields
from app.server.errors import ApiError, from_validation
from app.server.openai.responses_protocol import ResponseFunctionTool, ResponseNamedFunction, ResponseReasoningConfig
from app.server.realtime.beta import nested
from app.server.sampling import Count

RATE = 24000  # samples a second on the wire, where a client does not choose
_G711_RATE = 8000
_SILENCE = {"low": 1200, "medium": 700, "auto": 700, "high": 350}  # milliseconds that end a turn, by eagerness
_NULL_IS_OFF = ("turn_detection", "transcription")


def _one_modality(given: Any) -> Any:
    """Speech comes with its words, so that both are speech."""
    return ["audio"] if isinstance(given, list) and sorted(map(str, given)) == ["audio", "text"] else given


def _functions(given: Any) -> Any:
    """Tools that the server would have to run itself are dropped."""
    if not isinstance(given, list):
        return given
    kept = [tool for tool in given if not isinstance(tool, dict) or tool.get("type", "function") == "function"]
    return kept if len(kept) == len(given) or ignore("tools") else given


_Modality = Literal["text", "audio"]
Modalities = Annotated[list[_Modality], Field(min_length=1, max_length=1), BeforeValidator(_one_modality)]
Tools = Annotated[list[ResponseFunctionTool], BeforeValidator(_functions)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Seed = Annotated[int, Field(ge=0, lt=1 << 31)]
Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=16)
]


class AudioFormat(RequestFields):
    """PCM has 16 bits a sample, little-endian; G.711 (`audio/pcmu`, `audio/pcma`) has 8, at 8000 samples a second."""

    type: Literal["audio/pcm", "audio/pcmu", "audio/pcma"] = "audio/pcm"
    rate: int = Field(default=RATE, ge=8000, le=48000)

    @model_validator(mode="before")
    @classmethod
    def _default_rate(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("type") in ("audio/pcmu", "audio/pcma") and given.get("rate") is None:
            return {**given, "rate": _G711_RATE}
        return given

    @model_validator(mode="after")
    def _check_rate(self) -> Self:
        if self.type != "audio/pcm" and self.rate != _G711_RATE:
            raise ValueError(f"{self.type} has {_G711_RATE} samples a second")
        return self


class TurnDetection(RequestFields):
    """`semantic_vad` runs as `server_vad`, with the silence that fits its eagerness."""

    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    threshold: float = Field(default=0.5, ge=0, le=1)
    prefix_padding_ms: int = Field(default=300, ge=0, le=10_000)
    silence_duration_ms: int = Field(default=500, ge=0, le=10_000)
    eagerness: Preference[Literal["low", "medium", "high", "auto"]] = None
    create_response: bool = True
    interrupt_response: bool = True
    idle_timeout_ms: None = None

    @model_validator(mode="after")
    def _by_eagerness(self) -> Self:
        if self.type == "semantic_vad":
            self.silence_duration_ms = _SILENCE[self.eagerness or "auto"]
        return self


def _detection(given: Any) -> Any:
    """Some servers' way to switch it off."""
    return None if isinstance(given, dict) and given.get("type") == "none" else given


class RealtimeTranscription(RequestFields):
    model: str | None = None
    language: str | None = None
    prompt: Hint[str] = None


class RealtimeAudioInput(RequestFields):
    format: AudioFormat = AudioFormat()
    noise_reduction: Hint[Any] = None
    transcription: RealtimeTranscription | None = None
    turn_detection: Annotated[TurnDetection | None, BeforeValidator(_detection)] = TurnDetection()


class RealtimeAudioOutput(RequestFields):
    format: AudioFormat = AudioFormat()
    voice: str | VoiceId | None = None
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    # beyond OpenAI's: the TTS model, how it speaks, and the language
    model: str | None = None
    instructions: str | None = None
    language: str = "auto"

    @property
    def named(self) -> str | None:
        return self.voice.id if isinstance(self.voice, VoiceId) else self.voice


class RealtimeAudio(RequestFields):
    input: RealtimeAudioInput = RealtimeAudioInput()
    output: RealtimeAudioOutput = RealtimeAudioOutput()


def _spoken() -> list[_Modality]:
    return ["audio"]


class SessionFields(RequestFields):
    type: Literal["realtime", "transcription"]
    model: str | None  # None: a session that transcribes only needs no chat model
    audio: RealtimeAudio = RealtimeAudio()
    include: Hint[Any] = None
    instructions: str = ""
    max_output_tokens: Count | Literal["inf"] = "inf"
    output_modalities: Modalities = Field(default_factory=_spoken)
    parallel_tool_calls: bool = True
    prompt: None = None
    reasoning: ResponseReasoningConfig | None = None
    tool_choice: Literal["auto", "none", "required"] | ResponseNamedFunction = "auto"
    tools: Tools = Field(default_factory=list)
    tracing: Hint[Any] = None
    truncation: Preference[Literal["auto", "disabled"]] = "auto"
    # beyond OpenAI's
    temperature: Temperature | None = None
    seed: Seed | None = None

    @property
    def spoken(self) -> bool:
        return self.output_modalities == ["audio"]

    @property
    def answers(self) -> bool:
        """False: the session transcribes only."""
        return self.type == "realtime"


class ResponseAudioOutput(RequestFields):
    format: AudioFormat | None = None
    voice: str | VoiceId | None = None


class ResponseAudio(RequestFields):
    output: ResponseAudioOutput | None = None


class ResponseOptions(RequestFields):
    """The settings that one response overrides."""

    audio: ResponseAudio | None = None
    conversation: Literal["auto", "none"] = "auto"
    input: Annotated[list[dict[str, Any]], Field(max_length=1000)] | None = None
    instructions: str | None = None
    max_output_tokens: Count | Literal["inf"] | None = None
    metadata: Metadata | None = None
    output_modalities: Modalities | None = None
    parallel_tool_calls: bool | None = None
    prompt: None = None
    reasoning: ResponseReasoningConfig | None = None
    tool_choice: Literal["auto", "none", "required"] | ResponseNamedFunction | None = None
    tools: Tools | None = None
    temperature: Temperature | None = None
    seed: Seed | None = None


def read_session(now: SessionFields, change: Mapping[str, Any]) -> SessionFields:
    """The session's settings after a `session.update`."""
    change = nested(change, "session")
    kind = change.pop("type", None) or now.type
    made: SessionFields = checked(SessionFields, {**_merged(now.model_dump(), change), "type": kind}, "session")
    return made


def shown(id: str, fields: SessionFields) -> dict[str, Any]:
    """A session as events show it."""
    shape = fields.model_dump(mode="json")
    if fields.answers:
        return {"id": id, "object": "realtime.session", **shape}
    audio = {"input": shape["audio"]["input"]}
    return {"id": id, "object": "realtime.transcription_session", "type": fields.type, "audio": audio}


def for_response(session: SessionFields, options: ResponseOptions) -> SessionFields:
    """The session's settings with one response's overrides."""
    own = {"conversation", "input", "metadata"}
    change = options.model_dump(exclude_none=True, exclude=own)
    made: SessionFields = checked(SessionFields, _merged(session.model_dump(), change), "response")
    return made


def checked(kind: type[Any], data: Any, param: str = "") -> Any:
    """`param`: the path of `data` within the event, for errors and for the names of ignored fields."""
    if param and (ignored := ignored_fields.get()) is not None:
        ignored.body = [ignored.body, {param: data}]
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise _placed(from_validation(error.errors()), param) from None


def _placed(error: ApiError, param: str) -> ApiError:
    """The error with the parameter's path within the event."""
    if not param or error.param is None:
        return error
    error.param = f"{param}.{error.param}"
    return error


def _merged(now: Any, change: Any) -> Any:
    """`change` merged into `now`: objects field by field, other values replaced, and so is an object of another type."""
    if not isinstance(now, Mapping) or not isinstance(change, Mapping):
        return change
    if "type" in change and change["type"] != now.get("type"):
        return change
    present = {key: value for key, value in change.items() if value is not None or key in _NULL_IS_OFF}
    return {**now, **{key: _merged(now.get(key), value) for key, value in present.items()}}
