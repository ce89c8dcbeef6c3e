"""Short-time Fourier frames and their inverse, against a plain discrete Fourier sum."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends.op_cases import Bench, Case, check, check_case, normal

HANN = np.hanning(9)[:8].astype(np.float32)

CASES = [
    Case("stft", "hann", [normal(2, 20), HANN], {"hop": 4}, slack=2),
    Case("stft", "odd-frame", [normal(1, 17), np.hamming(7).astype(np.float32)], {"hop": 3}, slack=2),
    Case("stft", "hop-over-frame", [normal(1, 30), np.ones(5, np.float32)], {"hop": 9}, slack=2),
    Case("stft", "one-frame", [normal(3, 8), HANN], {"hop": 2}, slack=2),
    Case("stft", "too-short", [normal(2, 7), HANN], {"hop": 2}),
    Case("stft", "empty", [normal(2, 0), HANN], {"hop": 2}),
    Case("stft", "batch-0", [normal(0, 20), HANN], {"hop": 4}),
    Case("istft", "hann", [normal(2, 5, 5), normal(2, 5, 5, seed=1), HANN], {"hop": 2}, slack=2),
    Case("istft", "odd-frame", [normal(1, 4, 4), normal(1, 4, 4, seed=1), np.hamming(7).astype("f")], {"hop": 3}),
    Case("istft", "gaps", [normal(1, 3, 3), normal(1, 3, 3, seed=1), np.ones(5, np.float32)], {"hop": 8}, slack=2),
    Case("istft", "one-frame", [normal(1, 1, 5), normal(1, 1, 5, seed=1), HANN + 0.1], {"hop": 4}, slack=2),
    Case("istft", "empty", [normal(2, 0, 5), normal(2, 0, 5), HANN], {"hop": 4}),
    Case("istft", "batch-0", [normal(0, 3, 5), normal(0, 3, 5), HANN], {"hop": 4}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fourier_op_is_what_numpy_says(bench: Bench, case: Case) -> None:
    check_case(bench, case)


def test_istft_undoes_stft(bench: Bench) -> None:
    x = normal(2, 8 + 2 * 9)
    window = bench.put(HANN + np.float32(0.05))
    back = bench.ops.istft(*bench.ops.stft(bench.put(x), window, 2), window, 2)
    check(bench, back, bench.round(x), slack=2)


def test_where_no_window_reaches_there_is_silence_not_nan(bench: Bench) -> None:
    """A Hann window starts at zero, so the first sample of all is divided by nothing."""
    ones = bench.put(np.ones((1, 2, 5), np.float32))
    out = bench.ops.numpy(bench.ops.istft(ones, ones, bench.put(HANN), 4))
    assert np.isfinite(out).all()
    assert out[0, 0] == 0
