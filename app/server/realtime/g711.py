"""G.711, the sound of telephony: 16-bit samples as 8 bits on a logarithmic scale, by the mu-law or the A-law."""

from __future__ import annotations

from functools import cache

import numpy as np


def decoded(data: bytes, law: str) -> np.ndarray:
    """16-bit samples. `law`: "audio/pcmu" or "audio/pcma"."""
    return _levels(law)[np.frombuffer(data, np.uint8)]


def encoded(samples: np.ndarray, law: str) -> bytes:
    """The code of the level that is nearest to each sample."""
    bounds, codes = _encoding(law)
    return codes[np.searchsorted(bounds, samples)].tobytes()


@cache
def _levels(law: str) -> np.ndarray:
    """The sample of each of the 256 codes."""
    codes = np.arange(256)
    bits = ~codes & 0xFF if law == "audio/pcmu" else codes ^ 0x55
    exponent, mantissa = bits >> 4 & 7, bits & 15
    if law == "audio/pcmu":
        size = ((mantissa << 3) + 132 << exponent) - 132
        negative = bits & 0x80 != 0
    else:
        size = np.where(exponent == 0, (mantissa << 4) + 8, (mantissa << 4) + 264 << np.maximum(exponent - 1, 0))
        negative = bits & 0x80 == 0
    return np.where(negative, -size, size).astype(np.int16)


@cache
def _encoding(law: str) -> tuple[np.ndarray, np.ndarray]:
    """Bounds between neighbouring levels, and the code of each level."""
    levels = _levels(law).astype(int)
    codes = np.argsort(levels, kind="stable").astype(np.uint8)
    ordered = levels[codes]
    return (ordered[:-1] + ordered[1:]) / 2, codes
