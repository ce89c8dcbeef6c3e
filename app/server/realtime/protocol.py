"""The events of a realtime session: what a client may send (events, session settings, items), and how events are sent to it.

A field that is not declared here is a 400 that names it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, ValidationError

from app.server.body import RequestFields
from app.server.errors import ApiError, as_api_error, bad_request, from_validation, unsupported
from app.server.openai.chat import Name
from app.server.openai.responses_protocol import ResponseFunctionTool, ResponseNamedFunction, ResponseReasoningConfig
from app.server.sampling import Count
from engine.errors import GrusError

log = logging.getLogger("grus.server")

RATE = 24000  # samples a second on the wire, in both directions

Id = Annotated[str, Field(min_length=1, max_length=64)]
EventId = Annotated[str, Field(max_length=512)]
_Modality = Literal["text", "audio"]
Modalities = Annotated[list[_Modality], Field(min_length=1, max_length=1)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Seed = Annotated[int, Field(ge=0, lt=1 << 31)]
Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=16)
]


# -- the session


class PcmFormat(RequestFields):
    """16 bits a sample, little-endian, one channel."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: Literal[24000] = 24000


class TurnDetection(RequestFields):
    type: Literal["server_vad"]
    threshold: float = Field(default=0.5, ge=0, le=1)
    prefix_padding_ms: int = Field(default=300, ge=0, le=10_000)
    silence_duration_ms: int = Field(default=500, ge=0, le=10_000)
    create_response: bool = True
    interrupt_response: bool = True
    idle_timeout_ms: None = None


class RealtimeTranscription(RequestFields):
    model: str | None = None
    language: str | None = None


class RealtimeAudioInput(RequestFields):
    format: PcmFormat = PcmFormat()
    noise_reduction: None = None
    transcription: RealtimeTranscription | None = None
    turn_detection: TurnDetection | None = TurnDetection(type="server_vad")


class VoiceId(RequestFields):
    id: str


class RealtimeAudioOutput(RequestFields):
    format: PcmFormat = PcmFormat()
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


def _aloud() -> list[_Modality]:
    return ["audio"]


class SessionFields(RequestFields):
    type: Literal["realtime"]
    model: str
    audio: RealtimeAudio = RealtimeAudio()
    include: Annotated[list[Any], Field(max_length=0)] | None = None
    instructions: str = ""
    max_output_tokens: Count | Literal["inf"] = "inf"
    output_modalities: Modalities = Field(default_factory=_aloud)
    parallel_tool_calls: bool = True
    prompt: None = None
    reasoning: ResponseReasoningConfig | None = None
    tool_choice: Literal["auto", "none", "required"] | ResponseNamedFunction = "auto"
    tools: list[ResponseFunctionTool] = Field(default_factory=list, max_length=128)
    tracing: None = None
    truncation: Literal["auto", "disabled"] = "auto"
    # beyond OpenAI's
    temperature: Temperature | None = None
    seed: Seed | None = None

    @property
    def spoken(self) -> bool:
        return self.output_modalities == ["audio"]


# -- items


class RealtimeContent(RequestFields):
    type: Literal["input_text", "input_audio", "output_text"]
    text: str | None = None
    audio: str | None = None


class RealtimeMessage(RequestFields):
    type: Literal["message"]
    role: Literal["user", "assistant", "system"]
    content: Annotated[list[RealtimeContent], Field(min_length=1, max_length=64)]
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None  # without effect


class RealtimeFunctionCall(RequestFields):
    type: Literal["function_call"]
    name: Name
    arguments: str
    call_id: Id | None = None
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None  # without effect


class RealtimeFunctionCallOutput(RequestFields):
    type: Literal["function_call_output"]
    call_id: Id
    output: str
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None  # without effect


class ItemReference(RequestFields):
    """An item of the conversation, in a response's `input`."""

    type: Literal["item_reference"]
    id: Id


GivenItem = RealtimeMessage | RealtimeFunctionCall | RealtimeFunctionCallOutput
_ITEMS: dict[str, type[RequestFields]] = {
    "message": RealtimeMessage, "function_call": RealtimeFunctionCall, "function_call_output": RealtimeFunctionCallOutput,
    "item_reference": ItemReference,
}  # fmt: skip


# -- events


class ClientEvent(RequestFields):
    type: str
    event_id: EventId | None = None


class SessionUpdate(ClientEvent):
    session: dict[str, Any]


class InputAudioAppend(ClientEvent):
    audio: str


class ItemCreate(ClientEvent):
    item: dict[str, Any]
    previous_item_id: Id | None = None


class ItemEvent(ClientEvent):
    item_id: Id


class ItemTruncate(ItemEvent):
    content_index: Annotated[int, Field(ge=0)]
    audio_end_ms: Annotated[int, Field(ge=0, lt=1 << 31)]


class ResponseAudioOutput(RequestFields):
    format: PcmFormat | None = None
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
    tools: Annotated[list[ResponseFunctionTool], Field(max_length=128)] | None = None
    temperature: Temperature | None = None
    seed: Seed | None = None


class ResponseCreate(ClientEvent):
    response: ResponseOptions = ResponseOptions()


class ResponseCancel(ClientEvent):
    response_id: str | None = None


EVENTS: dict[str, type[ClientEvent]] = {
    "session.update": SessionUpdate,
    "input_audio_buffer.append": InputAudioAppend,
    "input_audio_buffer.commit": ClientEvent,
    "input_audio_buffer.clear": ClientEvent,
    "output_audio_buffer.clear": ClientEvent,
    "conversation.item.create": ItemCreate,
    "conversation.item.retrieve": ItemEvent,
    "conversation.item.delete": ItemEvent,
    "conversation.item.truncate": ItemTruncate,
    "response.create": ResponseCreate,
    "response.cancel": ResponseCancel,
}

# fields of the beta's flat sessions, and where they are now
_MOVED = {
    "modalities": 'output_modalities, as ["audio"] or ["text"]',
    "voice": "audio.output.voice",
    "speed": "audio.output.speed",
    "input_audio_format": 'audio.input.format, as {"type": "audio/pcm", "rate": 24000}',
    "output_audio_format": 'audio.output.format, as {"type": "audio/pcm", "rate": 24000}',
    "input_audio_transcription": "audio.input.transcription",
    "input_audio_noise_reduction": "audio.input.noise_reduction",
    "turn_detection": "audio.input.turn_detection",
    "max_response_output_tokens": "max_output_tokens",
}


def read_event(data: Any) -> ClientEvent:
    """Parse a client's event. Raises an ApiError that names what is wrong."""
    if not isinstance(data, dict):
        raise bad_request("An event must be a JSON object with a `type`.", "type")
    kind = data.get("type")
    if not isinstance(kind, str):
        raise bad_request("An event needs a `type`.", "type")
    if kind not in EVENTS:
        raise unsupported("type", f"There is no event {kind[:100]!r} here. There are: {', '.join(EVENTS)}.")
    return checked(EVENTS[kind], data)


def read_item(data: Mapping[str, Any], param: str, *, references: bool = False) -> GivenItem | ItemReference:
    kind = data.get("type")
    if not isinstance(kind, str) or kind not in _ITEMS or (kind == "item_reference" and not references):
        known = ", ".join(name for name in _ITEMS if references or name != "item_reference")
        raise unsupported(f"{param}.type", f"An item's type is one of {known}.")
    return checked(_ITEMS[kind], data, param)  # type: ignore[return-value]


def read_session(now: SessionFields, change: Mapping[str, Any]) -> SessionFields:
    """The session's settings after a `session.update`."""
    for field in change:
        if field in _MOVED:
            raise unsupported(f"session.{field}", f"There is no session field {field!r} here: send {_MOVED[field]}.")
    if change.get("type") == "transcription":
        raise unsupported(
            "session.type",
            "Sessions here are of type realtime. One with audio.input.turn_detection.create_response false writes down "
            "what is said and answers nothing.",
        )
    if "type" not in change:
        raise bad_request('session.type is required: it is "realtime".', "session.type")
    if change.get("output_modalities") in (["audio", "text"], ["text", "audio"]):
        raise bad_request('Say ["audio"], which comes with its words, or ["text"].', "session.output_modalities")
    made: SessionFields = checked(SessionFields, _merged(now.model_dump(), change), "session")
    if made.model != now.model:
        raise unsupported("session.model", f"This session talks with {now.model}. Open another one for another model.")
    return made


def for_response(session: SessionFields, options: ResponseOptions) -> SessionFields:
    """The session's settings with one response's overrides."""
    own = {"conversation", "input", "metadata"}
    change = options.model_dump(exclude_none=True, exclude=own)
    made: SessionFields = checked(SessionFields, _merged(session.model_dump(), change), "response")
    return made


def checked(kind: type[Any], data: Any, param: str = "") -> Any:
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
    """`change` merged into `now`: objects field by field, other values replaced."""
    if not isinstance(now, Mapping) or not isinstance(change, Mapping):
        return change
    return {**now, **{key: _merged(now.get(key), value) for key, value in change.items()}}


# -- events to the client


class SendEvent(Protocol):
    """Sends one event. Raises ClientGone when the client does not take it."""

    def __call__(self, kind: str, **fields: Any) -> Awaitable[None]: ...


def error_fields(error: Exception) -> dict[str, Any]:
    """An error as events report it. An unexpected one is logged, and its message is kept from the client."""
    if not isinstance(error, GrusError | ApiError):
        log.error("A conversation met a fault.", exc_info=error)
    api = as_api_error(error)
    return {"type": api.type, "code": api.code, "message": api.message, "param": api.param}
