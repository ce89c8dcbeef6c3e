"""Qwen3-TTS: prompt layout, synthesis and voice cloning.

A prompt has two rows, text tokens and codec tokens; each column is the sum of the embeddings of its text token and its
codec token, speaker vector or recorded frame. Text left over when the prompt ends is the text stream: one token is added
to the input of each generated frame. `Qwen3TTSPrompts` needs only the config and the tokenizer; `embed_prompt` runs on the
engine's thread. The codec renders frames in chunks while the talker generates; the first chunks are short for a low latency.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.mel import speaker_mel
from engine.models.causal import StreamState
from engine.models.codec12 import TOGETHER
from engine.models.config import Fields
from engine.models.qwen3_tts import Qwen3TTSModel
from engine.pipelines.speaking.leash import EngineLike
from engine.pipelines.speaking.synthesis import (
    FRAME_RATE,
    TRIES,
    RepetitionGuard,
    Take,
    max_frames,
    retry_takes,
    stream_take,
)
from engine.pipelines.speaking.voice import (
    MODEL_DEFAULTS,
    Clone,
    OnCodes,
    SpeechSampling,
    VoiceSettings,
    checked_recording,
)
from engine.tasks import Joint, Task
from engine.types import Event, Frames, Request, SamplingParams

LONGEST_TEXT = 4000  # characters at once; who has more splits it at sentences
NONE = -1  # no token in this row of this stave

ISO = {
    "zh": "chinese", "en": "english", "de": "german", "es": "spanish", "ja": "japanese", "fr": "french", "ko": "korean",
    "ru": "russian", "it": "italian", "pt": "portuguese",
}  # fmt: skip

WHO_CAN = {
    "base": "This is a Base model: it clones voices. Give it a recording, or choose {}.",
    "custom_voice": "This is a CustomVoice model: it has voices of its own. Choose one of them, or choose {}.",
    "voice_design": "This is a VoiceDesign model: it makes a voice from a description. Describe one, or choose {}.",
}
A_BASE = "a Base model to clone a voice"
A_PRESET = "a CustomVoice model for preset voices"


class Encodes(Protocol):
    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> list[int]: ...


@dataclass(frozen=True, eq=False)
class TwoRowPrompt:
    """A prompt's rows and what follows beside the reply."""

    text: np.ndarray  # int32 [n], NONE where there is no text
    codec: np.ndarray  # int32 [n], NONE where there is no codec token
    track: np.ndarray  # int32 [m], the last one for ever
    vector_at: int | None = None
    vector: np.ndarray | None = None
    frames_at: int | None = None
    frames: np.ndarray | None = None  # int32 [k, groups], on the rows from `frames_at`

    @property
    def length(self) -> int:
        return len(self.text)


@dataclass(frozen=True)
class Marks:
    """Token ids that mean something, all from config.json."""

    pad: int
    bos: int
    think: int
    nothink: int
    think_bos: int
    think_eos: int
    text_pad: int
    text_bos: int
    text_eos: int


class Qwen3TTSPrompts:
    """What one checkpoint can say, and how it is asked to."""

    def __init__(self, config: Mapping[str, Any], tokenizer: Encodes) -> None:
        f = Fields(config)
        talker = f.sub("talker_config")
        self.tokenizer = tokenizer
        self.kind = str(f.find("tts_model_type", default="base"))
        if self.kind not in WHO_CAN:
            raise ConfigError(f"config.json: tts_model_type must be one of {', '.join(WHO_CAN)}, not {self.kind!r}.")
        self.small = str(f.find("tts_model_size", default="")).startswith("0b6")
        self.groups = talker.int("num_code_groups")
        self.hidden = talker.int("hidden_size")
        self.entries = talker.sub("code_predictor_config").int("vocab_size", default=2048)
        self.marks = Marks(
            *(talker.int(f"codec_{name}_id", least=0) for name in ("pad", "bos", "think", "nothink")),
            *(talker.int(f"codec_{name}_id", least=0) for name in ("think_bos", "think_eos")),
            *(f.int(f"tts_{name}_token_id", least=0) for name in ("pad", "bos", "eos")),
        )
        self._languages: dict[str, int] = _named(talker, "codec_language_id")
        self._speakers: dict[str, int] = _named(talker, "spk_id")
        self._dialects: dict[str, Any] = dict(talker.find("spk_is_dialect", default={}))

    @property
    def voices(self) -> list[str]:
        """Preset ones, by name."""
        return sorted(self._speakers)

    @property
    def instructed(self) -> bool:
        """Does the model follow instructions? A small CustomVoice model takes them and, as in the reference package, they
        change nothing."""
        return not (self.kind == "custom_voice" and self.small)

    @property
    def languages(self) -> list[str]:
        return sorted(name for name in self._languages if "dialect" not in name)

    @property
    def feeds_text(self) -> bool:
        """Does text go in while the voice speaks, unless asked otherwise? Cloning was trained so, the others were not."""
        return self.kind == "base"

    def score(self, text: str, manner: VoiceSettings, *, feed: bool | None = None) -> TwoRowPrompt:
        """Lay out a prompt. `feed`: whether text goes in while the voice speaks. Raises BadRequest for what the model
        cannot do."""
        text = text.strip()
        if not text:
            raise BadRequest("There is nothing to say: the text is empty.", "text")
        if len(text) > LONGEST_TEXT:
            raise BadRequest(f"The text has {len(text)} characters; {LONGEST_TEXT} can be spoken at once.", "text")
        self.check(manner)
        feed = self.feeds_text if feed is None else feed
        ids = self._spoken(text)
        rows = _Rows(self.marks)
        if manner.instructions and self.instructed:
            rows.words(self._asked(manner.instructions))
        rows.words(ids[:3])
        self._introduce(rows, manner)
        clone = manner.clone
        if clone is not None and clone.codes is not None:
            recorded = self._quoted((clone.text or "").strip())[3:-2]
            return rows.continuing(recorded + ids[3:-5], clone.codes.astype(np.int32), feed)
        if (after := manner.after) is not None:  # one text, of which this much is spoken
            return rows.continuing(self._spoken(f"{after.text} {text}")[3:-5], after.codes.astype(np.int32), feed)
        return rows.reading(ids[3:-5], feed)

    def check(self, manner: VoiceSettings) -> None:
        """Raise BadRequest for a voice, a language or instructions that this model does not have."""
        self._language(manner)
        if manner.preset is not None and manner.clone is not None:
            raise BadRequest("Choose a preset voice or a recording, not both.", "voice")
        if manner.preset is not None and self.kind != "custom_voice" and not (self.kind == "base" and self._speakers):
            raise BadRequest("There are no preset voices here. " + WHO_CAN[self.kind].format(A_PRESET), "voice")
        if manner.clone is not None:
            self._check_clone(manner.clone)
        name = self._speaker(manner)
        if self.kind == "base" and manner.clone is None and name is None:
            raise BadRequest("This is a Base model: it needs a recording of the voice that it is to speak in.", "voice")
        if self.kind == "custom_voice" and name is None:
            raise BadRequest("This model's config names no voices (`spk_id`), so it cannot speak.", "voice")
        if name is not None and name not in self._speakers:
            raise BadRequest(f"There is no voice {manner.preset!r}. Choose one of {', '.join(self.voices)}.", "voice")
        if manner.instructions and self.kind == "base":
            raise BadRequest(
                "This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them.",
                "instructions",
            )
        if self.kind == "voice_design" and not manner.instructions:
            raise BadRequest("Describe the voice: this VoiceDesign model makes one from instructions.", "instructions")

    def _check_clone(self, clone: Clone) -> None:
        if self.kind != "base":
            raise BadRequest("This model clones no voices. " + WHO_CAN[self.kind].format(A_BASE), "voice")
        if clone.codes is None:
            return
        shaped = clone.codes.ndim == 2 and clone.codes.shape[1] == self.groups and len(clone.codes)
        if not shaped or clone.codes.min() < 0 or clone.codes.max() >= self.entries:
            raise BadRequest("The recording's codes do not belong to this model. Make the voice again.", "voice")
        if not (clone.text or "").strip():
            raise BadRequest("Say what is spoken in the recording, or clone the voice's colour alone.", "text")

    # -- parts

    def _spoken(self, text: str) -> list[int]:
        return self._turn("assistant", text) + self._control("<|im_start|>assistant\n")

    def _quoted(self, text: str) -> list[int]:
        return self._turn("assistant", text)

    def _asked(self, text: str) -> list[int]:
        return self._turn("user", text)

    def _turn(self, role: str, text: str) -> list[int]:
        # what a person wrote must not smuggle in control tokens
        said = self.tokenizer.encode(text, False, parse_special=False)
        return [*self._control(f"<|im_start|>{role}\n"), *said, *self._control("<|im_end|>\n")]

    def _control(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, False)

    def _introduce(self, rows: _Rows, manner: VoiceSettings) -> None:
        """Language and speaker, in codec tokens under silence."""
        m, language = self.marks, self._language(manner)
        tags = [m.nothink] if language is None else [m.think]
        tags += [m.think_bos] + ([] if language is None else [language]) + [m.think_eos]
        for tag in tags:
            rows.add(m.text_pad, tag)
        if (speaker := self._speaker(manner)) is not None:
            rows.add(m.text_pad, self._speakers[speaker])
        elif manner.clone is not None:
            rows.voice(manner.clone.vector)
        rows.add(m.text_bos, m.pad)

    def _speaker(self, manner: VoiceSettings) -> str | None:
        """Of the model's own voices; where none was chosen, the one that a CustomVoice model's config names first."""
        if manner.preset is not None:
            return manner.preset.lower()
        return next(iter(self._speakers), None) if self.kind == "custom_voice" else None

    def _language(self, manner: VoiceSettings) -> int | None:
        name = manner.language.strip().lower()
        name = ISO.get(name.split("-")[0], name)
        if name != "auto" and name not in self._languages:
            raise BadRequest(
                f"This model does not speak {manner.language!r}. It speaks {', '.join(self.languages)}.", "language"
            )
        dialect = self._dialects.get(self._speaker(manner) or "")
        if dialect and name in ("chinese", "auto"):
            return self._languages.get(str(dialect))
        return None if name == "auto" else self._languages[name]


def default_settings(prompts: Qwen3TTSPrompts) -> VoiceSettings:
    """One that the model can speak in, whatever its kind: a Base model without voices gets one of zeros."""
    if prompts.kind == "voice_design":
        return VoiceSettings(instructions="A calm voice.")
    if prompts.kind == "base" and not prompts.voices:
        return VoiceSettings(clone=Clone(np.zeros(prompts.hidden, np.float32)))
    return VoiceSettings(preset=prompts.voices[0] if prompts.voices else None)


class _Rows:
    """A score being written."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self._text: list[int] = []
        self._codec: list[int] = []
        self._vector: tuple[int, np.ndarray] | None = None
        self._frames: tuple[int, np.ndarray] | None = None

    def add(self, text: int, codec: int) -> None:
        self._text.append(text)
        self._codec.append(codec)

    def words(self, ids: list[int]) -> None:
        for id in ids:
            self.add(id, NONE)

    def voice(self, vector: np.ndarray) -> None:
        self._vector = len(self._text), vector
        self.add(self.marks.text_pad, NONE)

    def reading(self, words: list[int], feed: bool) -> TwoRowPrompt:
        """`words` before the voice begins, or its first one with the beginning and the others as it speaks."""
        m = self.marks
        if feed:
            self.add(words[0], m.bos)
            return self._end([*words[1:], m.text_eos])
        for id in [*words, m.text_eos]:
            self.add(id, m.pad)
        self.add(m.text_pad, m.bos)
        return self._end([])

    def continuing(self, words: list[int], frames: np.ndarray, feed: bool) -> TwoRowPrompt:
        """The recording's words and then the new ones, over the recording's frames."""
        m = self.marks
        ids = [*words, m.text_eos]
        if not feed:
            for id in ids:
                self.add(id, m.pad)
            ids = []
        rows = len(frames) + 1
        under = ids[:rows] + [m.text_pad] * (rows - len(ids))
        self.add(under[0], m.bos)
        self._frames = len(self._text), frames
        for id in under[1:]:
            self.add(id, NONE)
        return self._end(ids[rows:])

    def _end(self, track: list[int]) -> TwoRowPrompt:
        vector_at, vector = self._vector or (None, None)
        frames_at, frames = self._frames or (None, None)
        text, codec = np.array(self._text, np.int32), np.array(self._codec, np.int32)
        rest = np.array([*track, self.marks.text_pad], np.int32)
        return TwoRowPrompt(text, codec, rest, vector_at, vector, frames_at, frames)


def _named(f: Fields, name: str) -> dict[str, int]:
    found = f.find(name, default={})
    if not isinstance(found, dict) or not all(isinstance(id, int) for id in found.values()):
        raise ConfigError(f"{f.where}: {name} must map names to ids.")
    return {str(key).lower(): id for key, id in found.items()}


def embed_prompt(model: Qwen3TTSModel, score: TwoRowPrompt) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
    """The prompt's rows `[n, D]` and the track's `[m, D]`: work for the engine's thread."""
    ops = model.ops
    ids, where = np.unique(np.concatenate((score.text[score.text != NONE], score.track)), return_inverse=True)
    read = ops.numpy(model.read(ops.array(ids)))[where]
    yield
    count = int((score.text != NONE).sum())
    rows = np.zeros((score.length, model.hidden), np.float32)
    rows[score.text != NONE] = read[:count]
    sung = score.codec != NONE
    rows[sung] += ops.numpy(model.embed(ops.array(score.codec[sung])))
    if score.vector_at is not None and score.vector is not None:
        if score.vector.shape != (model.hidden,):
            raise BadRequest(
                f"The voice has {score.vector.size} numbers and this model wants {model.hidden}: it was made for a model "
                "of another size. Make it again.",
                "voice",
            )
        rows[score.vector_at] += score.vector
    if score.frames_at is not None and score.frames is not None:
        yield
        rows[score.frames_at : score.frames_at + len(score.frames)] += ops.numpy(model.reframe(ops.array(score.frames)))
    return rows, read[count:]


RATE = 24000
CHUNKS = (3, 5, 8)  # frames of the codec's first chunks, and of all that follow


def synthesize(engine: EngineLike, codec: str, request: Request, recording: np.ndarray | None = None,
             said: OnCodes | None = None) -> Take:  # fmt: skip
    """A request's frames as samples, chunk by chunk while it runs; what it returns says how the voice ended.

    `recording`: frames that the voice goes on from. `said` is given its own, if it comes to its end. Closing the generator
    cancels the request.
    """
    past: StreamState = {}
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
    end = yield from stream_take(handle, frames, render, CHUNKS, RATE, RepetitionGuard(), begun)
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


class Qwen3TTS:
    """One text-to-speech model of an engine, and the models beside it."""

    rate = RATE
    token_rate = FRAME_RATE

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        facts: Facts = engine.task(model, _facts).result()
        self.prompts = Qwen3TTSPrompts(facts.config, facts.tokenizer)
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

    def check(self, manner: VoiceSettings) -> None:
        """Raise BadRequest for what the model cannot do."""
        self.prompts.check(manner)

    def improvises(self, manner: VoiceSettings) -> bool:
        return self.prompts.kind == "voice_design"

    def speak(
        self,
        text: str,
        manner: VoiceSettings,
        *,
        seed: int | None = None,
        sampling: SpeechSampling = MODEL_DEFAULTS,
        feed: bool | None = None,
        patient: bool = False,
        said: OnCodes | None = None,
    ) -> Iterator[np.ndarray]:
        """Samples at `rate`, chunk by chunk. `patient`: all at once and later, so that a voice that ran away is never
        heard. `feed`: whether text goes in while the voice speaks (None: as the model was trained). `said` is given the
        frames of a take that came to its end."""
        score = self.prompts.score(text, manner, feed=feed)
        rows, track = self.engine.task(self.model, lambda loaded: embed_prompt(loaded.model, score)).result()
        seed = secrets.randbits(32) if seed is None else seed
        greedy = self.greedy if sampling.temperature is None else sampling.temperature == 0
        usual = max_frames(text)
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
            return synthesize(self.engine, self.codec, request, recording, said)

        return retry_takes(take, 1 if greedy else TRIES, patient, may_be_cut=most < usual)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`; with `text`, what is said in them, it is imitated and not only resembled."""
        self.prompts.check(VoiceSettings(clone=Clone(np.zeros(0, np.float32))))
        sound = checked_recording(samples, RATE)
        mel = speaker_mel(sound)
        vector = self.engine.task(self.knows, lambda loaded: loaded.model.embed(mel)).result()
        codes = None
        if text is not None and text.strip():
            codes = self.engine.task(self.listens, lambda loaded: loaded.model.encode(sound)).result()
        return Clone(vector, codes, text.strip() if codes is not None and text else None)


def _decode(loaded: Any, parts: Sequence[tuple[np.ndarray, StreamState]]) -> Generator[None, None, list[np.ndarray]]:
    return (yield from loaded.model.decode_together(parts))  # type: ignore[no-any-return]


def _facts(loaded: Any) -> Generator[None, None, Facts]:
    if loaded.config.get("model_type") != "qwen3_tts":
        raise BadRequest(f"The model {loaded.name} does not speak.", "model")
    return Facts(loaded.folder, loaded.config, loaded.tokenizer, loaded.defaults)
    yield  # a task's work is a generator
