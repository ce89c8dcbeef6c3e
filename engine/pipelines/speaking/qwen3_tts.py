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

from engine.errors import BadRequest, ConfigError, ErrorText
from engine.media.mel import speaker_mel
from engine.models.causal import StreamState
from engine.models.codec12 import TOGETHER
from engine.models.config import Fields
from engine.models.qwen3_tts import Qwen3TTSModel
from engine.pipelines.speaking.speech import (
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
from engine.tasks import EngineLike, Joint, Task
from engine.types import Event, Frames, Request, SamplingParams

LONGEST_TEXT = 4000  # characters per call; `text.passages` splits longer texts
NONE = -1  # no token in this column of this row

ISO = {
    "zh": "chinese", "en": "english", "de": "german", "es": "spanish", "ja": "japanese", "fr": "french", "ko": "korean",
    "ru": "russian", "it": "italian", "pt": "portuguese",
}  # fmt: skip

_KIND_HELP = {
    "base": "This is a Base model: it clones voices. Give it a recording, or choose {}.",
    "custom_voice": "This is a CustomVoice model: it has voices of its own. Choose one of them, or choose {}.",
    "voice_design": "This is a VoiceDesign model: it makes a voice from a description. Describe one, or choose {}.",
}
A_BASE = "a Base model to clone a voice"
A_PRESET = "a CustomVoice model for preset voices"


class _Tokenizer(Protocol):
    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> list[int]: ...


@dataclass(frozen=True, eq=False)
class TwoRowPrompt:
    """A prompt's text row and codec row, and the text stream that continues during generation."""

    text: np.ndarray  # int32 [n], NONE: no text token
    codec: np.ndarray  # int32 [n], NONE: no codec token
    stream: np.ndarray  # int32 [m], the text stream; its last token repeats
    vector_at: int | None = None
    vector: np.ndarray | None = None
    frames_at: int | None = None
    frames: np.ndarray | None = None  # int32 [k, groups], in the columns from `frames_at`

    @property
    def length(self) -> int:
        return len(self.text)


@dataclass(frozen=True)
class _SpecialTokens:
    """Special token ids, all from config.json."""

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
    """Checks settings against one checkpoint and lays out its prompts."""

    def __init__(self, config: Mapping[str, Any], tokenizer: _Tokenizer) -> None:
        f = Fields(config)
        talker = f.sub("talker_config")
        self.tokenizer = tokenizer
        self.kind = str(f.find("tts_model_type", default="base"))
        if self.kind not in _KIND_HELP:
            raise ConfigError(f"config.json: tts_model_type must be one of {', '.join(_KIND_HELP)}, not {self.kind!r}.")
        self.small = str(f.find("tts_model_size", default="")).startswith("0b6")
        self.groups = talker.int("num_code_groups")
        self.hidden = talker.int("hidden_size")
        self.entries = talker.sub("code_predictor_config").int("vocab_size", default=2048)
        self.special = _SpecialTokens(
            *(talker.int(f"codec_{name}_id", least=0) for name in ("pad", "bos", "think", "nothink")),
            *(talker.int(f"codec_{name}_id", least=0) for name in ("think_bos", "think_eos")),
            *(f.int(f"tts_{name}_token_id", least=0) for name in ("pad", "bos", "eos")),
        )
        self._languages: dict[str, int] = _named(talker, "codec_language_id")
        self._speakers: dict[str, int] = _named(talker, "spk_id")
        self._dialects: dict[str, Any] = dict(talker.find("spk_is_dialect", default={}))

    @property
    def voices(self) -> list[str]:
        """Names of the preset voices."""
        return sorted(self._speakers)

    @property
    def instructed(self) -> bool:
        """True if the model follows instructions. A small CustomVoice model accepts and ignores them, as the reference
        package does."""
        return not (self.kind == "custom_voice" and self.small)

    @property
    def languages(self) -> list[str]:
        return sorted(name for name in self._languages if "dialect" not in name)

    @property
    def feeds_text(self) -> bool:
        """The default of `feed`: True for Base models, which were trained with a text stream."""
        return self.kind == "base"

    def layout(self, text: str, settings: VoiceSettings, *, feed: bool | None = None) -> TwoRowPrompt:
        """Lay out a prompt. `feed`: whether text is streamed in during generation rather than put before it. Raises BadRequest
        for settings that the model does not support."""
        text = text.strip()
        if not text:
            raise BadRequest(ErrorText("There is nothing to say: the text is empty."), "text")
        if len(text) > LONGEST_TEXT:
            raise BadRequest(
                ErrorText(
                    "The text has {length} characters; {most} can be spoken at once.",
                    length=len(text),
                    most=LONGEST_TEXT,
                ),
                "text",
            )
        self.check(settings)
        feed = self.feeds_text if feed is None else feed
        ids = self._assistant(text)
        rows = _PromptBuilder(self.special)
        if settings.instructions and self.instructed:
            rows.words(self._user(settings.instructions))
        rows.words(ids[:3])
        self._add_speaker(rows, settings)
        clone = settings.clone
        if clone is not None and clone.codes is not None:
            recorded = self._quoted((clone.text or "").strip())[3:-2]
            return rows.finish_after(recorded + ids[3:-5], clone.codes.astype(np.int32), feed)
        if (after := settings.after) is not None:  # a text whose first part is spoken already
            return rows.finish_after(self._assistant(f"{after.text} {text}")[3:-5], after.codes.astype(np.int32), feed)
        return rows.finish(ids[3:-5], feed)

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for a voice, a language or instructions that this model does not support."""
        self._language(settings)
        if settings.preset is not None and settings.clone is not None:
            raise BadRequest(ErrorText("Choose a preset voice or a recording, not both."), "voice")
        if settings.preset is not None and self.kind != "custom_voice" and not (self.kind == "base" and self._speakers):
            raise BadRequest("There are no preset voices here. " + _KIND_HELP[self.kind].format(A_PRESET), "voice")
        if settings.clone is not None:
            self._check_clone(settings.clone)
        name = self._speaker(settings)
        if self.kind == "base" and settings.clone is None and name is None:
            raise BadRequest(
                ErrorText("This is a Base model: it needs a recording of the voice that it is to speak in."), "voice"
            )
        if self.kind == "custom_voice" and name is None:
            raise BadRequest("This model's config names no voices (`spk_id`), so it cannot speak.", "voice")
        if name is not None and name not in self._speakers:
            raise BadRequest(
                ErrorText(
                    "There is no voice {name}. Choose one of {voices}.",
                    name=repr(settings.preset),
                    voices=", ".join(self.voices),
                ),
                "voice",
            )
        if settings.instructions and self.kind == "base":
            raise BadRequest(
                ErrorText(
                    "This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them."
                ),
                "instructions",
            )
        if self.kind == "voice_design" and not settings.instructions:
            raise BadRequest(
                ErrorText("Describe the voice: this VoiceDesign model makes one from instructions."), "instructions"
            )

    def _check_clone(self, clone: Clone) -> None:
        if self.kind != "base":
            raise BadRequest("This model clones no voices. " + _KIND_HELP[self.kind].format(A_BASE), "voice")
        if clone.codes is None:
            return
        shaped = clone.codes.ndim == 2 and clone.codes.shape[1] == self.groups and len(clone.codes)
        if not shaped or clone.codes.min() < 0 or clone.codes.max() >= self.entries:
            raise BadRequest(
                ErrorText("The recording's codes do not belong to this model. Make the voice again."), "voice"
            )
        if not (clone.text or "").strip():
            raise BadRequest(
                ErrorText("Say what is spoken in the recording, or clone the voice's colour alone."), "text"
            )

    def _assistant(self, text: str) -> list[int]:
        return self._turn("assistant", text) + self._control("<|im_start|>assistant\n")

    def _quoted(self, text: str) -> list[int]:
        return self._turn("assistant", text)

    def _user(self, text: str) -> list[int]:
        return self._turn("user", text)

    def _turn(self, role: str, text: str) -> list[int]:
        # the user's text must not inject control tokens
        ids = self.tokenizer.encode(text, False, parse_special=False)
        return [*self._control(f"<|im_start|>{role}\n"), *ids, *self._control("<|im_end|>\n")]

    def _control(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, False)

    def _add_speaker(self, rows: _PromptBuilder, settings: VoiceSettings) -> None:
        """Add language and speaker: codec tokens with text padding."""
        m, language = self.special, self._language(settings)
        tags = [m.nothink] if language is None else [m.think]
        tags += [m.think_bos] + ([] if language is None else [language]) + [m.think_eos]
        for tag in tags:
            rows.add(m.text_pad, tag)
        if (speaker := self._speaker(settings)) is not None:
            rows.add(m.text_pad, self._speakers[speaker])
        elif settings.clone is not None:
            rows.vector(settings.clone.vector)
        rows.add(m.text_bos, m.pad)

    def _speaker(self, settings: VoiceSettings) -> str | None:
        """The preset voice; by default the first one in a CustomVoice model's config."""
        if settings.preset is not None:
            return settings.preset.lower()
        return next(iter(self._speakers), None) if self.kind == "custom_voice" else None

    def _language(self, settings: VoiceSettings) -> int | None:
        name = settings.language.strip().lower()
        name = ISO.get(name.split("-")[0], name)
        if name != "auto" and name not in self._languages:
            raise BadRequest(
                ErrorText(
                    "This model does not speak {language}. It speaks {languages}.",
                    language=repr(settings.language),
                    languages=", ".join(self.languages),
                ),
                "language",
            )
        dialect = self._dialects.get(self._speaker(settings) or "")
        if dialect and name in ("chinese", "auto"):
            return self._languages.get(str(dialect))
        return None if name == "auto" else self._languages[name]


def default_settings(prompts: Qwen3TTSPrompts) -> VoiceSettings:
    """Settings that any checkpoint accepts. A Base model without voices gets a speaker vector of zeros."""
    if prompts.kind == "voice_design":
        return VoiceSettings(instructions="A calm voice.")
    if prompts.kind == "base" and not prompts.voices:
        return VoiceSettings(clone=Clone(np.zeros(prompts.hidden, np.float32)))
    return VoiceSettings(preset=prompts.voices[0] if prompts.voices else None)


class _PromptBuilder:
    """Builds a prompt column by column."""

    def __init__(self, special: _SpecialTokens) -> None:
        self.special = special
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

    def vector(self, vector: np.ndarray) -> None:
        self._vector = len(self._text), vector
        self.add(self.special.text_pad, NONE)

    def finish(self, words: list[int], feed: bool) -> TwoRowPrompt:
        """All of `words` before generation, or with `feed` the first one at its start and the rest as the text stream."""
        m = self.special
        if feed:
            self.add(words[0], m.bos)
            return self._end([*words[1:], m.text_eos])
        for id in [*words, m.text_eos]:
            self.add(id, m.pad)
        self.add(m.text_pad, m.bos)
        return self._end([])

    def finish_after(self, words: list[int], frames: np.ndarray, feed: bool) -> TwoRowPrompt:
        """The recording's words and then the new ones, above the recording's frames."""
        m = self.special
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

    def _end(self, stream: list[int]) -> TwoRowPrompt:
        vector_at, vector = self._vector or (None, None)
        frames_at, frames = self._frames or (None, None)
        text, codec = np.array(self._text, np.int32), np.array(self._codec, np.int32)
        rest = np.array([*stream, self.special.text_pad], np.int32)
        return TwoRowPrompt(text, codec, rest, vector_at, vector, frames_at, frames)


def _named(f: Fields, name: str) -> dict[str, int]:
    found = f.find(name, default={})
    if not isinstance(found, dict) or not all(isinstance(id, int) for id in found.values()):
        raise ConfigError(f"{f.where}: {name} must map names to ids.")
    return {str(key).lower(): id for key, id in found.items()}


def embed_prompt(model: Qwen3TTSModel, prompt: TwoRowPrompt) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
    """Embeddings of the prompt `[n, D]` and of the text stream `[m, D]`. Runs on the engine's thread."""
    ops = model.ops
    ids, where = np.unique(np.concatenate((prompt.text[prompt.text != NONE], prompt.stream)), return_inverse=True)
    read = ops.numpy(model.read(ops.array(ids)))[where]
    yield
    count = int((prompt.text != NONE).sum())
    rows = np.zeros((prompt.length, model.hidden), np.float32)
    rows[prompt.text != NONE] = read[:count]
    codec_mask = prompt.codec != NONE
    rows[codec_mask] += ops.numpy(model.embed(ops.array(prompt.codec[codec_mask])))
    if prompt.vector_at is not None and prompt.vector is not None:
        if prompt.vector.shape != (model.hidden,):
            raise BadRequest(
                ErrorText(
                    "The voice has {size} numbers and this model wants {wanted}: it was made for a model of another "
                    "size. Make it again.",
                    size=prompt.vector.size,
                    wanted=model.hidden,
                ),
                "voice",
            )
        rows[prompt.vector_at] += prompt.vector
    if prompt.frames_at is not None and prompt.frames is not None:
        yield
        rows[prompt.frames_at : prompt.frames_at + len(prompt.frames)] += ops.numpy(
            model.reframe(ops.array(prompt.frames))
        )
    return rows, read[count:]


RATE = 24000
CHUNKS = (3, 5, 8)  # frames of the codec's first chunks; the last number holds for all later ones


def synthesize(engine: EngineLike, codec: str, request: Request, recording: np.ndarray | None = None,
             on_codes: OnCodes | None = None) -> Take:  # fmt: skip
    """A take of `request`: its frames are decoded chunk by chunk while it runs.

    `recording`: frames that the voice continues. `on_codes` receives the generated frames if the take ends well. Closing the
    generator cancels the request.
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
    if on_codes is not None and end == "whole" and made:
        on_codes(np.stack(made))
    return end


@dataclass(frozen=True)
class _Checkpoint:
    """Files and settings of a loaded Qwen3-TTS model."""

    folder: Path
    config: Mapping[str, Any]
    tokenizer: Any
    defaults: Mapping[str, Any]


class Qwen3TTS:
    """Qwen3-TTS of an engine, with its codec and its speaker encoder. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = FRAME_RATE

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        facts: _Checkpoint = engine.task(model, _facts).result()
        self.prompts = Qwen3TTSPrompts(facts.config, facts.tokenizer)
        self.greedy = facts.defaults.get("temperature") == 0.0
        self.codec = str(facts.folder / "speech_tokenizer")
        self.codec_encoder = f"{self.codec}#encoder"
        self.speaker_encoder = f"{model}#speaker"

    @property
    def presets(self) -> list[str]:
        return self.prompts.voices

    @property
    def clones(self) -> bool:
        return self.prompts.kind == "base"

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that the model does not support."""
        self.prompts.check(settings)

    def needs_example(self, settings: VoiceSettings) -> bool:
        return self.prompts.kind == "voice_design"

    def speak(
        self,
        text: str,
        settings: VoiceSettings,
        *,
        seed: int | None = None,
        sampling: SpeechSampling = MODEL_DEFAULTS,
        feed: bool | None = None,
        buffered: bool = False,
        on_codes: OnCodes | None = None,
    ) -> Iterator[np.ndarray]:
        """Samples at `rate`, chunk by chunk. `buffered`: all at once and later, so that a bad take is never
        played. `feed`: whether text is streamed in during generation (None: the model's default). `on_codes` receives the
        frames of a take that ends well."""
        prompt = self.prompts.layout(text, settings, feed=feed)
        rows, stream = self.engine.task(self.model, lambda loaded: embed_prompt(loaded.model, prompt)).result()
        seed = secrets.randbits(32) if seed is None else seed
        greedy = self.greedy if sampling.temperature is None else sampling.temperature == 0
        limit = max_frames(text)
        most = sampling.most(limit)
        recording = settings.clone.codes if settings.clone is not None else None

        def take(attempt: int) -> Take:
            params = SamplingParams(
                min_tokens=min(2, most), max_tokens=most, seed=seed + attempt, **sampling.given
            )  # fmt: skip
            request = Request(
                self.model,
                [self.prompts.special.pad] * len(rows),
                params,
                embeds=rows,
                positions=range(len(rows)),
                track=stream,
            )
            return synthesize(self.engine, self.codec, request, recording, on_codes)

        return retry_takes(take, 1 if greedy else TRIES, buffered, may_be_cut=most < limit)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`. With `text`, their transcript, the recording itself is imitated."""
        self.prompts.check(VoiceSettings(clone=Clone(np.zeros(0, np.float32))))
        sound = checked_recording(samples, RATE)
        mel = speaker_mel(sound)
        vector = self.engine.task(self.speaker_encoder, lambda loaded: loaded.model.embed(mel)).result()
        codes = None
        if text is not None and text.strip():
            codes = self.engine.task(self.codec_encoder, lambda loaded: loaded.model.encode(sound)).result()
        return Clone(vector, codes, text.strip() if codes is not None and text else None)


def _decode(loaded: Any, parts: Sequence[tuple[np.ndarray, StreamState]]) -> Generator[None, None, list[np.ndarray]]:
    return (yield from loaded.model.decode_together(parts))  # type: ignore[no-any-return]


def _facts(loaded: Any) -> Generator[None, None, _Checkpoint]:
    if loaded.config.get("model_type") != "qwen3_tts":
        raise BadRequest(f"The model {loaded.name} does not speak.", "model")
    return _Checkpoint(loaded.folder, loaded.config, loaded.tokenizer, loaded.defaults)
    yield  # a task's work is a generator
