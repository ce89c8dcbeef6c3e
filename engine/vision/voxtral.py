"""What Voxtral hears: a sound as the spectrogram of whole windows of 30 seconds, each with the same number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.errors import BadRequest
from engine.media.inputs import HeardSound, Picture
from engine.media.mel import whisper_mel
from engine.models.config import Fields
from engine.models.voxtral import AUDIO_TOKEN, SoundWindows
from engine.vision.base import PictureProcessor
from engine.vision.processor import ImageLike, content_key, expand_placeholders

_BEGIN = "[BEGIN_AUDIO]"


class VoxtralSoundProcessor(PictureProcessor):
    takes_sound, takes_images = True, False
    max_pixels = 0

    def __init__(self, config: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        self.windows = SoundWindows(config)
        self.image_id = config.int("audio_token_id", default=AUDIO_TOKEN, least=0)
        self.placeholder_ids = (self.image_id,)
        begin = list(encode(_BEGIN))
        self.begin = begin if len(begin) == 1 else []  # a tokenizer without it spells it

    def note(self, image: ImageLike) -> str | None:
        return None

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        raise BadRequest("This model hears sounds and sees no images.", "images")

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model hears sounds and sees no videos.", "images")

    def sound(self, samples: np.ndarray) -> HeardSound:
        """Of mono samples at 16 kHz."""
        count = self.windows.count(len(samples))
        padded = np.zeros(count * self.windows.samples, np.float32)
        padded[: len(samples)] = samples
        mel = whisper_mel(padded, self.windows.mels)
        return HeardSound(mel, (count, self.windows.frames, 1), count * self.windows.tokens, content_key(mel))

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        """Before its tokens a sound has one that begins it, which some templates write."""
        plain, begin = list[int](), self.begin
        for id in ids:
            if id == self.image_id and begin and plain[-1:] == begin:
                plain.pop()
            plain.append(id)
        return expand_placeholders(plain, pictures, self.placeholder_ids, self.surrounded)

    def surrounded(self, sound: Picture) -> list[int]:
        """The tokens that a sound's place becomes."""
        return [*self.begin, *self._spelled(sound)]
