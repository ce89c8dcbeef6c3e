"""Voxtral: Whisper's encoder, whose frames stand four at a time among the words of a Llama.

A sound is as many windows of 30 seconds as it needs; each is encoded by itself, and the last one ends in silence.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.media.mel import WHISPER_HOP
from engine.models.config import Fields
from engine.models.encoder import Patched
from engine.models.llama import llama
from engine.models.vision_language import SeeingDecoder
from engine.models.whisper import TOGETHER, WhisperEncoder
from engine.weights.view import View

_TEXT = ("llama", "mistral")  # model types of text models that are alike
AUDIO_TOKEN = 24  # unless the config says otherwise


class SoundWindows:
    """How many samples a window has, and how many tokens: as the config of a Voxtral says."""

    def __init__(self, config: Fields) -> None:
        f = config.sub("audio_config")
        frames, hidden = f.int("max_source_positions"), f.int("hidden_size", "d_model")
        wide = f.int("intermediate_size", "encoder_ffn_dim")
        if wide % hidden or frames % (wide // hidden):
            raise ConfigError(
                f"{f.where}: intermediate_size ({wide}) must be a multiple of hidden_size ({hidden}), by which "
                f"max_source_positions ({frames}) can be divided."
            )
        self.mels, self.frames = f.int("num_mel_bins"), 2 * frames  # of the spectrogram
        self.samples, self.tokens = self.frames * WHISPER_HOP, frames * hidden // wide

    def count(self, samples: int) -> int:
        """Of a sound with so many samples."""
        return max(1, -(-samples // self.samples))


class VoxtralTower:
    """A spectrogram of whole windows of each sound to rows of its tokens, in f32."""

    taps: Mapping[int, object] = {}

    def __init__(self, tower: View, projector: View, config: Fields, width: int) -> None:
        self.ops, self.windows = tower.backend.ops, SoundWindows(config)
        if (act := config.find("projector_hidden_act", default="gelu")) != "gelu":
            raise ConfigError(f"{config.where}: projector_hidden_act `{act}` is not the one that is known here (gelu).")
        f = config.sub("audio_config")
        self.encoder, self.wide = WhisperEncoder(tower, f), f.int("intermediate_size", "encoder_ffn_dim")
        self.first = projector.linear(("linear_1", width), inp=self.wide)
        self.second = projector.linear(("linear_2", width), inp=width)

    def __call__(self, pictures: Sequence[Patched]) -> Generator[None, None, list[np.ndarray]]:
        shape = (-1, self.windows.frames, self.windows.mels)
        cut = [sound.patches.reshape(shape) for sound in pictures]
        windows, rows = np.concatenate(cut), list[np.ndarray]()
        for at in range(0, len(windows), TOGETHER):
            frames = yield from self.encoder.run(windows[at : at + TOGETHER])
            made = self.ops.numpy(self._projected(frames.reshape(-1, self.wide)))
            rows.append(np.ascontiguousarray(made, np.float32))
            yield
        return np.split(np.concatenate(rows), np.cumsum([len(one) * self.windows.tokens for one in cut])[:-1])

    def _projected(self, x: Array) -> Array:
        return self.second(self.ops.gelu(self.first(x)))


def voxtral(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    f = Fields(config)
    text = f.sub("text_config")
    if (kind := text.find("model_type", default=_TEXT[0])) not in _TEXT:
        raise ConfigError(f"{text.where}: a Voxtral with a text model of the type `{kind}` is not known here.")
    decoder, width = llama(w, config), text.int("hidden_size")
    if f.int("audio_token_id", default=AUDIO_TOKEN, least=0) >= decoder.vocab:
        raise ConfigError(f"{f.where}: audio_token_id lies outside of the vocabulary.")
    place = "model." if w.has("model.audio_tower.conv1.weight") else ""
    tower, projector = (w.sub(f"{place}{name}") for name in ("audio_tower", "multi_modal_projector"))
    return SeeingDecoder(decoder, VoxtralTower(tower, projector, f, width), width)
