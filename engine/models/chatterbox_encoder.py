"""What Chatterbox hears of a recording: the speaker's vectors for both of its halves, tokens of the speech, and its mel frames."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media.mel import frames, kaldi_features, s3gen_mel, voice_mel, whisper_mel
from engine.models.campplus import MELS, CampPlus
from engine.models.s3_tokenizer import MELS as TOKENIZER_MELS
from engine.models.s3_tokenizer import S3Tokenizer
from engine.models.s3gen import HeardVoice
from engine.models.voice_encoder import VoiceEncoder
from engine.weights.view import View

RATE, NARROW = 24000, 16000  # of recordings
_PROMPT, _REFERENCE = 6 * NARROW, 10 * RATE  # samples of a recording that T3 and S3Gen hear
PROMPT_TOKENS = 150  # of T3
_QUIET = 0.1  # of the loudest stretch's amplitude: what is quieter at either end is left out
_STRETCH, _HOP = 2048, 512


@dataclass(frozen=True, eq=False)
class ChatterboxVoice:
    """A voice as both halves take it."""

    speaker: np.ndarray  # for T3
    speech: np.ndarray  # tokens, for T3
    heard: HeardVoice  # for S3Gen


class ChatterboxEncoder:
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        w.ignore(r"^(t3|gen|conds)\.", r"^s3gen\.(flow|mel2wav|trim_fade)", r"num_batches_tracked$")
        w.ignore(r"^s3gen\.tokenizer\.(_mel_filters|window|encoder\._?freqs_cis)", r"^s3gen\.tokenizer\.onnx::")
        self.voice, own = VoiceEncoder(w.sub("ve")), w.sub("s3gen")
        self.speaker = CampPlus(own.sub("speaker_encoder"))
        there = own.has("tokenizer.encoder.conv1.weight")  # mlx-audio's file is without it
        self.tokenizer = S3Tokenizer(own.sub("tokenizer")) if there else None

    def hear(self, wide: np.ndarray, narrow: np.ndarray) -> Generator[None, None, ChatterboxVoice]:
        """A recording at 24 kHz and the same at 16 kHz."""
        if self.tokenizer is None:
            raise BadRequest(
                ErrorText(
                    "This copy of Chatterbox cannot clone: it is without its speech tokenizer. Put model.safetensors of "
                    "mlx-community/S3TokenizerV2 beside it as {name}, or use ResembleAI/chatterbox.",
                    name="speech_tokenizer.safetensors",
                ),
                "voice",
            )
        wide, short = wide[:_REFERENCE], narrow[: _REFERENCE * NARROW // RATE]
        speaker = yield from self.voice.embed(voice_mel(trimmed(narrow)))
        speech = yield from self.tokenizer.tokens(whisper_mel(narrow[:_PROMPT], TOKENIZER_MELS))
        tokens = yield from self.tokenizer.tokens(whisper_mel(short, TOKENIZER_MELS))
        vector = yield from self.speaker.embed(kaldi_features(short, MELS))
        mel = s3gen_mel(wide)
        count = min(len(tokens), len(mel) // 2)
        return ChatterboxVoice(speaker, speech[:PROMPT_TOKENS], HeardVoice(tokens[:count], mel[: 2 * count], vector))


def trimmed(samples: np.ndarray) -> np.ndarray:
    """Without what is 20 dB quieter than the loudest stretch, at either end."""
    padded = np.pad(samples, _STRETCH // 2)
    power = (frames(padded, _STRETCH, _HOP).astype(np.float64) ** 2).mean(1)
    loud = np.flatnonzero(power > _QUIET**2 * power.max())
    return samples[loud[0] * _HOP : (loud[-1] + 1) * _HOP] if len(loud) else samples


def chatterbox_encoder(w: View, config: Mapping[str, Any]) -> ChatterboxEncoder:
    return ChatterboxEncoder(w, config)
