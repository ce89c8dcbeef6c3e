"""AAC, in a stream of ADTS frames, made by PyAV where that is installed.

libsndfile writes no AAC, and PyAV's wheels hold parts of FFmpeg under the GPL: so Grus neither needs it nor brings it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import IO, Any

import numpy as np

from engine.errors import BadRequest

TYPE = "audio/aac"
_BITS = 96_000  # a second, of one channel
_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000)  # that AAC knows


def check_encoder() -> None:
    """Raise BadRequest where there is none."""
    if find_spec("av") is None:
        raise BadRequest(
            "There is no AAC encoder here. Choose opus, mp3, flac, wav or pcm, or install one for Grus: pip install av",
            "response_format",
        )


class AacEncoder:
    """One channel at `rate`. Frames are written to `target` as they are made."""

    def __init__(self, target: IO[bytes], rate: int) -> None:
        import av

        if rate not in _RATES:
            raise BadRequest(f"AAC does not know {rate} samples a second.", "rate")
        self._av: Any = av
        self._rate, self._at = rate, 0
        self.file: Any = av.open(target, "w", format="adts")
        self._stream: Any = self.file.add_stream("aac", rate=rate, layout="mono", bit_rate=_BITS)

    def write(self, chunk: np.ndarray) -> None:
        if not len(chunk):
            return
        samples = np.clip(chunk.astype(np.float32, copy=False), -1.0, 1.0)
        frame = self._av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = self._rate, self._at
        self._at += len(samples)
        self.file.mux(self._stream.encode(frame))

    def finish(self) -> None:
        self.file.mux(self._stream.encode(None))
