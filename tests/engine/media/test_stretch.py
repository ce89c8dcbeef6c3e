"""Speed without another pitch."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import BadRequest
from engine.media.stretch import Stretch, stretched

RATE = 24000


def tone(hz=220.0, seconds=1.5):
    t = np.arange(int(RATE * seconds)) / RATE
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def pitch(samples):
    middle = samples[len(samples) // 4 : -len(samples) // 4]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 1 << 18))
    return float(np.argmax(spectrum) * RATE / (1 << 18))


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0])
@pytest.mark.parametrize("hz", [110.0, 220.0, 523.0])
def test_length_changes_and_pitch_does_not(speed, hz):
    made = stretched(tone(hz), speed, RATE)
    assert len(made) == pytest.approx(1.5 * RATE / speed, abs=0.05 * RATE)
    assert pitch(made) == pytest.approx(hz, rel=0.02)
    level = np.sqrt(np.mean(made[len(made) // 4 : -len(made) // 4] ** 2))
    assert level == pytest.approx(0.5 / np.sqrt(2), rel=0.15)


@pytest.mark.parametrize("size", [100, 777, 5000])
def test_a_stream_in_pieces_is_the_whole(size):
    sound = tone() * np.linspace(0.2, 1, int(1.5 * RATE), dtype=np.float32)
    stretch = Stretch(1.3, RATE)
    pieces = [stretch.push(sound[i : i + size]) for i in range(0, len(sound), size)]
    made = np.concatenate([*pieces, stretch.finish()])
    np.testing.assert_allclose(made, stretched(sound, 1.3, RATE), atol=1e-6)
    assert sum(len(piece) > 0 for piece in pieces) > 2 or size == 5000


def test_no_clicks():
    made = stretched(tone(), 1.4, RATE)
    assert np.abs(np.diff(made)).max() < 3 * np.abs(np.diff(tone())).max()


def test_nothing_and_little():
    assert len(stretched(np.zeros(0, np.float32), 1.5, RATE)) < 0.1 * RATE
    assert len(stretched(tone(seconds=0.01), 2.0, RATE)) < 0.1 * RATE


@pytest.mark.parametrize("speed", [0.0, 0.2, 4.5, -1.0, float("nan")])
def test_speeds_that_cannot_be(speed):
    with pytest.raises(BadRequest, match="speed"):
        Stretch(speed, RATE)
