"""What a model that speaks lets a person choose, told from its files: no weights are read for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.gui.texts import mark, tr
from app.gui.viewmodels.speak.choice import Choice
from app.runtime.capabilities import config_in
from engine.hub.cache import find
from engine.hub.resolve import resolve
from engine.pipelines.speaking import orpheus
from engine.pipelines.speaking.spark import is_spark

if TYPE_CHECKING:
    from app.runtime.catalogue import Catalogue

# English; shown through `tr`. The words of Spark-TTS, from the lowest to the highest.
PITCHES = (mark("very low"), mark("low"), mark("moderate"), mark("high"), mark("very high"))
PACES = (mark("very slow"), mark("slow"), mark("moderate"), mark("fast"), mark("very fast"))
USUAL = "moderate"
NAMED = {"female": mark("Female voice"), "male": mark("Male voice")}  # voices that are no names


@dataclass(frozen=True)
class Offer:
    """`words`: does it take instructions? `levels`: does it take pitch and pace in steps? `tags`: marks in the text."""

    presets: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    clones: bool = False
    words: Literal["no", "may", "must"] = "no"
    levels: bool = False
    tags: tuple[str, ...] = ()
    needs_voice: bool = True  # it has no voice until one is chosen
    lacks: str = ""  # a model that must be beside it, and is not

    @property
    def asks(self) -> str:
        """What stands in the field for instructions."""
        if self.words == "must":
            return tr("What the voice is like: an old man, warm and slow")
        return tr("How it is spoken: cheerful, slowly, a bit hoarse")

    def note(self, choice: Choice) -> str:
        """What a person should know of it."""
        if self.levels and choice.saved:
            return tr("A voice of your own keeps the pitch and the pace of its recording.")
        if self.tags:
            return tr("Marks in the text are acted: {tags}.", tags=", ".join(f"<{tag}>" for tag in self.tags))
        return ""

    def problem(self, choice: Choice) -> str:
        """What does not go together, and what to do; empty when all does."""
        if self.lacks:
            return tr("This model needs {model} beside it. Download it in Models.", model=self.lacks)
        if choice.saved and not self.clones:
            return tr(
                "This model clones no voices. For “{name}” choose a model that does: Qwen3-TTS Base or Spark-TTS.",
                name=choice.saved,
            )
        if not choice.voice and self.needs_voice and self.clones and not self.presets:
            return tr("This model speaks in the voice of a recording. Make a new voice, or choose one.")
        if self.words == "must" and not choice.instructions.strip():
            return tr("This model makes a voice from words. Describe one below.")
        return ""


UNKNOWN = Offer()  # of a model whose files have not been looked at yet


def offered(catalogue: Catalogue, name: str) -> Offer:
    """By the model of that name. Reads the disk; call it beside the UI thread."""
    if not name:
        return Offer()
    folder = resolve(catalogue.look_up(name).source, catalogue.cache_dir, download=False)
    return offer_of(config_in(folder), folder, catalogue.cache_dir)


def offer_of(config: Mapping[str, Any], folder: Path, cache_dir: str | None = None) -> Offer:
    if is_spark(folder):
        return Offer(("female", "male"), ("chinese", "english"), clones=True, levels=True, needs_voice=False)
    if orpheus.is_orpheus(config):
        codec = find(orpheus.CODEC, None, cache_dir)
        lacks = "" if codec is not None and codec.complete else orpheus.CODEC
        return Offer(orpheus.VOICES, ("english",), tags=orpheus.TAGS, needs_voice=False, lacks=lacks)
    kind = str(config.get("tts_model_type", "base"))
    small = str(config.get("tts_model_size", "")).startswith("0b6")
    talker: Mapping[str, Any] = config.get("talker_config") or {}
    languages = sorted(name for name in talker.get("codec_language_id") or {} if "dialect" not in name)
    if kind == "custom_voice":
        presets = tuple(sorted(talker.get("spk_id") or {}))
        return Offer(presets, tuple(languages), words="no" if small else "may")
    if kind == "voice_design":
        return Offer(languages=tuple(languages), words="must", needs_voice=False)
    return Offer(languages=tuple(languages), clones=True)
