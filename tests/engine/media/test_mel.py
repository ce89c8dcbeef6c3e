"""Slaney's filterbank against the reference library's, and what front ends do at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from transformers.audio_utils import mel_filter_bank

from engine.media.mel import SPEAKER_LEAST, filterbank, hann, hz_to_mel, mel_to_hz, speaker_mel


@pytest.mark.parametrize(
    ("rate", "n_fft", "count", "low", "high"), [(24000, 1024, 128, 0.0, 12000.0), (16000, 1024, 128, 10.0, 8000.0)]
)
def test_the_filterbank(rate: int, n_fft: int, count: int, low: float, high: float) -> None:
    want = mel_filter_bank(n_fft // 2 + 1, count, low, high, rate, norm="slaney", mel_scale="slaney").T
    assert float(np.abs(filterbank(rate, n_fft, count, low, high) - want).max()) <= 1e-7


def test_the_scale_and_back() -> None:
    hz = np.array([0.0, 100.0, 999.0, 1000.0, 1001.0, 8000.0])
    assert np.allclose(mel_to_hz(hz_to_mel(hz)), hz)


def test_the_window_is_periodic() -> None:
    import torch

    assert np.allclose(hann(1024), torch.hann_window(1024).numpy(), atol=1e-6)


def test_silence_and_the_shortest_sound() -> None:
    mel = speaker_mel(np.zeros(SPEAKER_LEAST, np.float32))
    assert mel.shape == (9, 128)
    assert np.isfinite(mel).all()
    assert float(mel.max()) < -5
