"""Sound files of every kind into one channel at one rate, and clear words for what is no sound."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from engine.errors import BadRequest
from engine.media.sound import from_array, read_sound

RATE = 16000


def tone(rate: int, seconds: float = 0.5) -> np.ndarray:
    return (0.4 * np.sin(2 * np.pi * 440 * np.arange(int(rate * seconds)) / rate)).astype(np.float32)


def pitch(samples: np.ndarray) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * RATE / len(samples))


@pytest.mark.parametrize(("name", "format"), [
    ("a.wav", None), ("a.flac", None), ("a.ogg", None), ("a.mp3", None), ("a.aiff", None), ("a.au", None), ("a.caf", None),
    ("a.opus", "OGG"),
])  # fmt: skip
def test_formats(tmp_path, name, format):
    rate = 48000
    subtype = "OPUS" if name.endswith("opus") else None
    soundfile.write(tmp_path / name, tone(rate), rate, format=format, subtype=subtype)
    audio = read_sound(tmp_path / name, RATE)
    assert audio.rate == RATE
    assert audio.seconds == pytest.approx(0.5, abs=0.06)  # MP3 pads
    assert pitch(audio.samples) == pytest.approx(440, abs=4)
    assert audio.samples.dtype == np.float32
    np.testing.assert_array_equal(read_sound((tmp_path / name).read_bytes(), RATE).samples, audio.samples)


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 192000])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_rates_and_channels(tmp_path, rate, channels):
    soundfile.write(tmp_path / "a.wav", np.repeat(tone(rate)[:, None], channels, 1), rate)
    audio = read_sound(tmp_path / "a.wav", RATE)
    assert len(audio.samples) == pytest.approx(RATE / 2, abs=40)
    assert np.abs(audio.samples).max() == pytest.approx(0.4, rel=0.1)
    assert pitch(audio.samples) == pytest.approx(440, abs=4)


def test_long_files_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.media.sound._BLOCK", 1000)
    soundfile.write(tmp_path / "a.flac", tone(44100), 44100)
    blocks = read_sound(tmp_path / "a.flac", RATE)
    monkeypatch.undo()
    whole = read_sound(tmp_path / "a.flac", RATE)
    assert len(blocks.samples) == len(whole.samples)
    np.testing.assert_allclose(blocks.samples, whole.samples, atol=1e-5)


@pytest.mark.parametrize(("content", "message"), [
    (b"", "is empty"),
    (b"no sound at all, but a few words", "could not be read"),
    (b"RIFF\x00\x00\x00\x00WAVE", "could not be read|holds no sound"),
])  # fmt: skip
def test_what_is_no_sound(tmp_path, content, message):
    (tmp_path / "a.wav").write_bytes(content)
    with pytest.raises(BadRequest, match=message):
        read_sound(tmp_path / "a.wav", RATE)


def test_a_truncated_file_gives_what_is_there_or_says_so(tmp_path):
    soundfile.write(tmp_path / "a.wav", tone(RATE), RATE)
    data = (tmp_path / "a.wav").read_bytes()
    audio = read_sound(data[: len(data) // 2], RATE)
    assert 0.2 < audio.seconds < 0.3
    soundfile.write(tmp_path / "a.flac", tone(RATE), RATE)
    data = (tmp_path / "a.flac").read_bytes()
    with pytest.raises(BadRequest, match="could not be read"):
        read_sound(data[:10], RATE)


def test_no_file_no_samples_no_numbers(tmp_path):
    with pytest.raises(BadRequest, match="is not a file"):
        read_sound(tmp_path / "missing.wav", RATE)
    soundfile.write(tmp_path / "empty.wav", np.zeros(0, np.float32), RATE)
    with pytest.raises(BadRequest, match="holds no sound"):
        read_sound(tmp_path / "empty.wav", RATE)
    broken = tone(RATE)
    broken[7] = np.nan
    soundfile.write(tmp_path / "nan.wav", broken, RATE, subtype="FLOAT")
    with pytest.raises(BadRequest, match="no numbers"):
        read_sound(tmp_path / "nan.wav", RATE)


def test_arrays():
    audio = from_array((tone(32000) * 32767).astype(np.int16), 32000, RATE)
    assert np.abs(audio.samples).max() == pytest.approx(0.4, rel=0.05)
    assert from_array(np.stack([tone(RATE)] * 2, 1), RATE, RATE).samples.shape == (RATE // 2,)
    for wrong in (np.zeros(0, np.float32), np.zeros((2, 2, 2), np.float32), np.array(["a"])):
        with pytest.raises(BadRequest):
            from_array(wrong, RATE, RATE)
    with pytest.raises(BadRequest, match="samples a second"):
        from_array(tone(RATE), 5, RATE)
