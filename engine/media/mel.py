"""Mel spectrograms in numpy: Slaney's filterbank and HTK's, and the front ends that models were trained with.

A front end differs from the next in padding, window, what of the spectrum is taken, and the logarithm's floor; each has a
function of its own that says so in full.
"""

from __future__ import annotations

from functools import cache

import numpy as np

_LINEAR = 200.0 / 3  # Hz a mel, below the knee
_KNEE = 1000.0
_LOG = np.log(6.4) / 27.0  # a mel's step above it


def hz_to_mel(hz: np.ndarray) -> np.ndarray:
    """Slaney's scale: linear up to 1 kHz, logarithmic above."""
    above = _KNEE / _LINEAR + np.log(np.maximum(hz, _KNEE) / _KNEE) / _LOG
    return np.where(hz < _KNEE, hz / _LINEAR, above)


def mel_to_hz(mel: np.ndarray) -> np.ndarray:
    knee = _KNEE / _LINEAR
    return np.where(mel < knee, mel * _LINEAR, _KNEE * np.exp(_LOG * (np.maximum(mel, knee) - knee)))


@cache
def filterbank(rate: int, n_fft: int, count: int, low: float, high: float) -> np.ndarray:
    """`[count, n_fft / 2 + 1]` f32: triangles on Slaney's scale, each of area one."""
    bins = np.linspace(0, rate / 2, n_fft // 2 + 1)
    ends = hz_to_mel(np.array([low, high], np.float64))
    edges = mel_to_hz(np.linspace(ends[0], ends[1], count + 2))
    filters: np.ndarray = (_triangles(bins, edges) * (2.0 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)
    filters.flags.writeable = False
    return filters


def _triangles(bins: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """`[edges - 2, bins]`, each of height one."""
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    made: np.ndarray = np.maximum(0.0, np.minimum(rising, falling))
    return made


def hann(n: int) -> np.ndarray:
    """Periodic, f32."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)).astype(np.float32)


def frames(samples: np.ndarray, size: int, hop: int) -> np.ndarray:
    """`[count, size]`, a view."""
    return np.lib.stride_tricks.sliding_window_view(samples, size)[::hop]


SPEAKER_LEAST = 2400  # samples: a tenth of a second


def speaker_mel(samples: np.ndarray) -> np.ndarray:
    """For Qwen3-TTS's speaker encoder, of mono samples at 24 kHz: `[frames, 128]` natural logarithms of magnitudes."""
    return _log_magnitudes(samples, 1024, 256, 128, 12000.0)


def s3gen_mel(samples: np.ndarray) -> np.ndarray:
    """As Chatterbox's S3Gen makes it, of mono samples at 24 kHz: `[frames, 80]` natural logarithms of magnitudes, 50 a second."""
    return _log_magnitudes(samples, 1920, 480, 80, 8000.0)


def _log_magnitudes(samples: np.ndarray, size: int, hop: int, count: int, high: float) -> np.ndarray:
    """At 24 kHz."""
    padded = np.pad(samples.astype(np.float32), (size - hop) // 2, mode="reflect")
    spectrum = np.fft.rfft(frames(padded, size, hop) * hann(size), axis=-1)
    magnitude = np.sqrt(spectrum.real**2 + spectrum.imag**2 + 1e-9).astype(np.float32)
    mel = magnitude @ filterbank(24000, size, count, 0.0, high).T
    return np.log(np.maximum(mel, 1e-5))


def voice_mel(samples: np.ndarray) -> np.ndarray:
    """For Resemble's voice encoder, of mono samples at 16 kHz: `[frames, 40]` powers, no logarithm."""
    size = 400
    padded = np.pad(samples.astype(np.float32), size // 2, mode="reflect")
    spectrum = np.fft.rfft(frames(padded, size, WHISPER_HOP) * hann(size), axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    mel: np.ndarray = power @ filterbank(16000, size, 40, 0.0, 8000.0).T
    return mel


@cache
def _kaldi_filterbank(count: int) -> np.ndarray:
    """`[count, 257]` at 16 kHz from 20 Hz: triangles on Kaldi's own scale, with a height of one."""

    def scale(hz: np.ndarray) -> np.ndarray:
        return 1127.0 * np.log(1.0 + hz / 700.0)

    ends = scale(np.array([20.0, 8000.0]))
    edges = np.linspace(ends[0], ends[1], count + 2)[:, None]
    bins = scale(np.arange(257) * (16000 / 512))
    triangles = np.minimum(
        (bins - edges[:-2]) / np.diff(edges, axis=0)[:-1], (edges[2:] - bins) / np.diff(edges, axis=0)[1:]
    )
    filters: np.ndarray = np.maximum(0.0, triangles).astype(np.float32)
    filters[:, -1] = 0.0
    return filters


def kaldi_features(samples: np.ndarray, count: int) -> np.ndarray:
    """Kaldi's filterbank features of mono samples at 16 kHz: `[frames, count]` natural logarithms of powers, each band with mean 0."""
    size = 400
    pieces = frames(samples.astype(np.float32), size, WHISPER_HOP)
    pieces = pieces - pieces.mean(1, keepdims=True)
    pieces = pieces - _PREEMPHASIS * np.concatenate((pieces[:, :1], pieces[:, :-1]), 1)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / (size - 1))) ** 0.85
    spectrum = np.fft.rfft(pieces * window, 512, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    made = np.log(np.maximum(power @ _kaldi_filterbank(count).T, np.finfo(np.float32).eps))
    return (made - made.mean(0)).astype(np.float32)


def bicodec_mel(samples: np.ndarray) -> np.ndarray:
    """For BiCodec's speaker encoder, of at least 513 mono samples at 16 kHz: `[frames, 128]` magnitudes, no logarithm."""
    size, hop, window = 1024, 320, hann(640)
    padded = np.pad(samples.astype(np.float32), size // 2, mode="reflect")
    spectrum = np.fft.rfft(frames(padded, size, hop) * np.pad(window, (size - len(window)) // 2), axis=-1)
    mel: np.ndarray = np.abs(spectrum).astype(np.float32) @ filterbank(16000, size, 128, 10.0, 8000.0).T
    return mel


WHISPER_HOP = 160  # samples between two frames, at 16 kHz


def whisper_mel(samples: np.ndarray, count: int, loudest: float | None = None) -> np.ndarray:
    """For Whisper's encoder, of mono samples at 16 kHz: `[frames, count]`, logarithms of powers within 80 dB of the loudest; `loudest`:
    what counts as that, whatever the sound is."""
    size = 400
    padded = np.pad(samples.astype(np.float32), size // 2, mode="reflect")
    spectrum = np.fft.rfft(frames(padded, size, WHISPER_HOP)[:-1] * hann(size), axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    mel = np.log10(np.maximum(power @ filterbank(16000, size, count, 0.0, 8000.0).T, 1e-10))
    return ((np.maximum(mel, (mel.max() if loudest is None else loudest) - 8.0) + 4.0) / 4.0).astype(np.float32)


PARAKEET_HOP = 160  # samples between two frames, at 16 kHz
_PREEMPHASIS = 0.97


NEMO_FRAME = 512  # samples that a frame sees


def preemphasized(samples: np.ndarray, before: float = 0.0) -> np.ndarray:
    """`before`: the sample before the first."""
    edges = samples.astype(np.float32, copy=False)
    return edges - _PREEMPHASIS * np.concatenate((np.array([before], np.float32), edges[:-1]))


def nemo_mel(signal: np.ndarray, count: int) -> np.ndarray:
    """For NeMo's encoders, of a signal at 16 kHz that is `preemphasized` and has half a frame of silence at either end: `[frames, count]`
    logarithms of powers."""
    if len(signal) < NEMO_FRAME:
        return np.zeros((0, count), np.float32)
    window = np.hanning(400)
    taps = np.pad(window, (NEMO_FRAME - len(window)) // 2).astype(np.float32)
    spectrum = np.fft.rfft(frames(signal, NEMO_FRAME, PARAKEET_HOP) * taps, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    made: np.ndarray = np.log(power @ filterbank(16000, NEMO_FRAME, count, 0.0, 8000.0).T + 2.0**-24)
    return made


class NemoMelStream:
    """Mel frames of a signal at 16 kHz that comes in pieces: those that `nemo_mel` makes of the whole, and no sample is kept longer than a
    frame needs it."""

    def __init__(self, count: int, behind: int = NEMO_FRAME // 2) -> None:
        """`behind`: samples of silence behind the signal. Half a frame makes as many frames as there are hops, and one."""
        self._count, self._behind = count, behind
        self._signal = np.zeros(NEMO_FRAME // 2, np.float32)
        self._before = 0.0  # the sample before the next piece

    @property
    def waiting(self) -> int:
        """Samples that are kept."""
        return len(self._signal)

    @property
    def ready(self) -> int:
        """Frames that can be made."""
        return max(0, 1 + (len(self._signal) - NEMO_FRAME) // PARAKEET_HOP)

    def push(self, samples: np.ndarray, last: bool = False) -> None:
        silence = np.zeros(self._behind if last else 0, np.float32)
        if len(samples):
            silence = np.concatenate((preemphasized(samples, self._before), silence))
            self._before = float(samples[-1])
        self._signal = np.concatenate((self._signal, silence))

    def take(self, many: int, ahead: int) -> tuple[np.ndarray, np.ndarray]:
        """The next frames, as far as they are ready, and those ahead of them, which come again."""
        samples = (many + ahead - 1) * PARAKEET_HOP + NEMO_FRAME
        made = nemo_mel(self._signal[:samples], self._count)
        own = made[:many]
        self._signal = self._signal[len(own) * PARAKEET_HOP :]
        return own, made[many:]


def normalized_bands(mel: np.ndarray) -> np.ndarray:
    """Each band with mean 0 and spread 1."""
    made: np.ndarray = (mel - mel.mean(0)) / (mel.std(0, ddof=1) + 1e-5)
    return made.astype(np.float32)


def parakeet_mel(samples: np.ndarray, count: int) -> np.ndarray:
    """For Parakeet's encoder, of mono samples at 16 kHz: `[frames, count]`, logarithms of powers, each band with mean 0 and spread 1."""
    padded = np.pad(preemphasized(samples), NEMO_FRAME // 2)
    return normalized_bands(nemo_mel(padded, count)[: len(samples) // PARAKEET_HOP])


GEMMA_FRAME, GEMMA_HOP = 320, 160  # samples at 16 kHz


def gemma_mel(samples: np.ndarray, count: int) -> np.ndarray:
    """For Gemma 4's encoder, of mono samples at 16 kHz: `[frames, count]` natural logarithms of magnitudes, on HTK's scale. Half a frame of
    silence comes before the sound, and a frame needs one sample more than it takes."""
    padded = np.pad(samples.astype(np.float32), (GEMMA_FRAME // 2, 0))
    if len(padded) <= GEMMA_FRAME:
        return np.zeros((0, count), np.float32)
    cut = frames(padded, GEMMA_FRAME + 1, GEMMA_HOP)[:, :-1]
    spectrum = np.abs(np.fft.rfft(cut * hann(GEMMA_FRAME), 512, axis=-1))
    edges = 700.0 * (10.0 ** (np.linspace(0, 2595.0 * np.log10(1.0 + 8000.0 / 700.0), count + 2) / 2595.0) - 1.0)
    mel: np.ndarray = np.log(spectrum @ _triangles(np.linspace(0, 8000.0, 257), edges).T + 1e-3)
    return mel.astype(np.float32)
