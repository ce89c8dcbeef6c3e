"""The beta of OpenAI's Realtime API, which many frameworks still speak: its flat settings, and its names of events.

Its settings are read in every session. A client that asks for the beta, by a header or a subprotocol, gets its events and shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.server.errors import bad_request

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
