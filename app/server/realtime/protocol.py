"""The protocol of a realtime session: its settings, what a client may send (events and items), and how events are sent to it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable, Mapping
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from app.server.audio.protocol import VoiceId
from app.server.body import Hint, Preference, RequestFields, ignore, ignored_fields
from app.server.errors import ApiError, as_api_error, bad_request, from_validation, unsupported
from app.server.openai.chat import Name
from app.server.openai.responses_protocol import ResponseFunctionTool, ResponseNamedFunction, ResponseReasoningConfig
from app.server.sampling import Count
from engine.errors import GrusError

# -- the beta of OpenAI's Realtime API, which many frameworks still speak: its flat settings, and its names of events
#
# Its settings are read in every session. A client that asks for the beta, by a header or a subprotocol, gets its events and shapes.

Shape = dict[str, Any]

# where the flat fields are now
_MOVED: dict[str, tuple[str, ...]] = {
    "modalities": ("output_modalities",),
    "max_response_output_tokens": ("max_output_tokens",),
    "voice": ("audio", "output", "voice"),
    "speed": ("audio", "output", "speed"),
    "output_audio_format": ("audio", "output", "format"),
    "input_audio_format": ("audio", "input", "format"),
    "input_audio_transcription": ("audio", "input", "transcription"),
    "input_audio_noise_reduction": ("audio", "input", "noise_reduction"),
    "turn_detection": ("audio", "input", "turn_detection"),
}
_FORMATS = {"pcm16": "audio/pcm", "g711_ulaw": "audio/pcmu", "g711_alaw": "audio/pcma"}
_FORMAT_NAMES = {name: beta for beta, name in _FORMATS.items()}

_KINDS = {
    "conversation.item.added": "conversation.item.created",
    **{
        f"response.output_{kind}.{end}": f"response.{kind}.{end}"
        for kind in ("text", "audio", "audio_transcript")
        for end in ("delta", "done")
    },
}
_CONTENT = {"output_text": "text", "output_audio": "audio"}
_SUBPROTOCOL = "openai-beta.realtime-v1"


def asked_for(header: str | None, subprotocols: Iterable[str]) -> bool:
    """`header`: the request's OpenAI-Beta."""
    return "realtime=v1" in (header or "") or _SUBPROTOCOL in subprotocols


def nested(flat: Mapping[str, Any], param: str) -> Shape:
    """Settings with the flat fields of the beta where they are now. A field that is in both places is as it is now."""
    made: Shape = {key: value for key, value in flat.items() if key not in _MOVED}
    for name, path in _MOVED.items():
        if name not in flat:
            continue
        value = flat[name]
        if name.endswith("_format") and isinstance(value, str):
            if value not in _FORMATS:
                raise bad_request(f"{param}.{name} is one of {', '.join(_FORMATS)}.", f"{param}.{name}")
            value = {"type": _FORMATS[value]}
        _put(made, path, value)
    return made


def _put(into: Shape, path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        inner = into.get(name)
        if inner is not None and not isinstance(inner, dict):
            return  # which is an error of its own
        into[name] = into = dict(inner or {})
    into.setdefault(path[-1], value)


def as_beta(kind: str, fields: Shape) -> tuple[str, Shape] | None:
    """An event as the beta names and shows it; None for one that it does not have."""
    if kind == "conversation.item.done":
        return None
    made = dict(fields)
    if "session" in made:
        made["session"] = _session(made["session"])
        if made["session"]["object"] == "realtime.transcription_session":
            kind = f"transcription_{kind}"
    if "response" in made:
        made["response"] = _response(made["response"])
    if "item" in made:
        made["item"] = _item(made["item"])
    return _KINDS.get(kind, kind), made


def _session(session: Shape) -> Shape:
    audio = session["audio"]
    taken, output = audio["input"], audio.get("output")
    made = {key: value for key, value in session.items() if key not in ("type", "audio", "output_modalities")}
    made |= {
        "input_audio_format": _FORMAT_NAMES[taken["format"]["type"]],
        "input_audio_transcription": taken["transcription"],
        "input_audio_noise_reduction": None,
        "turn_detection": taken["turn_detection"],
    }
    if output is None:
        return made
    made["max_response_output_tokens"] = made.pop("max_output_tokens")
    return made | {"modalities": _modalities(session), "speed": output["speed"], **_voice(output)}


def _response(response: Shape) -> Shape:
    made = {key: value for key, value in response.items() if key not in ("audio", "output_modalities")}
    made["output"] = [_item(item) for item in made["output"]]
    return made | {"modalities": _modalities(response), **_voice(response["audio"]["output"])}


def _modalities(shape: Shape) -> list[str]:
    return ["text"] if shape["output_modalities"] == ["text"] else ["text", "audio"]


def _voice(output: Shape) -> Shape:
    return {"voice": output.get("voice"), "output_audio_format": _FORMAT_NAMES[output["format"]["type"]]}


def _item(item: Shape) -> Shape:
    if "content" not in item:
        return item
    return {**item, "content": [{**part, "type": _CONTENT.get(part["type"], part["type"])} for part in item["content"]]}


# -- the settings of a realtime session and of one response, and how a client's changes are merged into them
#
# The flat fields of the beta are translated first. A null is an absent field, except for `turn_detection` and `transcription`,
# which it switches off.

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


log = logging.getLogger("grus.server")

Id = Annotated[str, Field(min_length=1, max_length=64)]
EventId = Annotated[str, Field(max_length=512)]


# -- items


class RealtimeContent(RequestFields):
    type: Literal["input_text", "input_audio", "output_text", "output_audio", "text", "audio"]
    text: str | None = None
    audio: str | None = None
    transcript: str | None = None


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


class ResponseCreate(ClientEvent):
    response: ResponseOptions = ResponseOptions()


class ResponseCancel(ClientEvent):
    response_id: str | None = None


EVENTS: dict[str, type[ClientEvent]] = {
    "session.update": SessionUpdate,
    "transcription_session.update": SessionUpdate,
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


def read_event(data: Any) -> ClientEvent:
    """Parse a client's event. Raises an ApiError that names what is wrong."""
    if not isinstance(data, dict):
        raise bad_request("An event must be a JSON object with a `type`.", "type")
    kind = data.get("type")
    if not isinstance(kind, str):
        raise bad_request("An event needs a `type`.", "type")
    if kind not in EVENTS:
        raise unsupported("type", f"There is no event {kind[:100]!r} here. There are: {', '.join(EVENTS)}.")
    if isinstance(data.get("response"), dict):
        data = {**data, "response": nested(data["response"], "response")}
    if (ignored := ignored_fields.get()) is not None:
        ignored.body = data
    return checked(EVENTS[kind], data)


def read_item(data: Mapping[str, Any], param: str, *, references: bool = False) -> GivenItem | ItemReference:
    kind = data.get("type")
    if not isinstance(kind, str) or kind not in _ITEMS or (kind == "item_reference" and not references):
        known = ", ".join(name for name in _ITEMS if references or name != "item_reference")
        raise unsupported(f"{param}.type", f"An item's type is one of {known}.")
    return checked(_ITEMS[kind], data, param)  # type: ignore[return-value]


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
