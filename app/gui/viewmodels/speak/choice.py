"""How a text is to be spoken, as a person chose it, and as a model is asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from engine.errors import BadRequest
from engine.pipelines.speaking.voice import VoiceSettings

if TYPE_CHECKING:
    from engine.pipelines.speaking.speech_models import SpeechModel
    from engine.pipelines.speaking.voice import SavedVoices


@dataclass(frozen=True)
class Choice:
    """`preset`: a voice of the model; `saved`: one of the person's own. `pitch` and `pace`: levels such as "very low", of
    models that take them; empty is as usual."""

    model: str = ""
    preset: str = ""
    saved: str = ""
    language: str = "auto"
    instructions: str = ""
    markdown: bool = False
    pitch: str = ""
    pace: str = ""

    @property
    def voice(self) -> str:
        return self.saved or self.preset

    @property
    def wishes(self) -> str:
        """What is asked of the voice in words."""
        levels = [f"{level} {part}" for level, part in ((self.pitch, "pitch"), (self.pace, "speed")) if level]
        return ", ".join([*levels, *filter(None, [self.instructions.strip()])])


def from_kept(kept: Mapping[str, Any]) -> Choice:
    """What was stored, also by an earlier Grus."""
    known = {field.name for field in fields(Choice)}
    return Choice(**{key: value for key, value in kept.items() if key in known})


def to_kept(choice: Choice) -> dict[str, Any]:
    return asdict(choice)


def manner_of(choice: Choice, voices: SavedVoices) -> VoiceSettings:
    """Just as it was chosen: what does not go together, the model says."""
    clone = voices.load(choice.saved) if choice.saved else None
    return VoiceSettings(choice.preset or None, clone, choice.wishes or None, choice.language)


def fitting(choice: Choice, voice: SpeechModel, voices: SavedVoices) -> VoiceSettings:
    """As near to the choice as the model comes: what was chosen for another model is left out. Raises BadRequest where a
    voice must be chosen first."""
    saved = choice.saved if voice.clones and voices.has(choice.saved) else ""
    preset = choice.preset if choice.preset in voice.presets else next(iter(voice.presets), "")
    near = replace(choice, saved=saved, preset="" if saved else preset)
    problem: BadRequest | None = None
    for tried in _simpler(near):
        manner = manner_of(tried, voices)
        try:
            voice.check(manner)
        except BadRequest as error:
            problem = problem or error
        else:
            return manner
    assert problem is not None
    raise problem


def _simpler(choice: Choice) -> Iterator[Choice]:
    yield choice
    yield (plain := replace(choice, instructions="", pitch="", pace=""))
    yield replace(choice, language="auto")
    yield replace(plain, language="auto")
