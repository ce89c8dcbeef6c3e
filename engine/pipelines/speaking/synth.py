"""From a text to sound: a talker's request, its frames, and the codec, which makes sound of them chunk by chunk.

The first chunk is short, so that sound begins soon; talker and codec take turns on the engine's thread, and the codec
carries its past from chunk to chunk. Voices whose chunks wait at the same time have them made in one go. A voice that
runs away is started again with another seed where nothing of it has been heard, and else ends with an error. One call
speaks one passage; splitting long texts is done elsewhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import BadRequest
from engine.media.mel import speaker_mel
from engine.models.causal import Past
from engine.models.codec12 import TOGETHER
from engine.pipelines.speaking.guard import FRAME_RATE, Loops, longest
from engine.pipelines.speaking.qwen3_tts import Prompts, embedded
from engine.pipelines.speaking.recordings import checked
from engine.pipelines.speaking.takes import TRIES, Take, heard, spoken
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, Manner, Said, SpeechSampling
from engine.tasks import Joint, Task, Work
from engine.types import Event, Frames, Request, RequestHandle, SamplingParams

RATE = 24000
CHUNKS = (3, 5, 8)  # frames of the codec's first chunks, and of all that follow


class Engine(Protocol):
    """The part of `engine.engine.Engine` that speaking needs."""

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle: ...
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...


def sound_of(engine: Engine, codec: str, request: Request, recording: np.ndarray | None = None,
             said: Said | None = None) -> Take:  # fmt: skip
    """A request's frames as samples, chunk by chunk while it runs; what it returns says how the voice ended.

    `recording`: frames that the voice goes on from. `said` is given its own, if it comes to its end. Closing the generator
    cancels the request.
    """
    past: Past = {}
    made: list[np.ndarray] = []

    def frames(event: Event) -> Iterable[np.ndarray]:
        codes = event.codes if isinstance(event, Frames) else ()
        made.extend(codes)
        return codes

    def begin(loaded: Any) -> Any:
        return loaded.model.begin(recording, past)

    def render(waiting: list[np.ndarray], last: bool) -> Task[np.ndarray] | None:
        part = (np.stack(waiting), past) if waiting else None
        return engine.task(codec, Joint(_decode, part, TOGETHER)) if part else None

    handle = engine.submit(request)
    begun = None if recording is None else engine.task(codec, begin)
    end = yield from heard(handle, frames, render, CHUNKS, RATE, Loops(), begun)
    if said is not None and end == "whole" and made:
        said(np.stack(made))
    return end


@dataclass(frozen=True)
class Facts:
    """What speaking must know of a loaded talker."""

    folder: Path
    config: Mapping[str, Any]
    tokenizer: Any
    defaults: Mapping[str, Any]


class Speaker:
    """One text-to-speech model of an engine, and the models beside it."""

    rate = RATE
    token_rate = FRAME_RATE

    def __init__(self, engine: Engine, model: str) -> None:
        self.engine, self.model = engine, model
        facts: Facts = engine.task(model, _facts).result()
        self.prompts = Prompts(facts.config, facts.tokenizer)
        self.greedy = facts.defaults.get("temperature") == 0.0
        self.codec = str(facts.folder / "speech_tokenizer")
        self.listens = f"{self.codec}#encoder"
        self.knows = f"{model}#speaker"

    @property
    def presets(self) -> list[str]:
        return self.prompts.voices

    @property
    def clones(self) -> bool:
        return self.prompts.kind == "base"

    def check(self, manner: Manner) -> None:
        """Raise BadRequest for what the model cannot do."""
        self.prompts.check(manner)

    def improvises(self, manner: Manner) -> bool:
        return self.prompts.kind == "voice_design"

    def speak(
        self,
        text: str,
        manner: Manner,
        *,
        seed: int | None = None,
        sampling: SpeechSampling = MODEL_DEFAULTS,
        feed: bool | None = None,
        patient: bool = False,
        said: Said | None = None,
    ) -> Iterator[np.ndarray]:
        """Samples at `rate`, chunk by chunk. `patient`: all at once and later, so that a voice that ran away is never
        heard. `feed`: whether text goes in while the voice speaks (None: as the model was trained). `said` is given the
        frames of a take that came to its end."""
        score = self.prompts.score(text, manner, feed=feed)
        rows, track = self.engine.task(self.model, lambda loaded: embedded(loaded.model, score)).result()
        seed = secrets.randbits(32) if seed is None else seed
        greedy = self.greedy if sampling.temperature is None else sampling.temperature == 0
        usual = longest(text)
        most = sampling.most(usual)
        recording = manner.clone.codes if manner.clone is not None else None

        def take(attempt: int) -> Take:
            params = SamplingParams(
                min_tokens=min(2, most), max_tokens=most, seed=seed + attempt, **sampling.given
            )  # fmt: skip
            request = Request(
                self.model,
                [self.prompts.marks.pad] * len(rows),
                params,
                embeds=rows,
                positions=range(len(rows)),
                track=track,
            )
            return sound_of(self.engine, self.codec, request, recording, said)

        return spoken(take, 1 if greedy else TRIES, patient, may_be_cut=most < usual)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`; with `text`, what is said in them, it is imitated and not only resembled."""
        self.prompts.check(Manner(clone=Clone(np.zeros(0, np.float32))))
        sound = checked(samples, RATE)
        mel = speaker_mel(sound)
        vector = self.engine.task(self.knows, lambda loaded: loaded.model.embed(mel)).result()
        codes = None
        if text is not None and text.strip():
            codes = self.engine.task(self.listens, lambda loaded: loaded.model.encode(sound)).result()
        return Clone(vector, codes, text.strip() if codes is not None and text else None)


def _decode(loaded: Any, parts: Sequence[tuple[np.ndarray, Past]]) -> Generator[None, None, list[np.ndarray]]:
    return (yield from loaded.model.decode_together(parts))  # type: ignore[no-any-return]


def _facts(loaded: Any) -> Generator[None, None, Facts]:
    if loaded.config.get("model_type") != "qwen3_tts":
        raise BadRequest(f"The model {loaded.name} does not speak.", "model")
    return Facts(loaded.folder, loaded.config, loaded.tokenizer, loaded.defaults)
    yield  # a task's work is a generator
