"""Sound on the wire and inside: base64 of 16-bit samples at 24 kHz there, floats at a model's own rate here, stream by stream."""

from __future__ import annotations

import base64
import binascii

import numpy as np
import soxr

from app.server.errors import bad_request
from app.server.realtime.protocol import RATE
from engine.media.sound import to_pcm


def samples_in(text: str, param: str = "audio") -> np.ndarray:
    """Floats at 24 kHz."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise bad_request(f"`{param}` is not base64.", param) from None
    if len(data) % 2:
        raise bad_request(f"`{param}` holds half a sample: a sample is 16 bits, little-endian.", param)
    return np.frombuffer(data, "<i2").astype(np.float32) / 32768.0


def as_text(samples: np.ndarray) -> str:
    """Of floats at 24 kHz."""
    return base64.b64encode(to_pcm(samples)).decode()


class Resampled:
    """A stream at another rate. What the filter still holds back comes with `finish`, which begins anew."""

    def __init__(self, own: int, rate: int) -> None:
        self._rates = own, rate
        self._stream: soxr.ResampleStream | None = None

    def push(self, samples: np.ndarray) -> np.ndarray:
        own, rate = self._rates
        if own == rate or not len(samples):
            return samples
        if self._stream is None:
            self._stream = soxr.ResampleStream(own, rate, 1, dtype="float32")
        made: np.ndarray = self._stream.resample_chunk(samples)
        return made

    def finish(self) -> np.ndarray:
        stream, self._stream = self._stream, None
        nothing = np.zeros(0, np.float32)
        return nothing if stream is None else stream.resample_chunk(nothing, last=True)


def to_wire(own: int) -> Resampled:
    return Resampled(own, RATE)
