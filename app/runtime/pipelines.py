"""Opens the pipelines that read, listen and speak, with a model of the service: the one that was chosen, else the first that can."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from app.runtime import catalogue
from app.runtime.catalogue import DOES, RECOMMENDED, Capability
from app.runtime.remote.servers import BETWEEN
from engine.errors import MissingCapability

if TYPE_CHECKING:
    from app.runtime.models import ModelService
    from engine.loading import LoadedModel
    from engine.pipelines.listening.transcription import Transcriber
    from engine.pipelines.reading.layout import LayoutDetector
    from engine.pipelines.reading.recognizer import Recognizer
    from engine.pipelines.speaking.speech import SpeechModel


class Host(Protocol):
    """Where pipelines run: the window's engine, within the cancel scope of one piece of work."""

    @property
    def service(self) -> ModelService: ...
    @property
    def engine(self) -> Any:
        """What computes: `submit` and `task`."""

    @property
    def bring(self) -> Callable[[str], LoadedModel]:
        """Loads a model by name, if it is not loaded. Blocks."""

    @property
    def own_words(self) -> str:
        """Names and terms of the person, with commas between them."""


def chosen(host: Host, capability: Capability, wanted: str) -> str:
    """The model that was chosen, else the first of this machine that can: nothing is sent elsewhere unasked. Raises
    MissingCapability where there is none."""
    models = host.service.catalogue
    found = catalogue.able(models, capability)
    if wanted in found or (BETWEEN in wanted and capability in catalogue.capabilities_of_known(models.look_up(wanted))):
        return wanted
    if not found:
        verb = "reads pictures" if capability == "read" else DOES[capability]
        sentence = f"No model here {verb}. Add one, for example {RECOMMENDED[capability]}."
        raise MissingCapability(sentence, capability, nowhere=True)
    return found[0]


def recognizer(host: Host, wanted: str) -> Recognizer:
    """What reads regions of pages."""
    from engine.pipelines.reading.text_lines import recognizer_of

    return recognizer_of(host.engine, host.bring(chosen(host, "read", wanted)))


def layout(host: Host) -> LayoutDetector | None:
    """What finds the regions of pages, where a model for that is here; None: the splitter that needs none."""
    from engine.pipelines.reading.layout_model import LayoutModel

    found = catalogue.able(host.service.catalogue, "layout")
    return LayoutModel(host.engine, found[0]) if found else None


def listener(host: Host, wanted: str) -> Transcriber:
    """What writes down what is said."""
    from engine.pipelines.listening.asr_models import transcriber
    from engine.pipelines.listening.glossary import read_glossary

    name = chosen(host, "listen", wanted)
    made = transcriber(host.engine, name, host.bring(name))
    made.glossary = read_glossary(host.own_words)
    return made


def diarizer(host: Host, wanted: str = "") -> str:
    """The name of what tells speakers apart, loaded."""
    name = chosen(host, "diarize", wanted)
    host.bring(name)
    return name


def verifier(host: Host) -> str | None:
    """The name of what knows voices again, loaded; None where there is no such model."""
    return _optional(host, "verify")


def aligner(host: Host) -> str | None:
    """The name of what gives the times of words, loaded; None where there is no such model."""
    return _optional(host, "align")


def _optional(host: Host, capability: Capability) -> str | None:
    found = catalogue.able(host.service.catalogue, capability)
    if not found:
        return None
    host.bring(found[0])
    return found[0]


def speaker(host: Host, wanted: str) -> SpeechModel:
    """What speaks. It goes by its name, as for the server, so that it is loaded once for both."""
    from engine.pipelines.speaking.speech_models import speaker as speaker_of

    return speaker_of(host.engine, chosen(host, "speak", wanted))
