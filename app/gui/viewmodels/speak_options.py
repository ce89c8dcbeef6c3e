"""What a model that speaks offers: its voices and languages, what can be asked of it, and what does not go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import tr
from app.runtime.catalogue import config_in
from engine.hub.cache import find
from engine.hub.resolve import resolve
from engine.media import system_speech
from engine.pipelines.speaking import (
    CHATTERBOX_STYLE,
    CHATTERBOX_VOICE,
    OMNIVOICE_LANGUAGES,
    OMNIVOICE_STYLE,
    is_kokoro,
    is_orpheus,
    is_spark,
)
from engine.pipelines.speaking.system_voice import spoken_languages
from engine.weights.chatterbox_files import own_voice

if TYPE_CHECKING:
    from app.gui.viewmodels.speak import SpeakSettings
    from app.runtime.catalogue import Catalogue


@dataclass(frozen=True)
class SpeakOptions:
    """`words`: does it take instructions? `levels`: does it take pitch and pace in steps? `tags`: marks in the text."""

    presets: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    clones: bool = False
    words: Literal["no", "may", "must"] = "no"
    levels: bool = False
    tags: tuple[str, ...] = ()
    needs_voice: bool = True  # it has no voice until one is chosen
    own_voice: bool = False  # it chooses one of the presets itself where none is chosen
    lacks: str = ""  # a model that must be beside it, and is not
    style: str = ""  # an example of its instructions, where they are not any words

    @property
    def asks(self) -> str:
        """What stands in the field for instructions."""
        if self.words == "must":
            return tr("What the voice is like: an old man, warm and slow")
        return self.style or tr("Speaking style: cheerful, slow, slightly hoarse")

    def note(self, choice: SpeakSettings) -> str:
        """What a person should know of it."""
        if self.levels and choice.saved:
            return tr("A cloned voice keeps the pitch and pace of its recording.")
        if self.tags:
            return tr("Tags in the text control the voice: {tags}.", tags=", ".join(f"<{tag}>" for tag in self.tags))
        return ""

    def problem(self, choice: SpeakSettings) -> str:
        """What does not go together, and what to do; empty when all does."""
        if self.lacks:
            return tr("This model also needs {model}. Download it in Models.", model=self.lacks)
        if choice.saved and not self.clones:
            return tr(
                "This model does not support voice cloning. For “{name}” choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.",
                name=choice.saved,
            )
        if not choice.voice and self.needs_voice and self.clones and not self.presets:
            return tr("This model needs a recorded voice. Create a new voice, or choose one.")
        if self.words == "must" and not choice.instructions.strip():
            return tr("This model creates a voice from a description. Describe one below.")
        return ""


UNKNOWN = SpeakOptions()  # of a model whose files have not been looked at yet


def offered(catalogue: Catalogue, name: str) -> SpeakOptions:
    """The options of the model of that name. Reads the disk: call it off the UI thread."""
    if not name:
        return SpeakOptions()
    known = catalogue.look_up(name)
    if known.server is not None:  # which voices it has its server knows
        return SpeakOptions(words="may", needs_voice=False)
    folder = resolve(known.source, catalogue.cache_dir, download=False)
    return offer_of(config_in(folder), folder, catalogue.cache_dir)


def offer_of(config: Mapping[str, Any], folder: Path, cache_dir: str | None = None) -> SpeakOptions:
    if is_spark(folder):
        return SpeakOptions(("female", "male"), ("chinese", "english"), clones=True, levels=True, needs_voice=False)
    if is_orpheus(config):
        from engine.pipelines.speaking import orpheus

        codec = find(orpheus.CODEC, None, cache_dir)
        lacks = "" if codec is not None and codec.complete else orpheus.CODEC
        return SpeakOptions(orpheus.VOICES, ("english",), tags=orpheus.TAGS, needs_voice=False, lacks=lacks)
    if config.get("model_type") == "pocket_tts":
        from engine.pipelines.speaking import pocket_tts

        name, presets = pocket_tts.codec_of(folder), tuple(pocket_tts.voices_in(folder))
        found = Path(name).is_dir() or ((codec := find(name, None, cache_dir)) is not None and codec.complete)
        return SpeakOptions(presets, clones=True, needs_voice=not presets, lacks="" if found else name)
    if is_kokoro(config):
        from engine.pipelines.speaking import kokoro

        languages_of = tuple(sorted(name for name, _, _ in kokoro.LANGUAGES.values()))
        return SpeakOptions(tuple(kokoro.voices_in(folder)), languages_of, needs_voice=False, own_voice=True)
    if config.get("model_type") == "omnivoice":
        return SpeakOptions(
            languages=OMNIVOICE_LANGUAGES, clones=True, words="may", needs_voice=False, style=OMNIVOICE_STYLE
        )
    if config.get("model_type") == "chatterbox":
        own = (CHATTERBOX_VOICE,) if own_voice(folder) is not None else ()
        return SpeakOptions(
            own,
            ("english",),
            clones=True,
            words="may",
            needs_voice=not own,
            own_voice=bool(own),
            style=CHATTERBOX_STYLE,
        )
    if config.get("model_type") == "system_voice":
        voices = tuple(voice.name for voice in system_speech.voices())
        return SpeakOptions(voices, spoken_languages(), needs_voice=False, own_voice=True)
    kind = str(config.get("tts_model_type", "base"))
    small = str(config.get("tts_model_size", "")).startswith("0b6")
    talker: Mapping[str, Any] = config.get("talker_config") or {}
    languages = sorted(name for name in talker.get("codec_language_id") or {} if "dialect" not in name)
    if kind == "custom_voice":
        presets = tuple(sorted(talker.get("spk_id") or {}))
        return SpeakOptions(presets, tuple(languages), words="no" if small else "may")
    if kind == "voice_design":
        return SpeakOptions(languages=tuple(languages), words="must", needs_voice=False)
    return SpeakOptions(languages=tuple(languages), clones=True)
